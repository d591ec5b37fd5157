/* Products of several numbers, by brute force: all pairs of records on a grid, by what a row adds to the levels of its numbers.
 * Their distances are those that sensitivities count with: never above, and reached where the proof says so. */
#include "tests/test.h"

#include <math.h>

#include "strategy/effects.h"

#define MOST_NUMBERS 5
#define MOST_ROWS 40
#define MOST_RECORDS 4096

/* What a record of weight 1 with these u adds to a released number, in steps. */
static double added(tmi_table_form form, size_t numbers, size_t row, const double *u)
{
    size_t levels = 1;
    double sum = 0;
    for (size_t i = 0; i < numbers; i++) levels *= 3;
    for (size_t l = 0; l < levels; l++) {
        double product = tmi_gram_integer(form, numbers, row, l);
        for (size_t i = numbers, rest = l; i-- > 0 && product != 0; rest /= 3) {
            const double t = (u[i] + 1) / 2;
            product *= rest % 3 == 0 ? (1 - t) * (1 - t) : rest % 3 == 1 ? 2 * t * (1 - t) : t * t;
        }
        sum += product;
    }
    return sum;
}

typedef struct distances {
    double change, change_squared, size, size_squared;
} distances;

/* `points` of each number; weights 0 and 1, since distances are convex in both. */
static distances farthest(tmi_table_form form, size_t numbers, size_t points)
{
    static double adds[MOST_RECORDS][MOST_ROWS];
    const size_t rows = tmi_gram_rows(numbers);
    size_t records = 1;
    distances d = {0};
    for (size_t i = 0; i < numbers; i++) records *= points;
    assert_true(records < MOST_RECORDS && rows <= MOST_ROWS);
    for (size_t r = 0; r < records; r++) {
        double u[MOST_NUMBERS];
        for (size_t i = 0, rest = r; i < numbers; i++, rest /= points)
            u[i] = 2.0 * (double)(rest % points) / (double)(points - 1) - 1;
        for (size_t k = 0; k < rows; k++) adds[r][k] = added(form, numbers, k, u);
    }
    for (size_t k = 0; k < rows; k++) adds[records][k] = 0; /* a record that adds nothing */
    for (size_t p = 0; p <= records; p++)
        for (size_t q = 0; q <= p; q++) {
            double sum = 0, squares = 0;
            for (size_t k = 0; k < rows; k++) {
                const double x = adds[p][k] - adds[q][k];
                sum += fabs(x);
                squares += x * x;
            }
            d.change = fmax(d.change, sum);
            d.change_squared = fmax(d.change_squared, squares);
            if (p != records) continue;
            d.size = fmax(d.size, sum);
            d.size_squared = fmax(d.size_squared, squares);
        }
    return d;
}

static const tmi_table_form forms[] = {TMI_GRAM_SUMS, TMI_GRAM_SQUARES};

/* Lengths are reached where half of all, 1 included, can be turned; with k = 1/2, sums are too. */
static void no_record_moves_them_further(void **state)
{
    (void)state;
    static const size_t points[] = {0, 0, 33, 9, 5, 3};
    for (size_t f = 0; f < 2; f++)
        for (size_t numbers = 2; numbers <= MOST_NUMBERS; numbers++) {
            const tmi_table_form form = forms[f];
            const bool even = (numbers + 1) % 2 == 0;
            const distances d = farthest(form, numbers, points[numbers]);
            const double change = (double)tmi_gram_change(form, numbers),
                         squared = (double)tmi_gram_change_squared(form, numbers);
            assert_true(d.change <= change + 1e-9 && d.change_squared <= squared + 1e-9);
            assert_true(fabs(d.size - ((double)tmi_gram_size(form, numbers))) < 1e-9);
            assert_true(d.size_squared <= (double)tmi_gram_size_squared(form, numbers) + 1e-9);
            if (form == TMI_GRAM_SQUARES) assert_true(fabs(d.size_squared - (double)tmi_gram_size_squared(form, numbers)) < 1e-9);
            if (even) assert_true(fabs(d.change_squared - (squared)) < 1e-9);
            if (even && form == TMI_GRAM_SUMS) assert_true(fabs(d.change - (change)) < 1e-9);
            assert_true(d.change >= 0.85 * change && d.change_squared >= 0.85 * squared);
        }
}

/* A record that stays in a cell moves less than one that leaves it, so that rounding it twice there matters less than leaving. */
static void leaving_a_cell_is_worst(void **state)
{
    (void)state;
    for (size_t f = 0; f < 2; f++)
        for (size_t numbers = 2; numbers <= 16; numbers++) {
            assert_true(2 * tmi_gram_size(forms[f], numbers) > tmi_gram_change(forms[f], numbers));
            assert_true(2 * tmi_gram_size_squared(forms[f], numbers) > tmi_gram_change_squared(forms[f], numbers));
        }
}

/* Released numbers of a cell are about different effects: their coefficients have the product 0, and the lengths that information
 * counts with. */
static void they_are_contrasts(void **state)
{
    (void)state;
    const size_t numbers = 3, levels = 27;
    for (size_t f = 0; f < 2; f++)
        for (size_t j = 0; j < tmi_gram_rows(numbers); j++)
            for (size_t k = 0; k <= j; k++) {
                int64_t product = 0;
                for (size_t l = 0; l < levels; l++)
                    product += tmi_gram_integer(forms[f], numbers, j, l) * tmi_gram_integer(forms[f], numbers, k, l);
                const tmi_gram_row row = tmi_gram_row_at(numbers, j);
                const double length = tmi_gram_times(forms[f], &row) * tmi_gram_steps(forms[f]);
                assert_true(fabs((double)product - (j == k ? length * length * pow(3, (double)(numbers - row.count)) : 0)) <
                            1e-9);
            }
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(no_record_moves_them_further), cmocka_unit_test(leaving_a_cell_is_worst),
                                       cmocka_unit_test(they_are_contrasts)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
