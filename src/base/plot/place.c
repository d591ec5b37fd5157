/* Names beside their curves. Many places along each curve are tried, on both sides of it; the best one is away from the
 * other curves and from the names that stand already. A handful of curves makes this cheap enough to be thorough.     */
#include <math.h>

#include "base/hypotenuse.h"
#include "base/memory.h"
#include "base/plot/plot.h"

#define SPACING 0.25 /* lines between the points at which a curve is looked at */
#define TRIED 4      /* a place is tried at every fourth of them */
#define FAR_AWAY 2.5 /* lines: more distance is no better */

typedef struct dot {
    double x, y;
} dot;

typedef struct dots {
    dot *list;
    size_t count;
} dots;

typedef struct box {
    double left, top, right, bottom;
} box;

static size_t steps_between(dot a, dot b) { return (size_t)ceil(fmax(fabs(b.x - a.x), fabs(b.y - a.y)) / SPACING); }

static dot at(const tmi_plot_point *p, double width, double height) { return (dot){p->x * width, (1 - p->y) * height}; }

/* A trace as dots close to each other. */
static tamis_status make_dots(dots *d, const tmi_plot_trace *trace, double width, double height, tamis_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++)
        count += 1 + (trace->points[i].pen_up
                          ? 0
                          : steps_between(at(&trace->points[i - 1], width, height), at(&trace->points[i], width, height)));
    d->list = tmi_alloc(count, sizeof *d->list);
    if (!d->list) return tmi_fail_memory(err);
    for (size_t i = 0; i < trace->count; i++) {
        dot to = at(&trace->points[i], width, height);
        if (!trace->points[i].pen_up) {
            dot from = at(&trace->points[i - 1], width, height);
            size_t steps = steps_between(from, to);
            for (size_t k = 1; k < steps; k++) {
                double part = (double)k / (double)steps;
                d->list[d->count++] = (dot){from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)};
            }
        }
        dot last = d->count > 0 ? d->list[d->count - 1] : (dot){-1, -1};
        bool new = trace->points[i].pen_up || i + 1 == trace->count ||
                   tmi_hypotenuse(to.x - last.x, to.y - last.y) >= SPACING / 2;
        if (new) d->list[d->count++] = to;
    }
    return TAMIS_OK;
}

static double distance(const dots *d, box b)
{
    double least = INFINITY;
    for (size_t i = 0; i < d->count; i++) {
        double dx = fmax(0, fmax(b.left - d->list[i].x, d->list[i].x - b.right));
        double dy = fmax(0, fmax(b.top - d->list[i].y, d->list[i].y - b.bottom));
        least = fmin(least, tmi_hypotenuse(dx, dy));
    }
    return least;
}

static bool overlap(box a, tmi_plot_label label)
{
    return label.width > 0 && a.left < label.left + label.width + 0.5 && label.left - 0.5 < a.right && a.top < label.top + 1 &&
           label.top < a.bottom;
}

/* How good a position is; larger is better. A name that touches a curve or lies outside is bad, but if there is no other
 * position it has to go somewhere. */
static double score(box b, size_t own, const dots *curves, size_t count, const tmi_plot_label *placed, double width,
                    double height, double gap)
{
    double others = FAR_AWAY, value = 0.5 * b.left / width;
    for (size_t i = 0; i < count; i++)
        if (i != own) others = fmin(others, distance(&curves[i], b));
    double mine = distance(&curves[own], b), touch = 0.8 * gap;
    value += others - 0.5 * fmax(0, mine - gap);
    if (mine <= touch) value -= 5;
    if (others <= touch) value -= 10;
    if (mine >= others) value -= 2; /* it would seem to name the other one */
    for (size_t i = 0; i < own; i++)
        if (overlap(b, placed[i])) value -= 50;
    double outside = fmax(0, -b.left) + fmax(0, b.right - width) + fmax(0, -b.top) + fmax(0, b.bottom - height);
    return value - 100 * outside;
}

tamis_status tmi_plot_place(tmi_plot_label *labels, const tmi_plot_drawing *drawing, double width, double height, double gap,
                            double snap, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t count = drawing->plot->curve_count;
    dots curves[TAMIS_PLOT_CURVES] = {0};
    for (size_t i = 0; i < count; i++) TMI_TRY(make_dots(&curves[i], &drawing->traces[i], width, height, err));
    for (size_t i = 0; i < count; i++) {
        double w = labels[i].width, best = -INFINITY;
        if (curves[i].count == 0) labels[i].width = w = 0;
        for (size_t k = 0; w > 0 && k < curves[i].count; k += TRIED) {
            dot p = curves[i].list[k];
            const dot tried[] = {{p.x + gap, p.y - gap - 1},  {p.x - w / 2, p.y - gap - 1}, {p.x - gap - w, p.y - gap - 1},
                                 {p.x + gap, p.y + gap},      {p.x - w / 2, p.y + gap},     {p.x - gap - w, p.y + gap},
                                 {p.x + 1.5 * gap, p.y - 0.5}};
            for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
                double left = snap > 0 ? round(tried[t].x / snap) * snap : tried[t].x;
                double top = snap > 0 ? round(tried[t].y) : tried[t].y;
                double value = score((box){left, top, left + w, top + 1}, i, curves, count, labels, width, height, gap);
                if (value > best) best = value, labels[i].left = left, labels[i].top = top;
            }
        }
    }
done:
    for (size_t i = 0; i < count; i++) tmi_free(curves[i].list);
    return status;
}
