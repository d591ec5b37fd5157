/* What the tests of the ledger share: a folder of its own, and charges in a line. */
#ifndef TESTS_LEDGER_KIT_H
#define TESTS_LEDGER_KIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FROZEN \
    "{\"source\": {\"file\": \"a.csv\"}, \"design\": {\"srs\": {\"population\": 1000, \"sample\": 10}}, \"unit\": \"school\"}"

static char folder[64], path[128]; /* of the ledger at hand */

/* cmocka set-up and tear-down of a test. */
static inline int make_folder(void **state)
{
    (void)state;
    /* memory: no waits */
    snprintf(folder, sizeof folder, "%s/tamis-ledger-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.ledger", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    char line[128];
    (void)state;
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static inline tamis_number *number_of(const char *text)
{
    tamis_number *x = NULL;
    if (text && tamis_number_read(&x, text, NULL) != TAMIS_OK) fail_msg("%s is no number", text);
    return x;
}

/* A charge with numbers in words; clear it. */
typedef struct sample_charge {
    tamis_charge charge;
    tamis_number *numbers[6];
} sample_charge;

/* "1", "1 1e-6", "rho 1/2" or, of an amount, "1 as 1/4": an epsilon and its rho */
static inline tamis_coin coin_of(tamis_number **numbers, const char *words)
{
    char eps[64] = "", delta[64] = "";
    if (strncmp(words, "rho ", 4) == 0) return (tamis_coin){.rho = numbers[0] = number_of(words + 4)};
    const char *rho = strstr(words, " as ");
    sscanf(words, "%63s %63s", eps, delta);
    if (rho) {
        numbers[0] = number_of(eps);
        numbers[1] = number_of(rho + 4);
        return (tamis_coin){.epsilon = numbers[0], .rho = numbers[1]};
    }
    numbers[0] = number_of(eps);
    numbers[1] = *delta ? number_of(delta) : NULL;
    return (tamis_coin){.epsilon = numbers[0], .delta = numbers[1]};
}

static inline void sample_charge_make(sample_charge *s, const char *amount, const char *budget, const char *measures)
{
    *s = (sample_charge){.charge = {.survey = "schools", .release = "plan.yaml", .frozen = FROZEN, .measures = measures}};
    const char *mu = strstr(amount, " mu "); /* "rho 1/2 mu 1", "1 mu 2": and its mu^2 */
    char words[128];
    snprintf(words, sizeof words, "%.*s", mu ? (int)(mu - amount) : 127, amount);
    s->charge.amount = coin_of(s->numbers, words);
    if (mu) s->charge.mu_squared = s->numbers[2] = number_of(mu + 4);
    s->charge.budget = coin_of(s->numbers + 3, budget);
}

static inline void sample_charge_clear(sample_charge *s)
{
    for (size_t i = 0; i < 6; i++) tamis_number_free(s->numbers[i]);
}

/* Charges, paying again if need be; the entry's number, or minus the status. */
static inline int64_t charge_as(tamis_ledger *ledger, const char *amount, const char *budget, tamis_error *err)
{
    sample_charge s;
    tamis_charged charged;
    sample_charge_make(&s, amount, budget, "[]");
    s.charge.again = 1;
    tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, err);
    int64_t entry = status == TAMIS_OK ? charged.entry : -(int64_t)status;
    tamis_charged_clear(&charged);
    sample_charge_clear(&s);
    return entry;
}

/* On a busy machine a process may wait for the ledger longer than it waits by itself: that is no failure, it tries again. */
static inline bool is_busy(tamis_status status, const tamis_error *err)
{
    return status == TAMIS_SYSTEM && strstr(err->message, "another process") != NULL;
}

static inline tamis_ledger *open_ledger(void)
{
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    if (tamis_ledger_open(&ledger, path, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return ledger;
}

/* Whether the ledger verifies; the problems are left in *text if it is not NULL. */
static inline int verifies(char **text)
{
    int ok = 0;
    char *problems = NULL;
    tamis_error err = {0};
    if (tamis_ledger_verify_text(&ok, &problems, path, NULL, 0, &err) != TAMIS_OK) problems = strdup(err.message);
    if (text) *text = problems;
    else tamis_free(problems);
    return ok;
}

#endif
