/* What a row adds to a measure, in SQL. */
#include <math.h>

#include "engine/sql/sql.h"

/* The i-th column that must not be missing: the factors, then the others. NULL: none there. */
static const tmi_column *needed(const tmi_measure *measure, size_t i)
{
    return i < measure->factor_count ? measure->factors[i].column : measure->present[i - measure->factor_count];
}

static bool has_conditions(const tmi_measure *measure)
{
    bool some = measure->where;
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++) some = some || measure->present[p];
    return some;
}

static void put_present(tmi_text *sql, const tmi_layout *layout, const tmi_measure *measure)
{
    const char *and = "";
    for (size_t i = 0; i < measure->factor_count + TMI_MAX_PRESENT; i++) {
        const tmi_column *column = needed(measure, i);
        bool again = !column;
        for (size_t j = 0; j < i; j++) again = again || needed(measure, j) == column;
        if (again) continue;
        tmi_text_format(sql, "%sv%zu IS NOT NULL", and, tmi_layout_index(layout, column));
        and = " AND ";
    }
    if (measure->where) tmi_text_format(sql, "%sv%zu = 1", and, tmi_layout_index(layout, measure->where));
}

static void put_factor(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor *factor,
                       bool as_double)
{
    const size_t c = tmi_layout_index(layout, factor->column);
    if (as_double) tmi_sql_before(sql, dialect->as_real);
    if (factor->minus == 0) {
        tmi_text_format(sql, "v%zu", c);
    } else {
        tmi_text_format(sql, "(v%zu - ", c);
        tmi_sql_integer(sql, dialect, factor->minus);
        tmi_text_put(sql, ")");
    }
    if (as_double) tmi_sql_after(sql, dialect->as_real);
}

/* How a row's term is computed, from the public ranges of the columns. Products below 2^52 are computed as integers, others as
 * doubles. The latter never leave the range of doubles: see TMI_ENGINE_MAX_SHIFT. */
typedef struct term {
    bool is_integer, is_clamped;
    double largest; /* in size, at most */
} term;

static term term_of(const tmi_measure *measure, const tmi_dialect *dialect)
{
    double bound = 1, least = 1, most = 1; /* exact up to 2^52, so a bound up to there is valid */
    for (size_t f = 0; f < measure->factor_count; f++) {
        int64_t low, high;
        tmi_point_range(&low, &high, measure->factors[f].column);
        const double a = (double)(low - measure->factors[f].minus), b = (double)(high - measure->factors[f].minus);
        const double ends[] = {least * a, least * b, most * a, most * b};
        bound *= fmax(fmax(fabs(a), fabs(b)), 1);
        least = fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3]));
        most = fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]));
    }
    const bool is_integer = bound <= (double)TMI_MAX_GRID && measure->shift <= (dialect->shifts ? 52 : 0);
    const double high = floor(ldexp(most, -measure->shift) + 0.5), low = floor(ldexp(least, -measure->shift) + 0.5);
    /* The ends are computed as the product of a row is, factor by factor, and every operation keeps the order of its operands
     * after rounding: a row's term is between them, be it computed in integers or in doubles. */
    const bool is_clamped = (!is_integer && !dialect->inlines) || high > (double)measure->high || low < (double)measure->low;
    return (term){is_integer, is_clamped,
                  is_clamped ? fmax(fabs((double)measure->low), fabs((double)measure->high)) : fmax(fabs(low), fabs(high))};
}

/* The product of doubles from the last shared node on. */
static void put_doubles(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor_trees *trees,
                        const tmi_measure *measure)
{
    size_t nodes[TMI_MAX_FACTORS], node = TMI_NO_NODE, first = 0;
    for (size_t f = 0; f < measure->factor_count; f++) {
        if (trees && (f == 0 || node != TMI_NO_NODE)) node = tmi_factor_node_after(trees, node, &measure->factors[f]);
        nodes[f] = node;
        if (node != TMI_NO_NODE && tmi_is_shared_node(trees, node)) first = f;
    }
    if (first > 0) tmi_text_format(sql, "p%zu", nodes[first]);
    for (size_t f = first > 0 ? first + 1 : 0; f < measure->factor_count; f++) {
        const size_t factor = nodes[f] == TMI_NO_NODE ? 0 : trees->nodes[nodes[f]].factor;
        tmi_text_put(sql, f > 0 ? " * " : "");
        if (nodes[f] != TMI_NO_NODE && tmi_is_shared_factor(trees, factor)) tmi_text_format(sql, "d%zu", factor);
        else put_factor(sql, dialect, layout, &measure->factors[f], true);
    }
}

/* An end of the range of a term. */
static void put_end(tmi_text *sql, const tmi_dialect *dialect, int64_t value, term how)
{
    if (!how.is_integer) tmi_sql_before(sql, dialect->as_real);
    tmi_sql_integer(sql, dialect, value);
    if (!how.is_integer) tmi_sql_after(sql, dialect->as_real);
}

static void put_term(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor_trees *trees,
                     const tmi_measure *measure, term how)
{
    if (!how.is_integer) tmi_sql_before(sql, dialect->as_integer);
    if (!how.is_integer) tmi_text_put(sql, "floor(");
    if (how.is_clamped) tmi_text_put(sql, "least(greatest(");
    if (measure->shift > 0) tmi_text_put(sql, "(");
    if (!how.is_integer) put_doubles(sql, dialect, layout, trees, measure);
    for (size_t f = 0; how.is_integer && f < measure->factor_count; f++) {
        tmi_text_put(sql, f > 0 ? " * " : "");
        put_factor(sql, dialect, layout, &measure->factors[f], false);
    }
    if (how.is_integer && measure->shift > 0) {
        tmi_text_put(sql, " + ");
        tmi_sql_integer(sql, dialect, INT64_C(1) << (measure->shift - 1));
        tmi_text_format(sql, ") >> %d", measure->shift);
    } else if (!how.is_integer) {
        if (measure->shift > 0) tmi_text_put(sql, ") * ");
        if (measure->shift > 0) tmi_sql_real(sql, dialect, ldexp(1, -measure->shift));
        tmi_text_put(sql, " + ");
        tmi_sql_real(sql, dialect, 0.5);
    }
    if (how.is_clamped) {
        tmi_text_put(sql, ", ");
        put_end(sql, dialect, measure->low, how);
        tmi_text_put(sql, "), ");
        put_end(sql, dialect, measure->high, how);
        tmi_text_put(sql, ")");
    }
    if (!how.is_integer) tmi_text_put(sql, ")");
    if (!how.is_integer) tmi_sql_after(sql, dialect->as_integer);
}

void tmi_sql_product(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, size_t c)
{
    const tmi_column *column = layout->columns[c];
    const tmi_measure measure = tmi_product_measure(column);
    tmi_text_put(sql, "CASE WHEN ");
    put_present(sql, layout, &measure);
    tmi_text_put(sql, " THEN ");
    put_term(sql, dialect, layout, NULL, &measure, term_of(&measure, dialect));
    if (column->has_instead) {
        tmi_text_put(sql, " ELSE ");
        tmi_sql_integer(sql, dialect, column->instead);
    }
    tmi_text_put(sql, " END");
}

/* A sum of ints is a bigint, which a server keeps in its table of groups and adds up without a look at the overflow; one
 * of bigints is kept elsewhere, which takes longer where there are many groups. */
static bool fits_int(const tmi_dialect *dialect, term how, int64_t rows)
{
    return dialect->as_term && rows > 0 && how.largest <= INT32_MAX && how.largest * (double)rows <= 0x1p62;
}

/* Whether a sum may be beyond 2^62. Its rows may be more than were counted, if the table grows meanwhile: of all integers of 64
 * bits half are left for them. */
static bool is_large(term how, int64_t rows) { return how.largest * (double)(rows > 0 ? rows : TMI_MAX_ROWS) > 0x1p62; }

void tmi_sql_sum(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor_trees *trees,
                 const tmi_measure *measure, int64_t rows)
{
    if (measure->factor_count > 0) {
        /* A product with NULL is NULL; only a clamp would turn it into a number. */
        const term how = term_of(measure, dialect);
        const bool tested = how.is_clamped || has_conditions(measure), is_int = fits_int(dialect, how, rows);
        const char *as = is_int ? dialect->as_term : dialect->as_wide && is_large(how, rows) ? dialect->as_wide : "$";
        tmi_text_put(sql, "sum(");
        tmi_sql_before(sql, as);
        tmi_text_put(sql, tested ? "CASE WHEN " : "");
        if (tested) put_present(sql, layout, measure);
        if (tested) tmi_text_put(sql, " THEN ");
        put_term(sql, dialect, layout, trees, measure, how);
        tmi_text_put(sql, tested ? " END" : "");
        tmi_sql_after(sql, as);
        tmi_text_put(sql, ")");
    } else if (has_conditions(measure)) {
        tmi_text_put(sql, dialect->has_filter ? "count(*) FILTER (WHERE " : "count(CASE WHEN ");
        put_present(sql, layout, measure);
        tmi_text_put(sql, dialect->has_filter ? ")" : " THEN 1 END)");
    } else {
        tmi_text_put(sql, "count(*)");
    }
}

/* ---- what sums share ---- */

/* Whether an equal measure comes before measure m of table t. */
static bool is_repeated(const tmi_request *request, size_t t, size_t m)
{
    const tmi_measure *measure = &request->tables[t].measures[m];
    for (size_t u = 0; u <= t; u++)
        for (size_t k = 0; k < (u < t ? request->tables[u].measure_count : m); k++)
            if (tmi_same_measure(&request->tables[u].measures[k], measure)) return true;
    return false;
}

/* Factors of all sums. With fewer, one more step costs more than it saves. */
#define MANY_FACTORS 32

tamis_status tmi_sql_share(tmi_factor_trees *trees, const tmi_dialect *dialect, const tmi_layout *layout, tamis_error *err)
{
    const tmi_request *request = layout->request;
    size_t names = layout->column_count, factors = 0, node;
    *trees = (tmi_factor_trees){0};
    if (dialect->inlines) return TAMIS_OK;
    for (size_t t = 0; t < request->table_count; t++)
        for (size_t m = 0; m < request->tables[t].measure_count; m++) {
            const tmi_measure *measure = &request->tables[t].measures[m];
            if (measure->factor_count == 0 || term_of(measure, dialect).is_integer || is_repeated(request, t, m)) continue;
            if (!tmi_factor_trees_add(&node, trees, measure)) return tmi_fail_memory(err);
            factors += measure->factor_count;
        }
    for (size_t i = 0; i < trees->factor_count; i++) names += tmi_is_shared_factor(trees, i);
    for (size_t i = 0; i < trees->node_count; i++) names += tmi_is_shared_node(trees, i);
    if (factors < MANY_FACTORS || names > TMI_SQL_ENTRIES) tmi_factor_trees_clear(trees);
    return TAMIS_OK;
}

void tmi_sql_shared(tmi_text *sql, const tmi_dialect *dialect, const tmi_layout *layout, const tmi_factor_trees *trees,
                    char letter, size_t i)
{
    size_t factors[TMI_MAX_FACTORS], count = 0;
    if (letter == 'd') factors[count++] = i;
    for (size_t node = i; letter == 'p' && node != TMI_NO_NODE; node = trees->nodes[node].before)
        factors[count++] = trees->nodes[node].factor;
    tmi_text_put(sql, ", ");
    while (count-- > 0) {
        put_factor(sql, dialect, layout, &trees->factors[factors[count]], true);
        tmi_text_put(sql, count > 0 ? " * " : "");
    }
    tmi_text_format(sql, " AS %c%zu", letter, i);
}
