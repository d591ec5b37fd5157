/* tamis: differential privacy for sample surveys. This header includes the stable ones: what a program does that was built with
 * them stays as it is until the first number of the version changes. <tamis/experimental.h> includes the others. */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

#include <tamis/base.h>
#include <tamis/compute.h>
#include <tamis/engine.h>
#include <tamis/estimate.h>
#include <tamis/explain.h>
#include <tamis/init.h>
#include <tamis/key.h>
#include <tamis/ledger.h>
#include <tamis/num.h>
#include <tamis/plan.h>
#include <tamis/preview.h>
#include <tamis/release.h>
#include <tamis/verify.h>

#endif
