/* The probabilities of a frame, which a release and an estimate read in two ways: both refuse a column that the file calls
 * texts. */
#include "tests/test.h"

#include "release/release.h"
#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"

static void probabilities_are_numbers(void **state)
{
    (void)state;
    static const char *const types[] = {"DOUBLE", "VARCHAR", "DATE"};
    static const char *const words[] = {NULL, "column p: the plan uses it as a number, but by its type it contains texts",
                                        "column p: the plan uses it as a number, but by its type it contains dates or times"};
    const char *frame = in_folder("frame.parquet"), *ledger = in_folder("account.ledger");
    write_text("sample.csv", "id,x,p\n1,3,0.5\n2,4,0.5\n");
    for (size_t i = 0; i < 3; i++) {
        char sql[512], text[1024];
        tamis_plan *plan;
        tamis_release *release;
        tamis_estimate *estimate;
        tamis_error err = {0};
        snprintf(sql, sizeof sql, "COPY (SELECT i AS id, %s AS p FROM range(1, 5) t(i)) TO '%s'",
                 i == 2   ? "DATE '2000-01-31'"
                 : i == 1 ? "'0.5'"
                          : "0.5::DOUBLE",
                 frame);
        run_sql(sql);
        snprintf(text, sizeof text,
                 "tamis: 1\nsurvey: s\nsource: {file: %s/sample.csv}\nprivacy: {unit: person, id: id, epsilon: 1}\n"
                 "budget: {epsilon: 1}\ndesign: {pps: {method: sampford, probability: p, sample: 2, frame: %s}}\n"
                 "columns:\n  x: {from: 0, to: 10, step: 1}\nstatistics:\n  - {total: x}\n",
                 folder, frame);
        if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
        const tamis_release_options options = {.size = sizeof options, .ledger = ledger, .threads = 1};
        const tamis_status wanted = words[i] ? TAMIS_INVALID : TAMIS_OK;
        tamis_status status = tamis_release_new(&release, plan, NULL, &options, &err);
        if (status != wanted || (words[i] && !strstr(err.message, words[i])))
            fail_msg("release, %s: %d, %s", types[i], (int)status, err.message);
        assert_int_equal(access(ledger, F_OK) != 0, words[i] != NULL);
        err = (tamis_error){0};
        status = tamis_estimate_new(&estimate, plan,
                                    &(tamis_estimate_options){.size = sizeof(tamis_estimate_options), .threads = 1}, &err);
        if (status != wanted || (words[i] && !strstr(err.message, words[i])))
            fail_msg("estimate, %s: %d, %s", types[i], (int)status, err.message);
        tamis_release_free(release);
        tamis_estimate_free(estimate);
        tamis_plan_free(plan);
        remove(ledger);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(probabilities_are_numbers)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
