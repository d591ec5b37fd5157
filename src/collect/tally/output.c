/* The results of a tally as JSON and as CSV. */
#include "collect/tally/output.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/bound.h"
#include "num/number.h"

/* ---- results ---- */

tamis_status tmi_tally_results_make(tmi_tally_results *r, const tamis_tally *tally, const tamis_tally_question *question,
                                    tmi_upper_bounds bounds, tamis_error *err)
{
    tamis_status status;
    *r = (tmi_tally_results){.tally = tally};
    TMI_TRY(tmi_asked_make(&r->asked, tally, question, err));
    r->asked.bounds = bounds;
    if (!(r->shares = tmi_alloc(tally->bits, sizeof *r->shares))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_tally_shares(r->shares, tally, &r->asked, err));
    TMI_TRY(tmi_tally_promise(&r->guarantee, tally, &r->asked, err));
    if (tally->cells) {
        const size_t cells = (size_t)1 << tally->bits;
        r->cells = tmi_alloc(cells, 2 * sizeof *r->cells);
        r->covariance = tmi_alloc(cells, cells * sizeof *r->covariance);
        if (!r->cells || !r->covariance) TMI_TRY(tmi_fail_memory(err));
        TMI_TRY(tamis_tally_table(r->cells, r->covariance, r->cells + cells, tally, err));
    }
done:
    return status;
}

void tmi_tally_results_clear(tmi_tally_results *r)
{
    tmi_asked_clear(&r->asked);
    tmi_free(r->shares);
    tmi_free(r->cells);
    tmi_free(r->covariance);
    *r = (tmi_tally_results){0};
}

/* ---- JSON ---- */

static void put_interval(tmi_json_out *out, double lower, double upper, const tmi_asked *asked)
{
    tmi_json_add_open(out, "interval", '{');
    tmi_json_add_real(out, "lower", lower);
    tmi_json_add_real(out, "upper", upper);
    tmi_json_add_real(out, "confidence", tmi_number_nearest(asked->confidence));
    tmi_json_close(out, '}');
}

static void put_share(tmi_json_out *out, const tmi_tally_results *r, size_t j)
{
    const tamis_tally_share *share = &r->shares[j];
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "statistic", "share");
    tmi_json_add_string(out, "column", r->tally->names[j]);
    tmi_json_add_real(out, "estimate", share->estimate);
    tmi_json_add_real(out, "se", share->se);
    tmi_json_add_real(out, "sampling_se", share->sampling_se);
    tmi_json_add_real(out, "noise_sd", share->noise_sd);
    put_interval(out, share->lower, share->upper, &r->asked);
    if (share->estimate < 0 || share->estimate > 1) { tmi_json_add_boolean(out, "outside_range", true); }
    if (!isnan(share->consistent)) tmi_json_add_real(out, "consistent", share->consistent);
    if (!isnan(share->reporters_lower)) {
        tmi_json_add_open(out, "reporters", '{');
        tmi_json_add_real(out, "se", share->noise_sd);
        put_interval(out, share->reporters_lower, share->reporters_upper, &r->asked);
        tmi_json_close(out, '}');
    }
    tmi_json_add_integer(out, "reports", r->tally->reports);
    tmi_json_add_integer(out, "ones", (int64_t)r->tally->ones[j]);
    tmi_json_close(out, '}');
}

static void put_table(tmi_json_out *out, const tmi_tally_results *r)
{
    const tamis_tally *t = r->tally;
    const size_t cells = (size_t)1 << t->bits;
    tmi_json_add_open(out, "table", '{');
    tmi_json_add_open(out, "columns", '[');
    for (size_t j = 0; j < t->bits; j++) tmi_json_put_string(out, t->names[j]);
    tmi_json_close(out, ']');
    tmi_json_add_open(out, "cells", '[');
    for (size_t i = 0; i < cells; i++) {
        char bits[TAMIS_TALLY_TABLE_BITS + 1] = {0};
        for (size_t j = 0; j < t->bits; j++) bits[j] = i >> j & 1 ? '1' : '0';
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "bits", bits);
        tmi_json_add_integer(out, "reports", (int64_t)t->cells[i]);
        tmi_json_add_real(out, "estimate", r->cells[i]);
        tmi_json_add_real(out, "se", sqrt(fmax(r->covariance[i * cells + i], 0)));
        tmi_json_add_real(out, "consistent", r->cells[cells + i]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_json_add_open(out, "covariance", '[');
    for (size_t i = 0; i < cells; i++) {
        tmi_json_open(out, '[');
        for (size_t k = 0; k < cells; k++) tmi_json_put_real(out, r->covariance[i * cells + k]);
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

static void put_loss(tmi_json_out *out, const char *key, tamis_bound epsilon, tamis_bound delta)
{
    tmi_json_add_open(out, key, '{');
    tmi_json_add_bound(out, "epsilon", epsilon);
    tmi_json_add_bound(out, "delta", delta);
    tmi_json_close(out, '}');
}

static void put_guarantee(tmi_json_out *out, const tmi_tally_results *r)
{
    const tamis_bound delta = tmi_number_bound(r->asked.delta), none = {0, 0};
    tmi_json_add_open(out, "guarantee", '{');
    put_loss(out, "local", r->guarantee.local, none);
    put_loss(out, "anonymous", r->guarantee.anonymous, delta);
    put_loss(out, "collector", r->guarantee.local, none);
    if (r->asked.promised > 0) {
        put_loss(out, "promised", r->guarantee.promised, delta);
        tmi_json_add_integer(out, "promised_reports", r->asked.promised);
    }
    tmi_json_add_integer(out, "positions", r->guarantee.positions);
    tmi_json_close(out, '}');
}

tamis_status tmi_tally_put_json(tmi_text *text, const tmi_tally_results *r, tamis_error *err)
{
    tmi_json_out out;
    tmi_json_out_init(&out, text, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_boolean(&out, "protected", true);
    tamis_status status = tmi_tally_put_fraction(&out, "lie", r->tally->lie, err);
    if (status == TAMIS_OK) status = tmi_tally_put_fraction(&out, "lie_zero", r->tally->lie_zero, err);
    tmi_json_add_integer(&out, "reports", r->tally->reports);
    tmi_json_add_integer(&out, "repeated", r->tally->repeated);
    if (r->asked.population > 0) tmi_json_add_integer(&out, "population", r->asked.population);
    tmi_json_add_open(&out, "results", '[');
    for (size_t j = 0; j < r->tally->bits; j++) put_share(&out, r, j);
    tmi_json_close(&out, ']');
    if (r->cells) put_table(&out, r);
    put_guarantee(&out, r);
    tmi_lines lines = {0};
    tmi_tally_words(&lines, r);
    tmi_json_add_lines(&out, "in_words", &lines);
    tmi_tally_warnings(&lines, r);
    tmi_json_add_lines(&out, "warnings", &lines);
    tmi_json_close(&out, '}');
    tmi_text_put(text, "\n");
    return status;
}

/* ---- CSV ---- */

static void put_csv_name(tmi_text *text, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        tmi_text_put(text, name);
        return;
    }
    tmi_text_put(text, "\"");
    for (const char *c = name; *c; c++) tmi_text_format(text, *c == '"' ? "\"\"" : "%c", *c);
    tmi_text_put(text, "\"");
}

static void put_csv_real(tmi_text *text, double x)
{
    tmi_text_put(text, ",");
    if (isfinite(x)) tmi_text_real(text, x);
}

tamis_status tmi_tally_put_csv(tmi_text *text, const tmi_tally_results *r, tamis_error *err)
{
    (void)err;
    tmi_text_put(text, "statistic,column,estimate,se,sampling_se,noise_sd,lower,upper,confidence,consistent,reporters_lower,"
                       "reporters_upper,reports,ones\n");
    for (size_t j = 0; j < r->tally->bits; j++) {
        const tamis_tally_share *s = &r->shares[j];
        const double values[] = {s->estimate,
                                 s->se,
                                 s->sampling_se,
                                 s->noise_sd,
                                 s->lower,
                                 s->upper,
                                 tmi_number_nearest(r->asked.confidence),
                                 s->consistent,
                                 s->reporters_lower,
                                 s->reporters_upper};
        tmi_text_put(text, "share,");
        put_csv_name(text, r->tally->names[j]);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) put_csv_real(text, values[i]);
        tmi_text_format(text, ",%lld,%llu\n", (long long)r->tally->reports, (unsigned long long)r->tally->ones[j]);
    }
    return TAMIS_OK;
}

/* ---- the three forms ---- */

static tamis_status write_form(char **text, const tamis_tally *tally, const tamis_tally_question *question, tmi_tally_form *form,
                               tamis_error *err)
{
    tmi_tally_results r;
    tmi_text made;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    tmi_text_init(&made);
    tamis_status status = tmi_tally_results_make(&r, tally, question, TMI_BOUNDS_NOW, err);
    if (status == TAMIS_OK) status = form(&made, &r, err);
    if (status == TAMIS_OK) status = tmi_text_take(text, &made, err);
    tmi_text_clear(&made);
    tmi_tally_results_clear(&r);
    return status;
}

tamis_status tamis_tally_json(char **text, const tamis_tally *tally, const tamis_tally_question *question, tamis_error *err)
{
    return write_form(text, tally, question, tmi_tally_put_json, err);
}

tamis_status tamis_tally_text(char **text, const tamis_tally *tally, const tamis_tally_question *question, tamis_error *err)
{
    return write_form(text, tally, question, tmi_tally_put_text, err);
}

tamis_status tamis_tally_csv(char **text, const tamis_tally *tally, const tamis_tally_question *question, tamis_error *err)
{
    return write_form(text, tally, question, tmi_tally_put_csv, err);
}
