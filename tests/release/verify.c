/* A certificate verifies; every leaf that is changed is found; a guarantee that was left out is computed. */
#include "tests/test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tamis/ledger.h>
#include <tamis/verify.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/value/json.h"
#include "release/release.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/array_engine.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tamis-verify-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const array_row rows[] = {
    {.x = 12, .g = "a", .h = "u"}, {.x = 50, .g = "a", .h = "v"}, {.x = 13, .g = "b", .h = "u"}, {.x = 18, .g = "b", .h = "w"},
    {.x = 20, .g = "b", .h = "w"}, {.x = 29, .g = "a", .h = "w"}, {.x = 15, .g = "a", .h = "v"}, {.x = 11, .g = "a", .h = "u"},
};

#define SRS "design: {srs: {population: 80, sample: 8}}\n"
#define STRATA \
    "design: {stratified: {by: g, within: srs, strata: {b: {population: 50, sample: 3}, a: {population: 30, sample: 5}}}}\n"
#define PURE "privacy: {unit: person, epsilon: 1}\n"
#define TOTAL "statistics: [{total: x}]\n"
#define FRAME "privacy: {unit: person, protect: frame, given: population, secret_sample: yes, "

/* What a plan writes after its head, and how often it is released from its account. */
static const struct {
    const char *name, *rest;
    int times;
} cases[] = {
    {"pure", SRS PURE TOTAL "budget: {epsilon: 1}\n", 1},
    {"three", SRS PURE TOTAL "budget: {epsilon: 10/3}\n", 3},
    {"rho", SRS "privacy: {unit: person, rho: 0.1}\n" TOTAL "budget: {rho: 1}\n", 2},
    {"approximate",
     SRS "privacy: {unit: person, epsilon: 1, delta: 1e-6}\nstatistics: [{table: [g, h]}]\n"
         "budget: {epsilon: 1, delta: 1e-6}\n",
     1},
    {"strata", STRATA PURE "statistics: [{mean: x, by: g}]\nbudget: {epsilon: 1}\n", 1},
    {"outsider", STRATA FRAME "epsilon: 1/3}\n" TOTAL "budget: {epsilon: 1}\n", 2},
    {"counted", STRATA PURE "statistics: [{mean: x, by: g}]\nbudget: {rho: 1}\n", 2},
    {"known", SRS PURE "statistics: [{count: units}]\nbudget: {epsilon: 1}\n", 1},
    {"since", "wave: w2\n" SRS PURE "statistics: [{change: {total: x}, since: pure1}]\nbudget: {epsilon: 1}\n", 1},
};
#define SINCE (CASES - 1)
#define CASES (sizeof cases / sizeof *cases)

static void path_of(char path[256], size_t which, int time, const char *file)
{
    snprintf(path, 256, "%s/%s%d%s%s", folder, cases[which].name, time, *file ? "/" : "", file);
}

static tamis_plan *plan_of(size_t which)
{
    char text[2048], path[256];
    tamis_error err = {0};
    tamis_plan *plan;
    snprintf(path, sizeof path, "%s/p.yaml", folder);
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\n%scolumns:\n  x: {from: 10, to: 30, step: 0.5}\n"
             "  g: {values: [a, b]}\n  h: {values: [u, v, w]}\n",
             cases[which].rest);
    if (tamis_plan_read_text(&plan, path, text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

/* Releases a plan; the folder of the last time is the one to look at. */
static void release(size_t which)
{
    char path[256], ledger[256];
    tamis_error err = {0};
    tamis_plan *plan = plan_of(which);
    snprintf(ledger, sizeof ledger, "%s/%s.ledger", folder, cases[which].name);
    for (int i = 1; i <= cases[which].times; i++) {
        array_engine engine = array_engine_of(rows, sizeof rows / sizeof *rows);
        tamis_release *r;
        path_of(path, which, i, "");
        bits_from_seed(7);
        if (tmi_release_with(&r, plan, &engine.engine, &(tmi_run){.folder = path, .ledger = ledger, .again = true}, &err) !=
            TAMIS_OK)
            fail_msg("%s: %s", cases[which].name, err.message);
        tamis_release_free(r);
    }
    tamis_plan_free(plan);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool verifies(const char *path, char **told)
{
    int ok;
    char *text;
    tamis_error err = {0};
    if (tamis_verify_json(&ok, &text, path, NULL, &err) != TAMIS_OK) fail_msg("%s: %s", path, err.message);
    if (told) *told = text;
    else tamis_free(text);
    return ok;
}

static void every_certificate_verifies(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        char path[256], *told;
        release(i);
        for (int time = 1; time <= cases[i].times; time++) {
            path_of(path, i, time, "certificate.json");
            if (!verifies(path, &told)) fail_msg("%s: %s", path, told);
            for (size_t f = 0; f < TMI_FILES; f++) {
                char words[64];
                snprintf(words, sizeof words, "\"%s\": \"match\"", tmi_files[f].name);
                assert_non_null(strstr(told, words));
            }
            tamis_free(told);
            path_of(path, i, time, "");
            if (!verifies(path, &told)) fail_msg("%s: %s", path, told);
            tamis_free(told);
        }
    }
}

/* ---- tampering ---- */

/* The end of the value that begins at `at`: of a text after its closing quote. */
static char *end_of(char *at)
{
    if (*at != '"') return at + strcspn(at, ",]} \n");
    for (at++; *at != '"'; at++) at += *at == '\\';
    return at + 1;
}

/* The next leaf from `at` on: not a key, not a bracket; NULL if there is none. */
static char *next_leaf(char *at)
{
    while (*at) {
        bool scalar = *at == '"' || *at == '-' || isalnum((unsigned char)*at);
        if (!scalar) {
            at++;
            continue;
        }
        char *end = end_of(at);
        if (*end != ':') return at;
        at = end;
    }
    return NULL;
}

/* Text with another value at a leaf: yes for no, another first digit, a further letter. */
static char *changed(const char *text, char *leaf)
{
    char *end = end_of(leaf), *copy = calloc(1, strlen(text) + 16);
    assert_non_null(copy);
    size_t head = (size_t)(leaf - text), length = (size_t)(end - leaf);
    bool word = isalpha((unsigned char)*leaf);
    size_t sign = *leaf == '-';
    const char *instead = *leaf == 't' ? "false" : *leaf == 'f' ? "true" : "1";
    memcpy(copy, text, head);
    if (word) strcat(copy, instead);
    else if (*leaf == '"') sprintf(copy + head, "%.*s1\"", (int)length - 1, leaf);
    else sprintf(copy + head, "%s%d%.*s", sign ? "-" : "", (leaf[sign] - '0') % 9 + 1, (int)(length - sign) - 1, leaf + sign + 1);
    strcat(copy, end);
    return copy;
}

static void every_leaf_that_is_changed_is_found(void **state)
{
    (void)state;
    size_t leaves = 0;
    for (size_t i = 0; i < CASES; i++) {
        char path[256];
        path_of(path, i, cases[i].times, "certificate.json");
        char *text = read_text(path);
        for (char *leaf = next_leaf(text); leaf; leaf = next_leaf(end_of(leaf)), leaves++) {
            char *other = changed(text, leaf);
            write_text(path, other);
            if (verifies(path, NULL)) fail_msg("%s: a change is not found at %.60s", cases[i].name, leaf);
            free(other);
        }
        write_text(path, text);
        assert_true(verifies(path, NULL));
        free(text);
    }
    assert_true(leaves > 500);
}

/* Removes "key": value, from the text. */
static void cut(char *text, const char *key)
{
    char *at = strstr(text, key);
    assert_non_null(at);
    char *end = at + strlen(key) + 2;
    int depth = 0;
    do {
        depth += *end == '{' ? 1 : *end == '}' ? -1 : 0;
        end++;
    } while (depth > 0);
    if (*end == ',') end++;
    memmove(at, end, strlen(end) + 1);
}

static void a_guarantee_that_was_left_out_is_computed(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        char path[256], *told, *again;
        path_of(path, i, cases[i].times, "certificate.json");
        char *text = read_text(path), *less = strdup(text);
        assert_true(verifies(path, &told));
        cut(less, "\"guarantee\"");
        write_text(path, less);
        assert_true(verifies(path, &again));
        assert_string_equal(told, again);
        write_text(path, text);
        tamis_free(told);
        tamis_free(again);
        free(less);
        free(text);
    }
}

static char *last(char *text, const char *key)
{
    char *found = strstr(text, key);
    assert_non_null(found);
    for (char *next; (next = strstr(found + 1, key)) != NULL;) found = next;
    return found;
}

/* Makes the hash of a certificate anew, in place. */
static void rehash(char *text)
{
    static const char key[] = "\"hash\": \"";
    char *body = strdup(text), hash[TMI_SHA256_TEXT];
    assert_non_null(body);
    cut(body, "\"guarantee\"");
    char *end = last(body, key);
    while (*end != ',') end--;
    strcpy(end, "}");
    tmi_value *document;
    tmi_text canonical;
    tmi_text_init(&canonical);
    assert_int_equal(tmi_json_read(&document, body, strlen(body), NULL), TAMIS_OK);
    assert_int_equal(tmi_json_canonical(&canonical, document, NULL), TAMIS_OK);
    tmi_sha256_text(hash, canonical.bytes, canonical.length);
    memcpy(last(text, key) + strlen(key), hash, TMI_SHA256_TEXT - 1);
    tmi_value_free(document);
    tmi_text_clear(&canonical);
    free(body);
}

/* Who changes a certificate and makes its hash anew can claim other inputs, but no guarantee that does not follow. */
static void a_new_hash_does_not_help(void **state)
{
    (void)state;
    static const char *const lies[][10] = {
        /* what is there, and what is said instead */
        {"\"sensitivity\": 3200", "\"sensitivity\": 1600"},
        {"\"sensitivity_l2_squared\": \"", "\"sensitivity_l2_squared\": \"1"},
        {"\"scale\": \"", "\"scale\": \"1"},
        {"\"row_adds_at_most\": \"1600\"", "\"row_adds_at_most\": \"160\""},
        {"\"clamp\": 1600", "\"clamp\": 160"},
        {"\"form\": \"full\"", "\"form\": \"raw\""},
        {"\"weighed_by\": \"none\"", "\"weighed_by\": \"weight\""},
        {"\"degree\": 2", "\"degree\": 1"},
        {"\"slots\": 1", "\"slots\": 8"},
        {"\"apart\": false", "\"apart\": true"},
        {"\"world\": 0", "\"world\": 1"},
        {"\"after\": {\n      \"epsilon\": \"1\"", "\"after\": {\n      \"epsilon\": \"1/2\""},
        {"\"after\": {\n      \"epsilon\": \"1\"", "\"after\": {\n      \"epsilon\": \"1/2\"", /* and all that follows from it */
         "\"epsilon\": \"1\",\n    \"delta\": \"0\"\n", "\"epsilon\": \"1/2\",\n    \"delta\": \"0\"\n"},
        {"\"before\": {\n      \"epsilon\": \"0\"", "\"before\": {\n      \"epsilon\": \"1\"", /* adds up, beyond the budget */
         "\"after\": {\n      \"epsilon\": \"1\"", "\"after\": {\n      \"epsilon\": \"2\"",
         "\"epsilon\": \"1\",\n    \"delta\": \"0\"\n", "\"epsilon\": \"2\",\n    \"delta\": \"0\"\n", "\"entry\": 2",
         "\"entry\": 4", "\"created\": true", "\"created\": false"},
        {"\"noise\": \"discrete_laplace\",\n    \"epsilon\": \"1\"",
         "\"noise\": \"discrete_laplace\",\n    \"epsilon\": \"1/2\""},
        {"\"to\": \"30\"", "\"to\": \"20\""},
        {"\"tamis\": 1,", "\"tamis\": 1, \"note\": \"approved\","},
    };
    char path[256], alone[256], *told;
    path_of(path, 0, 1, "certificate.json");
    path_of(alone, 0, 1, "../alone.json"); /* where no other file contradicts it */
    char *text = read_text(path);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char *other = strdup(text);
        for (size_t k = 0; k < 10 && lies[i][k]; k += 2) {
            char *said = calloc(1, strlen(other) + 64), *at = strstr(other, lies[i][k]);
            if (!said || !at) {
                fail_msg("%s is not in the certificate", lies[i][k]);
                return;
            }
            sprintf(said, "%.*s%s%s", (int)(at - other), other, lies[i][k + 1], at + strlen(lies[i][k]));
            free(other);
            other = said;
        }
        rehash(other);
        write_text(path, other);
        if (verifies(path, &told)) fail_msg("%s is believed", lies[i][1]);
        tamis_free(told);
        cut(other, "\"guarantee\""); /* which would contradict it */
        write_text(alone, other);
        if (verifies(alone, &told)) fail_msg("%s is believed where nothing contradicts it", lies[i][1]);
        tamis_free(told);
        free(other);
    }
    write_text(alone, text);
    assert_true(verifies(alone, NULL));
    assert_int_equal(unlink(alone), 0);
    char *more = calloc(1, strlen(text) + 64); /* a field more, and the hash of the others */
    assert_non_null(more);
    sprintf(more, "{\"note\": \"approved\",%s", strchr(text, '{') + 1);
    write_text(path, more);
    assert_false(verifies(path, NULL));
    free(more);
    write_text(path, text);
    assert_true(verifies(path, NULL));
    free(text);
}

static void other_numbers_are_found(void **state)
{
    (void)state;
    char path[256], numbers[256], *told;
    path_of(path, 0, 1, "certificate.json");
    path_of(numbers, 0, 1, "measurements.json");
    char *text = read_text(numbers), *digit = strstr(text, "\"values\": ") + strlen("\"values\": ");
    digit += strcspn(digit, "0123456789");
    *digit = *digit == '1' ? '2' : '1';
    write_text(numbers, text);
    assert_false(verifies(path, &told));
    assert_non_null(strstr(told, "files.measurements.json"));
    tamis_free(told);
    assert_int_equal(unlink(numbers), 0);
    assert_true(verifies(path, &told));
    assert_non_null(strstr(told, "\"measurements.json\": \"missing\""));
    tamis_free(told);
    free(text);
}

/* ---- the other files ---- */

/* The certificate of a folder names the file as it is now, and has the hash that goes with that. */
static void name_file(size_t which, const char *name, const char *bytes)
{
    char path[256], key[64], hash[TMI_SHA256_TEXT];
    path_of(path, which, cases[which].times, "certificate.json");
    char *text = read_text(path);
    snprintf(key, sizeof key, "\"%s\": \"", name);
    tmi_sha256_text(hash, bytes, strlen(bytes));
    memcpy(last(text, key) + strlen(key), hash, TMI_SHA256_TEXT - 1);
    rehash(text);
    write_text(path, text);
    free(text);
}

static bool ledger_believes(size_t which)
{
    char ledger[256], certificate[256], *text;
    const char *list[] = {certificate};
    int ok;
    snprintf(ledger, sizeof ledger, "%s/%s.ledger", folder, cases[which].name);
    path_of(certificate, which, cases[which].times, "certificate.json");
    assert_int_equal(tamis_ledger_verify_text(&ok, &text, ledger, list, 1, NULL), TAMIS_OK);
    tamis_free(text);
    return ok;
}

/* A file of a folder, changed at a place, is found: by its hash, and by what it says where that was made anew. A noisy integer
 * may change no result, such as a negative sum of squares; then the ledger knows. */
static void is_found(size_t which, const char *name, const char *bytes, const char *place, bool noisy)
{
    char path[256], place_of_all[256];
    path_of(path, which, cases[which].times, name);
    path_of(place_of_all, which, cases[which].times, "");
    write_text(path, bytes);
    if (verifies(place_of_all, NULL)) fail_msg("%s, %s: a change is not found at %.60s", cases[which].name, name, place);
    name_file(which, name, bytes);
    if (verifies(place_of_all, NULL) && (!noisy || ledger_believes(which)))
        fail_msg("%s, %s: a change is believed at %.60s", cases[which].name, name, place);
}

/* Whether a leaf is an integer in a list of values. */
static bool is_noisy(const char *text, const char *at)
{
    static const char key[] = "\"values\": [";
    const char *list = at;
    while (list > text && *list != '[' && *list != '}') list--;
    return *at != '"' && list - text >= (ptrdiff_t)strlen(key) && memcmp(list + 1 - strlen(key), key, strlen(key)) == 0;
}

/* Every leaf of the JSON files, and a letter of every line of the others. */
static void every_change_of_a_file_is_found(void **state)
{
    (void)state;
    const size_t stride = (size_t)test_size(47, 1);
    size_t places = 0, tried = 0;
    for (size_t i = 0; i < CASES; i++) {
        char whole[256], path[256];
        path_of(whole, i, cases[i].times, "");
        path_of(path, i, cases[i].times, "certificate.json");
        char *certificate = read_text(path);
        for (size_t f = 0; f < TMI_FILES; f++) {
            const bool json = strstr(tmi_files[f].name, ".json") != NULL;
            if (strstr(tmi_files[f].name, ".xlsx")) continue; /* no text: tests/cli/outputs.py changes its bytes */
            path_of(path, i, cases[i].times, tmi_files[f].name);
            char *text = read_text(path);
            for (char *at = json ? next_leaf(text) : text; at && *at; places++) {
                char *end = json ? end_of(at) : at + strcspn(at, "\n");
                if (places % stride == 0 && end > at) {
                    char *other = json ? changed(text, at) : strdup(text);
                    assert_non_null(other);
                    if (!json) other[at - text] = other[at - text] == 'x' ? 'y' : 'x';
                    is_found(i, tmi_files[f].name, other, at, json && is_noisy(text, at));
                    free(other);
                    char there[256];
                    path_of(there, i, cases[i].times, "certificate.json");
                    write_text(there, certificate);
                    tried++;
                }
                at = json ? next_leaf(end) : *end ? end + 1 : NULL;
            }
            write_text(path, text);
            free(text);
        }
        assert_true(verifies(whole, NULL) && (cases[i].name[0] == 'k' || ledger_believes(i)));
        free(certificate);
    }
    assert_true(places > 1500 && tried * stride >= places / 2);
}

/* The last digits may differ, from one computer to another; more may not, and the other files have the numbers of
 * release.json. */
static void numbers_are_compared_to_nine_digits(void **state)
{
    (void)state;
    char path[256], table[256], whole[256], certificate[256], *told;
    path_of(path, 0, 1, "release.json");
    path_of(table, 0, 1, "release.csv");
    path_of(whole, 0, 1, "");
    path_of(certificate, 0, 1, "certificate.json");
    char *text = read_text(path), *csv = read_text(table), *kept = read_text(certificate), *at = strstr(text, "\"noise_sd\": ");
    assert_non_null(at);
    at += strlen("\"noise_sd\": ");
    char *rest;
    const double x = strtod(at, &rest), by[] = {3e-12, 3e-8};
    for (size_t i = 0; i < 2; i++) {
        char *other = calloc(1, strlen(text) + 64), number[40];
        assert_non_null(other);
        snprintf(number, sizeof number, "%.17g", x * (1 + by[i]));
        sprintf(other, "%.*s%s%s", (int)(at - text), text, number, rest);
        write_text(path, other);
        name_file(0, "release.json", other);
        assert_false(verifies(whole, &told)); /* release.csv and report.html have the old one */
        assert_true((strstr(told, "release.json.results[0].noise_sd") != NULL) == (i == 1));
        assert_non_null(strstr(told, "release.csv"));
        tamis_free(told);
        free(other);
    }
    write_text(path, text);
    write_text(certificate, kept);
    assert_true(verifies(whole, NULL));
    free(text);
    free(csv);
    free(kept);
}

static void a_file_that_is_missing_is_named(void **state)
{
    (void)state;
    for (size_t f = 0; f < TMI_FILES; f++) {
        char path[256], whole[256], certificate[256], words[64], *told;
        path_of(path, 1, 3, tmi_files[f].name);
        path_of(whole, 1, 3, "");
        path_of(certificate, 1, 3, "certificate.json");
        char *text = read_text(path);
        assert_int_equal(unlink(path), 0);
        assert_false(verifies(whole, &told));
        snprintf(words, sizeof words, "\"files.%s\"", tmi_files[f].name);
        assert_non_null(strstr(told, words));
        tamis_free(told);
        assert_true(verifies(certificate, &told));
        snprintf(words, sizeof words, "\"%s\": \"missing\"", tmi_files[f].name);
        assert_non_null(strstr(told, words));
        tamis_free(told);
        write_text(path, text);
        free(text);
    }
}

static void no_memory(void **state)
{
    (void)state;
    char path[256];
    path_of(path, 4, 1, "certificate.json");
    int ok;
    char *text = NULL;
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 4, tamis_verify_text(&ok, &text, path, NULL, NULL), { assert_true(ok == 0 && !text); });
    tamis_free(text);
}

/* The other folder is verified, read and compared too. */
static void no_memory_for_the_earlier_release(void **state)
{
    (void)state;
    char path[256], *text = NULL;
    int ok;
    path_of(path, SINCE, 1, "");
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 2, tamis_verify_text(&ok, &text, path, NULL, NULL), { assert_true(ok == 0 && !text); });
    assert_non_null(strstr(text, "the earlier release agrees with the certificate"));
    tamis_free(text);
    tamis_plan *plan = plan_of(SINCE);
    tamis_preview *preview = NULL;
    const tamis_preview_options how = {.size = sizeof how, .no_advice = 1};
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 2, tamis_preview_make(&preview, plan, &how, NULL), { assert_null(preview); });
    tamis_preview_free(preview);
    tamis_plan_free(plan);
}

static void wrong_arguments(void **state)
{
    (void)state;
    int ok;
    char *text, path[256];
    tamis_error err;
    assert_int_equal(tamis_verify_text(NULL, &text, "x", NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_verify_text(&ok, NULL, "x", NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_verify_text(&ok, &text, NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_verify_text(&ok, &text, "/nowhere/certificate.json", NULL, &err), TAMIS_INVALID);
    static const char *const texts[] = {"[]", "{", "3", "not JSON"};
    snprintf(path, sizeof path, "%s/other.json", folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(path, texts[i]);
        assert_int_equal(tamis_verify_text(&ok, &text, path, NULL, &err), TAMIS_INVALID);
        assert_true(!ok && !text);
    }
    write_text(path, "{}");
    assert_false(verifies(path, NULL));
}

/* How to connect is not in a certificate and is put back before its plan is read: as one connection, whatever else is called
 * so. */
static void a_title_is_no_key(void **state)
{
    static const char text[] =
        "tamis: 1\nsurvey: s\ntitle: sharded_by\nsource: {postgres: {connection: service=s, table: t}}\n"
        "design: {srs: {population: 900, sample: 30}}\nprivacy: {unit: person, id: i, epsilon: 1}\n"
        "columns: {sharded_by: {values: [a, b]}}\nstatistics: [{count: units, by: sharded_by}]\nbudget: {epsilon: 1}\n";
    tamis_plan *plan = NULL;
    tmi_schedule schedule;
    tmi_certificate c;
    tamis_error err = {0};
    (void)state;
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err), TAMIS_OK);
    assert_int_equal(tmi_schedule_make(&schedule, plan, NULL, &err), TAMIS_OK);
    assert_int_equal(tmi_certificate_of(&c, &schedule, &err), TAMIS_OK);
    assert_int_equal(tmi_certificate_check_plan(&c, &err), TAMIS_OK);
    tmi_certificate_clear(&c);
    tmi_schedule_clear(&schedule);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_certificate_verifies),
        cmocka_unit_test(every_leaf_that_is_changed_is_found),
        cmocka_unit_test(a_guarantee_that_was_left_out_is_computed),
        cmocka_unit_test(a_new_hash_does_not_help),
        cmocka_unit_test(every_change_of_a_file_is_found),
        cmocka_unit_test(numbers_are_compared_to_nine_digits),
        cmocka_unit_test(a_file_that_is_missing_is_named),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(no_memory_for_the_earlier_release),
        cmocka_unit_test(other_numbers_are_found),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(a_title_is_no_key),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
