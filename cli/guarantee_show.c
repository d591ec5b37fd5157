/* A guarantee on paper: lines, table, plot, JSON. */
#include "guarantee.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_plain_letters(const cli_call *call)
{
    if (cli_value(call, "ascii")) return true;
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

double cli_approximately(const tamis_number *number)
{
    char *exact = NULL;
    double value = NAN;
    if (tamis_number_write(&exact, number, NULL) == TAMIS_OK) {
        const char *slash = strchr(exact, '/');
        value = strtod(exact, NULL) / (slash ? strtod(slash + 1, NULL) : 1);
    }
    tamis_free(exact);
    return value;
}

const char *cli_thousands(char *room, size_t size, int64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, n);
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0) room[at++] = ',';
        room[at++] = digits[i];
    }
    room[at] = '\0';
    return room;
}

const char *cli_about(char *room, size_t size, double x)
{
    double unit = x >= 1 ? pow(10, floor(log10(x)) - 2) : 1;
    if (x >= 1000 && x < 1e15) return cli_thousands(room, size, (int64_t)(round(x / unit) * unit));
    snprintf(room, size, "%.3g", x);
    return room;
}

const char *cli_cut_number(char room[CLI_CUT_NUMBER], const char *text)
{
    snprintf(room, CLI_CUT_NUMBER, "%.30s%s", text, strlen(text) > 30 ? "..." : "");
    return room;
}

void cli_put_bound(tamis_bound b)
{
    char lower[TAMIS_DECIMAL], upper[TAMIS_DECIMAL];
    tamis_decimal_down(lower, b.lower, 17);
    tamis_decimal_up(upper, b.upper, 17);
    const char *low = isinf(b.lower) ? "\"" : "", *up = isinf(b.upper) ? "\"" : "";
    printf("{\"lower\": %s%s%s, \"upper\": %s%s%s}", low, lower, low, up, upper, up);
}

static void put_rule(size_t width, bool ascii)
{
    while (width-- > 0) fputs(ascii ? "-" : "─", stdout);
    putchar('\n');
}

void cli_table(const char *align, const cli_cells *rows, size_t count, bool ascii)
{
    size_t columns = strlen(align), widths[CLI_COLUMNS] = {0}, whole = 0;
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < columns; c++)
            if (strlen(rows[r][c]) > widths[c]) widths[c] = strlen(rows[r][c]);
    for (size_t c = 0; c < columns; c++) whole += widths[c] + (c > 0 ? 2 : 0);
    for (size_t r = 0; r < count; r++) {
        size_t last = columns;
        while (last > 1 && rows[r][last - 1][0] == '\0') last--;
        for (size_t c = 0; c < last; c++) {
            int width = (int)widths[c];
            printf("%s%*s", c > 0 ? "  " : "", align[c] == 'r' ? width : c + 1 < last ? -width : 0, rows[r][c]);
        }
        putchar('\n');
        if (r == 0) put_rule(whole, ascii);
    }
}

/* ---- the plot ---- */

#define LOWEST 1e-15 /* of the plot; the table goes further down */

typedef struct picture {
    double x[CLI_CURVE], y[CLI_CURVE], limit_x[2], limit_y[2], dot_x, dot_y;
    char dot[96];
    tamis_plot_curve curves[3];
    tamis_plot plot;
} picture;

/* False if there is nothing to draw: delta is 0 everywhere. */
static bool make_picture(picture *p, const cli_guarantee *g)
{
    const cli_mechanism *m = g->mechanism;
    double least = 1, most = 0;
    for (size_t i = 0; i < g->count; i++) {
        p->x[i] = g->points[i].x;
        p->y[i] = g->points[i].delta.upper;
        if (p->y[i] > 0) least = fmin(least, p->y[i]);
        most = fmax(most, p->y[i]);
    }
    if (!(most > LOWEST)) return false;
    size_t count = 0;
    p->curves[count++] = (tamis_plot_curve){.x = p->x, .y = p->y, .count = g->count};
    if (m->limit_name && m->limit > LOWEST) {
        p->limit_x[1] = p->x[g->count - 1];
        p->limit_y[0] = p->limit_y[1] = m->limit;
        p->curves[count++] = (tamis_plot_curve){m->limit_name, p->limit_x, p->limit_y, 2, true};
    }
    if (g->eps || g->delta) {
        const char *asked = cli_value(g->call, g->eps ? "epsilon" : "delta");
        double given = cli_approximately(g->eps ? g->eps : g->delta);
        p->dot_x = g->eps ? given : g->answer.upper;
        p->dot_y = g->eps ? g->answer.upper : given;
        char answer[TAMIS_DECIMAL], written[CLI_CUT_NUMBER];
        tamis_decimal_up(answer, g->answer.upper, CLI_DIGITS);
        asked = cli_cut_number(written, asked);
        snprintf(p->dot, sizeof p->dot, "epsilon %s, delta %s", g->eps ? asked : answer, g->eps ? answer : asked);
        if (p->dot_y > LOWEST && p->dot_x <= p->x[g->count - 1])
            p->curves[count++] = (tamis_plot_curve){p->dot, &p->dot_x, &p->dot_y, 1, false};
    }
    p->plot = (tamis_plot){.title = m->title,
                           .subtitle = m->subtitle,
                           .x = {.label = "epsilon"},
                           .y = {.label = "delta", .log = true},
                           .curves = p->curves,
                           .curve_count = count};
    if (least < LOWEST) {
        p->plot.y.from = LOWEST;
        p->plot.y.to = pow(10, ceil(log10(fmax(most, count > 1 ? m->limit : 0)) + 0.05));
    }
    return true;
}

/* ---- text ---- */

static bool asks_pure(const cli_guarantee *g) { return g->delta && cli_approximately(g->delta) == 0; }

static void put_answers(const cli_guarantee *g)
{
    char decimal[TAMIS_DECIMAL];
    tamis_decimal_up(decimal, g->answer.upper, CLI_DIGITS);
    if (g->eps) printf("epsilon %s: delta %s\n", cli_value(g->call, "epsilon"), decimal);
    else if (g->delta && isinf(g->answer.upper)) printf("delta %s: no epsilon suffices\n", cli_value(g->call, "delta"));
    else if (g->delta) printf("delta %s: epsilon %s\n", cli_value(g->call, "delta"), asks_pure(g) ? g->pure_text : decimal);
    if (asks_pure(g)) return;
    if (isinf(g->pure.lower)) puts("delta 0: no epsilon suffices");
    else printf("delta 0: epsilon %s\n", g->pure_text);
}

/* A few digits times a power of ten: 0.05, 2e-6. */
static void put_round(char cell[TAMIS_DECIMAL], double x)
{
    char down[TAMIS_DECIMAL], up[TAMIS_DECIMAL];
    tamis_decimal_down(down, x, 6);
    tamis_decimal_up(up, x, 6);
    snprintf(cell, TAMIS_DECIMAL, "%s", strlen(down) < strlen(up) ? down : up);
}

static void put_table(const cli_guarantee *g, bool ascii)
{
    cli_cells rows[CLI_CURVE + 1] = {{"epsilon", "delta"}};
    size_t count = 1;
    const char *heading = g->mechanism->note_heading;
    if (heading) snprintf(rows[0][2], CLI_CELL, "%s", heading);
    for (size_t i = 0; i < g->count; i++) {
        const cli_point *p = &g->points[i];
        if (!p->row) continue;
        if (p->x == g->pure.upper) snprintf(rows[count][0], CLI_CELL, "%s", g->pure_text);
        else put_round(rows[count][0], p->x);
        tamis_decimal_up(rows[count][1], p->delta.upper, CLI_DIGITS);
        if (heading) snprintf(rows[count][2], CLI_CELL, "%.*s", CLI_CELL - 1, p->note.text);
        count++;
    }
    cli_table(heading ? "lll" : "ll", rows, count, ascii);
}

tamis_status cli_guarantee_show(cli_guarantee *g, tamis_error *err)
{
    picture p = {0};
    bool ascii = cli_plain_letters(g->call), drawn = make_picture(&p, g);
    char *text = NULL;
    tamis_status status = TAMIS_OK;
    if (drawn) status = cli_svg_write(&g->svg, &p.plot, err);
    p.plot.title = p.plot.subtitle = NULL; /* said already */
    if (drawn && status == TAMIS_OK)
        status = tamis_plot_text(&text, &p.plot, ascii ? TAMIS_LETTERS_ASCII : TAMIS_LETTERS_BRAILLE, err);
    if (status == TAMIS_OK) {
        put_answers(g);
        putchar('\n');
        put_table(g, ascii);
        if (text) printf("\n%s", text);
    }
    tamis_free(text);
    return status;
}

/* The first row with a delta of at most one in a million, else the last one. */
static const cli_point *pair_to_tell(const cli_guarantee *g)
{
    const cli_point *shown = g->points;
    for (size_t i = 0; i < g->count; i++) {
        if (!g->points[i].row) continue;
        shown = &g->points[i];
        if (shown->delta.upper <= 1e-6) break;
    }
    return shown;
}

void cli_guarantee_words(char *room, size_t size, const cli_guarantee *g)
{
    char eps[CLI_CUT_NUMBER], delta[CLI_CUT_NUMBER] = "0"; /* also room for TAMIS_DECIMAL */
    snprintf(eps, sizeof eps, "%s", g->pure_text);
    if (isinf(g->pure.upper)) { /* then a pair of the table */
        const cli_point *p = pair_to_tell(g);
        put_round(eps, p->x);
        tamis_decimal_up(delta, p->delta.upper, CLI_DIGITS);
    }
    if (g->eps) {
        cli_cut_number(eps, cli_value(g->call, "epsilon"));
        tamis_decimal_up(delta, g->answer.upper, CLI_DIGITS);
    } else if (g->delta && !isinf(g->answer.upper)) {
        if (!asks_pure(g)) tamis_decimal_up(eps, g->answer.upper, CLI_DIGITS);
        cli_cut_number(delta, cli_value(g->call, "delta"));
    }
    if (strcmp(delta, "0") == 0) snprintf(room, size, "differ by a factor of at most exp(%s)", eps);
    else snprintf(room, size, "differ by a factor of at most exp(%s), plus at most %s", eps, delta);
}

/* ---- JSON ---- */

tamis_status cli_guarantee_ready(cli_guarantee *g, tamis_error *err)
{
    picture p = {0};
    tamis_status status = make_picture(&p, g) ? cli_svg_write(&g->svg, &p.plot, err) : TAMIS_OK;
    if (status == TAMIS_OK && (g->eps || g->delta)) status = tamis_number_write(&g->exact, g->eps ? g->eps : g->delta, err);
    for (size_t i = 0; status == TAMIS_OK && i < g->count; i++) {
        tamis_number *eps = NULL;
        status = tamis_number_read(&eps, g->points[i].eps, err);
        if (status == TAMIS_OK) status = tamis_number_write(&g->points[i].exact, eps, err);
        tamis_number_free(eps);
    }
    return status;
}

void cli_guarantee_json(const cli_guarantee *g)
{
    fputs(", \"pure\": ", stdout);
    cli_put_bound(g->pure);
    if (g->eps || g->delta) {
        printf(", \"answer\": {\"%s\": \"%s\", \"%s\": ", g->eps ? "epsilon" : "delta", g->exact, g->eps ? "delta" : "epsilon");
        cli_put_bound(g->answer);
        printf("%s}", g->note.json);
    }
    fputs(", \"curve\": [", stdout);
    for (size_t i = 0; i < g->count; i++) {
        printf("%s{\"epsilon\": \"%s\", \"delta\": ", i > 0 ? ", " : "", g->points[i].exact);
        cli_put_bound(g->points[i].delta);
        printf("%s}", g->points[i].note.json);
    }
    putchar(']');
}
