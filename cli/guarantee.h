/* The guarantee of one mechanism, shown the same way by every `tamis privacy` command: what was asked, the curve of delta
 * against epsilon as a table and a plot, and what it means.
 *
 * Only ends of enclosures are shown, rounded to the safe side. The plot is a picture of the same numbers.            */
#ifndef CLI_GUARANTEE_H
#define CLI_GUARANTEE_H

#include "cli.h"

#define CLI_NOTE 96

/* What can be said about one delta beside its value: a cell of the table, and fields of the JSON object, each after a
 * comma; both may stay empty. */
typedef struct cli_note {
    char text[CLI_NOTE], json[CLI_NOTE];
} cli_note;

typedef struct cli_mechanism {
    const void *what; /* handed to the functions */
    tamis_status (*delta)(tamis_bound *delta, cli_note *note, const void *what, const tamis_number *eps, tamis_error *err);
    tamis_status (*epsilon)(tamis_bound *eps, const void *what, const tamis_number *delta, tamis_error *err);
    tamis_status (*pure)(tamis_bound *eps, const void *what,
                         tamis_error *err); /* the epsilon of delta 0; NULL: `epsilon` finds it */
    const char *note_heading;               /* of the table; NULL: no such column */
    const char *title, *subtitle;           /* of the plot */
    const char *limit_name;                 /* a delta that holds for every epsilon, to compare with; NULL: none */
    double limit;
} cli_mechanism;

/* --epsilon E, --delta D, --svg FILE and --ascii; a command that shows a guarantee has them among its options. */
/* clang-format off */
#define CLI_GUARANTEE_OPTIONS                                                        \
    {"epsilon", "E", .help = "which delta goes with this epsilon?"},                 \
    {"delta", "D", .help = "which epsilon goes with this delta?"},                   \
    {"svg", "FILE", .help = "also write the curve as a picture; replaces FILE"},     \
    {"ascii", .help = "draw the plot in ASCII (the default in locales other than UTF-8)"}
/* clang-format on */

/* The file of --svg: opened before the work, so that what is wrong is reported first (the exit code; 0: go on), written once,
 * and gone if it was new and nothing was written. All of it does nothing if there is no --svg. */
typedef struct cli_svg {
    const char *path;
    FILE *file;
    bool is_new;
} cli_svg;

int cli_svg_open(cli_svg *svg, const cli_call *call);
tamis_status cli_svg_write(cli_svg *svg, const tamis_plot *plot, tamis_error *err);
void cli_svg_close(cli_svg *svg);

#define CLI_CURVE 64 /* points at most */

typedef struct cli_point {
    char eps[TAMIS_DECIMAL]; /* exact */
    char *exact;             /* as a fraction, for JSON; by cli_guarantee_ready */
    double x;
    tamis_bound delta;
    cli_note note;
    bool row; /* is in the table too */
} cli_point;

typedef struct cli_guarantee {
    const cli_call *call;
    const cli_mechanism *mechanism;
    tamis_number *eps, *delta; /* as asked; NULL: not asked */
    tamis_bound answer;        /* the other one of the two */
    cli_note note;
    char *exact; /* of what was asked; by cli_guarantee_ready */
    tamis_bound pure;
    char pure_text[TAMIS_DECIMAL]; /* for people: rounded up, or the exact value where a few digits are enough */
    cli_point points[CLI_CURVE];
    size_t count;
    cli_svg svg;
} cli_guarantee;

/* Reads the options and opens the file of the picture, so that what is wrong is reported before the work. The exit code; 0: go
 * on. Clear it whatever happens; a picture that was not finished disappears. */
int cli_guarantee_begin(cli_guarantee *guarantee, const cli_call *call);
void cli_guarantee_clear(cli_guarantee *guarantee);

/* All the numbers, with a progress bar. */
tamis_status cli_guarantee_compute(cli_guarantee *guarantee, const cli_mechanism *mechanism, tamis_error *err);

/* The lines with the answers, the table and the plot on stdout, and the picture in its file. TAMIS_OK or an error. */
tamis_status cli_guarantee_show(cli_guarantee *guarantee, tamis_error *err);

/* Writes the picture and makes the texts for JSON: everything that can fail, before the first byte of the object. */
tamis_status cli_guarantee_ready(cli_guarantee *guarantee, tamis_error *err);

/* The fields of the JSON object, from "pure" to "curve", a comma before each. */
void cli_guarantee_json(const cli_guarantee *guarantee);

/* "differ by a factor of at most exp(0.1), but for ...": what the asked pair, or else the pure one, says about two
 * probabilities. */
void cli_guarantee_words(char *room, size_t size, const cli_guarantee *guarantee);

/* ---- pieces ---- */

/* A table: a row of headings, a rule, the rows; `align` has an l or an r per column. */
#define CLI_COLUMNS 8
#define CLI_CELL 64
typedef char cli_cells[CLI_COLUMNS][CLI_CELL];
void cli_table(const char *align, const cli_cells *rows, size_t count, bool ascii);

/* {"lower": ..., "upper": ...} */
void cli_put_bound(tamis_bound bound);

/* 6,194 */
const char *cli_thousands(char *room, size_t size, int64_t n);

/* Three digits, to the nearest: 3,070, for what carries no guarantee. */
const char *cli_about(char *room, size_t size, double x);

/* A number as it was written; one of more than 30 letters is cut, visibly: "0.0000000000000000000000000000..." */
#define CLI_CUT_NUMBER 40
const char *cli_cut_number(char room[CLI_CUT_NUMBER], const char *text);

/* Digits of an epsilon or a delta for people. */
#define CLI_DIGITS 4

/* For a place in a plot. */
double cli_approximately(const tamis_number *number);

/* Whether letters beyond ASCII may be used. */
bool cli_plain_letters(const cli_call *call);

#endif
