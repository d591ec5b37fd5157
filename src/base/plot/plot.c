/* From the curves of a plot to lines inside a frame. */
#include "base/plot/plot.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define LARGEST 1e300   /* beyond, a number is drawn as infinite: the span of an axis stays finite */
#define SMALLEST 1e-290 /* the least span of an axis */
#define FINEST 1e-9     /* of the largest number: with a shorter span ticks would look all the same */

/* ---- what is asked for ---- */

static tamis_status check_axis(const tamis_plot_axis *axis, const char *name, tamis_error *err)
{
    double largest = fmax(fabs(axis->from), fabs(axis->to));
    if (isnan(axis->from) || isnan(axis->to) || largest > LARGEST || axis->from > axis->to ||
        (axis->from < axis->to && axis->to - axis->from < FINEST * largest))
        return tmi_fail(err, TAMIS_INVALID, "%s: from and to must be at most 1e300, and equal or from clearly below to", name);
    if (axis->log && axis->from < axis->to && !(axis->from > 0))
        return tmi_fail(err, TAMIS_INVALID, "%s: from must be positive on a logarithmic axis", name);
    if (axis->names && (axis->log || axis->name_count > TAMIS_PLOT_NAMES))
        return tmi_fail(err, TAMIS_INVALID, "%s: at most %d names, on an axis that is not logarithmic", name, TAMIS_PLOT_NAMES);
    return TAMIS_OK;
}

static tamis_status check_plot(const tamis_plot *plot, tamis_error *err)
{
    if (!plot) return tmi_fail(err, TAMIS_INVALID, "plot: NULL");
    if (!plot->curves || plot->curve_count < 1 || plot->curve_count > TAMIS_PLOT_CURVES)
        return tmi_fail(err, TAMIS_INVALID, "curves: must be 1 to %d", TAMIS_PLOT_CURVES);
    for (size_t i = 0; i < plot->curve_count; i++) {
        const tamis_plot_curve *c = &plot->curves[i];
        if (!c->x || !c->y || c->count < 1 || c->count > TAMIS_PLOT_POINTS)
            return tmi_fail(err, TAMIS_INVALID, "curve %zu: must have 1 to %d points", i, TAMIS_PLOT_POINTS);
    }
    tamis_status status = check_axis(&plot->x, "x", err);
    return status == TAMIS_OK ? check_axis(&plot->y, "y", err) : status;
}

/* ---- scales ---- */

/* A value on its scale: finite, or an infinity at the edge, or NaN. */
static double placed(double value, bool log)
{
    if (isnan(value)) return value;
    if (fabs(value) > LARGEST) return log && value < 0 ? -INFINITY : copysign(INFINITY, value);
    return !log ? value : value > 0 ? log10(value) : -INFINITY;
}

static tamis_status make_scale(tmi_plot_scale *scale, const tamis_plot *plot, bool y, tamis_error *err)
{
    const tamis_plot_axis *axis = y ? &plot->y : &plot->x;
    scale->log = axis->log;
    if (axis->names && axis->from == axis->to) {
        scale->from = 0.5;
        scale->to = (double)axis->name_count + 0.5;
        return TAMIS_OK;
    }
    if (axis->from < axis->to) {
        scale->from = placed(axis->from, axis->log);
        scale->to = placed(axis->to, axis->log);
        return TAMIS_OK;
    }
    double low = INFINITY, high = -INFINITY;
    bool falls = false; /* out of a logarithmic axis: then there is room to see it */
    for (size_t i = 0; i < plot->curve_count; i++) {
        const tamis_plot_curve *c = &plot->curves[i];
        for (size_t k = 0; k < c->count; k++) {
            double at = placed(y ? c->y[k] : c->x[k], axis->log);
            falls |= scale->log && at == -INFINITY;
            if (!isfinite(at) || isnan(y ? c->x[k] : c->y[k])) continue;
            if (at < low) low = at;
            if (at > high) high = at;
        }
    }
    if (!(low <= high))
        return tmi_fail(err, TAMIS_INVALID, "curves: no point has a finite%s %c", axis->log ? ", positive" : "", y ? 'y' : 'x');
    double largest = fmax(fabs(low), fabs(high));
    if (high - low < (scale->log ? 0.05 : fmax(SMALLEST, FINEST * largest))) {
        double more = scale->log ? 0.3 : largest < SMALLEST ? 1 : 0.1 * largest;
        low -= more;
        high += 1.1 * more; /* a level curve lies between two rows of dots, not just at their border */
    }
    if (y && !scale->log && low > 0 && low < 0.5 * high) low = 0;
    if (falls) low -= fmax(1, 0.1 * (high - low));
    scale->from = low;
    scale->to = high;
    return TAMIS_OK;
}

static double share(const tmi_plot_scale *scale, double at)
{
    if (isinf(at)) return at > 0 ? 1 : 0;
    return (at - scale->from) / (scale->to - scale->from);
}

/* ---- curves ---- */

/* The part of a line inside the frame (Liang and Barsky); false if there is none. */
static bool clip(tmi_plot_point *a, tmi_plot_point *b)
{
    double dx = b->x - a->x, dy = b->y - a->y, enter = 0, leave = 1;
    const double step[4] = {-dx, dx, -dy, dy}, room[4] = {a->x, 1 - a->x, a->y, 1 - a->y};
    for (int i = 0; i < 4; i++) {
        if (step[i] == 0) {
            if (room[i] < 0) return false;
        } else if (step[i] < 0) {
            enter = fmax(enter, room[i] / step[i]);
        } else {
            leave = fmin(leave, room[i] / step[i]);
        }
    }
    if (enter > leave) return false;
    tmi_plot_point from = *a;
    if (leave < 1) b->x = from.x + leave * dx, b->y = from.y + leave * dy;
    if (enter > 0) a->x = from.x + enter * dx, a->y = from.y + enter * dy;
    return true;
}

static bool inside(tmi_plot_point p) { return p.x >= 0 && p.x <= 1 && p.y >= 0 && p.y <= 1; }

static void add_point(tmi_plot_trace *trace, tmi_plot_point p, bool pen_up)
{
    p.pen_up = pen_up;
    trace->points[trace->count++] = p;
}

static void make_dots(tmi_plot_trace *trace, const tamis_plot_curve *curve, const tmi_plot_drawing *d)
{
    for (size_t k = 0; k < curve->count; k++) {
        const double x = placed(curve->x[k], d->x.log), y = placed(curve->y[k], d->y.log);
        const tmi_plot_point now = {share(&d->x, x), share(&d->y, y), true};
        if (isfinite(x) && isfinite(y) && inside(now)) add_point(trace, now, true);
    }
}

static tamis_status make_trace(tmi_plot_trace *trace, const tamis_plot_curve *curve, const tmi_plot_drawing *d, bool dots,
                               tamis_error *err)
{
    trace->points = tmi_alloc(2 * curve->count, sizeof *trace->points);
    if (!trace->points) return tmi_fail_memory(err);
    if (dots) {
        make_dots(trace, curve, d);
        return TAMIS_OK;
    }
    tmi_plot_point last = {0};
    bool has_last = false, joined = false;
    double last_x = 0, last_y = 0; /* on the scale, perhaps infinite */
    for (size_t k = 0; k < curve->count; k++) {
        double x = placed(curve->x[k], d->x.log), y = placed(curve->y[k], d->y.log);
        if (isnan(x) || isnan(y)) {
            has_last = joined = false;
            continue;
        }
        tmi_plot_point now = {share(&d->x, x), share(&d->y, y), false};
        bool along_edge = has_last && ((isinf(x) && x == last_x) || (isinf(y) && y == last_y));
        if (has_last && !along_edge) {
            tmi_plot_point a = last, b = now;
            if (clip(&a, &b)) {
                if (!joined) add_point(trace, a, true);
                add_point(trace, b, false);
                joined = b.x == now.x && b.y == now.y;
            } else {
                joined = false;
            }
        } else if (along_edge) {
            joined = false;
        } else if (curve->count == 1 && inside(now) && isfinite(x) && isfinite(y)) {
            add_point(trace, now, true);
        }
        last = now, last_x = x, last_y = y, has_last = true;
    }
    return TAMIS_OK;
}

/* ---- texts ---- */

/* The bytes of one letter of well-formed UTF-8 that is no control character, U+FFFE or U+FFFF; 0 if it is not one. */
static size_t good_letter(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    size_t length = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (length == 2 && s[0] == 0xc2 && s[1] < 0xa0) return 0;
    if (length == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0))) return 0;
    if (length == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe) return 0;
    if (length == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))) return 0;
    return length;
}

static tamis_status clean(char **copy, const char *string, tamis_error *err)
{
    if (!string) return TAMIS_OK;
    tmi_text text;
    tmi_text_init(&text);
    for (const unsigned char *s = (const unsigned char *)string; *s;) {
        size_t length = good_letter(s);
        tmi_text_add(&text, length ? (const char *)s : "?", length ? length : 1);
        s += length ? length : 1;
    }
    return tmi_text_take(copy, &text, err);
}

static tamis_status clean_all(tmi_plot_drawing *d, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(clean(&d->title, d->plot->title, err));
    TMI_TRY(clean(&d->subtitle, d->plot->subtitle, err));
    TMI_TRY(clean(&d->x_label, d->plot->x.label, err));
    TMI_TRY(clean(&d->y_label, d->plot->y.label, err));
    for (size_t i = 0; i < d->plot->curve_count; i++) TMI_TRY(clean(&d->names[i], d->plot->curves[i].name, err));
done:
    return status;
}

/* ---- names along an axis ---- */

static tamis_status name_ticks(tmi_plot_scale *scale, const tamis_plot_axis *axis, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    scale->tick_count = 0;
    for (size_t i = 0; i < axis->name_count; i++) {
        const double at = share(scale, (double)i + 1);
        char *name = NULL;
        if (at < 0 || at > 1) continue;
        TMI_TRY(clean(&name, axis->names[i] ? axis->names[i] : "", err));
        tmi_plot_tick *tick = &scale->ticks[scale->tick_count++];
        size_t length = name ? strlen(name) : 0;
        if (length >= TMI_TICK_LABEL)
            for (length = TMI_TICK_LABEL - 1; length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80;) length--;
        tick->share = at;
        if (length > 0) memcpy(tick->label, name, length);
        tick->label[length] = '\0';
        tmi_free(name);
    }

done:
    return status;
}

/* ---- all of it ---- */

tamis_status tmi_plot_draw(tmi_plot_drawing *drawing, const tamis_plot *plot, int x_ticks, int y_ticks, bool unicode,
                           tamis_error *err)
{
    tamis_status status;
    *drawing = (tmi_plot_drawing){.plot = plot};
    size_t points = 0;
    TMI_TRY(check_plot(plot, err));
    TMI_TRY(clean_all(drawing, err));
    TMI_TRY(make_scale(&drawing->x, plot, false, err));
    TMI_TRY(make_scale(&drawing->y, plot, true, err));
    if (plot->x.names) TMI_TRY(name_ticks(&drawing->x, &plot->x, err));
    else tmi_plot_ticks(&drawing->x, x_ticks, false, unicode);
    if (plot->y.names) TMI_TRY(name_ticks(&drawing->y, &plot->y, err));
    else tmi_plot_ticks(&drawing->y, y_ticks, plot->y.from == plot->y.to, unicode);
    for (size_t i = 0; i < plot->curve_count; i++) {
        TMI_TRY(make_trace(&drawing->traces[i], &plot->curves[i], drawing, plot->dots >> i & 1, err));
        points += drawing->traces[i].count;
    }
    if (points == 0) status = tmi_fail(err, TAMIS_INVALID, "curves: no part of them is inside the axes");
done:
    return status;
}

void tmi_plot_clear(tmi_plot_drawing *drawing)
{
    tmi_free(drawing->title);
    tmi_free(drawing->subtitle);
    tmi_free(drawing->x_label);
    tmi_free(drawing->y_label);
    for (size_t i = 0; i < TAMIS_PLOT_CURVES; i++) {
        tmi_free(drawing->names[i]);
        tmi_free(drawing->traces[i].points);
    }
    *drawing = (tmi_plot_drawing){0};
}
