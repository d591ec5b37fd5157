/* Plots: a few named curves, as an SVG picture or as text for a terminal.
 *
 * The SVG is one file that needs nothing else: it follows the reader's light or dark colours, names itself to a screen
 * reader, and can be embedded in an HTML page. The text fits 72 columns. Each curve is named beside itself, not in a
 * legend. Both are pictures: the numbers that a guarantee rests on belong in a table.
 *
 *     double eps[] = {0, 0.5, 1}, delta[] = {0.3, 0.01, 1e-5};
 *     tamis_plot_curve curve = {.x = eps, .y = delta, .count = 3};
 *     tamis_plot plot = {.title = "How private is it?", .x = {.label = "epsilon"}, .y = {.label = "delta", .log = true},
 *                        .curves = &curve, .curve_count = 1};
 *     tamis_plot_svg(&svg, &plot, &err);
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_PLOT_H
#define TAMIS_EXPERIMENTAL_PLOT_H

#include <stdbool.h>
#include <tamis/base.h>

TAMIS_BEGIN

#define TAMIS_PLOT_CURVES 8 /* more cannot be told apart */
#define TAMIS_PLOT_POINTS 1000000
#define TAMIS_PLOT_NAMES 16 /* along an axis; longer than about 70 bytes they are cut */

typedef struct tamis_plot_axis {
    const char *label; /* with the unit, if there is one; NULL for none */
    bool log;
    double from, to;          /* equal: chosen from the points */
    const char *const *names; /* at 1, 2, 3, ... instead of numbers; NULL: numbers */
    size_t name_count;        /* at most TAMIS_PLOT_NAMES */
} tamis_plot_axis;

/* A line through the points in their order; a single point is a dot. A NaN is a gap. Infinities, and on a logarithmic
 * axis numbers that are not positive, lie at the edge: the curve runs into it. */
typedef struct tamis_plot_curve {
    const char *name; /* NULL: not named, as when there is only one */
    const double *x, *y;
    size_t count;
    bool reference; /* thin and grey: something to compare with */
} tamis_plot_curve;

typedef struct tamis_plot {
    const char *title, *subtitle; /* NULL for none; about 70 letters fit */
    tamis_plot_axis x, y;
    const tamis_plot_curve *curves;
    size_t curve_count;
    unsigned areas; /* bit i: curve i is the outline of an area, which is filled faintly, each part for itself */
    unsigned dots;  /* bit i: the points of curve i are dots, without a line */
} tamis_plot;

/* The picture.
 *
 * Needs    1 to TAMIS_PLOT_CURVES curves of 1 to TAMIS_PLOT_POINTS points, at least one point that lies inside; from <= to
 *          on each axis, finite, and positive on a logarithmic one if they differ.
 * Gives    a text that the caller frees with tamis_free; NULL on failure. Texts of the plot are written as they are, what
 *          is not UTF-8 as a question mark.
 * Cost     O(points).
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_USE tamis_status tamis_plot_svg(char **svg, const tamis_plot *plot, tamis_error *err);

typedef enum tamis_letters {
    TAMIS_LETTERS_ASCII,  /* for a terminal that knows nothing else */
    TAMIS_LETTERS_BRAILLE /* eight dots per letter, in UTF-8 */
} tamis_letters;

/* The same as lines of text, with the same needs. */
TAMIS_USE tamis_status tamis_plot_text(char **text, const tamis_plot *plot, tamis_letters letters, tamis_error *err);

TAMIS_END

#endif
