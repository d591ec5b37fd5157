/* release.xlsx: a sheet that says what the release is, and a sheet for each statistic. Numbers are written in full and shown
 * rounded to two digits of their error, as in the report. Texts are typed as texts, so none of them is taken for a formula. */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/lines.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/zip.h"
#include "measure/moments.h"
#include "num/number.h"
#include "report/promise.h"
#include "report/report_words.h"
#include "report/result_columns.h"
#include "report/results.h"

#define SHEETS 60       /* statistics that have a sheet each; more are in one sheet, where they can be filtered */
#define SHEET_NAME 31   /* the most characters that spreadsheets allow */
#define MOST_DECIMALS 9 /* that have a style */
#define ABOUT "About"
#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define OFFICE "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define PACKAGE "http://schemas.openxmlformats.org/package/2006"

/* Styles, in the order of cellXfs: as it comes, bold, bold above numbers, percent, then numbers with 0, 1, ... decimals. */
enum { PLAIN, BOLD, BOLD_RIGHT, PERCENT, DECIMALS };

/* ---- XML ---- */

/* Whether Excel would read the text from here on as the code of a character, "_x0041_". */
static bool is_code(const char *c, size_t left)
{
    return left >= 7 && c[0] == '_' && c[1] == 'x' && strspn(c + 2, "0123456789abcdefABCDEF") >= 4 && c[6] == '_';
}

/* Control characters are not allowed in XML and become blanks, as do the two codes that are no characters. */
static void put_escaped(tmi_text *xml, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '&') tmi_text_put(xml, "&amp;");
        else if (c == '<') tmi_text_put(xml, "&lt;");
        else if (c == '>') tmi_text_put(xml, "&gt;");
        else if (c == '"') tmi_text_put(xml, "&quot;");
        else if (c < ' ' && c != '\n') tmi_text_put(xml, " ");
        else if (length - i >= 3 && (memcmp(text + i, "\xef\xbf\xbe", 3) == 0 || memcmp(text + i, "\xef\xbf\xbf", 3) == 0)) {
            tmi_text_put(xml, " ");
            i += 2;
        } else if (is_code(text + i, length - i)) tmi_text_put(xml, "_x005F_");
        else tmi_text_add(xml, text + i, 1);
    }
}

/* "A", ..., "Z", "AA", ... */
static void put_column_letters(tmi_text *xml, size_t column)
{
    char letters[8];
    size_t at = sizeof letters;
    for (size_t n = column + 1; n > 0; n = (n - 1) / 26) letters[--at] = (char)('A' + (n - 1) % 26);
    tmi_text_add(xml, letters + at, sizeof letters - at);
}

/* ---- a sheet ---- */

typedef struct sheet {
    tmi_text xml;
    size_t row, column; /* the next ones */
} sheet;

static void begin_row(sheet *s)
{
    s->column = 0;
    tmi_text_format(&s->xml, "<row r=\"%zu\">", ++s->row);
}

static void end_row(sheet *s) { tmi_text_put(&s->xml, "</row>\n"); }

static void begin_cell(sheet *s, int style)
{
    tmi_text_put(&s->xml, "<c r=\"");
    put_column_letters(&s->xml, s->column++);
    tmi_text_format(&s->xml, "%zu\" s=\"%d\"", s->row, style);
}

static void put_text_cell(sheet *s, int style, const char *text, size_t length)
{
    begin_cell(s, style);
    tmi_text_put(&s->xml, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    put_escaped(&s->xml, text, length);
    tmi_text_put(&s->xml, "</t></is></c>");
}

static void put_number_cell(sheet *s, int style, double x)
{
    begin_cell(s, style);
    tmi_text_put(&s->xml, "><v>");
    tmi_text_real(&s->xml, x);
    tmi_text_put(&s->xml, "</v></c>");
}

static void put_line(sheet *s, int style, const char *text)
{
    begin_row(s);
    put_text_cell(s, style, text, strlen(text));
    end_row(s);
}

static void put_words(sheet *s, int style, tmi_text *words)
{
    if (words->failed) s->xml.failed = true;
    else put_line(s, style, words->bytes ? words->bytes : "");
    tmi_text_clear(words);
    tmi_text_init(words);
}

/* A paragraph, a row for each of its lines: programs differ in how they make room for cells of several lines. */
static void put_paragraph(sheet *s, const char *paragraph)
{
    tmi_text wrapped;
    tmi_lines lines = {0};
    tmi_text_init(&wrapped);
    tmi_text_wrap(&wrapped, "", "", paragraph);
    tmi_lines_split(&lines, wrapped.bytes);
    if (wrapped.failed || lines.failed) s->xml.failed = true;
    for (size_t i = 0; i < lines.count && !s->xml.failed; i++) put_line(s, PLAIN, lines.list[i]);
    tmi_lines_clear(&lines);
    tmi_text_clear(&wrapped);
}

static void put_paragraph_of(sheet *s, tmi_text *words)
{
    if (words->failed) s->xml.failed = true;
    else if (words->bytes) put_paragraph(s, words->bytes);
    tmi_text_clear(words);
    tmi_text_init(words);
}

/* ---- which sheets there are ---- */

static bool has_sheets(const tmi_results *r) { return r->plan->asked_count <= SHEETS; }

static size_t sheet_count(const tmi_results *r) { return has_sheets(r) ? r->plan->asked_count : 1; }

/* "3 mean income", "4 Unemployment rate": the number makes it unique; characters that a name of a sheet cannot have become
 * blanks. */
static void put_sheet_name(tmi_text *name, const tmi_results *r, size_t which)
{
    tmi_text words;
    if (!has_sheets(r)) {
        tmi_text_put(name, "Results");
        return;
    }
    const tmi_plan_statistic *s = &r->plan->statistics[which];
    tmi_text_init(&words);
    tmi_text_format(&words, "%zu %s ", which + 1, s->label ? s->label : tmi_statistic_name(s));
    if (!s->label) tmi_result_column(&words, s);
    if (words.failed) name->failed = true;
    /* bytes are at least as many as the units of UTF-16 that are limited; a character is not cut */
    size_t length = words.length < SHEET_NAME ? words.length : SHEET_NAME;
    while (length > 0 && length < words.length && ((unsigned char)words.bytes[length] & 0xc0) == 0x80) length--;
    while (length > 0 && (words.bytes[length - 1] == ' ' || words.bytes[length - 1] == '\'')) length--;
    for (size_t i = 0; !words.failed && i < length; i++) {
        const unsigned char c = (unsigned char)words.bytes[i];
        tmi_text_add(name, strchr("[]:*?/\\", c) || c < ' ' ? " " : words.bytes + i, 1);
    }
    tmi_text_clear(&words);
}

/* ---- the sheet that says what the release is ---- */

static void put_list(sheet *s, const char *heading, tmi_lines *lines)
{
    if (lines->failed) s->xml.failed = true;
    if (lines->count > 0) {
        put_line(s, PLAIN, "");
        put_line(s, BOLD, heading);
    }
    for (size_t i = 0; i < lines->count && !lines->failed; i++) put_paragraph(s, lines->list[i]);
    tmi_lines_clear(lines);
}

static void put_contents(sheet *s, const tmi_results *r)
{
    put_line(s, PLAIN, "");
    put_line(s, BOLD, "Contents");
    for (size_t i = 0; i < r->plan->asked_count && !s->xml.failed; i++) {
        tmi_text words;
        tmi_text_init(&words);
        tmi_text_format(&words, "%zu  ", i + 1);
        tmi_statistic_words(&words, r->plan, i, TMI_NULL);
        tmi_statistic_unit(&words, &r->plan->statistics[i]);
        put_words(s, PLAIN, &words);
    }
}

static void put_about(sheet *s, const tmi_results *r)
{
    const tamis_plan *plan = r->plan;
    tmi_lines lines = {0};
    tmi_text words;
    tmi_text_init(&words);
    put_line(s, BOLD, plan->title ? plan->title : plan->survey);
    tmi_text_format(&words, "Survey %s%s%s", plan->survey, plan->wave.name ? ", wave " : "",
                    plan->wave.name ? plan->wave.name : "");
    put_words(s, PLAIN, &words);
    put_line(s, PLAIN, "");
    put_line(s, BOLD, "What is promised");
    tmi_promise_page(&words, r->schedule);
    put_paragraph_of(s, &words);
    tmi_outsider_page(&words, plan, &r->promised->outsider);
    put_paragraph_of(s, &words);
    tmi_list_page_warnings(&lines, r->schedule);
    put_list(s, "Warnings", &lines);
    tmi_list_not_covered(&lines, r->schedule);
    put_list(s, "What is not covered", &lines);
    put_line(s, PLAIN, "");
    put_line(s, BOLD, "How to read the numbers");
    put_paragraph(s, "Standard errors and intervals include both sampling error and the noise that protects the sample. An empty "
                     "cell: there is no such number, and the notes say why.");
    tmi_quality_words(&words, plan, "", "");
    put_paragraph_of(s, &words);
    put_contents(s, r);
}

/* ---- the sheet of a statistic ---- */

/* Columns of a sheet: those that some of its rows have, but not what its heading says already. */
static bool is_shown(const tmi_results_column *c, const tmi_results *r, size_t first, size_t end)
{
    const bool said = c->role == TMI_ROLE_STATISTIC || c->role == TMI_ROLE_COLUMN || c->role == TMI_ROLE_WHERE ||
                      c->role == TMI_ROLE_CONTRAST || c->role == TMI_ROLE_LINE;
    if (said && has_sheets(r)) return false;
    for (size_t row = first; row < end; row++)
        if (tmi_column_has(c, row)) return true;
    return c->role == TMI_ROLE_ESTIMATE;
}

/* Which of the statistic's groupings a column is; by_count: none. */
static size_t grouping_of(const tmi_plan_statistic *s, const tmi_results_column *c)
{
    size_t i = 0;
    if (c->role != TMI_ROLE_GROUP) return s->by_count;
    while (i < s->by_count && strcmp(s->by[i]->name, c->group) != 0) i++;
    return i;
}

static const char *heading_of(const tmi_results *r, const tmi_plan_statistic *s, const tmi_results_column *c)
{
    static const char *const words[] = {[TMI_ROLE_STATISTIC] = "Statistic",
                                        [TMI_ROLE_COLUMN] = "Of",
                                        [TMI_ROLE_WHERE] = "Where",
                                        [TMI_ROLE_CONTRAST] = "Compared",
                                        [TMI_ROLE_TERM] = "Term",
                                        [TMI_ROLE_AT] = "At",
                                        [TMI_ROLE_LINE] = "Line",
                                        [TMI_ROLE_ESTIMATE] = "Estimate",
                                        [TMI_ROLE_SE] = "Standard error",
                                        [TMI_ROLE_SAMPLING_SE] = "Sampling error",
                                        [TMI_ROLE_NOISE_SD] = "Noise",
                                        [TMI_ROLE_LOWER] = "Lower limit",
                                        [TMI_ROLE_UPPER] = "Upper limit",
                                        [TMI_ROLE_CONFIDENCE] = "Confidence",
                                        [TMI_ROLE_DF] = "df",
                                        [TMI_ROLE_CV] = "CV",
                                        [TMI_ROLE_P] = "p",
                                        [TMI_ROLE_QUALITY] = "Quality",
                                        [TMI_ROLE_NOTES] = "Notes"};
    const size_t by = grouping_of(s, c);
    if (c->role != TMI_ROLE_GROUP) return words[c->role];
    return has_sheets(r) && by < s->by_count ? tmi_column_label(s->by[by]) : c->name;
}

/* The style that shows a number of a result with two digits of its error. */
static int number_style(const tmi_result *x)
{
    const double error = isnan(x->se) ? x->noise_sd : x->se;
    const int decimals = error > 0 ? tmi_decimals_of(error) : x->estimate == floor(x->estimate) ? 0 : 2;
    return DECIMALS + (decimals < 0 ? 0 : decimals > MOST_DECIMALS ? MOST_DECIMALS : decimals);
}

static void put_value(sheet *s, const tmi_results *r, const tmi_results_column *c, size_t row)
{
    const tmi_result *x = &r->list[row];
    const tmi_plan_statistic *statistic = &r->plan->statistics[x->statistic];
    const size_t by = grouping_of(statistic, c);
    if (!tmi_column_has(c, row)) {
        s->column++;
    } else if (by < statistic->by_count) {
        tmi_text words;
        tmi_text_init(&words);
        tmi_value_words(&words, statistic->by[by], tmi_group_code(statistic, tmi_group_of(statistic, x->cell), by));
        if (words.failed) s->xml.failed = true;
        else put_text_cell(s, PLAIN, words.bytes ? words.bytes : "", words.length);
        tmi_text_clear(&words);
    } else if (c->is_text) {
        size_t length;
        const char *text = tmi_column_text(&length, c, row);
        put_text_cell(s, PLAIN, text, length);
    } else if (c->role == TMI_ROLE_CV || c->role == TMI_ROLE_CONFIDENCE) put_number_cell(s, PERCENT, c->numbers[row]);
    else if (c->role == TMI_ROLE_DF || c->role == TMI_ROLE_AT || c->role == TMI_ROLE_LINE)
        put_number_cell(s, PLAIN, c->numbers[row]);
    else put_number_cell(s, number_style(x), c->numbers[row]);
}

static int width_of(const tmi_results_column *c)
{
    if (c->role == TMI_ROLE_NOTES) return 60;
    return c->role == TMI_ROLE_QUALITY ? 9 : c->is_text ? 24 : 16;
}

/* Rows first to end - 1 of the results; `shown`, one per column, is the caller's room. */
static void put_statistic(sheet *s, const tmi_results *r, const tmi_result_columns *columns, size_t first, size_t end,
                          bool *shown)
{
    const tmi_plan_statistic *statistic = &r->plan->statistics[r->list[first].statistic];
    size_t count = 0;
    tmi_text words;
    for (size_t c = 0; c < columns->count; c++) shown[c] = is_shown(&columns->list[c], r, first, end);
    tmi_text_put(&s->xml, "<sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"3\" topLeftCell=\"A4\" "
                          "activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews>\n<cols>");
    for (size_t c = 0; c < columns->count; c++) {
        if (!shown[c]) continue;
        count++;
        tmi_text_format(&s->xml, "<col min=\"%zu\" max=\"%zu\" width=\"%d\" customWidth=\"1\"/>", count, count,
                        width_of(&columns->list[c]));
    }
    tmi_text_put(&s->xml, "</cols>\n<sheetData>\n");
    tmi_text_init(&words);
    if (has_sheets(r)) {
        tmi_statistic_words(&words, r->plan, r->list[first].statistic, TMI_NULL);
        tmi_statistic_unit(&words, statistic);
    } else tmi_text_put(&words, r->plan->title ? r->plan->title : r->plan->survey);
    put_words(s, BOLD, &words);
    put_line(s, PLAIN, "");
    begin_row(s);
    for (size_t c = 0; c < columns->count; c++) {
        if (!shown[c]) continue;
        const char *heading = heading_of(r, statistic, &columns->list[c]);
        put_text_cell(s, columns->list[c].is_text ? BOLD : BOLD_RIGHT, heading, strlen(heading));
    }
    end_row(s);
    for (size_t row = first; row < end && !s->xml.failed; row++) {
        begin_row(s);
        for (size_t c = 0; c < columns->count; c++)
            if (shown[c]) put_value(s, r, &columns->list[c], row);
        end_row(s);
    }
    tmi_text_put(&s->xml, "</sheetData>\n");
    if (!has_sheets(r)) {
        tmi_text_put(&s->xml, "<autoFilter ref=\"A3:");
        put_column_letters(&s->xml, count - 1);
        tmi_text_format(&s->xml, "%zu\"/>\n", s->row);
    }
}

/* ---- the parts of the package ---- */

static void begin_sheet(sheet *s, const tmi_results *r)
{
    *s = (sheet){0};
    tmi_text_init(&s->xml);
    s->xml.watch = r->schedule->watch;
    tmi_text_put(&s->xml, XML "<worksheet xmlns=\"" MAIN "\">\n<sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr>\n");
}

static void end_sheet(tmi_zip *zip, sheet *s, size_t number)
{
    tmi_text name;
    tmi_text_init(&name);
    tmi_text_put(&s->xml, "<pageSetup orientation=\"landscape\" fitToHeight=\"0\"/>\n</worksheet>\n");
    tmi_text_format(&name, "xl/worksheets/sheet%zu.xml", number);
    if (name.failed) s->xml.failed = true;
    tmi_zip_add(zip, name.bytes ? name.bytes : "", &s->xml);
    tmi_text_clear(&name);
}

static void add_types(tmi_zip *zip, size_t sheets)
{
    static const char office[] = "application/vnd.openxmlformats-officedocument.spreadsheetml.";
    tmi_text xml;
    tmi_text_init(&xml);
    tmi_text_format(&xml,
                    XML "<Types xmlns=\"" PACKAGE "/content-types\">\n"
                        "<Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\n"
                        "<Default Extension=\"xml\" ContentType=\"application/xml\"/>\n"
                        "<Override PartName=\"/xl/workbook.xml\" ContentType=\"%ssheet.main+xml\"/>\n"
                        "<Override PartName=\"/xl/styles.xml\" ContentType=\"%sstyles+xml\"/>\n",
                    office, office);
    for (size_t i = 1; i <= sheets; i++)
        tmi_text_format(&xml, "<Override PartName=\"/xl/worksheets/sheet%zu.xml\" ContentType=\"%sworksheet+xml\"/>\n", i,
                        office);
    tmi_text_put(&xml, "</Types>\n");
    tmi_zip_add(zip, "[Content_Types].xml", &xml);
    tmi_text_put(&xml, XML "<Relationships xmlns=\"" PACKAGE "/relationships\">\n"
                           "<Relationship Id=\"rId1\" Type=\"" OFFICE "/officeDocument\" Target=\"xl/workbook.xml\"/>\n"
                           "</Relationships>\n");
    tmi_zip_add(zip, "_rels/.rels", &xml);
}

static void add_workbook(tmi_zip *zip, const tmi_results *r, size_t sheets)
{
    tmi_text xml;
    tmi_text_init(&xml);
    tmi_text_put(&xml, XML "<workbook xmlns=\"" MAIN "\" xmlns:r=\"" OFFICE "\">\n<sheets>\n"
                           "<sheet name=\"" ABOUT "\" sheetId=\"1\" r:id=\"rId1\"/>\n");
    for (size_t i = 2; i <= sheets; i++) {
        tmi_text name;
        tmi_text_init(&name);
        put_sheet_name(&name, r, i - 2);
        if (name.failed) xml.failed = true;
        tmi_text_put(&xml, "<sheet name=\"");
        put_escaped(&xml, name.bytes ? name.bytes : "", name.length);
        tmi_text_format(&xml, "\" sheetId=\"%zu\" r:id=\"rId%zu\"/>\n", i, i);
        tmi_text_clear(&name);
    }
    tmi_text_put(&xml, "</sheets>\n</workbook>\n");
    tmi_zip_add(zip, "xl/workbook.xml", &xml);
    tmi_text_put(&xml, XML "<Relationships xmlns=\"" PACKAGE "/relationships\">\n");
    for (size_t i = 1; i <= sheets; i++)
        tmi_text_format(&xml, "<Relationship Id=\"rId%zu\" Type=\"" OFFICE "/worksheet\" Target=\"worksheets/sheet%zu.xml\"/>\n",
                        i, i);
    tmi_text_format(&xml, "<Relationship Id=\"rId%zu\" Type=\"" OFFICE "/styles\" Target=\"styles.xml\"/>\n</Relationships>\n",
                    sheets + 1);
    tmi_zip_add(zip, "xl/_rels/workbook.xml.rels", &xml);
}

#define FIRST_FORMAT 164 /* lower numbers are the format's own */

static void add_styles(tmi_zip *zip)
{
    tmi_text xml;
    tmi_text_init(&xml);
    tmi_text_format(&xml,
                    XML "<styleSheet xmlns=\"" MAIN
                        "\">\n<numFmts count=\"%d\">\n<numFmt numFmtId=\"%d\" formatCode=\"0.0%%\"/>\n",
                    MOST_DECIMALS + 2, FIRST_FORMAT);
    for (int decimals = 0; decimals <= MOST_DECIMALS; decimals++)
        tmi_text_format(&xml, "<numFmt numFmtId=\"%d\" formatCode=\"#,##0%s%.*s\"/>\n", FIRST_FORMAT + 1 + decimals,
                        decimals ? "." : "", decimals, "000000000");
    tmi_text_format(
        &xml,
        "</numFmts>\n<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font><font><b/><sz val=\"11\"/><name "
        "val=\"Calibri\"/></font></fonts>\n<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill "
        "patternType=\"gray125\"/></fill></fills>\n<borders count=\"1\"><border/></borders>\n<cellStyleXfs count=\"1\"><xf/>"
        "</cellStyleXfs>\n<cellXfs count=\"%d\">\n<xf xfId=\"0\"/>\n<xf fontId=\"1\" applyFont=\"1\" xfId=\"0\"/>\n"
        "<xf fontId=\"1\" applyFont=\"1\" applyAlignment=\"1\" xfId=\"0\"><alignment horizontal=\"right\"/></xf>\n"
        "<xf numFmtId=\"%d\" applyNumberFormat=\"1\" xfId=\"0\"/>\n",
        DECIMALS + MOST_DECIMALS + 1, FIRST_FORMAT);
    for (int decimals = 0; decimals <= MOST_DECIMALS; decimals++)
        tmi_text_format(&xml, "<xf numFmtId=\"%d\" applyNumberFormat=\"1\" xfId=\"0\"/>\n", FIRST_FORMAT + 1 + decimals);
    tmi_text_put(&xml, "</cellXfs>\n<cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" "
                       "builtinId=\"0\"/></cellStyles>\n</styleSheet>\n");
    tmi_zip_add(zip, "xl/styles.xml", &xml);
}

tamis_status tmi_results_xlsx(char **bytes, size_t *length, const tmi_results *r, tamis_error *err)
{
    const size_t sheets = 1 + sheet_count(r);
    tmi_result_columns columns;
    bool *shown = NULL;
    tmi_zip zip;
    sheet s;
    tamis_status status;
    tmi_zip_init(&zip);
    *bytes = NULL;
    const bool made = tmi_result_columns_make(&columns, r);
    if (!made || !(shown = tmi_alloc(columns.count, sizeof *shown))) zip.bytes.failed = true;
    add_types(&zip, sheets);
    add_workbook(&zip, r, sheets);
    add_styles(&zip);
    begin_sheet(&s, r);
    tmi_text_put(&s.xml, "<cols><col min=\"1\" max=\"1\" width=\"110\" customWidth=\"1\"/></cols>\n<sheetData>\n");
    put_about(&s, r);
    tmi_text_put(&s.xml, "</sheetData>\n");
    end_sheet(&zip, &s, 1);
    for (size_t i = 2, first = 0; i <= sheets && !zip.bytes.failed; i++) {
        size_t end = first;
        while (end < r->count && (!has_sheets(r) || r->list[end].statistic == r->list[first].statistic)) end++;
        begin_sheet(&s, r);
        put_statistic(&s, r, &columns, first, end, shown);
        end_sheet(&zip, &s, i);
        first = end;
    }
    status = tmi_zip_take(bytes, length, &zip, err);
    tmi_free(shown);
    tmi_result_columns_clear(&columns);
    return status;
}
