/* An engine supplied by the caller: questions and answers are JSON, documented in docs/engines.md. */
#include <string.h>
#include <tamis/experimental/caller.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/value/json.h"
#include "engine/core/cells.h"
#include "engine/files/source.h"

void tamis_reply_set(tamis_reply *reply, const char *text)
{
    if (!reply || !text) return;
    tmi_free(reply->text);
    reply->text = tmi_copy_text(text, strlen(text));
    reply->failed = reply->failed || !reply->text;
}

typedef struct asking {
    tmi_engine engine;
    tamis_answer *answer;
    void *context;
} asking;

/* ---- questions ---- */

static void put_place(tmi_json_out *out, const char *key, const tmi_layout *layout, const tmi_column *column)
{
    tmi_json_key(out, key);
    if (column) tmi_json_put_integer(out, (int64_t)tmi_layout_index(layout, column));
    else tmi_json_put_null(out);
}

static void put_grid(tmi_json_out *out, const tmi_grid *grid)
{
    tmi_json_open(out, '{');
    tmi_json_add_real(out, "from", grid->from);
    tmi_json_add_real(out, "to", grid->to);
    tmi_json_add_real(out, "step", grid->step);
    tmi_json_add_integer(out, "low", grid->low);
    tmi_json_add_integer(out, "high", grid->high);
    tmi_json_close(out, '}');
}

static void put_texts(tmi_json_out *out, const char *key, const char *const *texts, size_t count)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_string(out, texts[i]);
    tmi_json_close(out, ']');
}

static void put_integers(tmi_json_out *out, const int64_t *list, size_t count)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_integer(out, list[i]);
    tmi_json_close(out, ']');
}

static void put_codes(tmi_json_out *out, const int32_t *list, size_t count)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_integer(out, list[i]);
    tmi_json_close(out, ']');
}

static void put_number(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column)
{
    put_place(out, "by", layout, column->by);
    tmi_json_key(out, "grids"); /* one, or one per value of `by` */
    tmi_json_open(out, '[');
    for (size_t v = 0; v < (column->by ? column->by->value_count : 1); v++)
        put_grid(out, column->by ? &column->grids[v] : &column->grid);
    tmi_json_close(out, ']');
    tmi_json_add_boolean(out, "reciprocal", column->reciprocal);
    tmi_json_add_open(out, "missing", '[');
    for (size_t i = 0; i < column->missing_code_count; i++) tmi_json_put_real(out, column->missing_codes[i]);
    tmi_json_close(out, ']');
}

static void put_conditions(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column)
{
    tmi_json_add_open(out, "conditions", '[');
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_condition *condition = &column->conditions[i];
        tmi_json_open(out, '{');
        put_place(out, "column", layout, condition->column);
        if (tmi_has_points(condition->column)) {
            tmi_json_add_integer(out, "least", condition->least);
            tmi_json_add_integer(out, "most", condition->most);
        } else {
            tmi_json_key(out, "codes");
            put_codes(out, condition->codes, condition->code_count);
        }
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

static void put_groups(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column)
{
    put_place(out, "of", layout, column->of);
    put_place(out, "stratum", layout, column->stratum);
    tmi_json_add_integer(out, "codes", (int64_t)column->value_count);
    tmi_json_add_open(out, "cell_of", '[');
    for (size_t s = 0; s < (column->stratum ? column->stratum->value_count : 1); s++)
        put_codes(out, column->cell_of[s], (size_t)column->cluster_counts[s]);
    tmi_json_close(out, ']');
}

static void put_key(tmi_json_out *out, const unsigned char *bytes)
{
    char key[2 * TMI_KEY_BYTES + 1];
    tmi_json_key(out, "key");
    if (!bytes) {
        tmi_json_put_null(out);
        return;
    }
    tmi_hex(key, bytes, TMI_KEY_BYTES);
    tmi_json_put_string(out, key);
    tmi_wipe(key, sizeof key);
}

static void put_scatter(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column, bool keyless)
{
    put_place(out, "of", layout, column->of);
    put_place(out, "stratum", layout, column->stratum);
    tmi_json_add_integer(out, "codes", (int64_t)column->value_count);
    put_key(out, keyless ? NULL : column->key);
}

static void put_instead(tmi_json_out *out, const tmi_column *column)
{
    tmi_json_key(out, "instead");
    if (column->has_instead) tmi_json_put_integer(out, column->instead);
    else tmi_json_put_null(out);
}

static void put_classes(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column)
{
    put_place(out, "of", layout, column->of);
    tmi_json_add_integer(out, "codes", (int64_t)column->value_count);
    tmi_json_key(out, "classes");
    put_codes(out, column->classes, tmi_class_count(column));
    put_instead(out, column);
}

static void put_product(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column)
{
    put_place(out, "of", layout, column->of);
    put_place(out, "second", layout, column->second);
    tmi_json_add_integer(out, "shift", column->shift);
    tmi_json_add_integer(out, "low", column->grid.low);
    tmi_json_add_integer(out, "high", column->grid.high);
    put_instead(out, column);
}

static void put_joint(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column)
{
    put_place(out, "of", layout, column->of);
    put_place(out, "second", layout, column->second);
    tmi_json_add_integer(out, "codes", (int64_t)column->value_count);
    tmi_json_key(out, "classes");
    put_codes(out, column->classes, column->of->value_count * column->second->value_count);
}

static void put_column(tmi_json_out *out, const tmi_layout *layout, const tmi_column *column, bool keyless)
{
    static const char *const kinds[] = {"number", "category", "label",   "cuts",    "indicator",  "lookup",
                                        "groups", "scatter",  "classes", "product", "difference", "joint"};
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "name", column->name);
    tmi_json_add_string(out, "kind", kinds[column->kind]);
    if (column->kind == TMI_NUMBER) put_number(out, layout, column);
    if (column->kind == TMI_CATEGORY) {
        put_texts(out, "values", column->values, column->value_count);
        put_texts(out, "missing", column->missing_texts, column->missing_text_count);
    }
    if (column->kind == TMI_NUMBER || column->kind == TMI_CATEGORY) put_instead(out, column);
    if (column->kind == TMI_CUTS || column->kind == TMI_LOOKUP) {
        const bool is_cuts = column->kind == TMI_CUTS;
        put_place(out, "of", layout, column->of);
        tmi_json_key(out, is_cuts ? "cuts" : "numbers");
        put_integers(out, is_cuts ? column->cuts : column->numbers, is_cuts ? column->value_count - 1 : column->of->value_count);
    }
    if (column->kind == TMI_INDICATOR) put_conditions(out, layout, column);
    if (column->kind == TMI_GROUPS) put_groups(out, layout, column);
    if (column->kind == TMI_SCATTER) put_scatter(out, layout, column, keyless);
    if (column->kind == TMI_CLASSES) put_classes(out, layout, column);
    if (column->kind == TMI_JOINT) put_joint(out, layout, column);
    if (column->kind == TMI_PRODUCT) put_product(out, layout, column);
    if (column->kind == TMI_DIFFERENCE) {
        put_place(out, "of", layout, column->of);
        put_place(out, "second", layout, column->second);
    }
    tmi_json_close(out, '}');
}

static void put_measure(tmi_json_out *out, const tmi_layout *layout, const tmi_measure *measure)
{
    tmi_json_open(out, '{');
    tmi_json_add_open(out, "factors", '[');
    for (size_t f = 0; f < measure->factor_count; f++) {
        tmi_json_open(out, '{');
        put_place(out, "column", layout, measure->factors[f].column);
        tmi_json_add_integer(out, "minus", measure->factors[f].minus);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_json_add_open(out, "present", '[');
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++)
        if (measure->present[p]) tmi_json_put_integer(out, (int64_t)tmi_layout_index(layout, measure->present[p]));
    tmi_json_close(out, ']');
    put_place(out, "where", layout, measure->where);
    tmi_json_add_integer(out, "shift", measure->shift);
    tmi_json_add_integer(out, "low", measure->low);
    tmi_json_add_integer(out, "high", measure->high);
    tmi_json_close(out, '}');
}

/* A question while it is written, and its answer. */
typedef struct conversation {
    tmi_layout layout;
    bool keyless; /* before the charge no key is shown */
    tmi_json_out out;
    tmi_text text;
    tmi_value *reply;
} conversation;

static void end(conversation *c)
{
    tmi_value_free(c->reply);
    tmi_text_clear(&c->text);
    tmi_layout_clear(&c->layout);
}

/* The beginning of a question; the object stays open. */
static void begin(conversation *c, const char *what)
{
    tmi_json_out *out = &c->out;
    tmi_text_init(&c->text);
    tmi_json_out_init(out, &c->text, false);
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "tamis", 1);
    tmi_json_add_string(out, "ask", what);
    tmi_json_add_open(out, "columns", '[');
    for (size_t i = 0; i < c->layout.column_count; i++) put_column(out, &c->layout, c->layout.columns[i], c->keyless);
    tmi_json_close(out, ']');
}

static void put_tables(tmi_json_out *out, const tmi_layout *layout, bool keyless)
{
    const tmi_request *request = layout->request;
    tmi_json_add_open(out, "tables", '[');
    for (size_t t = 0; t < request->table_count; t++) {
        const tmi_table *table = &request->tables[t];
        tmi_json_open(out, '{');
        tmi_json_add_open(out, "by", '[');
        for (size_t b = 0; b < table->by_count; b++) tmi_json_put_integer(out, (int64_t)tmi_layout_index(layout, table->by[b]));
        tmi_json_close(out, ']');
        tmi_json_add_open(out, "measures", '[');
        for (size_t m = 0; m < table->measure_count; m++) put_measure(out, layout, &table->measures[m]);
        tmi_json_close(out, ']');
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    put_place(out, "unit", layout, request->unit);
    tmi_json_add_integer(out, "rows_per_unit", request->unit ? request->rows_per_unit : 0);
    put_key(out, request->unit && !keyless ? request->key : NULL);
}

/* Ends the question and asks it. Its answer, `reply`, is an object. An error message never repeats the caller's own words,
 * which may contain data. */
static tamis_status ask(conversation *c, const asking *a, tamis_error *err)
{
    tamis_reply reply = {0};
    tamis_error own = {0};
    tamis_status status = TAMIS_OK;
    tmi_json_close(&c->out, '}');
    if (c->text.failed) return tmi_fail_memory(err);
    if (a->answer(a->context, &reply, c->text.bytes, &own) != TAMIS_OK)
        TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "the caller's engine failed"));
    if (reply.failed) TMI_TRY(tmi_fail_memory(err));
    status = reply.text ? tmi_json_read(&c->reply, reply.text, strlen(reply.text), &own) : TAMIS_INVALID;
    if (status == TAMIS_INVALID || (status == TAMIS_OK && tmi_value_kind_of(c->reply) != TMI_VALUE_MAP))
        TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "the caller's engine did not return a JSON object"));
    if (status != TAMIS_OK) tmi_fail(err, status, "%s", own.message);
done:
    if (reply.text) tmi_wipe(reply.text, strlen(reply.text));
    tmi_free(reply.text);
    return status;
}

/* ---- answers ---- */

static tamis_status wrong(tamis_error *err, const char *key)
{
    return tmi_fail(err, TAMIS_SYSTEM, "the caller's engine returned no `%s`, or not in the form of <tamis/engine.h>", key);
}

/* An integer as a JSON integer or as decimal text, at most 2^92 in size. */
static bool read_sum(tmi_int128 *sum, const tmi_value *value)
{
    const tmi_int128 most = (tmi_int128)1 << 92;
    *sum = 0;
    if (value && tmi_value_kind_of(value) == TMI_VALUE_INTEGER) {
        *sum = tmi_value_integer(value);
        return true;
    }
    if (!value || tmi_value_kind_of(value) != TMI_VALUE_TEXT) return false;
    const char *text = tmi_value_string(value);
    const bool negative = *text == '-';
    text += negative;
    if (*text == '\0') return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        *sum = *sum * 10 + (*text - '0');
        if (*sum > most) return false;
    }
    if (negative) *sum = -*sum;
    return true;
}

static tamis_status read_sums(tmi_int128 *const *answers, const tmi_value *reply, const tmi_request *request, tamis_error *err)
{
    const tmi_value *sums = tmi_value_get(reply, "sums");
    if (!sums || tmi_value_kind_of(sums) != TMI_VALUE_LIST || tmi_value_size(sums) != request->table_count)
        return wrong(err, "sums");
    for (size_t t = 0; t < request->table_count; t++) {
        const size_t count = tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count;
        const tmi_value *list = tmi_value_at(sums, t);
        if (tmi_value_kind_of(list) != TMI_VALUE_LIST || tmi_value_size(list) != count) return wrong(err, "sums");
        for (size_t i = 0; i < count; i++)
            if (!read_sum(&answers[t][i], tmi_value_at(list, i))) return wrong(err, "sums");
    }
    return TAMIS_OK;
}

static bool read_count(int64_t *count, const tmi_value *value)
{
    if (!value || tmi_value_kind_of(value) != TMI_VALUE_INTEGER) return false;
    *count = tmi_value_integer(value);
    return *count >= 0 && *count <= TMI_MAX_ROWS;
}

static bool read_counts(int64_t *counts, const tmi_value *list, size_t count)
{
    if (!counts) return true;
    if (!list || tmi_value_kind_of(list) != TMI_VALUE_LIST || tmi_value_size(list) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!read_count(&counts[i], tmi_value_at(list, i))) return false;
    return true;
}

/* ---- the engine ---- */

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    const size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    conversation c = {0};
    tamis_status status;
    (void)watch;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_layout_of_inventory(&c.layout, inventory, err));
    begin(&c, "inventory");
    put_place(&c.out, "unit", &c.layout, inventory->unit);
    put_place(&c.out, "cluster", &c.layout, inventory->cluster);
    put_place(&c.out, "stratum", &c.layout, inventory->stratum);
    TMI_TRY(ask(&c, engine->state, err));
    if (!read_count(&inventory->rows, tmi_value_get(c.reply, "rows")) ||
        (inventory->unit && !read_count(&inventory->units, tmi_value_get(c.reply, "units"))) ||
        !read_counts(inventory->rows_in, tmi_value_get(c.reply, "rows_in"), strata) ||
        (inventory->unit && !read_counts(inventory->units_in, tmi_value_get(c.reply, "units_in"), strata)) ||
        (inventory->cluster && !read_counts(inventory->clusters_in, tmi_value_get(c.reply, "clusters_in"), strata)))
        TMI_TRY(wrong(err, "inventory"));
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    end(&c);
    return status;
}

/* What a caller's engine may say about a request that it cannot answer. Its own words might contain data. */
static const struct {
    const char *word, *meaning;
} reasons[] = {{"column", "it does not have the column, or cannot read it"},
               {"kind", "it does not know this kind of column"},
               {"measure", "it cannot compute a sum that is needed"},
               {"unit", "it cannot bound the rows of a unit"},
               {"size", "the request is too large for it"}};

static tamis_status tell_refusal(const conversation *c, tamis_error *err)
{
    const char *word = tmi_value_field_text(c->reply, "reason"), *meaning = "it cannot answer the request";
    const tmi_value *place = tmi_value_field(c->reply, "column", TMI_VALUE_INTEGER);
    const int64_t column = place ? tmi_value_integer(place) : -1;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(word, reasons[i].word) == 0) meaning = reasons[i].meaning;
    if (column >= 0 && (uint64_t)column < c->layout.column_count)
        return tmi_fail(err, TAMIS_REFUSED, "the caller's engine refuses column %s: %s", c->layout.columns[column]->name,
                        meaning);
    return tmi_fail(err, TAMIS_REFUSED, "the caller's engine refuses the request: %s", meaning);
}

/* Everything that will be asked for after the charge, but for the keys. */
static tamis_status check(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    conversation c = {.keyless = true};
    tamis_status status;
    (void)watch;
    TMI_TRY(tmi_layout_init(&c.layout, request, err));
    TMI_TRY(tmi_refuse_bounded_units(&c.layout, "a caller's engine", err));
    begin(&c, "check");
    put_tables(&c.out, &c.layout, true);
    TMI_TRY(ask(&c, engine->state, err));
    const tmi_value *ok = tmi_value_field(c.reply, "ok", TMI_VALUE_BOOLEAN);
    if (!ok)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "the caller's engine does not answer the question \"check\", which it is asked before a charge"));
    if (!tmi_value_is_true(ok)) TMI_TRY(tell_refusal(&c, err));
done:
    end(&c);
    return status;
}

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    conversation c = {0};
    tamis_status status;
    (void)watch;
    tmi_answers_clear(answers, request);
    TMI_TRY(tmi_layout_init(&c.layout, request, err));
    TMI_TRY(tmi_refuse_bounded_units(&c.layout, "a caller's engine", err));
    begin(&c, "sums");
    put_tables(&c.out, &c.layout, false);
    TMI_TRY(ask(&c, engine->state, err));
    TMI_TRY(read_sums(answers, c.reply, request, err));
done:
    if (status != TAMIS_OK) tmi_answers_clear(answers, request);
    end(&c);
    return status;
}

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                              void *context, tamis_error *err)
{
    (void)engine;
    (void)columns;
    (void)column_count;
    (void)take;
    (void)context;
    return tmi_fail(err, TAMIS_INVALID, "rows: the caller's engine returns only sums; an estimate needs another source");
}

static void free_engine(tmi_engine *engine) { tmi_free(engine); }

tamis_status tmi_engine_asking(tmi_engine **engine, tamis_answer *answer, void *context, tamis_error *err)
{
    asking *a = tmi_alloc(1, sizeof *a);
    *engine = NULL;
    if (!a) return tmi_fail_memory(err);
    *a = (asking){.engine = {.name = "caller",
                             .state = a,
                             .describe = describe,
                             .check = check,
                             .aggregate = aggregate,
                             .rows = read_rows,
                             .free = free_engine},
                  .answer = answer,
                  .context = context};
    *engine = &a->engine;
    return TAMIS_OK;
}
