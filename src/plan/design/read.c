/* design: how the sample was drawn: one design, or one within strata. What a design does to weights, sensitivities
 * and variances is the schedule's business.                                                                          */
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"
#include "plan/design/joint_strata.h"

static size_t add_keys(tmi_plan_key *keys, size_t count, const tmi_plan_key *more, bool optional)
{
    for (; more->name; more++) {
        keys[count] = *more;
        if (optional) keys[count].required = NULL;
        count++;
    }
    return count;
}

/* ---- what must fit ---- */

static void check_keys(tmi_reader *reader, const tmi_value *value, const tmi_plan_design *design)
{
    if (value->kind == TMI_VALUE_MAP && design->kind->check) design->kind->check(reader, value, design);
}

/* `value` is the map with the sizes of this stratum. */
static void check_stratum(tmi_reader *reader, const tmi_value *value, const tmi_plan_kind *kind, tmi_plan_stratum *s)
{
    if (kind->takes_all) s->sample = s->population;
    if (s->population == 0 || s->sample <= s->population || kind->with_replacement) return;
    const tmi_value *first = value->kind == TMI_VALUE_MAP ? tmi_value_get(value, "first") : NULL;
    if (first && first->kind == TMI_VALUE_MAP) value = first;
    for (const tmi_value *inner = first && value == first ? tmi_value_first(first) : NULL; inner; inner = tmi_value_next(inner))
        if (inner->kind == TMI_VALUE_MAP && tmi_value_get(inner, "sample")) value = inner;
    const tmi_value *sample = value->kind == TMI_VALUE_MAP ? tmi_value_get(value, "sample") : NULL;
    tmi_complain(reader, sample ? sample : value, "expected a sample no larger than the population (%lld), e.g. %lld",
                 (long long)s->population, (long long)(s->population < 200 ? s->population : 200));
}

static void add_up(tmi_reader *reader, const tmi_value *value, tmi_plan_design *design)
{
    bool population = true, sample = true;
    for (size_t h = 0; h < design->stratum_count; h++) {
        population = population && design->strata[h].population > 0;
        sample = sample && design->strata[h].sample > 0;
        design->population += design->strata[h].population; /* at most 10000 times 2^40 */
        design->sample += design->strata[h].sample;
    }
    if (design->population > TMI_MAX_POPULATION || design->sample > TMI_MAX_POPULATION)
        tmi_complain(reader, value, "expected at most %lld units in all strata together", (long long)TMI_MAX_POPULATION);
    if (!population) design->population = 0;
    if (!sample) design->sample = 0;
}

static bool new_strata(tmi_reader *reader, tmi_plan_design *design, size_t count)
{
    design->strata = tmi_alloc(count, sizeof *design->strata);
    if (!design->strata) reader->no_memory = true;
    return design->strata != NULL;
}

/* ---- without strata ---- */

static void read_alone(tmi_reader *reader, const tmi_value *value, const tmi_plan_kind *kind, tamis_plan *plan)
{
    tmi_plan_design *design = &plan->design;
    tmi_plan_key keys[2 * TMI_DESIGN_KEYS];
    size_t count = add_keys(keys, 0, kind->keys, false);
    if (!kind->sizes_inside) count = add_keys(keys, count, kind->sizes, false);
    design->kind = kind;
    if (!new_strata(reader, design, 1)) return;
    design->stratum_count = 1;
    tmi_drawn d = {design, &design->strata[0], plan->name, false};
    tmi_read_map(reader, value, keys, count, kind->example, &d);
    check_keys(reader, value, design);
    check_stratum(reader, value, kind, &design->strata[0]);
    add_up(reader, value, design);
}

/* ---- with strata ---- */

#define STRATIFIED "{by: stype, within: srs, strata: {E: {population: 4421, sample: 100}}}"

/* The name of a design, or a map with the keys that it has besides sizes. Sizes there are those of every stratum. */
static const tmi_plan_kind *read_within(tmi_reader *reader, const tmi_value *value, tmi_drawn *d)
{
    const tmi_value *map = value->kind == TMI_VALUE_MAP && value->count == 1 ? tmi_value_first(value) : NULL;
    const char *name = map ? tmi_value_key(map) : value->kind == TMI_VALUE_TEXT ? value->text : "";
    const tmi_plan_kind *kind = tmi_plan_kind_find(name);
    if (!kind || kind->only_weights) {
        tmi_complain(reader, value,
                     "expected the design within strata: srs, census, srs_with_replacement or bernoulli, or a map "
                     "such as {systematic: {order: public}}");
        return NULL;
    }
    d->design->kind = kind;
    tmi_plan_key keys[2 * TMI_DESIGN_KEYS];
    size_t count = add_keys(keys, 0, kind->keys, false);
    for (size_t i = 0; i < count && !map; i++) {
        if (!keys[i].required) continue;
        tmi_complain(reader, value, "expected a map with the key %s, e.g. {%s: {%s}}", keys[i].name, name, keys[i].required);
        return kind;
    }
    if (!map) return kind;
    if (!kind->sizes_inside) count = add_keys(keys, count, kind->sizes, true);
    tmi_read_map(reader, map, keys, count, kind->example, d);
    check_keys(reader, map, d->design);
    return kind;
}

/* The sizes of a stratum: those of the design that draws clusters, where one was read. */
static const tmi_plan_key *sizes_of(const tmi_plan_kind *kind, const tmi_plan_design *design)
{
    return design->first ? design->first->sizes : kind->sizes;
}

static bool has_size(const tmi_plan_stratum *s, const char *key)
{
    return strcmp(key, "population") == 0 ? s->population > 0 : strcmp(key, "sample") == 0 ? s->sample > 0 : s->rate != NULL;
}

void tmi_read_stratum(tmi_reader *reader, const tmi_value *value, const tmi_plan_kind *kind, tmi_drawn *d,
                      const tmi_plan_stratum *common)
{
    tmi_plan_key keys[TMI_DESIGN_KEYS];
    size_t count = add_keys(keys, 0, sizes_of(kind, d->design), false);
    for (size_t i = 0; i < count; i++)
        if (has_size(common, keys[i].name)) keys[i].required = NULL;
    d->stratum->population = common->population;
    d->stratum->sample = common->sample;
    if (common->rate && tmi_number_copy(&d->stratum->rate, common->rate, NULL) != TAMIS_OK) reader->no_memory = true;
    tmi_read_map(reader, value, keys, count, kind->example_sizes, d);
    check_stratum(reader, value, kind, d->stratum);
}

/* The name of a stratum, trimmed as the cells of the file are. */
char *tmi_stratum_name(tmi_reader *reader, const tmi_value *item)
{
    const char *from = tmi_value_key(item) + strspn(tmi_value_key(item), " \t");
    size_t length = strlen(from);
    while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\t')) length--;
    if (length == 0 || tmi_has_control(tmi_value_key(item))) {
        tmi_complain_key(reader, item, "expected the name of a stratum, without control characters");
        return NULL;
    }
    char *name = tmi_copy_text(from, length);
    if (!name) reader->no_memory = true;
    return name;
}

/* The place of a stratum: that of the declared value, or the next one. -1 after a complaint. */
static int64_t place_of(tmi_reader *reader, const tmi_value *item, const tmi_plan_design *design, const tmi_plan_column *by,
                        const char *name, size_t next)
{
    int64_t place = by ? tmi_code_of(by, name) : (int64_t)next;
    for (size_t h = 0; h < design->stratum_count; h++) {
        if (!design->strata[h].name || strcmp(design->strata[h].name, name) != 0) continue;
        tmi_complain_key(reader, item, "duplicate name: strata have different names");
        return -1;
    }
    if (place < 0) tmi_complain_key(reader, item, "expected one of the values of %s, e.g. %s", by->name, by->values[0]);
    return place;
}

static void read_strata(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, const tmi_plan_column *by,
                        const tmi_plan_kind *kind, const tmi_plan_stratum *common)
{
    tmi_plan_design *design = &plan->design;
    tmi_plan_stratum nowhere = {0}; /* what is read of a stratum that has no place */
    if (value->kind != TMI_VALUE_MAP || value->count == 0 || value->count > TMI_MAX_STRATA) {
        tmi_complain(reader, value, "expected a map of 1 to %d strata, e.g. {E: {population: 4421, sample: 100}}",
                     TMI_MAX_STRATA);
        return;
    }
    size_t room = by && by->value_count > value->count ? by->value_count : value->count, next = 0;
    if (!new_strata(reader, design, room)) return;
    design->stratum_count = by ? by->value_count : 0;
    for (const tmi_value *item = tmi_value_first(value); item && !reader->no_memory; item = tmi_value_next(item)) {
        if (tmi_value_get(value, tmi_value_key(item)) != item) continue; /* complained about already */
        char *name = tmi_stratum_name(reader, item);
        int64_t place = name ? place_of(reader, item, design, by, name, next) : -1;
        tmi_drawn d = {design, place >= 0 ? &design->strata[place] : &nowhere, plan->name, false};
        tmi_read_stratum(reader, item, kind, &d, common);
        if (place >= 0) d.stratum->name = name;
        else tmi_free(name);
        if (place >= 0) next++;
        if (place >= 0 && !by) design->stratum_count = next;
        tamis_number_free(nowhere.rate);
        nowhere = (tmi_plan_stratum){0};
    }
    for (size_t h = 0; by && h < by->value_count; h++) {
        if (design->strata[h].name || reader->no_memory) continue;
        tmi_complain_key(reader, value, "expected a stratum for every value of %s; there is none for %s", by->name,
                         by->values[h]);
        break;
    }
}

/* The declared category of the strata; NULL if it is made of their names, or after a complaint. */
const tmi_plan_column *tmi_strata_column(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, const char *name)
{
    const tmi_plan_column *by = tmi_plan_find_column(plan, name);
    if (!by || (by->is_number && by->is_category)) return NULL;
    if (!by->is_category) tmi_complain(reader, value, "expected a category; this column is a number");
    else if (by->is_recoded)
        tmi_complain(reader, value,
                     "expected a category that is read from the source: the values of %s follow from another column; declare it "
                     "with `values`, or take that column",
                     name);
    else if (by->missing != TMI_LEAVE_OUT)
        tmi_complain(reader, value, "expected a category without `missing`: every unit has a stratum");
    else return by->value_count > 0 ? by : NULL;
    return NULL;
}

static void read_stratified(tmi_reader *reader, const tmi_value *value, tamis_plan *plan)
{
    static const tmi_plan_key keys[] = {
        {.name = "by", .read = tmi_read_later, .required = "by: stype"},
        {.name = "within", .read = tmi_read_later, .required = "within: srs"},
        {.name = "strata", .read = tmi_read_later, .required = "strata: {E: {population: 4421, sample: 100}}"},
    };
    tmi_plan_design *design = &plan->design;
    tmi_plan_stratum common = {0};
    tmi_drawn d = {design, &common, plan->name, true};
    size_t before = reader->count;
    char *name = NULL;
    tmi_read_map(reader, value, keys, 3, STRATIFIED, NULL);
    if (value->kind != TMI_VALUE_MAP) return;
    const tmi_value *at = tmi_value_get(value, "by"), *within = tmi_value_get(value, "within"),
                    *strata = tmi_value_get(value, "strata");
    const bool several = at && at->kind == TMI_VALUE_LIST;
    const tmi_plan_column *by = at && !several && tmi_read_text(reader, at, &name, "stype")
                                    ? tmi_strata_column(reader, at, plan, name)
                                    : NULL;
    const tmi_plan_kind *kind = within ? read_within(reader, within, &d) : NULL;
    if (several) tmi_read_joint_strata(reader, at, strata, kind, &d, &common, plan);
    else if (strata && kind) read_strata(reader, strata, plan, by, kind, &common);
    if (reader->count == before && !reader->no_memory && several && design->frame)
        tmi_complain(reader, at, "expected one column: a frame has one column of strata");
    if (reader->count == before && !reader->no_memory) {
        if (!several) design->by = by ? by : tmi_add_category(plan, name, design->strata, design->stratum_count);
        if (!design->by) reader->no_memory = true;
        add_up(reader, strata, design);
    } else {
        reader->unread_strata = at;
        for (size_t h = 0; design->strata && h < design->stratum_count; h++) { /* no stratum that others could miss the name of */
            tmi_free(design->strata[h].name);
            tamis_number_free(design->strata[h].rate);
        }
        design->stratum_count = 0;
    }
    tamis_number_free(common.rate);
    tmi_free(name);
}

/* ---- the section ---- */

#define EXAMPLE "srs: {population: 6194, sample: 200}"

static void read_one(tmi_reader *reader, const tmi_value *value, void *target)
{
    if (strcmp(tmi_value_key(value), "stratified") == 0) read_stratified(reader, value, target);
    else read_alone(reader, value, tmi_plan_kind_find(tmi_value_key(value)), target);
}

#define TWO_PHASES \
    "where phase two draws fixed numbers in public strata of known size, whatever phase one finds, the sample is a stratified " \
    "one: write " \
    "`stratified`; other samples in two phases have no theorem here: write `weights` with the weights of both phases together"

void tmi_read_design(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    tmi_plan_key keys[TMI_PLAN_KINDS + 2 + TMI_BESIDE_DESIGN];
    size_t count = 0;
    for (size_t i = 0; i < TMI_PLAN_KINDS; i++)
        keys[count++] = (tmi_plan_key){.name = tmi_plan_kinds[i]->name, .read = tmi_read_later};
    keys[count++] = (tmi_plan_key){.name = "stratified", .read = tmi_read_later};
    const size_t designs = count;
    for (size_t i = 0; i < TMI_BESIDE_DESIGN; i++) keys[count++] = tmi_beside_design[i];
    keys[count++] = (tmi_plan_key){.name = "two_phase", .not_offered = TWO_PHASES};
    const size_t before = reader->count;
    tmi_read_map(reader, value, keys, count, EXAMPLE, plan);
    const tmi_value *first = NULL;
    for (const tmi_value *item = value->kind == TMI_VALUE_MAP ? tmi_value_first(value) : NULL; item;
         item = tmi_value_next(item)) {
        bool design = false;
        for (size_t i = 0; i < designs; i++) design = design || strcmp(keys[i].name, tmi_value_key(item)) == 0;
        if (!design || tmi_value_get(value, tmi_value_key(item)) != item) continue;
        if (first) tmi_complain_key(reader, item, "expected one design, not two");
        else first = item;
    }
    const size_t beside = reader->count;
    if (first) read_one(reader, first, plan);
    else if (reader->count == before) tmi_complain(reader, value, "expected a design, e.g. " EXAMPLE);
    plan->design.doubtful = reader->count > beside;
    if (reader->count == before) tmi_check_weights(reader, value, plan);
}
