/* Reading reports, saving and adding tallies: what is refused, and allocations that fail. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/scripted_bits.h"
#include "tests/test.h"

static char folder[] = "/tmp/tamis-tally-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* A file with this text; its path is valid until the fourth call from now. */
static const char *file_of(const char *name, const char *text)
{
    static char paths[4][96];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static tamis_tally *tally_of(const tamis_tally_terms *terms, const char *text)
{
    tamis_tally *tally;
    tamis_error err = {0};
    assert_int_equal(tamis_tally_new(&tally, terms, &err), TAMIS_OK);
    if (tamis_tally_add(tally, file_of("reports.csv", text), NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return tally;
}

/* The message of the file that must be refused. */
static const char *refused(const tamis_tally_terms *terms, const char *text)
{
    static tamis_error err;
    tamis_tally *tally;
    err = (tamis_error){0};
    assert_int_equal(tamis_tally_new(&tally, terms, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_add(tally, file_of("bad.csv", text), NULL, &err), TAMIS_INVALID);
    tamis_tally_free(tally);
    return err.message;
}

static void counts(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie},
                              "a,b=x\n0,1\n1,1\n\"0\", 1 \n");
    assert_int_equal(tamis_tally_reports(t), 3);
    assert_int_equal(tamis_tally_positions(t), 2);
    assert_int_equal(tamis_tally_ones(t, 0), 1);
    assert_int_equal(tamis_tally_ones(t, 1), 3);
    assert_string_equal(tamis_tally_column(t, 1), "b=x");
    assert_null(tamis_tally_column(t, 2));
    assert_int_equal(tamis_tally_ones(t, -1), 0);
    tamis_tally_free(t);
    tamis_tally_free(NULL);
    tamis_number_free(lie);
}

/* File and line, and never what is there. */
static void bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a,b\n0,1\n0\n", "line 3"},
        {"a,b\n0,1\n0,1,1\n", "line 3"},
        {"a,b\n0,1\n0,7\n", "line 3: bit 2 of the report is neither 0 nor 1"},
        {"a,b\n0,\n", "line 2: bit 2 of the report is neither 0 nor 1"},
        {"a\n0\n1\n01\n", "line 4: bit 1"},
        {"a\nyes\n", "line 2: bit 1"},
        {"", "bad.csv"},
        {"a,a\n0,1\n", "bad.csv"},
    };
    tamis_number *lie = number("1/4");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, cases[i].text);
        const char *after = strstr(message, "bad.csv"); /* its folder's name is random and may hold a 7 */
        if (!strstr(message, cases[i].message) || !after) fail_msg("%s", message);
        assert_true(!strstr(after, "7") && !strstr(after, "yes"));
    }
    assert_non_null(strstr(refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, "a\n1\n"), "--lie"));
    assert_non_null(strstr(refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .id = "who"}, "a\n1\n"),
                           "client ids is missing"));
    assert_non_null(strstr(refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .weight = "w"}, "a\n1\n"),
                           "weights is missing"));
    assert_non_null(
        strstr(refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .weight = "w"}, "a,w\n1,0\n"),
               "line 2: the weight"));
    assert_non_null(
        strstr(refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .weight = "w"}, "a,w\n1,1\n1,1e9\n"),
               "line 3: the weight"));
    assert_non_null(strstr(refused(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .table = 1},
                                   "a,b,c,d,e,f,g,h,i,j,k\n"),
                           "10 bits"));
    tamis_number_free(lie);
}

static void lies(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"0", NULL},    {"1/2", NULL}, {"-1/4", NULL}, {"3/4", NULL},
                                           {"1/2", "1/2"}, {"0", "1/4"},  {"1/4", "0"},   {"3/4", "1/4"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tamis_number *one = number(wrong[i][0]), *zero = wrong[i][1] ? number(wrong[i][1]) : NULL;
        tamis_tally *tally;
        assert_int_equal(tamis_tally_new(&tally,
                                         &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = one, .lie_zero = zero},
                                         NULL),
                         TAMIS_INVALID);
        assert_null(tally);
        tamis_number_free(one);
        tamis_number_free(zero);
    }
}

static void clients(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_tally_terms terms = {.size = sizeof(tamis_tally_terms), .lie = lie, .id = "who"};
    static const char text[] = "a,who,b\n1,anna,0\n0,bert,1\n0,anna,1\n";
    assert_non_null(strstr(refused(&terms, text), "line 4: this client has already reported"));
    assert_non_null(strstr(refused(&terms, "a,who\n1,\n"), "line 2: the client id is missing"));
    terms.once = 1;
    tamis_tally *t = tally_of(&terms, text);
    assert_int_equal(tamis_tally_reports(t), 2);
    assert_int_equal(tamis_tally_ones(t, 0), 1);
    assert_int_equal(tamis_tally_ones(t, 1), 1);
    assert_int_equal(tamis_tally_repeated(t), 1);
    tamis_tally_free(t);
    char *many = malloc(1 << 20);
    assert_non_null(many);
    size_t at = (size_t)sprintf(many, "who,a\n");
    for (int i = 0; i < 20000; i++) at += (size_t)sprintf(many + at, "c%d,1\n", i % 15000);
    t = tally_of(&terms, many);
    assert_int_equal(tamis_tally_reports(t), 15000);
    assert_int_equal(tamis_tally_repeated(t), 5000);
    free(many);
    tamis_tally_free(t);
    tamis_number_free(lie);
}

/* Horvitz and Thompson by hand: weights 2, 1, 1, ones in the first and the last. */
static void weights(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .weight = "w"},
                              "a,w\n1,2\n0,1\n1,1.0\n");
    tamis_tally_share share;
    assert_int_equal(tamis_tally_shares(&share, t, NULL, NULL), TAMIS_OK);
    assert_true(close_to(share.estimate, (3.0 / 4 - 0.25) / 0.5) && close_to(share.noise_sd, sqrt(0.1875 / 0.25 * 6) / 4));
    const double variance = (4 * 0.0625 + 0.5625 + 0.0625) / 0.25 / 16 * 1.5;
    assert_true(close_to(share.se, sqrt(fmax(variance, 0.1875 / 0.25 * 6 / 16))) && isnan(share.reporters_lower));
    assert_int_equal(tamis_tally_shares(&share, t, &(tamis_tally_question){.size = sizeof(tamis_tally_question), .population = 8},
                                        NULL),
                     TAMIS_OK);
    assert_true(close_to(share.estimate, 0.5));
    tamis_tally_free(t);
    tamis_number_free(lie);
}

/* Saved, read and added up; every byte matters. */
static void saved(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    const tamis_tally_terms terms = {.size = sizeof(tamis_tally_terms), .lie = lie, .table = 1, .weight = "w"};
    tamis_tally *t = tally_of(&terms, "a,b,w\n1,0,1.5\n1,1,2\n"), *sum;
    char *text, *again;
    tamis_error err;
    assert_int_equal(tamis_tally_write(&text, t, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_new(&sum, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_add(sum, file_of("a.tally", text), NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_write(&again, sum, NULL), TAMIS_OK);
    assert_string_equal(again, text);
    tamis_free(again);
    assert_int_equal(tamis_tally_add(sum, file_of("b.tally", text), NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "added already"));
    tamis_tally_free(t);
    t = tally_of(&terms, "a,b,w\n0,0,1.5\n1,1,2\n0,0,3\n");
    assert_int_equal(tamis_tally_write(&again, t, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_add(sum, file_of("b.tally", again), NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_reports(sum), 5);
    assert_int_equal(tamis_tally_ones(sum, 0), 3);
    tamis_tally_free(t);
    tamis_free(again);
    const size_t stride = (size_t)test_size(5, 1);
    for (size_t i = 0; i < strlen(text); i += stride) {
        const char old = text[i];
        text[i] = old == '1' ? '2' : '1';
        tamis_tally *bad;
        assert_int_equal(tamis_tally_new(&bad, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, NULL), TAMIS_OK);
        if (i > 0) assert_int_equal(tamis_tally_add(bad, file_of("c.tally", text), NULL, NULL), TAMIS_INVALID);
        tamis_tally_free(bad);
        text[i] = old;
    }
    for (size_t length = 1; length < strlen(text); length += stride) {
        char *cut = strdup(text);
        tamis_tally *bad;
        cut[length] = 0;
        assert_int_equal(tamis_tally_new(&bad, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, NULL), TAMIS_OK);
        assert_int_equal(tamis_tally_add(bad, file_of("c.tally", cut), NULL, NULL), TAMIS_INVALID);
        tamis_tally_free(bad);
        free(cut);
    }
    tamis_free(text);
    tamis_tally_free(sum);
    tamis_number_free(lie);
}

/* Files that do not fit the one before. */
static void mixed(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4"), *other = number("1/8");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, "a,b\n0,1\n"),
                *u = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = other}, "a,b\n0,1\n");
    char *text;
    assert_int_equal(tamis_tally_write(&text, u, NULL), TAMIS_OK);
    const char *files[] = {"a\n0\n", "b,a\n0,1\n", "a,b,c\n0,1,1\n", text};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(tamis_tally_add(t, file_of("next", files[i]), NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_tally_add(t, "/nowhere/at/all", NULL, NULL), TAMIS_INVALID);
    tamis_free(text);
    tamis_tally_free(t);
    tamis_tally_free(u);
    tamis_number_free(lie);
    tamis_number_free(other);
}

/* A shuffled file has the same reports, without ids, and every order of three reports turns up. */
static void shuffles(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_tally *t = tally_of(
        &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .id = "who", .once = 1, .keep = 1},
        "who,a,b\nx,0,1\ny,1,0\nx,1,1\nz,0,0\n");
    char path[96], text[64];
    unsigned seen = 0;
    for (int round = 0; round < 400; round++) { /* each of six orders is missed with probability (5/6)^400 < 2e-32 */
        snprintf(path, sizeof path, "%s/%d.csv", folder, round);
        bits_from_seed((uint64_t)round + 1);
        assert_int_equal(tamis_tally_shuffle(t, path, NULL), TAMIS_OK);
        FILE *file = fopen(path, "r");
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        assert_int_equal(strlen(text), strlen("a,b\n0,1\n1,0\n0,0\n"));
        const char *one = strstr(text, "\n0,1\n"), *two = strstr(text, "\n1,0\n"), *three = strstr(text, "\n0,0\n");
        assert_true(one && two && three);
        seen |= 1u << ((one < two) + 2 * (two < three) + 4 * (one < three));
    }
    assert_int_equal(__builtin_popcount(seen), 6);
    snprintf(path, sizeof path, "%s/packed", folder);
    assert_int_equal(tamis_tally_shuffle(t, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_shuffle(t, path, NULL), TAMIS_INVALID); /* it exists */
    tamis_tally *packed;
    assert_int_equal(tamis_tally_new(&packed, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .table = 1}, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_tally_add(packed, path, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_reports(packed), 3);
    assert_int_equal(tamis_tally_ones(packed, 1), 1);
    tamis_tally_free(packed);
    tamis_tally_free(t);
    tamis_number_free(lie);
}

/* Rows in the caller's memory: the engine counts the same, whole reports too, and says if a column has something else. */
static void sources(void **state)
{
    (void)state;
    static const int64_t a[] = {1, 0, 1, 1, 0}, b[] = {0, 0, 1, 1, 1}, bad[] = {0, 1, 2, 0, 0};
    tamis_number *lie = number("1/4");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .table = 1},
                              "a,b\n1,0\n0,0\n1,1\n1,1\n0,1\n"),
                *u;
    tamis_source *rows;
    tamis_error err;
    char *text, *other;
    assert_int_equal(tamis_source_new(&rows, 5, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(rows, "a", a, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(rows, "b", b, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_integers(rows, "bad", bad, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_new(&u, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .table = 1}, NULL),
                     TAMIS_OK);
    assert_int_equal(
        tamis_tally_add_source(u, &(tamis_tally_source){.size = sizeof(tamis_tally_source), .rows = rows, .columns = "a,b"}, NULL,
                               NULL),
        TAMIS_OK);
    assert_int_equal(tamis_tally_write(&text, t, NULL), TAMIS_OK);
    assert_int_equal(tamis_tally_write(&other, u, NULL), TAMIS_OK);
    assert_string_equal(text, other);
    tamis_free(text);
    tamis_free(other);
    tamis_tally_free(u);
    static const char *const wrong[] = {"bad", "c", "a,", "a,a", NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(tamis_tally_new(&u, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, NULL),
                         TAMIS_OK);
        const tamis_tally_source source = {.size = sizeof(tamis_tally_source), .rows = rows, .columns = wrong[i]};
        assert_int_equal(tamis_tally_add_source(u, &source, NULL, &err), TAMIS_INVALID);
        tamis_tally_free(u);
    }
    assert_int_equal(tamis_tally_new(&u, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .id = "who"}, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_tally_add_source(
                         u, &(tamis_tally_source){.size = sizeof(tamis_tally_source), .rows = rows, .columns = "a"}, NULL, &err),
                     TAMIS_INVALID);
    tamis_tally_free(u);
    assert_int_equal(tamis_tally_new(&u, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, NULL),
                     TAMIS_OK); /* an engine does not know the lies */
    assert_int_equal(tamis_tally_add_source(
                         u, &(tamis_tally_source){.size = sizeof(tamis_tally_source), .rows = rows, .columns = "a"}, NULL, &err),
                     TAMIS_INVALID);
    tamis_tally_free(u);
    tamis_source_free(rows);
    tamis_tally_free(t);
    tamis_number_free(lie);
}

/* The losses of the bits add up; a one-hot code costs one bit each way. */
static void guarantees(void **state)
{
    (void)state;
    tamis_number *one = number("1/4"), *zero = number("1/8");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = one, .lie_zero = zero},
                              "c=x,c=y,a\n1,0,1\n0,1,0\n");
    tamis_tally_guarantee g;
    const double A = log(0.75 / 0.125), B = log(0.875 / 0.25);
    assert_int_equal(tamis_tally_promise(&g, t, NULL, NULL), TAMIS_OK);
    assert_true(g.positions == 3 && g.local.lower <= 3 * fmax(A, B) * (1 + 1e-15) && close_to(g.local.upper, 3 * fmax(A, B)));
    assert_true(0 <= g.anonymous.lower && g.anonymous.lower <= g.anonymous.upper && g.anonymous.upper <= g.local.upper);
    assert_int_equal(tamis_tally_promise(&g, t, &(tamis_tally_question){.size = sizeof(tamis_tally_question), .categories = "c"},
                                         NULL),
                     TAMIS_OK);
    assert_true(g.positions == 3 && close_to(g.local.upper, A + B + fmax(A, B)));
    tamis_tally_free(t);
    t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = one}, "a\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n");
    assert_int_equal(tamis_tally_promise(&g, t, &(tamis_tally_question){.size = sizeof(tamis_tally_question), .promised = 1000},
                                         NULL),
                     TAMIS_OK);
    assert_true(close_to(g.local.upper, log(3)) && g.promised.upper < g.anonymous.upper);
    assert_int_equal(tamis_tally_promise(&g, t, &(tamis_tally_question){.size = sizeof(tamis_tally_question), .promised = 5},
                                         NULL),
                     TAMIS_OK);
    assert_true(g.promised.upper == g.anonymous.upper);
    tamis_tally_free(t);
    tamis_number_free(one);
    tamis_number_free(zero);
}

/* ---- the guarantee of published counts, by enumeration ---- */

#define MOST_BITS 5
#define MOST_REPORTS 3

/* Answers of a person: a bit mask each. A group of bits has exactly one 1, other bits have any value. */
static size_t answers_of(unsigned *list, const int *group, size_t bits)
{
    size_t count = 0;
    for (unsigned answer = 0; answer < 1u << bits; answer++) {
        int ones[MOST_BITS + 1] = {0}, members[MOST_BITS + 1] = {0};
        bool possible = true;
        for (size_t j = 0; j < bits; j++) members[group[j]]++, ones[group[j]] += (int)(answer >> j & 1);
        for (int g = 1; g <= MOST_BITS; g++) possible = possible && (members[g] == 0 || ones[g] == 1);
        if (possible) list[count++] = answer;
    }
    return count;
}

/* P(the counts of all bits are those of `counts`): bits are flipped independently. */
static double mass(const unsigned *answers, size_t reports, const int *counts, size_t bits, double lie, double lie_zero)
{
    double product = 1;
    for (size_t j = 0; j < bits; j++) {
        double law[MOST_REPORTS + 1] = {1};
        for (size_t r = 0; r < reports; r++) {
            const double one = answers[r] >> j & 1 ? 1 - lie : lie_zero;
            for (size_t k = r + 1; k > 0; k--) law[k] = law[k] * (1 - one) + law[k - 1] * one;
            law[0] *= 1 - one;
        }
        product *= law[counts[j]];
    }
    return product;
}

/* The largest delta over all answers of one person and of the others. */
static double largest_delta(double epsilon, const int *group, size_t bits, size_t reports, double lie, double lie_zero)
{
    unsigned list[1 << MOST_BITS], one[MOST_REPORTS], other[MOST_REPORTS];
    const size_t answers = answers_of(list, group, bits);
    size_t rest = 1, outcomes = 1;
    double most = 0;
    for (size_t r = 1; r < reports; r++) rest *= answers;
    for (size_t j = 0; j < bits; j++) outcomes *= reports + 1;
    for (size_t o = 0; o < rest; o++) {
        for (size_t r = 1, left = o; r < reports; r++, left /= answers) one[r] = other[r] = list[left % answers];
        for (size_t pair = 0; pair < answers * answers; pair++) {
            double delta = 0;
            one[0] = list[pair / answers], other[0] = list[pair % answers];
            for (size_t y = 0; y < outcomes; y++) {
                int counts[MOST_BITS];
                for (size_t j = 0, left = y; j < bits; j++, left /= reports + 1) counts[j] = (int)(left % (reports + 1));
                delta += fmax(0, mass(one, reports, counts, bits, lie, lie_zero) -
                                     exp(epsilon) * mass(other, reports, counts, bits, lie, lie_zero));
            }
            most = fmax(most, delta);
        }
    }
    return most;
}

static void no_answer_loses_more_than_is_promised(void **state)
{
    (void)state;
    static const struct {
        const char *header, *categories;
        int group[MOST_BITS];
        size_t bits;
    } shapes[] = {{"a", NULL, {0}, 1},
                  {"a,b", NULL, {0, 0}, 2},
                  {"c=x,c=y,c=z", "c", {1, 1, 1}, 3},
                  {"c=x,c=y,a", "c", {1, 1, 0}, 3},
                  {"c=x,c=y,d=x,d=y", "c,d", {1, 1, 2, 2}, 4},
                  {"c=x,c=y,d=x,d=y,d=z", "c,d", {1, 1, 2, 2, 2}, 5}};
    static const char *const lies[][3] = {{"1/4", "1/4", "1/10"}, {"1/3", "1/8", "1/20"}, {"1/5", "2/5", "1/4"}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const char *const *given = lies[i % 3];
        const size_t bits = shapes[i].bits, reports = 2, promised = bits > 3 ? 2 : MOST_REPORTS;
        const int *group = shapes[i].group;
        tamis_number *lie = number(given[0]), *zero = number(given[1]), *delta = number(given[2]);
        const double l = tmi_number_nearest(lie), z = tmi_number_nearest(zero), d = tmi_number_nearest(delta);
        char text[200];
        int length = snprintf(text, sizeof text, "%s\n", shapes[i].header);
        for (size_t k = 0; k < reports * bits; k++)
            length += snprintf(text + length, sizeof text - (size_t)length, "0%c", (k + 1) % bits ? ',' : '\n');
        tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .lie_zero = zero}, text);
        tamis_tally_guarantee g;
        const tamis_tally_question question = {.size = sizeof(tamis_tally_question),
                                               .categories = shapes[i].categories,
                                               .delta = delta,
                                               .promised = (int64_t)promised};
        assert_int_equal(tamis_tally_promise(&g, t, &question, NULL), TAMIS_OK);
        /* the upper ends are upper bounds: at them nobody loses more than delta, and locally nothing at all */
        if (largest_delta(g.anonymous.upper, group, bits, reports, l, z) > d * (1 + 1e-9) ||
            largest_delta(g.promised.upper, group, bits, promised, l, z) > d * (1 + 1e-9) ||
            largest_delta(g.local.upper, group, bits, 1, l, z) > 1e-12)
            fail_msg("%s: epsilon %g, promised %g, local %g", shapes[i].header, g.anonymous.upper, g.promised.upper,
                     g.local.upper);
        assert_true(largest_delta(0.999 * g.local.upper, group, bits, 1, l, z) > 0);
        tamis_tally_free(t);
        tamis_number_free(lie);
        tamis_number_free(zero);
        tamis_number_free(delta);
    }
}

/* What is not declared may be any answer, for the upper ends; lower ends assume only answers that are certain. Two reports of a
 * yes/no question with a bit for a missing answer: the three answers that there are have 2.3187045 at delta 1/20, all histograms
 * added up by another program; all four vectors have 2.7890326. */
static void lower_ends_assume_the_fewest_answers(void **state)
{
    (void)state;
    tamis_number *one = number("1/3"), *zero = number("1/7"), *delta = number("1/20");
    const double A = log((2.0 / 3) / (1.0 / 7)), B = log((6.0 / 7) / (1.0 / 3));
    const struct {
        const char *header, *categories;
        double least, most;
    } cases[] = {{"a,a=missing\n1,0\n0,0\n", NULL, A + B, 2 * A},
                 {"a,b\n1,0\n0,0\n", NULL, 2 * A, 2 * A},
                 {"c=x,c=y\n1,0\n0,1\n", NULL, A + B, 2 * A},
                 {"c=x,c=y\n1,0\n0,1\n", "c", A + B, A + B},
                 {"b,c=x,a,c=y\n0,1,0,0\n0,0,0,1\n", NULL, 3 * A + B, 4 * A},
                 {"c=x,a\n1,0\n1,0\n", NULL, A, 2 * A}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = one, .lie_zero = zero},
                                  cases[i].header);
        tamis_tally_guarantee g;
        assert_int_equal(tamis_tally_promise(&g, t,
                                             &(tamis_tally_question){.size = sizeof(tamis_tally_question),
                                                                     .delta = delta,
                                                                     .categories = cases[i].categories},
                                             NULL),
                         TAMIS_OK);
        assert_true(close_to(g.local.lower, cases[i].least) && close_to(g.local.upper, cases[i].most));
        assert_true(g.anonymous.lower <= g.local.lower && g.anonymous.lower <= g.anonymous.upper);
        if (i == 0) assert_true(g.anonymous.lower > 2.3 && g.anonymous.lower <= 2.3187045 && g.anonymous.upper >= 2.7890326);
        if (i == 1) assert_true(g.anonymous.lower > 2.78);
        tamis_tally_free(t);
    }
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_number_free(delta);
}

/* Bits at which the person's two answers agree still tell the reports of others apart. Two reports of one category out of four
 * and of a bit: all histograms and all answers of the other, added up by another program, give 5.81280539... at delta 3/10. */
static void mixed_whole_reports(void **state)
{
    (void)state;
    tamis_number *lie = number("1/10"), *delta = number("3/10");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .table = 1},
                              "c=w,c=x,c=y,c=z,a\n1,0,0,0,0\n1,0,0,0,0\n");
    tamis_tally_guarantee g;
    assert_int_equal(tamis_tally_promise(
                         &g, t, &(tamis_tally_question){.size = sizeof(tamis_tally_question), .categories = "c", .delta = delta},
                         NULL),
                     TAMIS_OK);
    assert_true(g.anonymous.lower <= 5.812805396 && 5.812805396 <= g.anonymous.upper && g.anonymous.upper <= g.local.upper);
    assert_true(close_to(g.local.upper, 3 * log(9)));
    tamis_tally_free(t);
    tamis_number_free(lie);
    tamis_number_free(delta);
}

/* If weights differ, sums of them show whose reports were ones: being one of many does not help. */
static void weights_hide_nobody(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .weight = "w"},
                              "a,w\n1,1\n0,2\n1,4\n0,8\n1,16\n0,32\n1,64\n");
    tamis_tally_guarantee g;
    assert_int_equal(tamis_tally_promise(&g, t, &(tamis_tally_question){.size = sizeof(tamis_tally_question), .promised = 1000},
                                         NULL),
                     TAMIS_OK);
    assert_true(close_to(g.local.upper, log(3)) && g.anonymous.upper == g.local.upper && g.promised.upper == g.local.upper);
    tamis_tally_free(t);
    tamis_number_free(lie);
}

/* ---- allocations that fail: the first ones, and then fewer and fewer, for the anonymous epsilon makes many ---- */

static long next_of(long k) { return k < 300 ? k + test_size(2, 1) : k + k / test_size(1, 8); }

static tamis_status whole_way(const tamis_tally_terms *terms, const char *path, const char *saved_path, tamis_error *err)
{
    tamis_tally *t = NULL;
    char *json = NULL, *csv = NULL, *file = NULL;
    const tamis_tally_question question = {.size = sizeof(tamis_tally_question), .population = 10, .categories = "c"};
    tamis_status status = tamis_tally_new(&t, terms, err);
    if (status == TAMIS_OK) status = tamis_tally_add(t, path, NULL, err);
    if (status == TAMIS_OK && saved_path) status = tamis_tally_add(t, saved_path, NULL, err);
    if (status == TAMIS_OK) status = tamis_tally_write(&file, t, err);
    if (status == TAMIS_OK) status = tamis_tally_json(&json, t, &question, err);
    if (status == TAMIS_OK) status = tamis_tally_csv(&csv, t, &question, err);
    tamis_free(json);
    tamis_free(csv);
    tamis_free(file);
    tamis_tally_free(t);
    return status;
}

static void allocations(void **state)
{
    (void)state;
    tamis_number *lie = number("1/4");
    tamis_error err;
    const char *path = file_of("whole.csv", "c=x,who,c=y\n1,anna,0\n0,bert,1\n");
    ALLOCATIONS_FAIL(next_of(k_),
                     whole_way(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie, .id = "who", .keep = 1}, path,
                               NULL, &err),
                     {});
    path = file_of("plain.csv", "c=x,c=y\n1,0\n0,1\n");
    tamis_tally *t = tally_of(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, "c=x,c=y\n1,0\n0,0\n");
    char *text;
    assert_int_equal(tamis_tally_write(&text, t, NULL), TAMIS_OK);
    const char *saved_path = file_of("d.tally", text);
    ALLOCATIONS_FAIL(next_of(k_),
                     whole_way(&(tamis_tally_terms){.size = sizeof(tamis_tally_terms), .lie = lie}, path, saved_path, &err), {});
    tamis_free(text);
    tamis_tally_free(t);
    tamis_number_free(lie);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(lies),
        cmocka_unit_test(clients),
        cmocka_unit_test(weights),
        cmocka_unit_test(saved),
        cmocka_unit_test(mixed),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(sources),
        cmocka_unit_test(guarantees),
        cmocka_unit_test(no_answer_loses_more_than_is_promised),
        cmocka_unit_test(lower_ends_assume_the_fewest_answers),
        cmocka_unit_test(mixed_whole_reports),
        cmocka_unit_test(weights_hide_nobody),
        cmocka_unit_test(allocations),
    };
    return cmocka_run_group_tests(cases, make_folder, remove_folder);
}
