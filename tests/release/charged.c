/* A release with a ledger, step by step: whatever breaks at whatever moment, nothing is published that is not charged, a
 * refusal reads nothing, and after the charge every failure is the system's.                                             */
#include "tests/test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tamis/engine.h>
#include <tamis/experimental/caller.h>
#include <tamis/release.h>
#include <tamis/verify.h>

#include "ledger/ledger.h"
#include "release/release.h"
#include "release/source_changed.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"
#include "tests/release/place.h"
#include "tests/release/plans.h"

#define SRS "srs: {population: 80, sample: 8}"
#define STATISTICS "  - {count: units, by: g}\n"

/* Charges of the ledger, which must be in order; 0 if there is none. */
static size_t charges(void)
{
    tamis_ledger *ledger;
    int ok = 0;
    char *problems = NULL;
    if (access(path, F_OK) != 0) return 0;
    assert_int_equal(tamis_ledger_verify_text(&ok, &problems, path, NULL, 0, NULL), TAMIS_OK);
    if (!ok) fail_msg("%s", problems);
    tamis_free(problems);
    assert_int_equal(tamis_ledger_look(&ledger, path, NULL), TAMIS_OK);
    size_t count = ledger->book.charge_count;
    tamis_ledger_free(ledger);
    return count;
}

/* Nothing but the ledger is in the folder. */
static void assert_nothing_published(void)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.' && strncmp(e->d_name, "a.ledger", 8) != 0) fail_msg("%s was left", e->d_name);
    closedir(dir);
}

static tamis_status release_once(tamis_release **release, const tamis_plan *plan, array_engine *engine, const tamis_watch *watch,
                                 tamis_error *err)
{
    const tmi_run run = {.folder = out, .ledger = path, .again = true, .watch = watch ? *watch : (tamis_watch){0}};
    return tmi_release_with(release, plan, &engine->engine, &run, err);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release = NULL;
    size_t charged = 0, uncharged = 0;
    ALLOCATIONS_FAIL(k_ + test_size(5, 1), (unlink(path), release_once(&release, plan, &engine, NULL, NULL)), {
        assert_null(release);
        assert_nothing_published();
        if (charges() == 1) charged++;
        else uncharged++;
    });
    assert_true(charged > 10 && uncharged > 10); /* both sides of the charge were tried */
    assert_int_equal(charges(), 1);
    tamis_release_free(release);
    tamis_plan_free(plan);
}

/* The engine's complaint is the system's: no exit code tells a broken row from a broken disk. */
static void what_breaks_after_the_charge_is_a_system_error_and_stays_charged(void **state)
{
    (void)state;
    static const tamis_status how[] = {TAMIS_SYSTEM, TAMIS_INVALID, TAMIS_UNABLE, TAMIS_REFUSED};
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS "budget: {epsilon: 100}\n");
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        array_engine engine = array_engine_of(rows, 8);
        tamis_release *release;
        tamis_error err = {0};
        engine.aggregate_status = how[i];
        assert_int_equal(release_once(&release, plan, &engine, NULL, &err), TAMIS_SYSTEM);
        assert_int_equal(err.status, TAMIS_SYSTEM);
        if (!strstr(err.message, "epsilon 20 was charged (entry ")) fail_msg("%s", err.message);
        assert_null(release);
        assert_nothing_published();
        assert_int_equal(charges(), 1); /* the next run claims it */
    }
    tamis_plan_free(plan);
}

static void what_breaks_before_the_charge_costs_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    static const tamis_status how[] = {TAMIS_SYSTEM, TAMIS_INVALID};
    for (size_t i = 0; i < 3; i++) {
        array_engine engine = array_engine_of(rows, i < 2 ? 8 : 7);
        tamis_release *release;
        if (i < 2) engine.describe_status = how[i];
        assert_int_equal(release_once(&release, plan, &engine, NULL, NULL), i < 2 ? how[i] : TAMIS_INVALID);
        assert_null(release);
        assert_nothing_published();
        assert_int_equal(charges(), 0);
        assert_int_equal(engine.aggregates, 0);
    }
    tamis_plan_free(plan);
}

/* A caller's engine with eight rows that refuses in `check`, or fails only after it. */
static tamis_status refuse(void *refuses, tamis_reply *reply, const char *question, tamis_error *err)
{
    const bool refusing = *(const bool *)refuses;
    (void)err;
    if (strstr(question, "\"ask\": \"inventory\"")) tamis_reply_set(reply, "{\"rows\": 8, \"rows_in\": [8]}");
    else if (!strstr(question, "\"ask\": \"check\"")) return TAMIS_SYSTEM;
    else tamis_reply_set(reply, refusing ? "{\"ok\": false, \"column\": 0, \"reason\": \"kind\"}" : "{\"ok\": true}");
    return TAMIS_OK;
}

static void an_engine_of_the_caller_may_refuse_before_the_charge(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    for (int refusing = 1; refusing >= 0; refusing--) {
        bool refuses = refusing;
        tamis_source *source;
        tamis_release *release;
        tamis_error err = {0};
        assert_int_equal(tamis_source_asking(&source, refuse, &refuses, NULL), TAMIS_OK);
        const tamis_release_options options = {.size = sizeof options, .rows = source, .ledger = path};
        const tamis_status status = tamis_release_new(&release, plan, out, &options, &err);
        if (status != (refuses ? TAMIS_REFUSED : TAMIS_SYSTEM)) fail_msg("%d: %s", (int)status, err.message);
        assert_int_equal(strstr(err.message, "it does not know this kind") != NULL, refuses);
        assert_null(release);
        assert_nothing_published();
        assert_int_equal(charges(), refuses ? 0 : 1);
        tamis_source_free(source);
    }
    tamis_plan_free(plan);
}

/* A plan that names a program runs it only if the caller allows that; a program that fails then costs nothing. */
static void a_command_runs_only_if_it_is_allowed(void **state)
{
    (void)state;
    char ran[160], text[1024];
    tamis_plan *plan;
    snprintf(ran, sizeof ran, "%s/a.ledger.ran", folder); /* a name that may stay */
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {command: [touch, '%s'], dialect: duckdb, table: t}\ndesign: {srs: {population: 80, "
             "sample: 4}}\nprivacy: {unit: person, epsilon: 1}\nbudget: {epsilon: 1}\ncolumns:\n  g: {values: [a, b]}\n"
             "statistics:\n  - {count: units, by: g}\n",
             ran);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL) != TAMIS_OK) fail();
    for (int allowed = 0; allowed < 2; allowed++) {
        tamis_release *release;
        tamis_error err = {0};
        const tamis_release_options options = {.size = sizeof options, .ledger = path, .allow_command = allowed};
        const tamis_status status = tamis_release_new(&release, plan, out, &options, &err);
        if (status != (allowed ? TAMIS_INVALID : TAMIS_REFUSED)) fail_msg("%d: %s", (int)status, err.message);
        assert_null(release);
        assert_nothing_published();
        assert_int_equal(charges(), 0);
        assert_int_equal(access(ran, F_OK), allowed ? 0 : -1);
    }
    remove(ran);
    tamis_plan_free(plan);
}

/* With an id the engine needs more than without; a little more than it needs is enough. */
static void too_little_memory_costs_nothing(void **state)
{
    (void)state;
    char csv[160], text[1024];
    tamis_plan *plan;
    snprintf(csv, sizeof csv, "%s/a.ledger.csv", folder); /* a name that may stay */
    FILE *file = fopen(csv, "w");
    assert_non_null(file);
    fputs("id,g\n", file);
    for (int i = 0; i < 8; i++) fprintf(file, "%d,%s\n", i / 2, i % 3 ? "a" : "b");
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: %s}\ndesign: {srs: {population: 80, sample: 4}}\n"
             "privacy: {unit: person, epsilon: 1, id: id, rows_per_unit: 2}\nbudget: {epsilon: 1}\ncolumns:\n"
             "  g: {values: [a, b]}\nstatistics:\n  - {count: units, by: g}\n",
             csv);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL) != TAMIS_OK) fail();
    if (tamis_release_engine(plan) != TAMIS_ENGINE_DUCKDB) {
        tamis_plan_free(plan);
        SKIP("DuckDB is not installed");
    }
    for (int enough = 0; enough < 2; enough++) {
        tamis_release *release;
        tamis_error err = {0};
        const tamis_release_options options = {.size = sizeof options,
                                               .ledger = path,
                                               .threads = 1,
                                               .memory = (uint64_t)(enough ? 350 : 300) << 20};
        const tamis_status status = tamis_release_new(&release, plan, NULL, &options, &err);
        if (status != (enough ? TAMIS_OK : TAMIS_INVALID)) fail_msg("%d: %s", (int)status, err.message);
        if (!enough && !strstr(err.message, "memory: DuckDB needs at least")) fail_msg("%s", err.message);
        assert_nothing_published();
        assert_int_equal(charges(), enough);
        tamis_release_free(release);
    }
    tamis_plan_free(plan);
}

static void a_refusal_reads_nothing_and_spends_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS), *other = plan_of("srs: {population: 90, sample: 8}", "1", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release;
    char line[300];
    assert_int_equal(release_once(&release, plan, &engine, NULL, NULL), TAMIS_OK);
    tamis_release_free(release);
    snprintf(line, sizeof line, "rm -r '%s'", out);
    assert_int_equal(system(line), 0);
    const tamis_plan *const refused[] = {plan, other}; /* the budget is spent; a frozen field differs */
    for (size_t i = 0; i < 2; i++) {
        engine = array_engine_of(rows, 8);
        tamis_error err = {0};
        assert_int_equal(release_once(&release, refused[i], &engine, NULL, &err), TAMIS_REFUSED);
        assert_null(release);
        assert_nothing_published();
        assert_int_equal(engine.describes + engine.aggregates, 0);
        assert_int_equal(charges(), 1);
    }
    tamis_plan_free(plan);
    tamis_plan_free(other);
}

typedef struct patience {
    int calls, stop_at;
} patience;

static int lose_patience(void *context, double share, int64_t rows_read)
{
    patience *p = context;
    (void)share;
    (void)rows_read;
    return ++p->calls == p->stop_at;
}

/* Stopped at each moment at which it asks: charged or not, nothing is published. */
static void stopped_at_any_moment_nothing_is_published(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    size_t charged = 0, uncharged = 0;
    tamis_release *release;
    for (int stop_at = 1;; stop_at++) {
        array_engine engine = array_engine_of(rows, 8);
        patience p = {.stop_at = stop_at};
        unlink(path);
        tamis_error err = {0};
        tamis_status status = release_once(&release, plan, &engine, &(tamis_watch){lose_patience, &p}, &err);
        if (p.calls < stop_at) {
            assert_int_equal(status, TAMIS_OK);
            break;
        }
        assert_int_equal(status, TAMIS_SYSTEM);
        assert_null(release);
        assert_nothing_published();
        if (charges() == 1) charged++;
        else uncharged++;
        assert_int_equal(strncmp(err.message, "cancelled", 9), 0);
        assert_int_equal(strcmp(err.message, "cancelled; nothing was charged") != 0, charges() == 1);
        assert_non_null(strstr(err.message, "was charged"));
    }
    assert_true(charged > 1 && uncharged > 0);
    tamis_release_free(release);
    tamis_plan_free(plan);
}

/* The name was taken after the last look: the charge stands, but the ledger has the release, and a second try costs nothing. */
static int take_name(void *context, double share, int64_t rows_read)
{
    (void)context;
    (void)rows_read;
    if (share == 1) (void)mkdir(out, 0700);
    return 0;
}

static void what_was_kept_can_be_had_again(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release;
    tamis_error err = {0};
    assert_int_equal(release_once(&release, plan, &engine, &(tamis_watch){take_name, NULL}, &err), TAMIS_SYSTEM);
    if (!strstr(err.message, "the release is kept there")) fail_msg("%s", err.message);
    assert_int_equal(charges(), 1);
    assert_int_equal(rmdir(out), 0);
    const tmi_run again = {.folder = out, .ledger = path};
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &again, NULL), TAMIS_OK);
    assert_int_equal(charges(), 1);
    assert_int_equal(engine.aggregates, 1);
    tamis_release_free(release);
    tamis_plan_free(plan);
}

/* Quantiles that a mechanism chose are kept too: the same release again has the same ones. */
static void kept_quantiles_are_the_same(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "2", "  - {median: x, method: inverse}\n");
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release;
    double first = 0;
    for (int again = 0; again < 2; again++) {
        const tmi_run run = {.ledger = path};
        assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &run, NULL), TAMIS_OK);
        const double found = release->results.list[0].estimate;
        assert_true(found >= 10 && found <= 30 && (again == 0 || found == first));
        first = found;
        tamis_release_free(release);
        assert_int_equal(charges(), 1);
    }
    tamis_plan_free(plan);
}

static int die(void *context, double share, int64_t rows_read)
{
    if (lose_patience(context, share, rows_read)) raise(SIGKILL);
    return 0;
}

/* Whether `tamis verify` and `tamis ledger verify --against` believe the folder. */
static void assert_believed(void)
{
    const char *const certificates[] = {out};
    char *text = NULL;
    tamis_error err = {0};
    int ok = 0;
    if (tamis_verify_text(&ok, &text, out, NULL, &err) != TAMIS_OK || !ok) fail_msg("%s %s", err.message, text ? text : "");
    tamis_free(text);
    if (tamis_ledger_verify_text(&ok, &text, path, certificates, 1, &err) != TAMIS_OK || !ok)
        fail_msg("%s %s", err.message, text ? text : "");
    tamis_free(text);
}

/* Killed at each moment at which it reports: the same plan again publishes, for one charge in all, and nothing else is left. */
static void killed_at_any_moment_it_is_claimed(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", STATISTICS);
    const tmi_run run = {.folder = out, .ledger = path};
    size_t claimed = 0, paid = 0;
    bool through = false;
    for (int at = 1; !through; at++) {
        array_engine engine = array_engine_of(rows, 8);
        tamis_release *release = NULL;
        tamis_error err = {0};
        char line[500];
        int status;
        snprintf(line, sizeof line, "rm -rf '%s' '%s'/.out.* '%s'*", out, folder, path);
        assert_int_equal(system(line), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            patience p = {.stop_at = at};
            _exit(release_once(&release, plan, &engine, &(tamis_watch){die, &p}, NULL) == TAMIS_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        through = WIFEXITED(status);
        if (through) assert_int_equal(WEXITSTATUS(status), 0);
        if (through) assert_int_equal(system(line), 0); /* it was not killed: once more, with nobody before */
        const size_t before = charges();
        if (tmi_release_with(&release, plan, &engine.engine, &run, &err) != TAMIS_OK) fail_msg("%s", err.message);
        assert_int_equal(charges(), 1);
        const tamis_charged *c = &release->account.charged;
        assert_int_equal(before == 1, c->unpublished > 0 || c->measurements != NULL);
        claimed += c->unpublished > 0;
        paid += !c->unpublished && !c->measurements;
        if (c->unpublished) {
            char *text = NULL;
            assert_int_equal(tamis_release_text(&text, release, NULL), TAMIS_OK);
            assert_non_null(strstr(text, "nothing more was"));
            tamis_free(text);
        }
        tamis_release_free(release);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        for (struct dirent *e; (e = readdir(dir));)
            if (before == 1 && strncmp(e->d_name, ".out.", 5) == 0) fail_msg("%s was left", e->d_name);
        closedir(dir);
        assert_believed();
    }
    assert_true(claimed > 1 && paid > 1);
    tamis_plan_free(plan);
}

/* A line about the file of the ledger, taken as a source of rows, that was made after `time`; freed by the caller. */
static char *changes_since(const char *time, char *table)
{
    char *files[] = {path};
    const tmi_plan_source source = {.files = files, .file_count = 1, .table = table};
    tmi_text text;
    char *line = NULL;
    tmi_text_init(&text);
    tmi_source_changed(&text, &source, time);
    assert_int_equal(tmi_text_take(&line, &text, NULL), TAMIS_OK);
    return line;
}

static void a_repeat_says_that_the_file_of_its_table_was_changed(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    char *of_file = changes_since("2020-01-01T00:00:00Z", NULL), *of_table = changes_since("2020-01-01T00:00:00Z", "people"),
         *later = changes_since("2999-01-01T00:00:00Z", "people");
    assert_non_null(strstr(of_file, "they are those of the earlier data"));
    assert_non_null(strstr(of_table, "If the rows of people are other ones now"));
    assert_null(strstr(of_table, "earlier data"));
    assert_string_equal(later, "");
    tamis_free(of_file);
    tamis_free(of_table);
    tamis_free(later);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(every_allocation_may_fail),
        IN_A_PLACE(what_breaks_after_the_charge_is_a_system_error_and_stays_charged),
        IN_A_PLACE(what_breaks_before_the_charge_costs_nothing),
        IN_A_PLACE(an_engine_of_the_caller_may_refuse_before_the_charge),
        IN_A_PLACE(a_command_runs_only_if_it_is_allowed),
        IN_A_PLACE(too_little_memory_costs_nothing),
        IN_A_PLACE(a_refusal_reads_nothing_and_spends_nothing),
        IN_A_PLACE(stopped_at_any_moment_nothing_is_published),
        IN_A_PLACE(what_was_kept_can_be_had_again),
        IN_A_PLACE(kept_quantiles_are_the_same),
        IN_A_PLACE(a_repeat_says_that_the_file_of_its_table_was_changed),
        IN_A_PLACE(killed_at_any_moment_it_is_claimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
