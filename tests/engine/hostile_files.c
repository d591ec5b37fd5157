/* Files of SPSS, Stata and SAS from an enemy: cut off anywhere, bytes changed, numbers of things declared that are not there.
 * An answer or an error, with nothing of the data in its message; the sanitizers watch the rest. */
#include "tests/test.h"

#include "tests/engine/statistics_files.h"

#define ROWS 60
#define CHANGES 80 /* of each kind in each file */

static const char *const endings[] = {".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"};
static const char *const values[] = {"north", "south"};
static const tmi_column x = {.name = "x", .grid = {0, 100, 1, 0, 100}}, unit = {.name = "id", .kind = TMI_LABEL},
                        s = {.name = "s", .kind = TMI_CATEGORY, .values = values, .value_count = 2};

static uint64_t seed = 3;

static uint64_t random64(void) { return next_word(&seed); }

/* How often a file was answered, and how often not. */
static size_t answered, refused;

static tamis_status take(void *context, const tmi_piece *piece, tamis_error *err)
{
    (void)context;
    (void)err;
    assert_true(piece->rows > 0);
    return TAMIS_OK;
}

static void check_message(tamis_status status, const tamis_error *err)
{
    if (status == TAMIS_OK) return;
    assert_true((status == TAMIS_INVALID || status == TAMIS_SYSTEM) && err->message[0] != '\0');
    if (strstr(err->message, "SECRET")) fail_msg("%s", err->message);
}

static void attack(const char *ending, const char *bytes, size_t length)
{
    static const tmi_column *const by[] = {&s}, *const columns[] = {&x, &s, &unit};
    static const tmi_measure measures[] = {{.factors = {{&x, 0}}, .factor_count = 1, .high = 100}, {.low = 1, .high = 1}};
    static const tmi_table table = {by, 1, measures, 2};
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    static const tmi_request requests[] = {{.tables = &table, .table_count = 1},
                                           {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key}};
    int64_t rows_in[2], units_in[2];
    tmi_inventory all = {
        .columns = columns, .column_count = 3, .stratum = &s, .unit = &unit, .rows_in = rows_in, .units_in = units_in};
    tmi_int128 got[4], *const places[] = {got};
    tmi_engine *engine;
    tamis_error err = {0};
    char name[64];
    snprintf(name, sizeof name, "hostile%s", ending);
    const char *path = write_bytes(name, bytes, length);
    const tmi_source source = {.files = &path, .file_count = 1};
    assert_int_equal(tmi_engine_readstat(&engine, &source, 1, NULL), TAMIS_OK);
    check_message(engine->describe(engine, &all, NULL, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        const tamis_status status = engine->aggregate(engine, places, &requests[i], NULL, &err);
        check_message(status, &err);
        assert_true(status == TAMIS_OK || (status == TAMIS_SYSTEM && got[0] == 0 && got[3] == 0)); /* after the charge */
        *(status == TAMIS_OK ? &answered : &refused) += 1;
    }
    check_message(engine->rows(engine, columns, 3, take, NULL, &err), &err);
    engine->free(engine);
}

static void hostile(const char *ending)
{
    static char bytes[1 << 18], changed[sizeof bytes];
    static const uint64_t counts[] = {0,
                                      1,
                                      0x7f,
                                      0x7fff,
                                      0xffff,
                                      0x7fffffff,
                                      0xffffffff,
                                      0x80000000,
                                      UINT64_C(0x7fffffffffffffff),
                                      UINT64_C(0xffffffffffffffff),
                                      UINT64_C(0x100000000)};
    row list[ROWS] = {0};
    char name[64];
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(list[i].text[ID], sizeof list[i].text[ID], "SECRET%zu", i / 2);
        strcpy(list[i].text[H], "SECRET");
        strcpy(list[i].text[S], i % 2 ? "north" : "south");
        list[i].number[X] = (double)i;
    }
    snprintf(name, sizeof name, "whole%s", ending);
    FILE *file = fopen(write_statistics_file(name, list, ROWS), "rb");
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_true(length > 1000 && length < sizeof bytes);
    answered = refused = 0;
    attack(ending, bytes, length);
    assert_true(answered == 2);
    for (size_t part = 0; part < 50; part++) attack(ending, bytes, length * part / 50);
    const size_t head = length < 8192 ? length : 8192;
    for (size_t i = 0; i < CHANGES; i++) {
        memcpy(changed, bytes, length); /* a few bytes anywhere */
        for (size_t k = 0; k <= i % 4; k++) changed[random64() % length] = (char)random64();
        attack(ending, changed, length);
        memcpy(changed, bytes, length); /* a number where others look for one, of 2, 4 or 8 bytes, either end first */
        const size_t width = (size_t)2 << i % 3, at = random64() % (head - width);
        const uint64_t count = counts[random64() % COUNT(counts)];
        for (size_t k = 0; k < width; k++) changed[at + (i % 2 ? k : width - 1 - k)] = (char)(count >> 8 * k);
        attack(ending, changed, length);
        const size_t cut = 1 + random64() % (length / 2), from = random64() % (length - cut); /* a piece is missing */
        memcpy(changed, bytes, from);
        memcpy(changed + from, bytes + from + cut, length - from - cut);
        attack(ending, changed, length - cut);
    }
    if (refused == 0) fail_msg("%s: nothing was found to be wrong", ending);
}

static void spss(void **state)
{
    (void)state;
    hostile(endings[0]);
}

static void spss_compressed(void **state)
{
    (void)state;
    hostile(endings[1]);
}

static void stata(void **state)
{
    (void)state;
    hostile(endings[2]);
}

static void sas(void **state)
{
    (void)state;
    hostile(endings[3]);
}

static void sas_transport(void **state)
{
    (void)state;
    hostile(endings[4]);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(spss), cmocka_unit_test(spss_compressed), cmocka_unit_test(stata),
                                     cmocka_unit_test(sas), cmocka_unit_test(sas_transport)};
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
