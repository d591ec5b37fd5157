#include "measure/frame/psu_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "engine/core/cells.h"
#include "engine/files/files.h"
#include "engine/files/frame.h"

void tmi_psu_facts_clear(tmi_psu_facts *f)
{
    tmi_free(f->clusters);
    *f = (tmi_psu_facts){0};
}

void tmi_psu_file_clear(tmi_psu_file *p)
{
    for (size_t h = 0; p->strata && h < p->facts.strata; h++) tmi_free(p->strata[h]);
    for (size_t i = 0; p->labels && i < p->label_count; i++) tmi_free(p->labels[i]);
    tmi_free(p->strata);
    tmi_free(p->labels);
    tmi_free(p->label_of);
    tmi_psu_facts_clear(&p->facts);
    *p = (tmi_psu_file){0};
}

int64_t tmi_psu_count(const tmi_psu_facts *f)
{
    int64_t count = 0;
    for (size_t h = 0; h < f->strata; h++) count += f->clusters[h];
    return count;
}

/* ---- facts ---- */

static tamis_status make_facts(tmi_psu_facts *f, size_t strata, tamis_error *err)
{
    *f = (tmi_psu_facts){.clusters = tmi_alloc(strata, sizeof *f->clusters), .strata = strata};
    return f->clusters ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_psu_facts_copy(tmi_psu_facts *to, const tmi_psu_facts *from, tamis_error *err)
{
    tamis_status status = make_facts(to, from->strata, err);
    if (status != TAMIS_OK) return status;
    memcpy(to->clusters, from->clusters, from->strata * sizeof *to->clusters);
    snprintf(to->hash, sizeof to->hash, "%s", from->hash);
    to->paired = from->paired;
    memcpy(to->pairs, from->pairs, sizeof to->pairs);
    return TAMIS_OK;
}

void tmi_put_psu_facts(tmi_json_out *out, const tmi_psu_facts *f)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "sha256", f->hash);
    tmi_json_add_integers(out, "clusters", f->clusters, f->strata);
    if (f->paired) tmi_json_add_integers(out, "pairs", f->pairs, TMI_CHANGE_GROUPS);
    tmi_json_close(out, '}');
}

tamis_status tmi_psu_facts_read(tmi_psu_facts *f, const tmi_value *json, tamis_error *err)
{
    const tmi_value *list = tmi_value_field(json, "clusters", TMI_VALUE_LIST);
    const char *hash = tmi_value_field_text(json, "sha256");
    const size_t strata = list ? tmi_value_size(list) : 0;
    int64_t sum = 0;
    *f = (tmi_psu_facts){0};
    bool right = strata > 0 && strata <= (size_t)TMI_MAX_PSUS && strlen(hash) + 1 == sizeof f->hash;
    tamis_status status = right ? make_facts(f, strata, err) : TAMIS_OK;
    if (status != TAMIS_OK) return status;
    if (right) snprintf(f->hash, sizeof f->hash, "%s", hash);
    for (size_t h = 0; right && h < strata; h++) {
        const tmi_value *clusters = tmi_value_at(list, h);
        right = tmi_value_kind_of(clusters) == TMI_VALUE_INTEGER;
        f->clusters[h] = right ? tmi_value_integer(clusters) : 0;
        right = right && f->clusters[h] > 0 && f->clusters[h] <= TMI_MAX_PSUS && (sum += f->clusters[h]) <= TMI_MAX_PSUS;
    }
    const tmi_value *pairs = tmi_value_get(json, "pairs");
    f->paired = pairs != NULL;
    if (pairs) right = right && tmi_value_kind_of(pairs) == TMI_VALUE_LIST && tmi_value_size(pairs) == TMI_CHANGE_GROUPS;
    for (size_t g = 0; right && pairs && g < TMI_CHANGE_GROUPS; g++) {
        const tmi_value *own = tmi_value_at(pairs, g);
        right = tmi_value_kind_of(own) == TMI_VALUE_INTEGER;
        f->pairs[g] = right ? tmi_value_integer(own) : 0;
        right = right && f->pairs[g] >= 0 && f->pairs[g] <= TMI_MOST_PAIRS;
    }
    if (right) return TAMIS_OK;
    tmi_psu_facts_clear(f);
    return tmi_fail(err, TAMIS_INVALID, "psus: must have the file's hash and the number of clusters in each stratum");
}

/* ---- the file ---- */

typedef struct psu {
    char *stratum, *label; /* the first is empty without strata */
} psu;

typedef struct reader {
    const char *names[2]; /* of clusters, of strata */
    psu *list;
    size_t count;
} reader;

static tamis_status take_cells(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    reader *r = context;
    for (size_t i = 0; i < rows; i++) {
        psu *p = &r->list[r->count++];
        for (size_t c = 0; c < (r->names[1] ? 2 : 1); c++) {
            const tmi_cell cell = tmi_trimmed(cells[c][i].bytes, cells[c][i].length);
            if (cell.length == 0 || memchr(cell.bytes, '\0', cell.length))
                return tmi_fail(err, TAMIS_INVALID, "design.psus: column %s, row %lld: must have a label", r->names[c],
                                (long long)first + (long long)i + 1);
            *(c == 0 ? &p->label : &p->stratum) = tmi_copy_text(cell.bytes, cell.length);
        }
        if (!r->names[1]) p->stratum = tmi_copy_text("", 0);
        if (!p->label || !p->stratum) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}

static int compare_psus(const void *a, const void *b)
{
    const psu *p = a, *q = b;
    const int strata = strcmp(p->stratum, q->stratum);
    return strata != 0 ? strata : strcmp(p->label, q->label);
}

static tamis_status find_columns(size_t *columns, const reader *r, const tmi_frame *frame, tamis_error *err)
{
    for (size_t c = 0; c < (r->names[1] ? 2 : 1); c++) {
        columns[c] = 0;
        while (columns[c] < frame->column_count && strcmp(frame->names[columns[c]], r->names[c]) != 0) columns[c]++;
        if (columns[c] == frame->column_count)
            return tmi_fail_column(err, NULL, "design.psus: the file has", r->names[c], tmi_word_of_list, frame->names,
                                   frame->column_count);
    }
    return TAMIS_OK;
}

/* Labels, each once, in order. */
static tamis_status set_labels(tmi_psu_file *p, const reader *r, tamis_error *err)
{
    const char **sorted = tmi_alloc(r->count, sizeof *sorted);
    p->labels = tmi_alloc(r->count, sizeof *p->labels);
    p->label_of = tmi_alloc(r->count, sizeof *p->label_of);
    tamis_status status = TAMIS_OK;
    if (!sorted || !p->labels || !p->label_of) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < r->count; i++) sorted[i] = r->list[i].label;
    qsort(sorted, r->count, sizeof *sorted, tmi_compare_strings);
    for (size_t i = 0; i < r->count; i++) {
        if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0) continue;
        TMI_TRY(tmi_copy_string(&p->labels[p->label_count], sorted[i], err));
        p->label_count++;
    }
    for (size_t i = 0; i < r->count; i++) {
        const char *label = r->list[i].label;
        char *const *found = bsearch(&label, p->labels, p->label_count, sizeof *p->labels, tmi_compare_strings);
        p->label_of[i] = (int32_t)(found - p->labels);
    }

done:
    tmi_free(sorted);
    return status;
}

static tamis_status set_strata(tmi_psu_file *p, const reader *r, tamis_error *err)
{
    size_t strata = 0;
    for (size_t i = 0; i < r->count; i++) strata += i == 0 || strcmp(r->list[i].stratum, r->list[i - 1].stratum) != 0;
    tamis_status status = make_facts(&p->facts, strata, err);
    if (status != TAMIS_OK) return status;
    p->strata = r->names[1] ? tmi_alloc(strata, sizeof *p->strata) : NULL;
    if (r->names[1] && !p->strata) return tmi_fail_memory(err);
    for (size_t i = 0, h = 0; i < r->count; i++) {
        const bool first = i == 0 || strcmp(r->list[i].stratum, r->list[i - 1].stratum) != 0;
        h += first && i > 0;
        if (!first && strcmp(r->list[i].label, r->list[i - 1].label) == 0)
            return tmi_fail(err, TAMIS_INVALID, "design.psus: duplicate cluster; the file has one row per cluster");
        if (first && p->strata) TMI_TRY(tmi_copy_string(&p->strata[h], r->list[i].stratum, err));
        p->facts.clusters[h]++;
    }
    if ((int64_t)p->facts.strata * (int64_t)p->label_count > TMI_MAX_PSUS && p->label_count < r->count)
        return tmi_fail(
            err, TAMIS_INVALID,
            "design.psus: labels that begin again in each stratum, and more than %lld pairs of a stratum and a label; "
            "use labels that are different in all strata",
            (long long)TMI_MAX_PSUS);

done:
    return status;
}

tamis_status tmi_psu_file_read(tmi_psu_file *p, const tamis_plan *plan, tamis_error *err)
{
    static const bool labels[2] = {true, true};
    const tmi_plan_design *d = &plan->design;
    reader r = {.names = {d->cluster, d->strata_label}};
    tmi_frame *frame = NULL;
    size_t columns[2];
    tamis_status status;
    *p = (tmi_psu_file){0};
    TMI_TRY(tmi_frame_open(&frame, d->psus, NULL, err));
    TMI_TRY(find_columns(columns, &r, frame, err));
    if (frame->rows < 1 || frame->rows > TMI_MAX_PSUS)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "design.psus: must have 1 to %lld clusters", (long long)TMI_MAX_PSUS));
    r.list = tmi_alloc((size_t)frame->rows, sizeof *r.list);
    if (!r.list) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_frame_read(frame, columns, labels, r.names[1] ? 2 : 1, take_cells, &r, NULL, err));
    qsort(r.list, r.count, sizeof *r.list, compare_psus);
    TMI_TRY(set_labels(p, &r, err));
    TMI_TRY(set_strata(p, &r, err));
    TMI_TRY(tmi_sha256_file(p->facts.hash, d->psus, err));

done:
    for (size_t i = 0; r.list && i < r.count; i++) {
        tmi_free(r.list[i].stratum);
        tmi_free(r.list[i].label);
    }
    tmi_free(r.list);
    tmi_frame_free(frame);
    if (status != TAMIS_OK) tmi_psu_file_clear(p);
    return status;
}
