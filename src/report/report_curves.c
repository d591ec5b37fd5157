/* The distribution functions of report.html: the estimated share of the units below each value, with its intervals as a band.
 * They are pictures of numbers that were released to read quantiles and inequality measures from. */
#include <math.h>
#include <tamis/experimental/plot.h>

#include "base/memory.h"
#include "report/report.h"
#include "report/report_words.h"

#define MOST_CURVES 24                         /* of a page */
#define MOST_BANDS (TAMIS_PLOT_CURVES / 2)     /* groups of one figure; with more, lines alone */
#define MOST_LINES ((size_t)TAMIS_PLOT_CURVES) /* with still more groups there is no figure */
#define SEEN 0.99                              /* of the rows: the long upper end is left out */

typedef struct figure {
    const tmi_results *r;
    const tmi_plan_statistic *share; /* of the first cut: has the groups of all */
    const tmi_plan_curve *cuts;
    const tmi_result *results; /* of that share */
    size_t groups;
    double to; /* the upper end of the axis, in points */
    tamis_plot_curve curves[TAMIS_PLOT_CURVES];
    double *room[TAMIS_PLOT_CURVES]; /* x and y of each */
    tmi_text names[TAMIS_PLOT_CURVES];
    size_t count;
} figure;

/* Points of a line up to the end of the axis, and one there. */
static size_t points_of(const figure *f, const tmi_cdf *c)
{
    size_t count = 1;
    while (c->points[count].place < f->to) count++;
    return count + 1;
}

/* A number at point k, or, of the last one, at the end of the axis. */
static double at_point(const figure *f, const tmi_cdf *c, size_t k, double before, double own)
{
    const double from = c->points[k - (k > 0)].place, to = c->points[k].place;
    return k == 0 || to <= f->to ? own : before + (f->to - from) / (to - from) * (own - before);
}

static double place_of(const figure *f, const tmi_cdf *c, size_t k) { return c->step * fmin(c->points[k].place, f->to); }

static void add_line(figure *f, const tmi_cdf *c, const char *name)
{
    const size_t count = points_of(f, c);
    double *x = tmi_alloc(2 * count, sizeof *x), *y = x ? x + count : NULL;
    f->room[f->count] = x;
    for (size_t k = 0; x && k < count; k++) {
        x[k] = place_of(f, c, k);
        y[k] = at_point(f, c, k, k > 0 ? c->points[k - 1].share : 0, c->points[k].share);
    }
    f->curves[f->count++] = (tamis_plot_curve){.name = name, .x = x, .y = y, .count = x ? count : 0};
}

/* Along the upper ends and back along the lower ones, both made ascending. */
static void add_band(figure *f, const tmi_cdf *c)
{
    const size_t count = points_of(f, c), last = 2 * count - 1;
    double *x = tmi_alloc(4 * count, sizeof *x), *y = x ? x + 2 * count : NULL, upper = 1, lower = 0;
    f->room[f->count] = x;
    for (size_t k = 0; x && k < count; k++) {
        const tmi_cdf_point *p = &c->points[k], *q = &c->points[count - 1 - k];
        upper = fmin(upper, fmax(q->upper, q->share));
        lower = fmax(lower, fmin(p->lower, p->share));
        x[k] = x[last - k] = place_of(f, c, k);
        y[count - 1 - k] = upper;
        y[last - k] = lower;
    }
    if (x) {
        y[count - 1] = at_point(f, c, count - 1, y[count - 2], y[count - 1]);
        y[count] = at_point(f, c, count - 1, y[count + 1], y[count]);
    }
    f->curves[f->count++] = (tamis_plot_curve){.x = x, .y = y, .count = x ? 2 * count : 0, .reference = true};
}

static void put_group(tmi_text *words, const tmi_plan_statistic *s, size_t group)
{
    for (size_t i = 0; i < s->by_count; i++) {
        tmi_text_put(words, i > 0 ? ", " : "");
        tmi_value_words(words, s->by[i], tmi_group_code(s, group, i));
    }
}

typedef enum pass { FIND_END, ADD_BANDS, ADD_LINES } pass;

/* Bands before lines, so that lines lie on them. */
static void go_through(figure *f, tmi_text *html, pass what)
{
    for (size_t g = 0; g < f->groups && !html->failed; g++) {
        tmi_cdf c;
        const char *reason;
        if (tmi_cdf_of_results(&c, &reason, f->cuts, f->results, f->groups, g, NULL) != TAMIS_OK) {
            html->failed = true;
            return;
        }
        if (!reason && what == FIND_END) f->to = fmax(f->to, ceil(tmi_cdf_inverse(&c, SEEN)));
        if (!reason && what == ADD_BANDS) add_band(f, &c);
        if (!reason && what == ADD_LINES) {
            tmi_text *name = &f->names[f->count];
            put_group(name, f->share, g);
            if (name->failed) html->failed = true;
            add_line(f, &c, name->bytes);
        }
        if (f->count > 0 && !f->room[f->count - 1]) html->failed = true;
        tmi_cdf_clear(&c);
    }
}

static void draw(tmi_text *html, figure *f)
{
    const tmi_plan_column *x = f->cuts->column;
    tmi_text title, label;
    char *svg = NULL;
    tmi_text_init(&title);
    tmi_text_init(&label);
    f->to = (double)x->grid.low + 1;
    go_through(f, html, FIND_END);
    if (f->groups <= MOST_BANDS) go_through(f, html, ADD_BANDS);
    const unsigned bands = (1u << f->count) - 1;
    go_through(f, html, ADD_LINES);
    if (f->count == 0 || html->failed) goto done;
    tmi_text_format(&title, "Distribution function: %s", tmi_column_label(x));
    for (size_t i = 0; i < f->share->by_count; i++)
        tmi_text_format(&title, "%s%s", i == 0 ? ", by " : " and ", tmi_column_label(f->share->by[i]));
    tmi_text_put(&label, tmi_column_label(x));
    if (x->measured_in) tmi_text_format(&label, " (%s)", x->measured_in);
    if (title.failed || label.failed) html->failed = true;
    const tamis_plot plot = {.title = title.bytes,
                             .subtitle = bands ? "estimated share below each value, with its interval"
                                               : "estimated share below each value",
                             .x = {.label = label.bytes, .from = x->grid.step * (double)x->grid.low, .to = x->grid.step * f->to},
                             .y = {.label = "share below", .from = 0, .to = 1},
                             .curves = f->curves,
                             .curve_count = f->count,
                             .areas = bands};
    if (html->failed || tamis_plot_svg(&svg, &plot, NULL) != TAMIS_OK) html->failed = true;
    else tmi_text_format(html, "<div class=\"figure\">%s</div>\n", svg);

done:
    tmi_free(svg);
    tmi_text_clear(&title);
    tmi_text_clear(&label);
}

void tmi_report_curves(tmi_text *html, const tmi_results *r)
{
    const tamis_plan *plan = r->plan;
    size_t drawn = 0;
    for (size_t i = 0; i < plan->curve_count && drawn < MOST_CURVES && !html->failed; i++) {
        const tmi_plan_curve *cuts = &plan->curves[i];
        figure f = {.r = r, .cuts = cuts, .share = &plan->statistics[cuts->first], .results = r->list};
        f.groups = (size_t)tmi_statistic_cells(f.share);
        while (f.results < r->list + r->all && f.results->statistic != cuts->first) f.results++;
        if (f.groups > MOST_LINES || cuts->cut_count < 2 || f.results == r->list + r->all) continue;
        for (size_t k = 0; k < TAMIS_PLOT_CURVES; k++) tmi_text_init(&f.names[k]);
        draw(html, &f);
        drawn++;
        for (size_t k = 0; k < TAMIS_PLOT_CURVES; k++) {
            tmi_free(f.room[k]);
            tmi_text_clear(&f.names[k]);
        }
    }
}
