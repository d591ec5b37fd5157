/* A plan to fill in. What is proposed comes from the header of the file alone; whatever shapes the guarantee (design, unit,
 * budget, bounds, lists of values) is for people to say, so that it is a place to fill in and the plan is refused until they
 * do. */
#include <string.h>
#include <tamis/experimental/editor.h>
#include <tamis/init.h>

#include "base/letters.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/value/json.h"
#include "engine/core/header.h"
#include "plan/plan.h"
#include "plan/sections.h"
#include "plan/yaml_write.h"

/* ---- texts of a file in YAML ---- */

/* Whether a plan may have the text: it is UTF-8, and people can see all of it. */
static bool is_readable(const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || tmi_unreadable(text) != 0) return false;
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && tmi_code_point(text, length, i) == 0xFFFD) return false;
    return true;
}

/* A text of the file inside a comment: what is no UTF-8 becomes ?, what cannot be seen <U+202E>. */
static void put_shown(tmi_text *yaml, const char *text)
{
    const size_t length = strlen(text);
    tmi_text clean;
    tmi_text_init(&clean);
    tmi_text_put(&clean, "");
    for (size_t at = 0, size; at < length; at += size) {
        const bool right = tmi_code_point(text, length, at) != 0xFFFD;
        for (size = 1; right && ((unsigned char)text[at + size] & 0xc0) == 0x80;) size++;
        tmi_text_add(&clean, right ? text + at : "?", right ? size : 1);
    }
    if (clean.failed) yaml->failed = true;
    else if (clean.bytes) tmi_text_shown(yaml, clean.bytes);
    tmi_text_clear(&clean);
}

/* A label, if a plan may have it: else a comment says that there is one. */
static void put_label(tmi_text *yaml, const char *before, const char *label)
{
    if (!label || !*label) return;
    if (is_readable(label) && strlen(label) <= TMI_MAX_LABEL) {
        tmi_text_put(yaml, before);
        tmi_yaml_put_text(yaml, label);
        tmi_text_put(yaml, "\n");
    } else {
        tmi_text_format(yaml, "%*s# the file's label cannot be used in a plan: it is too long, or has invisible characters\n",
                        (int)strspn(before, " "), "");
    }
}

/* ---- columns ---- */

#define MOST_LABELS 20 /* shown */

/* Codes with labels that are values, not missing ones. */
static size_t value_count(const tmi_header_column *column, const tmi_header_set *set)
{
    size_t count = 0;
    for (size_t i = 0; set && i < set->count; i++) count += !tmi_header_is_missing(column, &set->codes[i]);
    return count;
}

static void put_labels(tmi_text *yaml, const tmi_header_column *column, const tmi_header_set *set, bool missing)
{
    for (size_t i = 0, put = 0; i < set->count && put < MOST_LABELS; i++) {
        if (tmi_header_is_missing(column, &set->codes[i]) != missing) continue;
        put++;
        tmi_text_put(yaml, "    #   ");
        put_shown(yaml, set->codes[i].code);
        tmi_text_put(yaml, ": ");
        put_shown(yaml, set->codes[i].label);
        tmi_text_put(yaml, "\n");
    }
}

/* Whether a plan may list the labels in the place of the codes: each can be written, none is listed twice, and none is a code,
 * which would mean itself. */
static bool labels_are_values(const tmi_header_column *column, const tmi_header_set *set)
{
    size_t values = 0;
    for (size_t i = 0; i < set->count; i++) {
        const char *label = set->codes[i].label;
        if (tmi_header_is_missing(column, &set->codes[i])) continue;
        values++;
        const size_t length = label ? strlen(label) : 0;
        if (length == 0 || length > TMI_MAX_LABEL || !is_readable(label) || label[0] == ' ' || label[length - 1] == ' ')
            return false;
        for (size_t j = 0; j < set->count; j++)
            if (strcmp(set->codes[j].code, label) == 0 ||
                (j != i && set->codes[j].label && strcmp(set->codes[j].label, label) == 0))
                return false;
    }
    return values > 0 && values <= MOST_LABELS;
}

static void put_labels_as_values(tmi_text *yaml, const tmi_header_column *column, const tmi_header_set *set)
{
    if (!labels_are_values(column, set)) return;
    tmi_text_put(yaml, "    # or by their labels, which results then show: values: [");
    for (size_t i = 0, put = 0; i < set->count; i++) {
        if (tmi_header_is_missing(column, &set->codes[i])) continue;
        tmi_text_put(yaml, put++ ? ", " : "");
        tmi_yaml_put_text(yaml, set->codes[i].label);
    }
    tmi_text_put(yaml, "]\n");
}

/* The labels of codes: a proposal, since they may have been made from the data. */
static void put_codes(tmi_text *yaml, const tmi_header_column *column, const tmi_header_set *set)
{
    const size_t values = value_count(column, set);
    if (values > 0) {
        tmi_text_put(yaml, "    # codes with labels in the file; list those that are public: values: [");
        for (size_t i = 0, put = 0; i < set->count && put < MOST_LABELS; i++) {
            tmi_text shown;
            if (tmi_header_is_missing(column, &set->codes[i])) continue;
            tmi_text_init(&shown);
            put_shown(&shown, set->codes[i].code);
            tmi_text_put(yaml, put++ ? ", " : "");
            if (shown.failed) yaml->failed = true;
            else tmi_yaml_put_text(yaml, shown.bytes);
            tmi_text_clear(&shown);
        }
        tmi_text_put(yaml, values > MOST_LABELS ? ", ...]\n" : "]\n");
        put_labels(yaml, column, set, false);
        put_labels_as_values(yaml, column, set);
    }
    if (set && set->count > values) {
        tmi_text_put(yaml, "    # the file declares these codes missing, and so does a release:\n");
        put_labels(yaml, column, set, true);
    }
}

static void put_column(tmi_text *yaml, const tmi_header *h, const tmi_header_column *column)
{
    const tmi_header_set *set = tmi_header_set_of(h, column);
    const bool unusable = column->type == TMI_HEADER_DATE || column->type == TMI_HEADER_OTHER;
    if (!is_readable(column->name) || unusable) {
        tmi_text_put(yaml, "  # ");
        put_shown(yaml, column->name);
        tmi_text_put(yaml, column->type == TMI_HEADER_DATE    ? ": a date; to use it as a category, declare its values\n"
                           : column->type == TMI_HEADER_OTHER ? ": of a type that a plan cannot use\n"
                                                              : ": a name that a plan cannot have; rename it in the data\n");
        return;
    }
    tmi_text_put(yaml, "  ");
    tmi_yaml_put_text(yaml, column->name);
    if (column->type == TMI_HEADER_UNKNOWN) {
        tmi_text_put(yaml, ": " TAMIS_FILL_IN "\n");
        return;
    }
    tmi_text_put(yaml, ":\n");
    put_label(yaml, "    label: ", column->label);
    if (column->type == TMI_HEADER_NUMBER && value_count(column, set) == 0)
        tmi_text_put(yaml, "    from: " TAMIS_FILL_IN "\n    to: " TAMIS_FILL_IN "\n    step: " TAMIS_FILL_IN "\n");
    else tmi_text_put(yaml, "    values: [" TAMIS_FILL_IN "]\n");
    put_codes(yaml, column, set);
}

static void put_columns(tmi_text *yaml, const tmi_header *h)
{
    const bool types = h->columns[0].type != TMI_HEADER_UNKNOWN;
    tmi_text_put(
        yaml,
        "\n# What is public about each column that is used; delete the others. Take bounds and values from the questionnaire or "
        "from\n# regulations, never from the data. Values outside the bounds count as the nearest bound.\n"
        "#   a number:   {from: 0, to: 4000, step: 1, unit_of_measure: euro}; typical: 600 adds a public guess of the mean\n"
        "#   a category: {values: [a, b, c]}, or {values: {file: codes.csv}}\n"
        "# label is what the report calls the column.\n");
    if (!types)
        tmi_text_put(
            yaml, "# These names are the first line of the file. If they are data, the file has no header: delete this plan.\n");
    tmi_text_put(yaml, "columns:\n");
    size_t usable = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (usable == TMI_MAX_COLUMNS) {
            tmi_text_format(yaml, "  # and %zu more columns: a plan has at most %d\n", h->count - i, TMI_MAX_COLUMNS);
            break;
        }
        usable += is_readable(h->columns[i].name);
        put_column(yaml, h, &h->columns[i]);
    }
}

/* ---- the plan ---- */

static const char design[] =
    "\n# How the sample was drawn (`tamis explain designs`). Sizes are public. One of\n"
    "#   {srs: {population: 6194, sample: 200}}\n"
    "#   {stratified: {by: region, within: srs, strata: {north: {population: 900, sample: 30}, south: {population: 50, sample: "
    "50}}}}\n"
    "#   {cluster: {by: school, population: 400, sample: 40, smallest: 5, largest: 60}}\n"
    "#   {weights: {strata: region}, weight: w, max_weight: 1000}       (weights-only design)\n"
    "design: " TAMIS_FILL_IN
    "\n\n# Who is protected, and the privacy loss of one unit: epsilon 1 is a common choice, a smaller one protects more. If a "
    "unit\n# has several rows, add id: COLUMN and rows_per_unit: 9. `tamis explain settings` describes the other guarantees.\n"
    "privacy:\n  unit: " TAMIS_FILL_IN "\n  epsilon: " TAMIS_FILL_IN "\n";

static const char statistics[] =
    "\n# What is released. All tables share the epsilon above; `tamis check` shows the errors to expect.\n"
    "#   - {mean: income, by: region}\n#   - {total: income}\n#   - {share: {status: employed}, where: {age: {from: 16, to: "
    "64}}}\n"
    "statistics:\n  - count: units\n"
    "\n# The file that records what was spent, and the budget: what all releases of this survey together may ever spend.\n";

static void put_source(tmi_text *yaml, const tamis_init *init)
{
    tmi_text_put(yaml, init->connection ? "source:\n  postgres:\n    connection: " : "source:\n  file: ");
    const char *name = init->connection ? init->connection : init->source ? init->source : init->file;
    if (strcmp(name, TAMIS_FILL_IN) == 0) tmi_text_put(yaml, name);
    else tmi_yaml_put_text(yaml, name);
    if (init->table) tmi_text_put(yaml, init->connection ? "\n    table: " : "\n  table: ");
    if (init->table) tmi_yaml_put_text(yaml, init->table);
    tmi_text_put(yaml, "\n");
}

/* init NULL: the rows are a program's, and `caller` is their name. */
static tamis_status write_plan(char **text, const tmi_header *h, const tamis_init *init, const char *caller, tamis_error *err)
{
    tmi_text yaml;
    tmi_text_init(&yaml);
    if (init && init->schema) tmi_text_format(&yaml, "# yaml-language-server: $schema=%s\n", init->schema);
    tmi_text_put(&yaml, "# A plan to fill in: replace every " TAMIS_FILL_IN ", then run `tamis check` on this file. Keys are "
                        "described in docs/plan.md.\n"
                        "# It was written from the header of the data alone: no row was read.\n"
                        "tamis: 1\n\n# Names the sample; all releases of it share one account.\nsurvey: " TAMIS_FILL_IN "\n");
    if (h->label && is_readable(h->label)) put_label(&yaml, "title: ", h->label);
    else tmi_text_put(&yaml, "title: " TAMIS_FILL_IN "    # the heading of the report\n");
    if (init) {
        put_source(&yaml, init);
    } else {
        tmi_text_put(&yaml, "source:\n  caller: ");
        tmi_yaml_put_text(&yaml, caller);
        tmi_text_put(&yaml, "    # names the rows that the program brings\n");
    }
    tmi_text_put(&yaml, design);
    put_columns(&yaml, h);
    tmi_text_put(&yaml, statistics);
    tmi_text_put(&yaml, "ledger: tamis.ledger\nbudget: {epsilon: " TAMIS_FILL_IN "}\n");
    return tmi_text_take(text, &yaml, err);
}

/* The options of a caller, and the header that they name. */
static tamis_status read_header(tmi_header *h, tamis_init *how, const tamis_init *init, tamis_error *err)
{
    if (!init) return tmi_fail(err, TAMIS_INVALID, "init: NULL");
    tamis_status status = tmi_options_take(how, sizeof *how, init, "init", err);
    if (status != TAMIS_OK) return status;
    if (!how->file && !how->connection) return tmi_fail(err, TAMIS_INVALID, "file: NULL");
    if (how->connection && (how->file || !how->table))
        return tmi_fail(err, TAMIS_INVALID, "table: must be given with the connection, and no file");
    const tmi_plan_allowed places = {how->root, how->also};
    if (how->file && how->root && !tmi_is_within(&places, how->file))
        return tmi_fail(err, TAMIS_INVALID, "file: is outside of the folder that files may be in here, or no regular file");
    if (how->connection && how->root && !tmi_is_plain_connection(how->connection))
        return tmi_fail(err, TAMIS_INVALID, "connection: %s", TMI_PLAIN_CONNECTION);
    if (how->connection && tmi_has_password(how->connection))
        return tmi_fail(err, TAMIS_INVALID,
                        "connection: must be without a password, e.g. service=survey: a plan is public, and a password "
                        "belongs in libpq's service or password file");
    return how->connection ? tmi_header_postgres(h, how->connection, how->table, err)
                           : tmi_header_read(h, how->file, how->table, err);
}

tamis_status tamis_init_yaml(char **text, const tamis_init *init, tamis_error *err)
{
    tmi_header h = {0};
    tamis_init how;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    tamis_status status = read_header(&h, &how, init, err);
    if (status == TAMIS_OK) status = write_plan(text, &h, &how, NULL, err);
    tmi_header_clear(&h);
    return status;
}

/* ---- the header by itself ---- */

/* A text of the file: what is no UTF-8 becomes ?, what cannot be seen <U+202E>. */
static void put_clean(tmi_json_out *out, const char *key, const char *text)
{
    tmi_text clean;
    tmi_text_init(&clean);
    if (text) put_shown(&clean, text);
    tmi_json_add_taken(out, key, &clean);
}

static void put_header_column(tmi_json_out *out, const tmi_header *h, const tmi_header_column *column)
{
    static const char *const types[] = {[TMI_HEADER_UNKNOWN] = NULL,
                                        [TMI_HEADER_NUMBER] = "number",
                                        [TMI_HEADER_TEXT] = "text",
                                        [TMI_HEADER_DATE] = "date",
                                        [TMI_HEADER_OTHER] = "other"};
    const tmi_header_set *set = tmi_header_set_of(h, column);
    tmi_json_open(out, '{');
    put_clean(out, "name", column->name);
    tmi_json_add_string(out, "type", types[column->type]);
    put_clean(out, "label", column->label);
    tmi_json_add_open(out, "codes", '[');
    for (size_t i = 0; set && i < set->count; i++) {
        tmi_json_open(out, '{');
        put_clean(out, "code", set->codes[i].code);
        put_clean(out, "label", set->codes[i].label);
        tmi_json_add_boolean(out, "missing", tmi_header_is_missing(column, &set->codes[i]));
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

tamis_status tamis_header_json(char **json, const tamis_init *init, tamis_error *err)
{
    tmi_header h = {0};
    tamis_init how;
    tmi_json_out out;
    tmi_text text;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tamis_status status = read_header(&h, &how, init, err);
    if (status == TAMIS_OK) {
        tmi_json_open(&out, '{');
        put_clean(&out, "label", h.label);
        tmi_json_add_open(&out, "columns", '[');
        for (size_t i = 0; i < h.count; i++) put_header_column(&out, &h, &h.columns[i]);
        tmi_json_close(&out, ']');
        tmi_json_close(&out, '}');
        status = tmi_text_take(json, &text, err);
    }
    tmi_header_clear(&h);
    return status;
}

tamis_status tamis_init_columns_yaml(char **text, const struct ArrowSchema *schema, const char *caller, tamis_error *err)
{
    tmi_header h = {0};
    tamis_status status;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (caller && !is_readable(caller)) return tmi_fail(err, TAMIS_INVALID, "caller: expected a name that people can read");
    TMI_TRY(tmi_header_arrow(&h, schema, err));
    TMI_TRY(write_plan(text, &h, NULL, caller ? caller : TAMIS_FILL_IN, err));

done:
    tmi_header_clear(&h);
    return status;
}
