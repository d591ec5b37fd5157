#include "base/value/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- making ---- */

tmi_value *tmi_value_new(tmi_value *parent, const char *key, tmi_value_kind kind)
{
    tmi_value *value = tmi_alloc(1, sizeof *value);
    if (!value) return NULL;
    if (key && !(value->key = tmi_copy_text(key, strlen(key)))) {
        tmi_free(value);
        return NULL;
    }
    value->kind = kind;
    value->parent = parent;
    if (!parent) return value;
    if (parent->last) parent->last->next = value;
    else parent->first = value;
    parent->last = value;
    parent->count++;
    return value;
}

bool tmi_value_set_text(tmi_value *value, const char *bytes, size_t length)
{
    value->text = tmi_copy_text(bytes, length);
    return value->text != NULL;
}

/* Equal keys in the order of the file. */
static int by_key(const void *a, const void *b)
{
    const tmi_value *x = *(const tmi_value *const *)a, *y = *(const tmi_value *const *)b;
    int order = strcmp(x->key, y->key);
    if (order == 0) order = (x->key_line > y->key_line) - (x->key_line < y->key_line);
    return order != 0 ? order : (x->key_column > y->key_column) - (x->key_column < y->key_column);
}

bool tmi_value_close(tmi_value *value)
{
    size_t i = 0;
    value->items = tmi_alloc(value->count, sizeof *value->items);
    if (!value->items) return false;
    for (tmi_value *item = value->first; item; item = item->next) value->items[i++] = item;
    if (value->kind == TMI_VALUE_MAP) qsort(value->items, value->count, sizeof *value->items, by_key);
    return true;
}

bool tmi_value_fill(tmi_value *copy, const tmi_value *value)
{
    copy->line = value->line, copy->column = value->column;
    copy->quoted = value->quoted;
    if (value->kind == TMI_VALUE_REAL) copy->real = value->real;
    else if (value->kind < TMI_VALUE_REAL) copy->integer = value->integer;
    if (value->text) return tmi_value_set_text(copy, value->text, strlen(value->text));
    for (const tmi_value *item = value->first; item; item = item->next) {
        tmi_value *next = tmi_value_new(copy, item->key, item->kind);
        if (!next || !tmi_value_fill(next, item)) return false;
        next->key_line = item->key_line, next->key_column = item->key_column;
    }
    return value->kind < TMI_VALUE_LIST || tmi_value_close(copy);
}

tamis_status tmi_value_copy(tmi_value **copy, const tmi_value *value, tamis_error *err)
{
    *copy = value ? tmi_value_new(NULL, NULL, value->kind) : NULL;
    if (!value || (*copy && tmi_value_fill(*copy, value))) return TAMIS_OK;
    tmi_value_free(*copy);
    *copy = NULL;
    return tmi_fail_memory(err);
}

void tmi_value_free(tmi_value *value)
{
    if (!value) return;
    for (tmi_value *item = value->first; item;) {
        tmi_value *next = item->next;
        tmi_value_free(item); /* as deep as its reader allows */
        item = next;
    }
    tmi_free(value->items);
    tmi_free(value->key);
    tmi_free(value->text);
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

const char *tmi_value_string(const tmi_value *value) { return value ? value->text : NULL; }

size_t tmi_value_size(const tmi_value *value) { return value ? value->count : 0; }

const tmi_value *tmi_value_at(const tmi_value *list, size_t index)
{
    return is(list, TMI_VALUE_LIST) && index < list->count ? list->items[index] : NULL;
}

const tmi_value *tmi_value_get(const tmi_value *map, const char *key)
{
    if (!is(map, TMI_VALUE_MAP)) return NULL;
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(map->items[middle]->key, key) < 0) low = middle + 1;
        else high = middle;
    }
    return low < map->count && strcmp(map->items[low]->key, key) == 0 ? map->items[low] : NULL;
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
    const tmi_value *item = key ? tmi_value_get(map, key) : is(map, TMI_VALUE_MAP) ? map->first : NULL;
    if (key && item) item = item->next;
    return item ? item->key : NULL;
}

bool tmi_value_equal(const tmi_value *x, const tmi_value *y)
{
    if (!x || !y || x->kind != y->kind || x->count != y->count) return false;
    if (x->kind == TMI_VALUE_TEXT) return strcmp(x->text, y->text) == 0;
    if (x->kind == TMI_VALUE_REAL) return x->real == y->real;
    if (x->kind < TMI_VALUE_LIST) return x->integer == y->integer;
    for (size_t i = 0; i < x->count; i++) {
        const tmi_value *a = x->items[i], *b = y->items[i];
        if ((a->key && strcmp(a->key, b->key) != 0) || !tmi_value_equal(a, b)) return false;
    }
    return true;
}

const char *tmi_value_extra_key(const tmi_value *map, const char *const *keys, size_t count)
{
    for (const tmi_value *item = is(map, TMI_VALUE_MAP) ? map->first : NULL; item; item = item->next) {
        size_t i = 0;
        while (i < count && strcmp(keys[i], item->key) != 0) i++;
        if (i == count) return item->key;
    }
    return NULL;
}

/* The first key of x that y lacks, or holds with another value. */
static const char *difference(const tmi_value *x, const tmi_value *y, const char *except)
{
    for (const tmi_value *item = is(x, TMI_VALUE_MAP) ? x->first : NULL; item; item = item->next) {
        if (except && strcmp(item->key, except) == 0) continue;
        if (!tmi_value_equal(item, tmi_value_get(y, item->key))) return item->key;
    }
    return NULL;
}

const char *tmi_value_difference(const tmi_value *x, const tmi_value *y, const char *except)
{
    const char *key = difference(x, y, except);
    return key ? key : difference(y, x, except);
}

const char *tmi_value_short_name(const char *key) { return strlen(key) <= 60 ? key : "(a long name)"; }
