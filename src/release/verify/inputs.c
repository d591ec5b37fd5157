/* The inputs of a certificate, as it says them: the plan, the parts of the budget, the frame, the account, the hashes of the
 * other files and the signer. Each is checked as far as it follows from the others.                                         */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "release/bounds.h"
#include "release/standing.h"
#include "release/verify/verification.h"

static void chosen_clear(tmi_certified_tables *certified)
{
    for (size_t i = 0; certified->parts && i < certified->count; i++) tamis_number_free(certified->parts[i]);
    tmi_free(certified->parts);
    tmi_free(certified->marginals);
    *certified = (tmi_certified_tables){0};
}

/* A table as the certificate describes it; false if it is none. */
static bool read_marginal(tmi_marginal *marginal, const tmi_value *measurement)
{
    static const char *const weighings[] = {"none", "weight",  "contribution", "spread", "clamped spread", "unit contribution",
                                            "psus", "squares", "groups"};
    static const char *const forms[] = {"full", "raw", "centred", "gram sums", "gram squares"};
    const tmi_value *table = tmi_value_field(measurement, "table", TMI_VALUE_MAP),
                    *axes = tmi_value_field(table, "axes", TMI_VALUE_LIST);
    const char *weighed = tmi_value_field_text(measurement, "weighed_by"), *form = tmi_value_field_text(measurement, "form");
    *marginal = (tmi_marginal){.weighting = TMI_WEIGHTINGS};
    for (size_t k = 0; k < sizeof weighings / sizeof *weighings; k++)
        if (strcmp(weighed, weighings[k]) == 0) marginal->weighting = k;
    size_t f = 0;
    while (f < TMI_TABLE_FORMS && strcmp(form, forms[f]) != 0) f++;
    if (!axes || tmi_value_size(axes) > TMI_MAX_AXES || marginal->weighting == TMI_WEIGHTINGS || f == TMI_TABLE_FORMS)
        return false;
    marginal->form = (tmi_table_form)f;
    marginal->domain = (size_t)tmi_value_whole(table, "world");
    marginal->statistic = tmi_method_of(marginal->weighting) ? (size_t)tmi_value_whole(table, "statistic") : 0;
    for (size_t k = 0; k < tmi_value_size(axes); k++) {
        const tmi_value *axis = tmi_value_at(axes, k);
        if (tmi_value_kind_of(axis) != TMI_VALUE_INTEGER || tmi_value_integer(axis) < 0 || tmi_value_integer(axis) > 1 << 20)
            return false;
        marginal->axes[marginal->axis_count++] = (size_t)tmi_value_integer(axis);
    }
    return true;
}

/* The tables and their parts of the budget; *known is false if the file does not say all of them. */
static tamis_status read_chosen(tmi_certified_tables *certified, bool *known, const tmi_value *document, tamis_error *err)
{
    const tmi_value *list = tmi_value_field(document, "measurements", TMI_VALUE_LIST);
    tamis_status status = TAMIS_OK;
    const tmi_value *sampling = tmi_value_field(document, "sampling", TMI_VALUE_MAP);
    *certified = (tmi_certified_tables){.separate_strata = tmi_value_true(sampling, "apart"),
                                        .shared_classes = tmi_value_true(sampling, "joined"),
                                        .clamped = tmi_value_whole(sampling, "largest_point_in_totals")};
    *known = list != NULL;
    if (!list) return TAMIS_OK;
    certified->count = tmi_value_size(list);
    certified->parts = tmi_alloc(certified->count, sizeof *certified->parts);
    certified->marginals = tmi_alloc(certified->count, sizeof *certified->marginals);
    if (!certified->parts || !certified->marginals) TMI_TRY(tmi_fail_memory(err));
    const char *noise = tmi_value_field_text(tmi_value_field(document, "composition", TMI_VALUE_MAP), "noise");
    if (!tmi_noise_of_name(&certified->gaussian, noise)) *known = false;
    for (size_t i = 0; i < certified->count; i++) {
        TMI_TRY(tmi_exact_field(&certified->parts[i], tmi_value_at(list, i), certified->gaussian ? "rho" : "epsilon", err));
        if (!certified->parts[i] || !read_marginal(&certified->marginals[i], tmi_value_at(list, i))) *known = false;
    }

done:
    return status;
}

/* What was charged before and with this release must add up and stay within the budget. */
static tamis_status check_account(const tmi_account *a, const tmi_schedule *s, tmi_checking *c, tamis_error *err)
{
    tmi_ledger_coin amount = {0};
    tamis_number *true_rho = NULL, *true_mu = NULL;
    tamis_status status = TAMIS_OK;
    if (a->standing.as_rho && !s->gaussian) TMI_TRY(tmi_schedule_rho(&true_rho, s, err));
    if (a->standing.as_rho && (!true_rho || tmi_number_compare(true_rho, a->standing.as_rho) != 0))
        tmi_check_note(c, "account.counted_as_rho", "is not what follows from the measurements");
    if (a->standing.as_mu && !s->gaussian) TMI_TRY(tmi_schedule_mu_squared(&true_mu, s, err));
    if (a->standing.as_mu && (!true_mu || tmi_number_compare(true_mu, a->standing.as_mu) != 0))
        tmi_check_note(c, "account.counted_as_mu_squared", "is not what follows from the measurements");
    TMI_TRY(tmi_schedule_coin(&amount, s, err));
    if (a->standing.as_rho && !s->gaussian) TMI_TRY(tmi_number_copy(&amount.rho, a->standing.as_rho, err));
    if (a->standing.as_mu && !s->gaussian) TMI_TRY(tmi_number_copy(&amount.mu_squared, a->standing.as_mu, err));
    const bool later = a->charged.measurements || a->charged.claim > 0;
    TMI_TRY(tmi_standing_check(&a->standing, s->plan, &amount, a->charged.entry, later, c, err));

done:
    tmi_coin_clear(&amount);
    tmi_number_frees(&true_rho, &true_mu, NULL);
    return status;
}

/* What an entry of a ledger is like. The first charge of a book comes after the entry that opens its account; where a later one
 * is the first that counts, the charges before it were voided, each by an entry of its own. */
static void check_entry(const tamis_charged *a, const tmi_losses *before, tmi_checking *c)
{
    if (!tmi_is_sha256_text(a->hash)) tmi_check_note(c, "ledger.hash", "expected the SHA-256 of an entry, 64 hexadecimal digits");
    if (!tmi_is_time(a->time)) tmi_check_note(c, "ledger.time", "expected a time in UTC, such as 2026-11-16T10:00:01Z");
    if (a->claim != 0 && a->claim <= a->entry)
        tmi_check_note(c, "ledger.claim", "a claim comes after the charge that it takes over");
    if (a->entry < TMI_FIRST_CHARGE) tmi_check_note(c, "ledger.entry", "a charge comes after the entry that opens its account");
    else if (a->created && !tmi_losses_zero(before))
        tmi_check_note(c, "account.before", "is not 0, but this is the first charge of a ledger");
    const bool later = a->measurements || a->claim != 0; /* what came before it may have been voided since */
    if (later && a->clock_behind) tmi_check_note(c, "ledger.clock_behind", "the certificate was written later than the entry");
    if (a->entry == TMI_FIRST_CHARGE ? !a->created : a->created && !later && a->entry < TMI_FIRST_CHARGE + 2)
        tmi_check_note(c, "ledger.created",
                       a->created ? "there is a charge before this one" : "entry 2 is the first charge of a ledger");
}

/* The account as the release knew it. What a release that is returned as it was has kept is empty: only its presence counts. */
static tamis_status read_account(tmi_verification *v, tamis_error *err)
{
    const tmi_value *ledger = tmi_value_field(v->document, "ledger", TMI_VALUE_MAP);
    const tmi_value *account = tmi_value_field(v->document, "account", TMI_VALUE_MAP);
    const char *why = tmi_value_field_text(account, "new_account");
    const bool measured = v->schedule.measurement_count > 0;
    tmi_account *a = &v->account;
    tamis_charged *charged = &a->charged;
    tmi_checking *c = &v->check;
    tamis_error reason = {0};
    tamis_status status;
    TMI_TRY(tmi_standing_read(&a->standing, &a->kept, account, err));
    a->kept = a->has_spending = a->kept && tmi_value_field(ledger, "entry", TMI_VALUE_INTEGER);
    charged->entry = tmi_value_whole(ledger, "entry");
    charged->created = tmi_value_true(ledger, "created");
    charged->claim = tmi_value_whole(ledger, "claim");
    charged->clock_behind = tmi_value_true(ledger, "clock_behind");
    snprintf(charged->hash, sizeof charged->hash, "%s", tmi_value_field_text(ledger, "hash"));
    snprintf(charged->time, sizeof charged->time, "%s", tmi_value_field_text(ledger, "time"));
    TMI_TRY(tmi_copy_string(&charged->measurements, tmi_value_true(ledger, "repeated") ? "" : NULL, err));
    TMI_TRY(tmi_copy_string(&charged->new_account, *why ? why : NULL, err));
    if (!a->kept) {
        if (measured) tmi_check_note(c, "account", "the certificate does not state this release's charge");
        goto done;
    }
    v->certificate.account = a;
    charged->opened = tmi_losses_zero(&a->standing.before);
    charged->unpublished = charged->claim && !charged->measurements ? charged->entry : 0;
    check_entry(charged, &a->standing.before, c);
    if (!measured) tmi_check_note(c, "account", "nothing was measured, so nothing is charged");
    else TMI_TRY(tmi_check_noted(c, "account", check_account(a, &v->schedule, c, &reason), &reason, err));

done:
    return status;
}

/* What the frame says; empty if there is none. */
static tamis_status read_frame(tmi_frame_facts *frame, const tmi_value *document, tmi_checking *c, tamis_error *err)
{
    const tmi_value *json = tmi_value_get(document, "frame"), *strata = tmi_value_field(json, "strata", TMI_VALUE_LIST);
    tamis_error reason = {0};
    if (!json) return TAMIS_OK;
    tamis_status status = tmi_frame_facts_read(frame, json, strata ? tmi_value_size(strata) : 0, &reason);
    return tmi_check_noted(c, "frame", status, &reason, err);
}

/* What the list of clusters says; empty if there is none. */
static tamis_status read_psus(tmi_psu_facts *psus, const tmi_value *document, tmi_checking *c, tamis_error *err)
{
    const tmi_value *json = tmi_value_get(document, "psus");
    tamis_error reason = {0};
    if (!json) return TAMIS_OK;
    return tmi_check_noted(c, "psus", tmi_psu_facts_read(psus, json, &reason), &reason, err);
}

/* What an engine that was asked in SQL said of itself. Nothing of the guarantee follows from it. */
static tamis_status read_engine(tmi_verification *v, tamis_error *err)
{
    static const char *const keys[] = {"dialect", "experimental", "version", "table", "rows_version", "statements"};
    const tmi_value *told = tmi_value_get(v->document, "engine");
    const tmi_plan_source *source = &v->schedule.plan->source;
    if (!told) return TAMIS_OK;
    if (!tmi_value_field(told, "dialect", TMI_VALUE_TEXT) || !tmi_value_field(told, "experimental", TMI_VALUE_BOOLEAN) ||
        !tmi_value_field(told, "table", TMI_VALUE_TEXT) || !tmi_is_sha256_text(tmi_value_field_text(told, "statements")) ||
        tmi_value_extra_key(told, keys, sizeof keys / sizeof *keys))
        tmi_check_note(&v->check, "engine", "expected what an engine that is asked in SQL says of itself");
    else if (source->dialect && (strcmp(source->dialect, tmi_value_field_text(told, "dialect")) != 0 ||
                                 strcmp(source->table, tmi_value_field_text(told, "table")) != 0))
        tmi_check_note(&v->check, "engine", "the plan names another dialect or table");
    return tmi_value_copy(&v->certificate.engine, told, err);
}

/* A certificate has the values and totals themselves. One that names a file instead was made up, and would have it opened. */
static bool names_a_file(const tmi_value *plan)
{
    const tmi_value *columns = tmi_value_field(plan, "columns", TMI_VALUE_MAP);
    bool found = tmi_value_field(tmi_value_field(plan, "calibrate", TMI_VALUE_MAP), "to", TMI_VALUE_TEXT);
    for (const tmi_value *column = tmi_value_first(columns); column; column = tmi_value_next(column))
        found = found || tmi_value_field(column, "values", TMI_VALUE_MAP);
    return found;
}

/* The schedule, from its plan; empty on failure. */
static tamis_status make_again(tmi_verification *v, const tmi_value *json, const tmi_certified_tables *certified,
                               tamis_error *err)
{
    tamis_plan *plan = NULL;
    tamis_status status;
    if (names_a_file(json))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "names a file of values or totals, which a certificate does not"));
    TMI_TRY(tmi_certificate_plan(&plan, json, "plan", err));
    TMI_TRY(tmi_schedule_make(&v->schedule, plan, certified, err));
    TMI_TRY(tmi_certificate_of(&v->certificate, &v->schedule, err));

done:
    tamis_plan_free(plan);
    if (status == TAMIS_OK) return TAMIS_OK;
    tmi_certificate_clear(&v->certificate);
    tmi_schedule_clear(&v->schedule);
    return status;
}

/* The plan, and what follows from it. A text that is no plan is a problem found. */
static tamis_status begin(tmi_verification *v, tamis_error *err)
{
    const tmi_value *document = v->document;
    tmi_checking *c = &v->check;
    const tmi_value *plan = tmi_value_field(document, "plan", TMI_VALUE_MAP);
    tmi_certified_tables certified = {0};
    tmi_frame_facts frame = {0};
    tmi_psu_facts psus = {0};
    tamis_error reason = {0};
    bool known;
    tamis_status status = TAMIS_OK;
    if (!plan) {
        tmi_check_note(c, "plan", "is missing, and the rest follows from it");
        goto done;
    }
    TMI_TRY(read_chosen(&certified, &known, document, err));
    if (!known) tmi_check_note(c, "measurements", "a table or its part of the budget is missing");
    TMI_TRY(read_frame(&frame, document, c, err));
    TMI_TRY(read_psus(&psus, document, c, err));
    certified.frame = frame.count > 0 ? &frame : NULL;
    certified.psus = psus.strata > 0 ? &psus : NULL;
    if (!known) { /* a table that cannot be read: nothing follows */
        status = c->status;
        goto done;
    }
    status = make_again(v, plan, &certified, &reason);
    TMI_TRY(tmi_check_noted(c, "plan", status, &reason, err));
    if (!v->schedule.plan) goto done;
    bool right = true;
    TMI_TRY(tmi_take_bounds(&right, &v->schedule, tmi_value_field(document, "bounds", TMI_VALUE_LIST), err));
    if (!right) tmi_check_note(c, "bounds", "expected what was found of each private bound of the plan, one of its candidates");
    status = tmi_earlier_read_json(&v->earlier, tmi_value_get(document, "earlier"), v->schedule.plan, &reason);
    if (status == TAMIS_OK) v->schedule.earlier = &v->earlier;
    status = tmi_check_noted(c, "earlier", status, &reason, err);

done:
    tmi_frame_facts_clear(&frame);
    tmi_psu_facts_clear(&psus);
    chosen_clear(&certified);
    return status;
}

/* ---- the other files, and the signer ---- */

static void take_hash(char hash[TMI_SHA256_TEXT], const char *text, const char *field, tmi_checking *c)
{
    snprintf(hash, TMI_SHA256_TEXT, "%s", text);
    if (!tmi_is_sha256_text(text)) tmi_check_note(c, field, "expected a SHA-256, 64 hexadecimal digits");
}

static void read_files(tmi_certificate *certificate, const tmi_value *document, tmi_checking *c)
{
    const tmi_value *files = tmi_value_field(document, "files", TMI_VALUE_MAP);
    for (size_t i = 0; i < TMI_FILES; i++) {
        char name[TMI_FAULT_FIELD];
        if (tmi_files[i].may_lack && !tmi_value_get(files, tmi_files[i].name)) continue;
        snprintf(name, sizeof name, "files.%s", tmi_files[i].name);
        take_hash(certificate->files[i], tmi_value_field_text(files, tmi_files[i].name), name, c);
    }
    if (tmi_value_field(document, "signed_by", TMI_VALUE_TEXT))
        take_hash(certificate->signed_by, tmi_value_field_text(document, "signed_by"), "signed_by", c);
}

/* What one frame can say of itself. */
static tamis_status check_frame(const tmi_schedule *s, tmi_checking *c, tamis_error *err)
{
    tamis_error reason = {0};
    if (!tmi_frame_of(s)) return TAMIS_OK;
    return tmi_check_noted(c, "frame", tmi_frame_facts_fit(tmi_frame_of(s), &s->plan->design, &reason), &reason, err);
}

tamis_status tmi_verify_inputs(tmi_verification *v, tamis_error *err)
{
    tmi_certificate *certificate = &v->certificate;
    const char *version = tmi_value_field_text(v->document, "version");
    tamis_status status;
    TMI_TRY(begin(v, err));
    if (!v->schedule.plan) { /* the files can still be compared */
        read_files(certificate, v->document, &v->check);
        status = v->check.status;
        goto done;
    }
    TMI_TRY(check_frame(&v->schedule, &v->check, err));
    TMI_TRY(read_engine(v, err));
    TMI_TRY(read_account(v, err));
    read_files(certificate, v->document, &v->check);
    tmi_free(certificate->version);
    TMI_TRY(tmi_copy_string(&certificate->version, version, err));
    status = v->check.status;

done:
    return status;
}
