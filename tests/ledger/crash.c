/* Processes that die, and processes that race. */
#include "tests/test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ledger/ledger.h"
#include "tests/ledger/kit.h"

typedef struct progress {
    volatile int64_t begun, done; /* charges */
} progress;

static progress *shared;

static uint64_t random_state = 20261116;

static unsigned draw(unsigned below) { return (unsigned)next_number(&random_state) % below; }

/* Charges and releases until it is killed. */
static void work(tmi_opening how)
{
    for (;;) {
        tamis_ledger *ledger = NULL;
        if (tmi_ledger_open(&ledger, path, how, NULL) != TAMIS_OK) _exit(1);
        for (int i = 0; i < 4; i++) {
            shared->begun++;
            int64_t entry = charge_as(ledger, "1/100000", "1/4", NULL);
            if (entry < 0) _exit(2);
            shared->done++;
            if (i % 2 == 0 && tamis_ledger_released(ledger, entry, "[1, 2, 3]", NULL) != TAMIS_OK) _exit(3);
        }
        tamis_ledger_free(ledger);
    }
}

static int64_t charges_in_the_ledger(void)
{
    tamis_ledger *ledger = open_ledger();
    int64_t count = (int64_t)ledger->book.charge_count;
    tamis_ledger_free(ledger);
    return count;
}

/* Killed at 200 random moments: one in four while the ledger may still be opened, the others after some charges. What a
 * charge that returned has spent is there, and nothing that was not asked for. */
static void killed_at_any_moment(void **state)
{
    int64_t before = 0, total = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        int status = 0;
        const int64_t some = i % 4 ? 1 + draw(4) : 0;
        shared->begun = shared->done = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) work(i % 2 ? TMI_CHARGE : TMI_CHARGE_SHARED);
        while (shared->done < some && waitpid(child, &status, WNOHANG) == 0) usleep(100);
        usleep(draw(some > 0 ? 3000 : 12000));
        if (status != 0) fail_msg("it ended by itself with %d", WEXITSTATUS(status));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status)) fail_msg("it ended by itself with %d", WEXITSTATUS(status));
        const int64_t now = charges_in_the_ledger();
        if (now - before < shared->done || now - before > shared->begun)
            fail_msg("%d of %d charges were done, and the ledger has %d", (int)shared->done, (int)shared->begun,
                     (int)(now - before));
        before = now;
        if (i % 10 < 9) continue;
        char *problems = NULL;
        if (!verifies(&problems)) fail_msg("%s", problems);
        tamis_free(problems);
        total += before;
        before = 0; /* a new one: making it is interrupted too */
        unlink(path);
    }
    assert_true(total >= 150);
}

/* Processes that charge until they are refused get exactly what there is. */
static void race(int processes, tmi_opening how)
{
    pid_t children[8];
    int total = 0;
    for (int i = 0; i < processes; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] > 0) continue;
        tamis_ledger *ledger = NULL;
        tamis_error err = {0};
        tamis_status status;
        int count = 0;
        int64_t entry;
        do status = tmi_ledger_open(&ledger, path, how, &err);
        while (is_busy(status, &err));
        if (status != TAMIS_OK) _exit(201);
        while ((entry = charge_as(ledger, "1/60", "1", &err)) > 0 || is_busy((tamis_status)-entry, &err)) count += entry > 0;
        tamis_ledger_free(ledger);
        _exit(entry == -TAMIS_REFUSED ? count : 202);
    }
    for (int i = 0; i < processes; i++) {
        int status;
        waitpid(children[i], &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) > 60) fail_msg("a process ended with %d", status);
        total += WEXITSTATUS(status);
    }
    assert_int_equal(total, 60);
    assert_int_equal(charges_in_the_ledger(), 60);
    char *problems = NULL;
    if (!verifies(&problems)) fail_msg("%s", problems);
    tamis_free(problems);
    unlink(path);
}

static void several_at_once_never_overspend(void **state)
{
    (void)state;
    race(2, TMI_CHARGE);
    race(8, TMI_CHARGE);
    race(8, TMI_CHARGE_SHARED);
}

/* One handle sees what another one spends. */
static void two_ledgers_of_one_process(void **state)
{
    tamis_ledger *one = open_ledger(), *two = open_ledger();
    (void)state;
    assert_int_equal(charge_as(one, "1/2", "1", NULL), 2);
    assert_int_equal(charge_as(two, "1/2", "1", NULL), 3);
    assert_int_equal(charge_as(one, "1/2", "1", NULL), -TAMIS_REFUSED);
    assert_int_equal(charge_as(two, "1/2", "1", NULL), -TAMIS_REFUSED);
    tamis_ledger_free(one);
    tamis_ledger_free(two);
}

int main(void)
{
    const struct CMUnitTest all[] = {IN_A_FOLDER(killed_at_any_moment), IN_A_FOLDER(several_at_once_never_overspend),
                                     IN_A_FOLDER(two_ledgers_of_one_process)};
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(all, NULL, NULL);
}
