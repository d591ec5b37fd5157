/* What packages for other languages ask of the library: options of other versions, rows of the caller, reasons of failures,
 * results as Arrow, a folder later, verification of texts, plans from a schema, and processes that fork. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tamis/experimental/editor.h>
#include <time.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"

static char folder[] = "/tmp/tamis-programs-XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[8][256];
    static size_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

#define ROWS 40

static double income[ROWS];
static const char *region[ROWS];

static tamis_source *rows_of_caller(void)
{
    tamis_source *source;
    for (size_t i = 0; i < ROWS; i++) income[i] = (double)(i % 10), region[i] = i % 2 ? "north" : "south";
    assert_int_equal(tamis_source_new(&source, ROWS, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_numbers(source, "income", income, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_texts(source, "region", region, NULL), TAMIS_OK);
    return source;
}

static tamis_plan *plan_of(const char *survey, const char *caller, const char *epsilon)
{
    char text[1000];
    tamis_plan *plan = NULL;
    tamis_error err = {0};
    snprintf(
        text, sizeof text,
        "{tamis: 1, survey: %s, source: {caller: %s}, design: {srs: {population: 400, sample: 40}}, privacy: {unit: person, "
        "epsilon: %s}, columns: {income: {from: 0, to: 10, step: 1}, region: {values: [north, south]}, unused: {values: [a]}}, "
        "statistics: [{total: income, by: region}, {mean: income, where: {region: north}}, {count: units}], "
        "ledger: %s, budget: {epsilon: 2}}",
        survey, caller, epsilon, in_folder("a.ledger"));
    if (tamis_plan_read_text(&plan, "plan", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static void columns_of_a_plan(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("people", "interviews", "1");
    char *json = NULL;
    EVERY_ALLOCATION_FAILS((tamis_free(json), tamis_plan_columns_json(&json, plan, NULL)), assert_null(json));
    assert_string_equal(json, "[{\"name\": \"income\", \"as\": \"number\"}, {\"name\": \"region\", \"as\": \"category\"}]");
    tamis_free(json);
    assert_int_equal(tamis_plan_json(&json, plan, NULL), TAMIS_OK);
    assert_non_null(strstr(json, "\"caller\": \"interviews\""));
    tamis_free(json);
    tamis_plan_free(plan);
}

/* The account is compared by the name of the rows; without rows a release is invalid, and nothing is charged. */
static void rows_have_a_name(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("people", "interviews", "1"), *other = plan_of("others", "interviews", "1"),
               *third = plan_of("third", "another list", "1");
    tamis_source *source = rows_of_caller();
    tamis_release *release;
    tamis_error err = {0};
    assert_int_equal(tamis_release_new(&release, plan, NULL, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "its rows are those of a program"));
    assert_string_equal(err.reason, "source");
    assert_int_equal(access(in_folder("a.ledger"), F_OK), -1);
    tamis_release_options options = {.size = sizeof options, .rows = source};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_OK);
    assert_false(tamis_release_is_repeated(release));
    tamis_release_free(release);
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_OK);
    assert_true(tamis_release_is_repeated(release));
    tamis_release_free(release);
    assert_int_equal(tamis_release_new(&release, other, NULL, &options, &err), TAMIS_REFUSED);
    assert_string_equal(err.reason, "second_account");
    assert_int_equal(tamis_release_new(&release, third, NULL, &options, &err), TAMIS_OK);
    tamis_release_free(release);
    tamis_plan_free(plan);
    plan = plan_of("people", "interviews", "2");
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_REFUSED);
    assert_string_equal(err.reason, "budget");
    options.rows_version = "b";
    tamis_plan_free(plan);
    plan = plan_of("people", "interviews", "1");
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_REFUSED);
    assert_string_equal(err.reason, "rows_version");
    tamis_source_free(source);
    tamis_plan_free(plan);
    tamis_plan_free(other);
    tamis_plan_free(third);
}

static void options_of_other_versions(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("options", "options", "0.5");
    tamis_source *source = rows_of_caller();
    tamis_release *release;
    tamis_estimate *estimate;
    tamis_preview *preview;
    tamis_error err = {0};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &(tamis_release_options){.rows = source}, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "set `size`"));
    assert_int_equal(tamis_estimate_new(&estimate, plan, &(tamis_estimate_options){.rows = source}, &err), TAMIS_INVALID);
    assert_int_equal(tamis_preview_make(&preview, plan, &(tamis_preview_options){.no_advice = 1}, &err), TAMIS_INVALID);
    struct {
        tamis_estimate_options known;
        int later;
    } later = {{.size = sizeof later, .rows = source}, 1};
    assert_int_equal(tamis_estimate_new(&estimate, plan, &later.known, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "of a later version"));
    later.later = 0;
    assert_int_equal(tamis_estimate_new(&estimate, plan, &later.known, &err), TAMIS_OK);
    tamis_estimate_free(estimate);
    tamis_estimate_options shorter = {.size = offsetof(tamis_estimate_options, watch), .rows = source};
    shorter.watch.progress = (tamis_progress *)(uintptr_t)1; /* beyond an older struct: never looked at */
    assert_int_equal(tamis_estimate_new(&estimate, plan, &shorter, &err), TAMIS_OK);
    tamis_estimate_free(estimate);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

static const char *text_at(const struct ArrowArray *column, int64_t row, char room[64])
{
    const uint8_t *valid = column->buffers[0];
    const int64_t *starts = column->buffers[1];
    if (valid && !(valid[row / 8] >> row % 8 & 1)) return NULL;
    snprintf(room, 64, "%.*s", (int)(starts[row + 1] - starts[row]), (const char *)column->buffers[2] + starts[row]);
    return room;
}

static void results_as_arrow(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("arrow", "arrow", "0.5");
    tamis_source *source = rows_of_caller();
    tamis_release *release;
    tamis_estimate *estimate;
    struct ArrowSchema schema;
    struct ArrowArray array;
    tamis_error err = {0};
    char room[64];
    const tamis_release_options options = {.size = sizeof options, .rows = source};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_OK);
    EVERY_ALLOCATION_FAILS(((schema.release = NULL), tamis_release_arrow(&schema, &array, release, NULL)),
                           assert_true(!schema.release && !array.release));
    schema.release(&schema);
    array.release(&array);
    assert_int_equal(tamis_release_arrow(&schema, &array, release, &err), TAMIS_OK);
    tamis_release_free(release); /* they outlive it */
    static const char *const names[] = {"statistic",  "column", "where",       "region",   "at",    "line",
                                        "estimate",   "se",     "sampling_se", "noise_sd", "lower", "upper",
                                        "confidence", "df",     "cv",          "quality",  "notes"};
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, sizeof names / sizeof *names);
    assert_int_equal(array.n_children, schema.n_children);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_string_equal(schema.children[i]->name, names[i]);
    assert_int_equal(array.length, 4);
    assert_string_equal(text_at(array.children[0], 0, room), "total");
    assert_string_equal(text_at(array.children[1], 0, room), "income");
    assert_string_equal(text_at(array.children[3], 1, room), "south");
    assert_null(text_at(array.children[3], 2, room));
    assert_string_equal(text_at(array.children[2], 2, room), "region=north");
    assert_null(text_at(array.children[1], 3, room));
    assert_true(((const double *)array.children[12]->buffers[1])[0] == 0.95);
    assert_int_equal(array.children[4]->null_count, 4); /* no quantiles */
    array.release(&array);
    schema.release(&schema);
    assert_true(!schema.release && !array.release);
    const tamis_estimate_options how = {.size = sizeof how, .rows = source};
    assert_int_equal(tamis_estimate_new(&estimate, plan, &how, &err), TAMIS_OK);
    assert_int_equal(tamis_estimate_arrow(&schema, &array, estimate, &err), TAMIS_OK);
    assert_true(fabs(((const double *)array.children[6]->buffers[1])[0] - 10 * 100) < 1e-9); /* 1, 3, 5, 7, 9: north */
    schema.release(&schema);
    array.release(&array);
    tamis_estimate_free(estimate);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

/* A folder that is written later verifies like one of the release itself, and so do its texts. */
static void saved_later(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("saved", "saved", "0.5");
    tamis_source *source = rows_of_caller();
    tamis_release *release;
    char *json, *texts[3], print[TAMIS_KEY_FINGERPRINT];
    int ok;
    tamis_error err = {0};
    const tamis_release_options options = {.size = sizeof options, .rows = source};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_OK);
    assert_int_equal(tamis_release_save(release, in_folder("later"), NULL, &err), TAMIS_OK);
    assert_int_equal(tamis_release_save(release, in_folder("later"), NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_verify_json(&ok, &json, in_folder("later"), NULL, &err), TAMIS_OK);
    assert_true(ok);
    tamis_free(json);
    assert_int_equal(tamis_key_create(print, in_folder("agency"), &err), TAMIS_OK);
    assert_int_equal(tamis_release_save(release, in_folder("signed"), in_folder("agency.key"), &err), TAMIS_OK);
    const tamis_verify_options signer = {.size = sizeof signer, .key = in_folder("agency.pub")};
    assert_int_equal(tamis_verify_json(&ok, &json, in_folder("signed"), &signer, &err), TAMIS_OK);
    assert_true(ok && strstr(json, "\"signature\": \"right\""));
    tamis_free(json);
    assert_int_equal(tamis_release_certificate_json(&texts[0], release, NULL), TAMIS_OK);
    assert_null(strstr(texts[0], print)); /* the release itself is not signed */
    EVERY_ALLOCATION_FAILS(tamis_release_shown_json(&json, release, NULL), assert_null(json));
    assert_non_null(strstr(json, "{\"results\": [{\"words\": \""));
    assert_true(strstr(json, "\"group\": {") && strstr(json, "\"estimate\": \"") && strstr(json, " to ") &&
                strstr(json, "\"quality\": "));
    tamis_free(json);
    assert_int_equal(tamis_release_shown_json(&json, NULL, NULL), TAMIS_INVALID);
    assert_null(json);
    assert_int_equal(tamis_release_json(&texts[1], release, NULL), TAMIS_OK);
    assert_int_equal(tamis_release_measurements_json(&texts[2], release, NULL), TAMIS_OK);
    tamis_named_text files[] = {{"certificate.json", texts[0], strlen(texts[0])},
                                {"release.json", texts[1], strlen(texts[1])},
                                {"measurements.json", texts[2], strlen(texts[2])}};
    assert_int_equal(tamis_verify_texts_json(&ok, &json, files, 3, NULL, &err), TAMIS_OK);
    assert_false(ok); /* a folder lacks three files */
    assert_non_null(strstr(json, "\"release.json\": \"match\""));
    assert_non_null(strstr(json, "\"release.csv\": \"missing\""));
    tamis_free(json);
    char *estimate = strstr(texts[1], "\"estimate\": ");
    estimate[12] = estimate[12] == '1' ? '2' : '1';
    assert_int_equal(tamis_verify_texts_json(&ok, &json, files, 3, NULL, &err), TAMIS_OK);
    assert_non_null(strstr(json, "\"release.json\": \"differ\""));
    tamis_free(json);
    files[1].name = "../release.json";
    assert_int_equal(tamis_verify_texts_json(&ok, &json, files, 3, NULL, &err), TAMIS_INVALID);
    files[1].name = "certificate.json";
    assert_int_equal(tamis_verify_texts_json(&ok, &json, files, 3, NULL, &err), TAMIS_INVALID);
    for (size_t i = 0; i < 3; i++) tamis_free(texts[i]);
    tamis_release_free(release);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

static int stop_at_once(void *context, double share, int64_t rows)
{
    (void)share;
    (void)rows;
    return ++*(int *)context >= 1;
}

static void previews_with_options(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("preview", "preview", "0.5");
    tamis_source *source = rows_of_caller();
    tamis_preview *preview;
    tamis_release *release;
    tamis_error err = {0};
    char *json;
    int calls = 0;
    tamis_preview_options options = {.size = sizeof options, .no_advice = 1};
    assert_int_equal(tamis_preview_make(&preview, plan, &options, &err), TAMIS_OK);
    assert_int_equal(tamis_preview_json(&json, preview, &err), TAMIS_OK);
    tamis_free(json);
    tamis_preview_free(preview);
    options.watch = (tamis_watch){stop_at_once, &calls};
    options.no_advice = 0;
    assert_int_equal(tamis_preview_make(&preview, plan, &options, &err), TAMIS_SYSTEM);
    assert_null(preview);
    assert_string_equal(err.reason, "cancelled");
    options.watch = (tamis_watch){0};
    const tamis_release_options paid = {.size = sizeof paid, .rows = source, .ledger = in_folder("other.ledger")};
    for (int i = 0; i < 4; i++) { /* 4 times 0.5 is the budget of 2 */
        tamis_release_options again = paid;
        again.repeat = TAMIS_REPEAT_PAID;
        assert_int_equal(tamis_release_new(&release, plan, NULL, &again, &err), TAMIS_OK);
        tamis_release_free(release);
    }
    options.ledger = in_folder("other.ledger");
    assert_int_equal(tamis_preview_make(&preview, plan, &options, &err), TAMIS_OK); /* kept numbers cost nothing */
    tamis_preview_free(preview);
    options.repeat = TAMIS_REPEAT_PAID;
    assert_int_equal(tamis_preview_make(&preview, plan, &options, &err), TAMIS_REFUSED);
    assert_non_null(preview);
    assert_string_equal(err.reason, "budget");
    EVERY_ALLOCATION_FAILS(tamis_preview_json(&json, preview, NULL), assert_null(json)); /* the preview and why it is refused */
    assert_non_null(strstr(json, "\"refusal\": {\n    \"code\": \"refused\",\n    \"reason\": \"budget\",\n"));
    assert_non_null(strstr(json, "\"words\": \"total of income by region\""));
    assert_non_null(strstr(json, "\"number\": 2"));
    assert_non_null(strstr(json, "\"quality\": "));
    assert_non_null(strstr(json, " %\""));
    assert_non_null(strstr(json, "\"would_spend\": \"epsilon 0.5\""));
    assert_non_null(strstr(json, "\"sample\": \"epsilon 0.5\""));
    assert_non_null(strstr(json, "\"odds\": \"1.65\"")); /* e^0.5 = 1.6487..., rounded up */
    assert_non_null(strstr(json, "\"error_lower_by\": \""));
    tamis_free(json);
    tamis_preview_free(preview);
    options.root = folder;
    assert_int_equal(tamis_preview_make(&preview, plan, &options, &err), TAMIS_REFUSED);
    tamis_preview_free(preview);
    options.ledger = "/etc/tamis.ledger";
    assert_int_equal(tamis_preview_make(&preview, plan, &options, &err), TAMIS_INVALID);
    assert_null(preview);
    assert_non_null(strstr(err.message, "ledger: this file is outside"));
    tamis_source_free(source);
    tamis_plan_free(plan);
}

/* ---- phases, and whether a release could be made ---- */

typedef struct phases {
    tamis_release_phase list[8];
    int64_t entries[8];
    size_t count;
} phases;

static void take_phase(void *context, tamis_release_phase phase, int64_t entry)
{
    phases *p = context;
    if (p->count < 8) p->list[p->count] = phase, p->entries[p->count] = entry;
    p->count++;
}

static void phases_of_a_release(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("phases", "phased rows", "1");
    tamis_source *source = rows_of_caller();
    tamis_release *release;
    tamis_error err = {0};
    phases seen = {0};
    tamis_release_options options = {.size = sizeof options,
                                     .rows = source,
                                     .ledger = in_folder("phases.ledger"),
                                     .phase = take_phase,
                                     .phase_context = &seen};
    char *json;
    assert_int_equal(tamis_release_ready(&json, plan, in_folder("phased"), &options, &err), TAMIS_OK);
    assert_string_equal(json,
                        "{\"repeated\": false, \"would_spend\": {\"epsilon\": {\"lower\": 1, \"upper\": 1}, \"delta\": "
                        "{\"lower\": 0, \"upper\": 0}}, \"left\": null, \"would_leave\": {\"epsilon\": {\"lower\": 1, "
                        "\"upper\": 1}, \"delta\": {\"lower\": 0, \"upper\": 0}}, \"shown\": {\"would_spend\": \"epsilon 1\", "
                        "\"left\": null, \"would_leave\": \"epsilon 1\"}}");
    tamis_free(json);
    assert_int_equal(seen.count, 1); /* nothing but the checks */
    assert_int_equal(seen.list[0], TAMIS_PHASE_CHECKED);
    assert_int_equal(seen.entries[0], 0);
    assert_int_equal(access(in_folder("phases.ledger"), F_OK), -1);
    assert_int_equal(access(in_folder("phased"), F_OK), -1);

    seen = (phases){0};
    assert_int_equal(tamis_release_new(&release, plan, in_folder("phased"), &options, &err), TAMIS_OK);
    tamis_release_free(release);
    assert_int_equal(seen.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(seen.list[i], (tamis_release_phase)i);
        assert_int_equal(seen.entries[i] > 0, i > 0);
    }
    assert_int_equal(tamis_release_ready(&json, plan, in_folder("phased"), &options, &err), TAMIS_INVALID); /* it exists now */
    assert_null(json);
    assert_non_null(strstr(err.message, "already exists"));

    seen = (phases){0}; /* the same again: nothing is charged or read */
    assert_int_equal(tamis_release_ready(&json, plan, NULL, &options, &err), TAMIS_OK);
    assert_non_null(strstr(json, "{\"repeated\": true, \"would_spend\": null, \"left\": {\"epsilon\": {\"lower\": 1, "));
    tamis_free(json);
    seen = (phases){0};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_OK);
    tamis_release_free(release);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.list[1], TAMIS_PHASE_WRITTEN);

    options.rows_version = "other";
    assert_int_equal(tamis_release_ready(&json, plan, NULL, &options, &err), TAMIS_REFUSED);
    assert_string_equal(err.reason, "rows_version");
    options.rows_version = NULL;
    tamis_plan_free(plan);
    plan = plan_of("phases", "phased rows", "1.5");
    assert_int_equal(tamis_release_ready(&json, plan, NULL, &options, &err), TAMIS_REFUSED);
    assert_string_equal(err.reason, "budget");
    tamis_source *few;
    assert_int_equal(tamis_source_new(&few, 0, NULL), TAMIS_OK);
    options.rows = few; /* no columns: seen before the charge */
    tamis_plan_free(plan);
    plan = plan_of("phases", "phased rows", "0.5");
    seen = (phases){0};
    assert_int_equal(tamis_release_ready(&json, plan, NULL, &options, &err), TAMIS_INVALID);
    assert_string_equal(err.reason, "source");
    assert_int_equal(seen.count, 0);
    tamis_source_free(few);
    options.rows = source;
    ALLOCATIONS_FAIL(k_ + 7, tamis_release_ready(&json, plan, NULL, &options, NULL), assert_null(json));
    tamis_free(json);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

/* ---- the charge that stands ---- */

typedef struct stopper {
    const char *ledger;
    int calls;
} stopper;

static int stop_after_the_charge(void *context, double share, int64_t rows)
{
    stopper *s = context;
    tamis_ledger *ledger;
    (void)share;
    (void)rows;
    s->calls++;
    if (access(s->ledger, F_OK) != 0 || tamis_ledger_look(&ledger, s->ledger, NULL) != TAMIS_OK) return 0;
    const int charged = tamis_ledger_accounts(ledger) > 0;
    tamis_ledger_free(ledger);
    return charged;
}

/* Rows in a stream that takes its time to open: so the watch, which is asked at most 20 times a second, is asked in each pass. */
static struct ArrowSchema fields[2] = {{.format = "g", .name = "income"}, {.format = "b", .name = "region"}},
                          *field_list[2] = {&fields[0], &fields[1]};
static const uint8_t bits[ROWS / 8 + 1];
static const void *number_buffers[2] = {NULL, income}, *bit_buffers[2] = {NULL, bits};
static struct ArrowArray columns[2] = {{.length = ROWS, .n_buffers = 2, .buffers = number_buffers},
                                       {.length = ROWS, .n_buffers = 2, .buffers = bit_buffers}},
                         *column_list[2] = {&columns[0], &columns[1]};

static void forget_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void forget_array(struct ArrowArray *array) { array->release = NULL; }
static void forget_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    (void)stream;
    *out = (struct ArrowSchema){.format = "+s", .n_children = 2, .children = field_list, .release = forget_schema};
    return 0;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    *out = (struct ArrowArray){0};
    if (stream->private_data)
        *out = (struct ArrowArray){.length = ROWS, .n_children = 2, .children = column_list, .release = forget_array};
    stream->private_data = NULL;
    return 0;
}

static int open_slowly(void *context, struct ArrowArrayStream *out)
{
    int *opened = context;
    usleep(60000);
    ++*opened;
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .release = forget_stream,
                                     .private_data = out};
    return 0;
}

static int open_never(void *context, struct ArrowArrayStream *out)
{
    (void)context;
    (void)out;
    return 5;
}

static void cancelled_after_the_charge(void **state)
{
    (void)state;
    static const char text[] =
        "{tamis: 1, survey: s, source: {caller: c}, design: {srs: {population: 400, sample: 40}}, privacy: {unit: "
        "person, epsilon: 0.5}, columns: {income: {from: 0, to: 10, step: 1}}, statistics: [{total: income}], "
        "budget: {epsilon: 2}}";
    tamis_plan *plan;
    tamis_source *source;
    tamis_release *release;
    tamis_error err = {0};
    char *json;
    int opened = 0;
    stopper s = {.ledger = in_folder("stopped.ledger")};
    if (tamis_plan_read_text(&plan, "p", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tamis_source_streams(&source, open_slowly, &opened, NULL), TAMIS_OK);
    tamis_release_options options = {.size = sizeof options,
                                     .rows = source,
                                     .ledger = s.ledger,
                                     .watch = {stop_after_the_charge, &s}};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_SYSTEM);
    assert_string_equal(err.reason, "cancelled");
    assert_true(err.entry > 0 && opened > 0);
    assert_int_equal(tamis_error_json(&json, &err, NULL, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(json, "\"amount\": \"epsilon 0.5\""));
    assert_non_null(strstr(json, "\"ledger\": \"/tmp/tamis-programs-"));
    tamis_free(json);
    options.watch = (tamis_watch){0};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_OK); /* takes the charge over */
    tamis_release_free(release);
    tamis_source_free(source);
    assert_int_equal(tamis_source_streams(&source, open_never, NULL, NULL),
                     TAMIS_OK); /* a failure before the charge costs nothing */
    options = (tamis_release_options){.size = sizeof options, .rows = source, .ledger = in_folder("slow.ledger")};
    assert_int_equal(tamis_release_new(&release, plan, NULL, &options, &err), TAMIS_SYSTEM);
    assert_string_equal(err.reason, "engine");
    assert_int_equal(err.entry, 0);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

/* ---- how often the watch is asked ---- */

static int count_calls(void *context, double share, int64_t rows)
{
    (void)share;
    (void)rows;
    ++*(int *)context;
    return 0;
}

static void watch_is_paced(void **state)
{
    (void)state;
    enum { MANY = 400000 };
    double *values = malloc(MANY * sizeof *values);
    const char **regions = malloc(MANY * sizeof *regions);
    for (size_t i = 0; i < MANY; i++) values[i] = (double)(i % 10), regions[i] = i % 2 ? "north" : "south";
    static const char text[] =
        "{tamis: 1, survey: s, source: {caller: c}, design: {census: {population: 400000}}, privacy: {unit: person, "
        "epsilon: 1}, columns: {income: {from: 0, to: 10, step: 1}, region: {values: [north, south]}}, "
        "statistics: [{total: income, by: region}], budget: {epsilon: 2}}";
    tamis_plan *plan;
    tamis_source *source;
    tamis_estimate *estimate;
    tamis_error err = {0};
    struct timespec before, after;
    int calls = 0;
    if (tamis_plan_read_text(&plan, "p", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tamis_source_new(&source, MANY, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_numbers(source, "income", values, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_texts(source, "region", regions, NULL), TAMIS_OK);
    const tamis_estimate_options options = {.size = sizeof options, .rows = source, .watch = {count_calls, &calls}};
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (tamis_estimate_new(&estimate, plan, &options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    assert_true(calls >= 1 && calls <= 2 + 20 * seconds); /* some hundreds of pieces are read */
    tamis_estimate_free(estimate);
    tamis_source_free(source);
    tamis_plan_free(plan);
    free(values);
    free(regions);
}

/* ---- a plan from a schema ---- */

static void plan_from_a_schema(void **state)
{
    (void)state;
    struct ArrowSchema fields[] = {{.format = "g", .name = "income"}, {.format = "vu", .name = "region"},
                                   {.format = "tdD", .name = "day"},  {.format = "b", .name = "employed"},
                                   {.format = "z", .name = "photo"},  {.format = "n", .name = "nothing"}};
    struct ArrowSchema *list[6];
    for (size_t i = 0; i < 6; i++) list[i] = &fields[i];
    const struct ArrowSchema schema = {.format = "+s", .n_children = 6, .children = list};
    char *yaml = NULL;
    tamis_error err = {0};
    EVERY_ALLOCATION_FAILS((tamis_free(yaml), tamis_init_columns_yaml(&yaml, &schema, "interviews 2026", NULL)),
                           assert_null(yaml));
    assert_non_null(strstr(yaml, "source:\n  caller: \"interviews 2026\""));
    assert_non_null(strstr(yaml, "  income:\n    from: FILL_IN\n"));
    assert_non_null(strstr(yaml, "  region:\n    values: [FILL_IN]\n"));
    assert_non_null(strstr(yaml, "  employed:\n    values: [FILL_IN]\n"));
    assert_non_null(strstr(yaml, "  # day: a date"));
    assert_non_null(strstr(yaml, "  # photo: of a type that a plan cannot use"));
    tamis_free(yaml);
    assert_int_equal(tamis_init_columns_yaml(&yaml, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_init_columns_yaml(&yaml, &schema, "\x1b[2J", &err), TAMIS_INVALID);
}

/* ---- processes ---- */

static void children_of_fork(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("forked", "forked", "0.5");
    tamis_source *source = rows_of_caller();
    tamis_ledger *ledger;
    assert_int_equal(tamis_ledger_open(&ledger, in_folder("forked.ledger"), NULL), TAMIS_OK);
    const pid_t child = fork();
    if (child == 0) {
        tamis_error err = {0};
        tamis_release *release;
        tamis_number *one;
        const tamis_release_options options = {.size = sizeof options, .rows = source};
        int code = tamis_release_new(&release, plan, NULL, &options, &err) == TAMIS_INVALID && strstr(err.message, "rows: ") ? 0
                                                                                                                             : 1;
        if (tamis_number_read(&one, "1", &err) != TAMIS_OK) code = 2;
        const tamis_charge charge = {.survey = "s",
                                     .release = "r",
                                     .amount = {.epsilon = one},
                                     .budget = {.epsilon = one},
                                     .frozen = "{}",
                                     .measures = "m"};
        tamis_charged charged;
        if (tamis_ledger_charge(&charged, ledger, &charge, &err) != TAMIS_INVALID || !strstr(err.message, "another process"))
            code = 3;
        _exit(code);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    tamis_ledger_free(ledger);
    tamis_source_free(source);
    tamis_plan_free(plan);
}

static void versions_and_libraries(void **state)
{
    (void)state;
    tamis_error err = {0};
    int major, minor, patch;
    assert_int_equal(sscanf(tamis_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_int_equal(tamis_version_number(), major * 10000 + minor * 100 + patch);
    assert_int_equal(tamis_version_number(), TAMIS_VERSION_NUMBER);
    assert_string_equal(tamis_version(), TAMIS_VERSION_TEXT);
    assert_int_equal(tamis_library_use("duckdb", "/nowhere/libduckdb.so", &err), TAMIS_INVALID);
    assert_int_equal(tamis_library_use("another", "/", &err), TAMIS_INVALID);
    assert_int_equal(tamis_library_use(NULL, "/", &err), TAMIS_INVALID);
    char *parts;
    assert_int_equal(tamis_parts_json(&parts, &err), TAMIS_OK);
    assert_non_null(strstr(parts, "\"ReadStat\": \"1.")); /* found, not loaded */
    tamis_free(parts);

    /* a library that the caller names, and which is none: the engine says so, and it cannot be changed any more */
    const char *broken = in_folder("libreadstat.so.1"), *data = in_folder("data.sav");
    FILE *file = fopen(broken, "w");
    assert_non_null(file);
    fclose(file);
    assert_non_null(file = fopen(data, "w"));
    fclose(file);
    assert_int_equal(tamis_library_use("readstat", broken, &err), TAMIS_OK);
    char *json;
    assert_int_equal(tamis_header_json(&json, &(tamis_init){.size = sizeof(tamis_init), .file = data}, &err), TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "libreadstat1"));
    assert_int_equal(tamis_library_use("readstat", data, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "loaded already"));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(columns_of_a_plan),
        cmocka_unit_test(rows_have_a_name),
        cmocka_unit_test(options_of_other_versions),
        cmocka_unit_test(results_as_arrow),
        cmocka_unit_test(saved_later),
        cmocka_unit_test(previews_with_options),
        cmocka_unit_test(phases_of_a_release),
        cmocka_unit_test(cancelled_after_the_charge),
        cmocka_unit_test(watch_is_paced),
        cmocka_unit_test(plan_from_a_schema),
        cmocka_unit_test(children_of_fork),
        cmocka_unit_test(versions_and_libraries),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
