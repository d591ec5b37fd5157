/* Charges that were never published: voided, claimed, and left alone. */
#include "tests/test.h"

#include "base/leftover.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/small_release.h"

/* A charge whose process is gone, with an answer in its folder. */
static int64_t leave_open(small_release *r, const char *measures)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    small_release mine;
    if (small_begin(r ? r : &mine, ledger, measures, true, &err) != TAMIS_OK) fail_msg("%s", err.message);
    const int64_t entry = (r ? r : &mine)->entry;
    tamis_ledger_free(ledger);
    return entry;
}

static void assert_void(int64_t entry, tamis_status status, const char *words)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    const tamis_status found = tamis_ledger_void(ledger, entry, "the power failed", &err);
    if (found != status || (words && !strstr(err.message, words))) fail_msg("%d: %s", (int)found, err.message);
    tamis_ledger_free(ledger);
    char *problems = NULL;
    if (!verifies(&problems)) fail_msg("%s", problems);
    tamis_free(problems);
}

static bool marker_exists(int64_t entry)
{
    char name[200];
    snprintf(name, sizeof name, "%s-charge-%lld", path, (long long)entry);
    return access(name, F_OK) == 0;
}

static double left_of_the_account(void)
{
    tamis_ledger *ledger = open_ledger();
    tamis_spending left;
    assert_int_equal(tamis_ledger_spending(NULL, NULL, &left, ledger, 0, NULL), TAMIS_OK);
    tamis_ledger_free(ledger);
    return left.epsilon.lower;
}

static void a_voided_charge_counts_no_more(void **state)
{
    (void)state;
    small_release r;
    tamis_error err = {0};
    char *text = NULL;
    const int64_t entry = leave_open(&r, "[1]");
    assert_true(left_of_the_account() == 2);
    assert_true(marker_exists(entry) && access(r.temporary, F_OK) == 0);
    assert_void(entry, TAMIS_OK, NULL);
    assert_true(left_of_the_account() == 3);
    assert_false(marker_exists(entry));
    assert_int_not_equal(access(r.temporary, F_OK), 0); /* what it would have published is gone */
    assert_void(entry, TAMIS_REFUSED, "voided already");
    tamis_ledger *ledger = open_ledger();
    assert_int_equal(tamis_ledger_json(&text, ledger, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "\"voided\""));
    assert_non_null(strstr(text, "\"the power failed\""));
    tamis_free(text);
    assert_int_equal(tamis_ledger_text(&text, ledger, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "voided on"));
    tamis_free(text);
    assert_int_equal(tamis_ledger_csv(&text, ledger, NULL), TAMIS_OK);
    assert_non_null(strstr(text, ",voided,,1,0,"));
    assert_non_null(strstr(text, ",the power failed\n"));
    tamis_free(text);
    tamis_ledger_free(ledger);
    assert_int_equal(small_whole("[1]", false, &err), TAMIS_OK); /* it is charged anew: nothing was there to claim */
    assert_true(left_of_the_account() == 2);
}

static void what_cannot_be_voided_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "  \t ", "\u00a0\u3000", "hidden\u200b", "\xff", NULL};
    tamis_error err = {0};
    assert_int_equal(small_whole("[1]", false, &err), TAMIS_OK);
    assert_void(2, TAMIS_REFUSED, "was released on");
    assert_void(1, TAMIS_REFUSED, "not a charge of this ledger"); /* it opens the account */
    assert_void(99, TAMIS_REFUSED, "not a charge of this ledger");
    assert_void(-1, TAMIS_REFUSED, "not a charge of this ledger");
    const int64_t entry = leave_open(NULL, "[2]");
    tamis_ledger *ledger = open_ledger(), *look = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tamis_ledger_void(ledger, entry, bad[i], &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_void(NULL, entry, "x", &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_look(&look, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_void(look, entry, "x", &err), TAMIS_INVALID);
    tamis_ledger_free(look);
    tamis_ledger_free(ledger);
    assert_true(left_of_the_account() == 1);
}

static void the_next_one_claims(void **state)
{
    (void)state;
    small_release first, second;
    tamis_error err = {0};
    size_t published;
    const int64_t entry = leave_open(&first, "[1]");
    tamis_ledger *ledger = open_ledger();
    assert_int_equal(small_begin(&second, ledger, "[2]", false, &err), TAMIS_OK); /* another release pays */
    assert_int_not_equal(second.entry, entry);
    assert_int_equal(small_end(&second, ledger, &err), TAMIS_OK);
    assert_int_equal(small_begin(&second, ledger, "[1]", false, &err), TAMIS_OK);
    assert_int_equal(second.entry, entry);
    assert_true(second.claim > entry);
    assert_int_not_equal(access(first.temporary, F_OK), 0);
    assert_true(left_of_the_account() == 1);
    assert_int_equal(small_end(&second, ledger, &err), TAMIS_OK);
    assert_false(marker_exists(entry));
    assert_int_equal(small_whole("[1]", false, &err), TAMIS_OK); /* the same numbers again */
    tamis_ledger_free(ledger);
    const char *problem = small_problem(&published);
    if (problem) fail_msg("%s", problem);
    assert_int_equal(published, 3);
    assert_true(left_of_the_account() == 1);
}

/* Kept, and its process died before it had published: whoever goes on owns the charge until it has published. */
static void what_was_kept_is_resumed_by_one(void **state)
{
    (void)state;
    small_release r;
    tamis_error err = {0};
    tamis_charged charged = {0};
    tamis_ledger *ledger = open_ledger();
    assert_int_equal(small_begin(&r, ledger, "[1]", false, &err), TAMIS_OK);
    charged.entry = r.entry;
    snprintf(charged.hash, sizeof charged.hash, "%s", tmi_book_charge(&ledger->book, r.entry)->hash);
    assert_int_equal(tmi_ledger_keep(ledger, r.entry, r.answer, NULL, &err), TAMIS_OK);
    tamis_ledger_free(ledger);
    assert_true(marker_exists(r.entry));
    tamis_ledger *first = open_ledger(), *second = open_ledger();
    tmi_ledger_resume(first, &charged, "");
    tmi_ledger_resume(second, &charged, "");
    tmi_ledger_published(second, r.entry); /* it is not the second's */
    assert_true(marker_exists(r.entry));
    tmi_ledger_published(first, r.entry);
    assert_false(marker_exists(r.entry));
    tamis_ledger_free(first);
    tamis_ledger_free(second);
}

/* A claim after a claim, and one that only asks. */
static void a_claim_can_be_claimed(void **state)
{
    (void)state;
    small_release r[3];
    tamis_error err = {0};
    sample_charge s;
    tamis_charged charged;
    const int64_t entry = leave_open(&r[0], "[1]");
    for (int i = 1; i < 3; i++) {
        tamis_ledger *ledger = open_ledger();
        assert_int_equal(small_begin(&r[i], ledger, "[1]", false, &err), TAMIS_OK);
        assert_int_equal(r[i].entry, entry);
        assert_true(r[i].claim > r[i - 1].claim);
        assert_int_not_equal(access(r[i - 1].temporary, F_OK), 0);
        tamis_ledger_free(ledger);
    }
    tamis_ledger *look = NULL;
    assert_int_equal(tamis_ledger_look(&look, path, NULL), TAMIS_OK);
    sample_charge_make(&s, "1", BUDGET, "[1]");
    s.charge.leftover = "";
    assert_int_equal(tamis_ledger_ask(&charged, look, &s.charge, &err), TAMIS_OK);
    assert_int_equal(charged.unpublished, entry);
    assert_int_equal(charged.entry, 0);
    tamis_charged_clear(&charged);
    s.charge.leftover = "relative";
    assert_int_equal(tamis_ledger_ask(&charged, look, &s.charge, &err), TAMIS_INVALID);
    s.charge.leftover = NULL; /* which claims nothing */
    assert_int_equal(tamis_ledger_ask(&charged, look, &s.charge, &err), TAMIS_OK);
    assert_int_equal(charged.unpublished, 0);
    sample_charge_clear(&s);
    tamis_ledger_free(look);
    assert_int_equal(access(r[2].temporary, F_OK), 0); /* asking deletes nothing */
}

static void an_owner_that_lives_is_left_alone(void **state)
{
    (void)state;
    small_release mine, other;
    tamis_error err = {0};
    char *text = NULL;
    tamis_ledger *ledger = open_ledger(), *second = open_ledger();
    assert_int_equal(small_begin(&mine, ledger, "[1]", false, &err), TAMIS_OK);
    assert_void(mine.entry, TAMIS_REFUSED, "still running");
    assert_int_equal(small_begin(&other, second, "[1]", false, &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "another process is making the same numbers"));
    assert_non_null(strstr(err.message, "`release --again` or `tally --repeat charged`")); /* whichever it is */
    assert_int_equal(tamis_ledger_text(&text, second, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "running now"));
    tamis_free(text);
    assert_int_equal(tamis_ledger_released(second, mine.entry, "[]", &err), TAMIS_REFUSED); /* it is not the second's */
    assert_int_equal(small_begin(&other, second, "[1]", true, &err), TAMIS_OK);             /* to pay is always possible */
    assert_int_equal(small_end(&other, second, &err), TAMIS_OK);
    assert_int_equal(small_end(&mine, ledger, &err), TAMIS_OK);
    tamis_ledger_free(ledger);
    tamis_ledger_free(second);
}

/* The lock is lost, as some file system might lose it: the book alone still lets only the last owner publish. */
static void the_book_decides_if_locks_do_not_hold(void **state)
{
    (void)state;
    char line[500];
    for (int voided = 0; voided < 2; voided++) {
        small_release sleeper, other;
        tamis_error err = {0};
        size_t published;
        tamis_ledger *ledger = open_ledger(), *second = open_ledger();
        assert_int_equal(small_begin(&sleeper, ledger, voided ? "[1]" : "[2]", false, &err), TAMIS_OK);
        snprintf(line, sizeof line, "cp '%s-charge-%d' '%s/copy' && mv '%s/copy' '%s-charge-%d'", path, (int)sleeper.entry,
                 folder, folder, path, (int)sleeper.entry);
        assert_int_equal(system(line), 0);
        if (voided) {
            assert_void(sleeper.entry, TAMIS_OK, NULL);
        } else {
            assert_int_equal(small_begin(&other, second, "[2]", false, &err), TAMIS_OK);
            assert_int_equal(other.entry, sleeper.entry);
        }
        assert_int_equal(small_end(&sleeper, ledger, &err), -TAMIS_REFUSED);
        assert_non_null(strstr(err.message, voided ? "was voided" : "claimed by another"));
        if (!voided) assert_int_equal(small_end(&other, second, &err), TAMIS_OK);
        tamis_ledger_free(ledger);
        tamis_ledger_free(second);
        const char *problem = small_problem(&published);
        if (problem) fail_msg("%s", problem);
        assert_int_equal(published, 1); /* of the first round */
    }
}

/* No file, a file about something else, a copied ledger. */
static void an_unknown_owner_is_not_taken_for_dead(void **state)
{
    (void)state;
    char line[500], other[160];
    tamis_error err = {0};
    const int64_t entry = leave_open(NULL, "[1]");
    snprintf(line, sizeof line, "cp '%s' '%s/b.ledger' && cp '%s-charge-%d' '%s/b.ledger-charge-%d'", path, folder, path,
             (int)entry, folder, (int)entry);
    assert_int_equal(system(line), 0);
    snprintf(other, sizeof other, "%s", path);
    snprintf(path, sizeof path, "%.60s/b.ledger", folder);
    assert_void(entry, TAMIS_REFUSED, "not about this charge");
    assert_int_equal(small_whole("[1]", false, &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "--again"));
    snprintf(line, sizeof line, "rm '%s-charge-%d'", path, (int)entry);
    assert_int_equal(system(line), 0);
    assert_void(entry, TAMIS_REFUSED, "is missing");
    assert_int_equal(small_whole("[1]", false, &err), -TAMIS_REFUSED);
    assert_int_equal(small_whole("[1]", true, &err), TAMIS_OK);
    snprintf(path, sizeof path, "%.100s", other);
    assert_void(entry, TAMIS_OK, NULL); /* the one that was copied knows its charge */
}

/* Charges without a lock, as earlier versions made them: voided on the word of the operator, never claimed. */
static void charges_of_earlier_versions(void **state)
{
    (void)state;
    tamis_error err = {0};
    small_release r;
    char *text = NULL;
    tamis_ledger *ledger = open_ledger();
    const int64_t entry = charge_as(ledger, "1", BUDGET, NULL);
    assert_int_equal(small_begin(&r, ledger, "[]", false, &err), TAMIS_OK);
    assert_int_not_equal(r.entry, entry);
    assert_int_equal(r.claim, 0);
    assert_int_equal(tamis_ledger_text(&text, ledger, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "dotted name"));
    tamis_free(text);
    tamis_ledger_free(ledger);
    assert_void(entry, TAMIS_OK, NULL);
}

/* What is at the path of a leftover folder and is none: it stays, and so does the charge. */
static void only_temporary_folders_of_ours_are_deleted(void **state)
{
    (void)state;
    static const char *const setups[] = {
        "rm -r '%1$s' && mkdir '%2$s/precious' && touch '%2$s/precious/x' && ln -s precious '%1$s'",
        "rm -r '%1$s' && echo precious >'%1$s'", "mkdir '%1$s/inner'", NULL, /* the folder that it is in is not there */
    };
    tamis_error err = {0};
    small_release r;
    char line[600], home[TMI_LEFTOVER_HOME];
    const int64_t entry = leave_open(&r, "[1]");
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        if (setups[i]) {
            snprintf(line, sizeof line, setups[i], r.temporary, folder);
            assert_int_equal(system(line), 0);
            assert_void(entry, TAMIS_REFUSED, "cannot be deleted");
            assert_int_equal(small_whole("[1]", false, &err), -TAMIS_REFUSED);
            assert_int_equal(access(r.temporary, F_OK), 0);
            snprintf(line, sizeof line, "rm -rf '%s' && mkdir '%s'", r.temporary, r.temporary);
            assert_int_equal(system(line), 0);
        } else {
            assert_int_equal(tmi_leftover_remove("/nowhere/there/.out.abcdef", "0:1", &err), TAMIS_REFUSED);
            assert_non_null(strstr(err.message, "does not exist"));
        }
    }
    snprintf(line, sizeof line, "%s/precious/x", folder);
    assert_int_equal(access(line, F_OK), 0);
    static const char *const names[] = {"out", ".out", ".out.", ".out.abcde", ".out.abcd-f", "out.abcdef", "..abcdef"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "%s/%s", folder, names[i]);
        assert_int_equal(mkdir(line, 0700), 0);
        assert_true(tmi_leftover_home(home, line));
        assert_int_equal(tmi_leftover_remove(line, home, &err), TAMIS_REFUSED);
        assert_non_null(strstr(err.message, "name of a temporary folder"));
        assert_int_equal(rmdir(line), 0);
    }
    assert_int_equal(tmi_leftover_remove(".out.abcdef", "0:1", &err), TAMIS_REFUSED);
    rmdir(r.temporary); /* gone already is fine */
    assert_void(entry, TAMIS_OK, NULL);
}

/* The folder of an interrupted release was moved away with the folder that it is in: an empty one in its place proves nothing. */
static void a_folder_that_was_moved_is_not_taken_for_deleted(void **state)
{
    (void)state;
    tamis_error err = {0};
    sample_charge s;
    tamis_charged charged;
    char home[160], temporary[200], line[600];
    snprintf(home, sizeof home, "%s/res", folder);
    snprintf(temporary, sizeof temporary, "%s/.out.XXXXXX", home);
    assert_int_equal(mkdir(home, 0700), 0);
    assert_non_null(mkdtemp(temporary));
    tamis_ledger *ledger = open_ledger();
    sample_charge_make(&s, "1", BUDGET, "[1]");
    s.charge.leftover = temporary;
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_OK);
    const int64_t entry = charged.entry;
    tamis_charged_clear(&charged);
    tamis_ledger_free(ledger);
    static const char *const setups[] = {
        "mv '%1$s' '%1$s.away'", "mkdir '%1$s'", "rmdir '%1$s' && cp -r '%1$s.away' '%1$s'", /* nor does a copy */
    };
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        snprintf(line, sizeof line, setups[i], home);
        assert_int_equal(system(line), 0);
        assert_void(entry, TAMIS_REFUSED, "move it back");
        ledger = open_ledger();
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_REFUSED);
        assert_non_null(strstr(err.message, i == 0 ? "does not exist" : "is not the folder that had this name"));
        tamis_ledger_free(ledger);
    }
    snprintf(line, sizeof line, "rm -r '%1$s' && mv '%1$s.away' '%1$s'", home);
    assert_int_equal(system(line), 0);
    assert_void(entry, TAMIS_OK, NULL);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_int_equal(rmdir(home), 0);
    sample_charge_clear(&s);
}

static int64_t open_charge_of(const char *amount, const char *budget)
{
    sample_charge s;
    tamis_charged charged;
    tamis_ledger *ledger = open_ledger();
    sample_charge_make(&s, amount, budget, "[]");
    s.charge.again = 1;
    s.charge.leftover = "";
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
    const int64_t entry = charged.entry;
    tamis_charged_clear(&charged);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
    return entry;
}

/* In an account of (epsilon, delta), what came before the first rho has fixed the cap of the rhos while one of them counts. */
static void a_cap_does_not_move_under_its_filter(void **state)
{
    (void)state;
    const char *budget = "3 1e-6";
    const int64_t pure = open_charge_of("1 1e-7", budget), rho = open_charge_of("rho 1/100", budget),
                  later = open_charge_of("1/10", budget);
    assert_void(pure, TAMIS_REFUSED, "before the account's first release with rho");
    assert_void(rho, TAMIS_OK, NULL);
    tamis_ledger *ledger = open_ledger();
    const tmi_sums *sums = &ledger->book.accounts[0].losses.base;
    tamis_number *one = number_of("1");
    assert_true(sums->concentrated); /* the tenth was charged as a rho, and stays one */
    assert_true(fabs(tmi_number_nearest(sums->rho) / (0.1 * tanh(0.05)) - 1) < 1e-8);
    assert_int_equal(tmi_number_compare(sums->eps, one), 0);
    tamis_ledger_free(ledger);
    assert_void(pure, TAMIS_REFUSED, "before the account's first release with rho");
    assert_void(later, TAMIS_OK, NULL); /* nothing has run under the cap */
    ledger = open_ledger();
    assert_false(ledger->book.accounts[0].losses.base.concentrated);
    tamis_ledger_free(ledger);
    const int64_t again = open_charge_of("1/10 1e-7", budget); /* epsilons and deltas add up again */
    assert_void(pure, TAMIS_OK, NULL);
    assert_void(again, TAMIS_OK, NULL);
    tamis_number_free(one);
}

/* The same where the first Gaussian charge has begun a filter of mu^2: what was charged after it stays counted so. */
static void a_filter_of_mu_stays_one(void **state)
{
    (void)state;
    const char *budget = "3 1e-6";
    const int64_t pure = open_charge_of("1 1e-7", budget), normal = open_charge_of("rho 1/100 mu 1/50", budget),
                  later = open_charge_of("1/10 mu 1/100", budget);
    assert_void(pure, TAMIS_REFUSED, "before the account's first release with normal noise");
    assert_void(normal, TAMIS_OK, NULL);
    tamis_ledger *ledger = open_ledger();
    const tmi_sums *sums = &ledger->book.accounts[0].losses.base;
    tamis_number *hundredth = number_of("1/100");
    assert_true(sums->mu_squared && tmi_number_compare(sums->mu_squared, hundredth) == 0);
    assert_int_equal(charge_as(ledger, "rho 1/100", budget, NULL), -TAMIS_REFUSED);
    tamis_ledger_free(ledger);
    assert_void(later, TAMIS_OK, NULL);
    const int64_t rho = open_charge_of("rho 1/100", budget); /* nothing has run: the other filter may begin */
    ledger = open_ledger();
    assert_null(ledger->book.accounts[0].losses.base.mu_squared);
    tamis_ledger_free(ledger);
    assert_void(rho, TAMIS_OK, NULL);
    assert_void(pure, TAMIS_OK, NULL);
    tamis_number_free(hundredth);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    small_release r;
    const int64_t entry = leave_open(&r, "[1]");
    tamis_ledger *ledger = open_ledger();
    sample_charge s;
    tamis_charged charged;
    sample_charge_make(&s, "1", BUDGET, "[1]");
    s.charge.leftover = "";
    EVERY_ALLOCATION_FAILS(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), {
        assert_null(charged.measurements);
        tamis_ledger_free(ledger); /* a claim that was committed is given up */
        ledger = open_ledger();
    });
    assert_int_equal(charged.entry, entry);
    tamis_charged_clear(&charged);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
    ledger = open_ledger();
    for (long k = 1;; k++) {
        fail_allocation(k);
        const tamis_status status = tamis_ledger_void(ledger, entry, "no memory", NULL);
        if (!allocation_failed()) break;
        assert_true(status == TAMIS_SYSTEM || status == TAMIS_REFUSED); /* refused: voided, and the failure came after that */
        tamis_ledger_free(ledger);
        ledger = open_ledger();
    }
    tamis_ledger_free(ledger);
    assert_true(left_of_the_account() == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_voided_charge_counts_no_more),
        IN_A_FOLDER(what_cannot_be_voided_is_refused),
        IN_A_FOLDER(the_next_one_claims),
        IN_A_FOLDER(what_was_kept_is_resumed_by_one),
        IN_A_FOLDER(a_claim_can_be_claimed),
        IN_A_FOLDER(an_owner_that_lives_is_left_alone),
        IN_A_FOLDER(the_book_decides_if_locks_do_not_hold),
        IN_A_FOLDER(an_unknown_owner_is_not_taken_for_dead),
        IN_A_FOLDER(charges_of_earlier_versions),
        IN_A_FOLDER(only_temporary_folders_of_ours_are_deleted),
        IN_A_FOLDER(a_folder_that_was_moved_is_not_taken_for_deleted),
        IN_A_FOLDER(a_cap_does_not_move_under_its_filter),
        IN_A_FOLDER(a_filter_of_mu_stays_one),
        IN_A_FOLDER(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
