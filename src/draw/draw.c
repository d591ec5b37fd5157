#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "draw/design.h"

/* ---- the sample ---- */

typedef struct chosen {
    int64_t row;
    double probability, weight;
    int64_t cluster_size; /* of two stages: rows of its cluster; else 0 */
    double part;          /* and the probability of each inside it */
} chosen;

static int by_row(const void *a, const void *b)
{
    const int64_t x = ((const chosen *)a)->row, y = ((const chosen *)b)->row;
    return (x > y) - (x < y);
}

/* Hansen and Hurwitz: one over the number of times that the unit is expected in the sample. */
static double weight_of_draw(const tamis_frame_design *design, const tmi_frame_units *units, int64_t row)
{
    const tmi_frame_group *stratum = &units->strata.list[units->strata.of ? units->strata.of[row] : 0];
    return (double)stratum->count / (double)(stratum->sample ? stratum->sample : design->sample);
}

static tamis_status draw_units(tamis_drawn *drawn, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    const tmi_watch making = tmi_watch_part(watch, 0, 0.8), drawing = tmi_watch_part(watch, 0.8, 1);
    tamis_sampler *sampler = NULL;
    tamis_rng *rng = NULL;
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tamis_sampler_new(&sampler, design, &(tamis_watch){tmi_watch_progress, (void *)&making}, err));
    TMI_TRY(tamis_sampler_draw(drawn, sampler, rng, &(tamis_watch){tmi_watch_progress, (void *)&drawing}, err));
done:
    tamis_sampler_free(sampler);
    tamis_rng_free(rng);
    return status;
}

static bool in_two_stages(const tamis_frame_design *d) { return d->within || d->within_column || d->within_rate; }

static void set_cluster(chosen *c, const tmi_frame_group *cluster, const tamis_number *rate)
{
    const bool some = cluster->sample > 0 && cluster->sample < cluster->count;
    c->cluster_size = cluster->count;
    c->part = rate ? tmi_number_nearest(rate) : some ? (double)cluster->sample / (double)cluster->count : 1;
}

static tamis_status draw_rows(chosen **list, size_t *count, const tmi_frame_plan *plan, const tamis_frame_design *design,
                              const tmi_frame_units *units, const tmi_watch *watch, tamis_error *err)
{
    const bool with_replacement = tmi_frame_is_with_replacement(design);
    tamis_drawn drawn = {0};
    tamis_bound *pi = NULL;
    tamis_status status;
    TMI_TRY(draw_units(&drawn, plan->design, watch, err));
    *list = tmi_alloc(drawn.count, sizeof **list);
    pi = tmi_alloc(drawn.count, sizeof *pi);
    if (!*list || !pi) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tamis_inclusion_first(pi, plan->design, drawn.units, drawn.count, err));
    for (size_t i = 0; i < drawn.count; i++) {
        const int64_t row = plan->rows ? plan->rows[drawn.units[i]] : drawn.units[i];
        const double probability = pi[i].lower + (pi[i].upper - pi[i].lower) / 2;
        (*list)[i] = (chosen){.row = row,
                              .probability = probability,
                              .weight = with_replacement ? weight_of_draw(design, units, row) : 1 / probability};
        if (in_two_stages(design)) set_cluster(&(*list)[i], &units->clusters.list[units->clusters.of[row]], design->within_rate);
    }
    *count = drawn.count;
    if (plan->rows) qsort(*list, *count, sizeof **list, by_row);
done:
    tmi_free(pi);
    tamis_drawn_clear(&drawn);
    return status;
}

static tamis_status count_clusters(int64_t *drawn, const tmi_frame_units *units, const chosen *list, size_t count,
                                   tamis_error *err)
{
    uint8_t *seen = tmi_alloc(units->clusters.count, 1);
    if (!seen) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        uint8_t *cluster = &seen[units->clusters.of[list[i].row]];
        *drawn += *cluster == 0;
        *cluster = 1;
    }
    tmi_wipe(seen, units->clusters.count);
    tmi_free(seen);
    return TAMIS_OK;
}

/* ---- the file ---- */

static void put_cell(tmi_text *csv, tmi_cell cell)
{
    bool quoted = false;
    for (size_t i = 0; i < cell.length && !quoted; i++)
        quoted = strchr(",\"\r\n", cell.bytes[i]) || (cell.bytes[i] == ' ' && (i == 0 || i + 1 == cell.length));
    if (!quoted) {
        if (cell.length > 0) tmi_text_add(csv, cell.bytes, cell.length);
        return;
    }
    tmi_text_put(csv, "\"");
    for (size_t i = 0; i < cell.length; i++) {
        if (cell.bytes[i] == '"') tmi_text_add(csv, "\"", 1);
        tmi_text_add(csv, cell.bytes + i, 1);
    }
    tmi_text_put(csv, "\"");
}

typedef struct writer {
    tmi_text csv;
    const chosen *next, *end;
    size_t columns;
} writer;

static tamis_status write_rows(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    writer *w = context;
    for (; w->next < w->end && w->next->row < first + (int64_t)rows; w->next++) {
        const size_t i = (size_t)(w->next->row - first);
        for (size_t c = 0; c < w->columns; c++) {
            put_cell(&w->csv, cells[c][i]);
            tmi_text_add(&w->csv, ",", 1);
        }
        tmi_text_real(&w->csv, w->next->probability);
        tmi_text_add(&w->csv, ",", 1);
        tmi_text_real(&w->csv, w->next->weight);
        if (w->next->cluster_size > 0) {
            const double first = w->next->probability / w->next->part;
            tmi_text_put(&w->csv, ",");
            tmi_text_real(&w->csv, first < 1 ? first : 1);
            tmi_text_format(&w->csv, ",%lld", (long long)w->next->cluster_size);
        }
        tmi_text_add(&w->csv, "\n", 1);
    }
    return w->csv.failed ? tmi_fail_memory(err) : TAMIS_OK;
}

/* Two columns, and in two stages two more. */
static const char *const added[] = {"inclusion_probability", "weight", "cluster_probability", "cluster_size"};

static size_t added_by(const tamis_frame_design *design) { return in_two_stages(design) ? 4 : 2; }

static tamis_status check_names(const tmi_frame *frame, size_t adds, tamis_error *err)
{
    for (size_t c = 0; c < frame->column_count; c++)
        for (size_t a = 0; a < adds; a++)
            if (strcmp(frame->names[c], added[a]) == 0)
                return tmi_fail(err, TAMIS_INVALID,
                                "the frame already has a column %s, which the sample adds: rename it in the frame", added[a]);
    return TAMIS_OK;
}

static tamis_status write_sample(const tamis_stream *out, tmi_frame *frame, size_t adds, const chosen *list, size_t count,
                                 const tmi_watch *watch, tamis_error *err)
{
    writer w = {.next = list, .end = list + count, .columns = frame->column_count};
    tmi_output output = {0};
    size_t *columns = tmi_alloc(w.columns, sizeof *columns);
    tamis_status status = TAMIS_OK;
    tmi_text_init(&w.csv);
    if (!columns) TMI_TRY(tmi_fail_memory(err));
    for (size_t c = 0; c < w.columns; c++) {
        columns[c] = c;
        put_cell(&w.csv, (tmi_cell){frame->names[c], strlen(frame->names[c])});
        tmi_text_put(&w.csv, ",");
    }
    for (size_t a = 0; a < adds; a++) tmi_text_format(&w.csv, "%s%s", added[a], a + 1 < adds ? "," : "\n");
    TMI_TRY(tmi_frame_read(frame, columns, NULL, w.columns, write_rows, &w, watch, err));
    if (w.csv.failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_output_open(&output, out, err));
    fwrite(w.csv.bytes, 1, w.csv.length, output.file); /* a failure is seen at the end */
    TMI_TRY(tmi_output_keep(&output, err));
done:
    tmi_output_clear(&output);
    if (w.csv.bytes) tmi_wipe(w.csv.bytes, w.csv.length);
    tmi_text_clear(&w.csv);
    tmi_free(columns);
    return status;
}

/* Shares of the work: reading what the design needs, drawing, writing. */
typedef struct phases {
    tmi_watch reading, drawing, writing;
} phases;

static phases divide(const tamis_frame_design *design, int64_t rows, const tamis_watch *watch)
{
    const tmi_watch whole = tmi_watch_of(watch);
    const bool reads = design->size || design->probability || design->strata || design->cluster;
    const double drawing = tmi_frame_is_slow(design) ? 0.8 : 0.2, reading = reads ? (1 - drawing) / 2 : 0;
    phases p = {tmi_watch_part(&whole, 0, reading), tmi_watch_part(&whole, reading, reading + drawing),
                tmi_watch_part(&whole, reading + drawing, 1)};
    p.drawing.rows = p.writing.rows = reads ? rows : 0;
    return p;
}

tamis_status tamis_frame_draw(tamis_frame_sample *sample, const char *frame, const tamis_frame_design *design,
                              const tamis_stream *out, const tamis_watch *watch, tamis_error *err)
{
    tmi_frame *file = NULL;
    tmi_frame_units units = {0};
    tmi_frame_plan plan = {0};
    chosen *list = NULL;
    size_t count = 0;
    int64_t clusters = 0;
    tamis_status status;
    if (!sample) return tmi_fail(err, TAMIS_INVALID, "sample: must not be NULL");
    *sample = (tamis_frame_sample){0};
    if (!frame) return tmi_fail(err, TAMIS_INVALID, "frame: must not be NULL");
    if (!out) return tmi_fail(err, TAMIS_INVALID, "out: must not be NULL");
    TMI_TRY(tamis_frame_design_check(design, err));
    TMI_TRY(tmi_output_check(out, err));
    TMI_TRY(tmi_frame_open(&file, frame, watch, err));
    const phases p = divide(design, file->rows, watch);
    TMI_TRY(check_names(file, added_by(design), err));
    TMI_TRY(tmi_units_read(&units, file, design, &p.reading, err));
    TMI_TRY(tmi_frame_plan_make(&plan, design, &units, err));
    tmi_units_forget_numbers(&units);
    TMI_TRY(draw_rows(&list, &count, &plan, design, &units, &p.drawing, err));
    if (units.clusters.of) TMI_TRY(count_clusters(&clusters, &units, list, count, err));
    TMI_TRY(write_sample(out, file, added_by(design), list, count, &p.writing, err));
    *sample = (tamis_frame_sample){units.count, (int64_t)count, (int64_t)units.strata.count, (int64_t)units.clusters.count,
                                   clusters};
done:
    if (list) tmi_wipe(list, count * sizeof *list);
    tmi_free(list);
    tmi_frame_plan_clear(&plan);
    tmi_units_clear(&units);
    tmi_frame_free(file);
    return status;
}
