/* Files that are no ledgers, places where none can be, disks that are full; arguments that are wrong; no memory. */
#include "tests/test.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "ledger/ledger.h"
#include "ledger/open.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"

/* Fails with this status and these words, one line that begins with the path, for open and for look. */
static void cannot_be_opened(const char *name, tamis_status status, const char *words)
{
    tamis_ledger *ledger = (tamis_ledger *)&ledger;
    tamis_error err = {0};
    for (int look = 0; look < 2; look++) {
        tamis_status found = look ? tamis_ledger_look(&ledger, name, &err) : tamis_ledger_open(&ledger, name, &err);
        assert_null(ledger);
        if (found != status || !strstr(err.message, words) || strncmp(err.message, name, strlen(name)) != 0 ||
            strchr(err.message, '\n'))
            fail_msg("%s: %d, %s", name, (int)found, err.message);
    }
    int ok = 1;
    char *text = (char *)&ok;
    assert_int_equal(tamis_ledger_verify_text(&ok, &text, name, NULL, 0, &err), status);
    assert_int_equal(ok, 0);
    assert_null(text);
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int format_of_file(void)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int format = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return format;
}

/* A file of the first format stays one until an entry comes that the programs of its time do not know. */
static void later_entries_need_a_later_format(void **state)
{
    enum { CHARGE, RAISE, VOID, CLAIMABLE, VERSION, NORMAL, KINDS };
    static const int expected[KINDS] = {1, 2, 2, 2, 3, 6};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        tamis_error err = {0};
        tamis_ledger *ledger = open_ledger();
        const char *budget = kind == NORMAL ? "4 1e-6" : "4";
        const int64_t entry = charge_as(ledger, "1", budget, &err);
        assert_int_equal(entry, 2);
        tamis_ledger_free(ledger);
        run_sql("PRAGMA user_version = 1");
        ledger = open_ledger();
        tamis_number *five = number_of("5");
        sample_charge s;
        tamis_charged charged = {0};
        sample_charge_make(&s, kind == NORMAL ? "rho 0.001 mu 0.002" : "1", budget, "[3]");
        if (kind == CLAIMABLE) s.charge.leftover = "";
        if (kind == CHARGE || kind == CLAIMABLE || kind == NORMAL) {
            assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_OK);
        } else if (kind == RAISE) {
            assert_int_equal(tamis_ledger_raise(ledger, "schools", &(tamis_coin){.epsilon = five}, "why", &err), TAMIS_OK);
        } else if (kind == VOID) {
            assert_int_equal(tamis_ledger_void(ledger, entry, "why", &err), TAMIS_OK);
        } else {
            assert_int_equal(tmi_ledger_keep(ledger, entry, "[7]", "the second delivery", &err), TAMIS_OK);
        }
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
        tamis_number_free(five);
        tamis_ledger_free(ledger);
        assert_int_equal(format_of_file(), expected[kind]);
        assert_true(verifies(NULL));
        unlink(path);
    }
}

static void foreign_files(void **state)
{
    char name[160], other[500];
    struct stat before, after;
    (void)state;
    write_text(path, "survey,epsilon\nschools,1\n");
    cannot_be_opened(path, TAMIS_INVALID, "not a ledger");
    unlink(path);
    run_sql("CREATE TABLE t(x)");
    assert_int_equal(stat(path, &before), 0);
    cannot_be_opened(path, TAMIS_INVALID, "another program");
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    unlink(path);
    tamis_ledger_free(open_ledger());
    run_sql("PRAGMA user_version = 7");
    cannot_be_opened(path, TAMIS_INVALID, "format 7");
    run_sql("PRAGMA user_version = 2; PRAGMA application_id = 1");
    cannot_be_opened(path, TAMIS_INVALID, "another program");
    unlink(path);
    cannot_be_opened(folder, TAMIS_INVALID, "not a file");
    snprintf(name, sizeof name, "%s/none/a.ledger", folder);
    cannot_be_opened(name, TAMIS_INVALID, "No such file");
    snprintf(name, sizeof name, "%s/", folder);
    cannot_be_opened(name, TAMIS_INVALID, "name of a file");
    cannot_be_opened("", TAMIS_INVALID, "name of a file");
    tamis_ledger_free(open_ledger());
    snprintf(name, sizeof name, "%s/link", folder);
    assert_int_equal(symlink(path, name), 0);
    cannot_be_opened(name, TAMIS_INVALID, "symbolic link");
    unlink(name);
    snprintf(other, sizeof other, "%s/nowhere", folder);
    assert_int_equal(symlink(other, name), 0);
    cannot_be_opened(name, TAMIS_INVALID, "symbolic link"); /* and nothing is made at the other end */
    assert_int_not_equal(access(other, F_OK), 0);
    unlink(name);
    assert_int_equal(symlink(folder, name), 0); /* a folder may be reached through one */
    snprintf(other, sizeof other, "%s/a.ledger", name);
    tamis_ledger *ledger = NULL;
    assert_int_equal(tamis_ledger_open(&ledger, other, NULL), TAMIS_OK);
    tamis_ledger_free(ledger);
    unlink(name);
    assert_int_equal(link(path, name), 0);
    cannot_be_opened(name, TAMIS_INVALID, "second name");
    snprintf(other, sizeof other, "%s/%0300d", folder, 1);
    tamis_error err = {0};
    assert_int_equal(tamis_ledger_open(&ledger, other, &err), TAMIS_SYSTEM);
}

static void big_endian(FILE *file, uint32_t x)
{
    for (int shift = 24; shift >= 0; shift -= 8) fputc((int)(x >> shift & 255), file);
}

/* A rollback journal that names another file as its super-journal: SQLite would delete that file. */
static void forged_journals(void **state)
{
    static const char mark[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    char victim[160], journal[160];
    struct stat facts;
    (void)state;
    tamis_ledger_free(open_ledger());
    run_sql("PRAGMA journal_mode = DELETE");
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(journal, sizeof journal, "%s-journal", path);
    write_text(victim, "precious\n");
    assert_int_equal(stat(path, &facts), 0);
    FILE *file = fopen(journal, "w");
    assert_non_null(file);
    fwrite(mark, 1, 8, file);
    const uint32_t page = 4096, head[5] = {0, 0, (uint32_t)(facts.st_size / page), 512, page};
    for (size_t i = 0; i < 5; i++) big_endian(file, head[i]);
    for (int i = 28; i < 512; i++) fputc(0, file);
    big_endian(file, 0x40000000 / page + 1); /* the page that holds the lock, which is never rolled back */
    fputs(victim, file);
    big_endian(file, (uint32_t)strlen(victim));
    uint32_t sum = 0;
    for (const char *c = victim; *c; c++) sum += (unsigned char)*c;
    big_endian(file, sum);
    fwrite(mark, 1, 8, file);
    fclose(file);
    cannot_be_opened(path, TAMIS_INVALID, "rollback journal");
    assert_int_equal(access(victim, F_OK), 0);
    unlink(journal);
    assert_int_equal(symlink(victim, journal), 0);
    cannot_be_opened(path, TAMIS_INVALID, "rollback journal");
    unlink(journal);
    tamis_ledger_free(open_ledger());
}

static void there_may_be_nothing_yet(void **state)
{
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    char *text = NULL;
    (void)state;
    assert_int_equal(tamis_ledger_look(&ledger, path, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "no such file"));
    write_text(path, ""); /* as a process leaves it that was killed while making it */
    assert_int_equal(tamis_ledger_look(&ledger, path, &err), TAMIS_OK);
    assert_int_equal(tamis_ledger_accounts(ledger), 0);
    assert_int_equal(tamis_ledger_text(&text, ledger, NULL, &err), TAMIS_OK);
    assert_string_equal(text, "no account: nothing has been charged yet\n");
    tamis_free(text);
    assert_int_equal(tamis_ledger_entries_json(&text, ledger, &err), TAMIS_OK);
    tamis_free(text);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
    ledger = open_ledger();
    assert_int_equal(charge_as(ledger, "1", "1", NULL), 2);
    tamis_ledger_free(ledger);
}

static void looking_changes_nothing(void **state)
{
    tamis_ledger *ledger = open_ledger(), *look = NULL;
    tamis_error err = {0};
    (void)state;
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 2);
    assert_int_equal(tamis_ledger_look(&look, path, NULL), TAMIS_OK);
    assert_int_equal(charge_as(look, "1", "4", &err), -TAMIS_INVALID);
    assert_non_null(strstr(err.message, "reading only"));
    assert_int_equal(tamis_ledger_released(look, 2, "x", &err), TAMIS_INVALID);
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 3);
    tamis_ledger_free(look);
    tamis_ledger_free(ledger);
}

/* A charge to a file that nobody finds any more would be lost. */
static void a_ledger_that_is_taken_away(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    char other[160];
    (void)state;
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 2);
    snprintf(other, sizeof other, "%s/b.ledger", folder);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(charge_as(ledger, "1", "4", &err), -TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "moved or deleted"));
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(charge_as(ledger, "1", "4", &err), 3);
    unlink(path);
    assert_int_equal(charge_as(ledger, "1", "4", &err), -TAMIS_SYSTEM);
    tamis_ledger_free(ledger);
}

static void somebody_holds_it(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    sqlite3 *db = NULL;
    (void)state;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_timeout(ledger->file->db, 20);
    assert_int_equal(charge_as(ledger, "1", "4", &err), -TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "another process has been using the ledger"));
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(charge_as(ledger, "1", "4", &err), 2);
    tamis_ledger_free(ledger);
}

/* ---- without rights ---- */

/* In a child that is no root. Gives its exit code. */
static int as_somebody(int (*act)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(100);
        _exit(act());
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static int open_fails(void)
{
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    tamis_status status = tamis_ledger_open(&ledger, path, &err);
    tamis_ledger_free(ledger);
    return status == TAMIS_SYSTEM && (strstr(err.message, "Permission denied") || strstr(err.message, "read-only")) ? 0 : 1;
}

static int can_be_read(void)
{
    tamis_ledger *ledger = NULL;
    tamis_status status = tamis_ledger_look(&ledger, path, NULL);
    int right = status == TAMIS_OK && tamis_ledger_accounts(ledger) == 1 && charge_as(ledger, "1", "4", NULL) == -TAMIS_INVALID;
    tamis_ledger_free(ledger);
    return right && verifies(NULL) ? 0 : 1;
}

static void read_only_folder(void **state)
{
    (void)state;
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(as_somebody(open_fails), 0); /* cannot be made */
    chmod(folder, 0755);
    tamis_ledger *ledger = open_ledger();
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 2);
    tamis_ledger_free(ledger);
    assert_int_equal(as_somebody(open_fails), getuid() == 0 ? 0 : 1); /* somebody else's, mode 0600 */
    chmod(path, 0444);
    chmod(folder, 0555);
    assert_int_equal(as_somebody(open_fails), 0);  /* not written to, */
    assert_int_equal(as_somebody(can_be_read), 0); /* but read */
    chmod(folder, 0755);
    assert_true(verifies(NULL));
}

/* ---- full disks ---- */

/* Charges until it fails; the ledger has all that was charged, and goes on when there is room. Gives the number, or -1. */
static int charge_until_full(int *status)
{
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    int count = 0;
    int64_t entry = 0;
    if (tamis_ledger_open(&ledger, path, &err) != TAMIS_OK) return -1;
    while (count < 5000 && (entry = charge_as(ledger, "1/10000", "1", &err)) > 0) count++;
    *status = (int)-entry;
    if (entry != -TAMIS_SYSTEM || !(strstr(err.message, "the disk is full") || strstr(err.message, "the disk failed")))
        count = -1;
    tamis_ledger_free(ledger);
    return count;
}

static void limit_files(rlim_t size)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size ? size : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void files_may_not_grow(void **state)
{
    int status = 0;
    (void)state;
    tamis_ledger_free(open_ledger());
    signal(SIGXFSZ, SIG_IGN);
    limit_files(100000);
    int count = charge_until_full(&status);
    limit_files(0);
    assert_true(count > 0);
    tamis_ledger *ledger = open_ledger();
    assert_int_equal(charge_as(ledger, "1/10000", "1", NULL), count + 2);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* A file system of 300 kB of its own, where that is allowed. */
static int on_a_small_disk(void)
{
    int status = 0;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 77;
    if (mount("tmpfs", folder, "tmpfs", 0, "size=300k") != 0) return 77;
    int count = charge_until_full(&status);
    if (count <= 0 || status != TAMIS_SYSTEM) return 1;
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=3m") != 0) return 2;
    tamis_ledger *ledger = NULL;
    if (tamis_ledger_open(&ledger, path, NULL) != TAMIS_OK) return 3;
    int right = charge_as(ledger, "1/10000", "1", NULL) == count + 2;
    tamis_ledger_free(ledger);
    return right && verifies(NULL) ? 0 : 4;
}

static void disk_is_full(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(on_a_small_disk());
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) SKIP("this process may not mount a small disk");
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- arguments ---- */

static void arguments_are_named(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    sample_charge s;
    tamis_charged charged;
    tamis_number *minus = number_of("-1"), *two = number_of("2"), *huge = number_of("1e7"), *zero = number_of("0");
    char *text = NULL, long_name[TAMIS_LEDGER_NAME + 2];
    int ok;
    (void)state;
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    sample_charge_make(&s, "1", "4", "[]");
#define WRONG(change, words) \
    do { \
        tamis_charge c = s.charge; \
        change; \
        memset(&charged, 1, sizeof charged); \
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &c, &err), TAMIS_INVALID); \
        assert_int_equal(charged.entry, 0); \
        assert_null(charged.measurements); \
        if (!strstr(err.message, words)) fail_msg("%s", err.message); \
    } while (0)
    WRONG(c.survey = NULL, "survey: NULL");
    WRONG(c.survey = "", "survey: must not be empty");
    WRONG(c.survey = long_name, "survey: longer than 1000");
    WRONG(c.survey = "caf\xe9", "survey: not UTF-8");
    WRONG(c.survey = "sch\u202eools", "survey: U+202E");
    WRONG(c.survey = "sch\nools", "survey: U+000A");
    WRONG(c.release = "a\u200b.yaml", "release: U+200B");
    WRONG(c.new_account = "why\u2069", "new_account: U+2069");
    WRONG(c.new_account = "\xff", "new_account: not UTF-8");
    WRONG(c.release = NULL, "release: NULL");
    WRONG(c.release = "", "release");
    WRONG(c.release = "\xc3", "release: not UTF-8");
    WRONG(c.measures = NULL, "measures: NULL");
    WRONG(c.measures = "\xff", "measures: not UTF-8");
    WRONG(c.frozen = NULL, "frozen: NULL");
    WRONG(c.frozen = "", "frozen: must be a JSON object");
    WRONG(c.frozen = "[]", "frozen: must be a JSON object");
    WRONG(c.frozen = "{\"a\": NaN}", "frozen: must be a JSON object");
    WRONG(c.frozen = "{\"a\": 1, \"a\": 2}", "frozen: must be a JSON object");
    WRONG(c.amount = (tamis_coin){0}, "amount: must be");
    WRONG((c.amount.rho = two, c.amount.delta = zero), "amount: must be");
    WRONG(c.amount.rho = minus, "amount: rho");
    WRONG(c.amount.rho = huge, "amount: rho");
    WRONG((c.amount = (tamis_coin){.rho = two, .delta = zero}), "amount: must be");
    WRONG(c.amount.epsilon = minus, "amount: epsilon");
    WRONG(c.amount.epsilon = huge, "amount: epsilon");
    WRONG((c.amount = (tamis_coin){.rho = minus}), "amount: rho");
    WRONG((c.amount = (tamis_coin){.rho = huge}), "amount: rho");
    WRONG(c.amount.delta = minus, "amount: delta");
    WRONG(c.amount.delta = two, "amount: delta");
    tamis_number *fine = number_of("1e-1000"), *third = number_of("1/3"), *finer = NULL; /* more digits than can be read back */
    assert_int_equal(tmi_number_mul(&finer, fine, third, NULL), TAMIS_OK);
    WRONG(c.amount.epsilon = finer, "amount: a fraction");
    tamis_number_free(fine);
    tamis_number_free(third);
    tamis_number_free(finer);
    WRONG(c.budget = (tamis_coin){0}, "budget: must be");
    WRONG(c.budget.epsilon = zero, "budget: epsilon must not be 0");
    WRONG((c.budget = (tamis_coin){.rho = zero}), "budget: rho must not be 0");
    WRONG(c.budget.delta = two, "budget: delta");
    assert_int_equal(tamis_ledger_charge(NULL, ledger, &s.charge, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_charge(&charged, NULL, &s.charge, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_charge(&charged, ledger, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "charge: NULL"));
    assert_int_equal(tamis_ledger_ask(NULL, ledger, &s.charge, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_accounts(ledger), 0); /* nothing of it was written */

    assert_int_equal(tamis_ledger_open(NULL, path, &err), TAMIS_INVALID);
    tamis_ledger *none = ledger;
    assert_int_equal(tamis_ledger_open(&none, NULL, &err), TAMIS_INVALID);
    assert_null(none);
    assert_non_null(strstr(err.message, "path"));
    assert_int_equal(tamis_ledger_released(NULL, 1, "", &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_released(ledger, 1, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_released(ledger, -5, "x", &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_released(ledger, INT64_MAX, "x", &err), TAMIS_INVALID);
    tamis_spending b, p, l;
    assert_int_equal(tamis_ledger_spending(&b, &p, &l, ledger, 0, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "account: number 0"));
    assert_true(isinf(p.epsilon.upper) && p.delta.upper == 1 && l.epsilon.lower == 0);
    assert_int_equal(tamis_ledger_spending(NULL, NULL, NULL, NULL, 0, &err), TAMIS_INVALID);
    tamis_number *e = two, *d = two;
    assert_int_equal(tamis_ledger_sample(&e, &d, ledger, SIZE_MAX, NULL, &err), TAMIS_INVALID);
    assert_null(e);
    assert_null(d);
    assert_int_equal(tamis_ledger_sample(NULL, &d, ledger, 0, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_text(NULL, ledger, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_text(&text, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_csv(NULL, ledger, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_csv(&text, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_verify_text(NULL, &text, path, NULL, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_verify_text(&ok, NULL, path, NULL, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_verify_text(&ok, &text, NULL, NULL, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_verify_text(&ok, &text, path, NULL, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_verify_text(&ok, &text, path, (const char *[]){NULL}, 1, &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_accounts(NULL), 0);
    assert_null(tamis_ledger_survey(NULL, 0));
    assert_int_equal(tamis_ledger_find(NULL, "schools"), -1);
    assert_int_equal(tamis_ledger_find(ledger, NULL), -1);
    tamis_charged_clear(NULL);
    tamis_ledger_free(NULL);
    tamis_ledger_free(ledger);
    sample_charge_clear(&s);
    tamis_number_free(minus);
    tamis_number_free(two);
    tamis_number_free(huge);
    tamis_number_free(zero);
}

/* ---- memory ---- */

static void memory_may_fail(void **state)
{
    tamis_ledger *ledger = NULL;
    sample_charge s;
    tamis_charged charged;
    tamis_number *eps = NULL, *delta = NULL;
    tamis_spending spent;
    char *text = NULL;
    int ok;
    (void)state;
    sample_charge_make(&s, "1/1000", "4 1e-6", "[]");
    tamis_ledger_free(open_ledger());
    EVERY_ALLOCATION_FAILS(tamis_ledger_open(&ledger, path, NULL), assert_null(ledger));
    int64_t stands = 0; /* the last charge that reached the disk before the memory failed */
    EVERY_ALLOCATION_FAILS(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), {
        assert_null(charged.measurements);
        if (charged.entry) stands = charged.entry;
    });
    const int64_t entry = charged.entry;
    assert_true(stands >= 2 && entry > stands);
    for (long k = 1;; k++) { /* after the commit it is released, whatever happens to the memory then */
        fail_allocation(k);
        tamis_status status = tamis_ledger_released(ledger, entry, "[5]", NULL);
        if (!allocation_failed()) {
            assert_true(status == TAMIS_OK || status == TAMIS_INVALID);
            break;
        }
        assert_true(status == TAMIS_SYSTEM || status == TAMIS_INVALID);
    }
    s.charge.again = 0;
    s.charge.amount = (tamis_coin){.epsilon = s.numbers[0]};
    EVERY_ALLOCATION_FAILS(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), assert_null(charged.measurements));
    assert_string_equal(charged.measurements, "[5]");
    tamis_charged_clear(&charged);
    for (int json = 0; json < 2; json++) {
        EVERY_ALLOCATION_FAILS((json ? tamis_ledger_json : tamis_ledger_text)(&text, ledger, NULL, NULL), assert_null(text));
        tamis_free(text);
        EVERY_ALLOCATION_FAILS((json ? tamis_ledger_entries_json : tamis_ledger_csv)(&text, ledger, NULL), assert_null(text));
        tamis_free(text);
        EVERY_ALLOCATION_FAILS((json ? tamis_ledger_verify_json : tamis_ledger_verify_text)(&ok, &text, path, NULL, 0, NULL),
                               assert_null(text));
        assert_true(ok);
        tamis_free(text);
    }
    EVERY_ALLOCATION_FAILS(tamis_ledger_spending(NULL, &spent, NULL, ledger, 0, NULL), assert_true(isinf(spent.epsilon.upper)));
    s.charge.amount = (tamis_coin){.epsilon = s.numbers[3]}; /* refused */
    for (long k = 1;; k++) {
        fail_allocation(k);
        tamis_status status = tamis_ledger_ask(&charged, ledger,
                                               &(tamis_charge){.survey = "schools",
                                                               .release = "x",
                                                               .frozen = FROZEN,
                                                               .measures = "other",
                                                               .amount = s.charge.amount,
                                                               .budget = s.charge.budget},
                                               NULL);
        if (!allocation_failed()) {
            assert_int_equal(status, TAMIS_REFUSED);
            break;
        }
        assert_int_equal(status, TAMIS_SYSTEM);
    }
    tamis_number *rho = number_of("1/1000");
    s.charge.amount = (tamis_coin){.rho = rho};
    s.charge.again = 1;
    EVERY_ALLOCATION_FAILS(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), assert_null(charged.measurements));
    tamis_number_free(rho);
    EVERY_ALLOCATION_FAILS(tamis_ledger_sample(&eps, &delta, ledger, 0, NULL, NULL), assert_true(!eps && !delta));
    tamis_number_free(eps);
    tamis_number_free(delta);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        IN_A_FOLDER(later_entries_need_a_later_format),
        IN_A_FOLDER(foreign_files),
        IN_A_FOLDER(forged_journals),
        IN_A_FOLDER(there_may_be_nothing_yet),
        IN_A_FOLDER(looking_changes_nothing),
        IN_A_FOLDER(a_ledger_that_is_taken_away),
        IN_A_FOLDER(somebody_holds_it),
        IN_A_FOLDER(read_only_folder),
        IN_A_FOLDER(files_may_not_grow),
        IN_A_FOLDER(disk_is_full),
        IN_A_FOLDER(arguments_are_named),
        IN_A_FOLDER(memory_may_fail),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
