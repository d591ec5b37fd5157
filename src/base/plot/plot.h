/* What the two forms of a plot share: scales with their ticks, curves cut at the frame, places for the names. Everything is
 * in shares of the frame, x to the right and y upwards, both from 0 to 1.                                            */
#ifndef TMI_BASE_PLOT_PLOT_H
#define TMI_BASE_PLOT_PLOT_H

#include <tamis/experimental/plot.h>

#include "base/text.h"

#define TMI_PLOT_TICKS 16
#define TMI_TICK_LABEL 72 /* a sign, nineteen digits, a power of ten in raised ones */

typedef struct tmi_plot_tick {
    double share;
    char label[TMI_TICK_LABEL];
} tmi_plot_tick;

typedef struct tmi_plot_scale {
    bool log;
    double from, to; /* of the value, or of its decimal logarithm */
    tmi_plot_tick ticks[TMI_PLOT_TICKS];
    size_t tick_count;
} tmi_plot_scale;

typedef struct tmi_plot_point {
    double x, y;
    bool pen_up; /* begins a new line */
} tmi_plot_point;

/* A curve inside the frame. */
typedef struct tmi_plot_trace {
    tmi_plot_point *points;
    size_t count;
} tmi_plot_trace;

typedef struct tmi_plot_drawing {
    tmi_plot_scale x, y;
    tmi_plot_trace traces[TAMIS_PLOT_CURVES];
    const tamis_plot *plot;
    char *title, *subtitle, *x_label, *y_label, *names[TAMIS_PLOT_CURVES]; /* NULL, or what may be shown of them: UTF-8 without
                                                                              control characters */
} tmi_plot_drawing;

/* Checks the plot and lays it out with about this many ticks; `unicode`: powers of ten with raised digits. Clear it whatever
 * happens. */
tamis_status tmi_plot_draw(tmi_plot_drawing *drawing, const tamis_plot *plot, int x_ticks, int y_ticks, bool unicode,
                           tamis_error *err);
void tmi_plot_clear(tmi_plot_drawing *drawing);

/* Ticks at round numbers; from and to are widened to round ones if `widen`. */
void tmi_plot_ticks(tmi_plot_scale *scale, int wanted, bool widen, bool unicode);

/* Where the name of a curve is: the left end of its line and the top of it, in lines from the upper left corner of the frame. */
typedef struct tmi_plot_label {
    double left, top, width; /* width is given; 0: no name */
} tmi_plot_label;

/* Finds a place beside each curve, away from the others. The frame is `width` and `height` lines large; `gap` is the
 * distance from a curve to its name; places are multiples of `snap` lines across and of one line down if snap > 0. */
tamis_status tmi_plot_place(tmi_plot_label *labels, const tmi_plot_drawing *drawing, double width, double height, double gap,
                            double snap, tamis_error *err);

#endif
