/* libfyaml hands out events (a scalar, a map begins, ...); a stack of depth TMI_YAML_DEPTH turns them into the tree.
 * Of libfyaml's complaints the first becomes our message.                                                             */
#include "plan/yaml.h"

#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"

typedef struct tree {
    const char *name, *bytes; /* bytes: the whole text */
    size_t skipped;           /* of its mark of the order of bytes, which libfyaml does not see */
    tmi_value *root, *open;   /* open: the list or map whose values are being read; NULL at the top */
    char *key;                /* read, its value comes next */
    int key_line, key_column;
    uint32_t key_begin, key_end;
    size_t depth, nodes;
    int documents;
    tamis_error *err;
} tree;

/* ---- bytes: UTF-8 and nothing else ---- */

#define HIDDEN \
    "U+%04X is invisible, or changes how the text around it is shown: remove it, in the data too if a name or value has it " \
    "(docs/plan.md#names)"

static tamis_status check_bytes(const char *name, const char *bytes, size_t length, tamis_error *err)
{
    if (length > TMI_YAML_BYTES) {
        return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: the file is larger than the limit for a plan (%zu bytes)", name, 1, 1,
                        TMI_YAML_BYTES);
    }
    int line = 1, column = 1;
    for (size_t i = 0; i < length;) {
        size_t step = bytes[i] ? tmi_utf8_length(bytes + i, length - i) : 0;
        if (step == 0) {
            return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: expected text in UTF-8; this byte is not", name, line, column);
        }
        /* of the order of bytes, as some editors write it */
        const bool mark = i == 0 && tmi_code_point(bytes, length, 0) == 0xfeff;
        if (!mark && tmi_hidden(bytes, length, i) > 0)
            return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: " HIDDEN, name, line, column, tmi_code_point(bytes, length, i));
        column++;
        if (bytes[i] == '\n') {
            line++;
            column = 1;
        }
        i += step;
    }
    return TAMIS_OK;
}

/* ---- events ---- */

static struct fy_token *token_of(struct fy_event *event)
{
    switch (event->type) {
    case FYET_SCALAR: return event->scalar.value;
    case FYET_MAPPING_START: return event->mapping_start.mapping_start;
    case FYET_SEQUENCE_START: return event->sequence_start.sequence_start;
    case FYET_ALIAS: return event->alias.anchor;
    case FYET_DOCUMENT_START: return event->document_start.document_start;
    default: return NULL;
    }
}

/* An empty value: libfyaml before 0.8 gives it no token, later ones a plain scalar without text, wherever they stopped
 * reading. */
static bool is_empty(struct fy_token *token)
{
    size_t length = 0;
    return !token || (fy_token_get_type(token) == FYTT_SCALAR && fy_token_scalar_style(token) == FYSS_PLAIN &&
                      (!fy_token_get_text(token, &length) || length == 0));
}

/* The place of an event. The mark of a quoted text, an anchor or an alias is behind its quote, & or *, so one is taken
 * off; an empty value has no place of its own and takes that of its key. */
static void place(const tree *t, struct fy_token *token, int *line, int *column)
{
    const struct fy_mark *mark = is_empty(token) ? NULL : fy_token_start_mark(token);
    if (mark) {
        enum fy_token_type type = fy_token_get_type(token);
        enum fy_scalar_style style = type == FYTT_SCALAR ? fy_token_scalar_style(token) : FYSS_PLAIN;
        bool inside = type == FYTT_ANCHOR || type == FYTT_ALIAS || style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
        *line = mark->line + 1;
        *column = mark->column + (inside ? 0 : 1);
    } else {
        *line = t->key ? t->key_line : t->open ? tmi_value_place(t->open).line : 1;
        *column = t->key ? t->key_column : t->open ? tmi_value_place(t->open).column : 1;
    }
}

/* The bytes of an event. The marks of a quoted text are inside its quotes, those of a block text (| or >) behind its first line.
 * A list or map ends with its last value, unless its own bracket ends it (close_value). */
static void extent(const tree *t, struct fy_token *token, uint32_t *begin, uint32_t *end)
{
    const struct fy_mark *first = is_empty(token) ? NULL : fy_token_start_mark(token);
    const struct fy_mark *last = first ? fy_token_end_mark(token) : NULL;
    if (!last) { /* behind the colon of its key */
        *begin = t->key ? t->key_end : 0;
        while (t->key && t->bytes[*begin] != ':' && t->bytes[*begin] != '\n' && t->bytes[*begin] != '\0') (*begin)++;
        *begin += t->key && t->bytes[*begin] == ':';
        *end = *begin;
        return;
    }
    const enum fy_scalar_style style = fy_token_get_type(token) == FYTT_SCALAR ? fy_token_scalar_style(token) : FYSS_PLAIN;
    *begin = (uint32_t)(first->input_pos + t->skipped);
    *end = (uint32_t)(last->input_pos + t->skipped);
    if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED) {
        --*begin;
        ++*end;
    } else if (style == FYSS_LITERAL || style == FYSS_FOLDED) {
        while (*begin > 0 && t->bytes[*begin] != '|' && t->bytes[*begin] != '>') --*begin;
        while (*end > *begin && strchr("\r\n", t->bytes[*end - 1])) --*end;
    }
}

static tamis_status refuse(const tree *t, struct fy_token *token, const char *what)
{
    int line, column;
    place(t, token, &line, &column);
    return tmi_fail(t->err, TAMIS_INVALID, "%s:%d:%d: %s", t->name, line, column, what);
}

/* Anchors and tags are refused wherever they stand. */
static tamis_status refuse_extras(const tree *t, struct fy_event *event)
{
    struct fy_token *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case FYET_SCALAR: anchor = event->scalar.anchor, tag = event->scalar.tag; break;
    case FYET_MAPPING_START: anchor = event->mapping_start.anchor, tag = event->mapping_start.tag; break;
    case FYET_SEQUENCE_START: anchor = event->sequence_start.anchor, tag = event->sequence_start.tag; break;
    default: break;
    }
    if (anchor) return refuse(t, anchor, "anchors (&name) are not used in plans: write the value out");
    if (tag) return refuse(t, tag, "tags (!name) are not used in plans: write the plain value");
    return TAMIS_OK;
}

static tamis_status copy_scalar(char **copy, const tree *t, struct fy_token *token)
{
    size_t length = 0;
    const char *text = token ? fy_token_get_text(token, &length) : NULL;
    if (text && memchr(text, 0, length)) return refuse(t, token, "a text may not contain a zero byte");
    for (size_t i = 0; i < length; i++) { /* by an escape, "\u202E" */
        int line, column;
        if (tmi_hidden(text, length, i) == 0) continue;
        place(t, token, &line, &column);
        return tmi_fail(t->err, TAMIS_INVALID, "%s:%d:%d: " HIDDEN, t->name, line, column, tmi_code_point(text, length, i));
    }
    *copy = tmi_copy_text(text ? text : "", text ? length : 0);
    return *copy ? TAMIS_OK : tmi_fail_memory(t->err);
}

static bool wants_key(const tree *t) { return t->open && t->open->kind == TMI_VALUE_MAP && !t->key; }

static tamis_status take_key(tree *t, struct fy_event *event)
{
    if (event->type != FYET_SCALAR) return refuse(t, token_of(event), "expected a key, e.g. design:");
    tamis_status status = copy_scalar(&t->key, t, event->scalar.value);
    if (status != TAMIS_OK) return status;
    char *key = t->key;
    t->key = NULL; /* the place of a key without text is that of its map */
    place(t, event->scalar.value, &t->key_line, &t->key_column);
    extent(t, event->scalar.value, &t->key_begin, &t->key_end);
    t->key = key;
    return TAMIS_OK;
}

static tamis_status take_value(tree *t, struct fy_event *event)
{
    struct fy_token *token = token_of(event);
    if (++t->nodes > TMI_YAML_NODES) return refuse(t, token, "the plan has more values than the limit (100000)");
    if (t->open && t->open->count == TMI_YAML_KEYS && t->open->kind == TMI_VALUE_MAP) {
        return refuse(t, token, "this map has more keys than the limit (10000)");
    }
    static const tmi_value_kind kinds[] = {
        [FYET_SCALAR] = TMI_VALUE_TEXT, [FYET_MAPPING_START] = TMI_VALUE_MAP, [FYET_SEQUENCE_START] = TMI_VALUE_LIST};
    tmi_value *node = tmi_value_new(t->open, t->key, kinds[event->type]);
    if (!node) return tmi_fail_memory(t->err);
    if (!t->open) t->root = node;
    tmi_place at;
    place(t, token, &at.line, &at.column);
    at.key_line = t->key ? t->key_line : at.line;
    at.key_column = t->key ? t->key_column : at.column;
    extent(t, token, &at.begin, &at.end);
    at.key_begin = t->key ? t->key_begin : at.begin;
    at.key_end = t->key ? t->key_end : at.begin;
    tmi_value_set_place(node, at);
    tmi_free(t->key);
    t->key = NULL;
    if (node->kind == TMI_VALUE_TEXT) {
        node->quoted = token && fy_token_scalar_style(token) != FYSS_PLAIN;
        tamis_status status = copy_scalar(&node->text, t, token);
        if (status == TAMIS_INVALID && !tmi_value_set_text(node, "", 0)) status = tmi_fail_memory(t->err); /* of a part */
        return status;
    }
    if (++t->depth > TMI_YAML_DEPTH) return refuse(t, token, "nested more deeply than the limit (16 levels)");
    node->places = true;
    t->open = node;
    return TAMIS_OK;
}

/* The list or map that is open has all its values. `bracket`: the end of it, where it is written. */
static tamis_status close_value(tree *t, struct fy_token *bracket)
{
    tmi_value *const value = t->open;
    tmi_place at = tmi_value_place(value);
    const tmi_value *last = NULL;
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) last = item;
    if (strchr("{[", t->bytes[at.begin])) extent(t, bracket, &(uint32_t){0}, &at.end);
    else if (last) at.end = tmi_value_place(last).end;
    tmi_value_set_place(value, at);
    if (!tmi_value_close(value)) return tmi_fail_memory(t->err);
    t->open = (tmi_value *)(uintptr_t)tmi_value_parent(value);
    t->depth--;
    return TAMIS_OK;
}

static tamis_status take_event(tree *t, struct fy_event *event)
{
    tamis_status status = refuse_extras(t, event);
    if (status != TAMIS_OK) return status;
    switch (event->type) {
    case FYET_SCALAR:
    case FYET_MAPPING_START:
    case FYET_SEQUENCE_START: return wants_key(t) ? take_key(t, event) : take_value(t, event);
    case FYET_MAPPING_END: return close_value(t, event->mapping_end.mapping_end);
    case FYET_SEQUENCE_END: return close_value(t, event->sequence_end.sequence_end);
    case FYET_ALIAS: return refuse(t, token_of(event), "aliases (*name) are not used in plans: write the value out");
    case FYET_DOCUMENT_START:
        if (++t->documents > 1) return refuse(t, token_of(event), "a plan is one YAML document; a second one begins here");
        return TAMIS_OK;
    default: return TAMIS_OK;
    }
}

/* libfyaml's complaints as it would print them, "<input>:LINE:COLUMN: error: WHAT" and an excerpt of the file. */
typedef struct complaints {
    char text[512];
    size_t length;
} complaints;

static void take_complaint(struct fy_diag *diag, void *user, const char *bytes, size_t length)
{
    (void)diag;
    complaints *c = user;
    size_t room = sizeof c->text - 1 - c->length;
    if (length > room) length = room;
    memcpy(c->text + c->length, bytes, length);
    c->length += length;
}

/* Our message from its first line. */
static tamis_status syntax_error(const tree *t, const complaints *c)
{
    static const char mark[] = ": error: ";
    int line = 1, column = 1;
    const char *what = strstr(c->text, mark);
    const char *at = what;
    for (int colons = 0; at && at > c->text && colons < 2; colons += *at == ':') at--;
    if (!at || sscanf(at, ":%d:%d", &line, &column) != 2) line = column = 1;
    what = what ? what + sizeof mark - 1 : "";
    return tmi_fail(t->err, TAMIS_INVALID, "%s:%d:%d: not valid YAML: %.*s", t->name, line, column, (int)strcspn(what, "\n"),
                    what);
}

tamis_status tmi_yaml_read_partly(tmi_value **root, const char *name, const char *bytes, size_t length, tamis_error *err)
{
    *root = NULL;
    tamis_status status = check_bytes(name, bytes, length, err);
    if (status != TAMIS_OK) return status;

    tree t = {.name = name, .err = err};
    char *copy = tmi_copy_text(bytes, length); /* ends with a zero byte */
    if (!copy) return tmi_fail_memory(err);
    t.bytes = copy;
    t.skipped = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct fy_parser *parser = NULL;
    struct fy_diag_cfg quiet;
    complaints collected = {0};
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    quiet.output_fn = take_complaint;
    quiet.user = &collected;
    quiet.colorize = false;
    struct fy_diag *diag = fy_diag_create(&quiet);
    if (diag) {
        struct fy_parse_cfg config = {.flags = FYPCF_JSON_NONE, .diag = diag};
        parser = fy_parser_create(&config);
    }
    if (!parser || fy_parser_set_string(parser, bytes + t.skipped, length - t.skipped) != 0) {
        status = tmi_fail_memory(err);
        goto done;
    }
    struct fy_event *event;
    while ((event = fy_parser_parse(parser)) != NULL) {
        status = take_event(&t, event);
        fy_parser_event_free(parser, event);
        if (status != TAMIS_OK) goto done;
    }
    if (fy_parser_get_stream_error(parser)) status = syntax_error(&t, &collected);
    if (status == TAMIS_OK && !t.root) {
        t.root = tmi_value_new(NULL, NULL, TMI_VALUE_TEXT);
        if (!t.root || !tmi_value_set_text(t.root, "", 0)) status = tmi_fail_memory(err);
        else tmi_value_set_place(t.root, (tmi_place){.line = 1, .column = 1, .key_line = 1, .key_column = 1});
    }

done:
    if (parser) fy_parser_destroy(parser);
    if (diag) fy_diag_unref(diag);
    tmi_free(t.key);
    for (; t.open; t.open = (tmi_value *)(uintptr_t)tmi_value_parent(t.open))
        if (!tmi_value_close(t.open)) status = tmi_fail_memory(err);
    if (status == TAMIS_SYSTEM) tmi_value_free(t.root);
    else *root = t.root;
    tmi_free(copy);
    return status;
}

tamis_status tmi_yaml_read(tmi_value **root, const char *name, const char *bytes, size_t length, tamis_error *err)
{
    tamis_status status = tmi_yaml_read_partly(root, name, bytes, length, err);
    if (status == TAMIS_OK) return status;
    tmi_value_free(*root);
    *root = NULL;
    return status;
}
