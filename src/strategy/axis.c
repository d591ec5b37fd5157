#include "strategy/axis.h"

#include <math.h>

/* Two levels have the contrast (-1, 1); three have (-1, 0, 1) and (1, -2, 1). The last contrast sets the missing level against
 * all others. Each is divided by its length. */
double tmi_axis_contrast(const tmi_axis *axis, size_t contrast, size_t level)
{
    static const double sqrt_2 = 1.4142135623730951, sqrt_6 = 2.449489742783178, sqrt_12 = 3.4641016151377544;
    const size_t present = (size_t)axis->degree + 1;
    if (contrast == present - 1)
        return (level < present ? 1 : -(double)present) / (present == 1 ? sqrt_2 : present == 2 ? sqrt_6 : sqrt_12);
    if (level >= present) return 0;
    if (contrast == 1) return (level == 1 ? -2 : 1) / sqrt_6;
    return (level == 0 ? -1 : level == present - 1 ? 1 : 0) * M_SQRT1_2;
}

/* RAW releases t and t(1-t), CENTRED releases s, t(1-t) and 1/2: here in halves, by levels. Of degree 1 there is no t(1-t), and
 * RAW is t itself. */
static const int raw[2][3] = {{0, 1, 2}, {0, 1, 0}}, centred[3][3] = {{-1, 0, 1}, {0, 1, 0}, {1, 1, 1}};
static const int raw_line[1][2] = {{0, 1}}, centred_line[2][2] = {{-1, 1}, {1, 1}};

size_t tmi_form_rows(tmi_table_form form, const tmi_axis *axis)
{
    const size_t squares = axis->degree == 2 ? 1 : 0;
    return form == TMI_FULL ? axis->levels : form == TMI_RAW ? 1 + squares : 2 + squares;
}

int tmi_form_steps(tmi_table_form form, const tmi_axis *axis)
{
    return form == TMI_FULL || (form == TMI_RAW && axis->degree == 1) ? 1 : 2;
}

int tmi_form_integer(tmi_table_form form, const tmi_axis *axis, size_t row, size_t level)
{
    if (form == TMI_FULL) return row == level ? 1 : 0;
    if (level > (size_t)axis->degree) return 0;
    if (axis->degree == 1) return form == TMI_RAW ? raw_line[row][level] : centred_line[row][level];
    return form == TMI_RAW ? raw[row][level] : centred[row][level];
}

double tmi_form_level(tmi_table_form form, const tmi_axis *axis, size_t row, size_t level)
{
    return (double)tmi_form_integer(form, axis, row, level) / tmi_form_steps(form, axis);
}

/* ---- products of several numbers ---- */

/* In steps: the coefficients of 1, of products and of (1, -2, 1), which is 3/2 (u^2 - 1/3). So k is 3/2 of the last over the
 * second. A square is between -1/2 and 1 of its coefficient, and a row adds most where all u are at an end; that of 1 is such
 * that a record that adds nothing is near enough. */
typedef struct gram {
    int one, product, square;
} gram;

static gram gram_of(tmi_table_form form) { return form == TMI_GRAM_SUMS ? (gram){2, 3, 1} : (gram){8, 8, 7}; }

int tmi_gram_steps(tmi_table_form form) { return gram_of(form).product; }

tmi_gram_row tmi_gram_row_at(size_t numbers, size_t row)
{
    if (row == 0) return (tmi_gram_row){.count = 0};
    if (row <= 2 * numbers) return (tmi_gram_row){.numbers = {(row - 1) % numbers}, .count = 1, .square = row > numbers};
    size_t first = 0, rest = row - 1 - 2 * numbers;
    while (rest >= numbers - 1 - first) rest -= numbers - 1 - first++;
    return (tmi_gram_row){.numbers = {first, first + 1 + rest}, .count = 2};
}

int tmi_gram_integer(tmi_table_form form, size_t numbers, size_t row, size_t level)
{
    static const int line[3] = {-1, 0, 1}, square[3] = {1, -2, 1};
    const gram g = gram_of(form);
    const tmi_gram_row r = tmi_gram_row_at(numbers, row);
    int coefficient = r.count == 0 ? g.one : r.square ? g.square : g.product;
    for (size_t i = numbers; i-- > 0; level /= 3)
        for (size_t k = 0; k < r.count; k++)
            if (r.numbers[k] == i) coefficient *= (r.square ? square : line)[level % 3];
    return coefficient;
}

double tmi_gram_times(tmi_table_form form, const tmi_gram_row *row)
{
    const gram g = gram_of(form);
    if (row->count == 0) return (double)g.one / g.product;
    return row->square ? g.square * sqrt(6) / g.product : row->count == 1 ? sqrt(2) : 2;
}

/* 3/2 of the coefficient of squares is k in steps. In halves, rounded up. */
int64_t tmi_gram_change(tmi_table_form form, size_t numbers)
{
    const gram g = gram_of(form);
    const int64_t d = (int64_t)numbers, m = d + 1;
    return (g.product * (m * m - d) + 3 * g.square * d + 1) / 2;
}

int64_t tmi_gram_change_squared(tmi_table_form form, size_t numbers)
{
    const int64_t own = gram_of(form).product * (int64_t)(numbers + 1);
    return own * own;
}

int64_t tmi_gram_size(tmi_table_form form, size_t numbers)
{
    const gram g = gram_of(form);
    const int64_t d = (int64_t)numbers;
    return g.one + d * g.square + d * (d + 1) / 2 * g.product;
}

int64_t tmi_gram_size_squared(tmi_table_form form, size_t numbers)
{
    const gram g = gram_of(form);
    const int64_t d = (int64_t)numbers;
    const int64_t own = g.one * g.one + d * g.square * g.square + d * (d + 1) / 2 * g.product * g.product,
                  change = tmi_gram_change_squared(form, numbers);
    return 2 * own > change ? own : change;
}
