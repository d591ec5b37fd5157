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
    tmi_free(c->plan_text);
    tmi_free(c->version);
    tmi_standing_clear(&c->account.standing);
    tmi_free(c->account.new_account);
    *c = (tmi_certificate){0};
}

/* ---- the plan, out of its own text ---- */

/* Whether the source of the plan, and nothing else in it, has that key. */
static bool is_sharded(const char *plan_text)
{
    tmi_json *plan = NULL;
    if (tmi_json_read(&plan, plan_text, strlen(plan_text), NULL) != TAMIS_OK) return false; /* the plan's reader says why */
    const tmi_json *source = tmi_json_kind_of(plan) == TMI_JSON_OBJECT ? tmi_json_get(plan, "source") : NULL;
    const bool sharded = source && tmi_json_kind_of(source) == TMI_JSON_OBJECT && tmi_json_get(source, "sharded_by");
    tmi_json_free(plan);
    return sharded;
}

/* How to connect is nobody's business and not in the text, but a plan has to say it: any words do, as many as were left out. */
static tamis_status readable(char **text, const char *plan_text, tamis_error *err)
{
    static const char before[] = "\"source\": {\"postgres\": {";
    const char *found = strstr(plan_text, before);
    tmi_text t;
    tmi_text_init(&t);
    if (found) {
        size_t head = (size_t)(found - plan_text) + strlen(before);
        tmi_text_add(&t, plan_text, head);
        tmi_text_put(&t, is_sharded(plan_text) ? "\"connections\": [\"a\", \"b\"], " : "\"connection\": \"a\", ");
        tmi_text_put(&t, plan_text + head);
    } else {
        tmi_text_put(&t, plan_text);
    }
    return tmi_text_take(text, &t, err);
}

tamis_status tmi_certificate_plan(tamis_plan **plan, const char *plan_text, const char *name, tamis_error *err)
{
    char *text = NULL;
    *plan = NULL;
    tamis_status status = readable(&text, plan_text, err);
    if (status == TAMIS_OK) status = tamis_plan_read_text(plan, name, text, strlen(text), err);
    tmi_free(text);
    return status;
}

tamis_status tmi_certificate_of(tmi_certificate *c, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status;
    *c = (tmi_certificate){.schedule = s};
    TMI_TRY(tmi_plan_json(&c->plan_text, s->plan, err));
    c->version = tmi_copy_text(tamis_version(), strlen(tamis_version()));
    if (!c->version) TMI_TRY(tmi_fail_memory(err));

done:
    return status;
}

tamis_status tmi_certificate_check_plan(const tmi_certificate *c, tamis_error *err)
{
    tamis_plan *plan = NULL;
    char *again = NULL;
    tamis_status status;
    TMI_TRY(tmi_certificate_plan(&plan, c->plan_text, c->schedule->plan->name, err));
    TMI_TRY(tmi_plan_json(&again, plan, err));
    if (strcmp(again, c->plan_text) != 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "certificate: the plan differs when read again from its own text"));

done:
    tmi_free(again);
    tamis_plan_free(plan);
    return status;
}

tamis_status tmi_certificate_account(tmi_certificate *c, const tmi_account *a, tamis_error *err)
{
    if (!a->kept || a->charged.entry == 0) return TAMIS_OK;
    c->account.charged = true;
    c->account.entry = a->charged.entry;
    snprintf(c->account.hash, sizeof c->account.hash, "%s", a->charged.hash);
    snprintf(c->account.time, sizeof c->account.time, "%s", a->charged.time);
    c->account.created = a->charged.created != 0;
    c->account.repeated = a->charged.measurements != NULL;
    c->account.claim = a->charged.claim;
    const char *reason = a->charged.new_account;
    if (reason && !(c->account.new_account = tmi_copy_text(reason, strlen(reason)))) return tmi_fail_memory(err);
    c->account.clock_behind = a->charged.clock_behind != 0;
    c->account.spent = a->spent;
    c->account.left = a->left;
    return tmi_standing_copy(&c->account.standing, &a->standing, err);
}

/* ---- pieces ---- */

static void put_exact(tmi_json_out *out, const char *key, const tamis_number *number)
{
    tmi_json_key(out, key);
    tmi_put_exact(out, number);
}

static void put_text(tmi_json_out *out, const char *key, const char *text)
{
    tmi_json_key(out, key);
    tmi_json_put_string(out, text);
}

static void put_integer(tmi_json_out *out, const char *key, int64_t value)
{
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

static void put_integers(tmi_json_out *out, const char *key, const int64_t *list, size_t count)
{
    tmi_json_key(out, key);
    tmi_json_open(out, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_integer(out, list[i]);
    tmi_json_close(out, ']');
}

/* How many units a row represents: exact weights, and the grids on which they are integers. */
static void put_sampling(tmi_json_out *out, const tmi_sampling *s)
{
    tmi_json_open(out, '{');
    put_integer(out, "rows", s->rows);
    tmi_json_key(out, "rows_fixed");
    tmi_json_put_boolean(out, s->rows_fixed);
    tmi_json_key(out, "weights");
    if (s->weights == TMI_ROWS) {
        tmi_json_put_null(out);
        put_exact(out, "step", s->step);
        put_integer(out, "largest_point", s->most);
    } else {
        tmi_json_open(out, '[');
        for (size_t h = 0; h < s->strata; h++) tmi_put_exact(out, s->weight[h]);
        tmi_json_close(out, ']');
        put_exact(out, "step", s->step);
        put_integers(out, "points", s->points, s->strata);
        put_exact(out, "spread_step", s->spread_step);
        put_integers(out, "spread_points", s->spread_points, s->strata);
    }
    tmi_json_close(out, '}');
}

static void put_measurements(tmi_json_out *out, const tmi_schedule *s)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        tmi_put_measurement(out, s, m);
        put_integer(out, "cells_of_a_record", (int64_t)m->movable);
        tmi_json_key(out, "may_be_left_out");
        tmi_json_put_boolean(out, !tmi_never_left_out(m, &s->sampling));
        put_integer(out, "limit", m->limit);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

static void put_composition(tmi_json_out *out, const tmi_schedule *s)
{
    tmi_json_open(out, '{');
    put_text(out, "theorem",
             s->gaussian ? "the rhos of zero-concentrated releases add up" : "the epsilons of pure releases add up");
    put_text(out, "noise", s->gaussian ? "discrete_gaussian" : "discrete_laplace");
    put_exact(out, s->gaussian ? "rho" : "epsilon", s->spent);
    if (s->gaussian) put_exact(out, "told_at_delta", s->delta);
    tmi_json_close(out, '}');
}

static void put_entry(tmi_json_out *out, const tmi_certified *a)
{
    tmi_json_key(out, "ledger");
    if (!a->charged) {
        tmi_json_put_null(out);
        tmi_json_key(out, "account");
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    put_integer(out, "entry", a->entry);
    put_text(out, "hash", a->hash);
    put_text(out, "time", a->time);
    tmi_json_key(out, "repeated");
    tmi_json_put_boolean(out, a->repeated);
    tmi_json_key(out, "created");
    tmi_json_put_boolean(out, a->created);
    if (a->claim) put_integer(out, "claim", a->claim);
    if (a->clock_behind) {
        tmi_json_key(out, "clock_behind");
        tmi_json_put_boolean(out, true);
    }
    tmi_json_close(out, '}');
    tmi_json_key(out, "account");
    tmi_json_open(out, '{');
    tmi_put_standing(out, &a->standing);
    put_text(out, "new_account", a->new_account);
    tmi_json_close(out, '}');
}

/* ---- the guarantee ---- */

static void put_amplification(tmi_json_out *out, const tmi_promised *p)
{
    tmi_json_open(out, '{');
    put_text(out, "theorem", p->outsider.proved ? p->outsider.theorem : NULL);
    if (!p->outsider.proved) put_text(out, "reason", p->outsider.reason);
    put_exact(out, "epsilon", p->epsilon);
    put_exact(out, "delta", p->delta);
    tmi_json_close(out, '}');
}

static void put_guarantee(tmi_json_out *out, const tmi_certificate *c, const tmi_promised *p)
{
    const tmi_account a = {.has_spending = c->account.charged};
    tmi_json_open(out, '{');
    tmi_json_key(out, "sample");
    tmi_put_sample_loss(out, c->schedule);
    tmi_json_key(out, "outsider");
    tmi_put_outsider_loss(out, &c->schedule->plan->design, &p->outsider);
    tmi_json_key(out, "spent");
    tmi_put_spending(out, &a, &c->account.spent);
    tmi_json_key(out, "left");
    tmi_put_spending(out, &a, &c->account.left);
    tmi_json_close(out, '}');
}

/* ---- the file ---- */

static void put_body(tmi_json_out *out, const tmi_certificate *c, const tmi_promised *p)
{
    const tmi_schedule *s = c->schedule;
    tmi_lines lines = {0};
    put_integer(out, "tamis", 1);
    put_text(out, "version", c->version);
    tmi_json_key(out, "plan");
    tmi_json_put_number(out, c->plan_text);
    tmi_json_key(out, "setting");
    tmi_put_setting(out, s);
    tmi_json_key(out, "specification");
    tmi_put_specification(out, s);
    tmi_json_key(out, "sampling");
    put_sampling(out, &s->sampling);
    if (tmi_frame_of(s)) {
        tmi_json_key(out, "frame");
        tmi_put_frame_facts(out, tmi_frame_of(s));
    }
    tmi_json_key(out, "measurements");
    put_measurements(out, s);
    tmi_json_key(out, "composition");
    put_composition(out, s);
    put_entry(out, &c->account);
    tmi_json_key(out, "amplification");
    put_amplification(out, p);
    tmi_list_declared(&lines, s, TMI_DECLARED_BY_NAME);
    tmi_lines_put(out, "declared_public", &lines);
    tmi_list_not_covered(&lines, s);
    tmi_lines_put(out, "not_covered", &lines);
    tmi_json_key(out, "files");
    tmi_json_open(out, '{');
    for (size_t i = 0; i < TMI_FILES; i++) put_text(out, tmi_files[i].name, c->files[i]);
    tmi_json_close(out, '}');
    put_text(out, "signed_by", c->signed_by[0] ? c->signed_by : NULL);
}

/* Of the canonical text of all but the guarantee and the hash itself. */
static tamis_status hash_body(tmi_certificate *c, const tmi_promised *p, tamis_error *err)
{
    tmi_text body, canonical;
    tmi_json_out out;
    tmi_json *document = NULL;
    tamis_status status = TAMIS_OK;
    tmi_text_init(&body);
    tmi_text_init(&canonical);
    body.watch = c->schedule->watch;
    tmi_json_out_init(&out, &body, false);
    tmi_json_open(&out, '{');
    put_body(&out, c, p);
    tmi_json_close(&out, '}');
    if (body.stopped) TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "cancelled"));
    if (body.failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_json_read_watched(&document, body.bytes, body.length, c->schedule->watch, err));
    TMI_TRY(tmi_json_canonical(&canonical, document, err));
    tmi_sha256_text(c->hash, canonical.bytes, canonical.length);

done:
    tmi_json_free(document);
    tmi_text_clear(&canonical);
    tmi_text_clear(&body);
    return status;
}

/* What a new account adds: twelve fractions, an entry, the reason of a new account (each byte of a name takes six at most),
 * hashes. */
#define OF_ACCOUNT (12 * (2 * (size_t)TAMIS_NUMBER_DIGITS + 64) + 6 * (size_t)TAMIS_LEDGER_NAME + 8192)

tamis_status tmi_certificate_longest(size_t *length, const tmi_certificate *c, const tmi_promised *p, const tmi_standing *known,
                                     tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    json.counted = true;
    json.watch = c->schedule->watch;
    tmi_json_out_init(&out, &json, true);
    tmi_json_open(&out, '{');
    put_body(&out, c, p);
    tmi_json_key(&out, "guarantee");
    put_guarantee(&out, c, p);
    tmi_json_close(&out, '}');
    *length = json.length + OF_ACCOUNT + tmi_standing_bytes(known, c->schedule->plan);
    if (json.stopped) return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
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
    tmi_json_open(&out, '{');
    put_body(&out, c, p);
    tmi_json_key(&out, "guarantee");
    put_guarantee(&out, c, p);
    put_text(&out, "hash", c->hash);
    tmi_json_close(&out, '}');
    tmi_text_put(&json, "\n");
    return tmi_text_take(text, &json, err);
}

void tmi_certificate_message(char message[TMI_CERTIFICATE_MESSAGE], const char *hash)
{
    snprintf(message, TMI_CERTIFICATE_MESSAGE, "tamis certificate %s\n", hash);
}
