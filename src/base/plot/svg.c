/* A plot as SVG. Colours stand in classes, so that a style sheet inside the file can turn them for readers with a dark
 * screen; programs that know no media queries show the light ones. Class names begin with tp-, since inside a page the
 * style sheet is everyone's.                                                                                         */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hypotenuse.h"
#include "base/plot/plot.h"
#include "base/table.h"

#define WIDTH 720
#define HEIGHT 430
#define LEFT 20     /* of texts */
#define RIGHT 28    /* margin */
#define BOTTOM 58   /* margin, with the labels of the x axis */
#define LINE 16.0   /* pixels */
#define LETTER 0.47 /* of a line: the mean width of a letter; names are placed by it */
#define X_TICKS 8
#define Y_TICKS 6
#define FEW 20 /* dots that are drawn larger */

/* Each colour has a contrast of at least 4.5 to its paper, because names are written in it. */
static const struct {
    const char *light, *dark;
} colours[TAMIS_PLOT_CURVES] = {
    {"#0b62c4", "#6cb6ff"}, {"#c2410c", "#ff9e64"}, {"#0f766e", "#4fd1c5"}, {"#7c3aed", "#c4a7ff"},
    {"#8a5a00", "#e3b341"}, {"#be185d", "#ff8fb8"}, {"#3f6212", "#a3d977"}, {"#334155", "#cbd5e1"},
};

/* Tenths of a pixel, without the host's decimal point. */
static void put_length(tmi_text *text, double x)
{
    long tenths = lround(10 * x);
    if (tenths % 10 == 0) tmi_text_format(text, "%ld", tenths / 10);
    else tmi_text_format(text, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
}

static void put_pair(tmi_text *text, const char *first, double x, const char *second, double y, const char *end)
{
    tmi_text_put(text, first);
    put_length(text, x);
    tmi_text_put(text, second);
    put_length(text, y);
    tmi_text_put(text, end);
}

static void put_words(tmi_text *text, const char *words)
{
    for (; *words; words++) {
        if (*words == '&') tmi_text_put(text, "&amp;");
        else if (*words == '<') tmi_text_put(text, "&lt;");
        else if (*words == '>') tmi_text_put(text, "&gt;");
        else tmi_text_add(text, words, 1);
    }
}

static void put_label(tmi_text *text, const char *class, const char *anchor, double x, double y, const char *words)
{
    tmi_text_format(text, "<text class=\"%s\"", class);
    if (anchor) tmi_text_format(text, " text-anchor=\"%s\"", anchor);
    put_pair(text, " x=\"", x, "\" y=\"", y, "\">");
    put_words(text, words);
    tmi_text_put(text, "</text>\n");
}

static double letters_width(const char *words, double size)
{
    return (double)tmi_text_columns(words) * LETTER * LINE * size / 13;
}

/* The title or the line under it, in smaller letters if it would not fit. */
static void put_heading(tmi_text *text, const char *class, double y, double size, const char *words)
{
    double room = WIDTH - 2 * LEFT, width = letters_width(words, size) * 1.08; /* bold letters are wider */
    tmi_text_format(text, "<text class=\"%s\"", class);
    put_pair(text, " x=\"", LEFT, "\" y=\"", y, "\"");
    tmi_text_put(text, " font-size=\"");
    put_length(text, width > room ? fmax(8, size * room / width) : size);
    tmi_text_put(text, "\">");
    put_words(text, words);
    tmi_text_put(text, "</text>\n");
}

static void put_style(tmi_text *text, size_t curves)
{
    tmi_text_put(text, "<style>\n"
                       ".tp text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
                       "fill:#57606a}\n"
                       ".tp .tp-title{font-weight:600;fill:#1f2328}\n"
                       ".tp .tp-axis{fill:#1f2328}\n"
                       ".tp .tp-name{font-weight:600;paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}\n"
                       ".tp .tp-other{fill:#57606a}\n"
                       ".tp-paper{fill:#ffffff}\n"
                       ".tp-grid{stroke:#e4e7eb;fill:none}\n"
                       ".tp-base{stroke:#8c959f;fill:none}\n"
                       ".tp-line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}\n"
                       ".tp-area{fill-opacity:0.22;stroke-width:1.4;stroke-linejoin:round}\n"
                       ".tp-reference{fill:none;stroke:#8c959f;stroke-width:1.4;stroke-dasharray:5 4}\n");
    for (size_t i = 0; i < curves; i++)
        tmi_text_format(text, ".tp-s%zu{stroke:%s}.tp .tp-f%zu{fill:%s}\n", i, colours[i].light, i, colours[i].light);
    tmi_text_put(text, "@media (prefers-color-scheme:dark){\n"
                       ".tp text,.tp .tp-other{fill:#9aa4af}\n"
                       ".tp .tp-title,.tp .tp-axis{fill:#e6edf3}\n"
                       ".tp .tp-name{stroke:#0d1117}\n"
                       ".tp-paper{fill:#0d1117}\n"
                       ".tp-grid{stroke:#262c34}\n"
                       ".tp-base,.tp-reference{stroke:#6e7781}\n");
    for (size_t i = 0; i < curves; i++)
        tmi_text_format(text, ".tp-s%zu{stroke:%s}.tp .tp-f%zu{fill:%s}\n", i, colours[i].dark, i, colours[i].dark);
    tmi_text_put(text, "}\n</style>\n");
}

/* For those who do not see it. */
static void put_description(tmi_text *text, const tmi_plot_drawing *d)
{
    tmi_text_put(text, "<title>");
    put_words(text, d->title ? d->title : "Plot");
    tmi_text_put(text, "</title>\n<desc>");
    if (d->subtitle) {
        put_words(text, d->subtitle);
        tmi_text_put(text, ". ");
    }
    put_words(text, d->y_label ? d->y_label : "y");
    tmi_text_put(text, d->y.log ? " (logarithmic) against " : " against ");
    put_words(text, d->x_label ? d->x_label : "x");
    tmi_text_put(text, d->x.log ? " (logarithmic)" : "");
    for (size_t i = 0, named = 0; i < d->plot->curve_count; i++) {
        if (!d->names[i]) continue;
        tmi_text_put(text, named++ ? ", " : ". Curves: ");
        put_words(text, d->names[i]);
    }
    tmi_text_put(text, ".</desc>\n");
}

typedef struct frame {
    double left, top, width, height;
} frame;

static double x_of(const frame *f, double share) { return f->left + share * f->width; }

static double y_of(const frame *f, double share) { return f->top + (1 - share) * f->height; }

static frame make_frame(const tmi_plot_drawing *d)
{
    double labels = 0, top = 22;
    for (size_t i = 0; i < d->y.tick_count; i++) labels = fmax(labels, letters_width(d->y.ticks[i].label, 13));
    top += (d->title ? 24 : 0) + (d->subtitle ? 20 : 0) + (d->y_label ? 27 : 0);
    double left = LEFT + labels + 10;
    return (frame){left, top, WIDTH - RIGHT - left, HEIGHT - BOTTOM - top};
}

static void put_axes(tmi_text *text, const tmi_plot_drawing *d, const frame *f)
{
    tmi_text_put(text, "<path class=\"tp-grid\" d=\"");
    for (size_t i = 0; i < d->y.tick_count; i++) {
        put_pair(text, "M", f->left, " ", y_of(f, d->y.ticks[i].share), "H");
        put_length(text, f->left + f->width);
    }
    tmi_text_put(text, "\"/>\n<path class=\"tp-base\" d=\"");
    put_pair(text, "M", f->left, " ", f->top + f->height, "H");
    put_length(text, f->left + f->width);
    for (size_t i = 0; i < d->x.tick_count; i++) put_pair(text, "M", x_of(f, d->x.ticks[i].share), " ", f->top + f->height, "v5");
    tmi_text_put(text, "\"/>\n");
    for (size_t i = 0; i < d->y.tick_count; i++)
        put_label(text, "tp-tick", "end", f->left - 8, y_of(f, d->y.ticks[i].share) + 4.5, d->y.ticks[i].label);
    for (size_t i = 0; i < d->x.tick_count; i++)
        put_label(text, "tp-tick", "middle", x_of(f, d->x.ticks[i].share), f->top + f->height + 20, d->x.ticks[i].label);
    if (d->x_label) put_label(text, "tp-axis", "end", f->left + f->width, f->top + f->height + 42, d->x_label);
    if (d->y_label) put_label(text, "tp-axis", NULL, LEFT, f->top - 17, d->y_label);
}

static void put_dots(tmi_text *text, const tmi_plot_trace *trace, size_t i, const frame *f, const char *radius)
{
    for (size_t k = 0; k < trace->count; k++) {
        tmi_text_format(text, "<circle r=\"%s\"", radius);
        put_pair(text, " cx=\"", x_of(f, trace->points[k].x), "\" cy=\"", y_of(f, trace->points[k].y), "\"");
        tmi_text_format(text, " class=\"tp-s%zu tp-f%zu\"/>\n", i, i);
    }
}

static void put_curve(tmi_text *text, const tmi_plot_drawing *d, size_t i, const frame *f)
{
    const tmi_plot_trace *trace = &d->traces[i];
    const bool area = d->plot->areas >> i & 1;
    if (trace->count == 0) return;
    if (trace->count == 1 || d->plot->dots >> i & 1) {
        put_dots(text, trace, i, f, trace->count == 1 ? "4" : trace->count <= FEW ? "3.5" : "2.2");
        return;
    }
    if (d->plot->curves[i].reference) tmi_text_put(text, "<path class=\"tp-reference\" d=\"");
    else if (area) tmi_text_format(text, "<path class=\"tp-area tp-s%zu tp-f%zu\" d=\"", i, i);
    else tmi_text_format(text, "<path class=\"tp-line tp-s%zu\" d=\"", i);
    double last_x = 0, last_y = 0;
    for (size_t k = 0; k < trace->count; k++) {
        const tmi_plot_point *p = &trace->points[k];
        double x = x_of(f, p->x), y = y_of(f, p->y);
        bool line_ends = k + 1 == trace->count || p[1].pen_up;
        if (!p->pen_up && !line_ends && tmi_hypotenuse(x - last_x, y - last_y) < 0.5) continue; /* nobody would see it */
        put_pair(text, p->pen_up ? "M" : "L", x, " ", y, "");
        last_x = x, last_y = y;
    }
    tmi_text_put(text, "\"/>\n");
}

static tamis_status put_names(tmi_text *text, const tmi_plot_drawing *d, const frame *f, tamis_error *err)
{
    tmi_plot_label labels[TAMIS_PLOT_CURVES] = {0};
    for (size_t i = 0; i < d->plot->curve_count; i++) labels[i].width = d->names[i] ? letters_width(d->names[i], 13) / LINE : 0;
    tamis_status status = tmi_plot_place(labels, d, f->width / LINE, f->height / LINE, 0.35, 0, err);
    for (size_t i = 0; status == TAMIS_OK && i < d->plot->curve_count; i++) {
        char class[40];
        if (labels[i].width == 0) continue;
        if (d->plot->curves[i].reference) snprintf(class, sizeof class, "tp-name tp-other");
        else snprintf(class, sizeof class, "tp-name tp-f%zu", i);
        put_label(text, class, NULL, f->left + LINE * labels[i].left, f->top + LINE * labels[i].top + 12.5, d->names[i]);
    }
    return status;
}

tamis_status tamis_plot_svg(char **svg, const tamis_plot *plot, tamis_error *err)
{
    tmi_plot_drawing drawing = {0};
    tmi_text text;
    tamis_status status;
    tmi_text_init(&text);
    if (!svg) return tmi_fail(err, TAMIS_INVALID, "svg: NULL");
    *svg = NULL;
    TMI_TRY(tmi_plot_draw(&drawing, plot, X_TICKS, Y_TICKS, true, err));
    frame f = make_frame(&drawing);
    tmi_text_format(
        &text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tp\" role=\"img\" font-size=\"13\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\">\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_description(&text, &drawing);
    put_style(&text, plot->curve_count);
    tmi_text_format(&text, "<rect class=\"tp-paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    if (drawing.title) put_heading(&text, "tp-title", 32, 17, drawing.title);
    if (drawing.subtitle) put_heading(&text, "tp-subtitle", drawing.title ? 53 : 31, 13, drawing.subtitle);
    put_axes(&text, &drawing, &f);
    for (size_t i = 0; i < plot->curve_count; i++) put_curve(&text, &drawing, i, &f);
    TMI_TRY(put_names(&text, &drawing, &f, err));
    tmi_text_put(&text, "</svg>\n");
    status = tmi_text_take(svg, &text, err);
done:
    tmi_text_clear(&text);
    tmi_plot_clear(&drawing);
    return status;
}
