/* Budgets that are raised, waves, and rotation groups. */
#include "tests/test.h"

#include <inttypes.h>

#include "base/memory.h"
#include "ledger/against.h"
#include "ledger/ledger.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"

/* Charges to a wave (JSON, or NULL); the entry's number, or minus the status. */
static int64_t charge_wave(tamis_ledger *ledger, const char *wave, const char *amount, const char *budget, tamis_error *err)
{
    sample_charge s;
    tamis_charged charged;
    sample_charge_make(&s, amount, budget, "[]");
    s.charge.again = 1;
    s.charge.wave = wave;
    tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, err);
    const int64_t entry = status == TAMIS_OK ? charged.entry : -(int64_t)status;
    tamis_charged_clear(&charged);
    sample_charge_clear(&s);
    return entry;
}

static tamis_status raise_to(tamis_ledger *ledger, const char *survey, const char *budget, const char *reason, tamis_error *err)
{
    tamis_number *numbers[2] = {NULL, NULL};
    const tamis_coin coin = coin_of(numbers, budget);
    tamis_status status = tamis_ledger_raise(ledger, survey, &coin, reason, err);
    tamis_number_free(numbers[0]);
    tamis_number_free(numbers[1]);
    return status;
}

static void a_budget_is_raised_on_record(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    char *text, *problems;
    (void)state;
    assert_int_equal(raise_to(ledger, "schools", "4", "too early", &err), TAMIS_REFUSED); /* no account yet */
    assert_int_equal(charge_as(ledger, "2", "2", &err), 2);
    assert_int_equal(charge_as(ledger, "1", "2", &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "tamis ledger raise"));
    assert_null(strstr(err.message, "another survey name"));
    assert_int_equal(charge_as(ledger, "1", "4", &err), -TAMIS_REFUSED); /* a plan does not raise it */
    assert_non_null(strstr(err.message, "--epsilon 4 --reason"));
    static const char *const wrong[] = {"2", "1", "4 1e-6", "rho 4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(raise_to(ledger, "schools", wrong[i], "why", &err), TAMIS_REFUSED);
    static const char *const no_reason[] = {"", " \xc2\xa0",
                                            "a\xe2\x80\xae"
                                            "b",
                                            NULL};
    for (size_t i = 0; i < sizeof no_reason / sizeof *no_reason; i++)
        assert_int_equal(raise_to(ledger, "schools", "4", no_reason[i], &err), TAMIS_INVALID);
    assert_int_equal(raise_to(ledger, "pupils", "4", "why", &err), TAMIS_REFUSED);
    assert_int_equal(raise_to(ledger, "schools", "4", "the board's decision", &err), TAMIS_OK);
    assert_int_equal(charge_as(ledger, "1", "4", &err), 4);                /* entry 3 is the raise */
    assert_int_equal(charge_as(ledger, "1/4", "3", &err), -TAMIS_REFUSED); /* beyond the plan's own budget, which may be lower */
    assert_non_null(strstr(err.message, "plan's own budget of epsilon 3"));
    assert_int_equal(charge_as(ledger, "1/4", "13/4", &err), 5);
    assert_int_equal(charge_as(ledger, "3/4", "4", &err), 6);
    assert_int_equal(charge_as(ledger, "1/1000", "4", &err), -TAMIS_REFUSED);
    assert_int_equal(tamis_ledger_json(&text, ledger, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "\"reason\": \"the board's decision\""));
    tamis_free(text);
    tamis_ledger_free(ledger);
    if (!verifies(&problems)) fail_msg("%s", problems);
    tamis_free(problems);
}

/* Of (epsilon, delta): one number larger, none smaller. */
static void both_numbers_of_a_budget_may_be_raised(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    (void)state;
    assert_int_equal(charge_as(ledger, "1 1e-7", "1 1e-6", &err), 2);
    static const char *const wrong[] = {"1 1e-6", "2 1e-7", "1/2 1e-5", "2", "rho 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(raise_to(ledger, "schools", wrong[i], "why", &err), TAMIS_REFUSED);
    assert_int_equal(charge_as(ledger, "rho 1/100", "1 1e-6", &err), -TAMIS_REFUSED); /* nothing of epsilon is left */
    assert_int_equal(raise_to(ledger, "schools", "1 1e-5", "why", &err), TAMIS_OK);
    assert_int_equal(raise_to(ledger, "schools", "2 1e-5", "why", &err), TAMIS_OK);
    assert_int_equal(charge_as(ledger, "rho 1/100", "2 1e-5", &err), 5); /* at the new cap */
    assert_int_equal(raise_to(ledger, "schools", "3 1e-5", "why", &err), TAMIS_OK);
    assert_int_equal(charge_as(ledger, "rho 1/50", "3 1e-5", &err), 7);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* A raise that was put into the file after the charge it was needed for does not hide that. */
static void a_raise_does_not_cover_what_came_before(void **state)
{
    tmi_ledger_account a = {0};
    tmi_ledger_coin amount = {0};
    tamis_number *numbers[4] = {NULL};
    tamis_coin two = coin_of(numbers, "2"), three = coin_of(numbers + 2, "3");
    tmi_value *four;
    tamis_error err = {0};
    (void)state;
    assert_int_equal(tmi_coin_make(&a.budget, &two, "budget", NULL), TAMIS_OK);
    assert_int_equal(tmi_coin_make(&amount, &three, "amount", NULL), TAMIS_OK);
    assert_int_equal(tmi_losses_begin(&a.losses, &a.budget, NULL), TAMIS_OK);
    assert_int_equal(tmi_losses_charge(&a.losses, &a.budget, &amount, NULL, 0, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_read(&four, "{\"epsilon\": \"4\"}", 16, NULL), TAMIS_OK);
    assert_int_equal(tmi_account_raised(&a, 3, "2026-11-16T10:00:01Z", four, "why", &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "budget at the time"));
    tmi_value_free(four);
    tmi_coin_clear(&amount);
    tmi_coin_clear(&a.budget);
    tmi_losses_clear(&a.losses);
    for (size_t i = 0; i < 4; i++) tamis_number_free(numbers[i]);
}

/* Two groups, each the worst in one number: the words say the ends of both, and what is left of both. */
static void words_of_groups_that_are_worst_by_turns(void **state)
{
    static char *const groups[] = {"first", "second"};
    static const char *const amounts[] = {"2 1/8", "1 1/4"};
    tamis_number *numbers[2] = {NULL};
    const tamis_coin given = coin_of(numbers, "4 3/4");
    tmi_ledger_coin budget;
    tmi_losses losses;
    tamis_spending spent, left;
    (void)state;
    assert_int_equal(tmi_coin_make(&budget, &given, "budget", NULL), TAMIS_OK);
    assert_int_equal(tmi_losses_begin(&losses, &budget, NULL), TAMIS_OK);
    for (size_t i = 0; i < 2; i++) {
        tamis_number *own[2] = {NULL};
        const tamis_coin coin = coin_of(own, amounts[i]);
        tmi_ledger_coin amount;
        assert_int_equal(tmi_coin_make(&amount, &coin, "amount", NULL), TAMIS_OK);
        assert_int_equal(tmi_losses_charge(&losses, &budget, &amount, &groups[i], 1, NULL), TAMIS_OK);
        tmi_coin_clear(&amount);
        for (size_t j = 0; j < 2; j++) tamis_number_free(own[j]);
    }
    assert_int_equal(tmi_losses_spending(&spent, &left, &losses, &budget, NULL), TAMIS_OK);
    assert_string_equal(spent.words, "epsilon 2, delta 0.25");
    assert_string_equal(left.words, "epsilon 2, delta 0.5");
    tmi_losses_clear(&losses);
    tmi_coin_clear(&budget);
    for (size_t j = 0; j < 2; j++) tamis_number_free(numbers[j]);
}

/* What a certificate says of an account with groups, against the book. A group that was named and not charged has what everybody
 * has; after its release each group of the certificate is one of the book. */
static void a_certificate_states_the_sum_of_each_group(void **state)
{
    static char *const north[] = {"north"};
    static const struct {
        const char *account;
        bool before, after;
    } said[] = {
        {"{\"%s\": {\"epsilon\": \"1\"}, \"groups\": [{\"group\": \"north\", \"%s\": {\"epsilon\": \"3\"}}]}", true, true},
        {"{\"%s\": {\"epsilon\": \"1\"}, \"groups\": [{\"group\": \"north\", \"%s\": {\"epsilon\": \"1\"}}]}", false, false},
        {"{\"%s\": {\"epsilon\": \"3\"}, \"groups\": [{\"group\": \"north\", \"%s\": {\"epsilon\": \"3\"}}]}", false, false},
        {"{\"%s\": {\"epsilon\": \"1\"}, \"groups\": [{\"group\": \"south\", \"%s\": {\"epsilon\": \"3\"}}]}", false, false},
        {"{\"%s\": {\"epsilon\": \"1\"}}", false, false},
        {"{\"%s\": {\"epsilon\": \"1\"}, \"groups\": [{\"group\": \"north\", \"%s\": {\"epsilon\": \"3\"}}, "
         "{\"group\": \"south\", \"%s\": {\"epsilon\": \"1\"}}]}",
         true, false},
        {"{\"%s\": {\"epsilon\": \"1\"}, \"groups\": [{\"group\": \"north\", \"%s\": {\"epsilon\": \"3\"}}, "
         "{\"group\": \"south\", \"%s\": {\"epsilon\": \"3\"}}]}",
         false, false},
    };
    tamis_number *numbers[6] = {NULL};
    const tamis_coin coins[] = {coin_of(numbers, "4"), coin_of(numbers + 2, "1"), coin_of(numbers + 4, "2")};
    tmi_ledger_coin budget, amounts[2];
    tmi_losses losses;
    (void)state;
    assert_int_equal(tmi_coin_make(&budget, &coins[0], "budget", NULL), TAMIS_OK);
    assert_int_equal(tmi_losses_begin(&losses, &budget, NULL), TAMIS_OK);
    for (size_t i = 0; i < 2; i++) { /* everybody, then the north */
        assert_int_equal(tmi_coin_make(&amounts[i], &coins[1 + i], "amount", NULL), TAMIS_OK);
        assert_int_equal(tmi_losses_charge(&losses, &budget, &amounts[i], north, i, NULL), TAMIS_OK);
        tmi_coin_clear(&amounts[i]);
    }
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        for (int after = 0; after < 2; after++) {
            const char *when = after ? "after" : "before";
            char text[400];
            tmi_value *account;
            bool same;
            const int length = snprintf(text, sizeof text, said[i].account, when, when, when);
            assert_int_equal(tmi_json_read(&account, text, (size_t)length, NULL), TAMIS_OK);
            assert_int_equal(tmi_losses_says(&same, &losses, account, when, NULL), TAMIS_OK);
            if (same != (after ? said[i].after : said[i].before)) fail_msg("%s: %d", text, (int)same);
            tmi_value_free(account);
        }
    }
    tmi_losses_clear(&losses);
    tmi_coin_clear(&budget);
    for (size_t j = 0; j < 6; j++) tamis_number_free(numbers[j]);
}

static bool is(const tamis_number *x, const char *text)
{
    if (!x || !text) return !x == !text;
    tamis_number *y = number(text);
    const bool same = tmi_number_compare(x, y) == 0;
    tamis_number_free(y);
    return same;
}

/* What is known of a loss beyond its epsilon and delta: the largest of each part over all groups; nothing where a delta was
 * charged, and mu^2 only where nobody's loss counts in rho. */
static void the_parts_of_a_loss(void **state)
{
    typedef struct charge {
        const char *amount, *mu_squared;
        char *group;
    } charge;
    static const struct {
        const char *budget;
        charge charges[3];
        const char *pure, *mu_squared, *rho;
    } cases[] = {
        {"4 1/2", {{"1", NULL, NULL}}, NULL, NULL, NULL},
        {"4 1/2", {{"1", NULL, NULL}, {"rho 1/8", "1/4", NULL}}, "1", "1/4", NULL},
        {"4 1/2", {{"1 1/100", NULL, NULL}, {"rho 1/8", "1/4", NULL}}, NULL, NULL, NULL},
        {"4 1/2", {{"1", NULL, NULL}, {"rho 1/8", NULL, NULL}}, "1", NULL, "1/8"},
        {"4 1/2", {{"rho 1/8", "1/4", "north"}, {"rho 1/16", NULL, "south"}}, "0", NULL, "1/8"},
        {"4 1/2", {{"rho 1/8", "1/4", "north"}, {"rho 1/5", NULL, "south"}}, "0", NULL, "1/5"},
        {"4 1/2", {{"rho 1/8", "1/4", "north"}, {"rho 1/5", "2/5", "south"}, {"rho 1/16", "1/8", NULL}}, "0", "21/40", NULL},
        {"4 1/2", {{"1", NULL, NULL}, {"1/2", NULL, "south"}, {"rho 1/8", "1/4", "north"}}, "3/2", "1/4", NULL},
        {"4 1/2", {{"1/2 1/100", NULL, "south"}, {"rho 1/8", "1/4", "north"}}, NULL, NULL, NULL},
        {"rho 2", {{"rho 1/3", NULL, NULL}, {"rho 1/3", "2/3", NULL}}, "0", NULL, "2/3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_number *numbers[2] = {NULL};
        const tamis_coin given = coin_of(numbers, cases[i].budget);
        tmi_ledger_coin budget;
        tmi_losses losses;
        tmi_loss_parts parts;
        assert_int_equal(tmi_coin_make(&budget, &given, "budget", NULL), TAMIS_OK);
        assert_int_equal(tmi_losses_begin(&losses, &budget, NULL), TAMIS_OK);
        for (const charge *c = cases[i].charges; c < cases[i].charges + 3 && c->amount; c++) {
            tamis_number *own[2] = {NULL}, *mu_squared = c->mu_squared ? number(c->mu_squared) : NULL;
            const tamis_coin coin = coin_of(own, c->amount);
            tmi_ledger_coin amount;
            assert_int_equal(tmi_coin_make(&amount, &coin, "amount", NULL), TAMIS_OK);
            if (mu_squared) assert_int_equal(tmi_coin_set_mu(&amount, mu_squared, "amount", NULL), TAMIS_OK);
            char *group = c->group;
            assert_int_equal(tmi_losses_charge(&losses, &budget, &amount, &group, group ? 1 : 0, NULL), TAMIS_OK);
            tmi_coin_clear(&amount);
            for (size_t j = 0; j < 2; j++) tamis_number_free(own[j]);
            tamis_number_free(mu_squared);
        }
        EVERY_ALLOCATION_FAILS(tmi_losses_parts(&parts, &losses, NULL), assert_null(parts.pure));
        if (!is(parts.pure, cases[i].pure) || !is(parts.mu_squared, cases[i].mu_squared) || !is(parts.rho, cases[i].rho))
            fail_msg("%zu", i);
        tmi_loss_parts_clear(&parts);
        tmi_losses_clear(&losses);
        tmi_coin_clear(&budget);
        for (size_t j = 0; j < 2; j++) tamis_number_free(numbers[j]);
    }
}

static void waves_add_up(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    const char *reason;
    char *text;
    (void)state;
    assert_int_equal(charge_wave(ledger, NULL, "1", "4", &err), 2); /* before the survey had waves */
    assert_int_equal(charge_wave(ledger, "{\"name\": \"Q1\"}", "1", "4", &err), 4);
    assert_int_equal(charge_wave(ledger, "{\"name\": \"Q2\"}", "1", "4", &err), 6);
    assert_int_equal(charge_wave(ledger, "{\"name\": \"Q1\"}", "1/2", "4", &err), 7);
    assert_int_equal(charge_wave(ledger, NULL, "1/4", "4", &err), 8);
    assert_int_equal(charge_wave(ledger, "{\"name\": \"Q3\"}", "1/2", "4", &err), -TAMIS_REFUSED);
    /* fixed */
    assert_int_equal(charge_wave(ledger, "{\"name\": \"Q2\", \"groups\": [\"A\"]}", "1/8", "4", &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "'wave'"));
    assert_null(tamis_ledger_design(&reason, ledger, 0));
    assert_non_null(strstr(reason, "same sample"));
    static const char *const no_wave[] = {"{}",
                                          "[]",
                                          "{\"name\": \"\"}",
                                          "{\"name\": \" \"}",
                                          "{\"name\": \"Q\", \"x\": 1}",
                                          "{\"name\": \"Q\", \"groups\": []}",
                                          "{\"name\": \"Q\", \"groups\": [\"A\", \"A\"]}",
                                          "{\"name\": \"Q\", \"same_sample\": 1}"};
    for (size_t i = 0; i < sizeof no_wave / sizeof *no_wave; i++)
        assert_int_equal(charge_wave(ledger, no_wave[i], "1/8", "4", &err), -TAMIS_INVALID);
    assert_int_equal(tamis_ledger_csv(&text, ledger, NULL), TAMIS_OK);
    assert_non_null(strstr(text, ",schools,Q1,plan.yaml,"));
    tamis_free(text);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* Each wave has a design of its own; whom the promise is about is the same in all of them. */
static void what_is_fixed_by_wave_and_what_by_survey(void **state)
{
    static const struct {
        const char *wave, *frozen;
        tamis_status status;
    } cases[] = {
        {"{\"name\": \"Q1\"}", "{\"unit\": \"u\", \"design\": 1, \"protect\": \"sample\"}", TAMIS_OK},
        {NULL, "{\"unit\": \"u\", \"design\": 1, \"protect\": \"sample\"}", TAMIS_REFUSED}, /* this survey names its waves */
        {"{\"name\": \"Q1\"}", "{\"unit\": \"u\", \"design\": 2, \"protect\": \"sample\"}", TAMIS_REFUSED},
        {"{\"name\": \"Q2\"}", "{\"unit\": \"v\", \"design\": 2, \"protect\": \"sample\"}", TAMIS_REFUSED},
        {"{\"name\": \"Q2\"}", "{\"unit\": \"u\", \"design\": 2, \"protect\": \"frame\"}", TAMIS_REFUSED},
        {"{\"name\": \"Q2\"}", "{\"unit\": \"u\", \"design\": 2}", TAMIS_REFUSED},
        {"{\"name\": \"Q2\", \"same_sample\": true}", "{\"unit\": \"u\", \"design\": 2, \"protect\": \"sample\"}", TAMIS_REFUSED},
        {"{\"name\": \"Q2\", \"same_sample\": true}", "{\"unit\": \"u\", \"design\": 1, \"protect\": \"sample\"}", TAMIS_OK},
        {"{\"name\": \"Q3\"}", "{\"unit\": \"u\", \"design\": 3, \"protect\": \"sample\"}", TAMIS_OK},
    };
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    int64_t last = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_charge s;
        tamis_charged charged;
        sample_charge_make(&s, "1/4", "4", "[]");
        s.charge.wave = cases[i].wave;
        s.charge.frozen = cases[i].frozen;
        const tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, &err);
        if (status != cases[i].status) fail_msg("case %zu: %d, %s", i, (int)status, err.message);
        if (status == TAMIS_OK) last = charged.entry;
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
    }
    /* a wave of which nothing was ever released: the refusal says what can be done */
    for (int voided = 0; voided < 2; voided++) {
        sample_charge s;
        tamis_charged charged;
        sample_charge_make(&s, "1/4", "4", "[]");
        s.charge.wave = "{\"name\": \"Q3\"}";
        s.charge.frozen = "{\"unit\": \"u\", \"design\": 4, \"protect\": \"sample\"}";
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_REFUSED);
        assert_non_null(strstr(err.message, "'design'"));
        assert_non_null(strstr(err.message, voided ? "give it another name" : "Use the fixed value"));
        if (!voided) assert_int_equal(tamis_ledger_void(ledger, last, "a wrong design", &err), TAMIS_OK);
        sample_charge_clear(&s);
    }
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

static void the_same_sample_is_amplified_once(void **state)
{
    const char *waves[] = {"{\"name\": \"Q1\"}", "{\"name\": \"Q2\", \"same_sample\": true}", "{\"name\": \"Q3\"}"};
    tamis_ledger *ledger = open_ledger();
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        sample_charge s;
        tamis_charged charged;
        const char *reason;
        sample_charge_make(&s, "1/4", "4", "[]");
        s.charge.wave = waves[i];
        s.charge.frozen = "{\"unit\": \"u\", \"outsider\": {\"design\": {\"srs\": {\"population\": 9, \"sample\": 3}}}}";
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
        assert_int_equal(tamis_ledger_design(&reason, ledger, 0) != NULL, i < 2);
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
    }
    tamis_ledger_free(ledger);
}

/* ---- rotation groups ---- */

#define GROUPS 4
#define WAVES 6
#define CHARGES 40

/* Against the definition: for each group, the sum over all charges to waves that contain it; random rotations, random charges in
 * eighths, some of them voided later, and a charge is taken exactly if every group stays within the budget of 3. */
static void the_loss_is_the_largest_over_groups(void **state)
{
    uint64_t random = 12345;
    (void)state;
    for (int round = 0; round < (int)test_size(4, 60); round++) {
        tamis_ledger *ledger = open_ledger();
        unsigned in[WAVES]; /* the groups of a wave, as bits; 0: all people */
        int sums[GROUPS] = {0}, everybody = 0, paid[CHARGES] = {0};
        int64_t entries[CHARGES] = {0};
        size_t waves[CHARGES] = {0};
        bool named[GROUPS] = {false};
        char names[WAVES][128];
        for (size_t w = 0; w < WAVES; w++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            in[w] = (unsigned)(random >> 40) % (1u << GROUPS);
            int length = snprintf(names[w], sizeof names[w], "{\"name\": \"w%zu\"%s", w, in[w] ? ", \"groups\": [" : "");
            for (unsigned g = 0, n = 0; g < GROUPS; g++)
                if (in[w] >> g & 1)
                    length += snprintf(names[w] + length, sizeof names[w] - (size_t)length, "%s\"%c\"", n++ ? ", " : "",
                                       'A' + (int)g);
            snprintf(names[w] + length, sizeof names[w] - (size_t)length, "%s}", in[w] ? "]" : "");
        }
        for (size_t i = 0; i < CHARGES; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const size_t w = (size_t)(random >> 33) % WAVES;
            const int eighths = 1 + (int)(random >> 50) % 5;
            char amount[16];
            bool fits = in[w] || everybody + eighths <= 24;
            for (unsigned g = 0; g < GROUPS; g++)
                if (in[w] ? in[w] >> g & 1 : named[g]) fits = fits && sums[g] + eighths <= 24;
            snprintf(amount, sizeof amount, "%d/8", eighths);
            const int64_t entry = charge_wave(ledger, names[w], amount, "3", NULL);
            assert_int_equal(entry > 0, fits);
            if (!fits) continue;
            for (unsigned g = 0; g < GROUPS; g++) {
                if (!in[w] || in[w] >> g & 1) sums[g] += eighths; /* also of groups that are named later */
                named[g] = named[g] || (in[w] >> g & 1);
            }
            if (!in[w]) everybody += eighths;
            entries[i] = entry, waves[i] = w, paid[i] = eighths;
            const size_t back = (size_t)(random >> 20) % CHARGES; /* one charge in some is given back */
            if (entries[back] > 0) {
                assert_int_equal(tamis_ledger_void(ledger, entries[back], "the power failed", NULL), TAMIS_OK);
                for (unsigned g = 0; g < GROUPS; g++)
                    if (!in[waves[back]] || in[waves[back]] >> g & 1) sums[g] -= paid[back];
                if (!in[waves[back]]) everybody -= paid[back];
                entries[back] = 0;
            }
            int worst = everybody;
            for (unsigned g = 0; g < GROUPS; g++) worst = named[g] && sums[g] > worst ? sums[g] : worst;
            tamis_spending spent, left;
            assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
            assert_true(spent.epsilon.upper == worst / 8.0 && left.epsilon.lower == 3 - worst / 8.0);
        }
        tamis_ledger_free(ledger);
        ledger = open_ledger(); /* the same from the file */
        tamis_number *eps, *delta;
        int worst = everybody;
        for (unsigned g = 0; g < GROUPS; g++) worst = named[g] && sums[g] > worst ? sums[g] : worst;
        assert_int_equal(tamis_ledger_sample(&eps, &delta, ledger, 0, NULL, NULL), TAMIS_OK);
        assert_true(tmi_number_up(eps) == worst / 8.0);
        tamis_number_free(eps);
        tamis_number_free(delta);
        tamis_ledger_free(ledger);
        assert_true(verifies(NULL));
        unlink(path);
    }
}

/* A group counts in rho from its own first rho on. */
static void groups_convert_by_themselves(void **state)
{
    static const char a[] = "{\"name\": \"1\", \"groups\": [\"A\"]}", b[] = "{\"name\": \"2\", \"groups\": [\"B\"]}";
    tamis_ledger *ledger = open_ledger();
    tamis_spending spent, left;
    char *text;
    (void)state;
    assert_int_equal(charge_wave(ledger, a, "rho 1/100", "1 1e-6", NULL), 2);
    assert_int_equal(charge_wave(ledger, a, "1/8 1e-9", "1 1e-6", NULL), -TAMIS_REFUSED); /* no delta after a rho */
    assert_int_equal(charge_wave(ledger, b, "1/2 1e-9", "1 1e-6", NULL), 4);
    assert_int_equal(charge_wave(ledger, "{\"name\": \"3\"}", "1/4", "1 1e-6", NULL), -TAMIS_REFUSED); /* as rho too much for A */
    assert_int_equal(charge_wave(ledger, "{\"name\": \"3\"}", "1/20", "1 1e-6", NULL), 6);
    assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    assert_true(spent.epsilon.upper > 0.55 && spent.rho.upper > 0.0112 && left.rho.lower < 0.02);
    for (int json = 0; json < 2; json++) {
        assert_int_equal((json ? tamis_ledger_json : tamis_ledger_text)(&text, ledger, NULL, NULL), TAMIS_OK);
        assert_non_null(strstr(text, json ? "\"group\": \"B\"" : "group B: spent epsilon 0.55"));
        tamis_free(text);
    }
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* The same source is the same people: they cannot be in other groups there. */
static void a_source_keeps_its_groups(void **state)
{
    static const struct {
        const char *wave, *source;
        int entry;
    } cases[] = {
        {"{\"name\": \"1\", \"groups\": [\"A\"]}", "[\"file a.csv\"]", 2},
        {"{\"name\": \"2\", \"groups\": [\"B\"]}", "[\"file a.csv\"]", -TAMIS_REFUSED},
        {"{\"name\": \"2\", \"groups\": [\"A\", \"B\"]}", "[\"file b.csv\", \"file a.csv\"]", -TAMIS_REFUSED},
        {"{\"name\": \"2\", \"groups\": [\"B\"]}", "[\"file b.csv\"]", 4},
        {"{\"name\": \"2\", \"groups\": [\"B\"]}", "[\"file a.csv\"]", -TAMIS_REFUSED},
        {"{\"name\": \"1\", \"groups\": [\"A\"]}", "[\"file c.csv\"]", 5}, /* noted with the charge */
        {"{\"name\": \"2\", \"groups\": [\"B\"]}", "[\"file c.csv\"]", -TAMIS_REFUSED},
        {"{\"name\": \"3\", \"groups\": [\"A\"]}", "[\"file a.csv\"]", 7},
        {"{\"name\": \"4\"}", "[\"file a.csv\"]", 9}, /* everybody */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_ledger *ledger = open_ledger(); /* from the file, each time */
        sample_charge s;
        tamis_charged charged;
        sample_charge_make(&s, "1/8", "3", "[]");
        s.charge.again = 1;
        s.charge.wave = cases[i].wave;
        s.charge.source = cases[i].source;
        tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, NULL);
        assert_int_equal(status == TAMIS_OK ? (int)charged.entry : -(int)status, cases[i].entry);
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
        tamis_ledger_free(ledger);
    }
    assert_true(verifies(NULL));
}

/* Two names of one file are one source; a copy is another one. */
static void a_link_is_no_other_source(void **state)
{
    static const struct {
        const char *survey, *wave, *source;
        int entry;
    } cases[] = {
        {"s", "{\"name\": \"1\", \"groups\": [\"A\"]}", "[\"file in/a.csv\"]", 2},
        {"s", "{\"name\": \"2\", \"groups\": [\"B\"]}", "[\"file link.csv\"]", -TAMIS_REFUSED},
        {"s", "{\"name\": \"2\", \"groups\": [\"B\"]}", "[\"file link.csv table t\"]", 4}, /* another table of it */
        {"s", "{\"name\": \"3\", \"groups\": [\"C\"]}", "[\"file in/a.csv table t\"]", -TAMIS_REFUSED},
        {"s", "{\"name\": \"3\", \"groups\": [\"C\"]}", "[\"file copy.csv\"]", 6},
        {"s", "{\"name\": \"1\", \"groups\": [\"A\"]}", "[\"file link.csv\"]", 7}, /* the same groups */
        {"t", NULL, "[\"file link.csv\"]", -TAMIS_REFUSED},                        /* a second account */
        {"t", NULL, "[\"file other copy.csv\"]", 9},
    };
    char line[700];
    (void)state;
    snprintf(line, sizeof line,
             "cd '%s' && mkdir in && echo x >in/a.csv && ln in/a.csv link.csv && cp link.csv copy.csv && cp link.csv "
             "'other copy.csv'",
             folder);
    assert_int_equal(system(line), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_ledger *ledger = open_ledger();
        sample_charge s;
        tamis_charged charged;
        tamis_error err = {0};
        sample_charge_make(&s, "1/8", "3", "[]");
        s.charge.survey = cases[i].survey;
        s.charge.again = 1;
        s.charge.wave = cases[i].wave;
        s.charge.source = cases[i].source;
        tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, &err);
        if ((status == TAMIS_OK ? (int)charged.entry : -(int)status) != cases[i].entry) fail_msg("case %zu: %s", i, err.message);
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
        tamis_ledger_free(ledger);
    }
    assert_true(verifies(NULL));
}

/* What the ledger finds wrong with a certificate; freed by the caller. */
static char *problems_of(const char *certificate)
{
    char name[160], *problems = NULL;
    int ok;
    snprintf(name, sizeof name, "%s/certificate.json", folder);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(certificate, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tamis_ledger_verify_text(&ok, &problems, path, (const char *[]){name}, 1, NULL), TAMIS_OK);
    assert_int_equal(unlink(name), 0);
    return problems;
}

/* Whether a certificate of a charge, which says little else, is contradicted in what it says of the waves. */
static bool waves_differ(int64_t entry, const char *hash, const char *waves)
{
    char text[800];
    snprintf(text, sizeof text,
             "{\"ledger\": {\"entry\": %" PRId64
             ", \"hash\": \"%s\", \"created\": %s}, \"plan\": {\"budget\": {\"epsilon\": \"4\"}}, "
             "\"account\": {\"cap\": {\"epsilon\": \"4\"}, \"waves\": [%s]}}",
             entry, hash, entry == 2 ? "true" : "false", waves);
    char *problems = problems_of(text);
    const bool differ = strstr(problems, "account.waves") != NULL;
    tamis_free(problems);
    return differ;
}

/* The cap of an account and how it was raised, word by word. */
static void a_certificate_lists_the_raises_of_its_moment(void **state)
{
    static const struct {
        const char *entry, *reason, *from, *to, *cap;
        bool right;
    } cases[] = {{"3", "why", "4", "6", "6", true},  {"2", "why", "4", "6", "6", false}, {"3", "who", "4", "6", "6", false},
                 {"3", "why", "3", "6", "6", false}, {"3", "why", "4", "7", "6", false}, {"3", "why", "4", "6", "7", false},
                 {"3", "why", "4", "6", "4", false}};
    tamis_ledger *ledger = open_ledger();
    (void)state;
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 2);
    assert_int_equal(raise_to(ledger, "schools", "6", "why", NULL), TAMIS_OK);
    assert_int_equal(charge_as(ledger, "1", "6", NULL), 4);
    const tmi_ledger_charge *c = tmi_book_charge(&ledger->book, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1200];
        snprintf(
            text, sizeof text,
            "{\"ledger\": {\"entry\": 4, \"hash\": \"%s\", \"created\": false}, \"plan\": {\"budget\": {\"epsilon\": \"4\"}}, "
            "\"account\": {\"cap\": {\"epsilon\": \"%s\"}, \"raised\": [{\"entry\": %s, \"time\": \"%s\", \"reason\": \"%s\", "
            "\"from\": {\"epsilon\": \"%s\"}, \"to\": {\"epsilon\": \"%s\"}}]}}",
            c->hash, cases[i].cap, cases[i].entry, ledger->book.accounts[0].raises[0].time, cases[i].reason, cases[i].from,
            cases[i].to);
        char *problems = problems_of(text);
        if ((strstr(problems, "account.cap") == NULL) != cases[i].right) fail_msg("case %zu: %s", i, problems);
        tamis_free(problems);
    }
    tamis_ledger_free(ledger);
}

/* A tally's certificate names its charge and its survey. */
static void a_tally_names_its_survey(void **state)
{
    tamis_ledger *ledger = open_ledger();
    (void)state;
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 2);
    for (int right = 0; right < 2; right++) {
        char text[400];
        snprintf(text, sizeof text, "{\"kind\": \"tally\", \"account\": {\"entry\": 2, \"hash\": \"%s\", \"survey\": \"%s\"}}",
                 tmi_book_charge(&ledger->book, 2)->hash, right ? "schools" : "pupils");
        char *problems = problems_of(text);
        if ((strstr(problems, "another survey") == NULL) != right) fail_msg("%s", problems);
        tamis_free(problems);
    }
    tamis_ledger_free(ledger);
}

static void a_certificate_lists_the_waves_of_its_moment(void **state)
{
    static const char first[] = "{\"name\": \"Q1\"}", second[] = "{\"name\": \"Q2\"}",
                      both[] = "{\"name\": \"Q1\"}, {\"name\": \"Q2\"}";
    tamis_ledger *ledger = open_ledger();
    (void)state;
    for (size_t i = 0; i < 3; i++) assert_true(charge_wave(ledger, i == 1 ? second : first, "1", "4", NULL) > 0);
    for (size_t i = 0; i < 3; i++) {
        const tmi_ledger_charge *c = &ledger->book.charges[i];
        assert_int_equal(waves_differ(c->number, c->hash, first), i > 0);
        assert_int_equal(waves_differ(c->number, c->hash, both), i == 0);
        assert_true(waves_differ(c->number, c->hash, second));
    }
    tamis_ledger_free(ledger);
}

/* Outsiders get a number across waves only if all of them have the sample of the first: one wave with groups, or with a sample of
 * its own, is enough to get none, wherever it is. What the first one says about the wave before it does not matter. */
static void one_wave_apart_is_enough(void **state)
{
    (void)state;
    char *groups[] = {"A"};
    for (unsigned kinds = 0; kinds < 27; kinds++)
        for (size_t count = 0; count <= 3; count++) {
            tmi_wave waves[3];
            bool apart = false;
            for (size_t i = 0, left = kinds; i < 3; i++, left /= 3) {
                waves[i] = (tmi_wave){.name = "w", .groups = groups, .group_count = left % 3 == 0, .same_sample = left % 3 == 1};
                apart = apart || (i < count && (left % 3 == 0 || (i > 0 && left % 3 == 2)));
            }
            assert_int_equal(tmi_waves_apart(waves, sizeof *waves, count) != NULL, count > 1 && apart);
        }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_wave_apart_is_enough),
        IN_A_FOLDER(a_budget_is_raised_on_record),
        IN_A_FOLDER(both_numbers_of_a_budget_may_be_raised),
        cmocka_unit_test(a_raise_does_not_cover_what_came_before),
        cmocka_unit_test(words_of_groups_that_are_worst_by_turns),
        cmocka_unit_test(a_certificate_states_the_sum_of_each_group),
        cmocka_unit_test(the_parts_of_a_loss),
        IN_A_FOLDER(waves_add_up),
        IN_A_FOLDER(what_is_fixed_by_wave_and_what_by_survey),
        IN_A_FOLDER(the_same_sample_is_amplified_once),
        IN_A_FOLDER(the_loss_is_the_largest_over_groups),
        IN_A_FOLDER(groups_convert_by_themselves),
        IN_A_FOLDER(a_source_keeps_its_groups),
        IN_A_FOLDER(a_link_is_no_other_source),
        IN_A_FOLDER(a_certificate_lists_the_waves_of_its_moment),
        IN_A_FOLDER(a_certificate_lists_the_raises_of_its_moment),
        IN_A_FOLDER(a_tally_names_its_survey),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
