#include "strategy/axis.h"

#include <math.h>

/* Two levels have the contrast (-1, 1); three have (-1, 0, 1) and (1, -2, 1). The last contrast sets the missing level against
 * all others. Each is divided by its length. */
double tmi_axis_contrast(const tmi_axis *axis, size_t contrast, size_t level)
{
    const size_t present = (size_t)axis->degree + 1;
    if (contrast == present - 1) return (level < present ? 1 : -(double)present) / sqrt((double)(present * (present + 1)));
    if (level >= present) return 0;
    if (contrast == 1) return (level == 1 ? -2 : 1) / sqrt(6);
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
