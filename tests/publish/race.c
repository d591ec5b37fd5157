/* Two processes publish the same at the same time: the ledger is free between the look and the charge, and another process may
 * publish in between. What the driver decided at the look it decides again at the charge. */
#include "tests/test.h"

#include <tamis/ledger.h>

#include "publish/publish.h"
#include "tests/ledger/kit.h"

typedef struct job {
    sample_charge charge;
    const tmi_publication *other; /* a publication that happens between the look and the charge; NULL: none */
    bool refuses;                 /* what was published before must not be given back */
    int made, recalled, asked;
    const char *numbers;
    char seen[32];
} job;

static tamis_status bill(tmi_bill *b, void *job_, tamis_error *err)
{
    const job *j = job_;
    (void)err;
    *b = (tmi_bill){.ledger = path, .charge = j->charge.charge};
    return TAMIS_OK;
}

static tamis_status repeat(const tamis_charged *kept, void *job_, tamis_error *err)
{
    job *j = job_;
    j->asked++;
    assert_non_null(kept->measurements);
    return j->refuses ? tmi_fail(err, TAMIS_REFUSED, "published before") : TAMIS_OK;
}

/* The other process comes and goes. */
static tamis_status check(bool repeated, void *job_, tamis_error *err)
{
    const job *j = job_;
    assert_false(repeated);
    return j->other ? tmi_publish(j->other, err) : TAMIS_OK;
}

static tamis_status make(void *job_, tamis_error *err)
{
    (void)err;
    ((job *)job_)->made++;
    return TAMIS_OK;
}

static tamis_status recall(const char *kept, void *job_, tamis_error *err)
{
    job *j = job_;
    (void)err;
    j->recalled++;
    snprintf(j->seen, sizeof j->seen, "%s", kept);
    return TAMIS_OK;
}

static tamis_status keep(const char **text, void *job_, tamis_error *err)
{
    (void)err;
    *text = ((const job *)job_)->numbers;
    return TAMIS_OK;
}

static const tmi_publishing steps = {
    .again = "Run it again", .bill = bill, .repeat = repeat, .check = check, .make = make, .recall = recall, .keep = keep};

static int64_t charges(void)
{
    tamis_ledger *ledger;
    char *csv, *line;
    int64_t count = -1; /* the names of the columns */
    assert_int_equal(tamis_ledger_look(&ledger, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_csv(&csv, ledger, NULL), TAMIS_OK);
    for (line = csv; (line = strchr(line, '\n')) != NULL; line++) count++;
    tamis_free(csv);
    tamis_ledger_free(ledger);
    return count;
}

static void the_second_gives_back_or_refuses(void **state)
{
    (void)state;
    for (int refuses = 0; refuses < 2; refuses++) {
        job first = {.numbers = "those of the first"}, second = {.numbers = "those of the second", .refuses = refuses};
        tmi_account accounts[2] = {0};
        const tmi_publication one = {.steps = &steps, .job = &first, .ledger = path, .account = &accounts[0]},
                              two = {.steps = &steps, .job = &second, .ledger = path, .account = &accounts[1]};
        tamis_error err = {0};
        second.other = &one;
        sample_charge_make(&first.charge, "1", "4", refuses ? "[2]" : "[1]");
        sample_charge_make(&second.charge, "1", "4", refuses ? "[2]" : "[1]");
        const tamis_status status = tmi_publish(&two, &err);
        if (status != (refuses ? TAMIS_REFUSED : TAMIS_OK)) fail_msg("%s", err.message);
        if (refuses) assert_string_equal(err.message, "published before"); /* and no word of a charge: the first has paid */
        assert_true(first.made == 1 && second.made == 0 && second.asked == 1 && second.recalled == !refuses);
        if (!refuses) assert_string_equal(second.seen, first.numbers);
        assert_int_equal(charges(), refuses + 1);
        for (size_t i = 0; i < 2; i++) tmi_account_clear(&accounts[i]);
        sample_charge_clear(&first.charge);
        sample_charge_clear(&second.charge);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(the_second_gives_back_or_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
