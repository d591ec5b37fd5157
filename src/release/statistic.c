/* One private statistic of one file. publish/publish.h has the driver and its steps; what a quantile does in them:
 *
 *     before       what is asked is checked; the file and its columns are there
 *     do           all random bits that the answer needs, then one pass over the data, then the mechanism
 *     keep         the answer
 *
 * There is no folder: the answer is returned. */
#include "release/statistic.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tamis/experimental/profile.h>

#include "base/memory.h"
#include "base/text.h"
#include "engine/core/points.h"
#include "num/bound.h"
#include "num/exact.h"
#include "plan/json_fields.h"
#include "publish/publish.h"
#include "release/source_parts.h"
#include "report/promise.h"

void tamis_statistic_free(tamis_statistic *s)
{
    if (!s) return;
    for (size_t i = 0; s->at && i < s->count; i++) tamis_number_free(s->at[i]);
    tmi_number_frees(&s->step, &s->epsilon, &s->delta, &s->rho, NULL);
    tamis_quantile_free(s->quantile);
    tmi_account_clear(&s->account);
    tmi_free(s->at);
    tmi_free(s->points);
    tmi_free(s->errors);
    tmi_free(s->priors);
    tmi_free(s->levels);
    tmi_free(s->ends);
    tmi_free(s->file);
    tmi_free(s->column);
    tmi_free(s->weight);
    tmi_free(s->ledger);
    tmi_free(s->charge);
    tmi_free(s->identity);
    tmi_free(s->kept);
    tmi_free(s);
}

const char *tamis_statistic_charge(const tamis_statistic *s) { return s && s->charge ? s->charge : "the loss"; }

/* ---- what is asked ---- */

static tamis_status check(const tamis_file_quantile *asked, tamis_error *err)
{
    if (!asked->file || !*asked->file) return tmi_fail(err, TAMIS_INVALID, "file: there is none");
    if (!asked->column || !*asked->column) return tmi_fail(err, TAMIS_INVALID, "column: there is none");
    if (asked->weight && !asked->max_weight)
        return tmi_fail(err, TAMIS_INVALID, "weight: weights need a largest one, max_weight");
    if (!asked->weight && asked->max_weight) return tmi_fail(err, TAMIS_INVALID, "max_weight: there are no weights");
    if (asked->max_weight && tmi_number_sign(asked->max_weight) <= 0)
        return tmi_fail(err, TAMIS_INVALID, "max_weight must be above 0");
    return TAMIS_OK;
}

/* Everything that shapes the answer: the same text asks for the same release. */
static tamis_status write_identity(tamis_statistic *s, const tamis_file_quantile *asked, tamis_error *err)
{
    const tamis_number *log_unit = asked->what.log_unit; /* `auto` may have taken one: a step */
    if (!log_unit && s->quantile->log_unit) log_unit = asked->what.step;
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_json_open(&out, '{');
    tmi_json_add_string(&out, "statistic", "quantile");
    tmi_json_add_string(&out, "column", s->column);
    tmi_json_add_string(&out, "weight", s->weight);
    tmi_add_exact(&out, "max_weight", asked->max_weight);
    tmi_add_exact(&out, "from", asked->what.from);
    tmi_add_exact(&out, "to", asked->what.to);
    tmi_add_exact(&out, "step", asked->what.step);
    tmi_add_exact(&out, "log_unit", log_unit);
    tmi_json_add_open(&out, "at", '[');
    for (size_t i = 0; i < s->count; i++) tmi_put_exact(&out, s->at[i]);
    tmi_json_close(&out, ']');
    const tamis_quantile_method method = tamis_quantile_method_of(s->quantile); /* ledgers know HistogramMethod by its old name */
    tmi_json_add_string(&out, "method", method == TAMIS_QUANTILE_HISTOGRAM ? "histogram" : tamis_quantile_method_name(method));
    tmi_json_add_boolean(&out, "complete", asked->what.complete != 0);
    tmi_json_add_string(&out, "neighbours", s->add_remove ? "add_remove" : "replace");
    if (s->quantile->method != TAMIS_QUANTILE_THRESHOLD && tmi_quantile_bins(s->quantile) > 0)
        tmi_json_add_integer(&out, "bins", tmi_quantile_bins(s->quantile));
    if (s->epsilon) tmi_add_exact(&out, "epsilon", s->epsilon);
    if (s->delta) tmi_add_exact(&out, "delta", s->delta);
    if (s->rho) tmi_add_exact(&out, "rho", s->rho);
    tmi_json_close(&out, '}');
    return tmi_text_take(&s->identity, &json, err);
}

/* Beside the file itself: by whatever name it is called, it has one ledger. (A copy is another file.) REFUSED if the file has a
 * second name of the same rank. */
static tamis_status name_ledger(char **ledger, const char *file, tamis_error *err)
{
    char real[PATH_MAX];
    struct stat facts;
    tmi_text text;
    if (stat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink > 1)
        return tmi_fail_file(
            err, TAMIS_REFUSED, file, 0,
            "the file has a second name (a hard link), by which its ledger would not be found: the same rows would "
            "have two budgets. Nothing was read, nothing was spent. Keep one of the names; `find DIR -samefile "
            "FILE` lists them");
    tmi_text_init(&text);
    const bool is_link = lstat(file, &facts) == 0 && S_ISLNK(facts.st_mode) && realpath(file, real);
    tmi_text_format(&text, "%s.ledger", is_link ? real : file);
    return tmi_text_take(ledger, &text, err);
}

/* The quantile for this many rows; -1: not public. A method that cannot take so many is refused here, before the charge. */
static tamis_status make_quantile(tamis_statistic *s, const tamis_file_quantile *asked, int64_t rows, tamis_error *err)
{
    tamis_quantile_setup what = asked->what;
    what.rows_per_unit = 1;
    what.max_weight = asked->weight ? TMI_WEIGHT_STEPS : 0;
    what.rows = rows > 0 ? rows : 0;
    tamis_quantile_free(s->quantile);
    const tamis_status status = tamis_quantile_new(&s->quantile, &what, err);
    if (status != TAMIS_OK || rows <= tmi_quantile_most_records(s->quantile)) return status;
    return tmi_fail(err, TAMIS_INVALID, "method: %s with weights takes at most %lld rows, and the file has more",
                    tamis_quantile_method_name(s->quantile->method), (long long)tmi_quantile_most_records(s->quantile));
}

static tamis_status copy_if(tamis_number **copy, const tamis_number *x, tamis_error *err)
{
    return x ? tmi_number_copy(copy, x, err) : TAMIS_OK;
}

/* What is promised, as epsilon and delta. */
static tamis_status set_loss(tamis_statistic *s, tamis_error *err)
{
    tamis_profile *profile = NULL;
    tamis_number *delta = NULL;
    tamis_status status = TAMIS_OK;
    if (s->rho) {
        TMI_TRY(tamis_number_read(&delta, TMI_STATISTIC_DELTA, err));
        TMI_TRY(tamis_profile_zcdp(&profile, s->rho, err));
        TMI_TRY(tamis_profile_epsilon(&s->loss[0], profile, delta, err));
        s->loss[1] = tmi_number_bound(delta);
    } else {
        s->loss[0] = tmi_number_bound(s->epsilon);
        if (s->delta) s->loss[1] = tmi_number_bound(s->delta);
    }
done:
    tamis_profile_free(profile);
    tamis_number_free(delta);
    return status;
}

/* A delta that the noise does not need is neither promised nor charged: the call is then the same as one without it. */
static void drop_delta(tamis_statistic *s)
{
    if (!s->delta || tmi_quantile_spends_delta(s->quantile)) return;
    tamis_number_free(s->delta);
    s->delta = NULL;
    s->loss[1] = (tamis_bound){0, 0};
    s->delta_dropped = true;
}

static tamis_status set_up(tamis_statistic *s, const tamis_file_quantile *asked, tamis_error *err)
{
    const tamis_quantile_setup what = asked->what;
    tamis_status status;
    TMI_TRY(check(asked, err));
    TMI_TRY(make_quantile(s, asked, -1, err));
    s->count = what.at_count;
    s->add_remove = what.add_remove != 0;
    s->at = tmi_alloc(s->count, sizeof *s->at);
    s->points = tmi_alloc(s->count, sizeof *s->points);
    s->errors = tmi_alloc(s->count, sizeof *s->errors);
    s->priors = tmi_alloc(s->count, sizeof *s->priors);
    s->levels = tmi_alloc(2 * s->count, sizeof *s->levels);
    s->ends = tmi_alloc(2 * s->count, sizeof *s->ends);
    if (!s->at || !s->points || !s->errors || !s->priors || !s->levels || !s->ends) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < s->count; i++) TMI_TRY(tmi_number_copy(&s->at[i], what.at[i], err));
    TMI_TRY(tmi_number_copy(&s->step, what.step, err));
    TMI_TRY(copy_if(&s->epsilon, what.epsilon, err));
    TMI_TRY(copy_if(&s->delta, what.delta, err));
    TMI_TRY(copy_if(&s->rho, what.rho, err));
    TMI_TRY(set_loss(s, err));
    TMI_TRY(tmi_copy_string(&s->file, asked->file, err));
    TMI_TRY(tmi_copy_string(&s->column, asked->column, err));
    TMI_TRY(tmi_copy_string(&s->weight, asked->weight, err));
    TMI_TRY(name_ledger(&s->ledger, asked->file, err));
done:
    return status;
}

/* ---- the columns ---- */

typedef struct columns {
    tmi_column value, weight;
} columns;

static tamis_status make_columns(columns *c, const tamis_file_quantile *asked, const tamis_statistic *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    *c = (columns){.value = {.name = s->column, .kind = TMI_NUMBER, .grid = s->quantile->grid}};
    if (s->weight) {
        c->weight = (tmi_column){.name = s->weight, .kind = TMI_NUMBER};
        tmi_term step = tmi_div(&e, asked->max_weight, tmi_int(&e, TMI_WEIGHT_STEPS)), zero = tmi_int(&e, 0);
        TMI_TRY(e.status);
        TMI_TRY(tmi_grid_set(&c->weight.grid, zero, asked->max_weight, step, err));
    }
done:
    tmi_exact_clear(&e);
    return status;
}

static tmi_points_request points_of(const tamis_statistic *s, const columns *c)
{
    /* JOINT and SPLIT give records random places, in the order in which they come. The others see sums over records alone. */
    const bool by_place = s->quantile->method == TAMIS_QUANTILE_JOINT || s->quantile->method == TAMIS_QUANTILE_SPLIT;
    return (tmi_points_request){.value = &c->value,
                                .weight = s->weight ? &c->weight : NULL,
                                .max_weight = TMI_WEIGHT_STEPS,
                                .any_order = !by_place};
}

/* The columns are there and can be read, and how many rows there are. */
static tamis_status look(tamis_statistic *s, tmi_engine *engine, const columns *c, const tamis_watch *watch, tamis_error *err)
{
    const tmi_column *const list[] = {&c->value, &c->weight};
    tmi_inventory inventory = {.columns = list, .column_count = s->weight ? 2 : 1};
    const tmi_points_request asked = points_of(s, c);
    tamis_status status = engine->describe(engine, &inventory, watch, err);
    s->rows = s->add_remove ? -1 : inventory.rows;
    return status == TAMIS_OK ? tmi_engine_points_check(engine, &asked, watch, err) : status;
}

/* ---- the ledger ---- */

/* What the first charge of a file fixes: later ones count the same neighbours. */
static const char *frozen_of(const tamis_statistic *s)
{
    return s->add_remove ? "{\"unit\": \"row\", \"neighbours\": \"add_remove\"}"
                         : "{\"unit\": \"row\", \"neighbours\": \"replace\"}";
}

static tamis_status name_source(char **source, const tamis_statistic *s, tamis_error *err)
{
    tmi_value *parts = NULL;
    char *files[] = {s->file};
    const tmi_plan_source own = {.files = files, .names = files, .file_count = 1};
    tamis_status status = tmi_source_parts(&parts, &own, s->ledger, err);
    if (status == TAMIS_OK) status = tmi_json_canonical_text(source, parts, err);
    tmi_value_free(parts);
    return status;
}

/* Of the same kind as what this call spends. */
static tamis_coin budget_of(const tamis_statistic *s, const tamis_file_quantile *asked)
{
    if (s->rho) return (tamis_coin){.rho = asked->budget ? asked->budget : s->rho};
    return (tamis_coin){.epsilon = asked->budget ? asked->budget : s->epsilon,
                        .delta = asked->budget_delta ? asked->budget_delta : asked->what.delta};
}

/* What the steps work on. */
typedef struct job {
    tamis_statistic *s;
    const tamis_file_quantile *asked;
    tmi_engine *engine;
    const columns *columns;
    char *survey, *source;
} job;

static tamis_status make_bill(tmi_bill *bill, void *job_, tamis_error *err)
{
    job *j = job_;
    const tamis_statistic *s = j->s;
    const char *name = tmi_last_name(s->ledger);
    if (!(j->survey = tmi_copy_text(name, strlen(name) - strlen(".ledger")))) return tmi_fail_memory(err);
    tamis_status status = name_source(&j->source, s, err);
    *bill = (tmi_bill){.ledger = s->ledger,
                       .charge = {.survey = j->survey,
                                  .release = "quantile",
                                  .amount = {.epsilon = s->epsilon, .delta = s->delta, .rho = s->rho},
                                  .budget = budget_of(s, j->asked),
                                  .frozen = frozen_of(s),
                                  .measures = s->identity,
                                  .again = j->asked->again,
                                  .source = j->source},
                       .opening_budget = !j->asked->budget};
    return status;
}

/* ---- with the data ---- */

static tamis_status answer(tamis_statistic *s, tmi_engine *engine, const columns *c, const tamis_watch *watch, tamis_error *err)
{
    const tmi_points_request asked = points_of(s, c);
    tamis_rng *rng = NULL;
    tmi_point_list list = {0};
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tamis_quantile_prepare(s->quantile, rng, err));
    TMI_TRY(tmi_engine_points(&list, engine, &asked, watch, err));
    const tmi_counted_records entries = {list.points, list.weights, list.counts, list.count};
    status = list.counts ? tmi_quantile_counted(s->points, s->quantile, &entries, rng, err)
                         : tamis_quantile_points(s->points, s->quantile, list.points, list.weights, list.count, rng, err);
done:
    tmi_point_list_clear(&list);
    tamis_rng_free(rng);
    return status;
}

/* {"points": [...], "rows": 200}: never data, never bits. */
static tamis_status keep(const char **text, void *job_, tamis_error *err)
{
    tamis_statistic *s = ((job *)job_)->s;
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_json_open(&out, '{');
    tmi_json_add_integers(&out, "points", s->points, s->count);
    tmi_json_add_integer(&out, "rows", s->rows);
    tmi_json_close(&out, '}');
    tamis_status status = tmi_text_take(&s->kept, &json, err);
    *text = s->kept;
    return status;
}

static tamis_status read_kept(tamis_statistic *s, const char *kept, tamis_error *err)
{
    tmi_value *json = NULL;
    tamis_status status;
    TMI_TRY(tmi_json_read(&json, kept, strlen(kept), err));
    const tmi_value *points = tmi_value_get(json, "points"), *rows = tmi_value_get(json, "rows");
    if (!points || !rows || tmi_value_kind_of(points) != TMI_VALUE_LIST || tmi_value_size(points) != s->count ||
        tmi_value_kind_of(rows) != TMI_VALUE_INTEGER)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "ledger: the numbers kept for this call are damaged; --again makes new ones"));
    for (size_t i = 0; i < s->count; i++) s->points[i] = tmi_value_integer(tmi_value_at(points, i));
    s->rows = tmi_value_integer(rows);
done:
    tmi_value_free(json);
    return status;
}

static tamis_status make(void *job_, tamis_error *err)
{
    const job *j = job_;
    tamis_status status = answer(j->s, j->engine, j->columns, &j->asked->watch, err);
    return status == TAMIS_OK ? tmi_statistic_judge(j->s, err) : status;
}

static tamis_status recall(const char *kept, void *job_, tamis_error *err)
{
    const job *j = job_;
    tamis_status status = read_kept(j->s, kept, err);
    return status == TAMIS_OK ? tmi_statistic_judge(j->s, err) : status;
}

static const tmi_publishing steps = {
    .again = "Ask for the same quantile again", .bill = make_bill, .make = make, .recall = recall, .keep = keep};

tamis_status tamis_statistic_quantile(tamis_statistic **statistic, const tamis_file_quantile *asked, tamis_error *err)
{
    tamis_statistic *s = NULL;
    columns c;
    job j = {.asked = asked, .columns = &c};
    tamis_status status;
    if (!statistic) return tmi_fail(err, TAMIS_INVALID, "statistic: NULL");
    *statistic = NULL;
    if (!asked) return tmi_fail(err, TAMIS_INVALID, "asked: NULL");
    if (!(j.s = s = tmi_alloc(1, sizeof *s))) return tmi_fail_memory(err);
    TMI_TRY(set_up(s, asked, err));
    const char *const files[] = {s->file};
    const tmi_source source = {.files = files, .file_count = 1};
    TMI_TRY(make_columns(&c, asked, s, err));
    TMI_TRY(tmi_engine_open(&j.engine, asked->engine, &source, 0, err));
    TMI_TRY(look(s, j.engine, &c, &asked->watch, err));
    TMI_TRY(make_quantile(s, asked, s->rows, err)); /* the rule may look at their number */
    drop_delta(s);
    TMI_TRY(write_identity(s, asked, err));
    TMI_TRY(tmi_publish(
        &(tmi_publication){.steps = &steps, .job = &j, .ledger = s->ledger, .account = &s->account, .charge = &s->charge}, err));
    *statistic = s;
    s = NULL;
done:
    if (j.engine) j.engine->free(j.engine);
    tmi_free(j.survey);
    tmi_free(j.source);
    tamis_statistic_free(s);
    return status;
}
