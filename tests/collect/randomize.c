/* The client as a whole: the local guarantee, permanent lies, files. */
#include <tamis/experimental/randomize.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/coding.h"
#include "collect/packed.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"
#include "tests/test.h"

static char folder[] = "/tmp/tamis-randomize-XXXXXX";
static char in_path[64], out_path[64];

static int begin(void **state)
{
    if (!mkdtemp(folder)) return -1;
    snprintf(in_path, sizeof in_path, "%s/answers.csv", folder);
    snprintf(out_path, sizeof out_path, "%s/reports", folder);
    return make_rng(state);
}

static int end(void **state)
{
    unlink(in_path);
    unlink(out_path);
    rmdir(folder);
    return free_rng(state);
}

static void write_answers(const char *text)
{
    FILE *file = fopen(in_path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

/* The reports as text; the caller frees them. NULL: there is no file. */
static char *read_reports(void)
{
    FILE *file = fopen(out_path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 22);
    assert_true(fread(text, 1, (1 << 22) - 1, file) < (1 << 22) - 1);
    fclose(file);
    return text;
}

static tamis_status randomize(tamis_randomized *facts, const tamis_collection *c, tamis_error *err)
{
    unlink(out_path);
    return tamis_randomize_file(facts, &(tamis_stream){.path = out_path}, &(tamis_stream){.path = in_path}, c, rng, NULL, err);
}

/* ---- the local guarantee ---- */

static tamis_bound local(const char *lie, const char *lie_zero, size_t alone, size_t one_hot)
{
    tamis_number *p = number(lie), *q = number(lie_zero);
    tamis_randomizer *r;
    tamis_bound epsilon;
    assert_int_equal(tamis_randomizer_new(&r, p, q, NULL), TAMIS_OK);
    assert_int_equal(tamis_randomizer_local(&epsilon, r, alone, one_hot, NULL), TAMIS_OK);
    tamis_randomizer_free(r);
    tamis_number_free(p);
    tamis_number_free(q);
    return epsilon;
}

static bool holds(tamis_bound b, double x)
{
    return b.lower <= x * (1 + 1e-14) && b.upper >= x * (1 - 1e-14) && b.upper - b.lower <= 1e-12 * x;
}

/* The largest loss over all answers and reports of a column, from the definition. */
static double worst_loss(double lie, double lie_zero, const unsigned *answers, size_t count, unsigned bits)
{
    double worst = 0;
    for (unsigned report = 0; report < 1u << bits; report++) {
        double least = 1, most = 0;
        for (size_t a = 0; a < count; a++) {
            double p = 1;
            for (unsigned b = 0; b < bits; b++) {
                double flip = answers[a] >> b & 1 ? lie : lie_zero;
                p *= (answers[a] ^ report) >> b & 1 ? flip : 1 - flip;
            }
            least = fmin(least, p);
            most = fmax(most, p);
        }
        worst = fmax(worst, log(most / least));
    }
    return worst;
}

static void local_guarantee_is_the_worst_ratio(void **state)
{
    (void)state;
    static const char *const lies[][2] = {{"1/4", "1/4"}, {"1/2", "1/8"}, {"1/10", "3/5"}, {"1/3", "1/3"}};
    static const double values[][2] = {{0.25, 0.25}, {0.5, 0.125}, {0.1, 0.6}, {1 / 3., 1 / 3.}};
    static const unsigned yes_no[] = {0, 1}, three[] = {1, 2, 4}, or_missing[] = {0, 1, 2};
    for (size_t i = 0; i < 4; i++) {
        double p = values[i][0], q = values[i][1], one = worst_loss(p, q, yes_no, 2, 1), hot = worst_loss(p, q, three, 3, 3);
        assert_true(holds(local(lies[i][0], lies[i][1], 1, 0), one));
        assert_true(holds(local(lies[i][0], lies[i][1], 0, 1), hot));
        assert_true(holds(local(lies[i][0], lies[i][1], 0, 1), worst_loss(p, q, or_missing, 3, 2)));
        assert_true(holds(local(lies[i][0], lies[i][1], 5, 2), 5 * one + 2 * hot));
    }
}

static void lies_outside_the_range_are_refused(void **state)
{
    (void)state;
    static const char *const lies[][2] = {{"0", "1/4"},   {"1/2", "1/2"}, {"3/4", "3/4"},
                                          {"1/2", "1/2"}, {"2/3", "1/3"}, {"-1", "1/2"}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        tamis_number *p = number(lies[i][0]), *q = number(lies[i][1]);
        tamis_randomizer *r = (tamis_randomizer *)1;
        assert_int_equal(tamis_randomizer_new(&r, p, q, NULL), TAMIS_INVALID);
        assert_null(r);
        tamis_number_free(p);
        tamis_number_free(q);
    }
}

/* ---- permanent lies ---- */

/* Fixed values: the embedded client and the JavaScript module have the same ones in their tests. */
static void permanent_lies_are_known(void **state)
{
    (void)state;
    tamis_number *p = number("1/3"), *q = number("1/5");
    tamis_randomizer *r;
    uint8_t secret[TAMIS_SECRET];
    char reports[41];
    for (size_t i = 0; i < TAMIS_SECRET; i++) secret[i] = (uint8_t)i;
    assert_int_equal(tamis_randomizer_new(&r, p, q, NULL), TAMIS_OK);
    for (int i = 0; i < 40; i++) {
        char question[16];
        int report;
        snprintf(question, sizeof question, "q%d", i);
        assert_int_equal(tamis_randomize_again(&report, i % 2, r, secret, question, i % 2 ? "1" : "0", NULL), TAMIS_OK);
        reports[i] = (char)('0' + report);
    }
    reports[40] = '\0';
    assert_string_equal(reports, "1111100101000101010101001101110101000001");
    tamis_randomizer_free(r);
    tamis_number_free(p);
    tamis_number_free(q);
}

/* Over many questions the share of lies is the lie probability; other questions, answers and secrets have other lies. Six
 * counts at 8.5e-15 each (law.h). */
static void permanent_lies_have_their_probability(void **state)
{
    (void)state;
    tamis_number *p = number("1/3"), *q = number("1/16");
    tamis_randomizer *r;
    uint8_t secret[TAMIS_SECRET] = {1};
    enum { n = 20000 };
    uint64_t lied[2] = {0}, both[2] = {0}, again[2] = {0};
    assert_int_equal(tamis_randomizer_new(&r, p, q, NULL), TAMIS_OK);
    for (int i = 0; i < n; i++)
        for (int bit = 0; bit < 2; bit++) {
            char question[16];
            int first, second, other, same;
            snprintf(question, sizeof question, "q%d", i);
            secret[1] = 0;
            assert_int_equal(tamis_randomize_again(&first, bit, r, secret, question, "a", NULL), TAMIS_OK);
            assert_int_equal(tamis_randomize_again(&same, bit, r, secret, question, "a", NULL), TAMIS_OK);
            assert_int_equal(tamis_randomize_again(&second, bit, r, secret, question, "b", NULL), TAMIS_OK);
            secret[1] = 1;
            assert_int_equal(tamis_randomize_again(&other, bit, r, secret, question, "a", NULL), TAMIS_OK);
            assert_int_equal(first, same);
            lied[bit] += first != bit;
            both[bit] += first != bit && second != bit;
            again[bit] += first != bit && other != bit;
        }
    const double exact[] = {1 / 16., 1 / 3.};
    for (int bit = 0; bit < 2; bit++) {
        tamis_bound one = {exact[bit] * (1 - 1e-15), exact[bit] * (1 + 1e-15)},
                    two = {one.lower * one.lower, one.upper * one.upper};
        assert_true(may_be_chance(lied[bit], n, one));
        assert_true(may_be_chance(both[bit], n, two));
        assert_true(may_be_chance(again[bit], n, two));
    }
    tamis_randomizer_free(r);
    tamis_number_free(p);
    tamis_number_free(q);
}

/* One U for two lie probabilities would reveal the truth: a one at the smaller and a zero at the larger could only be a one.
 * With U's of their own, a zero gives that, too, with probability (1/4)(2/3) for the lies 1/4 and 1/3. */
static void other_probabilities_have_other_lies(void **state)
{
    (void)state;
    tamis_number *p = number("1/4"), *q = number("1/3");
    tamis_randomizer *small, *large;
    const uint8_t secret[TAMIS_SECRET] = {1};
    enum { n = 3000 };
    uint64_t both = 0;
    assert_int_equal(tamis_randomizer_new(&small, p, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_randomizer_new(&large, q, NULL, NULL), TAMIS_OK);
    for (int i = 0; i < n; i++) {
        char question[16];
        int first, second;
        snprintf(question, sizeof question, "q%d", i);
        assert_int_equal(tamis_randomize_again(&first, 0, small, secret, question, "0", NULL), TAMIS_OK);
        assert_int_equal(tamis_randomize_again(&second, 0, large, secret, question, "0", NULL), TAMIS_OK);
        both += first == 1 && second == 0;
    }
    assert_true(may_be_chance(both, n, (tamis_bound){1 / 6. - 1e-15, 1 / 6. + 1e-15}));
    tamis_randomizer_free(small);
    tamis_randomizer_free(large);
    tamis_number_free(p);
    tamis_number_free(q);
}

/* ---- files ---- */

/* Lies so rare that reports are the truth: what remains is the coding. */
static void columns_become_bits(void **state)
{
    (void)state;
    tamis_number *never = number("1/1000000000000000000000000");
    static const char *const regions[] = {"north", "south,east"};
    const tamis_categories categories = {"region", regions, 2};
    static const char *const columns[] = {"smoker", "region"};
    tamis_collection c = {.lie = never, .categories = &categories, .categories_count = 1, .id = "id", .missing_bit = 1};
    tamis_randomized facts;
    write_answers("\xef\xbb\xbfsmoker,id,region,\"a \"\"b\"\"\"\r\nYES,7,north,0\r\nno,\"8,\"\"9\",\"south,east\",TRUE\r\n,x,,1");
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    char *text = read_reports();
    assert_string_equal(text, "smoker,smoker=missing,id,region=north,\"region=south,east\",region=missing,\"a \"\"b\"\"\","
                              "\"a \"\"b\"\"=missing\"\n"
                              "1,0,7,1,0,0,0,0\n0,0,\"8,\"\"9\",0,1,0,1,0\n0,1,x,0,0,1,1,0\n");
    free(text);
    assert_int_equal(facts.reports, 3);
    assert_int_equal(facts.bits, 7);
    c = (tamis_collection){.lie = never, .categories = &categories, .categories_count = 1, .columns = columns, .column_count = 2};
    write_answers("smoker,id,region,age,size\n1,7,north,44,\nfalse,8,\"south,east\",,3\n");
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    text = read_reports();
    assert_string_equal(text, "smoker,region=north,\"region=south,east\"\n1,1,0\n0,0,1\n");
    free(text);
    assert_int_equal(facts.left_out, 3);
    write_answers("smoker,region\n"); /* nobody answered */
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    assert_int_equal(facts.reports, 0);
    tamis_number_free(never);
}

/* The answer of a bit, which a permanent lie is made from, is one that sets this bit. */
static void bits_stand_for_their_answers(void **state)
{
    (void)state;
    static const char *const regions[] = {"north", "south"};
    const tamis_categories categories = {"region", regions, 2};
    const tmi_cells cells = {.path = "answers.csv"};
    for (int missing = 0; missing < 2; missing++) {
        const tmi_coded_column columns[] = {
            {.as = TMI_YES_NO, .name = "a", .bits = 1 + (size_t)missing, .missing = missing},
            {.as = TMI_ONE_HOT, .name = "region", .categories = &categories, .bits = 2 + (size_t)missing, .missing = missing}};
        for (size_t c = 0; c < 2; c++) {
            size_t set;
            for (size_t b = 0; b < columns[c].bits; b++) {
                const char *answer = tmi_coded_answer(&columns[c], b);
                assert_int_equal(answer[0] == '\0', missing && b + 1 == columns[c].bits);
                assert_int_equal(tmi_code_cell(&set, &columns[c], answer, &cells, NULL), TAMIS_OK);
                assert_int_equal(set, b);
            }
            if (c == 1) continue;
            assert_int_equal(tmi_code_cell(&set, &columns[c], tmi_coded_answer(&columns[c], SIZE_MAX), &cells, NULL), TAMIS_OK);
            assert_true(set == SIZE_MAX); /* no */
        }
    }
}

/* A column with a bit for missing answers may differ in two bits. */
static void missing_answers_cost(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_collection c = {.lie = lie, .missing_bit = 1};
    tamis_randomized facts;
    write_answers("a,b\n1,\n");
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    assert_true(holds(facts.local, 4 * log(3)));
    c.missing_bit = 0;
    write_answers("a,b\n1,0\n");
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    assert_true(holds(facts.local, 2 * log(3)));
    tamis_number_free(lie);
}

/* Each of 70 rows lies in about half of 200 runs; none has fewer than 20 lies but with probability below 10^-25 for each. */
static void every_row_lies(void **state)
{
    (void)state;
    enum { n = 70, runs = 200 };
    tamis_number *lie = number("31/64");
    tamis_collection c = {.lie = lie};
    tamis_randomized facts;
    char answers[2 * n + 3] = "a\n";
    int lied[n] = {0};
    for (int i = 0; i < n; i++) strcat(answers, i % 2 ? "1\n" : "0\n");
    for (int run = 0; run < runs; run++) {
        write_answers(answers);
        assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
        char *text = read_reports();
        for (int i = 0; i < n; i++) lied[i] += text[2 + 2 * i] != answers[2 + 2 * i];
        free(text);
    }
    for (int i = 0; i < n; i++) assert_true(lied[i] >= 20);
    tamis_number_free(lie);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "empty"},
        {"\n1\n", "first line"},
        {"a,b\n1,0\n1\n", "line 3: 1 cells"},
        {"a,b\n1,0,1\n", "line 2: 3 cells"},
        {"a\nmaybe\n", "line 2: column a: must be 1 or 0"},
        {"a\n1\n\n", "line 3: column a: the answer is missing"},
        {"a\n2\n", "must be 1 or 0"},
        {"a\n\"1\n", "never closed"},
        {"a\n\"1\"x\n", "after a closing quote"},
        {"a\n1\"\n", "inside a cell"},
        {"a,a\n1,1\n", "same name as another"},
        {"a=b\n1\n", "'='"},
        {"a\n\"x\ny\"\n", "line 2"},
        {"\x01\n1\n", "control"},
    };
    tamis_number *lie = number("1/4");
    tamis_collection c = {.lie = lie};
    tamis_randomized facts;
    tamis_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int packed = 0; packed < 2; packed++) {
            c.packed = packed;
            write_answers(cases[i].text);
            assert_int_equal(randomize(&facts, &c, &err), TAMIS_INVALID);
            if (!strstr(err.message, cases[i].says)) fail_msg("%s", err.message);
            assert_null(strstr(err.message, "maybe"));
            assert_null(read_reports());
            assert_true(isinf(facts.local.upper));
        }
    }
    c.secret = (const uint8_t *)folder;
    assert_int_equal(randomize(&facts, &c, &err), TAMIS_INVALID); /* permanent lies of whom? */
    static const char *const both[] = {"a", "id"};
    c = (tamis_collection){.lie = lie, .id = "id", .columns = both, .column_count = 2};
    write_answers("a,id\n1,7\n");
    assert_int_equal(randomize(&facts, &c, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "cannot be an answer as well"));
    tamis_number_free(lie);
}

/* Both forms from the same random bits have the same reports. */
static void both_forms_agree(void **state)
{
    (void)state;
    tamis_number *lie = number("1/3"), *zero = number("1/4");
    static const char *const kinds[] = {"x", "y", "z"};
    const tamis_categories categories = {"b", kinds, 3};
    tamis_collection c = {.lie = lie, .lie_zero = zero, .categories = &categories, .categories_count = 1};
    tamis_randomized facts;
    enum { n = 3000 };
    char *answers = malloc(16 * n), *at = answers + sprintf(answers, "a,b\n");
    for (int i = 0; i < n; i++) at += sprintf(at, "%d,%s\n", i % 3 == 0, kinds[i % 7 % 3]);
    write_answers(answers);
    bits_from_seed(5);
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    char *text = read_reports(), *line = strchr(text, '\n') + 1;
    c.packed = 1;
    bits_from_seed(5);
    assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
    FILE *file = fopen(out_path, "rb");
    tmi_packed_reader *reader;
    tmi_packed_block block;
    assert_int_equal(tmi_packed_reader_new(&reader, file, "reports", NULL), TAMIS_OK);
    assert_string_equal(tmi_packed_form_of(reader)->names[3], "b=z");
    assert_int_equal(tmi_packed_next(&block, reader, NULL), TAMIS_OK);
    assert_int_equal(block.rows, n);
    uint64_t ones[4] = {0};
    for (size_t i = 0; i < n; i++, line += 8)
        for (size_t b = 0; b < 4; b++) {
            char bit = (char)('0' + (block.words[i / 16] >> (4 * (i % 16) + b) & 1));
            assert_int_equal(line[2 * b], bit);
            ones[b] += bit == '1';
        }
    /* 1000 of 3000 ones in a: reports are a mixture, bounded by the sum of two binomials; a count of lies of each kind is checked
     * in rng/flips. Here: within 10 standard deviations. */
    double mean = 1000 * 2 / 3. + 2000 / 4., sd = sqrt(1000 * 2 / 9. + 2000 * 3 / 16.);
    assert_true(fabs((double)ones[0] - mean) < 10 * sd);
    tmi_packed_reader_free(reader);
    fclose(file);
    free(text);
    free(answers);
    bits_from_seed(1);
    tamis_number_free(lie);
    tamis_number_free(zero);
}

/* The same client with the same answer: the same report in each wave, whatever the random bits. */
static void waves_repeat_the_lie(void **state)
{
    (void)state;
    tamis_number *lie = number("1/3");
    const uint8_t secret[TAMIS_SECRET] = {9};
    static const char *const kinds[] = {"x", "y", "z"};
    const tamis_categories categories = {"b", kinds, 3};
    tamis_collection c = {.lie = lie, .id = "id", .secret = secret, .categories = &categories, .categories_count = 1};
    tamis_randomized facts;
    char *answers = malloc(1 << 16), *at = answers + sprintf(answers, "id,a,b\n"), *waves[2];
    for (int i = 0; i < 500; i++) at += sprintf(at, "c%d,%d,%s\n", i, i % 2, kinds[i % 3]);
    for (int wave = 0; wave < 2; wave++) {
        write_answers(answers);
        bits_from_seed(wave ? 3 : 4);
        assert_int_equal(randomize(&facts, &c, NULL), TAMIS_OK);
        waves[wave] = read_reports();
    }
    assert_string_equal(waves[0], waves[1]);
    /* Clients have lies of their own: 83 of 250 expected for either answer, standard deviation 7.5. */
    size_t lied[2] = {0};
    int client = 0;
    for (char *line = waves[0]; (line = strchr(line, '\n')) && line[1]; line++, client++)
        lied[client % 2] += strchr(line + 1, ',')[1] != '0' + client % 2;
    assert_true(client == 500 && lied[0] > 20 && lied[0] < 150 && lied[1] > 20 && lied[1] < 150);
    free(waves[0]);
    free(waves[1]);
    free(answers);
    bits_from_seed(1);
    tamis_number_free(lie);
}

static void secrets_are_kept(void **state)
{
    (void)state;
    uint8_t secret[TAMIS_SECRET], again[TAMIS_SECRET], zero[TAMIS_SECRET] = {0};
    struct stat facts;
    unlink(out_path);
    assert_int_equal(tamis_secret_file(secret, out_path, rng, NULL), TAMIS_OK);
    assert_memory_not_equal(secret, zero, sizeof secret);
    assert_true(stat(out_path, &facts) == 0 && (facts.st_mode & 0777) == 0600);
    assert_int_equal(tamis_secret_file(again, out_path, rng, NULL), TAMIS_OK);
    assert_memory_equal(secret, again, sizeof secret);
    assert_int_equal(chmod(out_path, 0644), 0);
    assert_int_equal(tamis_secret_file(again, out_path, rng, NULL), TAMIS_INVALID);
    assert_memory_equal(again, zero, sizeof zero);
    write_answers("not a secret\n");
    assert_int_equal(chmod(in_path, 0600), 0);
    assert_int_equal(tamis_secret_file(again, in_path, rng, NULL), TAMIS_INVALID);
}

static void memory_can_run_out(void **state)
{
    (void)state;
    tamis_number *lie = number("1/3");
    const uint8_t secret[TAMIS_SECRET] = {9};
    static const char *const kinds[] = {"x", "y"};
    const tamis_categories categories = {"b", kinds, 2};
    tamis_collection c = {.lie = lie, .id = "id", .categories = &categories, .categories_count = 1};
    tamis_randomized facts;
    for (int way = 0; way < 3; way++) {
        c.packed = way == 1;
        c.secret = way == 2 ? secret : NULL;
        write_answers("id,a,b\n1,0,x\n2,1,y\n");
        for (long k = 1;; k++) {
            fail_allocation(k);
            tamis_status status = randomize(&facts, &c, NULL);
            if (!allocation_failed()) break;
            assert_int_equal(status, TAMIS_SYSTEM);
            assert_true(isinf(facts.local.upper));
        }
    }
    tamis_number_free(lie);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(local_guarantee_is_the_worst_ratio),
        cmocka_unit_test(lies_outside_the_range_are_refused),
        cmocka_unit_test(permanent_lies_are_known),
        cmocka_unit_test(permanent_lies_have_their_probability),
        cmocka_unit_test(other_probabilities_have_other_lies),
        cmocka_unit_test(columns_become_bits),
        cmocka_unit_test(bits_stand_for_their_answers),
        cmocka_unit_test(missing_answers_cost),
        cmocka_unit_test(every_row_lies),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(both_forms_agree),
        cmocka_unit_test(waves_repeat_the_lie),
        cmocka_unit_test(secrets_are_kept),
        cmocka_unit_test(memory_can_run_out),
    };
    return cmocka_run_group_tests_name("collect/randomize", cases, begin, end);
}
