#include "study/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"

void tmi_sheet_init(tmi_sheet *s, const char *const *names, size_t columns)
{
    *s = (tmi_sheet){.names = names, .columns = columns};
}

void tmi_sheet_clear(tmi_sheet *s)
{
    for (size_t i = 0; i < s->count; i++) tmi_free(s->cells[i].text);
    tmi_free(s->cells);
    *s = (tmi_sheet){0};
}

static void add(tmi_sheet *s, char *text, double number)
{
    if (s->failed || !tmi_grow(&s->cells, &s->room, s->count, sizeof *s->cells)) {
        s->failed = true;
        tmi_free(text);
        return;
    }
    s->cells[s->count++] = (tmi_sheet_cell){text, number};
}

void tmi_sheet_number(tmi_sheet *s, double number) { add(s, NULL, number); }

void tmi_sheet_words(tmi_sheet *s, const char *text)
{
    char *copy = tmi_copy_text(text, strlen(text));
    if (copy) add(s, copy, NAN);
    else s->failed = true;
}

void tmi_sheet_numbers(tmi_sheet *s, const double *numbers)
{
    for (size_t i = 0; i < s->columns; i++) tmi_sheet_number(s, numbers[i]);
}

static void put_quoted(tmi_text *text, const char *words)
{
    if (!strpbrk(words, ",\"\n")) {
        tmi_text_put(text, words);
        return;
    }
    tmi_text_put(text, "\"");
    for (; *words; words++) tmi_text_add(text, *words == '"' ? "\"\"" : words, *words == '"' ? 2 : 1);
    tmi_text_put(text, "\"");
}

static void put_csv(tmi_text *text, const tmi_sheet *s)
{
    for (size_t c = 0; c < s->columns; c++) tmi_text_format(text, "%s%s", c > 0 ? "," : "", s->names[c]);
    for (size_t i = 0; i < s->count; i++) {
        tmi_text_put(text, i % s->columns > 0 ? "," : "\n");
        if (s->cells[i].text) put_quoted(text, s->cells[i].text);
        else if (!isnan(s->cells[i].number)) tmi_text_real(text, s->cells[i].number);
    }
    tmi_text_put(text, "\n");
    text->failed = text->failed || s->failed;
}

void tmi_sheet_json(tmi_json_out *out, const char *key, const tmi_sheet *s)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < s->count; i++) {
        if (i % s->columns == 0) tmi_json_open(out, '{');
        if (s->cells[i].text) tmi_json_add_string(out, s->names[i % s->columns], s->cells[i].text);
        else tmi_json_add_real(out, s->names[i % s->columns], s->cells[i].number);
        if (i % s->columns + 1 == s->columns) tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    out->text->failed = out->text->failed || s->failed;
}

void tmi_study_forms_init(tmi_study_forms *forms, const char *const *names, size_t columns)
{
    *forms = (tmi_study_forms){0};
    tmi_sheet_init(&forms->sheet, names, columns);
    tmi_text_init(&forms->text);
    tmi_text_init(&forms->json);
}

void tmi_study_forms_clear(tmi_study_forms *forms)
{
    tmi_sheet_clear(&forms->sheet);
    tmi_text_clear(&forms->text);
    tmi_text_clear(&forms->json);
    tmi_free(forms->svg);
    forms->svg = NULL;
}

tamis_status tmi_study_make(tamis_study **study, tmi_study_forms *forms, tamis_error *err)
{
    tmi_text csv;
    tamis_status status = TAMIS_OK;
    tamis_study *s = tmi_alloc(1, sizeof *s);
    *study = NULL;
    tmi_text_init(&csv);
    if (!s) TMI_TRY(tmi_fail_memory(err));
    put_csv(&csv, &forms->sheet);
    TMI_TRY(tmi_text_take(&s->forms[TAMIS_STUDY_TEXT], &forms->text, err));
    TMI_TRY(tmi_text_take(&s->forms[TAMIS_STUDY_JSON], &forms->json, err));
    TMI_TRY(tmi_text_take(&s->forms[TAMIS_STUDY_CSV], &csv, err));
    s->forms[TAMIS_STUDY_SVG] = forms->svg;
    forms->svg = NULL;
    *study = s;
    s = NULL;

done:
    tmi_text_clear(&csv);
    tamis_study_free(s);
    return status;
}

void tamis_study_free(tamis_study *s)
{
    if (!s) return;
    for (size_t i = 0; i < TAMIS_STUDY_FORMS; i++) tmi_free(s->forms[i]);
    tmi_free(s);
}

const char *tamis_study_as(const tamis_study *s, tamis_study_form form)
{
    return s && (unsigned)form < TAMIS_STUDY_FORMS ? s->forms[form] : NULL;
}

/* ---- pictures ---- */

#define PLOT_WIDTH 720
#define PLOT_HEIGHT 430

tamis_status tmi_plots_joined(char **svg, const tamis_plot *plots, size_t count, tamis_error *err)
{
    tmi_text text;
    tamis_status status = TAMIS_OK;
    *svg = NULL;
    if (count == 1) return tamis_plot_svg(svg, plots, err);
    tmi_text_init(&text);
    tmi_text_format(
        &text, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%zu\" viewBox=\"0 0 %d %zu\">\n",
        PLOT_WIDTH, PLOT_HEIGHT * count, PLOT_WIDTH, PLOT_HEIGHT * count);
    for (size_t i = 0; i < count; i++) {
        char *one = NULL;
        TMI_TRY(tamis_plot_svg(&one, &plots[i], err));
        tmi_text_format(&text, "<g transform=\"translate(0 %zu)\">\n", PLOT_HEIGHT * i);
        tmi_text_put(&text, one);
        tmi_text_put(&text, "</g>\n");
        tmi_free(one);
    }
    tmi_text_put(&text, "</svg>\n");
    status = tmi_text_take(svg, &text, err);

done:
    tmi_text_clear(&text);
    return status;
}
