#include "measure/line_fit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "survey/normal.h"

void tmi_line_fit_clear(tmi_line_fit *f)
{
    tmi_free(f->moments);
    tmi_free(f->coefficients);
    tmi_free(f->inverse);
    tmi_free(f->design);
    tmi_free(f->number_of);
    tmi_free(f->b);
    tmi_free(f->scores);
    tmi_free(f->room);
    *f = (tmi_line_fit){0};
}

/* The middle and half the width of a number's range; of an indicator those of 0 and 1. */
static void set_range(tmi_line_fit *f, size_t number, const tmi_plan_column *x)
{
    const double low = x->conditions ? 0 : x->grid.step * (double)x->grid.low,
                 high = x->conditions ? 1 : x->grid.step * (double)x->grid.high;
    f->middle[number] = (low + high) / 2;
    f->half[number] = high > low ? (high - low) / 2 : 1;
}

tamis_status tmi_line_fit_make(tmi_line_fit *f, const tmi_plan_statistic *t, tamis_error *err)
{
    const tmi_plan_model *m = t->model;
    const size_t cells = tmi_model_codes(m, 0, NULL), terms = m->term_count;
    *f = (tmi_line_fit){.model = m, .cells = cells, .terms = terms, .pairs = t->contrast->compared_count};
    f->moments = tmi_alloc(f->pairs * cells, sizeof *f->moments);
    f->coefficients = tmi_alloc(terms, sizeof *f->coefficients);
    f->inverse = tmi_alloc(terms * terms, sizeof *f->inverse);
    f->design = tmi_alloc(cells * terms, sizeof *f->design);
    f->number_of = tmi_alloc(terms + TMI_MAX_NUMBERS, sizeof *f->number_of);
    f->b = tmi_alloc(terms, sizeof *f->b);
    f->scores = tmi_alloc(terms * terms, sizeof *f->scores);
    f->room = tmi_alloc(terms * (2 * terms + 2), sizeof *f->room);
    if (!f->moments || !f->coefficients || !f->inverse || !f->design || !f->number_of || !f->b || !f->scores || !f->room) {
        tmi_line_fit_clear(f);
        return tmi_fail_memory(err);
    }
    for (size_t k = 0; k < m->on_count; k++)
        if (m->on[k]->is_number) set_range(f, f->numbers++, m->on[k]);
    set_range(f, f->numbers++, t->column);
    for (size_t k = 0, number = 0; k < terms; k++) {
        const bool is_number = m->terms[k].predictor[0] != SIZE_MAX && m->terms[k].code[0] == SIZE_MAX;
        f->number_of[k] = is_number ? number : SIZE_MAX;
        if (is_number) f->number_of[terms + number++] = k;
    }
    for (size_t c = 0; c < cells; c++) {
        size_t codes[TMI_MAX_PREDICTORS];
        tmi_model_codes(m, c, codes);
        for (size_t k = 0; k < terms; k++)
            f->design[c * terms + k] = f->number_of[k] == SIZE_MAX ? tmi_model_term_value(m, k, codes, NULL) : 0;
    }
    return TAMIS_OK;
}

/* ---- moments ---- */

/* Pairs are (0, 1), (0, 2), ..., (1, 2), ...: the place of i < j. */
static size_t pair_of(const tmi_line_fit *f, size_t i, size_t j) { return i * f->numbers - i * (i + 1) / 2 + j - i - 1; }

/* Finds the moment that holds the sum of products of two numbers; the index `f->numbers` means the constant 1. */
static void place_of(size_t *pair, tmi_moment *moment, const tmi_line_fit *f, size_t i, size_t j)
{
    const size_t one = f->numbers, last = one - 1, first = i < j ? i : j, second = i < j ? j : i;
    if (second < one && first < second) {
        *pair = pair_of(f, first, second);
        *moment = TMI_OF_XY;
    } else if (first == one) {
        *pair = 0;
        *moment = TMI_OF_ROWS;
    } else { /* a sum, or a square: of the pair with the next number, of the last one with that before it */
        *pair = first < last ? pair_of(f, first, first + 1) : pair_of(f, last - 1, last);
        *moment = second == one ? first < last ? TMI_OF_X : TMI_OF_Y : first < last ? TMI_OF_XX : TMI_OF_YY;
    }
}

/* The sum of products of two numbers in a cell, as they are. */
static double sum_of(const tmi_line_fit *f, size_t cell, size_t i, size_t j)
{
    size_t pair;
    tmi_moment moment;
    place_of(&pair, &moment, f, i, j);
    return f->moments[pair * f->cells + cell][moment];
}

/* z = (x - middle)/half; 1 is 1. */
static double middle_of(const tmi_line_fit *f, size_t i) { return i < f->numbers ? f->middle[i] : 0; }
static double half_of(const tmi_line_fit *f, size_t i) { return i < f->numbers ? f->half[i] : 1; }

/* The same of scaled numbers. */
static double scaled_sum(const tmi_line_fit *f, size_t cell, size_t i, size_t j)
{
    const size_t one = f->numbers;
    const double a = middle_of(f, i), b = middle_of(f, j);
    double sum = sum_of(f, cell, i, j);
    if (a != 0) sum -= a * sum_of(f, cell, one, j);
    if (b != 0) sum -= b * sum_of(f, cell, i, one);
    if (a != 0 && b != 0) sum += a * b * sum_of(f, cell, one, one);
    return sum / (half_of(f, i) * half_of(f, j));
}

/* Adds q times the product of two scaled numbers. */
static void add(double of[TMI_MAX_PAIRS][TMI_MOMENTS], const tmi_line_fit *f, size_t i, size_t j, double q)
{
    const size_t one = f->numbers, first[4] = {i, one, i, one}, second[4] = {j, j, one, one};
    const double a = middle_of(f, i), b = middle_of(f, j), factors[4] = {1, -a, -b, a * b};
    for (size_t k = 0; k < 4; k++) {
        size_t pair;
        tmi_moment moment;
        place_of(&pair, &moment, f, first[k], second[k]);
        of[pair][moment] += q * factors[k] / (half_of(f, i) * half_of(f, j));
    }
}

/* ---- the root ---- */

/* The sums of X X' and of X v in a cell are added. */
static void add_cell(double *J, double *right, double *squares, const tmi_line_fit *f, size_t cell)
{
    const size_t n = f->terms, one = f->numbers, v = one - 1;
    const double *x = f->design + cell * n;
    double sums[TMI_MAX_NUMBERS + 1][TMI_MAX_NUMBERS + 1];
    for (size_t i = 0; i <= one; i++)
        for (size_t j = 0; j <= i; j++) sums[i][j] = sums[j][i] = scaled_sum(f, cell, i, j);
    for (size_t i = 0; i < n; i++) {
        const size_t own = f->number_of[i] == SIZE_MAX ? one : f->number_of[i];
        const double a = own == one ? x[i] : 1;
        if (a == 0) continue;
        for (size_t j = 0; j <= i; j++) {
            const size_t other = f->number_of[j] == SIZE_MAX ? one : f->number_of[j];
            J[i * n + j] += a * (other == one ? x[j] : 1) * sums[own][other];
        }
        right[i] += a * sums[own][v];
    }
    squares[0] += sums[one][one];
    squares[1] += sums[one][v];
    squares[2] += sums[v][v];
}

/* Element k of A c: a coefficient in the units of the data, from those of scaled numbers, `stride` apart. */
static double mapped(const tmi_line_fit *f, size_t k, const double *c, size_t stride)
{
    const size_t predictors = f->numbers - 1;
    const double y = f->half[predictors];
    double value = y / (f->number_of[k] == SIZE_MAX ? 1 : f->half[f->number_of[k]]) * c[k * stride];
    for (size_t i = 0; k == 0 && i < predictors; i++)
        value -= y * f->middle[i] / f->half[i] * c[f->number_of[f->terms + i] * stride];
    return value;
}

static bool find(tmi_line_fit *f)
{
    const size_t n = f->terms, predictors = f->numbers - 1;
    double *J = f->inverse, *L = f->room, *inverse = f->room + n * n, *right = f->b, squares[3] = {0};
    memset(J, 0, n * n * sizeof *J);
    memset(right, 0, n * sizeof *right);
    for (size_t c = 0; c < f->cells; c++) add_cell(J, right, squares, f, c);
    if (!(squares[0] > 0) || !tmi_positive_factor(L, J, n, 0)) return false;
    double *sums = f->coefficients, explained = 0;
    memcpy(sums, right, n * sizeof *sums);
    tmi_normal_solve(f->b, L, n);
    for (size_t k = 0; k < n; k++) explained += f->b[k] * sums[k];
    f->residual = (squares[2] - explained) / squares[0];
    f->total = (squares[2] - squares[1] * squares[1] / squares[0]) / squares[0];
    tmi_positive_inverse(inverse, L, n);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++) f->scores[k * n + j] = mapped(f, k, inverse + j, n);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++) f->inverse[k * n + j] = mapped(f, j, f->scores + k * n, 1);
    for (size_t k = 0; k < n; k++) f->coefficients[k] = mapped(f, k, f->b, 1) + (k == 0 ? f->middle[predictors] : 0);
    for (size_t k = 0; k < n; k++)
        if (!isfinite(f->coefficients[k]) || !(f->inverse[k * n + k] > 0)) return false;
    return true;
}

void tmi_line_fit_find(tmi_line_fit *f)
{
    f->determined = find(f);
    if (f->determined) return;
    f->residual = f->total = NAN;
    memset(f->coefficients, 0, f->terms * sizeof *f->coefficients);
    memset(f->inverse, 0, f->terms * f->terms * sizeof *f->inverse);
    memset(f->scores, 0, f->terms * f->terms * sizeof *f->scores);
    memset(f->b, 0, f->terms * sizeof *f->b);
}

/* ---- linearised variables ---- */

/* X'c in a cell: a function of the numbers, with its constant last. */
static void function_of(double line[TMI_MAX_NUMBERS + 1], const tmi_line_fit *f, const double *c, size_t cell)
{
    const size_t n = f->terms, one = f->numbers;
    memset(line, 0, (TMI_MAX_NUMBERS + 1) * sizeof *line);
    for (size_t k = 0; k < n; k++) {
        if (f->number_of[k] == SIZE_MAX) line[one] += f->design[cell * n + k] * c[k];
        else line[f->number_of[k]] += c[k];
    }
}

static void add_product(double of[TMI_MAX_PAIRS][TMI_MOMENTS], const tmi_line_fit *f, const double *first, const double *second)
{
    for (size_t i = 0; i <= f->numbers; i++)
        for (size_t j = 0; j <= f->numbers; j++)
            if (first[i] != 0 && second[j] != 0) add(of, f, i, j, first[i] * second[j]);
}

void tmi_line_fit_variable(double own[TMI_MAX_PAIRS][TMI_MOMENTS], double turn[TMI_MAX_PAIRS][TMI_MOMENTS], const tmi_line_fit *f,
                           size_t term, size_t cell)
{
    const size_t v = f->numbers - 1;
    double factor[TMI_MAX_NUMBERS + 1], rest[TMI_MAX_NUMBERS + 1];
    const double inverse = f->inverse[term * f->terms + term];
    memset(own, 0, TMI_MAX_PAIRS * sizeof *own);
    memset(turn, 0, TMI_MAX_PAIRS * sizeof *turn);
    function_of(factor, f, f->scores + term * f->terms, cell);
    function_of(rest, f, f->b, cell);
    for (size_t i = 0; i <= f->numbers; i++) rest[i] = -rest[i];
    rest[v] += 1;
    add_product(own, f, factor, rest);
    for (size_t i = 0; i <= f->numbers; i++) rest[i] = inverse > 0 ? factor[i] / inverse : 0;
    add_product(turn, f, factor, rest);
}

double tmi_line_fit_largest(const tmi_line_fit *f, size_t term)
{
    double largest = 0;
    for (size_t c = 0; c < f->cells; c++) {
        double factor[TMI_MAX_NUMBERS + 1], rest[TMI_MAX_NUMBERS + 1], first = 0, second = 1;
        function_of(factor, f, f->scores + term * f->terms, c);
        function_of(rest, f, f->b, c);
        for (size_t i = 0; i <= f->numbers; i++) {
            first += fabs(factor[i]);
            second += fabs(rest[i]);
        }
        largest = fmax(largest, first * second);
    }
    return largest;
}
