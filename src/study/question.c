#include "study/question.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/options.h"
#include "num/exact.h"
#include "num/number.h"

#define MOST_RUNS 10000000
#define USUAL_STEPS 10000      /* of the grid of a release's mechanisms, in the range */
#define MOST_PEOPLE 4000000000 /* a number of people is a 32-bit number here */

const char *tmi_study_statistic_name(tamis_study_statistic statistic)
{
    static const char *const names[] = {"mean", "total", "median", "quantile"};
    return names[statistic];
}

void tmi_text_about(tmi_text *text, double x)
{
    if (isnan(x)) tmi_text_put(text, "–");
    else if (x != 0 && (fabs(x) < 1e-4 || fabs(x) >= 1e9)) tmi_text_format(text, "%.2e", x);
    else tmi_text_rounded(text, x, x == 0 ? 0 : 2 - (int)floor(log10(fabs(x))));
}

void tmi_study_asked_clear(tmi_study_asked *a)
{
    tmi_values_clear(&a->values);
    tmi_number_frees(&a->half, &a->step, NULL);
}

static bool of_quantiles(const tamis_study_question *q)
{
    return q->statistic == TAMIS_STUDY_MEDIAN || q->statistic == TAMIS_STUDY_QUANTILE;
}

/* A group is every `groups`-th of the population: as large as the others and distributed alike. */
static tamis_status take_group(tmi_values *v, int64_t groups, tamis_error *err)
{
    if (groups < 0 || groups > v->count / 2)
        return tmi_fail(err, TAMIS_INVALID, "groups: must be at least 1, and each must have at least two people");
    if (groups < 2) return TAMIS_OK;
    v->count /= (uint32_t)groups;
    for (uint32_t i = 0; i < v->count; i++) v->sorted[i] = v->sorted[i * (uint32_t)groups + (uint32_t)groups / 2];
    return TAMIS_OK;
}

/* The levels, and the grid on which a release would find them. */
static tamis_status set_levels(tmi_study_asked *a, tamis_error *err)
{
    const tamis_study_question *q = &a->question;
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    if (!of_quantiles(q)) {
        if (q->at_count > 0 || q->groups > 1) return tmi_fail(err, TAMIS_INVALID, "statistic: at and groups are for quantiles");
        return TAMIS_OK;
    }
    if (q->statistic == TAMIS_STUDY_QUANTILE && (!q->at || q->at_count == 0))
        return tmi_fail(err, TAMIS_INVALID, "at: there is no quantile to find");
    if (q->at_count > TMI_STUDY_LEVELS) return tmi_fail(err, TAMIS_INVALID, "at: at most %d quantiles", TMI_STUDY_LEVELS);
    for (size_t j = 0; q->statistic == TAMIS_STUDY_QUANTILE && j < q->at_count; j++)
        if (!q->at[j] || tmi_number_sign(q->at[j]) <= 0 || tmi_number_compare_int(q->at[j], 1) >= 0 ||
            (j > 0 && tmi_number_compare(q->at[j - 1], q->at[j]) >= 0))
            return tmi_fail(err, TAMIS_INVALID, "at: must be above 0 and below 1, ascending, each once");
    if (!q->population.from || !q->population.to)
        return tmi_fail(err, TAMIS_INVALID, "range: is needed, with two finite ends: values are clamped to it");
    TMI_TRY(take_group(&a->values, q->groups, err));
    TMI_TRY(tmi_number_ratio(&a->half, 1, 2, err));
    if (q->step) TMI_TRY(tmi_number_copy(&a->step, q->step, err));
    else
        TMI_TRY(tmi_exact_copy(&a->step, &e,
                               tmi_div(&e, tmi_sub(&e, q->population.to, q->population.from), tmi_int(&e, USUAL_STEPS))));
    if (tmi_number_sign(a->step) <= 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "step: must be above 0"));
    a->median[0] = a->half;
    const bool several = q->statistic == TAMIS_STUDY_QUANTILE;
    a->levels = (tmi_levels){.at = several ? q->at : a->median,
                             .count = several ? q->at_count : 1,
                             .from = q->population.from,
                             .to = q->population.to,
                             .step = a->step,
                             .moved = q->groups > 1};

done:
    tmi_exact_clear(&e);
    return status;
}

static tamis_status set_ways(tmi_study_asked *a, tamis_error *err)
{
    const tamis_study_question *q = &a->question;
    const unsigned needs_delta = 1u << TMI_MECHANISM_GAUSSIAN | 1u << TMI_MECHANISM_SMOOTH | 1u << TMI_MECHANISM_SMOOTH_PAPER |
                                 1u << TMI_MECHANISM_PREFIX;
    const unsigned smooth = 1u << TMI_MECHANISM_SMOOTH | 1u << TMI_MECHANISM_SMOOTH_PAPER | 1u << TMI_MECHANISM_POLYPLACE;
    const unsigned of_mean = 1u << TMI_MECHANISM_LAPLACE | 1u << TMI_MECHANISM_GAUSSIAN |
                             (a->values.sorted ? 1u << TMI_MECHANISM_HISTOGRAM : 0);
    unsigned possible = of_quantiles(q) ? (1u << TMI_STUDY_MECHANISMS) - 1 : of_mean;
    if (a->levels.count < 2) possible &= ~(1u << TMI_MECHANISM_JOINT | 1u << TMI_MECHANISM_SPLIT);
    if (a->levels.moved) possible &= ~smooth; /* how many rows a group has is not public */
    if (a->delta == 0) possible &= ~needs_delta;
    a->mechanisms = possible;
    if (!q->mechanism) return TAMIS_OK;
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        if (strcmp(q->mechanism, tmi_study_mechanism_key(w)) != 0) continue;
        a->mechanisms = 1u << w;
        if (possible & a->mechanisms) return TAMIS_OK;
        if (a->delta == 0 && needs_delta & a->mechanisms)
            return tmi_fail(err, TAMIS_INVALID, "mechanism: %s needs a delta above 0", q->mechanism);
        if (of_quantiles(q))
            return tmi_fail(err, TAMIS_INVALID, "mechanism: %s is for %s", q->mechanism,
                            smooth & a->mechanisms ? "one file: how many rows a group has is not public" : "several quantiles");
        return tmi_fail(err, TAMIS_INVALID, "mechanism: %s does not estimate a %s%s", q->mechanism,
                        tmi_study_statistic_name(q->statistic), w == TMI_MECHANISM_HISTOGRAM ? " of which only sd is known" : "");
    }
    return tmi_fail(
        err, TAMIS_INVALID,
        "mechanism: must be laplace, gaussian, inverse, smooth, smooth-paper, counts, smooth-pure, threshold, joint, split, "
        "tree or prefix");
}

/* A mean or total whose population is known by its standard deviation alone. */
static tamis_status set_spread(tmi_study_asked *a, tamis_error *err)
{
    const tamis_study_population *p = &a->question.population;
    if (of_quantiles(&a->question))
        return tmi_fail(err, TAMIS_INVALID,
                        "values: a quantile needs a law, quantiles or a file of a population; sd is not enough");
    if (!p->sd) return tmi_fail(err, TAMIS_INVALID, "sd: the standard deviation is needed where no values are given");
    if (!p->from || !p->to)
        return tmi_fail(err, TAMIS_INVALID, "range: is needed, with two finite ends: values are clamped to it");
    const double sd = tmi_number_nearest(p->sd), from = tmi_number_nearest(p->from), to = tmi_number_nearest(p->to);
    if (!(fabs(from) <= TMI_FARTHEST && fabs(to) <= TMI_FARTHEST && to - from >= TMI_SHORTEST))
        return tmi_fail(err, TAMIS_INVALID,
                        "range: must have two finite ends, the first below the second, neither beyond 10^100 nor within 10^-100");
    if (!(sd > 0))
        return tmi_fail(err, TAMIS_INVALID, "sd: must be positive: of a constant population there is nothing to estimate");
    if (p->size < 2 || p->size > MOST_PEOPLE) return tmi_fail(err, TAMIS_INVALID, "population: must be between 2 and 4 * 10^9");
    if (sd * sd > 1.000001 * (to - from) * (to - from) / 4 * (double)p->size / (double)(p->size - 1))
        return tmi_fail(err, TAMIS_INVALID, "sd: no population in the range has such a standard deviation");
    a->values = (tmi_values){.count = (uint32_t)p->size, .from = from, .to = to, .mean = NAN, .variance = sd * sd};
    return TAMIS_OK;
}

tamis_status tmi_study_asked_init(tmi_study_asked *a, const tamis_study_question *question, const tamis_study_options *options,
                                  int64_t usual, tamis_error *err)
{
    const tamis_study_question *q = &a->question;
    tamis_study_options how;
    tamis_status status = TAMIS_OK;
    *a = (tmi_study_asked){0};
    if (!question) return tmi_fail(err, TAMIS_INVALID, "question: NULL");
    TMI_TRY(tmi_options_take(&a->question, sizeof a->question, question, "question", err));
    TMI_TRY(tmi_options_take(&how, sizeof how, options, "options", err));
    a->runs = how.runs ? how.runs : usual;
    a->seed = how.seed;
    a->threads = how.threads;
    a->watch = tmi_watch_of(&how.watch);
    if (a->runs < 2 || a->runs > MOST_RUNS) return tmi_fail(err, TAMIS_INVALID, "runs: must be between 2 and %d", MOST_RUNS);
    if (!q->eps) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    a->eps = tmi_number_nearest(q->eps);
    a->delta = q->delta ? tmi_number_nearest(q->delta) : 0;
    if (!(a->eps >= 1e-12 && a->eps <= 1000))
        return tmi_fail(err, TAMIS_INVALID, "epsilon: must be positive, between 10^-12 and 1000");
    if (!(a->delta >= 0 && a->delta < 1)) return tmi_fail(err, TAMIS_INVALID, "delta: must be at least 0 and below 1");
    TMI_TRY(q->population.values ? tmi_values_new(&a->values, &q->population, a->seed, err) : set_spread(a, err));
    TMI_TRY(set_levels(a, err));
    a->size = a->values.count;
    TMI_TRY(set_ways(a, err));

done:
    return status;
}

tamis_status tmi_study_asked_simulate(tmi_squared_error *errors, tmi_study_asked *a, const uint32_t *samples, size_t count,
                                      const tmi_spending *spendings, size_t spending_count, tamis_error *err)
{
    const tmi_simulation s = {.population = &a->values,
                              .statistic = a->question.statistic,
                              .levels = a->levels.count > 0 ? &a->levels : NULL,
                              .mechanisms = a->mechanisms,
                              .samples = samples,
                              .sample_count = count,
                              .spendings = spendings,
                              .spending_count = spending_count,
                              .runs = a->runs,
                              .seed = a->seed,
                              .threads = a->threads,
                              .watch = &a->watch};
    return tmi_simulate(errors, &s, err);
}

void tmi_study_asked_words(tmi_text *text, const tmi_study_asked *a)
{
    const tamis_study_population *p = &a->question.population;
    if (a->question.statistic == TAMIS_STUDY_QUANTILE) {
        tmi_text_format(text, "the quantile%s ", a->levels.count == 1 ? "" : "s");
        for (size_t j = 0; j < a->levels.count; j++)
            tmi_text_format(text, "%s%.4g", j == 0 ? "" : ", ", tmi_number_nearest(a->levels.at[j]));
        tmi_text_put(text, " of ");
    } else tmi_text_format(text, "the %s of ", tmi_study_statistic_name(a->question.statistic));
    if (a->levels.moved) tmi_text_format(text, "each of %lld groups of ", (long long)a->question.groups);
    tmi_text_rounded(text, a->size, 0);
    tmi_text_put(text, " values between ");
    tmi_text_real(text, a->values.from);
    tmi_text_put(text, " and ");
    tmi_text_real(text, a->values.to);
    if (p->values) tmi_text_format(text, " (%s%s%s)", p->values, p->column ? ", " : "", p->column ? p->column : "");
    else {
        tmi_text_put(text, ", standard deviation ");
        tmi_text_real(text, tmi_number_nearest(p->sd));
    }
}

void tmi_study_asked_json(tmi_json_out *out, const tmi_study_asked *a)
{
    const tamis_study_population *p = &a->question.population;
    tmi_json_add_string(out, "statistic", tmi_study_statistic_name(a->question.statistic));
    if (a->levels.count > 0) {
        tmi_json_add_open(out, "at", '[');
        for (size_t j = 0; j < a->levels.count; j++) tmi_json_put_real(out, tmi_number_nearest(a->levels.at[j]));
        tmi_json_close(out, ']');
        tmi_json_add_integer(out, "groups", a->levels.moved ? a->question.groups : 1);
        tmi_json_add_real(out, "step", tmi_number_nearest(a->levels.step));
    }
    tmi_json_add_integer(out, "population", a->values.count);
    tmi_json_add_string(out, "values", p->values);
    tmi_json_add_string(out, "column", p->column);
    tmi_json_add_real(out, "from", a->values.from);
    tmi_json_add_real(out, "to", a->values.to);
    tmi_json_add_real(out, "sd", sqrt(a->values.variance));
    tmi_json_add_real(out, "clamped", a->values.outside);
    tmi_json_add_real(out, "epsilon", a->eps);
    tmi_json_add_real(out, "delta", a->delta);
    tmi_json_add_integer(out, "runs", a->runs);
    tmi_json_add_integer(out, "seed", (int64_t)a->seed);
}

void tmi_study_asked_subtitle(char *text, size_t size, const tmi_study_asked *a)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_study_asked_words(&words, a);
    tmi_text_put(&words, "; epsilon ");
    tmi_text_real(&words, a->eps);
    if (a->delta > 0) tmi_text_format(&words, ", delta %.3g", a->delta);
    snprintf(text, size, "%s", words.failed ? "" : words.bytes);
    tmi_text_clear(&words);
}
