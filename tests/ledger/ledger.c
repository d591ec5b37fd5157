#include "tests/test.h"

#include <math.h>
#include <sys/stat.h>

#include "ledger/ledger.h"
#include "ledger/open.h"
#include "num/number.h"
#include "tests/ledger/kit.h"

static void a_charge_survives(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    struct stat facts;
    (void)state;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(tamis_ledger_accounts(ledger), 0);
    assert_int_equal(charge_as(ledger, "1", "4", &err), 2); /* 1 opens the account */
    assert_int_equal(charge_as(ledger, "1/2", "4", &err), 3);
    tamis_ledger_free(ledger);
    ledger = open_ledger();
    assert_int_equal(tamis_ledger_accounts(ledger), 1);
    assert_string_equal(tamis_ledger_survey(ledger, 0), "schools");
    assert_int_equal(tamis_ledger_find(ledger, "schools"), 0);
    assert_int_equal(tamis_ledger_find(ledger, "pupils"), -1);
    tamis_spending budget, spent, left;
    assert_int_equal(tamis_ledger_spending(&budget, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    assert_true(budget.epsilon.upper == 4 && spent.epsilon.lower == 1.5 && spent.epsilon.upper == 1.5);
    assert_true(left.epsilon.lower == 2.5 && left.epsilon.upper == 2.5 && left.delta.upper == 0 && !left.in_rho);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* The ends of what is spent and left, whatever their digits: what is said to be left is never more than the rest, and what is
 * said to be spent never less. */
static void ends_are_rounded_to_the_safe_side(void **state)
{
    static const char *const amounts[] = {"rho 1/7",    "rho 1/1000", "rho 3/11", "rho 1/13",
                                          "rho 7/1000", "1/3",        "rho 1/17", "rho 2/19"};
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        tamis_spending spent, left;
        if (charge_as(ledger, amounts[i], "50 1e-6", &err) < 0) fail_msg("%s: %s", amounts[i], err.message);
        assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
        assert_true(0 < spent.epsilon.lower && spent.epsilon.lower <= spent.epsilon.upper &&
                    left.epsilon.lower <= left.epsilon.upper);
        /* 64 bits hold these sums of two doubles exactly, or next to it: a rounding of 53 bits to the wrong side shows */
        assert_true((long double)left.epsilon.lower + spent.epsilon.upper <= 50.0L);
        assert_true((long double)left.epsilon.upper + spent.epsilon.lower >= 50.0L);
        assert_true(left.delta.lower == 0 && left.delta.upper == 0 && spent.delta.upper >= 1e-6);
        assert_true(left.rho.lower > 0 && left.rho.upper >= left.rho.lower && spent.rho.upper >= spent.rho.lower);
    }
    tamis_ledger_free(ledger);
}

/* Who asks for an account that is not there, and does not look at the status, is told the worst. */
static void what_is_not_known_is_the_worst(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_spending all[3];
    tamis_number *eps = NULL, *delta = NULL;
    (void)state;
    assert_int_equal(charge_as(ledger, "1", "4", NULL), 2);
    assert_int_equal(tamis_ledger_spending(&all[0], &all[1], &all[2], ledger, 1, NULL), TAMIS_INVALID);
    for (size_t i = 0; i < 3; i++) {
        assert_true(all[i].epsilon.lower == 0 && isinf(all[i].epsilon.upper));
        assert_true(all[i].delta.lower == 0 && all[i].delta.upper == 1);
        assert_true(all[i].rho.lower == 0 && isinf(all[i].rho.upper));
    }
    assert_int_equal(tamis_ledger_sample(&eps, &delta, ledger, 1, NULL, NULL), TAMIS_INVALID);
    assert_true(!eps && !delta);
    tamis_ledger_free(ledger);
}

/* Amounts and budgets have limits; beyond them nothing is charged. Above all no charge gives anything back. */
static void amounts_have_limits(void **state)
{
    static const char *const amounts[] = {"-1", "-1e-30", "rho -1/2", "rho -1e-30", "1 -1e-9", "1 2", "1e9", "rho 1e9"},
                             *const budgets[] = {"-4", "0", "rho 0", "rho -1", "4 1", "4 -1e-9", "1e9"};
    tamis_ledger *ledger = open_ledger();
    tamis_spending spent;
    tamis_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        if (charge_as(ledger, "1/2", budgets[i], &err) != -TAMIS_INVALID) fail_msg("a budget of %s is taken", budgets[i]);
    assert_int_equal(tamis_ledger_find(ledger, "schools"), -1);
    assert_int_equal(charge_as(ledger, "1/2", "4 1e-6", &err), 2);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        if (charge_as(ledger, amounts[i], "4 1e-6", &err) != -TAMIS_INVALID) fail_msg("a charge of %s is taken", amounts[i]);
    assert_int_equal(tamis_ledger_spending(NULL, &spent, NULL, ledger, 0, NULL), TAMIS_OK);
    assert_true(spent.epsilon.lower == 0.5 && spent.epsilon.upper == 0.5 && spent.delta.upper == 0);
    tamis_ledger_free(ledger);
}

/* Sums are the same if all three numbers are. */
static void sums_differ_in_any_number(void **state)
{
    tamis_number *one = number_of("1"), *third = number_of("1/3"), *none = number_of("0");
    tamis_number *const three[] = {one, third, none};
    (void)state;
    for (unsigned a = 0; a < 27; a++)
        for (unsigned b = 0; b < 27; b++) {
            const tmi_sums x = {.eps = three[a % 3], .delta = three[a / 3 % 3], .rho = three[a / 9]};
            const tmi_sums y = {.eps = three[b % 3], .delta = three[b / 3 % 3], .rho = three[b / 9]};
            assert_int_equal(tmi_sums_equal(&x, &y), a == b);
        }
    tamis_number_free(one);
    tamis_number_free(third);
    tamis_number_free(none);
}

/* Rhos fit if the certified delta is within the budget's, and not if it is beyond by less than one step of doubles. */
static void a_delta_between_two_doubles_is_rounded_down(void **state)
{
    tamis_number *none = number_of("0"), *rho = number_of("1/100"), *two = number_of("2"), *one = number_of("1");
    const tmi_sums sums = {.eps = none, .delta = none, .rho = rho, .concentrated = true};
    tamis_profile *profile = NULL;
    tamis_bound bound;
    (void)state;
    assert_int_equal(tamis_profile_zcdp(&profile, rho, NULL), TAMIS_OK);
    assert_int_equal(tamis_profile_delta(&bound, profile, one, NULL), TAMIS_OK);
    assert_true(bound.upper > 0 && bound.upper < 1);
    tamis_number *ends[2], *sum = NULL, *middle = NULL;
    assert_int_equal(tmi_number_double(&ends[0], nextafter(bound.upper, 0), NULL), TAMIS_OK);
    assert_int_equal(tmi_number_double(&ends[1], bound.upper, NULL), TAMIS_OK);
    assert_int_equal(tmi_number_add(&sum, ends[0], ends[1], NULL), TAMIS_OK);
    assert_int_equal(tmi_number_div(&middle, sum, two, NULL), TAMIS_OK);
    for (int i = 0; i < 3; i++) {
        bool fit;
        const tmi_ledger_coin budget = {.eps = one, .delta = i == 0 ? ends[0] : i == 1 ? middle : ends[1]};
        assert_int_equal(tmi_sums_fit(&fit, &sums, &budget, NULL), TAMIS_OK);
        assert_int_equal(fit, i == 2);
    }
    tamis_profile_free(profile);
    for (int i = 0; i < 2; i++) tamis_number_free(ends[i]);
    tamis_number_free(sum);
    tamis_number_free(middle);
    tamis_number_free(none);
    tamis_number_free(rho);
    tamis_number_free(two);
    tamis_number_free(one);
}

/* Nothing is left of an account whose rhos, converted, come to more than its epsilon; never less than nothing. */
static void nothing_is_left_of_what_is_overspent(void **state)
{
    tamis_number *none = number_of("0"), *rho = number_of("1"), *tiny = number_of("1/1000000"), *one = number_of("1");
    const tmi_sums sums = {.eps = none, .delta = none, .rho = rho, .concentrated = true};
    const tmi_ledger_coin budget = {.eps = one, .delta = tiny};
    tamis_spending spent, left;
    (void)state;
    assert_int_equal(tmi_sums_spending(&spent, &left, &sums, &budget, NULL), TAMIS_OK);
    assert_true(spent.epsilon.lower > 1 && left.epsilon.lower == 0 && left.rho.upper == 0);
    assert_int_equal(strncmp(left.words, "epsilon 0,", 10), 0);
    tamis_number_free(none);
    tamis_number_free(rho);
    tamis_number_free(tiny);
    tamis_number_free(one);
}

/* Words round what was spent up and what is left down, also in rho. */
static void words_are_rounded_to_the_safe_side(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_spending budget, spent, left;
    (void)state;
    assert_int_equal(charge_as(ledger, "rho 1/7", "rho 1/3", NULL), 2);
    assert_int_equal(tamis_ledger_spending(&budget, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    assert_true(strncmp(spent.words, "rho ", 4) == 0 && strncmp(left.words, "rho ", 4) == 0 &&
                strncmp(budget.words, "rho ", 4) == 0);
    assert_true(strtold(spent.words + 4, NULL) >= 1.0L / 7 && strtold(left.words + 4, NULL) <= 1.0L / 3 - 1.0L / 7);
    assert_true(strtold(budget.words + 4, NULL) <= 1.0L / 3 && fabsl(strtold(left.words + 4, NULL) - 4.0L / 21) < 1e-4L);
    tamis_ledger_free(ledger);
}

static void charges_add_up_exactly(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    (void)state;
    for (int i = 0; i < 10; i++) assert_int_equal(charge_as(ledger, "0.1", "1", &err), i + 2);
    assert_int_equal(charge_as(ledger, "1e-300", "1", &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "epsilon 0 is left; nothing was spent"));
    assert_int_equal(charge_as(ledger, "0", "1", &err), 12);
    tamis_ledger_free(ledger);
}

/* A refused first charge opens nothing. */
static void a_first_charge_may_be_refused(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    (void)state;
    assert_int_equal(charge_as(ledger, "2", "1", &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "epsilon 2 would exceed the budget of epsilon 1"));
    assert_int_equal(tamis_ledger_accounts(ledger), 0);
    assert_int_equal(charge_as(ledger, "2", "3", &err), 2);
    tamis_ledger_free(ledger);
}

/* ---- coins ---- */

typedef struct step {
    const char *amount;
    tamis_status status;
} step;

static void go(const char *budget, const step *steps)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    int64_t entry = 1;
    for (; steps->amount; steps++) {
        int64_t found = charge_as(ledger, steps->amount, budget, &err);
        int64_t expected = steps->status == TAMIS_OK ? ++entry : -(int64_t)steps->status;
        if (found != expected) fail_msg("%s after %d: %s", steps->amount, (int)entry, err.message);
    }
    tamis_ledger_free(ledger);
    if (!verifies(NULL)) fail_msg("it does not verify");
    unlink(path);
}

static void each_account_takes_what_it_can_add(void **state)
{
    (void)state;
    go("1", (const step[]){{"1/2", TAMIS_OK},
                           {"1/4 0", TAMIS_OK},
                           {"1/8 1e-9", TAMIS_REFUSED},
                           {"rho 1e-9", TAMIS_REFUSED},
                           {"1/4", TAMIS_OK},
                           {"1/1000", TAMIS_REFUSED},
                           {NULL, TAMIS_OK}});
    go("rho 1", (const step[]){{"rho 1/2", TAMIS_OK},
                               {"1", TAMIS_OK}, /* tanh(1/2) = .46212 */
                               {"1/2 1e-9", TAMIS_REFUSED},
                               {"rho 0.037883", TAMIS_REFUSED},
                               {"rho 0.037882", TAMIS_OK},
                               {"rho 1/1000000", TAMIS_REFUSED},
                               {"0", TAMIS_OK},
                               {NULL, TAMIS_OK}});
    /* a rho that the caller knows: the smaller one counts; no rho beside a delta, nor in a budget */
    go("rho 1", (const step[]){{"1 as 1/4", TAMIS_OK},
                               {"1 as 9", TAMIS_OK},
                               {"rho 0.287883", TAMIS_REFUSED},
                               {"rho 0.287882", TAMIS_OK},
                               {"1 as -1", TAMIS_INVALID},
                               {NULL, TAMIS_OK}});
    go("1", (const step[]){{"1/2 as 1/4", TAMIS_OK}, {"3/4", TAMIS_REFUSED}, {"1/2", TAMIS_OK}, {NULL, TAMIS_OK}});
    go("2 1e-6", (const step[]){{"1 as 1/4", TAMIS_OK}, {"1/2 5e-7", TAMIS_OK}, {NULL, TAMIS_OK}});
    go("2 1e-6", (const step[]){{"1 5e-7", TAMIS_OK},
                                {"1/2", TAMIS_OK},
                                {"1/2 6e-7", TAMIS_REFUSED},
                                {"0.6 1e-7", TAMIS_REFUSED},
                                {"1/2 5e-7", TAMIS_OK},
                                {"0 1e-12", TAMIS_REFUSED},
                                {NULL, TAMIS_OK}});
}

/* The first rho takes what was added up off the budget; afterwards a delta is refused, and an epsilon is a rho. */
static void rhos_are_converted_at_the_rest(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    tamis_spending spent, left;
    tamis_number *eps = NULL, *delta = NULL;
    (void)state;
    assert_int_equal(charge_as(ledger, "1 5e-7", "4 1e-6", &err), 2);
    assert_int_equal(charge_as(ledger, "rho 0.05", "4 1e-6", &err), 3);
    assert_int_equal(charge_as(ledger, "1/10 1e-9", "4 1e-6", &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "a delta can no longer be added"));
    assert_int_equal(charge_as(ledger, "1/10", "4 1e-6", &err), 4); /* rho 0.1 tanh(0.05) */
    assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    const double rho = 0.05 + 0.1 * tanh(0.05);
    assert_true(spent.rho.lower >= rho && spent.rho.upper < rho + 1e-10 && spent.rho.upper - spent.rho.lower < 1e-16);
    /* by the formula of Canonne, Kamath and Steinke at delta = 5e-7, over a grid of orders */
    double best = INFINITY;
    for (double a = 1.0001; a < 500; a *= 1.0001) best = fmin(best, a * rho + log1p(-1 / a) - (log(5e-7) + log(a)) / (a - 1));
    assert_true(fabs(spent.epsilon.upper - (1 + best)) < 1e-6);
    assert_true(fabs(left.epsilon.lower + spent.epsilon.upper - 4) < 1e-12);
    assert_int_equal(tamis_ledger_sample(&eps, &delta, ledger, 0, NULL, NULL), TAMIS_OK);
    char *text = NULL;
    assert_int_equal(tamis_number_write(&text, delta, NULL), TAMIS_OK);
    assert_string_equal(text, "1/1000000");
    tamis_free(text);
    tamis_number_free(eps);
    tamis_number_free(delta);
    /* what is told as left can be spent, and hardly more */
    char amount[64];
    snprintf(amount, sizeof amount, "rho %.17g", left.rho.lower * (1 + 1e-6));
    assert_int_equal(charge_as(ledger, amount, "4 1e-6", &err), -TAMIS_REFUSED);
    snprintf(amount, sizeof amount, "rho %.17g", left.rho.lower * (1 - 1e-15));
    assert_int_equal(charge_as(ledger, amount, "4 1e-6", &err), 5);
    assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    assert_true(left.epsilon.lower >= 0 && left.epsilon.lower < 1e-9 && left.rho.lower < 1e-9); /* now nothing is left */
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* ---- frozen fields, identity ---- */

/* A first release that is Gaussian has mu^2 added up from then on, exactly; a rho that is not is refused, and an epsilon counts
 * as its mu^2. The delta at the cap is that of the normal mechanism. */
static void squares_of_mu_are_added(void **state)
{
    const char *budget = "4 1e-6";
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    tamis_spending spent, left;
    char amount[128];
    (void)state;
    assert_int_equal(charge_as(ledger, "1 5e-7", budget, &err), 2);
    assert_int_equal(charge_as(ledger, "rho 0.05 mu 0.1", budget, &err), 3);
    assert_int_equal(charge_as(ledger, "rho 1e-9", budget, &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "no theorem converts a rho to mu^2"));
    assert_int_equal(charge_as(ledger, "1/10 1e-9", budget, &err), -TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "a delta can no longer be added"));
    assert_int_equal(charge_as(ledger, "1/10", budget, &err), 4);
    assert_int_equal(charge_as(ledger, "1/10 mu 0.01", budget, &err), 5); /* a smaller mu^2, which the caller knows */
    assert_int_equal(charge_as(ledger, "1/10 mu 7", budget, &err), 6);
    assert_int_equal(charge_as(ledger, "rho 0.001 mu 0.003", budget, &err), 7); /* dearer, and it says so */
    assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    /* 4 Phi^-1(e^0.1 / (1 + e^0.1))^2 = 0.0156954... */
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(erfc(-middle / 2 * M_SQRT1_2) / 2 < 1 / (1 + exp(-0.1)) ? &low : &high) = middle;
    }
    const double squared = 0.1 + 2 * low * low + 0.01 + 0.003;
    assert_true(spent.in_mu && fabs(spent.mu_squared.upper - squared) < 1e-9 && spent.rho.upper == 0);
    /* delta of the normal mechanism, less what the first part of the account takes */
    const double mu = sqrt(squared), e = spent.epsilon.upper - 1;
    const double delta = erfc((e / mu - mu / 2) * M_SQRT1_2) / 2 - exp(e) * erfc((e / mu + mu / 2) * M_SQRT1_2) / 2;
    assert_true(fabs(delta / 5e-7 - 1) < 1e-6);
    assert_true(fabs(left.epsilon.lower + spent.epsilon.upper - 4) < 1e-12);
    assert_non_null(strstr(spent.words, "mu^2 0.1"));
    /* what is told as left can be spent, and hardly more; the conversion of rho would leave less */
    snprintf(amount, sizeof amount, "rho %.17g mu %.17g", left.mu_squared.lower, left.mu_squared.lower * (1 + 1e-6));
    assert_int_equal(charge_as(ledger, amount, budget, &err), -TAMIS_REFUSED);
    snprintf(amount, sizeof amount, "rho %.17g mu %.17g", left.mu_squared.lower, left.mu_squared.lower * (1 - 1e-15));
    assert_int_equal(charge_as(ledger, amount, budget, &err), 8);
    assert_int_equal(tamis_ledger_spending(NULL, &spent, &left, ledger, 0, NULL), TAMIS_OK);
    assert_true(left.epsilon.lower >= 0 && left.epsilon.lower < 1e-9 && left.mu_squared.lower < 1e-9);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* Which of the two filters runs is settled by the first of these charges, and what a charge says it is. */
static void rho_and_mu_do_not_mix(void **state)
{
    (void)state;
    /* where rhos are added up, a Gaussian release is one */
    go("2 1e-6",
       (const step[]){{"rho 0.01", TAMIS_OK}, {"rho 0.01 mu 0.02", TAMIS_OK}, {"rho 0.01", TAMIS_OK}, {NULL, TAMIS_OK}});
    go("rho 1",
       (const step[]){{"rho 1/2 mu 1", TAMIS_OK}, {"rho 1/2", TAMIS_OK}, {"rho 1e-9 mu 2e-9", TAMIS_REFUSED}, {NULL, TAMIS_OK}});
    /* one whose mu^2 is dearer than its rho does not begin a filter of mu^2 */
    go("2 1e-6", (const step[]){{"rho 0.01 mu 0.03", TAMIS_OK}, {"rho 0.01", TAMIS_OK}, {NULL, TAMIS_OK}});
    /* epsilon 1, delta 1e-6: rho may be 0.0243, and mu^2 2 times 0.0280 */
    go("1 1e-6", (const step[]){{"rho 0.0245", TAMIS_REFUSED}, {"rho 0.024", TAMIS_OK}, {NULL, TAMIS_OK}});
    go("1 1e-6", (const step[]){{"rho 0.0281 mu 0.0562", TAMIS_REFUSED},
                                {"rho 0.0140 mu 0.0280", TAMIS_OK},
                                {"rho 0.0139 mu 0.0279", TAMIS_OK},
                                {"rho 0.0001 mu 0.0002", TAMIS_REFUSED},
                                {NULL, TAMIS_OK}});
    go("1", (const step[]){{"1/2 mu 1", TAMIS_OK}, {"rho 1e-9 mu 2e-9", TAMIS_REFUSED}, {"1/2", TAMIS_OK}, {NULL, TAMIS_OK}});
    go("4 1e-6",
       (const step[]){{"1 1e-7 mu 1", TAMIS_INVALID}, {"rho 0.1 mu -1", TAMIS_INVALID}, {"1", TAMIS_OK}, {NULL, TAMIS_OK}});
}

static void what_differs_is_named(void **state)
{
    static const struct {
        const char *frozen, *budget, *field;
    } cases[] = {
        {"{\"source\": {\"file\": \"a.csv\"}, \"design\": {\"srs\": {\"population\": 1000, \"sample\": 11}}, \"unit\": "
         "\"school\"}",
         "4", "'design'"},
        {"{\"source\": {\"file\": \"a.csv\"}, \"design\": {\"srs\": {\"population\": 1000, \"sample\": 10}}}", "4", "'unit'"},
        {"{\"source\": {\"file\": \"a.csv\"}, \"design\": {\"srs\": {\"population\": 1000, \"sample\": 10}}, \"unit\": "
         "\"school\", \"id\": \"x\"}",
         "4", "'id'"},
        {FROZEN, "5", "budget of epsilon 5 is above"},
        {FROZEN, "4 1e-6", "is above"},
        {FROZEN, "rho 4", "is not of the same kind"},
    };
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    (void)state;
    assert_int_equal(charge_as(ledger, "1", "4", &err), 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_charge s;
        tamis_charged charged;
        sample_charge_make(&s, "1", cases[i].budget, "[]");
        s.charge.frozen = cases[i].frozen;
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_REFUSED);
        if (!strstr(err.message, cases[i].field)) fail_msg("%s", err.message);
        assert_int_equal(charged.entry, 0);
        s.charge.survey = "others";
        s.charge.new_account = "other people";
        assert_int_equal(tamis_ledger_ask(&charged, ledger, &s.charge, &err), TAMIS_OK);
        sample_charge_clear(&s);
    }
    /* keys in another order, other spaces, the same people in another file: the same */
    sample_charge s;
    tamis_charged charged;
    sample_charge_make(&s, "1", "8/2", "[]");
    s.charge.frozen = "{\"outsider\":\"what follows from the others is not "
                      "compared\",\"unit\":\"school\",\"design\":{\"srs\":{\"sample\":10,\"population\":1000}},\n\"source\":{"
                      "\"file\":\"b.parquet\"}}";
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_OK);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
}

/* The accounts of a ledger, opened in this order, and the parts of their sources. */
static void a_second_account_over_the_same_source_needs_a_reason(void **state)
{
    static const struct {
        const char *survey, *frozen, *source, *reason;
        tamis_status status;
    } cases[] = {
        {"a", FROZEN, "[\"file a.csv\", \"file b.csv\"]", NULL, TAMIS_OK},
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", NULL, TAMIS_REFUSED}, /* one part in common */
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", "", TAMIS_INVALID},
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", " \xc2\xa0", TAMIS_INVALID},
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", "the board's decision of 3 May", TAMIS_OK},
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", "again", TAMIS_INVALID}, /* it is open already */
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", "the board's decision of 3 May",
         TAMIS_OK},                                              /* on record */
        {"a", FROZEN, "[\"file a.csv\"]", "why", TAMIS_INVALID}, /* opened without a reason */
        {"b", "{\"source\": {\"file\": \"b.csv\"}}", "[\"file b.csv\"]", NULL, TAMIS_OK},
        {"c", FROZEN, "[\"file c.csv\"]", NULL, TAMIS_OK}, /* the parts decide where both have them */
        {"d", "{\"source\": {\"file\": \"d.csv\"}}", NULL, NULL, TAMIS_OK},
        /* and the frozen field of accounts that have none */
        {"e", "{\"source\": {\"file\": \"d.csv\"}}", NULL, NULL, TAMIS_REFUSED},
        {"e", "{\"source\": {\"file\": \"d.csv\"}}", "[\"file d.csv\"]", NULL, TAMIS_REFUSED},
        {"e", "{}", "[]", NULL, TAMIS_OK}, /* nothing is said about a source */
        {"f", "{}", "{}", NULL, TAMIS_INVALID},
        {"f", "{}", "[1]", NULL, TAMIS_INVALID},
    };
    tamis_ledger *ledger = open_ledger();
    char *text = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_charge s;
        tamis_charged asked, charged;
        tamis_error err = {0};
        sample_charge_make(&s, "1/4", "4", "[]");
        s.charge.survey = cases[i].survey;
        s.charge.frozen = cases[i].frozen;
        s.charge.source = cases[i].source;
        s.charge.new_account = cases[i].reason;
        const bool first = tamis_ledger_find(ledger, cases[i].survey) < 0;
        const tamis_status as_asked = tamis_ledger_ask(&asked, ledger, &s.charge, NULL);
        const tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, &err);
        if (status != cases[i].status || as_asked != status)
            fail_msg("case %zu: %d and %d, %s", i, (int)status, (int)as_asked, err.message);
        if (status == TAMIS_OK) {
            assert_int_equal(charged.created, i == 0);
            assert_int_equal(charged.opened, first);
            if (strcmp(cases[i].survey, "b") == 0) assert_string_equal(charged.new_account, "the board's decision of 3 May");
            else assert_null(charged.new_account);
        } else if (status == TAMIS_REFUSED) {
            assert_non_null(strstr(err.message, "--new-account"));
        }
        tamis_charged_clear(&asked);
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
    }
    assert_int_equal(tamis_ledger_accounts(ledger), 5);
    assert_int_equal(tamis_ledger_text(&text, ledger, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "\n  new account     the board's decision of 3 May\n"));
    tamis_free(text);
    assert_int_equal(tamis_ledger_json(&text, ledger, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(text, "\"new_account\": \"the board's decision of 3 May\""));
    tamis_free(text);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

static void the_same_again_costs_nothing(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    sample_charge s;
    tamis_charged first, again;
    (void)state;
    sample_charge_make(&s, "1", "4", "[\"total of enroll\"]");
    assert_int_equal(tamis_ledger_charge(&first, ledger, &s.charge, &err), TAMIS_OK);
    assert_null(first.measurements);
    assert_int_equal(tamis_ledger_charge(&again, ledger, &s.charge, &err), TAMIS_OK);
    assert_null(again.measurements); /* charged, never released: nobody has seen its numbers */
    assert_int_equal(again.entry, 3);
    assert_int_equal(tamis_ledger_released(ledger, first.entry, "{\"noisy\": [1, -2]}", &err), TAMIS_OK);
    assert_int_equal(tamis_ledger_released(ledger, first.entry, "x", &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_released(ledger, 1, "x", &err), TAMIS_INVALID);
    assert_int_equal(tamis_ledger_released(ledger, 99, "x", &err), TAMIS_INVALID);
    tamis_ledger_free(ledger);
    ledger = open_ledger();
    assert_int_equal(tamis_ledger_charge(&again, ledger, &s.charge, &err), TAMIS_OK);
    assert_string_equal(again.measurements, "{\"noisy\": [1, -2]}");
    assert_int_equal(again.entry, first.entry);
    assert_string_equal(again.hash, first.hash);
    assert_string_equal(again.time, first.time);
    tamis_charged_clear(&again);
    s.charge.again = 1;
    assert_int_equal(tamis_ledger_charge(&again, ledger, &s.charge, &err), TAMIS_OK);
    assert_null(again.measurements);
    assert_int_equal(again.entry, 5);
    s.charge.again = 0;
    s.charge.survey = "others";
    s.charge.new_account = "other people";
    assert_int_equal(tamis_ledger_charge(&again, ledger, &s.charge, &err), TAMIS_OK);
    assert_null(again.measurements); /* another account */
    tamis_charged_clear(&again);
    s.charge.new_account = NULL;
    assert_int_equal(tamis_ledger_charge(&again, ledger, &s.charge, &err), TAMIS_OK);
    assert_null(again.measurements); /* and now it exists, but has released nothing */
    assert_true(again.entry > first.entry);
    tamis_charged_clear(&again);
    s.charge.survey = "schools";
    s.charge.new_account = NULL;
    s.charge.measures = "[\"total of meals\"]";
    assert_int_equal(tamis_ledger_ask(&again, ledger, &s.charge, &err), TAMIS_OK);
    assert_null(again.measurements);
    assert_int_equal(again.entry, 0);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

/* A charge that the disk only may have is no charge: commits wait for the disk, and so does the folder's entry of a journal. */
static void commits_wait_for_the_disk(void **state)
{
    static const tmi_opening how[] = {TMI_CHARGE, TMI_CHARGE_SHARED};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tmi_store *file;
        sqlite3_stmt *statement;
        assert_int_equal(tmi_store_open(&file, path, how[i], NULL, NULL), TAMIS_OK);
        assert_int_equal(sqlite3_prepare_v2(file->db, "PRAGMA synchronous", -1, &statement, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(statement, 0), 3); /* EXTRA */
        sqlite3_finalize(statement);
        tmi_store_close(file);
    }
}

/* What sampling adds is said under "outsider": a design, a reason, or nothing. */
static void the_design_for_an_outsider(void **state)
{
    static const struct {
        const char *frozen, *design, *reason;
    } cases[] = {
        {"{\"outsider\": {\"design\": {\"srs\": {\"sample\": 2, \"population\": 9}}}}",
         "{\"srs\": {\"population\": 9, \"sample\": 2}}", NULL},
        {"{\"outsider\": \"the sample is not secret\"}", NULL, "the sample is not secret"},
        {"{}", NULL, "the account names no design for it"},
        {"{\"outsider\": null}", NULL, "the account names no design for it"},
    };
    tamis_ledger *ledger = open_ledger();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_charge s;
        tamis_charged charged;
        char survey[2] = {(char)('a' + i), '\0'};
        const char *reason = "";
        sample_charge_make(&s, "1", "4", "[]");
        s.charge.survey = survey;
        s.charge.frozen = cases[i].frozen;
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
        const char *design = tamis_ledger_design(&reason, ledger, i);
        if (cases[i].design) assert_string_equal(design, cases[i].design);
        else assert_null(design);
        if (cases[i].reason) assert_string_equal(reason, cases[i].reason);
        else assert_null(reason);
        assert_ptr_equal(tamis_ledger_design(NULL, ledger, i), design);
        sample_charge_clear(&s);
    }
    const char *reason = NULL;
    assert_null(tamis_ledger_design(&reason, ledger, 9));
    assert_non_null(reason);
    assert_null(tamis_ledger_design(NULL, NULL, 0));
    tamis_ledger_free(ledger);
}

/* ---- time ---- */

static int64_t clock_at;

static int64_t set_clock(void) { return clock_at; }

static void a_clock_that_runs_backwards_is_noticed(void **state)
{
    tamis_ledger *ledger = open_ledger();
    sample_charge s;
    tamis_charged charged;
    (void)state;
    ledger->now = set_clock;
    sample_charge_make(&s, "1/4", "4", "[]");
    clock_at = 1000000000;
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
    assert_string_equal(charged.time, "2001-09-09T01:46:40Z");
    assert_false(charged.clock_behind);
    clock_at -= 3600;
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
    assert_string_equal(charged.time, "2001-09-09T01:46:40Z");
    assert_true(charged.clock_behind);
    clock_at += 3601;
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
    assert_string_equal(charged.time, "2001-09-09T01:46:41Z");
    assert_false(charged.clock_behind);
    clock_at = INT64_C(1) << 50;
    tamis_error err = {0};
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "clock"));
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
    assert_true(verifies(NULL));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        IN_A_FOLDER(a_charge_survives),
        IN_A_FOLDER(charges_add_up_exactly),
        IN_A_FOLDER(ends_are_rounded_to_the_safe_side),
        IN_A_FOLDER(amounts_have_limits),
        cmocka_unit_test(sums_differ_in_any_number),
        cmocka_unit_test(a_delta_between_two_doubles_is_rounded_down),
        cmocka_unit_test(nothing_is_left_of_what_is_overspent),
        IN_A_FOLDER(words_are_rounded_to_the_safe_side),
        IN_A_FOLDER(what_is_not_known_is_the_worst),
        IN_A_FOLDER(a_first_charge_may_be_refused),
        IN_A_FOLDER(each_account_takes_what_it_can_add),
        IN_A_FOLDER(rhos_are_converted_at_the_rest),
        IN_A_FOLDER(squares_of_mu_are_added),
        IN_A_FOLDER(rho_and_mu_do_not_mix),
        IN_A_FOLDER(what_differs_is_named),
        IN_A_FOLDER(a_second_account_over_the_same_source_needs_a_reason),
        IN_A_FOLDER(the_same_again_costs_nothing),
        IN_A_FOLDER(commits_wait_for_the_disk),
        IN_A_FOLDER(the_design_for_an_outsider),
        IN_A_FOLDER(a_clock_that_runs_backwards_is_noticed),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
