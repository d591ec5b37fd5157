/* What the sections of a plan must say about each other. Each check looks at what is in the file, so that all of them
 * can be reported at once, also beside errors inside the sections.                                                       */
#include <string.h>

#include "plan/outsiders.h"
#include "plan/private_bounds.h"
#include "plan/sections.h"

/* The value under a key of a section; NULL if there is none. */
static const tmi_value *find(const tmi_value *root, const char *section, const char *key)
{
    const tmi_value *map = tmi_value_get(root, section);
    return map && map->kind == TMI_VALUE_MAP ? tmi_value_get(map, key) : NULL;
}

/* What the rows of a unit add together is bounded only where it may have several, which were drawn with it. */
static void check_unit_contributions(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    const tmi_value *columns = tmi_value_get(root, "columns");
    const bool several = plan->privacy.rows_per_unit > 1;
    if (!columns || columns->kind != TMI_VALUE_MAP || (several && tmi_counts_rows(plan))) return;
    for (const tmi_value *column = tmi_value_first(columns); column; column = tmi_value_next(column)) {
        const tmi_value *key = column->kind == TMI_VALUE_MAP ? tmi_value_get(column, "unit_contribution") : NULL;
        if (key)
            tmi_complain_key(reader, key,
                             several ? "not with replacement: the rows of a unit are its draws, which count one by one"
                                     : "not needed: a unit has several rows only with `id` and `rows_per_unit` above 1 under "
                                       "privacy, and `contribution` bounds what a single one adds");
    }
}

static void check_units(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    const tmi_value *id = find(root, "privacy", "id"), *rows = find(root, "privacy", "rows_per_unit"),
                    *sharded = find(root, "source", "sharded_by"), *postgres = find(root, "source", "postgres"),
                    *design = tmi_value_get(root, "design");
    if (rows && !id)
        tmi_complain_key(reader, rows,
                         "expected the key id with it: the column that identifies the unit of a row, e.g. id: household_id");
    if (sharded && !id) tmi_complain_key(reader, sharded, "expected the key id under privacy: without it every row is a unit");
    else if (sharded && sharded->kind == TMI_VALUE_TEXT && strcmp(sharded->text, "id") != 0 &&
             (id->kind != TMI_VALUE_TEXT || strcmp(sharded->text, id->text) != 0))
        tmi_complain(reader, sharded, "expected id: all rows of a unit are in one part");
    if (id && !sharded && plan->source.connection_count > 1)
        tmi_complain_key(
            reader, postgres,
            "expected sharded_by: id with several connections; it declares that all rows of a unit are in one of them");
    if (!design) return;
    if (plan->design.max_unit_weight && plan->privacy.rows_per_unit < 2)
        tmi_complain_key(reader, find(root, "design", "max_unit_weight"),
                         "not needed: a unit has several rows only with `id` and `rows_per_unit` above 1 under privacy, and "
                         "max_weight bounds a single one");
    check_unit_contributions(reader, root, plan);
    if (plan->design.frame && !id)
        tmi_complain_key(reader, design,
                         "expected the key id under privacy: rows are matched with the frame by it, e.g. id: school_id");
    if (plan->design.kind->with_replacement && (!id || !rows))
        tmi_complain_key(reader, design,
                         "expected the keys id and rows_per_unit under privacy: with replacement a unit may be drawn "
                         "several times, e.g. {id: school_id, rows_per_unit: 2}");
}

typedef enum coin { NO_COIN, EPSILON, EPSILON_DELTA, RHO } coin;

static coin coin_of(const tmi_value *root, const char *section)
{
    if (find(root, section, "rho")) return RHO;
    if (!find(root, section, "epsilon")) return NO_COIN;
    return find(root, section, "delta") ? EPSILON_DELTA : EPSILON;
}

/* A pure epsilon is a loss of every kind; rho converts at the cap of an approximate budget. */
static void check_coins(tmi_reader *reader, const tmi_value *root)
{
    coin loss = coin_of(root, "privacy"), budget = coin_of(root, "budget");
    if (loss == NO_COIN || budget == NO_COIN || loss == budget || loss == EPSILON) return;
    if (loss == RHO && budget == EPSILON_DELTA) return;
    tmi_complain_key(reader, tmi_value_get(root, "budget"),
                     loss == RHO ? "expected a budget to which rho can be charged, e.g. {rho: 1} or {epsilon: 4, delta: 1e-6}"
                                 : "expected a budget to which epsilon and delta can be charged, e.g. {epsilon: 4, delta: 1e-6}");
}

static bool is_total(const tmi_plan_statistic *s)
{
    const tmi_statistic_kind kind = s->contrast ? s->contrast->compared[0].kind : s->kind;
    return kind == TMI_COUNT || kind == TMI_TOTAL || kind == TMI_TABLE || kind == TMI_HISTOGRAM;
}

/* Without the population's size the total of those who answered is not that of the population. */
static void check_statistics(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    const tmi_value *list = tmi_value_get(root, "statistics"), *item = list ? tmi_value_first(list) : NULL;
    const tmi_plan_design *design = &plan->design;
    for (size_t i = 0; i < plan->asked_count && item; i++, item = tmi_value_next(item)) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        if (design->nonresponse && is_total(s) && !tmi_value_get(root, "calibrate"))
            tmi_complain(reader, item,
                         "expected a mean, share, ratio, variance or quantile: with nonresponse, totals and counts need "
                         "calibrate");
        if (s->contrast && tmi_value_get(root, "calibrate"))
            tmi_complain(reader, item,
                         "expected a plan without calibrate: how calibrated numbers vary together is not known, so that a "
                         "contrast of them has no interval");
        if ((s->model || s->kind == TMI_CORRELATION) && tmi_value_get(root, "calibrate"))
            tmi_complain(reader, item,
                         "expected a plan without calibrate: how calibrated numbers vary together is not known, so that a "
                         "correlation or regression of them has no interval");
        if (tmi_by_size(s) && (design->population == 0 || design->kind->clusters || design->nonresponse || s->where ||
                               s->by_count > 0 || tmi_counts_rows(plan)))
            tmi_complain(reader, tmi_value_get(item, "method"),
                         "expected ratio: the number of units in the denominator is not public");
    }
}

void tmi_check_sections(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    check_units(reader, root, plan);
    check_coins(reader, root);
    tmi_check_targets(reader, root, plan);
    check_statistics(reader, root, plan);
    tmi_check_relative_bounds(reader, root, plan);
    tmi_check_private_bounds(reader, root, plan);
    if (plan->design.stratum_count > 0 && !plan->design.doubtful) tmi_check_typical(reader, tmi_value_get(root, "design"), plan);
}
