#include "plan/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/letters.h"
#include "base/memory.h"
#include "base/text.h"
#include "num/number.h"
#include "plan/plan.h"

/* ---- complaints ---- */

/* A piece of the plan inside a message: control characters would spoil the terminal, long texts the message. */
static void put_name(tmi_text *text, const char *name)
{
    size_t shown = 0;
    while (name[shown] && shown < 60) {
        size_t control = tmi_control(name + shown);
        tmi_text_add(text, control > 0 ? "?" : name + shown, 1);
        shown += control > 0 ? control : 1;
    }
    while (name[shown] && ((unsigned char)name[shown] & 0xc0) == 0x80) tmi_text_add(text, name + shown++, 1);
    if (name[shown]) tmi_text_put(text, "...");
}

/* statistics[2].by: where a value is, in the user's own words; list entries counted from 1. */
static void put_path(tmi_text *text, const tmi_value *value)
{
    if (!tmi_value_parent(value)) return;
    put_path(text, tmi_value_parent(value));
    if (tmi_value_key(value)) {
        if (tmi_value_parent(tmi_value_parent(value))) tmi_text_put(text, ".");
        put_name(text, tmi_value_key(value));
    } else {
        size_t place = 1;
        for (const tmi_value *before = tmi_value_first(tmi_value_parent(value)); before != value; before = tmi_value_next(before))
            place++;
        tmi_text_format(text, "[%zu]", place);
    }
}

static void complain(tmi_reader *reader, const tmi_value *value, int line, int column, const char *format, va_list arguments)
{
    if (reader->count == TMI_MAX_COMPLAINTS) return;
    if (!tmi_grow(&reader->complaints, &reader->room, reader->count, sizeof *reader->complaints)) {
        reader->no_memory = true;
        return;
    }
    static const char to_fill_in[] = "to be filled in: ";
    const bool open = value->kind == TMI_VALUE_TEXT && strcmp(value->text, TMI_FILL_IN) == 0;
    char what[1024];
    snprintf(what, sizeof what, "%s", open ? to_fill_in : "");
    vsnprintf(what + strlen(what), sizeof what - strlen(what), format, arguments);
    for (char *c = what; *c; c++) {
        for (size_t left = tmi_control(c); left > 0; left--) c[left - 1] = '?';
    }
    tmi_text text;
    tmi_text_init(&text);
    size_t key = 0;
    if (tmi_value_parent(value)) {
        put_path(&text, value);
        key = text.length;
        tmi_text_put(&text, ": ");
    }
    tmi_text_put(&text, what);
    char *message = NULL, *name = tmi_copy_text(reader->name, strlen(reader->name));
    if (tmi_text_take(&message, &text, NULL) != TAMIS_OK || !name) {
        reader->no_memory = true;
        tmi_free(message);
        tmi_free(name);
        return;
    }
    reader->complaints[reader->count] = (tmi_complaint){reader->file, line, column, reader->count, name, message, key};
    reader->count++;
}

void tmi_complain(tmi_reader *reader, const tmi_value *value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(reader, value, tmi_value_place(value).line, tmi_value_place(value).column, format, arguments);
    va_end(arguments);
}

void tmi_complain_key(tmi_reader *reader, const tmi_value *value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(reader, value, tmi_value_place(value).key_line, tmi_value_place(value).key_column, format, arguments);
    va_end(arguments);
}

static int by_place(const void *a, const void *b)
{
    const tmi_complaint *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void tmi_reader_sort(tmi_reader *reader)
{
    if (reader->count > 0) qsort(reader->complaints, reader->count, sizeof *reader->complaints, by_place);
}

void tmi_reader_clear(tmi_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        tmi_free(reader->complaints[i].name);
        tmi_free(reader->complaints[i].text);
    }
    tmi_free(reader->complaints);
    reader->complaints = NULL;
    reader->count = reader->room = 0;
}

tamis_status tmi_reader_end(tmi_reader *reader, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (reader->no_memory) {
        status = tmi_fail_memory(err);
    } else if (reader->count > 0) {
        tmi_reader_sort(reader);
        tmi_error_reset(err);
        for (size_t i = 0; i < reader->count; i++) {
            const tmi_complaint *c = &reader->complaints[i];
            const size_t before = err ? err->item_count : 0;
            status = tmi_fail_more(err, TAMIS_INVALID, "%s:%d:%d: %s", c->name, c->line, c->column, c->text);
            if (err && err->item_count > before) tmi_error_key(err, c->key);
        }
        tmi_because(err, "plan", status);
    }
    tmi_reader_clear(reader);
    return status;
}

static const char *key_name(const void *keys, size_t index) { return ((const tmi_plan_key *)keys)[index].name; }

static bool is_offered(const tmi_plan_key *key) { return key->read || key->plain; }

/* ---- maps ---- */

const tmi_plan_key *tmi_find_key(tmi_reader *reader, const tmi_value *value, const tmi_plan_key *keys, size_t key_count)
{
    for (size_t i = 0; i < key_count; i++) {
        if (strcmp(keys[i].name, tmi_value_key(value)) != 0) continue;
        if (is_offered(&keys[i])) return &keys[i];
        tmi_complain_key(reader, value, "not offered: %s", keys[i].not_offered);
        return NULL;
    }
    int nearest = tmi_meant_word(tmi_value_key(value), key_name, keys, key_count);
    if (nearest >= 0) {
        tmi_complain_key(reader, value, "unknown key; did you mean %s?", keys[nearest].name);
        return NULL;
    }
    tmi_text known;
    tmi_text_init(&known);
    for (size_t i = 0; i < key_count; i++) {
        if (is_offered(&keys[i])) tmi_text_format(&known, "%s%s", known.length ? ", " : "", keys[i].name);
    }
    if (known.failed) reader->no_memory = true;
    else tmi_complain_key(reader, value, "unknown key; expected one of %s", known.bytes);
    tmi_text_clear(&known);
    return NULL;
}

void tmi_read_map(tmi_reader *reader, const tmi_value *map, const tmi_plan_key *keys, size_t key_count, const char *example,
                  void *target)
{
    if (map->kind != TMI_VALUE_MAP) {
        tmi_complain(reader, map, "expected a map, e.g. %s", example);
        return;
    }
    for (const tmi_value *value = tmi_value_first(map); value; value = tmi_value_next(value)) {
        if (tmi_value_get(map, tmi_value_key(value)) != value) continue; /* a duplicate; complained about already */
        const tmi_plan_key *key = tmi_find_key(reader, value, keys, key_count);
        void *field = key && target ? (char *)target + key->field : NULL; /* keys that are only checked have no target */
        if (key && key->plain) key->plain(reader, value, field, key);
        else if (key) key->read(reader, value, field);
    }
    for (size_t i = 0; i < key_count; i++) {
        if (!keys[i].required || tmi_value_get(map, keys[i].name)) continue;
        tmi_complain_key(reader, map, "expected the key %s, e.g. %s", keys[i].name, keys[i].required);
    }
}

void tmi_complain_duplicates(tmi_reader *reader, const tmi_value *root)
{
    for (const tmi_value *value = tmi_value_first(root); value; value = tmi_value_next(value)) {
        const tmi_value *first = tmi_value_key(value) ? tmi_value_get(root, tmi_value_key(value)) : value;
        if (first != value)
            tmi_complain_key(reader, value, "duplicate key; first given on line %d", tmi_value_place(first).key_line);
        tmi_complain_duplicates(reader, value);
    }
}

/* ---- values ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* Texts of a plan are printed: what a terminal would obey is refused, and *text freed. */
static bool complain_control(tmi_reader *reader, const tmi_value *value, char **text)
{
    if (!tmi_has_control(*text)) return false;
    tmi_complain(reader, value, "expected a text without control characters");
    tmi_free(*text);
    *text = NULL;
    return true;
}

bool tmi_read_text(tmi_reader *reader, const tmi_value *value, char **text, const char *example)
{
    if (value->kind == TMI_VALUE_TEXT) {
        const char *from = value->text, *to = from + strlen(from);
        while (is_blank(*from)) from++;
        while (to > from && is_blank(to[-1])) to--;
        if (to > from && strcmp(value->text, TMI_FILL_IN) != 0) {
            *text = tmi_copy_text(from, (size_t)(to - from));
            if (!*text) reader->no_memory = true;
            return *text && !complain_control(reader, value, text);
        }
    }
    tmi_complain(reader, value, "expected a text, e.g. %s", example);
    return false;
}

bool tmi_read_label(tmi_reader *reader, const tmi_value *value, char **text, const char *example)
{
    if (!tmi_read_text(reader, value, text, example)) return false;
    if (strlen(*text) <= TMI_MAX_LABEL) return true;
    tmi_complain(reader, value, "expected at most %d bytes, e.g. %s", TMI_MAX_LABEL, example);
    tmi_free(*text);
    *text = NULL;
    return false;
}

bool tmi_read_exact(tmi_reader *reader, const tmi_value *value, tamis_number **number, const char *example)
{
    tamis_error why = {0};
    tamis_status status = value->kind == TMI_VALUE_TEXT ? tamis_number_read(number, value->text, &why) : TAMIS_INVALID;
    if (status == TAMIS_OK) return true;
    if (status == TAMIS_SYSTEM) reader->no_memory = true;
    else if (value->kind == TMI_VALUE_TEXT && strncmp(why.message, "not a number", 12) != 0)
        tmi_complain(reader, value, "expected a number, e.g. %s; here %s", example, why.message);
    else tmi_complain(reader, value, "expected a number, e.g. %s", example);
    return false;
}

bool tmi_read_whole(tmi_reader *reader, const tmi_value *value, int64_t *whole, int64_t least, int64_t most, const char *example)
{
    tamis_number *number = NULL;
    tamis_error why = {0};
    tamis_status status = value->kind == TMI_VALUE_TEXT ? tamis_number_read(&number, value->text, &why) : TAMIS_INVALID;
    bool right = status == TAMIS_OK && tmi_number_is_integer(number) && tmi_number_floor(whole, number) && *whole >= least &&
                 *whole <= most;
    tamis_number_free(number);
    if (right) return true;
    if (status == TAMIS_SYSTEM) {
        reader->no_memory = true;
    } else {
        tmi_complain(reader, value, "expected a whole number from %lld to %lld, e.g. %s", (long long)least, (long long)most,
                     example);
    }
    return false;
}

bool tmi_read_yes_no(tmi_reader *reader, const tmi_value *value, bool *yes)
{
    static const char *const words[] = {"yes", "true", "no", "false"};
    for (size_t i = 0; value->kind == TMI_VALUE_TEXT && i < 4; i++) {
        if (strcasecmp(value->text, words[i]) != 0) continue;
        *yes = i < 2;
        return true;
    }
    tmi_complain(reader, value, "expected yes or no (true and false are accepted too)");
    return false;
}

bool tmi_read_word(tmi_reader *reader, const tmi_value *value, size_t *index, const char *const *words, size_t count)
{
    bool text = value->kind == TMI_VALUE_TEXT;
    for (size_t i = 0; text && i < count; i++) {
        if (strcmp(value->text, words[i]) != 0) continue;
        *index = i;
        return true;
    }
    tmi_text known;
    tmi_text_init(&known);
    for (size_t i = 0; i < count; i++) tmi_text_format(&known, i ? ", %s" : "%s", words[i]);
    int nearest = text ? tmi_meant_word(value->text, tmi_word_of_list, words, count) : -1;
    if (nearest >= 0) tmi_text_format(&known, "; did you mean %s?", words[nearest]);
    if (known.failed) reader->no_memory = true;
    else if (count == 1) tmi_complain(reader, value, "expected %s", words[0]);
    else tmi_complain(reader, value, "expected one of %s", known.bytes);
    tmi_text_clear(&known);
    return false;
}

bool tmi_read_texts(tmi_reader *reader, const tmi_value *value, char ***texts, size_t *count, size_t most, const char *example)
{
    if (value->kind != TMI_VALUE_LIST || value->count == 0 || value->count > most) {
        tmi_complain(reader, value, "expected a list of 1 to %zu texts, e.g. [%s]", most, example);
        return false;
    }
    *texts = tmi_alloc(value->count, sizeof **texts);
    if (!*texts) {
        reader->no_memory = true;
        return false;
    }
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item))
        if (tmi_read_text(reader, item, &(*texts)[*count], example)) ++*count;
    return *count == value->count;
}

void tmi_read_later(tmi_reader *reader, const tmi_value *value, void *target) { (void)reader, (void)value, (void)target; }

/* ---- fields ---- */

void tmi_plain_text(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key)
{
    tmi_read_text(reader, value, field, key->example);
}

void tmi_plain_label(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key)
{
    tmi_read_label(reader, value, field, key->example);
}

void tmi_plain_exact(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key)
{
    tmi_read_exact(reader, value, field, key->example);
}

void tmi_plain_yes_no(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key)
{
    (void)key;
    tmi_read_yes_no(reader, value, field);
}
