#include "plan/design/joint_strata.h"

#include <stdlib.h>
#include <string.h>

#include "base/joint_name.h"
#include "base/memory.h"

#define EXAMPLE "{north: {urban: {population: 4421, sample: 100}, rural: {population: 1018, sample: 50}}}"

/* One of the columns while its map is read. */
typedef struct part {
    char *name;
    const tmi_plan_column *declared; /* NULL: its values are the keys of the maps, in the order of the file */
    char **values;
    size_t count, room;
    bool *used; /* of the declared values */
} part;

typedef struct leaf {
    int32_t codes[TMI_MAX_STRATA_COLUMNS];
    size_t parts;
    const tmi_value *place;
    tmi_plan_stratum stratum;
} leaf;

typedef struct joining {
    tmi_reader *reader;
    tamis_plan *plan;
    const tmi_plan_kind *kind;
    const tmi_plan_stratum *common;
    tmi_drawn *drawn;
    part parts[TMI_MAX_STRATA_COLUMNS];
    size_t part_count;
    leaf *leaves;
    size_t leaf_count, room;
} joining;

static const char *value_of(const part *p, int32_t code) { return p->declared ? p->declared->values[code] : p->values[code]; }

static const char *name_of(const part *p) { return p->declared ? p->declared->name : p->name; }

static size_t values_of(const part *p) { return p->declared ? p->declared->value_count : p->count; }

/* ---- reading ---- */

static void read_names(joining *j, const tmi_value *by)
{
    tmi_reader *reader = j->reader;
    if (by->count < 2 || by->count > TMI_MAX_STRATA_COLUMNS) {
        tmi_complain(reader, by, "expected one column, or a list of 2 to %d columns, e.g. [region, area]",
                     TMI_MAX_STRATA_COLUMNS);
        return;
    }
    for (const tmi_value *item = tmi_value_first(by); item; item = tmi_value_next(item)) {
        part *p = &j->parts[j->part_count++];
        if (!tmi_read_text(reader, item, &p->name, "region")) continue;
        for (size_t i = 0; i + 1 < j->part_count; i++)
            if (j->parts[i].name && strcmp(j->parts[i].name, p->name) == 0)
                tmi_complain(reader, item, "duplicate in the list of columns");
        p->declared = tmi_strata_column(reader, item, j->plan, p->name);
        const tmi_plan_column *c = p->declared;
        if (c && (c->missing_text_count > 0 || c->shares))
            tmi_complain(reader, item, "expected a category without %s: the strata say what it needs to say",
                         c->shares ? "`typical`" : "`missing_codes`");
        if (c && !(p->used = tmi_alloc(c->value_count, sizeof *p->used))) reader->no_memory = true;
    }
}

/* The code of a key; -1 after a complaint. */
static int32_t code_of(joining *j, part *p, const tmi_value *item)
{
    char *name = tmi_stratum_name(j->reader, item);
    int32_t code = -1;
    if (!name) return -1;
    if (p->declared) {
        code = tmi_code_of(p->declared, name);
        if (code >= 0) p->used[code] = true;
        else tmi_read_key_code(j->reader, item, p->declared); /* complains */
    } else {
        size_t i = 0;
        while (i < p->count && strcmp(p->values[i], name) != 0) i++;
        if (i < p->count) {
            code = (int32_t)i;
        } else if (tmi_grow(&p->values, &p->room, p->count, sizeof *p->values)) {
            code = (int32_t)p->count;
            p->values[p->count++] = name;
            name = NULL;
        } else {
            j->reader->no_memory = true;
        }
    }
    tmi_free(name);
    return code;
}

static void read_level(joining *j, const tmi_value *map, leaf *at)
{
    tmi_reader *reader = j->reader;
    if (map->kind != TMI_VALUE_MAP || map->count == 0) {
        tmi_complain(reader, map, "expected a map from the values of %s, e.g. " EXAMPLE, j->parts[at->parts].name);
        return;
    }
    for (const tmi_value *item = tmi_value_first(map); item && !reader->no_memory; item = tmi_value_next(item)) {
        if (tmi_value_get(map, tmi_value_key(item)) != item) continue; /* complained about already */
        leaf inner = *at;
        inner.codes[inner.parts] = code_of(j, &j->parts[inner.parts], item);
        inner.parts++;
        inner.place = item;
        if (inner.parts < j->part_count) {
            read_level(j, item, &inner);
            continue;
        }
        if (item->kind != TMI_VALUE_MAP) {
            tmi_complain(reader, item,
                         "expected the sizes of a stratum: the map of each column holds those of the next, e.g. " EXAMPLE);
            continue;
        }
        if (j->leaf_count == TMI_MAX_STRATA) {
            tmi_complain(reader, item, "expected at most %d strata", TMI_MAX_STRATA);
            return;
        }
        j->drawn->stratum = &inner.stratum;
        tmi_read_stratum(reader, item, j->kind, j->drawn, j->common);
        if (tmi_grow(&j->leaves, &j->room, j->leaf_count, sizeof *j->leaves)) {
            j->leaves[j->leaf_count++] = inner;
        } else {
            tamis_number_free(inner.stratum.rate);
            reader->no_memory = true;
        }
    }
}

static int by_codes(const void *a, const void *b)
{
    const leaf *x = a, *y = b;
    for (size_t i = 0; i < x->parts; i++)
        if (x->codes[i] != y->codes[i]) return x->codes[i] < y->codes[i] ? -1 : 1;
    return 0;
}

/* In the order of the codes, whatever that of the maps: maps that are read again may have another. */
static void order(joining *j, const tmi_value *strata)
{
    if (j->leaf_count > 0) qsort(j->leaves, j->leaf_count, sizeof *j->leaves, by_codes);
    for (size_t i = 1; i < j->leaf_count; i++)
        if (by_codes(&j->leaves[i - 1], &j->leaves[i]) == 0)
            tmi_complain_key(j->reader, j->leaves[i].place, "duplicate name: strata have different names");
    for (size_t k = 0; k < j->part_count; k++) {
        const part *p = &j->parts[k];
        for (size_t v = 0; p->used && v < p->declared->value_count; v++) {
            if (p->used[v]) continue;
            tmi_complain_key(j->reader, strata, "expected a stratum for every value of %s; there is none for %s", p->name,
                             p->declared->values[v]);
            break;
        }
    }
}

/* ---- names ---- */

/* Of a stratum, or of the columns themselves (NULL), up to this part. */
static char *joint_name(const joining *j, const leaf *of, size_t parts)
{
    tmi_text text;
    char *name = NULL;
    tmi_text_init(&text);
    for (size_t k = 0; k < parts; k++)
        tmi_put_joint_name(&text, of ? value_of(&j->parts[k], of->codes[k]) : name_of(&j->parts[k]), k == 0);
    if (tmi_text_take(&name, &text, NULL) != TAMIS_OK) j->reader->no_memory = true;
    return name;
}

/* ---- columns ---- */

/* The columns that people name: those that are not declared are now. */
static void declare(joining *j)
{
    tmi_plan_design *design = &j->plan->design;
    for (size_t k = 0; k < j->part_count; k++) {
        part *p = &j->parts[k];
        if (!p->declared) {
            tmi_plan_column *c = &j->plan->columns[j->plan->column_count];
            j->plan->declared_count = ++j->plan->column_count;
            *c = (tmi_plan_column){.name = p->name, .is_category = true, .values = p->values, .value_count = p->count};
            p->name = NULL;
            p->values = NULL;
            p->declared = c;
        }
        design->parts[k] = p->declared;
    }
    design->part_count = j->part_count;
}

static tmi_plan_column *hidden(joining *j, char *name)
{
    tmi_plan_column *c = &j->plan->columns[j->plan->column_count++];
    c->name = name;
    c->is_category = true;
    if (!name) j->reader->no_memory = true;
    return c;
}

/* What is read from the source. */
static const tmi_plan_column *copy_of(joining *j, const tmi_plan_column *column)
{
    tmi_plan_column *c = hidden(j, tmi_copy_text(column->name, strlen(column->name)));
    c->values = tmi_alloc(column->value_count, sizeof *c->values);
    for (size_t v = 0; c->values && v < column->value_count; v++) {
        c->values[v] = tmi_copy_text(column->values[v], strlen(column->values[v]));
        if (!c->values[v]) break;
        c->value_count++;
    }
    if (c->value_count < column->value_count) j->reader->no_memory = true;
    return c;
}

static bool begin_alike(const leaf *x, const leaf *y, size_t parts)
{
    for (size_t k = 0; k < parts; k++)
        if (x->codes[k] != y->codes[k]) return false;
    return true;
}

/* The category of the first `parts` columns, joined from that of all but the last of them, and a copy of the last. Its values are
 * the beginnings of the strata, which are in order. */
static const tmi_plan_column *join(joining *j, const tmi_plan_column *of, const tmi_plan_column *with, size_t parts)
{
    tmi_plan_column *c = hidden(j, joint_name(j, NULL, parts));
    const size_t width = with->value_count, pairs = of->value_count * width;
    c->joint_of = of;
    c->joint_with = with;
    c->joint = tmi_alloc(pairs, sizeof *c->joint);
    c->values = tmi_alloc(j->leaf_count, sizeof *c->values);
    if (!c->joint || !c->values) {
        j->reader->no_memory = true;
        return c;
    }
    for (size_t i = 0; i < pairs; i++) c->joint[i] = -1;
    int32_t before = -1; /* the code of the beginning of one part less */
    for (size_t i = 0; i < j->leaf_count && !j->reader->no_memory; i++) {
        const leaf *own = &j->leaves[i];
        if (i == 0 || !begin_alike(own, own - 1, parts - 1)) before++;
        if (i > 0 && begin_alike(own, own - 1, parts)) continue;
        const int32_t first = parts == 2 ? own->codes[0] : before;
        c->joint[(size_t)first * width + (size_t)own->codes[parts - 1]] = (int32_t)c->value_count;
        c->values[c->value_count++] = joint_name(j, own, parts);
    }
    return c;
}

/* Each of the columns follows from the strata. */
static void set_recodes(joining *j)
{
    tmi_plan_design *design = &j->plan->design;
    for (size_t k = 0; k < j->part_count; k++) {
        tmi_plan_column *c = &j->plan->columns[design->parts[k] - j->plan->columns];
        c->recode_of = design->by;
        c->recode = tmi_alloc(j->leaf_count, sizeof *c->recode);
        if (!c->recode) j->reader->no_memory = true;
        for (size_t h = 0; c->recode && h < j->leaf_count; h++) c->recode[h] = j->leaves[h].codes[k];
    }
}

static bool fits(joining *j, const tmi_value *strata)
{
    for (size_t k = 1; k < j->part_count; k++) {
        const size_t most = k == 1 ? values_of(&j->parts[0]) : j->leaf_count;
        if (most <= (size_t)TMI_MAX_PLAN_CELLS / values_of(&j->parts[k])) continue;
        tmi_complain_key(j->reader, strata, "expected at most %lld pairs of values of the columns of the strata",
                         (long long)TMI_MAX_PLAN_CELLS);
        return false;
    }
    char *name = joint_name(j, NULL, j->part_count);
    const bool taken = name && tmi_plan_find_column(j->plan, name);
    if (taken)
        tmi_complain_key(j->reader, strata, "expected no declared column with the name %s, which is that of the strata", name);
    tmi_free(name);
    return !taken;
}

static void finish(joining *j)
{
    tmi_plan_design *design = &j->plan->design;
    design->strata = tmi_alloc(j->leaf_count, sizeof *design->strata);
    if (!design->strata) {
        j->reader->no_memory = true;
        return;
    }
    declare(j);
    const tmi_plan_column *joint = copy_of(j, design->parts[0]);
    for (size_t k = 1; k < j->part_count && !j->reader->no_memory; k++)
        joint = join(j, joint, copy_of(j, design->parts[k]), k + 1);
    design->by = joint;
    set_recodes(j);
    for (size_t h = 0; h < j->leaf_count; h++) {
        design->strata[h] = j->leaves[h].stratum;
        design->strata[h].name = joint_name(j, &j->leaves[h], j->part_count);
        j->leaves[h].stratum.rate = NULL;
    }
    design->stratum_count = j->leaf_count;
}

void tmi_read_joint_strata(tmi_reader *reader, const tmi_value *by, const tmi_value *strata, const tmi_plan_kind *kind,
                           tmi_drawn *drawn, const tmi_plan_stratum *common, tamis_plan *plan)
{
    joining j = {.reader = reader, .plan = plan, .kind = kind, .common = common, .drawn = drawn};
    const size_t before = reader->count;
    read_names(&j, by);
    if (strata && kind && reader->count == before && !reader->no_memory) {
        read_level(&j, strata, &(leaf){0});
        if (reader->count == before && !reader->no_memory) order(&j, strata);
        if (reader->count == before && !reader->no_memory && fits(&j, strata)) finish(&j);
    }
    for (size_t i = 0; i < j.leaf_count; i++) tamis_number_free(j.leaves[i].stratum.rate);
    tmi_free(j.leaves);
    for (size_t k = 0; k < j.part_count; k++) {
        for (size_t v = 0; j.parts[k].values && v < j.parts[k].count; v++) tmi_free(j.parts[k].values[v]);
        tmi_free(j.parts[k].values);
        tmi_free(j.parts[k].used);
        tmi_free(j.parts[k].name);
    }
}
