/* Processes that charge, claim, void and publish, killed at every system call; and such processes all at once. Never two
 * published answers for one charge, never one for a charge that was voided, never more published than charged. */
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/ledger/small_release.h"

typedef int work(void);

static int release_it(void)
{
    tamis_error err = {0};
    int result;
    do result = -small_whole("[1]", false, &err);
    while (is_busy((tamis_status)result, &err));
    return result;
}

static int void_it(void)
{
    tamis_status status;
    tamis_error err = {0};
    do {
        tamis_ledger *ledger = NULL;
        status = tamis_ledger_open(&ledger, path, &err);
        if (status == TAMIS_OK) status = tamis_ledger_void(ledger, 2, "it was interrupted", &err);
        tamis_ledger_free(ledger);
    } while (is_busy(status, &err));
    return (int)status;
}

/* A child that stops at each entry to and return from a system call. */
static pid_t begin_traced(work *w)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(100);
        raise(SIGSTOP);
        _exit(w());
    }
    return child;
}

#define NEVER INT64_MAX

/* Runs the work and kills it at the stop number `at`; the number of stops that it made. *status: as waitpid tells. */
static int64_t run_until(int *status, work *w, int64_t at)
{
    const pid_t child = begin_traced(w);
    int64_t stops = 0;
    assert_int_equal(waitpid(child, status, 0), child);
    if (WIFEXITED(*status)) fail_msg("processes cannot be traced here");
    while (WIFSTOPPED(*status)) {
        const int signal = WSTOPSIG(*status);
        if (signal == SIGTRAP && ++stops == at) kill(child, SIGKILL);
        else ptrace(PTRACE_SYSCALL, child, NULL, (void *)(intptr_t)(signal == SIGTRAP || signal == SIGSTOP ? 0 : signal));
        assert_int_equal(waitpid(child, status, 0), child);
    }
    return stops;
}

static int in_a_child(work *w)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(w());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("it was killed by %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void empty_the_folder(void)
{
    char line[300];
    snprintf(line, sizeof line, "rm -rf '%s'/a.ledger* '%s'/out-* '%s'/.out.*", folder, folder, folder);
    assert_int_equal(system(line), 0);
}

/* A charge whose process died with an answer in its folder. */
static int leave_open(void)
{
    tamis_ledger *ledger = NULL;
    small_release r;
    if (tamis_ledger_open(&ledger, path, NULL) != TAMIS_OK || small_begin(&r, ledger, "[1]", false, NULL) != TAMIS_OK) return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

static void begin_with(bool open)
{
    int status;
    empty_the_folder();
    if (!open) return;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(leave_open());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

typedef struct counts {
    size_t charges, open, voided, released;
} counts;

static counts count(void)
{
    counts c = {0};
    tamis_ledger *ledger = open_ledger();
    for (size_t i = 0; i < ledger->book.charge_count; i++) {
        const tmi_ledger_charge *x = &ledger->book.charges[i];
        c.charges++;
        c.open += tmi_charge_is_open(x);
        c.voided += x->voided > 0;
        c.released += x->released > 0;
    }
    tamis_ledger_free(ledger);
    return c;
}

static void assert_sound(const char *where, int64_t stop)
{
    size_t published;
    const char *problem = small_problem(&published);
    if (problem) fail_msg("%s, killed at stop %d: %s", where, (int)stop, problem);
}

/* Whatever the moment at which `victim` died, `next` does what it would have done had there been nobody, and pays at most
 * for what was voided in between. */
static void kill_everywhere(const char *name, bool open, work *victim, work *next)
{
    int status;
    size_t killed = 0;
    begin_with(open);
    const int64_t stops = run_until(&status, victim, NEVER);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("%s: status %d", name, status);
    assert_true(stops > 100);
    assert_sound(name, 0);
    for (int64_t at = 1; at <= stops; at += test_size(29, 1)) {
        begin_with(open);
        run_until(&status, victim, at);
        killed += WIFSIGNALED(status) != 0;
        assert_sound(name, at);
        const counts before = access(path, F_OK) == 0 ? count() : (counts){0};
        const int result = in_a_child(next);
        assert_sound(name, at);
        const counts after = count();
        if (next == void_it) {
            const bool could = before.open == 1; /* else it was published, or never charged */
            if (result != (could ? 0 : TAMIS_REFUSED) || after.open != 0 || after.charges != before.charges)
                fail_msg("%s, killed at stop %d: void says %d", name, (int)at, result);
        } else {
            if (result != 0 || after.released != 1 || after.open != 0 || after.charges != after.voided + 1)
                fail_msg("%s, killed at stop %d: release says %d; %zu charges, %zu voided, %zu released", name, (int)at, result,
                         after.charges, after.voided, after.released);
        }
    }
    assert_true(killed > 5);
}

static void killed_at_every_system_call(void **state)
{
    (void)state;
    kill_everywhere("a release, then another", false, release_it, release_it);
    kill_everywhere("a release, then a void", false, release_it, void_it);
    kill_everywhere("a claim, then a release", true, release_it, release_it);
    kill_everywhere("a claim, then a void", true, release_it, void_it);
    kill_everywhere("a void, then a release", true, void_it, release_it);
    kill_everywhere("a void, then another", true, void_it, void_it);
}

/* Whether the ledger has one open charge, and nobody is just opening it or writing to it: who is suspended then holds
 * everybody up. */
static bool is_open_and_quiet(void)
{
    char marker[200];
    snprintf(marker, sizeof marker, "%s-charge-2", path);
    if (access(marker, F_OK) != 0) return false;
    sqlite3 *db = NULL;
    sqlite3_stmt *question = NULL;
    bool right = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                 sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                 sqlite3_prepare_v2(db, "SELECT count(*) FROM entries", -1, &question, NULL) == SQLITE_OK &&
                 sqlite3_step(question) == SQLITE_ROW && sqlite3_column_int(question, 0) == 2; /* the account and its charge */
    sqlite3_finalize(question);
    sqlite3_close(db);
    return right;
}

/* Suspended at a moment and woken up later, it lives: nobody takes its charge, and it goes on. */
static void a_suspended_process_lives(void **state)
{
    (void)state;
    int status;
    int64_t stops = 0, quiet = 0;
    begin_with(false);
    const pid_t child = begin_traced(release_it);
    assert_int_equal(waitpid(child, &status, 0), child);
    while (WIFSTOPPED(status)) {
        if (stops++ % test_size(5, 1) == 0 && is_open_and_quiet() && quiet++ % test_size(4, 1) == 0) {
            assert_int_equal(in_a_child(void_it), TAMIS_REFUSED);
            assert_int_equal(in_a_child(release_it), TAMIS_REFUSED);
        }
        ptrace(PTRACE_SYSCALL, child, NULL, NULL);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_sound("suspended", quiet);
    assert_int_equal(count().released, 1);
    assert_true(quiet > 1);
}

/* Claims, voids and fresh releases at once: one of them wins, and the others say so. */
static void all_at_once(void **state)
{
    (void)state;
    const int rounds = test_size(6, 100);
    int claimed = 0, voided = 0;
    for (int round = 0; round < rounds; round++) {
        pid_t children[8];
        begin_with(true);
        for (int i = 0; i < 8; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) {
                if ((i + round) % 2) usleep((useconds_t)(1000 * (round % 4)));
                _exit(i % 2 ? void_it() : release_it());
            }
        }
        for (int i = 0; i < 8; i++) {
            int status;
            waitpid(children[i], &status, 0);
            if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != TAMIS_REFUSED))
                fail_msg("a process ended with %d", status);
        }
        assert_sound("all at once", round);
        const counts c = count();
        assert_true(c.open == 0 && c.voided <= 1 && c.released <= 1 && c.charges <= 2);
        voided += c.voided == 1;
        claimed += c.voided == 0;
    }
    print_message("# %d claimed, %d voided\n", claimed, voided);
    assert_true(claimed + voided == rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(killed_at_every_system_call),
        IN_A_FOLDER(a_suspended_process_lives),
        IN_A_FOLDER(all_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
