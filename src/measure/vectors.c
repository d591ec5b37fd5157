/* Vectors over the levels of axes. */
#include "measure/classes.h"
#include "measure/measurement.h"

/* Levels run through the classes of the columns on the axis, the last column fastest. */
void tmi_axis_restrict(double *v, const tmi_workload *w, size_t axis, size_t classes, const double *factor)
{
    const tmi_origin *o = &w->origins[axis];
    size_t after = 1, k = o->classes_count;
    while (k > 0 && o->classes[k - 1] != classes) after *= tmi_classes_levels(&w->classes[o->classes[--k]]);
    const size_t own = tmi_classes_levels(&w->classes[classes]);
    for (size_t level = 0; level < w->axes[axis].levels; level++) v[level] *= factor[level / after % own];
}

/* 1, t and t^2 in levels. */
static double level_of_power(const tmi_axis *axis, int power, size_t level)
{
    if (level > (size_t)axis->degree) return 0; /* missing */
    if (power == 0) return 1;
    if (power == 1) return (double)level / axis->degree;
    return level == (size_t)axis->degree ? 1 : 0;
}

void tmi_variable_power(double *v, const tmi_workload *w, const tmi_variable *x, int power, size_t stratum)
{
    if (!x->column || x->axis == SIZE_MAX) return; /* all rows are in one class */
    if (x->classes != SIZE_MAX) {
        tmi_axis_restrict(v, w, x->axis, x->classes, power == 0 ? x->present : x->one);
        if (power == 2) tmi_axis_restrict(v, w, x->axis, x->classes, x->one);
        return;
    }
    const tmi_axis *axis = &w->axes[x->axis];
    const tmi_grid grid = tmi_axis_grid(w, x->axis, stratum);
    const double low = grid.step * (double)grid.low, width = grid.step * (double)(grid.high - grid.low);
    const double c[3][3] = {{1, 0, 0}, {low, width, 0}, {low * low, 2 * low * width, width * width}};
    for (size_t level = 0; level < axis->levels; level++) {
        double value = 0;
        for (int p = 0; p <= power; p++) value += c[power][p] * level_of_power(axis, p, level);
        v[level] *= value;
    }
}
