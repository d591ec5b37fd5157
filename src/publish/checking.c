#include "publish/checking.h"

#include <stdio.h>
#include <string.h>

#define MOST_PROBLEMS 100 /* a file that differs everywhere needs no longer list */

void tmi_check_note(tmi_checking *c, const char *field, const char *message)
{
    if (c->status != TAMIS_OK || c->faults->count >= MOST_PROBLEMS) return;
    c->status = tmi_fault_note(c->faults, c->err, field, "%s", message);
}

tamis_status tmi_check_noted(tmi_checking *c, const char *field, tamis_status status, const tamis_error *reason, tamis_error *err)
{
    if (status == TAMIS_SYSTEM) return tmi_fail_as(err, reason);
    if (status != TAMIS_OK) tmi_check_note(c, field, reason->message);
    return TAMIS_OK;
}

/* "outer.key", cut where it is too long. */
static void path_to(char path[TMI_FAULT_FIELD], const char *outer, const char *key)
{
    snprintf(path, TMI_FAULT_FIELD, "%.80s%s%.40s", outer, *outer ? "." : "", key);
}

static bool is_among(const char *key, const char *const *list)
{
    while (*list && strcmp(*list, key) != 0) list++;
    return *list != NULL;
}

static void compare_keys(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path,
                         const char *const *except, bool may_miss)
{
    char inner[TMI_FAULT_FIELD];
    for (const char *key = tmi_value_next_key(follows, NULL); key; key = tmi_value_next_key(follows, key)) {
        const tmi_value *there = tmi_value_get(says, key);
        bool guarantee = may_miss || (!*path && strcmp(key, "guarantee") == 0);
        if (is_among(key, except)) continue;
        path_to(inner, path, key);
        if (there) tmi_check_same(c, tmi_value_get(follows, key), there, inner, guarantee);
        else if (!guarantee) tmi_check_note(c, inner, "is missing");
    }
    for (const char *key = tmi_value_next_key(says, NULL); key; key = tmi_value_next_key(says, key)) {
        path_to(inner, path, key);
        if (!tmi_value_get(follows, key)) tmi_check_note(c, inner, "does not belong here");
    }
}

void tmi_check_fields(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path,
                      const char *const *except)
{
    compare_keys(c, follows, says, path, except, false);
}

static void compare_lists(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path, bool may_miss)
{
    char inner[TMI_FAULT_FIELD];
    if (tmi_value_size(follows) != tmi_value_size(says)) {
        tmi_check_note(c, path, "has a length that does not follow from the rest");
        return;
    }
    for (size_t i = 0; i < tmi_value_size(follows); i++) {
        snprintf(inner, sizeof inner, "%.100s[%zu]", path, i);
        tmi_check_same(c, tmi_value_at(follows, i), tmi_value_at(says, i), inner, may_miss);
    }
}

static void compare_leaves(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path)
{
    tmi_text right, wrong;
    tmi_text_init(&right);
    tmi_text_init(&wrong);
    if (c->status == TAMIS_OK) c->status = tmi_json_canonical(&right, follows, c->err);
    if (c->status == TAMIS_OK) c->status = tmi_json_canonical(&wrong, says, c->err);
    if (c->status == TAMIS_OK && strcmp(right.bytes, wrong.bytes) != 0) {
        char message[200];
        bool hash = strcmp(path, "hash") == 0;
        snprintf(message, sizeof message, "says %.80s, but %.80s follows from the rest", wrong.bytes, right.bytes);
        tmi_check_note(c, path, hash ? "is not the hash of the rest, so the certificate was changed" : message);
    }
    tmi_text_clear(&right);
    tmi_text_clear(&wrong);
}

void tmi_check_same(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path, bool may_miss)
{
    tmi_value_kind kind = tmi_value_kind_of(follows);
    if (c->status != TAMIS_OK || c->faults->count >= MOST_PROBLEMS) return;
    if (kind == TMI_VALUE_MAP && tmi_value_kind_of(says) == kind)
        compare_keys(c, follows, says, path, (const char *const[]){NULL}, may_miss);
    else if (kind == TMI_VALUE_LIST && tmi_value_kind_of(says) == kind) compare_lists(c, follows, says, path, may_miss);
    else compare_leaves(c, follows, says, path);
}
