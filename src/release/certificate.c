#include "release/certificate.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "num/bound.h"
#include "plan/json.h"
#include "release/standing.h"
#include "report/promise.h"
#include "report/specification.h"

void tmi_certificate_clear(tmi_certificate *c)
{
    tmi_value_free(c->plan);
    tmi_value_free(c->engine);
    tmi_free(c->version);
    *c = (tmi_certificate){0};
}

/* ---- the plan, out of its own text ---- */

tamis_status tmi_certificate_plan(tamis_plan **plan, const tmi_value *json, const char *name, tamis_error *err)
{
    static const char before[] = "\"source\": {\"postgres\": {", asked[] = "\"source\": {";
    const bool commanded = tmi_value_get(tmi_value_get(json, "source"), "dialect");
    const bool sharded = tmi_value_get(tmi_value_get(json, "source"), "sharded_by");
    tmi_text written, readable;
    tamis_status status;
    *plan = NULL;
    tmi_text_init(&written);
    tmi_text_init(&readable);
    TMI_TRY(tmi_json_canonical(&written, json, err));
    const char *mark = commanded ? asked : before, *found = strstr(written.bytes, mark),
               *rest = found ? found + strlen(mark) : written.bytes;
    tmi_text_add(&readable, written.bytes, (size_t)(rest - written.bytes));
    /* how to connect is nobody's business and not in the text, but a plan has to say it: any words do, as many as were left
     * out */
    if (found && commanded) tmi_text_put(&readable, "\"command\": [\"a\"], ");
    else if (found) tmi_text_put(&readable, sharded ? "\"connections\": [\"a\", \"b\"], " : "\"connection\": \"a\", ");
    tmi_text_put(&readable, rest);
    if (readable.failed) TMI_TRY(tmi_fail_memory(err));
    status = tamis_plan_read_text(plan, name, readable.bytes, readable.length, err);

done:
    tmi_text_clear(&written);
    tmi_text_clear(&readable);
    return status;
}

tamis_status tmi_certificate_of(tmi_certificate *c, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status;
    *c = (tmi_certificate){.schedule = s};
    TMI_TRY(tmi_plan_json(&c->plan, s->plan, err));
    TMI_TRY(tmi_copy_string(&c->version, tamis_version(), err));

done:
    return status;
}

tamis_status tmi_certificate_check_plan(const tmi_certificate *c, tamis_error *err)
{
    tamis_plan *plan = NULL;
    tmi_value *again = NULL;
    tamis_status status;
    TMI_TRY(tmi_certificate_plan(&plan, c->plan, c->schedule->plan->name, err));
    TMI_TRY(tmi_plan_json(&again, plan, err));
    if (!tmi_value_equal(again, c->plan))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "certificate: the plan differs when read again from its own text"));

done:
    tmi_value_free(again);
    tamis_plan_free(plan);
    return status;
}

/* ---- pieces ---- */

/* How many units a row represents: exact weights, and the grids on which they are integers. */
static void put_sampling(tmi_json_out *out, const tmi_schedule *schedule)
{
    const tmi_sampling *s = &schedule->sampling;
    const tmi_workload *w = &schedule->workload;
    const bool measured = tmi_variance_source_of(schedule) == TMI_MEASURED_ERRORS;
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "rows", s->rows);
    tmi_json_add_boolean(out, "rows_fixed", s->rows_fixed);
    tmi_json_add_boolean(out, "apart", w->separate_strata);
    tmi_json_add_boolean(out, "joined", w->shared_classes);
    if (s->weights == TMI_ROWS && measured) tmi_json_add_integer(out, "largest_point_in_totals", s->most_clamped);
    tmi_put_psu_layout(out, &schedule->places.layout);
    if (schedule->plan->privacy.loss.by_stratum) {
        tmi_json_add_open(out, "epsilons", '[');
        for (size_t h = 0; h < s->strata; h++) tmi_put_exact(out, schedule->plan->privacy.loss.by_stratum[h]);
        tmi_json_close(out, ']');
    }
    tmi_json_key(out, "weights");
    if (s->weights == TMI_ROWS) {
        tmi_json_put_null(out);
        tmi_add_exact(out, "step", s->step);
        tmi_json_add_integer(out, "largest_point", s->most);
        if (s->most_of_unit > 0) tmi_json_add_integer(out, "largest_sum_of_unit", s->most_of_unit);
    } else {
        tmi_json_open(out, '[');
        for (size_t h = 0; h < s->strata; h++) tmi_put_exact(out, s->weight[h]);
        tmi_json_close(out, ']');
        tmi_add_exact(out, "step", s->step);
        tmi_json_add_integers(out, "points", s->points, s->strata);
        tmi_add_exact(out, "spread_step", s->variance_step);
        tmi_json_add_integers(out, "spread_points", s->variance_points, s->strata);
    }
    tmi_json_close(out, '}');
}

static void put_measurements(tmi_json_out *out, const tmi_schedule *s)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        tmi_put_measurement(out, s, m);
        tmi_json_add_open(out, "table", '{'); /* its place in the plan's list of axes and domains */
        tmi_json_add_integer(out, "world", (int64_t)m->marginal.domain);
        tmi_json_add_open(out, "axes", '[');
        for (size_t k = 0; k < m->marginal.axis_count; k++) tmi_json_put_integer(out, (int64_t)m->marginal.axes[k]);
        tmi_json_close(out, ']');
        if (tmi_method_of(m->marginal.weighting)) tmi_json_add_integer(out, "statistic", (int64_t)m->marginal.statistic);
        tmi_json_close(out, '}');
        tmi_json_add_integer(out, "limit", m->limit);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

static void put_quantile_tasks(tmi_json_out *out, const tmi_schedule *s)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        tmi_put_quantile_task(out, s, &s->quantile_tasks[i]);
        tmi_json_add_integer(out, "statistic", (int64_t)s->quantile_tasks[i].statistic); /* its place in the plan */
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

static void put_composition(tmi_json_out *out, const tmi_schedule *s)
{
    static const char *const theorems[] = {
        [TMI_NOT_GAUSSIAN] = "the epsilons of pure releases add up",
        [TMI_DISCRETE_GAUSSIAN] = "the rhos of zero-concentrated releases add up",
        [TMI_ROUNDED_NORMAL] = "the squared mus of normal releases add up, mu^2 = 2 rho",
    };
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "theorem", theorems[s->gaussian]);
    tmi_json_add_string(out, "noise", tmi_noise_name(s->gaussian));
    tmi_add_exact(out, s->gaussian ? "rho" : "epsilon", s->spent);
    if (s->gaussian) tmi_add_exact(out, "told_at_delta", s->delta);
    tmi_json_close(out, '}');
}

static void put_account(tmi_json_out *out, const tmi_account *a)
{
    if (!a) {
        tmi_json_add_null(out, "ledger");
        tmi_json_add_null(out, "account");
        return;
    }
    tmi_json_add_open(out, "ledger", '{');
    tmi_put_charge(out, &a->charged);
    if (a->charged.clock_behind) tmi_json_add_boolean(out, "clock_behind", true);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "account", '{');
    tmi_put_standing(out, &a->standing);
    tmi_json_add_string(out, "new_account", a->charged.new_account);
    tmi_json_close(out, '}');
}

/* ---- the guarantee ---- */

static void put_amplification(tmi_json_out *out, const tmi_promised *p)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "theorem", p->outsider.proved ? p->outsider.theorem : NULL);
    if (!p->outsider.proved) tmi_json_add_string(out, "reason", p->outsider.reason);
    tmi_add_exact(out, "epsilon", p->epsilon);
    tmi_add_exact(out, "delta", p->delta);
    if (p->outsider.by_profile) {
        const tmi_loss_parts *parts = &p->parts;
        tmi_json_add_open(out, "profile", '{');
        tmi_add_exact(out, "epsilon", parts->pure);
        tmi_add_exact(out, parts->mu_squared ? "mu_squared" : "rho", parts->mu_squared ? parts->mu_squared : parts->rho);
        tmi_json_close(out, '}');
    }
    if (p->by_stratum) {
        tmi_json_add_open(out, "strata", '[');
        for (size_t h = 0; h < p->strata; h++) tmi_put_exact(out, p->by_stratum[h]);
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, '}');
}

static void put_guarantee(tmi_json_out *out, const tmi_certificate *c, const tmi_promised *p)
{
    const tmi_account none = {0}, *a = c->account ? c->account : &none;
    tmi_json_open(out, '{');
    tmi_json_key(out, "sample");
    tmi_put_sample_loss(out, c->schedule);
    tmi_json_key(out, "outsider");
    tmi_put_outsider_loss(out, &c->schedule->plan->design, &p->outsider);
    tmi_json_key(out, "spent");
    tmi_put_spending(out, a, &a->spent);
    tmi_json_key(out, "left");
    tmi_put_spending(out, a, &a->left);
    tmi_json_close(out, '}');
}

/* ---- the file ---- */

static void put_body(tmi_json_out *out, const tmi_certificate *c, const tmi_promised *p)
{
    const tmi_schedule *s = c->schedule;
    tmi_lines lines = {0};
    tmi_json_add_integer(out, "tamis", 1);
    tmi_json_add_string(out, "version", c->version);
    tmi_json_key(out, "plan");
    tmi_json_put_value(out, c->plan);
    if (c->engine) {
        tmi_json_key(out, "engine");
        tmi_json_put_value(out, c->engine);
    }
    tmi_json_key(out, "setting");
    tmi_put_setting(out, s);
    tmi_json_key(out, "specification");
    tmi_put_specification(out, s);
    tmi_json_key(out, "sampling");
    put_sampling(out, s);
    if (tmi_psus_of(s)) {
        tmi_json_key(out, "psus");
        tmi_put_psu_facts(out, tmi_psus_of(s));
    }
    if (tmi_frame_of(s)) {
        tmi_json_key(out, "frame");
        tmi_put_frame_facts(out, tmi_frame_of(s));
    }
    if (s->earlier && s->earlier->count > 0) {
        tmi_json_key(out, "earlier");
        tmi_put_earlier(out, s->earlier);
    }
    tmi_put_bound_tasks(out, s);
    tmi_json_key(out, "measurements");
    put_measurements(out, s);
    if (s->quantile_task_count > 0) {
        tmi_json_key(out, "choices");
        put_quantile_tasks(out, s);
    }
    tmi_json_key(out, "composition");
    put_composition(out, s);
    put_account(out, c->account);
    tmi_json_key(out, "amplification");
    put_amplification(out, p);
    tmi_list_declared(&lines, s, TMI_DECLARED_BY_NAME);
    tmi_json_add_lines(out, "declared_public", &lines);
    tmi_list_not_covered(&lines, s);
    tmi_json_add_lines(out, "not_covered", &lines);
    tmi_json_add_open(out, "files", '{');
    for (size_t i = 0; i < TMI_FILES; i++)
        if (c->files[i][0] || !tmi_files[i].may_lack) tmi_json_add_string(out, tmi_files[i].name, c->files[i]);
    tmi_json_close(out, '}');
    tmi_json_add_string(out, "signed_by", c->signed_by[0] ? c->signed_by : NULL);
}

/* All of it; the hash once it is known. */
static void put_certificate(tmi_json_out *out, const tmi_certificate *c, const tmi_promised *p)
{
    tmi_json_open(out, '{');
    put_body(out, c, p);
    tmi_json_key(out, "guarantee");
    put_guarantee(out, c, p);
    if (c->hash[0]) tmi_json_add_string(out, "hash", c->hash);
    tmi_json_close(out, '}');
}

/* Of the canonical text of all but the guarantee and the hash itself. */
static tamis_status hash_body(tmi_certificate *c, const tmi_promised *p, tamis_error *err)
{
    tmi_text canonical;
    tmi_json_tree tree;
    tmi_value *body = NULL;
    tamis_status status;
    tmi_text_init(&canonical);
    tmi_json_tree_begin(&tree, c->schedule->watch);
    tmi_json_open(&tree.out, '{');
    put_body(&tree.out, c, p);
    tmi_json_close(&tree.out, '}');
    TMI_TRY(tmi_json_tree_end(&body, &tree, err));
    TMI_TRY(tmi_json_canonical(&canonical, body, err));
    tmi_sha256_text(c->hash, canonical.bytes, canonical.length);

done:
    tmi_value_free(body);
    tmi_text_clear(&canonical);
    return status;
}

/* What a new account adds: fourteen fractions, an entry, the reason of a new account (each byte of a name takes six at most),
 * hashes. */
#define OF_ACCOUNT (14 * (2 * (size_t)TAMIS_NUMBER_DIGITS + 64) + 6 * (size_t)TAMIS_LEDGER_NAME + 8192)

/* What an engine that is asked in SQL adds: a table and a version of the rows of 1,000 bytes each, of which each takes six at
 * most. */
#define OF_ENGINE (6 * (size_t)2000 + 1024)

tamis_status tmi_certificate_longest(size_t *length, const tmi_certificate *c, const tmi_promised *p, const tmi_standing *known,
                                     tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    json.counted = true;
    json.watch = c->schedule->watch;
    tmi_json_out_init(&out, &json, true);
    put_certificate(&out, c, p);
    *length = json.length + OF_ACCOUNT + OF_ENGINE + tmi_standing_bytes(known, c->schedule->plan);
    if (json.stopped) return tmi_fail_cancelled(err);
    return json.failed ? tmi_fail_memory(err) : TAMIS_OK;
}

tamis_status tmi_certificate_write(char **text, tmi_certificate *c, const tmi_promised *p, tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    *text = NULL;
    tamis_status status = hash_body(c, p, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&json);
    json.watch = c->schedule->watch;
    tmi_json_out_init(&out, &json, true);
    put_certificate(&out, c, p);
    tmi_text_put(&json, "\n");
    return tmi_text_take(text, &json, err);
}

tamis_status tmi_certificate_tree(tmi_value **tree, tmi_certificate *c, const tmi_promised *p, tamis_error *err)
{
    tmi_json_tree made;
    *tree = NULL;
    tamis_status status = hash_body(c, p, err);
    if (status != TAMIS_OK) return status;
    tmi_json_tree_begin(&made, c->schedule->watch);
    put_certificate(&made.out, c, p);
    return tmi_json_tree_end(tree, &made, err);
}
