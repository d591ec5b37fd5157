/* Whoever chooses the next charge after seeing the last answer: the worst such strategy, found by trying them all, stays within
 * the budget. The releases are randomized response, charged as an epsilon, as a rho of epsilon^2/2 or as what it is where mu^2 is
 * added up, and one that tells everything with probability delta. */
#include "tests/test.h"

#include <math.h>

#include "composition/mu.h"
#include "ledger/coin.h"
#include "num/number.h"
#include "tests/ledger/kit.h"

#define STEPS 5
#define MOVES 5

static tmi_ledger_coin amounts[MOVES];

/* What may be charged, the epsilon of the randomized response, the probability that everything is told. */
static const struct move {
    const char *amount;
    double eps, delta;
    bool normal; /* the rho is half of the mu^2 */
} moves[MOVES] = {{"0.9", 0.9, 0, false},
                  {"0 0.02", 0, 0.02, false},
                  {"rho 0.02", 0.2, 0, false},
                  {"rho 0.125", 0.5, 0, false},
                  {"rho 0.1946989", 0.5, 0, true}}; /* Phi(sqrt(2 rho) / 2) > e^0.5 / (1 + e^0.5) */

/* Where mu^2 is added up, an epsilon and a normal release have theirs. */
static void set_mu(size_t m)
{
    if (moves[m].normal) assert_int_equal(tmi_number_add(&amounts[m].mu_squared, amounts[m].rho, amounts[m].rho, NULL), TAMIS_OK);
    else if (amounts[m].eps && moves[m].delta == 0)
        assert_int_equal(tmi_mu_squared_of_pure_up(&amounts[m].mu_squared, amounts[m].eps, NULL), TAMIS_OK);
}

static size_t courses;

/* The largest part of the probability that the loss passes `budget`, of all that can follow: E max(0, 1 - e^(budget - loss)). */
typedef struct node {
    tmi_sums sums;
    int step;
} node;

static double worst(const node *at, const tmi_ledger_coin *budget, double cap, const double *losses, double *values,
                    size_t count);

/* For several losses at once, because whether a charge fits does not depend on them. */
static void try_move(const node *at, const tmi_ledger_coin *budget, double cap, const double *losses, double *values,
                     size_t count, size_t m)
{
    node next = {.step = at->step + 1};
    bool fits = false;
    if (tmi_sums_add(&next.sums, &at->sums, budget, &amounts[m], NULL) != TAMIS_OK) return;
    assert_int_equal(tmi_sums_fit(&fits, &next.sums, budget, NULL), TAMIS_OK);
    if (fits) {
        double *more = malloc(2 * count * sizeof *more), *found = malloc(2 * count * sizeof *found);
        const double p = 1 / (1 + exp(-moves[m].eps));
        for (size_t i = 0; i < count; i++) {
            more[2 * i] = losses[i] + moves[m].eps;
            more[2 * i + 1] = losses[i] - moves[m].eps;
        }
        worst(&next, budget, cap, more, found, 2 * count);
        for (size_t i = 0; i < count; i++) {
            const double value = p * found[2 * i] + (1 - p) * found[2 * i + 1];
            values[i] = fmax(values[i], moves[m].delta + (1 - moves[m].delta) * value);
        }
        free(more);
        free(found);
    }
    tmi_sums_clear(&next.sums);
}

static double worst(const node *at, const tmi_ledger_coin *budget, double cap, const double *losses, double *values, size_t count)
{
    courses++;
    for (size_t i = 0; i < count; i++) values[i] = fmax(0, 1 - exp(cap - losses[i]));
    for (size_t m = 0; at->step < STEPS && m < MOVES; m++) try_move(at, budget, cap, losses, values, count, m);
    return values[0];
}

static void no_strategy_passes_the_budget(void **state)
{
    static const struct {
        const char *budget;
        double eps, delta;
    } cases[] = {{"1", 1, 0}, {"1 0.04", 1, 0.04}, {"1 0.1", 1, 0.1}, {"0.5 0.3", 0.5, 0.3}, {"2 0.05", 2, 0.05}};
    tamis_number *numbers[3] = {NULL};
    (void)state;
    for (size_t m = 0; m < MOVES; m++) {
        tamis_coin coin = coin_of(numbers, moves[m].amount);
        assert_int_equal(tmi_coin_make(&amounts[m], &coin, "amount", NULL), TAMIS_OK);
        set_mu(m);
        for (size_t i = 0; i < 3; i++) tamis_number_free(numbers[i]), numbers[i] = NULL;
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tmi_ledger_coin budget;
        node start = {.step = 0};
        double value;
        tamis_coin coin = coin_of(numbers, cases[c].budget);
        assert_int_equal(tmi_coin_make(&budget, &coin, "budget", NULL), TAMIS_OK);
        assert_int_equal(tmi_sums_begin(&start.sums, &budget, NULL), TAMIS_OK);
        courses = 0;
        worst(&start, &budget, cases[c].eps, (const double[]){0}, &value, 1);
        print_message("# budget %s: %zu courses, the worst has delta %.4g\n", cases[c].budget, courses, value);
        assert_true(courses > 1 && value <= cases[c].delta * (1 + 1e-12) + 1e-15);
        if (cases[c].delta > 0) assert_true(value > cases[c].delta / 3); /* and it is not for want of trying */
        tmi_sums_clear(&start.sums);
        tmi_coin_clear(&budget);
        for (size_t i = 0; i < 3; i++) tamis_number_free(numbers[i]), numbers[i] = NULL;
    }
    for (size_t m = 0; m < MOVES; m++) tmi_coin_clear(&amounts[m]);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(no_strategy_passes_the_budget)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
