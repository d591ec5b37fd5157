#include "engine/files/scan.h"

#include <stdatomic.h>
#include <string.h>
#include <threads.h>

#include "base/memory.h"
#include "base/secret.h"
#include "base/watch.h"
#include "engine/core/tally.h"
#include "engine/core/units.h"
#include "engine/files/decoder.h"

#define MAX_THREADS 64

typedef struct engine_state {
    tmi_engine engine;
    tmi_scanner *scanner;
    unsigned threads;
    int64_t rows, units; /* as they were counted before the charge; 0: they were not */
} engine_state;

/* ---- watching ---- */

typedef struct work_watch {
    const tamis_watch *whole; /* asked only by the first part */
    bool share_unknown;
    atomic_bool stopped;
    _Atomic int64_t rows;
} work_watch;

static tamis_status tell(work_watch *w, bool aloud, double share, size_t rows, tamis_error *err)
{
    const int64_t all = atomic_fetch_add(&w->rows, (int64_t)rows) + (int64_t)rows;
    if (aloud && tmi_stopped(w->whole, w->share_unknown ? -1 : share, all)) w->stopped = true;
    return w->stopped ? tmi_fail_cancelled(err) : TAMIS_OK;
}

/* While the source is checked, when no number of rows is known. */
static int go_on(void *context, double share, int64_t rows)
{
    (void)share;
    (void)rows;
    return tell(context, true, -1, 0, NULL) != TAMIS_OK;
}

/* ---- before the charge ---- */

typedef struct counter {
    tmi_inventory *inventory;
    const tmi_decoder *reading;
    tmi_raw_piece piece;
    size_t unit, cluster, stratum; /* columns of the layout, if asked for */
    tmi_labels *units, *units_in, *clusters_in;
    work_watch *watch;
} counter;

static tamis_status count_piece(void *context, const tmi_raw *raw, size_t n, double share, tamis_error *err)
{
    counter *k = context;
    tmi_inventory *inventory = k->inventory;
    const size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    tamis_status status;
    tmi_raw_values(&k->piece, raw, n);
    const int32_t *stratum = inventory->stratum ? k->piece.columns[k->stratum] : NULL;
    const tmi_cell *units = inventory->unit ? raw[k->reading->place[k->unit]].texts : NULL;
    const tmi_cell *clusters = inventory->cluster ? raw[k->reading->place[k->cluster]].texts : NULL;
    if ((int64_t)n > TMI_MAX_ROWS - inventory->rows) return tmi_fail(err, TAMIS_INVALID, "the source has more than 2^40 rows");
    inventory->rows += (int64_t)n;
    for (size_t i = 0; inventory->rows_in && i < n; i++)
        if (!stratum || (size_t)stratum[i] < strata) inventory->rows_in[stratum ? stratum[i] : 0]++;
    if (units) TMI_TRY(tmi_labels_add_all(k->units, NULL, 1, units, n, err));
    if (units && stratum && inventory->units_in) TMI_TRY(tmi_labels_add_all(k->units_in, stratum, strata, units, n, err));
    if (clusters && inventory->clusters_in) TMI_TRY(tmi_labels_add_all(k->clusters_in, stratum, strata, clusters, n, err));
    TMI_TRY(tell(k->watch, true, share, n, err));
done:
    return status;
}

/* Only the columns that are counted by are read. */
static tamis_status count_rows(tmi_scanner *scanner, tmi_inventory *inventory, work_watch *watch, tamis_error *err)
{
    const tmi_inventory labels = {.unit = inventory->unit, .cluster = inventory->cluster, .stratum = inventory->stratum};
    tmi_decoder r = {0};
    counter k = {.inventory = inventory, .reading = &r, .watch = watch};
    const size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    tamis_status status;
    TMI_TRY(tmi_layout_of_inventory(&r.layout, &labels, err));
    TMI_TRY(tmi_decoder_make(&r, err));
    TMI_TRY(tmi_raw_piece_make(&k.piece, &r, err));
    k.units = tmi_labels_new();
    k.units_in = tmi_labels_new();
    k.clusters_in = tmi_labels_new();
    if (!k.units || !k.units_in || !k.clusters_in) TMI_TRY(tmi_fail_memory(err));
    k.unit = tmi_layout_index(&r.layout, inventory->unit);
    k.cluster = tmi_layout_index(&r.layout, inventory->cluster);
    k.stratum = tmi_layout_index(&r.layout, inventory->stratum);
    TMI_TRY(scanner->scan(scanner, r.list, r.list_codes, r.count, 0, 1, count_piece, &k, err));
    inventory->units = tmi_labels_count(k.units);
    if (inventory->unit && inventory->units_in)
        tmi_labels_count_in(inventory->units_in, strata, inventory->stratum ? k.units_in : k.units);
    if (inventory->cluster && inventory->clusters_in) tmi_labels_count_in(inventory->clusters_in, strata, k.clusters_in);
done:
    tmi_labels_free(k.units);
    tmi_labels_free(k.units_in);
    tmi_labels_free(k.clusters_in);
    if (k.piece.reading) tmi_raw_piece_clear(&k.piece);
    tmi_decoder_clear(&r);
    return status;
}

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    engine_state *state = engine->state;
    tmi_scanner *scanner = state->scanner;
    work_watch inner = {.whole = watch, .share_unknown = true};
    tmi_decoder r = {0};
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_layout_of_inventory(&r.layout, inventory, err));
    TMI_TRY(tmi_decoder_make(&r, err));
    TMI_TRY(scanner->check(scanner, r.list, r.list_codes, r.count, &(tamis_watch){go_on, &inner}, err));
    TMI_TRY(count_rows(scanner, inventory, &inner, err));
    state->rows = inventory->rows;
    if (inventory->unit) state->units = inventory->units;
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    tmi_decoder_clear(&r);
    return status;
}

/* ---- the one pass ---- */

static int64_t expected_units(const engine_state *state) { return state->units > 0 ? state->units : state->rows; }

typedef struct worker {
    engine_state *state;
    const tmi_decoder *reading;
    size_t part, parts;
    const tmi_points_plan *points; /* NULL: sums are wanted */
    tmi_cells *cells;              /* sums */
    tmi_tally *tally;              /* points */
    tmi_units *units;              /* of all workers, if the rows of a unit are limited */
    tmi_units_room *room;          /* with them */
    tmi_raw_piece piece;
    const double **numbers; /* of a piece, one per column of the layout */
    work_watch *watch;
    tamis_status status;
    tamis_error error;
} worker;

/* A tmi_take_block. */
static tamis_status add_rows(void *context, const void *const *columns, size_t n, tamis_error *err)
{
    worker *w = context;
    return w->tally ? tmi_tally_add(w->tally, columns, n, err) : tmi_cells_add(w->cells, columns, n, err);
}

/* Whether the piece may be added unchanged. */
static bool take_numbers(worker *w, const tmi_raw *raw)
{
    const tmi_decoder *r = w->reading;
    if (!w->cells || !tmi_cells_take_numbers(w->cells)) return false;
    for (size_t c = 0; c < r->layout.column_count; c++)
        if (!(w->numbers[c] = raw[r->place[c]].numbers)) return false;
    return true;
}

static tamis_status add_piece(void *context, const tmi_raw *raw, size_t n, double share, tamis_error *err)
{
    worker *w = context;
    const tmi_decoder *r = w->reading;
    tamis_status status;
    if (take_numbers(w, raw)) {
        TMI_TRY(tmi_cells_add_numbers(w->cells, w->numbers, n, err));
        TMI_TRY(tell(w->watch, w->part == 0, share, n, err));
        return TAMIS_OK;
    }
    tmi_raw_values(&w->piece, raw, n);
    if (w->units) {
        const tmi_cell *labels = raw[r->place[tmi_layout_index(&r->layout, r->layout.request->unit)]].texts;
        TMI_TRY(tmi_units_add(w->units, w->room, labels, w->piece.columns, n, add_rows, w, err));
    } else {
        TMI_TRY(add_rows(w, w->piece.columns, n, err));
    }
    TMI_TRY(tell(w->watch, w->part == 0, share, n, err));
done:
    return status;
}

static int work(void *context)
{
    worker *w = context;
    tmi_scanner *scanner = w->state->scanner;
    const tmi_decoder *r = w->reading;
    w->status = scanner->scan(scanner, r->list, r->list_codes, r->count, w->part, w->parts, add_piece, w, &w->error);
    if (w->status != TAMIS_OK) w->watch->stopped = true; /* the others can stop */
    return 0;
}

static tamis_status make_worker(worker *w, tamis_error *err)
{
    const tmi_layout *layout = &w->reading->layout;
    if (w->points) w->tally = tmi_tally_new(w->points, layout);
    else w->cells = tmi_cells_new(layout);
    if (w->units) w->room = tmi_units_room_new(w->units);
    w->numbers = tmi_alloc(layout->column_count, sizeof *w->numbers);
    if ((!w->cells && !w->tally) || !w->numbers || (w->units && !w->room)) return tmi_fail_memory(err);
    return tmi_raw_piece_make(&w->piece, w->reading, err);
}

static void clear_worker(worker *w)
{
    tmi_cells_free(w->cells);
    tmi_tally_free(w->tally);
    tmi_units_room_free(w->room);
    tmi_free(w->numbers);
    if (w->piece.reading) tmi_raw_piece_clear(&w->piece);
}

/* The first worker runs here. If a thread cannot be started, its part is done here too. */
static void work_together(worker *workers, size_t count)
{
    thrd_t threads[MAX_THREADS];
    bool started[MAX_THREADS] = {false};
    for (size_t i = 1; i < count; i++) started[i] = thrd_create(&threads[i], work, &workers[i]) == thrd_success;
    for (size_t i = 0; i < count; i++)
        if (!started[i]) work(&workers[i]);
    for (size_t i = 1; i < count; i++)
        if (started[i]) thrd_join(threads[i], NULL);
}

/* A pass that counts the rows of units and collects the labels of TMI_GROUPS columns. It reads no other columns. */
typedef struct label_pass {
    worker *worker;
    const tmi_column **list;
    tmi_codes **codes; /* of these */
    size_t *place;     /* among these, of each column of the layout */
    bool *chooses;     /* whether a column of the layout is a stratum of labels, or a part of one */
    size_t count;
} label_pass;

static tamis_status see_piece(void *context, const tmi_raw *raw, size_t n, double share, tamis_error *err)
{
    const label_pass *p = context;
    worker *w = p->worker;
    const tmi_decoder *r = w->reading;
    const tmi_layout *layout = &r->layout;
    tamis_status status = TAMIS_OK;
    if (w->units) tmi_units_count(w->units, raw[p->place[tmi_layout_index(layout, layout->request->unit)]].texts, n);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (p->chooses[c] && column->kind == TMI_CATEGORY) tmi_raw_codes(w->piece.room[c], r->codes[c], &raw[p->place[c]], n);
        if (p->chooses[c] && column->kind == TMI_JOINT)
            tmi_joint_codes(w->piece.room[c], w->piece.columns[tmi_layout_index(layout, column->of)],
                            w->piece.columns[tmi_layout_index(layout, column->second)], n, column);
        if (column->kind != TMI_GROUPS) continue;
        const tmi_cell *labels = raw[p->place[tmi_layout_index(layout, column->of)]].texts;
        const int32_t *strata = column->stratum ? w->piece.columns[tmi_layout_index(layout, column->stratum)] : NULL;
        TMI_TRY(tmi_clusters_see(r->clusters[c], strata, labels, n, err));
    }
    (void)share;
    TMI_TRY(tell(w->watch, true, -1, 0, err));
done:
    return status;
}

/* Marks the strata of labels, and what they are joined from: parts come before the columns that are made of them. */
static void find_choosing(bool *chooses, const tmi_layout *layout)
{
    for (size_t c = layout->column_count; c-- > 0;) {
        const tmi_column *column = layout->columns[c];
        if (column->kind == TMI_GROUPS && column->stratum) chooses[tmi_layout_index(layout, column->stratum)] = true;
        if (column->kind != TMI_JOINT || !chooses[c]) continue;
        chooses[tmi_layout_index(layout, column->of)] = true;
        chooses[tmi_layout_index(layout, column->second)] = true;
    }
}

/* *rounds: how often the source must be read afterwards. */
static tamis_status see_labels(size_t *rounds, worker *w, tamis_error *err)
{
    const tmi_decoder *r = w->reading;
    const tmi_layout *layout = &r->layout;
    tmi_scanner *scanner = w->state->scanner;
    label_pass p = {.worker = w};
    tamis_status status = TAMIS_OK;
    p.list = tmi_alloc(layout->column_count, sizeof *p.list);
    p.codes = tmi_alloc(layout->column_count, sizeof *p.codes);
    p.place = tmi_alloc(layout->column_count, sizeof *p.place);
    p.chooses = tmi_alloc(layout->column_count, sizeof *p.chooses);
    if (!p.list || !p.codes || !p.place || !p.chooses) TMI_TRY(tmi_fail_memory(err));
    find_choosing(p.chooses, layout);
    bool some = w->units;
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        some = some || r->clusters[c];
        p.place[c] = p.count;
        if (column->kind != TMI_LABEL && !(column->kind == TMI_CATEGORY && p.chooses[c])) continue;
        p.list[p.count] = column;
        p.codes[p.count++] = r->codes[c];
    }
    if (some) TMI_TRY(scanner->scan(scanner, p.list, p.codes, p.count, 0, 1, see_piece, &p, err));
    for (size_t c = 0; c < layout->column_count; c++)
        if (r->clusters[c]) TMI_TRY(tmi_clusters_close(r->clusters[c], err));
    *rounds = 1;
    if (w->units) TMI_TRY(tmi_units_plan(rounds, w->units, err));
done:
    tmi_free(p.chooses);
    tmi_free(p.list);
    tmi_free(p.codes);
    tmi_free(p.place);
    return status;
}

static size_t worker_count(const engine_state *state, const tmi_layout *layout)
{
    const size_t wanted = tmi_cells_threads(layout, state->threads);
    return !state->scanner->in_parts ? 1 : wanted < MAX_THREADS ? wanted : MAX_THREADS;
}

/* Reports what stopped the others. */
static tamis_status trouble(const worker *workers, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < count; i++) {
        if (workers[i].status == TAMIS_OK) continue;
        status = status == TAMIS_OK || strcmp(workers[i].error.reason, "cancelled") != 0 ? tmi_fail_as(err, &workers[i].error)
                                                                                         : status;
    }
    return status;
}

/* Everything goes to the first worker. */
static tamis_status add_up(worker *workers, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 1; i < count; i++)
        TMI_TRY(workers[0].tally ? tmi_tally_take(workers[0].tally, workers[i].tally, err)
                                 : tmi_cells_add_cells(workers[0].cells, workers[i].cells, err));
done:
    return status;
}

static tamis_status give_answers(tmi_int128 *const *answers, worker *first, tamis_error *err)
{
    const tmi_request *request = first->reading->layout.request;
    const size_t answer_count = first->reading->layout.answer_count;
    tmi_int128 *all = tmi_secret_alloc(answer_count, sizeof *all);
    if (!all) return tmi_fail_memory(err);
    tmi_cells_answers(all, first->cells);
    const tmi_int128 *at = all;
    for (size_t t = 0; t < request->table_count; t++) {
        const size_t n = tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count;
        memcpy(answers[t], at, n * sizeof *at);
        at += n;
    }
    tmi_secret_free(all);
    return TAMIS_OK;
}

/* Reads the rows once, or once for each round of units. */
static tamis_status read_all(worker *workers, size_t count, size_t rounds, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t r = 0; r < rounds; r++) {
        work_together(workers, count);
        TMI_TRY(trouble(workers, count, err));
        if (workers[0].units) TMI_TRY(tmi_units_end_round(workers[0].units, add_rows, &workers[0], err));
    }
    TMI_TRY(add_up(workers, count, err));
done:
    return status;
}

/* Sums, or the points of a plan with this request. */
static tamis_status pass(tmi_int128 *const *answers, tmi_point_list *list, const tmi_points_plan *points, engine_state *state,
                         const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    work_watch inner = {.whole = watch};
    tmi_decoder r = {0};
    tmi_units *units = NULL;
    worker *workers = NULL;
    size_t rounds = 1, count = 0;
    tamis_status status;
    tamis_error own = {0};
    TMI_TRY(tmi_layout_init(&r.layout, request, err));
    count = worker_count(state, &r.layout);
    TMI_TRY(tmi_decoder_make(&r, err));
    if (request->unit && !(units = tmi_units_new(&r.layout, expected_units(state), tmi_units_memory(state->engine.memory))))
        TMI_TRY(tmi_fail_memory(err));
    if (!(workers = tmi_alloc(count, sizeof *workers))) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        workers[i] = (worker){
            .state = state, .reading = &r, .points = points, .units = units, .part = i, .parts = count, .watch = &inner};
        TMI_TRY(make_worker(&workers[i], err));
    }
    status = state->scanner->check(state->scanner, r.list, r.list_codes, r.count, &(tamis_watch){go_on, &inner}, &own);
    if (status == TAMIS_OK) status = see_labels(&rounds, &workers[0], &own);
    if (status == TAMIS_OK) status = read_all(workers, count, rounds, &own);
    if (status == TAMIS_OK)
        status = points ? tmi_tally_take_list(list, workers[0].tally, &own) : give_answers(answers, &workers[0], &own);
    /* After the charge, a source that cannot be read is no longer the caller's mistake, and the place of the damage is not
     * reported. */
    if (status == TAMIS_INVALID) status = tmi_fail(err, TAMIS_SYSTEM, "the source could not be read to its end");
    else if (status != TAMIS_OK) tmi_fail_as(err, &own);
done:
    for (size_t i = 0; workers && i < count; i++) clear_worker(&workers[i]);
    tmi_free(workers);
    tmi_units_free(units);
    tmi_decoder_clear(&r);
    return status;
}

/* Before the charge: that there is memory for the rows of units. */
static tamis_status try_memory(const engine_state *state, const tmi_request *request, tamis_error *err)
{
    tmi_layout layout = {0};
    tamis_status status = tmi_layout_init(&layout, request, err);
    if (status == TAMIS_OK && request->unit)
        status = tmi_units_try(&layout, expected_units(state), state->rows, tmi_units_memory(state->engine.memory), err);
    tmi_layout_clear(&layout);
    return status;
}

static tamis_status check(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    (void)watch;
    return try_memory(engine->state, request, err);
}

static tamis_status check_points(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                 tamis_error *err)
{
    tmi_points_plan plan;
    (void)watch;
    tamis_status status = tmi_points_plan_make(&plan, request, err);
    return status == TAMIS_OK ? try_memory(engine->state, &plan.request, err) : status;
}

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    tmi_answers_clear(answers, request);
    const tamis_status status = pass(answers, NULL, NULL, engine->state, request, watch, err);
    if (status != TAMIS_OK) tmi_answers_clear(answers, request);
    return status;
}

static tamis_status points(tmi_engine *engine, tmi_point_list *list, const tmi_points_request *request, const tamis_watch *watch,
                           tamis_error *err)
{
    tmi_points_plan plan;
    tamis_status status = tmi_points_plan_make(&plan, request, err);
    return status == TAMIS_OK ? pass(NULL, list, &plan, engine->state, &plan.request, watch, err) : status;
}

/* ---- the engine ---- */

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                              void *context, tamis_error *err)
{
    return tmi_scan_rows(((engine_state *)engine->state)->scanner, columns, column_count, take, context, err);
}

static void free_engine(tmi_engine *engine)
{
    if (!engine) return;
    engine_state *state = engine->state;
    state->scanner->free(state->scanner);
    tmi_free(state);
}

tamis_status tmi_engine_take_scanner(tmi_engine **engine, tmi_scanner *scanner, unsigned threads, tamis_error *err)
{
    engine_state *state = tmi_alloc(1, sizeof *state);
    *engine = NULL;
    if (!state) {
        scanner->free(scanner);
        return tmi_fail_memory(err);
    }
    state->scanner = scanner;
    state->threads = threads;
    state->engine = (tmi_engine){.name = scanner->name,
                                 .state = state,
                                 .describe = describe,
                                 .check = check,
                                 .aggregate = aggregate,
                                 .check_points = check_points,
                                 .points = points,
                                 .rows = read_rows,
                                 .free = free_engine};
    *engine = &state->engine;
    return TAMIS_OK;
}
