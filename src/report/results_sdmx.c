/* release.sdmx.csv: the results in SDMX-CSV 2.0, for systems that exchange statistics. One row per number; a grouping that a
 * statistic does not have is its total (_T), a dimension that it does not know is not applicable (_Z).
 *
 * OBS_STATUS and CONF_STATUS have the codes of SDMX's cross-domain lists. Status: A normal, U low reliability (the quality
 * flags E and F), Q withheld by a rule of the plan, O otherwise missing. Confidentiality: F free for publication, since the
 * noise is in the number already; N of what was withheld. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "report/report_words.h"
#include "report/result_columns.h"
#include "report/results.h"

/* The identifier of each role; NULL: it is not written, or written with the others at the end. */
static const char *const dimensions[] = {[TMI_ROLE_STATISTIC] = "STATISTIC",
                                         [TMI_ROLE_COLUMN] = "VARIABLE",
                                         [TMI_ROLE_WHERE] = "DOMAIN",
                                         [TMI_ROLE_CONTRAST] = "CONTRAST",
                                         [TMI_ROLE_TERM] = "TERM",
                                         [TMI_ROLE_AT] = "QUANTILE",
                                         [TMI_ROLE_LINE] = "LINE"};
static const char *const measures[] = {[TMI_ROLE_ESTIMATE] = "OBS_VALUE",
                                       [TMI_ROLE_SE] = "STD_ERROR",
                                       [TMI_ROLE_SAMPLING_SE] = "SAMPLING_ERROR",
                                       [TMI_ROLE_NOISE_SD] = "NOISE_SD",
                                       [TMI_ROLE_LOWER] = "LOWER_LIMIT",
                                       [TMI_ROLE_UPPER] = "UPPER_LIMIT",
                                       [TMI_ROLE_CONFIDENCE] = "CONFIDENCE",
                                       [TMI_ROLE_DF] = "DF",
                                       [TMI_ROLE_CV] = "CV",
                                       [TMI_ROLE_P] = "P_VALUE"};

/* An identifier of SDMX: letters, digits, _ and -, a letter first. */
static void put_identifier(tmi_text *csv, const char *name)
{
    if (!isalpha((unsigned char)name[0])) tmi_text_put(csv, "X_");
    for (const char *c = name; *c; c++) {
        const char letter = isalnum((unsigned char)*c) || *c == '-' ? (char)toupper((unsigned char)*c) : '_';
        tmi_text_add(csv, &letter, 1);
    }
}

/* The identifier of a grouping. Two names may become one, and a name may be one of ours: then the number of the column ends
 * it. */
static void put_group_identifier(tmi_text *csv, const tmi_result_columns *columns, size_t which)
{
    tmi_text own, other;
    bool taken = false;
    tmi_text_init(&own);
    put_identifier(&own, columns->list[which].name);
    static const char *const words[] = {"STRUCTURE",  "STRUCTURE_ID", "ACTION",      "TIME_PERIOD", "UNIT_MEASURE",
                                        "OBS_STATUS", "CONF_STATUS",  "COMMENT_OBS", NULL};
    taken = !own.failed && tmi_is_one_of(own.bytes, words);
    for (size_t c = 0; !taken && !own.failed && c < columns->count; c++) {
        const tmi_column_role role = columns->list[c].role;
        tmi_text_init(&other);
        if (role == TMI_ROLE_GROUP && c != which) put_identifier(&other, columns->list[c].name);
        else if (role < TMI_ROLE_ESTIMATE && dimensions[role]) tmi_text_put(&other, dimensions[role]);
        else if (role <= TMI_ROLE_P && measures[role]) tmi_text_put(&other, measures[role]);
        taken = other.bytes && strcmp(other.bytes, own.bytes) == 0;
        own.failed = own.failed || other.failed;
        tmi_text_clear(&other);
    }
    if (own.failed) csv->failed = true;
    else tmi_text_format(csv, taken ? "%s_%zu" : "%s", own.bytes, which);
    tmi_text_clear(&own);
}

static bool is_dimension(tmi_column_role role) { return role < TMI_ROLE_ESTIMATE; }
static bool is_measure(tmi_column_role role) { return role >= TMI_ROLE_ESTIMATE && role <= TMI_ROLE_P; }

/* Quantiles and lines are dimensions where some statistic has them. */
static bool is_written(const tmi_results_column *c, size_t rows)
{
    if (c->role == TMI_ROLE_AT || c->role == TMI_ROLE_LINE) return c->nulls < (int64_t)rows;
    return is_dimension(c->role) || is_measure(c->role);
}

static void put_heading(tmi_text *csv, const tmi_results *r, const tmi_result_columns *columns)
{
    tmi_text_put(csv, "STRUCTURE,STRUCTURE_ID,ACTION");
    if (r->plan->wave.name) tmi_text_put(csv, ",TIME_PERIOD");
    for (size_t c = 0; c < columns->count; c++) {
        const tmi_column_role role = columns->list[c].role;
        if (!is_written(&columns->list[c], columns->rows)) continue;
        tmi_text_put(csv, ",");
        if (role == TMI_ROLE_GROUP) put_group_identifier(csv, columns, c);
        else tmi_text_put(csv, is_dimension(role) ? dimensions[role] : measures[role]);
    }
    tmi_text_put(csv, ",UNIT_MEASURE,OBS_STATUS,CONF_STATUS,COMMENT_OBS\n");
}

static void put_value(tmi_text *csv, const tmi_results_column *c, size_t row)
{
    tmi_text_put(csv, ",");
    if (!tmi_column_has(c, row)) {
        if (c->role == TMI_ROLE_GROUP || c->role == TMI_ROLE_WHERE) tmi_text_put(csv, "_T");
        else if (is_dimension(c->role)) tmi_text_put(csv, "_Z");
    } else if (c->is_text) {
        size_t length;
        const char *text = tmi_column_text(&length, c, row);
        tmi_csv_field(csv, "", text, length);
    } else if (isfinite(c->numbers[row])) tmi_text_real(csv, c->numbers[row]);
}

/* "euro", "euro per person"; units are counted in units, and shares have no unit. */
static void put_unit(tmi_text *csv, const tmi_plan_statistic *s, const tamis_plan *plan)
{
    const char *counted = tmi_counts_rows(plan) ? "rows" : plan->privacy.unit;
    tmi_text unit;
    tmi_text_init(&unit);
    tmi_statistic_unit(&unit, s);
    tmi_text_put(csv, ",");
    if (unit.failed) csv->failed = true;
    else if (unit.length > 3) tmi_csv_field(csv, "", unit.bytes + 2, unit.length - 3); /* without " (" and ")" */
    else if (!s->column && !s->contrast) tmi_csv_field(csv, "", counted, strlen(counted));
    else if (s->kind == TMI_SHARE || s->kind > TMI_IQR) tmi_text_put(csv, "PURE_NUMB");
    tmi_text_clear(&unit);
}

static const char *status_of(const tmi_results *r, const tmi_result *x)
{
    if (isnan(x->estimate)) return x->withheld ? "Q" : "O";
    return tmi_quality(r->plan, x) ? "U" : "A";
}

tamis_status tmi_results_sdmx_csv(char **text, const tmi_results *r, tamis_error *err)
{
    tmi_result_columns columns;
    tmi_text csv, structure;
    tmi_text_init(&csv);
    csv.watch = r->schedule->watch;
    tmi_text_init(&structure);
    put_identifier(&structure, r->plan->survey);
    if (!tmi_result_columns_make(&columns, r) || structure.failed) csv.failed = true;
    else put_heading(&csv, r, &columns);
    for (size_t i = 0; i < r->count && !csv.failed; i++) {
        const tmi_result *x = &r->list[i];
        tmi_text_format(&csv, "dataflow,TAMIS:%s(1.0),I", structure.bytes);
        if (r->plan->wave.name) {
            tmi_text_put(&csv, ",");
            tmi_csv_field(&csv, "", r->plan->wave.name, strlen(r->plan->wave.name));
        }
        for (size_t c = 0; c < columns.count; c++)
            if (is_written(&columns.list[c], columns.rows)) put_value(&csv, &columns.list[c], i);
        put_unit(&csv, &r->plan->statistics[x->statistic], r->plan);
        tmi_text_format(&csv, ",%s,%s", status_of(r, x), x->withheld ? "N" : "F");
        for (size_t c = 0; c < columns.count; c++)
            if (columns.list[c].role == TMI_ROLE_NOTES) put_value(&csv, &columns.list[c], i);
        tmi_text_put(&csv, "\n");
    }
    tmi_text_clear(&structure);
    tmi_result_columns_clear(&columns);
    return tmi_text_take(text, &csv, err);
}
