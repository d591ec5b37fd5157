/* The files beside a certificate. Each has the hash that the certificate names; and each follows: measurements.json says of every
 * table what the certificate says, release.json holds the numbers that are computed from these measurements, and the other
 * files are written from the plan and from these numbers, letter by letter.
 *
 * Computers differ in the last digit of a logarithm, so the numbers of release.json may differ from those computed here by
 * NEAR. From then on the ones in the file count, which makes everything else exact.                                   */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "num/number.h"
#include "release/quantiles/kept.h"
#include "release/quantiles/selection.h"
#include "release/verify/verification.h"
#include "report/promise.h"

#define NEAR 1e-9 /* relative */

tamis_status tmi_read_beside(char **bytes, size_t *length, tmi_verification *v, const char *name, tamis_error *err)
{
    char *path = NULL;
    tamis_error reason = {0};
    tamis_status status;
    tmi_text t;
    *bytes = NULL;
    tmi_text_init(&t);
    tmi_text_format(&t, "%s%s", v->folder, name);
    TMI_TRY(tmi_text_take(&path, &t, err));
    if (access(path, F_OK) != 0) goto done;
    if (!tmi_is_within(&v->places, path)) {
        tmi_check_note(&v->check, name, "leads out of the folder that files may be in here");
        status = v->check.status;
        goto done;
    }
    status = tmi_read_certificate(bytes, length, path, &reason);
    if (status != TAMIS_OK) {
        tmi_free(*bytes);
        *bytes = NULL;
    }
    TMI_TRY(tmi_check_noted(&v->check, name, status, &reason, err));

done:
    tmi_free(path);
    return status;
}

/* What is there of the files that the certificate names, with its hash compared. */
typedef struct folder {
    char *bytes[TMI_FILES]; /* NULL: it is not there */
    size_t length[TMI_FILES];
} folder;

static tamis_status read_all(folder *f, tmi_verification *v, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < TMI_FILES; i++) {
        char hash[TMI_SHA256_TEXT], field[TMI_FAULT_FIELD];
        const char *name = tmi_files[i].name;
        v->files[i] = TMI_NOT_NAMED;
        if (!v->certificate.files[i][0] && tmi_files[i].may_lack) continue;
        snprintf(field, sizeof field, "files.%s", name);
        TMI_TRY(tmi_read_beside(&f->bytes[i], &f->length[i], v, name, err));
        if (!f->bytes[i] && v->whole) tmi_check_note(&v->check, field, "is missing from the folder");
        v->files[i] = TMI_MISSING;
        if (!f->bytes[i]) continue;
        tmi_sha256_text(hash, f->bytes[i], f->length[i]);
        v->files[i] = strcmp(hash, v->certificate.files[i]) == 0 ? TMI_MATCHES : TMI_DIFFERS;
        if (v->files[i] == TMI_DIFFERS)
            tmi_check_note(&v->check, field, "the file in the folder is not the one that the certificate names");
    }
    status = v->check.status;

done:
    return status;
}

/* A file that is no JSON object is a problem; *document is NULL then. */
static tamis_status read_object(tmi_value **document, const folder *f, size_t i, tmi_verification *v, tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status = tmi_json_read(document, f->bytes[i], f->length[i], &reason);
    if (status == TAMIS_OK && tmi_value_kind_of(*document) != TMI_VALUE_MAP) {
        tmi_value_free(*document);
        *document = NULL;
        status = tmi_fail(&reason, TAMIS_INVALID, "expected a JSON object");
    }
    return tmi_check_noted(&v->check, tmi_files[i].name, status, &reason, err);
}

/* ---- measurements.json ---- */

static tamis_status make_room(tmi_int128 ***noisy, const tmi_schedule *s, tamis_error *err)
{
    *noisy = tmi_alloc(s->measurement_count, sizeof **noisy);
    if (!*noisy) return tmi_fail_memory(err);
    for (size_t i = 0; i < s->measurement_count; i++) {
        (*noisy)[i] = tmi_alloc(s->measurements[i].numbers, sizeof ***noisy);
        if (!(*noisy)[i]) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}

/* The measurement of the file that is `wanted` but for its numbers. A release that is repeated has them in the order of the first
 * time. If none is the same, that of the same place is the one to compare. */
static size_t find(const tmi_value *list, const tmi_value *wanted, size_t place)
{
    for (size_t k = 0, count = tmi_value_size(list); k < count; k++) {
        const size_t i = (place + k) % count;
        const tmi_value *there = tmi_value_at(list, i);
        if (tmi_value_kind_of(there) == TMI_VALUE_MAP && !tmi_value_difference(there, wanted, "values")) return i;
    }
    return place;
}

/* Numbers that the file says, 0 where it says none; beyond the limit there is no noisy number. */
static void take_values(tmi_int128 *noisy, const tmi_measurement *m, const tmi_value *says, size_t place, tmi_checking *c)
{
    const tmi_value *values = tmi_value_field(says, "values", TMI_VALUE_LIST);
    for (size_t k = 0; values && k < m->numbers && k < tmi_value_size(values); k++) {
        const tmi_value *value = tmi_value_at(values, k);
        if (tmi_value_kind_of(value) != TMI_VALUE_INTEGER) continue;
        noisy[k] = tmi_value_integer(value);
        if (noisy[k] <= m->limit && noisy[k] >= -m->limit) continue;
        char field[TMI_FAULT_FIELD];
        snprintf(field, sizeof field, "measurements.json.measurements[%zu].values[%zu]", place, k);
        tmi_check_note(c, field, "is beyond the limit to which noisy numbers are clamped");
    }
}

/* Every quantile task of the certificate is in the file once, with points of its grid. */
static tamis_status check_quantile_tasks(int64_t **answers, const tmi_value *list, tmi_verification *v, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    size_t *places = tmi_alloc(s->quantile_task_count, sizeof *places);
    tamis_status status = TAMIS_OK;
    if (!places) return tmi_fail_memory(err);
    TMI_TRY(tmi_find_quantile_tasks(places, list, s, err));
    if (tmi_value_size(list) != s->quantile_task_count)
        tmi_check_note(&v->check, "measurements.json.choices", "is not a list of the certificate's choices");
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        char field[TMI_FAULT_FIELD];
        snprintf(field, sizeof field, "measurements.json.choices[%zu]", places[i] == SIZE_MAX ? i : places[i]);
        if (places[i] == SIZE_MAX) tmi_check_note(&v->check, field, "is not what the certificate says of a choice");
        else if (!tmi_take_points(answers[i], s, &s->quantile_tasks[i], tmi_value_at(list, places[i])))
            tmi_check_note(&v->check, field, "has points that are not on the grid, not in order, or too few");
    }
    status = v->check.status;

done:
    tmi_free(places);
    return status;
}

/* Every private bound of the certificate is in the file once, with the same candidate. */
static tamis_status check_bounds(const tmi_value *list, tmi_verification *v, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    tmi_json_tree made;
    tmi_value *tree = NULL;
    tmi_json_tree_begin(&made, NULL);
    tmi_json_open(&made.out, '{');
    tmi_put_bound_tasks(&made.out, s);
    tmi_json_close(&made.out, '}');
    const tamis_status status = tmi_json_tree_end(&tree, &made, err);
    if (status != TAMIS_OK) return status;
    const tmi_value *wanted = tmi_value_get(tree, "bounds");
    bool right = tmi_value_size(list) == s->bound_task_count;
    for (size_t i = 0; right && i < tmi_value_size(wanted); i++) {
        bool found = false;
        for (size_t k = 0; !found && k < tmi_value_size(list); k++)
            found = tmi_value_equal(tmi_value_at(wanted, i), tmi_value_at(list, k));
        right = found;
    }
    if (!right) tmi_check_note(&v->check, "measurements.json.bounds", "is not a list of the certificate's private bounds");
    tmi_value_free(tree);
    return v->check.status;
}

/* Every field of the file against the certificate; the numbers go to `noisy`, the points to `answers`. *right: they are those of
 * the certificate. */
static tamis_status check_measurements(bool *right, tmi_int128 **noisy, int64_t **answers, const folder *f, tmi_verification *v,
                                       tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    const size_t before = v->check.faults->count;
    static const char list_key[] = "measurements", path[] = "measurements.json";
    static const char *const lists[] = {list_key, "choices", "bounds", NULL};
    tmi_value *says = NULL, *empty = NULL, *follows = NULL;
    size_t *places = tmi_alloc(s->measurement_count, sizeof *places);
    tamis_status status;
    *right = false;
    if (!places) return tmi_fail_memory(err);
    TMI_TRY(read_object(&says, f, TMI_FILE_MEASUREMENTS, v, err));
    if (!says) goto done;
    const tmi_value *list = tmi_value_field(says, list_key, TMI_VALUE_LIST);
    if (!list || tmi_value_size(list) != s->measurement_count) {
        tmi_check_note(&v->check, "measurements.json.measurements", "is not a list of the certificate's measurements");
        status = v->check.status;
        goto done;
    }
    TMI_TRY(check_quantile_tasks(answers, tmi_value_field(says, lists[1], TMI_VALUE_LIST), v, err));
    TMI_TRY(check_bounds(tmi_value_field(says, lists[2], TMI_VALUE_LIST), v, err));
    TMI_TRY(tmi_measurements_tree(&empty, s, noisy, answers, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        places[i] = find(list, tmi_value_at(tmi_value_get(empty, list_key), i), i);
        take_values(noisy[i], &s->measurements[i], tmi_value_at(list, places[i]), places[i], &v->check);
    }
    TMI_TRY(tmi_measurements_tree(&follows, s, noisy, answers, err));
    tmi_check_fields(&v->check, follows, says, path, lists);
    for (size_t i = 0; i < s->measurement_count; i++) {
        char field[TMI_FAULT_FIELD];
        const tmi_value *wanted = tmi_value_at(tmi_value_get(follows, list_key), i), *there = tmi_value_at(list, places[i]);
        snprintf(field, sizeof field, "%s.%s[%zu]", path, list_key, places[i]);
        tmi_check_same(&v->check, wanted, there, field, false);
    }
    status = v->check.status;
    *right = v->check.faults->count == before;

done:
    tmi_value_free(says);
    tmi_value_free(empty);
    tmi_value_free(follows);
    tmi_free(places);
    return status;
}

/* ---- release.json ---- */

static bool is_near(double x, double y) { return fabs(x - y) <= NEAR * fmax(fabs(x), fabs(y)); }

/* The number of the file instead of the one computed, if they are the same to nine digits. */
static void adopt(double *x, const tmi_value *object, const char *key)
{
    const tmi_value *value = object && tmi_value_kind_of(object) == TMI_VALUE_MAP ? tmi_value_get(object, key) : NULL;
    if (!value || (tmi_value_kind_of(value) != TMI_VALUE_REAL && tmi_value_kind_of(value) != TMI_VALUE_INTEGER)) return;
    const double said = tmi_value_real(value);
    if (said != *x && is_near(said, *x)) *x = said;
}

/* What a result and a term of a model have in common. */
static void adopt_result(tmi_result *r, const tmi_value *says)
{
    const tmi_value *interval = tmi_value_field(says, "interval", TMI_VALUE_MAP);
    adopt(&r->estimate, says, "estimate");
    adopt(&r->se, says, "se");
    adopt(&r->sampling_se, says, "sampling_se");
    adopt(&r->noise_sd, says, "noise_sd");
    adopt(&r->bias, says, "bias_at_most");
    adopt(&r->p, says, "p");
    adopt(&r->lower, interval, "lower");
    adopt(&r->upper, interval, "upper");
}

/* All terms of one group. */
static void adopt_model(tmi_result *terms, const tmi_plan_model *m, const tmi_value *says)
{
    const tmi_value *list = tmi_value_field(says, "terms", TMI_VALUE_LIST);
    const tmi_value *joint = tmi_value_field(says, "joint", TMI_VALUE_MAP);
    for (size_t j = 0; j < m->term_count; j++) {
        if (list && j < tmi_value_size(list)) adopt_result(&terms[j], tmi_value_at(list, j));
        if (joint && !isnan(terms[j].joint_p))
            adopt(&terms[j].joint_p, tmi_value_get(joint, m->on[m->terms[j].predictor[0]]->name), "p");
    }
    adopt(&terms->r2, says, "r2");
}

/* One object of the file after the other; all terms of a model in a group share one. */
static void adopt_results(tmi_results *r, const tmi_value *list)
{
    for (size_t i = 0, at = 0; i < r->count && at < tmi_value_size(list); at++) {
        const tmi_plan_model *m = r->plan->statistics[r->list[i].statistic].model;
        if (m) adopt_model(&r->list[i], m, tmi_value_at(list, at));
        else adopt_result(&r->list[i], tmi_value_at(list, at));
        i += m ? m->term_count : 1;
    }
}

static tamis_status check_results(tamis_release *r, const folder *f, tmi_verification *v, tamis_error *err)
{
    tmi_value *says = NULL, *follows = NULL;
    tamis_status status;
    TMI_TRY(read_object(&says, f, TMI_FILE_RESULTS, v, err));
    if (!says) goto done;
    const tmi_value *list = tmi_value_field(says, "results", TMI_VALUE_LIST);
    if (list) adopt_results(&r->results, list);
    TMI_TRY(tmi_results_tree(&follows, &r->results, err));
    tmi_check_same(&v->check, follows, says, tmi_files[TMI_FILE_RESULTS].name, false);
    status = v->check.status;

done:
    tmi_value_free(says);
    tmi_value_free(follows);
    return status;
}

/* ---- the others ---- */

static tamis_status check_file(const tamis_release *r, const folder *f, size_t which, tmi_verification *v, tamis_error *err)
{
    char *text = NULL, message[80];
    size_t line = 1, at = 0, length = 0;
    tamis_status status;
    if (!f->bytes[which]) return TAMIS_OK;
    TMI_TRY(tmi_file_bytes(&text, &length, which, r, err));
    for (; at < length && at < f->length[which] && text[at] == f->bytes[which][at]; at++) line += text[at] == '\n';
    if (at < length || at < f->length[which]) {
        if (tmi_files[which].text) snprintf(message, sizeof message, "line %zu is not what follows from the other files", line);
        else snprintf(message, sizeof message, "is not what follows from the other files");
        tmi_check_note(&v->check, tmi_files[which].name, message);
    }
    status = v->check.status;

done:
    tmi_free(text);
    return status;
}

/* What was published, made again from the measurements. */
static tamis_status check_published(tmi_int128 **noisy, int64_t **answers, const folder *f, tmi_verification *v, tamis_error *err)
{
    tamis_error reason = {0};
    tamis_release r = {.schedule = v->schedule,
                       .account = v->account,
                       .promised = v->promised,
                       .noisy = noisy,
                       .answers = answers,
                       .version = v->certificate.version,
                       .certificate = &v->certificate}; /* lent: nothing of it is freed but the results */
    tamis_status status;
    status = tmi_release_read(&r, &reason);
    const bool made = status == TAMIS_OK;
    TMI_TRY(tmi_check_noted(&v->check, "release.json", status, &reason, err));
    if (!made) goto done;
    if (v->visit) TMI_TRY(v->visit->see(v->visit->context, &r, err));
    TMI_TRY(check_file(&r, f, TMI_FILE_REGISTRY, v, err));
    if (!f->bytes[TMI_FILE_RESULTS]) goto done; /* whose numbers the others repeat */
    TMI_TRY(check_results(&r, f, v, err));
    TMI_TRY(check_file(&r, f, TMI_FILE_TABLE, v, err));
    TMI_TRY(check_file(&r, f, TMI_FILE_REPORT, v, err));
    TMI_TRY(check_file(&r, f, TMI_FILE_EXCHANGE, v, err));
    TMI_TRY(check_file(&r, f, TMI_FILE_SPREADSHEET, v, err));

done:
    tmi_results_clear(&r.results);
    return status;
}

tamis_status tmi_verify_files(tmi_verification *v, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    folder f = {0};
    tmi_int128 **noisy = NULL;
    int64_t **answers = NULL;
    const bool sound = v->follows && v->check.faults->count == 0; /* from a certificate that is wrong nothing follows */
    bool right = false;
    tamis_status status;
    TMI_TRY(read_all(&f, v, err));
    if (!f.bytes[TMI_FILE_MEASUREMENTS] || !sound) goto done;
    TMI_TRY(make_room(&noisy, s, err));
    if (!(answers = tmi_answers_new(s))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(check_measurements(&right, noisy, answers, &f, v, err));
    if (right) TMI_TRY(check_published(noisy, answers, &f, v, err));

done:
    for (size_t i = 0; noisy && i < s->measurement_count; i++) tmi_free(noisy[i]);
    tmi_free(noisy);
    tmi_answers_free(answers);
    for (size_t i = 0; i < TMI_FILES; i++) tmi_free(f.bytes[i]);
    return status;
}
