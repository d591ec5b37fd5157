/* What one statistic of one file says: the same facts as JSON and for people. */
#include <math.h>

#include "base/memory.h"
#include "base/table.h"
#include "num/bound.h"
#include "num/exact.h"
#include "release/statistic.h"
#include "report/promise.h"

static const char no_outsider[] = "one file without a plan: nothing is known about how its rows were sampled";
static const char no_interval[] =
    "the values around an estimate are not measured: estimates on both sides of it, in the same call, would bound it";
static const char no_rows[] = "the number of rows is not public, or rows are weighted: rank errors are no shares of the file";

static double worth(const tamis_statistic *s, int64_t point)
{
    tmi_exact e = TMI_EXACT(NULL);
    tmi_term value = tmi_mul(&e, tmi_int(&e, point), s->step);
    const double estimate = value ? tmi_number_nearest(value) : NAN;
    tmi_exact_clear(&e);
    return estimate;
}

static const char *step_words(const tamis_statistic *s)
{
    return s->add_remove ? "one row is added or removed" : "one row is replaced by any other";
}

/* ---- JSON ---- */

static void put_result(tmi_json_out *out, const tamis_statistic *s, size_t i)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "statistic", "quantile");
    tmi_json_add_string(out, "column", s->column);
    tmi_json_add_open(out, "group", '{');
    tmi_json_close(out, '}');
    tmi_json_add_real(out, "at", tmi_number_nearest(s->at[i]));
    tmi_json_add_real(out, "estimate", worth(s, s->points[i]));
    tmi_json_add_null(out, "se");
    const bool has_interval = tmi_statistic_has_interval(s, i), has_error = isfinite(s->errors[i]);
    if (has_interval) {
        tmi_json_add_open(out, "interval", '{');
        tmi_json_add_real(out, "lower", worth(s, s->ends[2 * i]));
        tmi_json_add_real(out, "upper", worth(s, s->ends[2 * i + 1]));
        tmi_json_add_real(out, "confidence", 0.95);
        tmi_json_close(out, '}');
        tmi_json_add_string(out, "interval_of",
                            "the quantile of the file, without the error of sampling, if no value is missing");
    } else tmi_json_add_null(out, "interval");
    tmi_json_add_string(out, "reason",
                        has_interval              ? NULL
                        : !has_error              ? s->no_error.message
                        : isnan(s->levels[2 * i]) ? no_rows
                                                  : no_interval);
    tmi_json_add_string(out, "method", tamis_quantile_method_name(tamis_quantile_method_of(s->quantile)));
    if (has_error) {
        tmi_json_add_open(out, "rank_error", '{');
        tmi_json_add_real(out, s->weight ? "largest_weights" : "records", s->errors[i]);
        tmi_json_add_real(out, "confidence", 0.95);
        tmi_json_add_real(out, "cell_from", worth(s, tmi_quantile_cell(s->quantile, s->points[i])));
        tmi_json_add_real(out, "level_from", s->levels[2 * i]);
        tmi_json_add_real(out, "level_to", s->levels[2 * i + 1]);
        tmi_json_close(out, '}');
    } else tmi_json_add_null(out, "rank_error");
    tmi_json_add_real(out, "prior_share", s->priors[i]);
    tmi_json_close(out, '}');
}

static const char *divergence(const tamis_statistic *s)
{
    if (s->rho) return "largest Renyi divergence of order a of P from Q, divided by a, over all a above 1";
    if (s->delta) return "largest P(S) - exp(epsilon) Q(S) over all sets S of outputs, at most delta";
    return "largest |log(P(S) / Q(S))| over all sets S of outputs";
}

static void put_guarantee(tmi_json_out *out, const tamis_statistic *s)
{
    tmi_json_open(out, '{');
    tmi_json_add_open(out, "specification", '{');
    tmi_json_add_string(out, "domain", "every file with these columns");
    tmi_json_add_string(out, "multiverse", s->add_remove ? "all of them" : "those with the same number of rows");
    tmi_json_add_open(out, "input_premetric", '{');
    tmi_json_add_string(out, "counts", "steps from one dataset to the other");
    tmi_json_add_string(out, "step", step_words(s));
    tmi_json_close(out, '}');
    tmi_json_add_string(out, "divergence", divergence(s));
    tmi_json_add_open(out, "budget", '{');
    if (s->rho) tmi_add_exact(out, "rho", s->rho);
    else {
        tmi_add_exact(out, "epsilon", s->epsilon);
        if (s->delta) tmi_add_exact(out, "delta", s->delta);
        else tmi_json_add_string(out, "delta", "0");
    }
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "invariants", '{');
    if (s->rows >= 0) tmi_json_add_integer(out, "rows", s->rows);
    tmi_json_close(out, '}');
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "sample", '{');
    tmi_json_add_bound(out, "epsilon", s->loss[0]);
    tmi_json_add_bound(out, "delta", s->loss[1]);
    tmi_json_close(out, '}');
    tmi_json_add_null(out, "outsider");
    tmi_json_add_string(out, "outsider_reason", no_outsider);
    tmi_json_close(out, '}');
}

tamis_status tamis_statistic_json(char **json, const tamis_statistic *s, tamis_error *err)
{
    tmi_text text;
    tmi_json_out out;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    if (!s) return tmi_fail(err, TAMIS_INVALID, "statistic: NULL");
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_open(&out, "results", '[');
    for (size_t i = 0; i < s->count; i++) put_result(&out, s, i);
    tmi_json_close(&out, ']');
    tmi_json_key(&out, "guarantee");
    put_guarantee(&out, s);
    tmi_json_key(&out, "spent");
    tmi_put_spending(&out, &s->account, &s->account.spent);
    tmi_json_key(&out, "left");
    tmi_put_spending(&out, &s->account, &s->account.left);
    tmi_json_key(&out, "ledger");
    tmi_put_entry(&out, &s->account);
    tmi_json_close(&out, '}');
    tmi_text_put(&text, "\n");
    return tmi_text_take(json, &text, err);
}

/* ---- for people ---- */

/* Whether a column of the table has anything to say. */
static bool has_levels(const tamis_statistic *s) { return !isnan(s->levels[0]); }

static bool has_intervals(const tamis_statistic *s)
{
    bool found = false;
    for (size_t i = 0; i < s->count; i++) found = found || tmi_statistic_has_interval(s, i);
    return found;
}

static void put_table(tmi_text *text, const tamis_statistic *s)
{
    enum { MOST = 5 };
    static const tmi_align align[MOST] = {TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    const char *heading[MOST] = {"at", "estimate", "rank error"};
    size_t columns = 3;
    tmi_text_table table;
    if (has_levels(s)) heading[columns++] = "levels";
    if (has_intervals(s)) heading[columns++] = "interval";
    tmi_table_init(&table, columns, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < s->count; i++) {
        tmi_text cells[MOST];
        for (size_t c = 0; c < columns; c++) tmi_text_init(&cells[c]);
        tmi_text_format(&cells[0], "%.6g", tmi_number_nearest(s->at[i]));
        tmi_text_format(&cells[1], "%.15g", worth(s, s->points[i]));
        if (isfinite(s->errors[i])) tmi_text_format(&cells[2], "%.0f", ceil(s->errors[i]));
        else tmi_text_put(&cells[2], "-");
        if (has_levels(s)) /* outwards */
            tmi_text_format(&cells[3], "%.4g to %.4g", floor(1e4 * s->levels[2 * i]) / 1e4,
                            ceil(1e4 * s->levels[2 * i + 1]) / 1e4);
        if (has_intervals(s))
            tmi_text_format(&cells[4], "%.15g to %.15g", worth(s, s->ends[2 * i]), worth(s, s->ends[2 * i + 1]));
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
}

static void put_no_error(tmi_text *text, const tamis_statistic *s)
{
    tmi_text p;
    tmi_text_init(&p);
    tmi_text_format(
        &p,
        "No bound of the rank error is known for method %s here: %s. `tamis study quantile` shows what to expect. The "
        "error of sampling comes on top of that.",
        tamis_quantile_method_name(tamis_quantile_method_of(s->quantile)), s->no_error.message);
    tmi_text_wrap_taken(text, "", "", &p);
}

/* What the rank error means, and whether it says that the data hardly matter. */
static void put_quality(tmi_text *text, const tamis_statistic *s)
{
    tmi_text p;
    double prior = 0;
    bool vague = false;
    const double sd = tmi_quantile_deviation(s->quantile);
    const char *records = s->weight ? "records of the largest weight" : "records";
    if (!isfinite(s->errors[0])) {
        put_no_error(text, s);
        return;
    }
    tmi_text_init(&p);
    for (size_t i = 0; i < s->count; i++) {
        const double q = tmi_number_nearest(s->at[i]);
        prior = s->priors[i] > prior ? s->priors[i] : prior;
        vague = vague || (!isnan(s->priors[i]) && s->errors[i] > fmin(q, 1 - q) * (double)s->rows);
    }
    tmi_text_format(&p,
                    "With probability 0.95%s each estimate is fewer than `rank error` %s away from the quantile of the file, "
                    "whatever its values are",
                    s->count > 1 ? ", for all at once," : "", records);
    if (has_levels(s)) tmi_text_put(&p, ": if no value is missing, it is the quantile at a level within `levels`");
    tmi_text_put(&p, ".");
    if (s->quantile->above || s->quantile->distribution)
        tmi_text_put(&p, " Estimates are cuts, and this holds for a value between the cut before and the estimate.");
    if (sd > 0)
        tmi_text_format(
            &p, " The noise of a count of the distribution function has a standard deviation of %.3g %s at most, in %lld bins.",
            sd, records, (long long)tmi_quantile_bins(s->quantile));
    if (has_intervals(s))
        tmi_text_put(&p, " `interval` then contains the quantile of the file: its ends are estimates that are certainly below or "
                         "above it, or the ends of the range.");
    else if (has_levels(s))
        tmi_text_put(&p, " There is no interval of values: how far apart the values around an estimate are is not measured. "
                         "Estimates on both sides of it, in the same call, would bound it.");
    else tmi_text_format(&p, " There is no interval: %s.", no_rows);
    tmi_text_put(&p, " The error of sampling comes on top of that.");
    tmi_text_wrap_taken(text, "", "", &p);
    if (vague) {
        tmi_text_init(&p);
        tmi_text_put(
            &p, "With so few rows, such an epsilon and such bounds, an estimate may owe more to the bounds than to the data: "
                "use narrower bounds, a larger step or a larger epsilon.");
        if (prior > 0.005)
            tmi_text_format(&p, " At least %.0f %% of an estimate's distribution is that without any data.", 100 * prior);
        tmi_text_wrap_taken(text, "", "", &p);
    }
}

/* "Guarantee: epsilon 1, delta 0" */
static void put_promise(tmi_text *p, const tamis_statistic *s)
{
    tmi_text_put(p, "Guarantee: ");
    if (s->rho) {
        tmi_text_put(p, "rho ");
        tmi_text_number_up(p, s->rho);
        tmi_text_format(p, " (zero-concentrated; epsilon %.4g at delta " TMI_STATISTIC_DELTA ")", s->loss[0].upper * (1 + 5e-4));
        return;
    }
    tmi_text_put(p, "epsilon ");
    tmi_text_number_up(p, s->epsilon);
    tmi_text_put(p, ", delta ");
    if (s->delta) tmi_text_number_up(p, s->delta);
    else tmi_text_put(p, "0");
}

tamis_status tamis_statistic_text(char **result, const tamis_statistic *s, tamis_error *err)
{
    tmi_text text, p;
    if (!result) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *result = NULL;
    if (!s) return tmi_fail(err, TAMIS_INVALID, "statistic: NULL");
    tmi_text_init(&text);
    tmi_text_format(&text, "quantiles of %s%s%s\n\n", s->column, s->weight ? ", weighted by " : "", s->weight ? s->weight : "");
    put_table(&text, s);
    tmi_text_put(&text, "\n");
    put_quality(&text, s);
    tmi_text_init(&p);
    put_promise(&p, s);
    tmi_text_format(&p, ", for datasets in which %s. It covers one row: a person with several rows loses %s.", step_words(s),
                    s->rho || s->delta ? "more" : "as many times that");
    if (s->delta_dropped) tmi_text_put(&p, " The noise that needs no delta is the smaller here, so no delta is spent.");
    tmi_text_put(&text, "\n");
    tmi_text_wrap_taken(&text, "", "", &p);
    tmi_text_init(&p);
    tmi_text_format(&p, "Spent so far: %s; left: %s (%s, entry %lld).", s->account.spent.words, s->account.left.words, s->ledger,
                    (long long)s->account.charged.entry);
    if (s->account.charged.measurements)
        tmi_text_format(&p,
                        " The same was asked on %s: these are its numbers, the data were not read again and nothing was spent. "
                        "--again pays for fresh ones.",
                        s->account.charged.time);
    else if (s->account.charged.created) tmi_text_put(&p, " This call created the ledger.");
    tmi_text_wrap_taken(&text, "", "", &p);
    return tmi_text_take(result, &text, err);
}
