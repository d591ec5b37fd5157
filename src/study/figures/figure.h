/* The figures and the table of the paper `gain`, drawn anew: the paper's settings, seeds of our own.
 *
 * A figure is one or more plots below each other, a sheet of its numbers, and a remark on what the paper says. Where the
 * paper's formula is wrong, the corrected one is drawn beside it.                                                     */
#ifndef TMI_STUDY_FIGURES_FIGURE_H
#define TMI_STUDY_FIGURES_FIGURE_H

#include "base/watch.h"
#include "study/errors.h"
#include "study/report.h"

#define TMI_FIGURE_PLOTS 4

/* The paper's settings. */
#define TMI_PAPER_SIZE 10001
#define TMI_PAPER_DELTA (0.5 / TMI_PAPER_SIZE)
#define TMI_PAPER_RUNS 1000

typedef struct tmi_figure {
    uint64_t seed;
    int64_t runs;
    unsigned threads;
    tmi_watch watch;
    tamis_plot plots[TMI_FIGURE_PLOTS];
    tamis_plot_curve curves[TMI_FIGURE_PLOTS][TAMIS_PLOT_CURVES];
    size_t plot_count;
    tmi_study_forms forms;
    const char *remark;
    void **kept; /* what the plots point to */
    size_t kept_count, kept_room;
    bool failed; /* for lack of memory: look once at the end */
} tmi_figure;

/* Room for n doubles, all zero, or a formatted text, until the figure is cleared; NULL without memory. */
double *tmi_figure_room(tmi_figure *figure, size_t n);
const char *tmi_figure_words(tmi_figure *figure, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new plot; the caller sets the axes. */
tamis_plot *tmi_figure_plot(tmi_figure *figure, const char *title, const char *subtitle);

/* A new curve of the last plot; x and y stay the figure's. */
void tmi_figure_curve(tmi_figure *figure, const char *name, const double *x, const double *y, size_t n, bool reference);
void tmi_figure_level(tmi_figure *figure, const char *name, double from, double to, double y); /* a dashed line */

/* Violins: the density of each list, mirrored, at places 1, 2, ... of the x axis, moved by `shift`; half as wide as `width` at
 * most. Sorts the lists. A row of the sheet for each: plot, series, place and quantiles. */
typedef struct tmi_violins {
    const char *series;
    double *const *lists;
    size_t count; /* of lists */
    size_t n;     /* values in each */
    double shift, width;
    bool modes; /* there are two: the density is smoothed less */
} tmi_violins;

extern const char *const tmi_violin_columns[];
#define TMI_VIOLIN_COLUMNS 12
void tmi_figure_violins(tmi_figure *figure, const tmi_violins *violins);

/* The density of values in order, as a curve, and in the sheet if that has the columns of densities. */
#define TMI_DENSITY_COLUMNS 3
void tmi_figure_density(tmi_figure *figure, const char *name, const double *sorted, size_t n, double from, double to, bool modes);

/* ---- simulated medians ---- */

/* How the smooth sensitivity is made. */
typedef enum tmi_variant {
    TMI_PRINTED,  /* (4) of the paper: order statistics beyond the data are the ends of the data. Not private */
    TMI_DECLARED, /* they are the ends of a declared range, from that of the population to `declared_to` */
    TMI_OURS,     /* with the range of the population, and the best calibration */
    TMI_VARIANTS
} tmi_variant;

/* Samples of one size: their medians, and for each eps and variant their noise scales S/alpha. */
typedef struct tmi_medians {
    const tmi_values *population;
    uint32_t n;
    const double *eps; /* of the population */
    size_t eps_count;
    double declared_to;
    int64_t runs;
    double *medians;     /* by run; NULL: not wanted */
    double *scales;      /* by eps, variant, run */
    double *sensitivity; /* the same, S alone; NULL: not wanted */
} tmi_medians;

tamis_status tmi_medians_run(const tmi_medians *medians, const tmi_figure *figure, tamis_error *err);

/* ---- the figures ---- */

tamis_status tmi_figure_means(tmi_figure *figure, int number, tamis_error *err);   /* 1 to 5 and 9 */
tamis_status tmi_figure_medians(tmi_figure *figure, int number, tamis_error *err); /* 6 to 13 without 9 */

/* The populations of the paper: beta, lognormal, bimodal, with the ranges that we declare. */
typedef enum tmi_paper_population { TMI_PAPER_BETA, TMI_PAPER_LOGNORMAL, TMI_PAPER_BIMODAL } tmi_paper_population;
tamis_status tmi_paper_values(tmi_values *values, tmi_paper_population which, uint64_t seed, tamis_error *err);

#endif
