#include "base/value/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A value that is placed. */
typedef struct member {
    tmi_value value;
    char *key; /* in a map */
    tmi_value *parent;
    tmi_place place;
    uint32_t sorted; /* of the i-th value of a map: the index of the value with the i-th key */
} member;

_Static_assert(sizeof(tmi_value) == 16, "a list of JSON takes 16 bytes for each of its values");

static member *member_of(const tmi_value *value) { return value && value->placed ? (member *)(void *)(uintptr_t)value : NULL; }

static tmi_value *item_at(const tmi_value *value, size_t index)
{
    return value->places ? &((member *)(void *)value->items)[index].value : &value->items[index];
}

/* ---- making ---- */

static void adopt(tmi_value *parent)
{
    for (size_t i = 0; parent->places && i < parent->count; i++) member_of(item_at(parent, i))->parent = parent;
}

/* Room for one more value. */
static bool make_room(tmi_value *parent)
{
    const size_t count = parent->count, size = parent->places ? sizeof(member) : sizeof(tmi_value);
    if (count == UINT32_MAX) return false;
    if ((count & (count - 1)) != 0) return true; /* as many as the next power of two */
    tmi_value *const old = count > 0 ? parent->items : NULL, *const items = tmi_realloc(old, count > 0 ? 2 * count : 1, size);
    if (!items) return false;
    parent->items = items;
    for (size_t i = 0; items != old && i < count; i++) {
        tmi_value *moved = item_at(parent, i);
        if (moved->kind >= TMI_VALUE_LIST) adopt(moved);
    }
    return true;
}

tmi_value *tmi_value_new(tmi_value *parent, const char *key, tmi_value_kind kind)
{
    char *copy = key ? tmi_copy_text(key, strlen(key)) : NULL;
    tmi_value *value = NULL;
    const bool placed = !parent || parent->places;
    if (!key || copy) value = !parent ? tmi_alloc(1, sizeof(member)) : make_room(parent) ? item_at(parent, parent->count) : NULL;
    if (!value) {
        tmi_free(copy);
        return NULL;
    }
    *value = (tmi_value){.kind = kind, .placed = placed, .places = kind == TMI_VALUE_MAP, .last = true};
    if (placed) *member_of(value) = (member){.value = *value, .key = copy, .parent = parent};
    if (parent && parent->count > 0) item_at(parent, parent->count - 1)->last = false;
    if (parent) parent->count++;
    return value;
}

bool tmi_value_set_text(tmi_value *value, const char *bytes, size_t length)
{
    value->text = tmi_copy_text(bytes, length);
    return value->text != NULL;
}

void tmi_value_set_place(tmi_value *value, tmi_place place) { member_of(value)->place = place; }

/* Equal keys in the order of the file. */
static int by_key(const void *a, const void *b)
{
    const member *x = *(const member *const *)a, *y = *(const member *const *)b;
    const int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x > y) - (x < y);
}

bool tmi_value_close(tmi_value *value)
{
    if (value->kind != TMI_VALUE_MAP) return true;
    const member **list = tmi_alloc(value->count, sizeof *list), *const first = value->count > 0 ? member_of(value->items) : NULL;
    if (!list) return false;
    for (size_t i = 0; i < value->count; i++) list[i] = first + i;
    qsort(list, value->count, sizeof *list, by_key);
    for (size_t i = 0; i < value->count; i++) member_of(item_at(value, i))->sorted = (uint32_t)(list[i] - first);
    tmi_free(list);
    return true;
}

bool tmi_value_fill(tmi_value *copy, const tmi_value *value)
{
    copy->quoted = value->quoted;
    copy->places = value->places;
    if (copy->placed) tmi_value_set_place(copy, tmi_value_place(value));
    if (value->kind == TMI_VALUE_TEXT) return tmi_value_set_text(copy, value->text, strlen(value->text));
    if (value->kind == TMI_VALUE_REAL) copy->real = value->real;
    else if (value->kind < TMI_VALUE_REAL) copy->integer = value->integer;
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        tmi_value *next = tmi_value_new(copy, tmi_value_key(item), item->kind);
        if (!next || !tmi_value_fill(next, item)) return false;
    }
    return tmi_value_close(copy);
}

tamis_status tmi_value_copy(tmi_value **copy, const tmi_value *value, tamis_error *err)
{
    *copy = value ? tmi_value_new(NULL, NULL, value->kind) : NULL;
    if (!value || (*copy && tmi_value_fill(*copy, value))) return TAMIS_OK;
    tmi_value_free(*copy);
    *copy = NULL;
    return tmi_fail_memory(err);
}

/* As deep as its reader allows. */
static void clear(tmi_value *value)
{
    if (value->kind == TMI_VALUE_TEXT) tmi_free(value->text);
    if (value->placed) tmi_free(member_of(value)->key);
    if (value->kind < TMI_VALUE_LIST || value->count == 0) return;
    for (size_t i = 0; i < value->count; i++) clear(item_at(value, i));
    tmi_free(value->items);
}

void tmi_value_free(tmi_value *value)
{
    if (!value) return;
    clear(value);
    tmi_free(value);
}

/* ---- asking ---- */

static bool is(const tmi_value *value, tmi_value_kind kind) { return value && value->kind == kind; }

tmi_value_kind tmi_value_kind_of(const tmi_value *value) { return value ? value->kind : TMI_VALUE_NULL; }

bool tmi_value_is_true(const tmi_value *value) { return is(value, TMI_VALUE_BOOLEAN) && value->integer; }

int64_t tmi_value_integer(const tmi_value *value) { return is(value, TMI_VALUE_INTEGER) ? value->integer : 0; }

double tmi_value_real(const tmi_value *value)
{
    return is(value, TMI_VALUE_REAL) ? value->real : (double)tmi_value_integer(value);
}

const char *tmi_value_string(const tmi_value *value) { return is(value, TMI_VALUE_TEXT) ? value->text : NULL; }

size_t tmi_value_size(const tmi_value *value) { return value ? value->count : 0; }

const tmi_value *tmi_value_at(const tmi_value *list, size_t index)
{
    return is(list, TMI_VALUE_LIST) && index < list->count ? item_at(list, index) : NULL;
}

const tmi_value *tmi_value_first(const tmi_value *value) { return tmi_value_size(value) > 0 ? value->items : NULL; }

const tmi_value *tmi_value_next(const tmi_value *value)
{
    return value->last ? NULL : value->placed ? &member_of(value)[1].value : value + 1;
}

const tmi_value *tmi_value_sorted(const tmi_value *map, size_t index)
{
    return item_at(map, member_of(item_at(map, index))->sorted);
}

const char *tmi_value_key(const tmi_value *value)
{
    const member *m = member_of(value);
    return m ? m->key : NULL;
}

const tmi_value *tmi_value_parent(const tmi_value *value)
{
    const member *m = member_of(value);
    return m ? m->parent : NULL;
}

tmi_place tmi_value_place(const tmi_value *value)
{
    const member *m = member_of(value);
    return m ? m->place : (tmi_place){0};
}

const tmi_value *tmi_value_repeated(const tmi_value *map)
{
    const tmi_value *first = NULL;
    for (size_t i = 1; i < map->count; i++) {
        const tmi_value *x = tmi_value_sorted(map, i - 1), *y = tmi_value_sorted(map, i);
        if (strcmp(tmi_value_key(x), tmi_value_key(y)) == 0 && (!first || y < first)) first = y;
    }
    return first;
}

const tmi_value *tmi_value_get(const tmi_value *map, const char *key)
{
    if (!is(map, TMI_VALUE_MAP)) return NULL;
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(tmi_value_key(tmi_value_sorted(map, middle)), key) < 0) low = middle + 1;
        else high = middle;
    }
    const tmi_value *found = low < map->count ? tmi_value_sorted(map, low) : NULL;
    return found && strcmp(tmi_value_key(found), key) == 0 ? found : NULL;
}

const tmi_value *tmi_value_field(const tmi_value *map, const char *key, tmi_value_kind kind)
{
    const tmi_value *value = tmi_value_get(map, key);
    return is(value, kind) ? value : NULL;
}

const char *tmi_value_field_text(const tmi_value *map, const char *key)
{
    const char *text = tmi_value_string(tmi_value_get(map, key));
    return text ? text : "";
}

int64_t tmi_value_whole(const tmi_value *map, const char *key) { return tmi_value_integer(tmi_value_get(map, key)); }

bool tmi_value_true(const tmi_value *map, const char *key) { return tmi_value_is_true(tmi_value_get(map, key)); }

const char *tmi_value_next_key(const tmi_value *map, const char *key)
{
    const tmi_value *item = key ? tmi_value_get(map, key) : is(map, TMI_VALUE_MAP) ? tmi_value_first(map) : NULL;
    if (key && item) item = tmi_value_next(item);
    return tmi_value_key(item);
}

bool tmi_value_equal(const tmi_value *x, const tmi_value *y)
{
    if (!x || !y || x->kind != y->kind || x->count != y->count) return false;
    if (x->kind == TMI_VALUE_TEXT) return strcmp(x->text, y->text) == 0;
    if (x->kind == TMI_VALUE_REAL) return x->real == y->real;
    if (x->kind < TMI_VALUE_LIST) return x->integer == y->integer;
    const bool map = x->kind == TMI_VALUE_MAP;
    for (size_t i = 0; i < x->count; i++) {
        const tmi_value *a = map ? tmi_value_sorted(x, i) : item_at(x, i), *b = map ? tmi_value_sorted(y, i) : item_at(y, i);
        if ((map && strcmp(tmi_value_key(a), tmi_value_key(b)) != 0) || !tmi_value_equal(a, b)) return false;
    }
    return true;
}

const char *tmi_value_extra_key(const tmi_value *map, const char *const *keys, size_t count)
{
    for (const tmi_value *item = is(map, TMI_VALUE_MAP) ? tmi_value_first(map) : NULL; item; item = tmi_value_next(item)) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], tmi_value_key(item)) != 0) i++;
        if (i == count) return tmi_value_key(item);
    }
    return NULL;
}

/* The first key of x that y lacks, or holds with another value. */
static const char *difference(const tmi_value *x, const tmi_value *y, const char *except)
{
    for (const tmi_value *item = is(x, TMI_VALUE_MAP) ? tmi_value_first(x) : NULL; item; item = tmi_value_next(item)) {
        const char *key = tmi_value_key(item);
        if (except && strcmp(key, except) == 0) continue;
        if (!tmi_value_equal(item, tmi_value_get(y, key))) return key;
    }
    return NULL;
}

const char *tmi_value_difference(const tmi_value *x, const tmi_value *y, const char *except)
{
    const char *key = difference(x, y, except);
    return key ? key : difference(y, x, except);
}

const char *tmi_value_short_name(const char *key) { return strlen(key) <= 60 ? key : "(a long name)"; }
