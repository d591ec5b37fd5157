/* tamis: differential privacy for sample surveys. This header includes all the others. */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

#include <tamis/amplification.h>
#include <tamis/anonymous.h>
#include <tamis/base.h>
#include <tamis/compute.h>
#include <tamis/draw.h>
#include <tamis/engine.h>
#include <tamis/estimate.h>
#include <tamis/estimator.h>
#include <tamis/explain.h>
#include <tamis/ht.h>
#include <tamis/init.h>
#include <tamis/interval.h>
#include <tamis/key.h>
#include <tamis/ledger.h>
#include <tamis/meaning.h>
#include <tamis/mech.h>
#include <tamis/num.h>
#include <tamis/plan.h>
#include <tamis/plot.h>
#include <tamis/preview.h>
#include <tamis/profile.h>
#include <tamis/randomize.h>
#include <tamis/release.h>
#include <tamis/rng.h>
#include <tamis/sensitivity.h>
#include <tamis/setting.h>
#include <tamis/smooth.h>
#include <tamis/study.h>
#include <tamis/survey.h>
#include <tamis/tally.h>
#include <tamis/verify.h>

#endif
