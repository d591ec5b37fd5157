/* correlation, regression: the columns of a model, and the terms whose coefficients are asked for.
 *
 * A category with k values is k - 1 terms, each the difference between a value and the baseline; a number is one term; two
 * categories that interact are one term more for each pair of values other than the baselines. The intercept comes first.
 * Numbers are in linear models alone: what a logistic or Poisson model needs of an uncut number is no sum over rows that could be
 * measured before its coefficients are known. */
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "plan/sections.h"

static const char example[] = "{of: income, on: [age, sex, region]}";

/* A model measures products of its columns on one public grid. */
static bool fits(tmi_reader *reader, const tmi_value *value, const tmi_plan_column *column)
{
    if (!column) return false;
    if (tmi_has_contributions(column))
        tmi_complain(reader, value, "expected a column without `contribution` and without {times, of}: they bound totals alone");
    else if (column->by_stratum) tmi_complain(reader, value, "expected a column with one range for all strata");
    else return true;
    return false;
}

/* Whether two columns of a model would be the same variable, or one made from the other. */
static const tmi_plan_column *source_of(const tmi_plan_column *column) { return column->cut_of ? column->cut_of : column; }

static bool is_made_from(const tmi_plan_column *indicator, const tmi_plan_column *column)
{
    for (size_t k = 0; k < indicator->condition_count; k++)
        if (indicator->conditions[k].column == source_of(column)) return true;
    return source_of(indicator) == source_of(column);
}

/* ---- correlation ---- */

void tmi_read_correlation(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_statistic *s)
{
    if (value->kind != TMI_VALUE_LIST || value->count != 2) {
        tmi_complain(reader, value, "expected two numbers, e.g. [income, age]");
        return;
    }
    const tmi_value *first = tmi_value_first(value), *second = tmi_value_next(first);
    for (const tmi_value *item = first; item; item = tmi_value_next(item)) {
        if (item->kind != TMI_VALUE_MAP) continue;
        tmi_complain(reader, item, "expected a column of numbers, e.g. enroll: a correlation takes no indicators");
        return;
    }
    s->column = tmi_read_number(reader, first, plan);
    s->second = tmi_read_number(reader, second, plan);
    if (!fits(reader, first, s->column) || !fits(reader, second, s->second)) return;
    if (s->column == s->second)
        tmi_complain(reader, value, "expected two different columns: the correlation of a column with itself is 1");
    for (size_t k = 0; k < s->by_count; k++)
        if (s->by[k]->cut_of && (s->by[k]->cut_of == s->column || s->by[k]->cut_of == s->second))
            tmi_complain(reader, value, "%s is correlated and cannot be cut in `by` too", s->by[k]->name);
    tmi_plan_contrast *c = s->contrast = tmi_alloc(1, sizeof *c);
    if (c) c->terms = tmi_alloc(1, sizeof *c->terms);
    if (!c || !c->terms || tmi_number_ratio(&c->terms[0].weight, 1, 1, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return;
    }
    c->compared[0] = (tmi_plan_compared){.kind = TMI_PRODUCTS, .column = s->column, .second = s->second};
    c->compared_count = c->term_count = 1;
}

/* ---- what a regression is of, and on what ---- */

/* A model with what was read of it so far. */
typedef struct draft {
    tamis_plan *plan;
    tmi_plan_statistic *statistic;
    const tmi_value *on, *interactions;
} draft;

static void read_of(tmi_reader *reader, const tmi_value *value, void *target)
{
    const draft *d = target;
    const tmi_plan_column *column = tmi_read_number_column(reader, value, d->plan);
    if (fits(reader, value, column)) d->statistic->column = column;
}

static void read_on(tmi_reader *reader, const tmi_value *value, void *target)
{
    (void)reader;
    ((draft *)target)->on = value;
}

static void read_interactions(tmi_reader *reader, const tmi_value *value, void *target)
{
    (void)reader;
    ((draft *)target)->interactions = value;
}

static void read_family(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char *const words[] = {"linear", "logistic", "poisson"};
    size_t i;
    if (tmi_read_word(reader, value, &i, words, 3)) ((draft *)target)->statistic->model->family = (tmi_model_family)i;
}

/* A number or category by its name, or cuts: {age: [30, 50]}. */
static const tmi_plan_column *read_predictor(tmi_reader *reader, const tmi_value *value, const draft *d)
{
    if (value->kind == TMI_VALUE_MAP) {
        const tmi_value *cuts = value->count == 1 ? tmi_value_first(value) : NULL;
        const tmi_plan_column *number = cuts ? tmi_plan_find_column(d->plan, tmi_value_key(cuts)) : NULL;
        if (!cuts) tmi_complain(reader, value, "expected cuts of one number, e.g. {age: [30, 50]}");
        else if (!number) tmi_complain_column(reader, cuts, d->plan, tmi_value_key(cuts), true);
        return number ? tmi_read_cuts(reader, cuts, d->plan, number) : NULL;
    }
    char *name = NULL;
    if (!tmi_read_text(reader, value, &name, "age")) return NULL;
    const tmi_plan_column *column = tmi_plan_find_column(d->plan, name);
    if (!column) tmi_complain_column(reader, value, d->plan, name, true);
    tmi_free(name);
    return column;
}

static bool belongs(tmi_reader *reader, const tmi_value *value, const draft *d, const tmi_plan_column *column)
{
    const tmi_plan_statistic *s = d->statistic;
    const tmi_plan_model *m = s->model;
    if (!column || !fits(reader, value, column)) return false;
    for (size_t k = 0; k < m->on_count; k++) {
        if (source_of(m->on[k]) != source_of(column)) continue;
        tmi_complain(reader, value,
                     m->on[k] == column ? "duplicate in `on`" : "is in `on` twice: as a number and cut, or cut twice");
        return false;
    }
    for (size_t k = 0; k < s->by_count; k++) {
        if (source_of(s->by[k]) != source_of(column)) continue;
        tmi_complain(reader, value, "is in `by` too, and does not vary within a group: leave it out here, or there");
        return false;
    }
    if (s->column && is_made_from(s->column, column)) {
        tmi_complain(reader, value, "is what the model explains, or what that is made from: leave it out");
        return false;
    }
    if (column->is_category && column->value_count < 2) {
        tmi_complain(reader, value, "expected a category with two or more values: one value is the same for all rows");
        return false;
    }
    if (column->is_number && m->family != TMI_LINEAR) {
        tmi_complain(reader, value,
                     "expected a category or cuts in a %s model: what an uncut number adds to it cannot be measured; write e.g. "
                     "{%s: [30, 50]}",
                     m->family == TMI_LOGISTIC ? "logistic" : "Poisson", column->name);
        return false;
    }
    return true;
}

static void read_predictors(tmi_reader *reader, const draft *d)
{
    tmi_plan_model *m = d->statistic->model;
    size_t categories = 0;
    if (d->on->kind != TMI_VALUE_LIST || d->on->count == 0 || d->on->count > TMI_MAX_PREDICTORS) {
        tmi_complain(reader, d->on, "expected a list of 1 to %d columns, e.g. [age, sex, region]", TMI_MAX_PREDICTORS);
        return;
    }
    for (const tmi_value *item = tmi_value_first(d->on); item; item = tmi_value_next(item)) {
        const tmi_plan_column *column = read_predictor(reader, item, d);
        if (!belongs(reader, item, d, column)) continue;
        categories += column->is_category;
        m->on[m->on_count++] = column;
    }
    if (d->statistic->by_count + categories > TMI_MAX_BY)
        tmi_complain(reader, d->on, "expected at most %d categories, with those of `by`", TMI_MAX_BY);
}

/* ---- interactions and baselines ---- */

/* The place of a category of the model, by its name; SIZE_MAX after a complaint. */
static size_t find_category(tmi_reader *reader, const tmi_value *value, const char *name, bool key, const tmi_plan_model *m)
{
    for (size_t k = 0; k < m->on_count; k++)
        if (strcmp(m->on[k]->name, name) == 0 && m->on[k]->is_category) return k;
    if (key) tmi_complain_key(reader, value, "expected a category, or a number that is cut, that is in `on`");
    else tmi_complain(reader, value, "expected a category, or a number that is cut, that is in `on`");
    return SIZE_MAX;
}

static bool read_pair(tmi_reader *reader, const tmi_value *value, tmi_plan_model *m)
{
    if (value->kind != TMI_VALUE_LIST || value->count != 2) {
        tmi_complain(reader, value, "expected two categories of the model, e.g. [sex, region]");
        return false;
    }
    size_t pair[2], k = 0;
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item), k++) {
        char *name = NULL;
        if (!tmi_read_text(reader, item, &name, "sex")) return false;
        pair[k] = find_category(reader, item, name, false, m);
        tmi_free(name);
        if (pair[k] == SIZE_MAX) return false;
    }
    if (pair[0] == pair[1]) {
        tmi_complain(reader, value, "expected two different categories");
        return false;
    }
    size_t *own = m->interactions[m->interaction_count];
    own[0] = pair[0] < pair[1] ? pair[0] : pair[1];
    own[1] = pair[0] < pair[1] ? pair[1] : pair[0];
    for (size_t i = 0; i < m->interaction_count; i++) {
        if (memcmp(m->interactions[i], own, sizeof *m->interactions) != 0) continue;
        tmi_complain(reader, value, "duplicate in `interactions`");
        return false;
    }
    m->interaction_count++;
    return true;
}

static void read_pairs(tmi_reader *reader, const tmi_value *value, tmi_plan_model *m)
{
    const size_t most = TMI_MAX_BY * (TMI_MAX_BY - 1) / 2;
    if (value->kind != TMI_VALUE_LIST || value->count == 0 || value->count > most) {
        tmi_complain(reader, value, "expected a list of pairs of categories, e.g. [[sex, region]]");
        return;
    }
    m->interactions = tmi_alloc(value->count, sizeof *m->interactions);
    if (!m->interactions) reader->no_memory = true;
    for (const tmi_value *item = tmi_value_first(value); item && m->interactions; item = tmi_value_next(item))
        if (!read_pair(reader, item, m)) return;
}

static void read_baseline(tmi_reader *reader, const tmi_value *value, tmi_plan_model *m)
{
    if (value->kind != TMI_VALUE_MAP || value->count == 0) {
        tmi_complain(reader, value,
                     "expected the value that others are compared with, of one or more categories, e.g. {region: north}");
        return;
    }
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        const size_t k = find_category(reader, item, tmi_value_key(item), true, m);
        const int32_t code = k == SIZE_MAX ? -1 : tmi_read_code(reader, item, m->on[k]);
        if (code >= 0) m->baseline[k] = (size_t)code;
    }
}

static void read_vif(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_model *m = target;
    if (tmi_read_exact(reader, value, &m->vif, "1.25") && tmi_number_compare_int(m->vif, 1) < 0)
        tmi_complain(reader, value, "expected a variance inflation factor of at least 1, e.g. 1.25");
}

static void read_r2(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_model *m = target;
    if (tmi_read_exact(reader, value, &m->r2, "0.3") && (tmi_number_sign(m->r2) < 0 || tmi_number_compare_int(m->r2, 1) >= 0))
        tmi_complain(reader, value, "expected a share of the variance from 0 to below 1, e.g. 0.3");
}

static void read_guesses(tmi_reader *reader, const tmi_value *value, tmi_plan_model *m)
{
    static const tmi_plan_key keys[] = {{.name = "vif", .read = read_vif}, {.name = "r2", .read = read_r2}};
    tmi_read_map(reader, value, keys, 2, "{vif: 1.25, r2: 0.3}", m);
}

/* ---- terms ---- */

/* Terms of a predictor, or of a pair: all values but the baseline. */
static size_t count_terms(const tmi_plan_model *m, size_t k) { return m->on[k]->is_number ? 1 : m->on[k]->value_count - 1; }

/* The value of a category's term `i`. */
static size_t code_of(const tmi_plan_model *m, size_t k, size_t i)
{
    if (m->on[k]->is_number) return SIZE_MAX;
    return i < m->baseline[k] ? i : i + 1;
}

static void make_terms(tmi_reader *reader, const tmi_value *value, tmi_plan_model *m)
{
    size_t count = 1;
    for (size_t k = 0; k < m->on_count; k++) count += count_terms(m, k);
    for (size_t i = 0; i < m->interaction_count; i++) {
        size_t more;
        if (__builtin_mul_overflow(count_terms(m, m->interactions[i][0]), count_terms(m, m->interactions[i][1]), &more) ||
            __builtin_add_overflow(count, more, &count))
            count = SIZE_MAX;
        if (count > TMI_MAX_COEFFICIENTS) break;
    }
    if (count > TMI_MAX_COEFFICIENTS) {
        tmi_complain(reader, value, "expected at most %d terms, one for each value of a category but its baseline",
                     TMI_MAX_COEFFICIENTS);
        return;
    }
    m->terms = tmi_alloc(count, sizeof *m->terms);
    if (!m->terms) {
        reader->no_memory = true;
        return;
    }
    m->terms[m->term_count++] = (tmi_model_term){{SIZE_MAX, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}};
    for (size_t k = 0; k < m->on_count; k++)
        for (size_t i = 0; i < count_terms(m, k); i++)
            m->terms[m->term_count++] = (tmi_model_term){{k, SIZE_MAX}, {code_of(m, k, i), SIZE_MAX}};
    for (size_t p = 0; p < m->interaction_count; p++) {
        const size_t a = m->interactions[p][0], b = m->interactions[p][1];
        for (size_t i = 0; i < count_terms(m, a); i++)
            for (size_t j = 0; j < count_terms(m, b); j++)
                m->terms[m->term_count++] = (tmi_model_term){{a, b}, {code_of(m, a, i), code_of(m, b, j)}};
    }
}

char *tmi_model_term_name(const tmi_plan_model *m, size_t term)
{
    tmi_text text;
    char *name = NULL;
    tmi_text_init(&text);
    const tmi_model_term *t = &m->terms[term];
    if (t->predictor[0] == SIZE_MAX) tmi_text_put(&text, "(intercept)");
    for (size_t k = 0; k < 2 && t->predictor[k] != SIZE_MAX; k++) {
        const tmi_plan_column *column = m->on[t->predictor[k]];
        if (k > 0) tmi_text_put(&text, ":");
        tmi_text_put(&text, column->name);
        if (t->code[k] == SIZE_MAX) continue;
        tmi_text_put(&text, "=");
        tmi_text_put(&text, column->values[t->code[k]]);
    }
    return tmi_text_take(&name, &text, NULL) == TAMIS_OK ? name : NULL;
}

double tmi_model_term_value(const tmi_plan_model *m, size_t term, const size_t *codes, const double *numbers)
{
    const tmi_model_term *t = &m->terms[term];
    double value = 1;
    for (size_t k = 0; k < 2 && t->predictor[k] != SIZE_MAX; k++) {
        if (t->code[k] == SIZE_MAX) value *= numbers[t->predictor[k]];
        else if (codes[t->predictor[k]] != t->code[k]) return 0;
    }
    return value;
}

size_t tmi_model_numbers(const tmi_plan_model *m)
{
    size_t count = 0;
    for (size_t k = 0; k < m->on_count; k++) count += m->on[k]->is_number;
    return count;
}

/* ---- means of all combinations of categories ---- */

size_t tmi_model_codes(const tmi_plan_model *m, size_t cell, size_t *codes)
{
    size_t cells = 1;
    for (size_t k = m->on_count; k-- > 0;) {
        if (!m->on[k]->is_category) continue;
        if (codes) codes[k] = cell % m->on[k]->value_count;
        cell /= m->on[k]->value_count;
        if (__builtin_mul_overflow(cells, m->on[k]->value_count, &cells)) return SIZE_MAX;
    }
    return cells;
}

/* A model that has numbers is made of the sums, squares and products of all of its numbers, pair by pair, with that which it
 * explains as the last one; more of them than tables can have are refused for a release (schedule/refusals.c). */
static void make_products(tmi_plan_statistic *s, size_t cells)
{
    const tmi_plan_model *m = s->model;
    tmi_plan_contrast *c = s->contrast;
    const tmi_plan_column *numbers[TMI_MAX_NUMBERS];
    size_t count = 0;
    for (size_t k = 0; k < m->on_count; k++)
        if (m->on[k]->is_number) numbers[count++] = m->on[k];
    numbers[count++] = s->column;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            tmi_plan_compared *pair = &c->compared[c->compared_count];
            *pair = (tmi_plan_compared){.kind = TMI_PRODUCTS, .column = numbers[i], .second = numbers[j]};
            for (size_t k = 0; k < count; k++)
                if (k != i && k != j) pair->also[pair->also_count++] = numbers[k];
            for (size_t k = 0; k < cells; k++) c->terms[c->term_count++].compared = c->compared_count;
            c->compared_count++;
        }
    }
}

/* What a model of categories is made of: the means of what it explains in all of their combinations. */
static void make_means(tmi_reader *reader, const tmi_value *value, tmi_plan_statistic *s)
{
    const size_t cells = tmi_model_codes(s->model, 0, NULL), numbers = tmi_model_numbers(s->model);
    if (cells > (size_t)TMI_MAX_PLAN_CELLS) {
        tmi_complain(reader, value, "expected at most %lld combinations of the values of all categories: use fewer",
                     (long long)TMI_MAX_PLAN_CELLS);
        return;
    }
    tmi_plan_contrast *c = s->contrast = tmi_alloc(1, sizeof *c);
    if (c) c->terms = tmi_alloc(cells * (numbers > 0 ? TMI_MAX_PAIRS : 1), sizeof *c->terms);
    if (!c || !c->terms) {
        reader->no_memory = true;
        return;
    }
    c->across = s->model->on[0];
    if (numbers > 0) {
        make_products(s, cells);
        return;
    }
    c->compared[0] = (tmi_plan_compared){.kind = s->column->conditions ? TMI_SHARE : TMI_MEAN, .column = s->column};
    c->compared_count = 1;
    c->term_count = cells;
}

/* ---- the whole ---- */

static void check_explained(tmi_reader *reader, const tmi_value *of, const tmi_plan_statistic *s)
{
    const tmi_plan_column *y = s->column;
    for (size_t k = 0; y && k < s->by_count; k++)
        if (is_made_from(y, s->by[k])) tmi_complain(reader, of, "is in `by` too, and does not vary within a group");
    if (!y) return;
    if (s->model->family == TMI_LOGISTIC && y->condition_count == 0)
        tmi_complain(reader, of, "expected an indicator in a logistic model, e.g. {status: unemployed}");
    if (s->model->family == TMI_POISSON && tmi_number_sign(y->from) < 0)
        tmi_complain(reader, of, "expected a number whose range begins at 0 or above in a Poisson model");
}

void tmi_read_regression(tmi_reader *reader, const tmi_value *value, const tmi_value *entry, tamis_plan *plan,
                         tmi_plan_statistic *s)
{
    static const tmi_plan_key keys[] = {
        {.name = "of", .read = read_of, .required = "of: income"},
        {.name = "on", .read = read_on, .required = "on: [age, sex]"},
        {.name = "family", .read = read_family},
        {.name = "interactions", .read = read_interactions},
        {.name = "baseline", .not_offered = "write it beside the regression: {regression: {...}, baseline: {region: north}}"},
        {.name = "typical", .not_offered = "write it beside the regression: {regression: {...}, typical: {r2: 0.3}}"},
    };
    draft d = {.plan = plan, .statistic = s};
    const tmi_value *baseline = tmi_value_get(entry, "baseline"), *typical = tmi_value_get(entry, "typical");
    const size_t before = reader->count;
    tmi_plan_model *m = s->model = tmi_alloc(1, sizeof *m);
    if (!m) {
        reader->no_memory = true;
        return;
    }
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, &d);
    if (d.on) read_predictors(reader, &d);
    if (d.on && s->column) check_explained(reader, tmi_value_get(value, "of"), s);
    if (reader->count > before || reader->no_memory) return;
    if (d.interactions) read_pairs(reader, d.interactions, m);
    if (baseline) read_baseline(reader, baseline, m);
    if (typical) read_guesses(reader, typical, m);
    if (reader->count == before && !reader->no_memory) make_terms(reader, value, m);
    if (reader->count == before && !reader->no_memory && tmi_model_numbers(m) < TMI_MAX_NUMBERS) make_means(reader, value, s);
}
