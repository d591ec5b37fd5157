#include "engine/core/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct label {
    size_t start, length; /* in the texts */
    int64_t rows;
    int32_t stratum;
    uint32_t hash;
} label;

/* A slot has the number of its label, plus 1, in its lower bits, and above them the lower bits of the label's hash: another label
 * is usually told apart without a look at it. */
#define NUMBER_BITS 40
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)

/* Open addressing; at most half of the slots are taken, and an empty one is 0. */
struct tmi_labels {
    label *list;
    char *texts;
    uint64_t *slots;
    size_t count, room, text_length, text_room, slot_count;
};

tmi_labels *tmi_labels_new(void)
{
    tmi_labels *labels = tmi_alloc(1, sizeof *labels);
    if (!labels) return NULL;
    labels->slot_count = 16;
    labels->slots = tmi_alloc(labels->slot_count, sizeof *labels->slots);
    if (labels->slots) return labels;
    tmi_free(labels);
    return NULL;
}

void tmi_labels_free(tmi_labels *labels)
{
    if (!labels) return;
    if (labels->texts) tmi_wipe(labels->texts, labels->text_room);
    tmi_free(labels->texts);
    tmi_free(labels->list);
    tmi_free(labels->slots);
    tmi_free(labels);
}

int64_t tmi_labels_count(const tmi_labels *labels) { return (int64_t)labels->count; }

tmi_cell tmi_labels_text(const tmi_labels *labels, int64_t number)
{
    const label *l = &labels->list[number];
    return (tmi_cell){labels->texts + l->start, l->length};
}

int64_t tmi_labels_rows(const tmi_labels *labels, int64_t number) { return labels->list[number].rows; }

void tmi_labels_count_in(int64_t *counts, size_t count, const tmi_labels *labels)
{
    memset(counts, 0, count * sizeof *counts);
    for (size_t i = 0; i < labels->count; i++)
        if (labels->list[i].stratum >= 0 && (size_t)labels->list[i].stratum < count) counts[labels->list[i].stratum]++;
}

static uint32_t hash_of(int32_t stratum, tmi_cell text)
{
    const uint64_t hash = tmi_hash_text(text.bytes, text.length) + (uint32_t)stratum;
    return (uint32_t)((hash * UINT64_C(0xbf58476d1ce4e5b9)) >> 32);
}

/* Where the search for a label begins. */
static size_t place_of(const tmi_labels *labels, uint32_t hash)
{
    return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (labels->slot_count - 1);
}

static uint64_t slot_of(uint32_t hash, size_t number) { return (uint64_t)hash << NUMBER_BITS | (number + 1); }

static bool is_label(const tmi_labels *labels, size_t number, int32_t stratum, tmi_cell text)
{
    const label *l = &labels->list[number];
    return l->stratum == stratum && l->length == text.length && memcmp(labels->texts + l->start, text.bytes, text.length) == 0;
}

/* The number of a label; TMI_NO_LABEL if it is not there. */
static int64_t find(const tmi_labels *labels, int32_t stratum, tmi_cell text, uint32_t hash)
{
    uint64_t slot;
    for (size_t i = place_of(labels, hash); (slot = labels->slots[i]) != 0; i = (i + 1) & (labels->slot_count - 1)) {
        const int64_t number = (int64_t)(slot & NUMBER_MASK) - 1;
        if (slot != slot_of(hash, (size_t)number)) continue;
        if (is_label(labels, (size_t)number, stratum, text)) return number;
    }
    return TMI_NO_LABEL;
}

/* Gives a label that is not there its slot. */
static void take_slot(const tmi_labels *labels, size_t number)
{
    const uint32_t hash = labels->list[number].hash;
    size_t i = place_of(labels, hash);
    while (labels->slots[i] != 0) i = (i + 1) & (labels->slot_count - 1);
    labels->slots[i] = slot_of(hash, number);
}

/* A row whose label is looked for. */
typedef struct row {
    tmi_cell text;
    int32_t stratum;
    uint32_t hash;
    bool again; /* the label of the row before: rows of a unit or cluster often follow each other */
} row;

#define ROWS_AT_ONCE 64

/* Makes rows ready and fetches where the search for them begins, which is usually far apart in memory. */
static size_t look_at(row *rows, const tmi_labels *labels, const int32_t *strata, const tmi_cell *texts, size_t n)
{
    const size_t count = n < ROWS_AT_ONCE ? n : ROWS_AT_ONCE;
    for (size_t i = 0; i < count; i++) {
        row *r = &rows[i];
        *r = (row){.text = tmi_trimmed(texts[i].bytes, texts[i].bytes ? texts[i].length : 0), .stratum = strata ? strata[i] : 0};
        r->again = i > 0 && r->stratum == r[-1].stratum && r->text.length == r[-1].text.length &&
                   (r->text.length == 0 || memcmp(r->text.bytes, r[-1].text.bytes, r->text.length) == 0);
        r->hash = r->again ? r[-1].hash : hash_of(r->stratum, r->text);
        if (!r->again) __builtin_prefetch(&labels->slots[place_of(labels, r->hash)]);
    }
    return count;
}

static bool make_text_room(tmi_labels *labels, size_t more)
{
    if (more <= labels->text_room - labels->text_length) return true;
    size_t room = 2 * labels->text_room + 4096;
    while (room - labels->text_length < more) room *= 2;
    char *texts = tmi_regrow(labels->texts, labels->text_length, room, 1);
    if (!texts) return false;
    labels->texts = texts;
    labels->text_room = room;
    return true;
}

static bool make_slots(tmi_labels *labels)
{
    if (2 * (labels->count + 1) <= labels->slot_count) return true;
    uint64_t *old = labels->slots, *slots = tmi_alloc(2 * labels->slot_count, sizeof *slots);
    if (!slots) return false;
    labels->slots = slots;
    labels->slot_count *= 2;
    for (size_t i = 0; i < labels->count; i++) take_slot(labels, i);
    tmi_free(old);
    return true;
}

static bool make_room(tmi_labels *labels, size_t text_length)
{
    return tmi_grow(&labels->list, &labels->room, labels->count, sizeof *labels->list) && make_text_room(labels, text_length) &&
           make_slots(labels);
}

/* The number of a row's label, which is not empty and is added if it is new. */
static tamis_status add_row(int64_t *number, tmi_labels *labels, const row *r, tamis_error *err)
{
    *number = find(labels, r->stratum, r->text, r->hash);
    if (*number != TMI_NO_LABEL) return TAMIS_OK;
    if (!make_room(labels, r->text.length)) return tmi_fail_memory(err);
    labels->list[labels->count] = (label){labels->text_length, r->text.length, 0, r->stratum, r->hash};
    memcpy(labels->texts + labels->text_length, r->text.bytes, r->text.length);
    labels->text_length += r->text.length;
    *number = (int64_t)labels->count;
    take_slot(labels, labels->count++);
    return TAMIS_OK;
}

tamis_status tmi_labels_add(int64_t *number, tmi_labels *labels, int32_t stratum, tmi_cell text, tamis_error *err)
{
    row r;
    look_at(&r, labels, &stratum, &text, 1);
    *number = TMI_NO_LABEL;
    return r.text.length > 0 ? add_row(number, labels, &r, err) : TAMIS_OK;
}

tamis_status tmi_labels_add_all(tmi_labels *labels, const int32_t *strata, size_t count, const tmi_cell *texts, size_t n,
                                tamis_error *err)
{
    row rows[ROWS_AT_ONCE];
    tamis_status status = TAMIS_OK;
    for (size_t start = 0, some; start < n; start += some) {
        int64_t number = TMI_NO_LABEL;
        some = look_at(rows, labels, strata ? strata + start : NULL, texts + start, n - start);
        for (size_t i = 0; i < some; i++) {
            if (rows[i].text.length == 0 || rows[i].stratum < 0 || (size_t)rows[i].stratum >= count) continue;
            if (!rows[i].again) TMI_TRY(add_row(&number, labels, &rows[i], err));
            labels->list[number].rows++;
        }
    }
done:
    return status;
}

/* ---- clusters ---- */

struct tmi_clusters {
    const tmi_column *column;
    const tmi_labels *labels; /* its own, or those that were known */
    tmi_labels *own;
    int32_t *codes; /* one per label */
};

tmi_clusters *tmi_clusters_new(const tmi_column *column)
{
    tmi_clusters *clusters = tmi_alloc(1, sizeof *clusters);
    if (!clusters) return NULL;
    clusters->column = column;
    clusters->labels = clusters->own = tmi_labels_new();
    if (clusters->labels) return clusters;
    tmi_free(clusters);
    return NULL;
}

void tmi_clusters_know(tmi_clusters *clusters, const tmi_labels *labels) { clusters->labels = labels; }

void tmi_clusters_free(tmi_clusters *clusters)
{
    if (!clusters) return;
    tmi_labels_free(clusters->own);
    tmi_free(clusters->codes);
    tmi_free(clusters);
}

static size_t strata_of(const tmi_clusters *clusters)
{
    return clusters->column->stratum ? clusters->column->stratum->value_count : 1;
}

tamis_status tmi_clusters_see(tmi_clusters *clusters, const int32_t *strata, const tmi_cell *labels, size_t n, tamis_error *err)
{
    return tmi_labels_add_all(clusters->own, strata, strata_of(clusters), labels, n, err);
}

/* Texts are mostly told apart by their first bytes, as a number with the first one above: those of a shorter text are followed
 * by 0. */
typedef struct ranked {
    uint64_t first;
    const char *text;
    size_t length, number;
    int32_t stratum;
} ranked;

static uint64_t first_bytes(const char *text, size_t length)
{
    uint64_t first = 0;
    for (size_t i = 0; i < sizeof first; i++) first = first << 8 | (i < length ? (unsigned char)text[i] : 0);
    return first;
}

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->stratum != y->stratum) return x->stratum < y->stratum ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    const int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    if (order != 0) return order;
    return x->length < y->length ? -1 : x->length > y->length;
}

tamis_status tmi_clusters_close(tmi_clusters *clusters, tamis_error *err)
{
    const tmi_labels *labels = clusters->labels;
    ranked *list = tmi_alloc(labels->count, sizeof *list);
    clusters->codes = tmi_alloc(labels->count, sizeof *clusters->codes);
    if (!list || !clusters->codes) {
        tmi_free(list);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < labels->count; i++) {
        const label *l = &labels->list[i];
        list[i] = (ranked){first_bytes(labels->texts + l->start, l->length), labels->texts + l->start, l->length, i, l->stratum};
    }
    qsort(list, labels->count, sizeof *list, compare);
    int64_t rank = 0;
    for (size_t i = 0; i < labels->count; i++) {
        const int32_t stratum = list[i].stratum;
        rank = i > 0 && stratum == list[i - 1].stratum ? rank + 1 : 0;
        clusters->codes[list[i].number] = rank < clusters->column->cluster_counts[stratum]
                                              ? clusters->column->cell_of[stratum][rank]
                                              : (int32_t)clusters->column->value_count;
    }
    tmi_free(list);
    return TAMIS_OK;
}

void tmi_cluster_codes(int32_t *codes, const tmi_clusters *clusters, const int32_t *strata, const tmi_cell *labels, size_t n)
{
    row rows[ROWS_AT_ONCE];
    for (size_t start = 0, some; start < n; start += some) {
        some = look_at(rows, clusters->labels, strata ? strata + start : NULL, labels + start, n - start);
        for (size_t i = 0; i < some; i++) {
            const row *r = &rows[i];
            if (r->again) {
                codes[start + i] = codes[start + i - 1];
                continue;
            }
            const int64_t number = r->text.length > 0 ? find(clusters->labels, r->stratum, r->text, r->hash) : TMI_NO_LABEL;
            codes[start + i] = number == TMI_NO_LABEL ? (int32_t)clusters->column->value_count : clusters->codes[number];
        }
    }
}
