/* Everything that is charged, with a disk that fails and a process that is killed: a release, a quantile of a file, a tally. The
 * calls that reach a disk are this file's own; the first, second, third ... of them fails, or kills the process. Then nothing was
 * published; a message names the entry, the amount and what to do if something was charged; and the same call again publishes,
 * for one charge in all, the numbers that the ledger has.                                                                */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tamis/experimental/statistic.h>
#include <tamis/experimental/tally.h>
#include <tamis/key.h>
#include <tamis/verify.h>

#include "ledger/ledger.h"
#include "release/release.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"
#include "tests/release/plans.h"
#include "tests/rng/scripted_bits.h"

/* ---- the disk ---- */

typedef enum { WRITES = 1, SYNCS = 2, RENAMES = 4, ALL = 7 } calls;

static struct {
    calls which;       /* that are counted */
    int64_t count, at; /* at: the one that fails, from 1 */
    int reason;        /* an errno; 0: the process is killed instead */
    bool lasting;      /* and all after it */
} disk;

/* Whether the call goes on. */
static bool goes_on(calls kind)
{
    if (!(disk.which & kind)) return true;
    disk.count++;
    if (disk.at == 0 || (disk.lasting ? disk.count < disk.at : disk.count != disk.at)) return true;
    if (disk.reason == 0) kill(getpid(), SIGKILL);
    errno = disk.reason;
    return false;
}

/* Seen by shared libraries, of which SQLite is one. */
#define FOR_ALL __attribute__((visibility("default")))

FOR_ALL ssize_t write(int file, const void *bytes, size_t n) { return goes_on(WRITES) ? syscall(SYS_write, file, bytes, n) : -1; }

FOR_ALL ssize_t pwrite64(int file, const void *bytes, size_t n, off_t at)
{
    return goes_on(WRITES) ? syscall(SYS_pwrite64, file, bytes, n, at) : -1;
}

FOR_ALL int ftruncate64(int file, off_t length) { return goes_on(WRITES) ? (int)syscall(SYS_ftruncate, file, length) : -1; }

/* In memory there is nothing to wait for. */
FOR_ALL int fsync(int file)
{
    (void)file;
    return goes_on(SYNCS) ? 0 : -1;
}

FOR_ALL int fdatasync(int file) { return fsync(file); }

FOR_ALL int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return goes_on(RENAMES) ? (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags) : -1;
}

/* ---- what is published ---- */

static char out[128], key[160], rows[128], reports[128];

/* Answers with no result unless the status is OK. */
typedef tamis_status publish(tamis_error *err);

static const array_row people[] = {{.x = 12.3, .g = "a", .h = "u"},
                                   {.x = 500, .g = "a", .h = "v"},
                                   {.x = -3, .g = "b", .h = "u"}};

static tamis_status publish_release(tamis_error *err)
{
    tamis_plan *plan = plan_of("srs: {population: 80, sample: 3}", "20", "  - {count: units, by: g}\n");
    array_engine engine = array_engine_of(people, 3);
    tamis_release *release = NULL;
    tamis_status status = tmi_release_with(&release, plan, &engine.engine, &(tmi_run){.folder = out, .ledger = path, .sign = key},
                                           err);
    assert_int_equal(status == TAMIS_OK, release != NULL);
    tamis_release_free(release);
    tamis_plan_free(plan);
    return status;
}

static tamis_status publish_quantile(tamis_error *err)
{
    tamis_number *numbers[] = {number("0"), number("100"), number("1"), number("1/2")};
    const tamis_number *const at[] = {numbers[3]};
    const tamis_file_quantile asked = {
        .file = rows,
        .column = "x",
        .what = {.from = numbers[0], .to = numbers[1], .step = numbers[2], .at = at, .at_count = 1, .epsilon = numbers[2]},
        .engine = TAMIS_ENGINE_MEMORY};
    tamis_statistic *statistic = NULL;
    tamis_status status = tamis_statistic_quantile(&statistic, &asked, err);
    assert_int_equal(status == TAMIS_OK, statistic != NULL);
    tamis_statistic_free(statistic);
    for (size_t i = 0; i < 4; i++) tamis_number_free(numbers[i]);
    return status;
}

static tamis_status publish_tally(tamis_error *err)
{
    tamis_number *lie = number("1/4"), *budget = number("5");
    tamis_tally *tally = NULL;
    char *text = NULL;
    tamis_status status = tamis_tally_new(&tally, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, err);
    if (status == TAMIS_OK) status = tamis_tally_add(tally, reports, NULL, err);
    if (status == TAMIS_OK)
        status = tamis_tally_publish(&text, tally, NULL,
                                     &(tamis_tally_publication){.size = sizeof(tamis_tally_publication),
                                                                .folder = out,
                                                                .sign = key,
                                                                .ledger = path,
                                                                .survey = "questions",
                                                                .budget = budget},
                                     err);
    assert_int_equal(status == TAMIS_OK, text != NULL);
    tamis_free(text);
    tamis_tally_free(tally);
    tamis_number_free(lie);
    tamis_number_free(budget);
    return status;
}

static const struct thing {
    const char *name;
    publish *publish;
    tamis_status (*verify)(int *ok, char **text, const char *path, const char *key,
                           tamis_error *err); /* NULL: there is no folder */
    const char *ledger;
    const char *amount;
} things[];

static tamis_status verify_release(int *ok, char **text, const char *place, const char *signer, tamis_error *err)
{
    return tamis_verify_text(ok, text, place, &(tamis_verify_options){.size = sizeof(tamis_verify_options), .key = signer}, err);
}

static const struct thing things[] = {
    {"release", publish_release, verify_release, "a.ledger", "epsilon 20"},
    {"quantile", publish_quantile, NULL, "rows.csv.ledger", "epsilon 1"},
    {"tally", publish_tally, tamis_tally_verify_text, "a.ledger", "epsilon 1.098"},
};
#define THINGS (sizeof things / sizeof *things)

/* ---- a place ---- */

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_place(void **state)
{
    char name[128], fingerprint[TAMIS_KEY_FINGERPRINT];
    if (make_folder(state) != 0) return -1;
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(rows, sizeof rows, "%s/rows.csv", folder);
    snprintf(reports, sizeof reports, "%s/reports.csv", folder);
    snprintf(name, sizeof name, "%s/agency", folder);
    snprintf(key, sizeof key, "%s.key", name);
    write_text(rows, "x\n1\n2\n3\n");
    write_text(reports, "a\n0\n1\n1\n");
    return tamis_key_create(fingerprint, name, NULL) == TAMIS_OK ? 0 : -1;
}

static void empty_the_place(void)
{
    char line[500];
    snprintf(line, sizeof line, "rm -rf '%s' '%s'/.out.* '%s'/*.ledger*", out, folder, folder);
    assert_int_equal(system(line), 0);
}

#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_folder)

typedef struct account {
    size_t charges, released;
} account;

/* The ledger, which must be in order; nothing if there is none. */
static account look(const struct thing *t)
{
    account a = {0};
    tamis_ledger *ledger;
    char name[200], *problems = NULL;
    int ok = 0;
    snprintf(name, sizeof name, "%s/%s", folder, t->ledger);
    if (access(name, F_OK) != 0) return a;
    assert_int_equal(tamis_ledger_verify_text(&ok, &problems, name, NULL, 0, NULL), TAMIS_OK);
    if (!ok) fail_msg("%s", problems);
    tamis_free(problems);
    assert_int_equal(tamis_ledger_look(&ledger, name, NULL), TAMIS_OK);
    a.charges = ledger->book.charge_count;
    for (size_t i = 0; i < a.charges; i++) a.released += ledger->book.charges[i].released > 0;
    tamis_ledger_free(ledger);
    return a;
}

static bool is_there(const char *start)
{
    bool found = false;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) found = found || strncmp(e->d_name, start, strlen(start)) == 0;
    closedir(dir);
    return found;
}

/* Its own certificate, its signature, and the ledger believe the folder. */
static void assert_believed(const struct thing *t, const char *when)
{
    const char *const certificates[] = {out};
    char signer[160], *text = NULL;
    tamis_error err = {0};
    int ok = 0;
    if (!t->verify) return;
    snprintf(signer, sizeof signer, "%s/agency.pub", folder);
    if (t->verify(&ok, &text, out, signer, &err) != TAMIS_OK || !ok) fail_msg("%s: %s %s", when, err.message, text ? text : "");
    tamis_free(text);
    text = NULL;
    if (tamis_ledger_verify_text(&ok, &text, path, certificates, 1, &err) != TAMIS_OK || !ok)
        fail_msg("%s: %s %s", when, err.message, text ? text : "");
    tamis_free(text);
}

/* ---- one run ---- */

/* What a child says, in memory that both have. */
typedef struct answer {
    tamis_status status;
    int64_t count; /* of calls that reach the disk */
    char message[TAMIS_ERROR_SIZE];
} answer;

static answer *shared;

/* Each run draws noise of its own. False: it was killed. */
static bool run(const struct thing *t, calls which, int64_t at, int reason, bool lasting)
{
    static uint64_t seed;
    int status;
    *shared = (answer){.status = TAMIS_UNABLE};
    seed++;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tamis_error err = {0};
        bits_from_seed(seed);
        disk.which = which;
        disk.at = at;
        disk.reason = reason;
        disk.lasting = lasting;
        shared->status = t->publish(&err);
        shared->count = disk.count;
        memcpy(shared->message, err.message, sizeof shared->message);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) fail_msg("%s: exit %d", t->name, WEXITSTATUS(status));
    return WIFEXITED(status);
}

/* The same again, with a disk that works. */
static void assert_resumes(const struct thing *t, const char *when)
{
    const account before = look(t);
    if (t->verify && is_there("out")) { /* killed after the last step */
        assert_believed(t, when);
        return;
    }
    assert_true(run(t, 0, 0, 0, false));
    if (shared->status != TAMIS_OK) fail_msg("%s: %s", when, shared->message);
    const account after = look(t);
    if (after.charges != 1 || after.released != 1) fail_msg("%s: %zu charges, %zu released", when, after.charges, after.released);
    if (before.charges == 1 && (is_there(".out.") || is_there("a.ledger-charge-") || is_there("rows.csv.ledger-charge-")))
        fail_msg("%s: something was left", when);
    assert_believed(t, when);
}

static void assert_nothing_leaves(const struct thing *t, const char *when)
{
    const account a = look(t);
    const char *message = shared->message;
    char entry[160];
    if (shared->status != TAMIS_SYSTEM) fail_msg("%s: status %d, %s", when, (int)shared->status, message);
    if (is_there("out")) fail_msg("%s: published, although it failed: %s", when, message);
    snprintf(entry, sizeof entry, "charged (entry 2 of %s/%s", folder, t->ledger);
    const bool names = strstr(message, t->amount) && strstr(message, entry), says_how = strstr(message, " again") != NULL;
    if (a.charges == 1 && !(names && says_how)) fail_msg("%s: charged, and the message is: %s", when, message);
    if (a.charges == 0 && names && !strstr(message, "is not known")) fail_msg("%s: not charged, but: %s", when, message);
    if (a.released && !strstr(message, "kept there") && strstr(message, "was charged"))
        fail_msg("%s: kept, and the message is: %s", when, message);
}

/* How often each of these was seen. */
typedef struct tally {
    int uncharged, open, kept, through;
} tally;

static tally fail_everywhere(const struct thing *t, const char *name, calls which, int reason, bool lasting, int stride)
{
    tally seen = {0};
    empty_the_place();
    assert_true(run(t, which, 0, 0, false));
    const int64_t count = shared->count;
    if (shared->status != TAMIS_OK || count < 5) fail_msg("%s: %s, %d calls", t->name, shared->message, (int)count);
    for (int64_t at = 1; at <= count; at += stride) {
        char when[100];
        snprintf(when, sizeof when, "%s, %s at call %d of %d", t->name, name, (int)at, (int)count);
        empty_the_place();
        const bool ended = run(t, which, at, reason, lasting);
        const account a = look(t);
        seen.uncharged += a.charges == 0;
        seen.open += a.charges == 1 && a.released == 0;
        seen.kept += a.released == 1;
        if (a.released == 0 && is_there(".out.")) fail_msg("%s: on the disk, although the ledger has not kept it", when);
        if (ended && shared->status == TAMIS_OK) { /* a failure that does not matter, such as that of tidying up */
            seen.through++;
            if (a.released != 1) fail_msg("%s: it says that it was published", when);
            assert_believed(t, when);
            continue;
        }
        if (ended) assert_nothing_leaves(t, when);
        assert_resumes(t, when);
    }
    return seen;
}

static void assert_all_seen(tally seen, const struct thing *t, const char *name)
{
    print_message("# %s, %s: %d before the charge, %d after it, %d kept; %d did not matter\n", t->name, name, seen.uncharged,
                  seen.open, seen.kept, seen.through);
    assert_true(seen.uncharged > 0 && seen.open > 0 && seen.kept > 0);
}

static void killed_between_any_two_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < THINGS; i++)
        assert_all_seen(fail_everywhere(&things[i], "killed", ALL, 0, false, 1), &things[i], "killed");
}

static void every_call_fails_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < THINGS; i++)
        assert_all_seen(fail_everywhere(&things[i], "an I/O error", ALL, EIO, false, 1), &things[i], "an I/O error");
}

static void a_disk_that_is_full_and_stays_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < THINGS; i++) fail_everywhere(&things[i], "a full disk", WRITES, ENOSPC, true, test_size(3, 1));
}

static void a_limit_of_a_file_s_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < THINGS; i++) fail_everywhere(&things[i], "a file too large", WRITES, EFBIG, false, test_size(3, 1));
}

/* Memory fails: the release and the quantile have tests of their own (tests/release). */
static void every_allocation_of_a_tally_may_fail(void **state)
{
    (void)state;
    tamis_error err;
    size_t charged = 0, uncharged = 0;
    const struct thing *t = &things[2];
    tamis_number *lie = number("1/4"), *budget = number("5");
    tamis_tally *counted = NULL;
    char *text = NULL;
    assert_int_equal(tamis_tally_new(&counted, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_tally_add(counted, reports, NULL, NULL), TAMIS_OK);
    const tamis_tally_publication how = {.size = sizeof(tamis_tally_publication),
                                         .folder = out,
                                         .sign = key,
                                         .ledger = path,
                                         .survey = "questions",
                                         .budget = budget};
    ALLOCATIONS_FAIL(k_ + test_size(7, 1), (empty_the_place(), tamis_tally_publish(&text, counted, NULL, &how, &err)), {
        assert_null(text);
        assert_false(is_there("out"));
        const account a = look(t);
        charged += a.charges == 1;
        uncharged += a.charges == 0;
        if (a.charges == 1 && !strstr(err.message, "charged (entry 2 of ")) fail_msg("%s", err.message);
    });
    assert_true(charged > 10 && uncharged > 10);
    tamis_free(text);
    tamis_tally_free(counted);
    tamis_number_free(lie);
    tamis_number_free(budget);
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(killed_between_any_two_calls),         IN_A_PLACE(every_call_fails_once),
        IN_A_PLACE(a_disk_that_is_full_and_stays_so),     IN_A_PLACE(a_limit_of_a_file_s_size),
        IN_A_PLACE(every_allocation_of_a_tally_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
