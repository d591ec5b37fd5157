/* What a study hands out: the same numbers for people, for programs, for spreadsheets and as a picture.
 *
 * A sheet has rows of cells under named columns. Its CSV and JSON come from the same cells; the text for people is the
 * study's own.                                                                                                       */
#ifndef TMI_STUDY_REPORT_H
#define TMI_STUDY_REPORT_H

#include <stdbool.h>
#include <tamis/experimental/plot.h>
#include <tamis/experimental/study.h>

#include "base/text.h"
#include "base/value/json.h"

struct tamis_study {
    char *forms[TAMIS_STUDY_FORMS];
};

typedef struct tmi_sheet_cell {
    char *text; /* NULL: a number */
    double number;
} tmi_sheet_cell;

typedef struct tmi_sheet {
    const char *const *names;
    size_t columns, count, room; /* cells */
    tmi_sheet_cell *cells;
    bool failed; /* for lack of memory: look once at the end */
} tmi_sheet;

void tmi_sheet_init(tmi_sheet *sheet, const char *const *names, size_t columns);
void tmi_sheet_clear(tmi_sheet *sheet);

/* The next cell; a row is full after `columns` of them. NaN is an empty cell. */
void tmi_sheet_number(tmi_sheet *sheet, double number);
void tmi_sheet_words(tmi_sheet *sheet, const char *text);

/* A row of numbers. */
void tmi_sheet_numbers(tmi_sheet *sheet, const double *numbers);

void tmi_sheet_json(tmi_json_out *out, const char *key, const tmi_sheet *sheet); /* a list of objects */

/* What a study is made of; its CSV is that of the sheet. */
typedef struct tmi_study_forms {
    tmi_sheet sheet;
    tmi_text text, json;
    char *svg; /* NULL: no picture */
} tmi_study_forms;

void tmi_study_forms_init(tmi_study_forms *forms, const char *const *names, size_t columns);
void tmi_study_forms_clear(tmi_study_forms *forms);

/* Takes the forms. SYSTEM if memory ran out for one of them; *study is NULL then. */
tamis_status tmi_study_make(tamis_study **study, tmi_study_forms *forms, tamis_error *err);

/* ---- pictures ---- */

/* Several plots below each other in one picture. */
tamis_status tmi_plots_joined(char **svg, const tamis_plot *plots, size_t count, tamis_error *err);

#endif
