/* A plot as text: braille letters, each a grid of two by four dots, or one mark a letter in ASCII. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plot/plot.h"
#include "base/table.h"

#define WIDTH 72
#define ROWS 14
#define INDENT 2
#define X_TICKS 6
#define Y_TICKS 5

typedef struct canvas {
    bool braille;
    int columns, dots_x, dots_y;      /* dots of a letter */
    unsigned char cells[ROWS][WIDTH]; /* dots that are set, or the mark */
    const char *names[ROWS][WIDTH];   /* a letter of a name, its bytes; "" is the rest of a wide one */
} canvas;

static void set_dot(canvas *c, int x, int y, char mark)
{
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= c->columns * c->dots_x || y >= ROWS * c->dots_y) return;
    unsigned char *cell = &c->cells[y / c->dots_y][x / c->dots_x];
    if (c->braille) *cell = (unsigned char)(*cell | bits[y % 4][x % 2]);
    else if (*cell == 0) *cell = (unsigned char)mark;
}

/* A reference line is dotted; a single point is a letter. */
static void draw_trace(canvas *c, const tmi_plot_trace *trace, bool reference, char mark)
{
    if (trace->count == 1) {
        int row = (int)lround((1 - trace->points[0].y) * (ROWS - 1)), column = (int)lround(trace->points[0].x * (c->columns - 1));
        c->names[row][column] = c->braille ? "●" : "O";
        return;
    }
    double last_x = 0, last_y = 0, width = c->columns * c->dots_x - 1, height = ROWS * c->dots_y - 1;
    int drawn = 0;
    for (size_t i = 0; i < trace->count; i++) {
        double x = trace->points[i].x * width, y = (1 - trace->points[i].y) * height;
        if (trace->points[i].pen_up) last_x = x, last_y = y;
        int steps = (int)ceil(fmax(fabs(x - last_x), fabs(y - last_y)));
        for (int k = trace->points[i].pen_up ? 0 : 1; k <= steps || k == 0; k++) {
            double part = steps > 0 ? (double)k / steps : 0;
            if (!reference || drawn++ % 3 == 0)
                set_dot(c, (int)lround(last_x + part * (x - last_x)), (int)lround(last_y + part * (y - last_y)), mark);
        }
        last_x = x, last_y = y;
    }
}

/* The bytes of one letter of a UTF-8 text; a broken one is a byte. */
static size_t letter_length(const char *text)
{
    size_t length = 1;
    if ((unsigned char)*text >= 0xc0)
        while (length < 4 && ((unsigned char)text[length] & 0xc0) == 0x80) length++;
    return length;
}

static void draw_name(canvas *c, const char *name, int column, int row)
{
    if (row < 0 || row >= ROWS) return;
    for (const char *at = name; *at && column < c->columns; at += letter_length(at)) {
        char letter[5] = "";
        memcpy(letter, at, letter_length(at));
        size_t wide = tmi_text_columns(letter);
        if (column >= 0 && wide > 0) c->names[row][column] = at;
        if (column >= 0 && wide == 2 && column + 1 < c->columns) c->names[row][column + 1] = "";
        column += (int)wide;
    }
}

static tamis_status draw_names(canvas *c, const tmi_plot_drawing *d, tamis_error *err)
{
    tmi_plot_label labels[TAMIS_PLOT_CURVES] = {0};
    for (size_t i = 0; i < d->plot->curve_count; i++)
        labels[i].width = d->names[i] ? (double)tmi_text_columns(d->names[i]) / 2 : 0;
    tamis_status status = tmi_plot_place(labels, d, c->columns / 2.0, ROWS, 0.5, 0.5, err);
    for (size_t i = 0; status == TAMIS_OK && i < d->plot->curve_count; i++)
        if (labels[i].width > 0) draw_name(c, d->names[i], (int)lround(2 * labels[i].left), (int)lround(labels[i].top));
    return status;
}

static void spaces(tmi_text *text, int count)
{
    for (; count > 0; count--) tmi_text_put(text, " ");
}

static void put_cell(tmi_text *text, const canvas *c, unsigned char cell)
{
    char letter[4] = {(char)cell, 0};
    if (c->braille) { /* U+2800 and the dots */
        letter[0] = (char)0xe2;
        letter[1] = (char)(0xa0 + (cell >> 6));
        letter[2] = (char)(0x80 + (cell & 0x3f));
        letter[3] = 0;
        tmi_text_add(text, letter, 3);
    } else {
        tmi_text_put(text, letter);
    }
}

static void put_row(tmi_text *text, const canvas *c, int row)
{
    int owed = 0; /* no space at the end of a line */
    for (int x = 0; x < c->columns; x++) {
        const char *name = c->names[row][x];
        if (!name && c->cells[row][x] == 0) {
            owed++;
            continue;
        }
        spaces(text, owed);
        owed = 0;
        if (name) tmi_text_add(text, name, *name ? letter_length(name) : 0);
        else put_cell(text, c, c->cells[row][x]);
    }
    tmi_text_put(text, "\n");
}

static int row_of(double share) { return (int)lround((1 - share) * (ROWS - 1)); }

/* The tick labels under the axis, centred at their ticks; one that would touch the label before it is left out. */
static void put_x_labels(tmi_text *text, const tmi_plot_scale *scale, int columns, int gutter)
{
    int at = 0;
    for (size_t i = 0; i < scale->tick_count; i++) {
        int width = (int)tmi_text_columns(scale->ticks[i].label);
        int start = gutter + (int)lround(scale->ticks[i].share * (columns - 1)) - (width - 1) / 2;
        if (start + width > WIDTH) start = WIDTH - width;
        if (start < at + (i > 0)) continue;
        spaces(text, start - at);
        tmi_text_put(text, scale->ticks[i].label);
        at = start + width;
    }
    tmi_text_put(text, "\n");
}

static void put_axis(tmi_text *text, const tmi_plot_scale *scale, int columns, int gutter, bool braille)
{
    spaces(text, gutter - 1);
    tmi_text_put(text, braille ? "└" : "+");
    for (int x = 0; x < columns; x++) {
        bool tick = false;
        for (size_t i = 0; i < scale->tick_count; i++) tick |= lround(scale->ticks[i].share * (columns - 1)) == x;
        tmi_text_put(text, tick ? (braille ? "┴" : "+") : (braille ? "─" : "-"));
    }
    tmi_text_put(text, "\n");
}

static void write_plot(tmi_text *text, const canvas *c, const tmi_plot_drawing *d, int gutter)
{
    if (d->title) tmi_text_wrap(text, "  ", "  ", d->title);
    if (d->subtitle) tmi_text_wrap(text, "  ", "  ", d->subtitle);
    if (d->y_label) {
        int free_columns = gutter - 2 - (int)tmi_text_columns(d->y_label);
        spaces(text, free_columns > INDENT ? free_columns : INDENT);
        tmi_text_put(text, d->y_label);
        tmi_text_put(text, "\n");
    }
    for (int row = 0; row < ROWS; row++) {
        const char *label = "";
        for (size_t i = 0; i < d->y.tick_count; i++)
            if (row_of(d->y.ticks[i].share) == row) label = d->y.ticks[i].label;
        spaces(text, gutter - 2 - (int)tmi_text_columns(label));
        tmi_text_put(text, label);
        tmi_text_put(text, *label ? (c->braille ? " ┤" : " +") : (c->braille ? " │" : " |"));
        put_row(text, c, row);
    }
    put_axis(text, &d->x, c->columns, gutter, c->braille);
    put_x_labels(text, &d->x, c->columns, gutter);
    if (!d->x_label) return;
    spaces(text, WIDTH - (int)tmi_text_columns(d->x_label));
    tmi_text_put(text, d->x_label);
    tmi_text_put(text, "\n");
}

tamis_status tamis_plot_text(char **text, const tamis_plot *plot, tamis_letters letters, tamis_error *err)
{
    static const char marks[TAMIS_PLOT_CURVES] = {'*', 'o', '+', 'x', '#', '@', '%', '='};
    tmi_plot_drawing drawing = {0};
    tmi_text out;
    tamis_status status;
    canvas *c = NULL;
    tmi_text_init(&out);
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (letters != TAMIS_LETTERS_ASCII && letters != TAMIS_LETTERS_BRAILLE)
        return tmi_fail(err, TAMIS_INVALID, "letters: unknown character set");
    TMI_TRY(tmi_plot_draw(&drawing, plot, X_TICKS, Y_TICKS, false, err));
    c = tmi_alloc(1, sizeof *c);
    if (!c) {
        status = tmi_fail_memory(err);
        goto done;
    }
    int gutter = 0;
    for (size_t i = 0; i < drawing.y.tick_count; i++) {
        int width = (int)tmi_text_columns(drawing.y.ticks[i].label);
        if (width > gutter) gutter = width;
    }
    gutter += INDENT + 2;
    c->braille = letters == TAMIS_LETTERS_BRAILLE;
    c->columns = WIDTH - gutter;
    c->dots_x = c->braille ? 2 : 1;
    c->dots_y = c->braille ? 4 : 1;
    for (size_t i = 0; i < plot->curve_count; i++)
        draw_trace(c, &drawing.traces[i], plot->curves[i].reference && c->braille, plot->curves[i].reference ? '.' : marks[i]);
    TMI_TRY(draw_names(c, &drawing, err));
    write_plot(&out, c, &drawing, gutter);
    status = tmi_text_take(text, &out, err);
done:
    tmi_free(c);
    tmi_text_clear(&out);
    tmi_plot_clear(&drawing);
    return status;
}
