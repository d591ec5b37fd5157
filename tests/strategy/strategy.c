/* Effects against least squares on whole tables; the derivative against differences; the search against known optima. */
#include "tests/test.h"

#include <string.h>

#include "num/law/student.h"
#include "strategy/search.h"

#define MOST_AXES 5
#define MOST_CELLS 256

/* Two categories, a yes or no with a missing level, two numbers of degree 2. */
static const tmi_axis small[MOST_AXES] = {{.levels = 3},
                                          {.levels = 2, .counted = true},
                                          {.levels = 3, .degree = 1, .missing = true},
                                          {.levels = 3, .degree = 2},
                                          {.levels = 3, .degree = 2}};

static size_t level_of(const tmi_axis *axes, size_t count, size_t cell, size_t axis)
{
    for (size_t i = count; i-- > axis + 1;) cell /= axes[i].levels;
    return cell % axes[axis].levels;
}

static size_t cells_of(const tmi_axis *axes, size_t count)
{
    size_t cells = 1;
    for (size_t i = 0; i < count; i++) cells *= axes[i].levels;
    return cells;
}

/* ---- least squares ---- */

typedef struct squares {
    const tmi_axis *axes;
    size_t count, cells;
    double matrix[MOST_CELLS][MOST_CELLS];
} squares;

static void add_row(squares *q, const double *row, double precision)
{
    for (size_t i = 0; i < q->cells; i++)
        for (size_t j = 0; row[i] != 0 && j < q->cells; j++) q->matrix[i][j] += precision * row[i] * row[j];
}

/* Of a table of products: cells of the other axes, and in each a number for each combination of contrasts. */
static void add_products(squares *q, const tmi_marginal *marginal, double precision)
{
    const size_t numbers = tmi_gram_numbers(q->axes, marginal), own = tmi_gram_rows(numbers);
    size_t cells = 1;
    for (size_t a = 0; a < marginal->axis_count; a++)
        if (!tmi_is_gram_axis(&q->axes[marginal->axes[a]])) cells *= q->axes[marginal->axes[a]].levels;
    for (size_t r = 0; r < cells * own; r++) {
        double row[MOST_CELLS] = {0};
        for (size_t cell = 0; cell < q->cells; cell++) {
            size_t at = 0, level = 0;
            for (size_t a = 0; a < marginal->axis_count; a++) {
                size_t *const index = tmi_is_gram_axis(&q->axes[marginal->axes[a]]) ? &level : &at;
                *index = *index * q->axes[marginal->axes[a]].levels + level_of(q->axes, q->count, cell, marginal->axes[a]);
            }
            if (at == r / own)
                row[cell] = tmi_gram_integer(marginal->form, numbers, r % own, level) / (double)tmi_gram_steps(marginal->form);
        }
        add_row(q, row, precision);
    }
}

static void add_table(squares *q, const tmi_marginal *marginal, double precision)
{
    size_t rows = 1;
    if (tmi_is_gram(marginal->form)) {
        add_products(q, marginal, precision);
        return;
    }
    for (size_t a = 0; a < marginal->axis_count; a++) rows *= q->axes[marginal->axes[a]].levels;
    if (marginal->form != TMI_FULL) rows = tmi_form_rows(marginal->form, &q->axes[marginal->axes[0]]);
    for (size_t r = 0; r < rows; r++) {
        double row[MOST_CELLS] = {0};
        for (size_t cell = 0; cell < q->cells; cell++) {
            size_t at = 0;
            for (size_t a = 0; a < marginal->axis_count; a++)
                at = at * q->axes[marginal->axes[a]].levels + level_of(q->axes, q->count, cell, marginal->axes[a]);
            row[cell] = marginal->form == TMI_FULL ? at == r
                                                   : tmi_form_level(marginal->form, &q->axes[marginal->axes[0]], r,
                                                                    level_of(q->axes, q->count, cell, marginal->axes[0]));
        }
        add_row(q, row, precision);
    }
}

/* c' M^-1 c, a little added to the diagonal: where the tables do not determine c, it grows as that becomes less. */
static double variance_by_squares(const squares *q, const double *c, double little)
{
    static double m[MOST_CELLS][MOST_CELLS + 1];
    double sum = 0, largest = 0;
    for (size_t i = 0; i < q->cells; i++) {
        memcpy(m[i], q->matrix[i], q->cells * sizeof(double));
        m[i][q->cells] = c[i];
        largest = fmax(largest, m[i][i]);
    }
    for (size_t i = 0; i < q->cells; i++) m[i][i] += little * largest;
    for (size_t i = 0; i < q->cells; i++)
        for (size_t k = i + 1; k < q->cells; k++) {
            const double f = m[k][i] / m[i][i];
            for (size_t j = i; f != 0 && j <= q->cells; j++) m[k][j] -= f * m[i][j];
        }
    for (size_t i = q->cells; i-- > 0;) {
        for (size_t j = i + 1; j < q->cells; j++) m[i][q->cells] -= m[i][j] * m[j][q->cells];
        m[i][q->cells] /= m[i][i];
        sum += c[i] * m[i][q->cells];
    }
    return sum;
}

/* ---- random strategies ---- */

static double uniform(uint64_t *stream) { return (double)next_number(stream) / 2147483648.0; }

static tmi_marginal random_shape(uint64_t *stream, const tmi_axis *axes, size_t count)
{
    tmi_marginal marginal = {0};
    for (size_t a = 0; a < count; a++)
        if (next_number(stream) % 2) marginal.axes[marginal.axis_count++] = a;
    if (marginal.axis_count == 1 && axes[marginal.axes[0]].degree > 0) marginal.form = (tmi_table_form)(next_number(stream) % 3);
    if (tmi_gram_numbers(axes, &marginal) == 2 && next_number(stream) % 2)
        marginal.form = next_number(stream) % 2 ? TMI_GRAM_SUMS : TMI_GRAM_SQUARES;
    return marginal;
}

/* Product vectors on some axes, ones on the others. */
static void random_combination(tmi_combination *c, double vectors[MOST_AXES][TMI_MAX_TERMS][8], uint64_t *stream,
                               const tmi_axis *axes, size_t count)
{
    *c = (tmi_combination){.term_count = 1 + next_number(stream) % TMI_MAX_TERMS};
    for (size_t t = 0; t < c->term_count; t++) c->scale[t] = 0.5 + uniform(stream);
    for (size_t a = 0; a < count; a++) {
        if (next_number(stream) % 3 == 0) continue;
        c->axes[c->axis_count] = a;
        for (size_t t = 0; t < c->term_count; t++) {
            for (size_t l = 0; l < axes[a].levels; l++)
                vectors[a][t][l] = next_number(stream) % 3 ? uniform(stream) - 0.5 : axes[a].degree == 0;
            c->vectors[c->axis_count][t] = vectors[a][t];
        }
        c->axis_count++;
    }
}

static void fill(double *row, const squares *q, const tmi_combination *c)
{
    for (size_t cell = 0; cell < q->cells; cell++) {
        row[cell] = 0;
        for (size_t t = 0; t < c->term_count; t++) {
            double product = c->scale[t];
            for (size_t a = 0; a < c->axis_count; a++) product *= c->vectors[a][t][level_of(q->axes, q->count, cell, c->axes[a])];
            row[cell] += product;
        }
    }
}

static double by_effects(const tmi_combination *c, const tmi_marginal *marginals, const double *precisions, size_t count,
                         bool known)
{
    tmi_effects e;
    tmi_parts_of_effects parts;
    assert_int_equal(tmi_effects_make(&e, small, 1, 1, &known, NULL), TAMIS_OK);
    assert_int_equal(tmi_effects_take(&parts, &e, c, NULL), TAMIS_OK);
    tmi_effects_reset(&e);
    for (size_t k = 0; k < count; k++) assert_int_equal(tmi_effects_take_marginal(&e, &marginals[k], NULL), TAMIS_OK);
    for (size_t k = 0; k < count; k++) {
        tmi_table_information t;
        assert_int_equal(tmi_table_information_make(&t, &e, &marginals[k], NULL), TAMIS_OK);
        tmi_effects_add(&e, &t, precisions[k]);
        tmi_table_information_clear(&t);
    }
    tmi_effects_solve(&e);
    double variance = tmi_effects_variance(&e, &parts);
    tmi_parts_of_effects_clear(&parts);
    tmi_effects_clear(&e);
    return variance;
}

static void effects_are_least_squares(void **state)
{
    (void)state;
    static squares q;
    uint64_t stream = 14;
    size_t finite = 0, infinite = 0;
    for (int round = 0; round < test_size(400, 4000); round++) {
        const bool known = next_number(&stream) % 2;
        const size_t count = 1 + next_number(&stream) % 6;
        double precisions[6], vectors[MOST_AXES][TMI_MAX_TERMS][8], row[MOST_CELLS], ones[MOST_CELLS];
        tmi_marginal marginals[6];
        tmi_combination c;
        memset(&q, 0, sizeof q);
        q.axes = small;
        q.count = MOST_AXES;
        q.cells = cells_of(small, MOST_AXES);
        for (size_t k = 0; k < count; k++) {
            marginals[k] = random_shape(&stream, small, MOST_AXES);
            precisions[k] = exp(4 * uniform(&stream) - 2);
            add_table(&q, &marginals[k], precisions[k]);
        }
        for (size_t l = 0; known && l < small[1].levels; l++) { /* the levels of axis 1 are counted */
            for (size_t i = 0; i < q.cells; i++) ones[i] = level_of(small, MOST_AXES, i, 1) == l;
            add_row(&q, ones, 1e6);
        }
        random_combination(&c, vectors, &stream, small, MOST_AXES);
        fill(row, &q, &c);
        const double squares = variance_by_squares(&q, row, 1e-13), more = variance_by_squares(&q, row, 1e-14),
                     effects = by_effects(&c, marginals, precisions, count, known);
        if (more > 2 * squares) {
            assert_true(isinf(effects));
            infinite++;
        } else {
            if (!(fabs(squares - effects) <= 1e-4 * squares + 1e-4))
                fail_msg("round %d: %.8g by squares, %.8g", round, squares, effects);
            finite++;
        }
    }
    assert_true(finite > 100 && infinite > 50);
}

/* ---- budgets ---- */

typedef struct case_of {
    tmi_effects effects;
    tmi_parts_of_effects parts[8];
    tmi_strategy_target targets[8];
    tmi_marginal needed[8];
    double vectors[8][MOST_AXES][TMI_MAX_TERMS][8];
    double weights[8];
    size_t count;
} case_of;

static void make_case(case_of *c, uint64_t *stream, bool known)
{
    assert_int_equal(tmi_effects_make(&c->effects, small, 1, 1, &known, NULL), TAMIS_OK);
    c->count = 2 + next_number(stream) % 5;
    for (size_t i = 0; i < c->count; i++) {
        tmi_combination combination;
        random_combination(&combination, c->vectors[i], stream, small, MOST_AXES);
        assert_int_equal(tmi_effects_take(&c->parts[i], &c->effects, &combination, NULL), TAMIS_OK);
        c->targets[i] = (tmi_strategy_target){.share = 0.5 + uniform(stream),
                                              .sampling = uniform(stream),
                                              .noise = &c->parts[i],
                                              .noise_count = 1};
        if (next_number(stream) % 2) {
            c->targets[i].spread = &c->parts[i];
            c->targets[i].spread_count = 1;
            c->targets[i].margin = 0.7;
        }
        c->needed[i] = (tmi_marginal){.axis_count = combination.axis_count};
        memcpy(c->needed[i].axes, combination.axes, sizeof combination.axes);
    }
}

static void clear_case(case_of *c)
{
    for (size_t i = 0; i < c->count; i++) tmi_parts_of_effects_clear(&c->parts[i]);
    tmi_effects_clear(&c->effects);
}

static const tmi_move_bound none[1] = {{.own = 1}};
static const double once[1] = {1};

static tmi_search search_of(case_of *c, bool gaussian)
{
    return (tmi_search){.problem = {.effects = &c->effects,
                                    .targets = c->targets,
                                    .target_count = c->count,
                                    .gaussian = gaussian,
                                    .budget = 2,
                                    .weights = c->weights},
                        .move_bounds = none,
                        .copies = once,
                        .most_numbers = 1e6};
}

/* No part can be moved from one table to another with a gain, and no other division is better. */
static void budgets_are_divided_best(void **state)
{
    (void)state;
    uint64_t stream = 5;
    for (int round = 0; round < test_size(60, 600); round++) {
        static case_of c;
        const bool gaussian = round % 2;
        memset(&c, 0, sizeof c);
        make_case(&c, &stream, next_number(&stream) % 2);
        tmi_search search = search_of(&c, gaussian);
        tmi_found_tables found;
        assert_int_equal(tmi_search_run(&found, &search, c.needed, c.count, NULL), TAMIS_OK);
        assert_true(isfinite(found.objective));
        double best = tmi_budget_objective(&search.problem, &found.best), sum = 0;
        assert_true(fabs(best - found.objective) < 1e-9);
        for (size_t k = 0; k < found.best.count; k++) sum += found.best.parts[k];
        assert_true(fabs(sum - 1) < 1e-12);
        if (gaussian)
            if (!(found.gap < 3e-2)) fail_msg("round %d: gap %g", round, found.gap);
        for (int i = 0; i < 50 && found.best.count > 1; i++) {
            const size_t from = next_number(&stream) % found.best.count, to = next_number(&stream) % found.best.count;
            const double much = found.best.parts[from] * 0.3 * uniform(&stream);
            found.best.parts[from] -= much;
            found.best.parts[to] += much;
            assert_true(tmi_budget_objective(&search.problem, &found.best) > best - 1e-3);
            found.best.parts[from] += much;
            found.best.parts[to] -= much;
        }
        tmi_found_tables_clear(&found);
        clear_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(effects_are_least_squares), cmocka_unit_test(budgets_are_divided_best)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
