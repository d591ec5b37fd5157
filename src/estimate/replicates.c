#include "estimate/replicates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/header.h"
#include "num/number.h"

/* ---- columns ---- */

static tamis_status take(char ***names, size_t *count, const char *name, tamis_error *err)
{
    char **list = tmi_realloc(*names, *count + 1, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    *names = list;
    list[*count] = tmi_copy_text(name, strlen(name));
    if (!list[*count]) return tmi_fail_memory(err);
    ++*count;
    return TAMIS_OK;
}

static bool matches(const char *name, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    const size_t before = (size_t)(star - pattern), after = strlen(star + 1), length = strlen(name);
    return length >= before + after && strncmp(name, pattern, before) == 0 && strcmp(name + length - after, star + 1) == 0;
}

tamis_status tmi_replicate_columns(char ***names, size_t *count, const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_replicates *r = &plan->design.replicates;
    const tmi_plan_source *source = &plan->source;
    tmi_header header = {0};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; !r->is_pattern && i < r->count; i++) TMI_TRY(take(names, count, r->weights[i], err));
    if (!r->is_pattern) return TAMIS_OK;
    if (source->file_count > 0) TMI_TRY(tmi_header_read(&header, source->files[0], source->table, err));
    else if (source->connection_count > 0) TMI_TRY(tmi_header_postgres(&header, source->connections[0], source->table, err));
    else
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "design.replicates.weights: a pattern needs a file or a table; list the columns, e.g. [repw1, repw2]"));
    for (size_t i = 0; i < header.count; i++)
        if (matches(header.columns[i].name, r->weights[0])) TMI_TRY(take(names, count, header.columns[i].name, err));
    if (*count < 2 || *count > TMI_MAX_REPLICATES)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "design.replicates.weights: %zu columns of the source match %s; expected 2 to %d",
                         *count, r->weights[0], TMI_MAX_REPLICATES));

done:
    tmi_header_clear(&header);
    return status;
}

/* ---- degrees of freedom ---- */

/* A column that is less than this part of itself outside of those before it is a combination of them: R's qr, tol = 1e-5. */
#define ALIASED 1e-5

tamis_status tmi_replicate_degrees(int64_t *df, const tmi_sample_variance *v, const uint8_t *domain, tamis_error *err)
{
    size_t n = 0, rank = 0;
    for (size_t row = 0; row < v->sample->count; row++) n += !domain || domain[row];
    double *basis = tmi_alloc(n * v->replicate_count, sizeof *basis), *x = tmi_alloc(n, sizeof *x);
    *df = 0;
    if (!basis || !x) {
        tmi_free(basis);
        tmi_free(x);
        return tmi_fail_memory(err);
    }
    for (size_t r = 0; r < v->replicate_count && rank < n; r++) {
        double whole = 0, left = 0;
        for (size_t row = 0, i = 0; row < v->sample->count; row++) {
            if (domain && !domain[row]) continue;
            x[i] = v->sample->replicates[r][row];
            whole += x[i] * x[i];
            i++;
        }
        for (int pass = 0; pass < 2; pass++) /* once more: what rounding left */
            for (size_t k = 0; k < rank; k++) {
                const double *b = basis + k * n;
                double along = 0;
                for (size_t i = 0; i < n; i++) along += b[i] * x[i];
                for (size_t i = 0; i < n; i++) x[i] -= along * b[i];
            }
        for (size_t i = 0; i < n; i++) left += x[i] * x[i];
        if (!(whole > 0) || sqrt(left) < ALIASED * sqrt(whole)) continue;
        for (size_t i = 0; i < n; i++) basis[rank * n + i] = x[i] / sqrt(left);
        rank++;
    }
    *df = (int64_t)rank - 1;
    tmi_free(basis);
    tmi_free(x);
    return TAMIS_OK;
}

/* ---- variances ---- */

static double scale_of(const tmi_plan_replicates *r, double count)
{
    if (r->scale) return tmi_number_nearest(r->scale);
    const double rho = r->rho ? tmi_number_nearest(r->rho) : 0;
    switch (r->type) {
    case TMI_JK1: return (count - 1) / count;
    case TMI_BRR: return 1 / count;
    case TMI_FAY: return 1 / (count * (1 - rho) * (1 - rho));
    case TMI_BOOTSTRAP: return 1 / (count - 1);
    default: return 1;
    }
}

tamis_status tmi_replicates_make(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    const tmi_plan_replicates *r = &s->plan->design.replicates;
    v->replicate_count = s->replicate_count;
    if (r->rscale_count > 0 && r->rscale_count != v->replicate_count)
        return tmi_fail(err, TAMIS_INVALID, "design.replicates.rscales: there are %zu, but %zu columns of replicate weights",
                        r->rscale_count, v->replicate_count);
    for (size_t k = 0; k < v->replicate_count; k++)
        for (size_t row = 0; row < s->count; row++)
            if (!isfinite(s->replicates[k][row]))
                return tmi_fail(err, TAMIS_INVALID, "%s: a replicate weight is missing, or no number, in some row",
                                s->replicate_names[k]);
    v->scale = scale_of(r, (double)v->replicate_count);
    v->rscales = tmi_alloc(v->replicate_count, sizeof *v->rscales);
    if (!v->rscales) return tmi_fail_memory(err);
    for (size_t k = 0; k < v->replicate_count; k++) v->rscales[k] = r->rscale_count > 0 ? tmi_number_nearest(r->rscales[k]) : 1;
    v->note = "variances from replicate weights; a release takes them from the design";
    return tmi_replicate_degrees(&v->df, v, NULL, err);
}

double tmi_variance_of_replicates(const tmi_sample_variance *v, double estimate, const double *replicates)
{
    double centre = 0, used = 0, sum = 0;
    for (size_t k = 0; k < v->replicate_count; k++) {
        centre += v->rscales[k] > 0 ? replicates[k] : 0;
        used += v->rscales[k] > 0;
    }
    centre = v->sample->plan->design.replicates.mse ? estimate : centre / used;
    for (size_t k = 0; k < v->replicate_count; k++) sum += v->rscales[k] * (replicates[k] - centre) * (replicates[k] - centre);
    return v->scale * sum;
}

tamis_status tmi_replicate_variance(double *value, const char **reason, tmi_sample_variance *v, double estimate,
                                    tmi_estimator *again, void *context, tamis_error *err)
{
    double *replicates = tmi_alloc(v->replicate_count, sizeof *replicates);
    tamis_status status = replicates ? TAMIS_OK : tmi_fail_memory(err);
    *value = NAN;
    for (size_t k = 0; status == TAMIS_OK && k < v->replicate_count; k++) {
        v->replicate = v->sample->replicates[k];
        status = again(&replicates[k], context, err);
    }
    v->replicate = NULL;
    if (status == TAMIS_INVALID) {
        *reason = "the estimate cannot be computed with one of the sets of replicate weights";
        tmi_error_reset(err);
        status = TAMIS_OK;
    } else if (status == TAMIS_OK) {
        *value = tmi_variance_of_replicates(v, estimate, replicates);
    }
    tmi_free(replicates);
    return status;
}
