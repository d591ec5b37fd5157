/* The experimental part of the library: calculators of guarantees, designs, samplers, mechanisms by themselves, studies, tallies,
 * engines and charges of one's own, and calls for editors. Its functions are as carefully tested as the others, but may change in
 * any version; in the shared library their symbols have a version of their own, TAMIS_EXPERIMENTAL. */
#ifndef TAMIS_EXPERIMENTAL_H
#define TAMIS_EXPERIMENTAL_H

#include <tamis/experimental/amplification.h>
#include <tamis/experimental/anonymous.h>
#include <tamis/experimental/bound.h>
#include <tamis/experimental/caller.h>
#include <tamis/experimental/charge.h>
#include <tamis/experimental/distribution.h>
#include <tamis/experimental/draft.h>
#include <tamis/experimental/draw.h>
#include <tamis/experimental/editor.h>
#include <tamis/experimental/estimator.h>
#include <tamis/experimental/ht.h>
#include <tamis/experimental/interval.h>
#include <tamis/experimental/meaning.h>
#include <tamis/experimental/mech.h>
#include <tamis/experimental/outline.h>
#include <tamis/experimental/plot.h>
#include <tamis/experimental/probability.h>
#include <tamis/experimental/profile.h>
#include <tamis/experimental/quantile.h>
#include <tamis/experimental/randomize.h>
#include <tamis/experimental/releases.h>
#include <tamis/experimental/rng.h>
#include <tamis/experimental/sensitivity.h>
#include <tamis/experimental/setting.h>
#include <tamis/experimental/smooth.h>
#include <tamis/experimental/sql.h>
#include <tamis/experimental/statistic.h>
#include <tamis/experimental/study.h>
#include <tamis/experimental/survey.h>
#include <tamis/experimental/tally.h>
#include <tamis/tamis.h>

#endif
