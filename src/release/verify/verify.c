/* A certificate is written again from what it says of its inputs, and the two are compared leaf by leaf; then the frame, the
 * list of clusters, the files and the signature beside it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/letters.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "release/verify/verification.h"
#include "report/promise.h"

/* ---- what is reported ---- */

static const char *const found_words[] = {[TMI_MISSING] = "missing", [TMI_MATCHES] = "match", [TMI_DIFFERS] = "differ"};
static const char *const signed_words[] = {
    [TMI_UNSIGNED] = "none",         [TMI_SIGNATURE_MISSING] = "missing", [TMI_SIGNATURE_UNCHECKED] = "not checked",
    [TMI_SIGNATURE_RIGHT] = "right", [TMI_SIGNATURE_WRONG] = "wrong",
};

/* A name in the folder may be any bytes. */
static void put_shown(tmi_json_out *out, const char *name)
{
    tmi_text shown;
    tmi_text_init(&shown);
    tmi_text_shown(&shown, name);
    tmi_json_put_taken(out, &shown);
}

static void put_json(tmi_text *text, const tmi_verification *v)
{
    const char *signer = v->certificate.signed_by;
    tmi_json_out out;
    tmi_json_out_init(&out, text, true);
    tmi_json_open(&out, '{');
    tmi_json_add_boolean(&out, "ok", v->check.faults->count == 0);
    tmi_json_key(&out, "problems");
    tmi_faults_put(&out, v->check.faults);
    tmi_json_add_open(&out, "files", '{');
    for (size_t i = 0; i < TMI_FILES; i++)
        if (v->files[i] != TMI_NOT_NAMED) tmi_json_add_string(&out, tmi_files[i].name, found_words[v->files[i]]);
    tmi_json_close(&out, '}');
    tmi_json_add_string(&out, "frame", v->has_frame ? found_words[v->frame] : NULL);
    tmi_json_add_string(&out, "psus", v->has_psus ? found_words[v->psus] : NULL);
    if (v->earlier.count > 0) tmi_json_add_string(&out, "earlier", found_words[v->earlier_found]);
    tmi_json_add_string(&out, "signature", signed_words[v->signature]);
    tmi_json_add_string(&out, "signed_by", *signer ? signer : NULL);
    tmi_json_add_open(&out, "others", '[');
    for (size_t i = 0; i < v->other_count; i++) put_shown(&out, v->others[i]);
    tmi_json_close(&out, ']');
    tmi_json_key(&out, "guarantee");
    const tmi_value *follows = tmi_value_get(v->follows, "guarantee");
    if (follows) tmi_json_put_value(&out, follows);
    else tmi_json_put_null(&out);
    tmi_json_close(&out, '}');
    tmi_text_put(text, "\n");
}

/* "release.json, report.html: words", of the files that were found so. */
static void put_files(tmi_text *text, const tmi_verification *v, tmi_found found, const char *before)
{
    tmi_text names;
    size_t count = 0;
    tmi_text_init(&names);
    tmi_text_put(&names, before);
    for (size_t i = 0; i < TMI_FILES; i++)
        if (v->files[i] == found) tmi_text_format(&names, "%s %s", count++ ? "," : "", tmi_files[i].name);
    if (names.failed) text->failed = true;
    else if (count > 0) tmi_text_wrap(text, "", "  ", names.bytes);
    tmi_text_clear(&names);
}

#define MOST_OTHERS 20 /* that are named; --json has all */

static void put_others(tmi_text *text, const tmi_verification *v)
{
    tmi_text names;
    if (v->other_count == 0) return;
    tmi_text_init(&names);
    tmi_text_put(&names, "also in the folder, but not part of the release:");
    for (size_t i = 0; i < v->other_count && i < MOST_OTHERS; i++) {
        tmi_text_put(&names, i ? ", " : " ");
        tmi_text_shown(&names, v->others[i]);
    }
    if (v->other_count > MOST_OTHERS) tmi_text_format(&names, " and %zu more", v->other_count - MOST_OTHERS);
    tmi_text_wrap_taken(text, "", "  ", &names);
}

static void put_signature(tmi_text *text, const tmi_verification *v)
{
    static const char *const words[] = {
        [TMI_UNSIGNED] = "not signed: nothing here shows who made the release\n",
        [TMI_SIGNATURE_MISSING] = "certificate.sig is missing; the certificate says that it is signed with the key\n",
        [TMI_SIGNATURE_UNCHECKED] =
            "signed, but the signature was not checked (--key NAME.pub checks it); it should be by the key\n",
        [TMI_SIGNATURE_RIGHT] = "the signature is valid: signed with the key\n",
        [TMI_SIGNATURE_WRONG] = "the signature is not valid; it should be by the key\n",
    };
    tmi_text_put(text, words[v->signature]);
    if (v->signature != TMI_UNSIGNED) tmi_text_format(text, "  %s\n", v->certificate.signed_by);
}

/* Whether the problems are all in sentences for people, which every version of tamis words in its own way. */
static bool only_sentences(const tmi_faults *faults)
{
    static const char *const sentences[] = {"amplification.reason",
                                            "account.statement",
                                            "declared_public[",
                                            "not_covered[",
                                            "specification.domain",
                                            "specification.multiverse",
                                            "specification.input_premetric.",
                                            "specification.divergence"};
    for (size_t i = 0; i < faults->count; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof sentences / sizeof *sentences; k++)
            found = found || strncmp(faults->list[i].field, sentences[k], strlen(sentences[k])) == 0;
        if (!found) return false;
    }
    return true;
}

static void put_words(tmi_text *text, const tmi_verification *v)
{
    if (v->check.faults->count > 0) {
        tmi_faults_write(text, v->check.faults);
        if (only_sentences(v->check.faults))
            tmi_text_wrap(text, "", "  ",
                          "Only sentences differ: all numbers of the certificate follow from its plan. The certificate was "
                          "written by a version of tamis with other wordings, or its sentences were changed later. The other "
                          "files were only compared with their hashes.");
        put_others(text, v);
        return;
    }
    tmi_text_put(text, "no problem found: the guarantee follows from the rest of the certificate\n");
    put_files(text, v, TMI_MATCHES, "match the certificate:");
    put_files(text, v, TMI_MISSING, "missing, and not compared:");
    if (v->has_frame && v->frame == TMI_MATCHES) tmi_text_put(text, "the frame's file agrees with the certificate\n");
    else if (v->has_frame) tmi_text_put(text, "the frame's file is missing, and was not compared (--frame FILE)\n");
    if (v->has_psus && v->psus == TMI_MATCHES) tmi_text_put(text, "the list of clusters agrees with the certificate\n");
    else if (v->has_psus) tmi_text_put(text, "the list of clusters is missing, and was not compared\n");
    if (v->earlier.count > 0 && v->earlier_found == TMI_MATCHES)
        tmi_text_put(text, "the earlier release agrees with the certificate\n");
    else if (v->earlier.count > 0) tmi_text_put(text, "the earlier release is missing, and was not compared\n");
    put_signature(text, v);
    put_others(text, v);
    tmi_text_put(text, "\n");
    tmi_write_heading(text, v->schedule.plan, "protected release", NULL);
    tmi_write_promise(text, &v->schedule, &v->promised.outsider, true);
}

/* ---- the whole ---- */

/* The hash is of all other fields: where one of these is wrong, that it differs too says nothing more. */
static void check_hash(tmi_verification *v)
{
    const tmi_value *says = tmi_value_get(v->document, "hash");
    if (!says) tmi_check_note(&v->check, "hash", "is missing");
    else if (v->check.faults->count == 0) tmi_check_same(&v->check, tmi_value_get(v->follows, "hash"), says, "hash", false);
}

/* What follows from the account. */
static tamis_status promise(tmi_verification *v, tamis_error *err)
{
    tmi_account *a = &v->account;
    const tmi_standing *s = &a->standing;
    v->promised.one_point = !tmi_value_get(tmi_value_get(v->document, "amplification"), "profile");
    if (!a->kept) return tmi_promise_alone(&v->promised, &v->schedule, err);
    tamis_status status = tmi_losses_spending(&a->spent, &a->left, &s->after, &s->cap, err);
    return status == TAMIS_OK ? tmi_account_promise(&v->promised, &v->schedule, s, &s->after, &s->cap, err) : status;
}

static tamis_status check_certificate(tmi_verification *v, tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status;
    TMI_TRY(tmi_verify_inputs(v, err));
    if (!v->schedule.plan) goto done;
    TMI_TRY(tmi_check_noted(&v->check, "account", promise(v, &reason), &reason, err));
    if (!v->promised.epsilon) goto done;
    status = tmi_certificate_tree(&v->follows, &v->certificate, &v->promised, &reason);
    TMI_TRY(tmi_check_noted(&v->check, "account", status, &reason, err));
    if (!v->follows) goto done;
    tmi_check_fields(&v->check, v->follows, v->document, "", (const char *const[]){"hash", NULL});
    check_hash(v);
    status = v->check.status;

done:
    return status;
}

/* The folder with its slash, and the certificate in it. */
static tamis_status find_paths(tmi_verification *v, char **folder, char **certificate, const char *path, tamis_error *err)
{
    struct stat facts;
    const char *slash = strrchr(path, '/');
    tamis_status status;
    tmi_text t;
    tmi_text_init(&t);
    v->whole = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    if (v->whole) tmi_text_format(&t, "%s%s", path, slash && !slash[1] ? "" : "/");
    else tmi_text_add(&t, path, slash ? (size_t)(slash - path) + 1 : 0);
    TMI_TRY(tmi_text_take(folder, &t, err));
    tmi_text_format(&t, "%s%s", v->whole ? *folder : path, v->whole ? TMI_CERTIFICATE : "");
    TMI_TRY(tmi_text_take(certificate, &t, err));
    v->folder = *folder;

done:
    return status;
}

static tamis_status verify_signature(tmi_verification *v, const char *key, tamis_error *err)
{
    const bool says = tmi_value_field(v->document, "signed_by", TMI_VALUE_TEXT) != NULL;
    tmi_signing s = {.hash = v->certificate.hash, .signed_by = says ? v->certificate.signed_by : NULL, .whole = v->whole};
    char *signature = NULL;
    tamis_status status = tmi_read_beside(&signature, &s.length, v, TMI_SIGNATURE, err);
    s.signature = signature;
    if (status == TAMIS_OK) status = tmi_check_signed(&v->signature, &s, key, &v->check, err);
    tmi_free(signature);
    return status;
}

static tamis_status verify(int *ok, char **text, const char *path, const tamis_verify_options *options, bool json,
                           const tmi_visit *visit, tamis_error *err)
{
    tmi_faults faults = {0};
    tmi_verification v = {.check = {.faults = &faults, .err = err}, .visit = visit};
    tmi_value *document = NULL;
    char *folder = NULL, *certificate = NULL;
    tamis_status status;
    tmi_text t;
    if (!ok || !text) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", ok ? "text" : "ok");
    *ok = 0;
    *text = NULL;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    tamis_verify_options how;
    status = tmi_options_take(&how, sizeof how, options, "options", err);
    if (status != TAMIS_OK) return status;
    v.places = (tmi_plan_allowed){how.root, how.also};
    tmi_text_init(&t);
    TMI_TRY(find_paths(&v, &folder, &certificate, path, err));
    if (!tmi_is_within(&v.places, *folder ? folder : ".") || !tmi_is_within(&v.places, certificate))
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "is outside of the folder that files may be in here"));
    TMI_TRY(tmi_certificate_read(&document, certificate, err));
    if (tmi_value_kind_of(document) != TMI_VALUE_MAP)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, certificate, 0, "not a certificate"));
    v.document = document;
    TMI_TRY(check_certificate(&v, err));
    TMI_TRY(tmi_verify_frame(&v, how.frame, err));
    TMI_TRY(tmi_verify_psus(&v, err));
    TMI_TRY(tmi_verify_earlier(&v, err));
    TMI_TRY(tmi_verify_files(&v, err));
    TMI_TRY(verify_signature(&v, how.key, err));
    TMI_TRY(tmi_verify_others(&v, err));
    TMI_TRY(v.check.status);
    if (json) put_json(&t, &v);
    else put_words(&t, &v);
    TMI_TRY(tmi_text_take(text, &t, err));
    *ok = faults.count == 0;

done:
    tmi_text_clear(&t);
    for (size_t i = 0; i < v.other_count; i++) tmi_free(v.others[i]);
    tmi_free(v.others);
    tmi_value_free(v.follows);
    tmi_value_free(document);
    tmi_certificate_clear(&v.certificate);
    tmi_account_clear(&v.account);
    tmi_promised_clear(&v.promised);
    tmi_schedule_clear(&v.schedule);
    tmi_earlier_clear(&v.earlier);
    tmi_free(folder);
    tmi_free(certificate);
    tmi_faults_clear(&faults);
    return status;
}

tamis_status tamis_verify_text(int *ok, char **text, const char *path, const tamis_verify_options *options, tamis_error *err)
{
    return verify(ok, text, path, options, false, NULL, err);
}

tamis_status tamis_verify_json(int *ok, char **json, const char *path, const tamis_verify_options *options, tamis_error *err)
{
    return verify(ok, json, path, options, true, NULL, err);
}

tamis_status tmi_verify_visited(int *ok, const char *folder, const tmi_visit *visit, tamis_error *err)
{
    const tamis_verify_options within = {.size = sizeof within, .root = folder};
    char *text = NULL;
    const tamis_status status = verify(ok, &text, folder, &within, false, visit, err);
    tmi_free(text);
    return status;
}
