#include "schedule/model_guess.h"

#include <math.h>

#include "base/memory.h"
#include "num/number.h"
#include "schedule/guesses.h"
#include "schedule/standard_errors.h"
#include "schedule/typical_group.h"
#include "survey/normal.h"

#define INFLATION 1.25 /* predictors are not independent of each other; as found in simulations */
#define LEAST_SHARE 1e-9

void tmi_model_guess_clear(tmi_model_guess *g)
{
    tmi_free(g->weights);
    tmi_free(g->turns);
    tmi_free(g->shares);
    *g = (tmi_model_guess){0};
}

/* The derivative of the mean by the linear predictor, where all means are the guessed one. */
static double slope_of(const tmi_plan_statistic *t)
{
    const tmi_guessed_value y = tmi_value_of(t->column);
    if (t->model->family == TMI_LINEAR) return 1;
    const double mean = fmax(y.mean, 1e-6);
    return t->model->family == TMI_POISSON ? mean : fmax(mean * (1 - mean), 1e-6);
}

static void set_shares(double *shares, const tmi_schedule *s, const tmi_plan_model *m, size_t cells)
{
    double all = 0;
    for (size_t c = 0; c < cells; c++) {
        size_t codes[TMI_MAX_PREDICTORS];
        tmi_model_codes(m, c, codes);
        shares[c] = 1;
        for (size_t k = 0; k < m->on_count; k++) {
            const tmi_plan_column *by = m->on[k];
            if (by->is_number) continue;
            const bool of_strata = s->sampling.public_strata && tmi_is_of_strata(&s->plan->design, by);
            double share = of_strata ? 0 : tmi_share_of(by, codes[k]);
            for (size_t h = 0; of_strata && h < s->sampling.strata; h++)
                if (tmi_code_in_stratum(by, h) == codes[k]) share += tmi_stratum_share(s, h);
            shares[c] *= fmax(share, LEAST_SHARE);
        }
        all += shares[c];
    }
    for (size_t c = 0; c < cells; c++) shares[c] /= all;
}

tamis_status tmi_model_guess_make(tmi_model_guess *g, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_model *m = t->model;
    const size_t n = m->term_count, cells = tmi_model_codes(m, 0, NULL);
    const double slope = slope_of(t);
    double *J = tmi_alloc(n * n, sizeof *J), *x = tmi_alloc(n, sizeof *x), *own = tmi_alloc(n, sizeof *own),
           *X = tmi_alloc(cells * n, sizeof *X);
    tamis_status status = TAMIS_OK;
    *g = (tmi_model_guess){.cells = cells, .terms = n, .inflation = m->vif ? tmi_number_nearest(m->vif) : INFLATION};
    g->weights = tmi_alloc(n * cells, sizeof *g->weights);
    g->turns = tmi_alloc(n * cells, sizeof *g->turns);
    g->shares = tmi_alloc(cells, sizeof *g->shares);
    if (!J || !x || !own || !X || !g->weights || !g->turns || !g->shares) TMI_TRY(tmi_fail_memory(err));
    if (m->on_count == 1) g->inflation = m->vif ? g->inflation : 1;
    set_shares(g->shares, s, m, cells);
    for (size_t c = 0; c < cells; c++) {
        size_t codes[TMI_MAX_PREDICTORS];
        tmi_model_codes(m, c, codes);
        for (size_t k = 0; k < n; k++) X[c * n + k] = tmi_model_term_value(m, k, codes, NULL);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j <= k; j++) J[k * n + j] += g->shares[c] * slope * X[c * n + k] * X[c * n + j];
    }
    TMI_TRY(tmi_normal_factor(J, n, s->watch, err));
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++) x[k] = k == j;
        tmi_normal_solve(x, J, n);
        own[j] = x[j];
        for (size_t c = 0; c < cells; c++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) sum += X[c * n + k] * x[k];
            g->weights[j * cells + c] = g->shares[c] * sum;
            g->turns[j * cells + c] = own[j] > 0 ? g->shares[c] * sum * slope * sum / own[j] : 0;
        }
    }

done:
    tmi_free(J);
    tmi_free(x);
    tmi_free(own);
    tmi_free(X);
    if (status != TAMIS_OK) tmi_model_guess_clear(g);
    return status;
}

/* ---- models with numbers ---- */

void tmi_line_guess_clear(tmi_line_guess *g)
{
    tmi_line_fit_clear(&g->fit);
    *g = (tmi_line_guess){0};
}

static void set_moments(double moments[TMI_MOMENTS], double rows, const tmi_guessed_value *x, const tmi_guessed_value *y)
{
    moments[TMI_OF_ROWS] = rows;
    moments[TMI_OF_X] = rows * x->mean;
    moments[TMI_OF_Y] = rows * y->mean;
    moments[TMI_OF_XX] = rows * (x->mean * x->mean + x->sd * x->sd);
    moments[TMI_OF_XY] = rows * x->mean * y->mean;
    moments[TMI_OF_YY] = rows * (y->mean * y->mean + y->sd * y->sd);
}

tamis_status tmi_line_guess_make(tmi_line_guess *g, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_contrast *c = t->contrast;
    const tmi_plan_model *m = t->model;
    const double r2 = m->r2 ? tmi_number_nearest(m->r2) : 0;
    tmi_typical_group o;
    double *shares = NULL;
    tamis_status status;
    *g = (tmi_line_guess){0};
    TMI_TRY(tmi_line_fit_make(&g->fit, t, err));
    g->inflation = m->vif ? tmi_number_nearest(m->vif) : m->on_count == 1 ? 1 : INFLATION;
    shares = tmi_alloc(g->fit.cells, sizeof *shares);
    if (!shares) TMI_TRY(tmi_fail_memory(err));
    set_shares(shares, s, m, g->fit.cells);
    tmi_typical_group_make(&o, s, c->compared[c->compared_count - 1].statistic); /* with what is explained */
    g->rows = o.divisor * (double)g->fit.cells;
    g->effect = o.simple > 0 ? o.sampling_sd * o.sampling_sd / o.simple : 1;
    for (size_t pair = 0; pair < g->fit.pairs; pair++) {
        const tmi_guessed_value x = tmi_value_of(c->compared[pair].column), y = tmi_value_of(c->compared[pair].second);
        for (size_t k = 0; k < g->fit.cells; k++)
            set_moments(g->fit.moments[pair * g->fit.cells + k], g->rows * shares[k], &x, &y);
    }
    tmi_line_fit_find(&g->fit);
    g->simple = tmi_mean_weight(s) * g->fit.residual * (1 - r2);

done:
    tmi_free(shares);
    if (status != TAMIS_OK) tmi_line_guess_clear(g);
    return status;
}
