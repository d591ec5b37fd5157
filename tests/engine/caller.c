/* The caller's own engine: what it is asked, and what becomes of right and wrong answers. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/caller.h>

#include "base/value/json.h"
#include "engine/core/points.h"
#include "engine/files/source.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/request.h"

static const char *const values[] = {"E", "M"}, *const missing[] = {"NA"};
static const double codes[] = {99.5};
static const tmi_column g = {.name = "stype",
                             .kind = TMI_CATEGORY,
                             .values = values,
                             .value_count = 2,
                             .missing_texts = missing,
                             .missing_text_count = 1},
                        x = {.name = "enroll", .grid = {0, 4000, 0.5, 0, 8000}, .missing_codes = codes, .missing_code_count = 1},
                        id = {.name = "id", .kind = TMI_LABEL}, cluster = {.name = "district", .kind = TMI_LABEL};
static const tmi_column *const by[] = {&g};
static const tmi_measure measures[] = {{.factors = {{&x, 3}}, .factor_count = 1, .shift = 1, .low = -5, .high = 4000}};
static const tmi_table tables[] = {{by, 1, measures, 1}};
static const unsigned char order_key[TMI_KEY_BYTES] = {[0] = 0x0b, [31] = 7};
static const tmi_request request = {.tables = tables, .table_count = 1, .unit = &id, .rows_per_unit = 2, .key = order_key};

/* The same is in docs/engines.md. */
static const char question[] =
    "{\"tamis\": 1, \"ask\": \"sums\", \"columns\": [{\"name\": \"stype\", \"kind\": \"category\", \"values\": "
    "[\"E\", \"M\"], \"missing\": [\"NA\"], \"instead\": null}, {\"name\": \"enroll\", \"kind\": \"number\", "
    "\"by\": null, \"grids\": [{\"from\": 0, \"to\": 4000, \"step\": 0.5, \"low\": 0, \"high\": 8000}], "
    "\"reciprocal\": false, \"missing\": [99.5], \"instead\": null}, {\"name\": \"id\", \"kind\": "
    "\"label\"}], \"tables\": [{\"by\": [0], \"measures\": [{\"factors\": [{\"column\": 1, \"minus\": 3}], "
    "\"present\": [], \"where\": null, \"shift\": 1, \"low\": -5, \"high\": 4000}]}], \"unit\": 2, "
    "\"rows_per_unit\": 2, \"key\": \"0b00000000000000000000000000000000000000000000000000000000000007\"}";

typedef struct script {
    const char *reply;
    tamis_status status;
    char *question;
} script;

static tamis_status answer(void *context, tamis_reply *reply, const char *asked, tamis_error *err)
{
    script *s = context;
    free(s->question);
    s->question = strdup(asked);
    tamis_reply_set(reply, "{}");
    tamis_reply_set(reply, NULL);
    tamis_reply_set(reply, s->reply);
    if (s->status != TAMIS_OK && err) strcpy(err->message, "secret");
    return s->status;
}

static tmi_engine *engine_of(script *s, tamis_source **source)
{
    tmi_engine *engine;
    assert_int_equal(tamis_source_asking(source, answer, s, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, *source, 1, NULL), TAMIS_OK);
    return engine;
}

static void sums(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        tamis_status status;
    } cases[] = {
        {"{\"sums\": [[7, \"-4951760157141521099596496896\"]]}", TAMIS_OK}, /* -2^92 */
        {"{\"sums\": [[7, \"-4951760157141521099596496897\"]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, 1, 2]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, 1], [2]]}", TAMIS_SYSTEM},
        {"{\"sums\": [7, 1]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, 1.5]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, \"\"]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, \"-\"]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, \"12x\"]]}", TAMIS_SYSTEM},
        {"{\"sums\": [[7, null]]}", TAMIS_SYSTEM},
        {"{}", TAMIS_SYSTEM},
        {"[]", TAMIS_SYSTEM},
        {"", TAMIS_SYSTEM},
        {"{\"sums\": [[7, 1]]", TAMIS_SYSTEM},
        {"{\"sums\": [[7, \"99999999999999999999999999999999999999999999999\"]]}", TAMIS_SYSTEM},
    };
    script s = {0};
    tamis_source *source;
    tmi_engine *engine = engine_of(&s, &source);
    tmi_int128 got[2], *const places[] = {got};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_error err = {0};
        s.reply = cases[i].reply;
        memset(got, 1, sizeof got);
        if (engine->aggregate(engine, places, &request, NULL, &err) != cases[i].status) fail_msg("case %zu", i);
        if (cases[i].status == TAMIS_OK) assert_true(got[0] == 7 && got[1] == -((tmi_int128)1 << 92));
        else assert_true(got[0] == 0 && got[1] == 0 && strstr(err.message, "the caller's engine"));
    }
    assert_string_equal(s.question, question);
    s.reply = cases[0].reply;
    s.status = TAMIS_INVALID;
    tamis_error err = {0};
    assert_int_equal(engine->aggregate(engine, places, &request, NULL, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "the caller's engine failed");
    assert_int_equal(engine->rows(engine, by, 1, NULL, NULL, &err), TAMIS_INVALID);
    engine->free(engine);
    tamis_source_free(source);
    free(s.question);
}

/* Points are asked for as numbers of rows: by type, point and weight, each a class of its own. */
static void points(void **state)
{
    (void)state;
    static const tmi_column size = {.name = "size", .grid = {1, 3, 1, 1, 3}},
                            share = {.name = "share", .grid = {-1, 9, 1, -1, 9}};
    static const tmi_points_request asked = {.value = &size, .weight = &share, .max_weight = 1, .by = by, .by_count = 1},
                                    fine = {.value = &x, .weight = &share, .max_weight = 1000, .by = by, .by_count = 1};
    script s = {.reply = "{\"ok\": true}"};
    tamis_source *source;
    tmi_engine *engine = engine_of(&s, &source);
    tmi_point_list list;
    tamis_error err = {0};
    assert_int_equal(tmi_engine_points_check(engine, &asked, NULL, NULL), TAMIS_OK);
    assert_non_null(strstr(s.question, "\"ask\": \"check\""));
    assert_non_null(strstr(s.question, "\"by\": [0, 2, 4]"));
    s.reply = "{\"sums\": [[0, 5, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1099511627776]]}";
    assert_int_equal(tmi_engine_points(&list, engine, &asked, NULL, NULL), TAMIS_OK);
    static const int64_t right[3][4] = {{0, 1, 1, 5}, {0, 3, 0, 2}, {1, 3, 1, INT64_C(1) << 40}};
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(list.cells[i] == right[i][0] && list.points[i] == right[i][1] && list.weights[i] == right[i][2] &&
                    list.counts[i] == right[i][3]);
    tmi_point_list_clear(&list);
    assert_non_null(strstr(s.question, "\"ask\": \"sums\""));
    assert_non_null(strstr(s.question, "\"kind\": \"cuts\", \"of\": 1, \"cuts\": [2, 3]"));
    assert_non_null(strstr(s.question, "\"kind\": \"cuts\", \"of\": 3, \"cuts\": [1]"));
    assert_non_null(strstr(s.question, "\"by\": [0, 2, 4]"));
    s.reply = "{\"sums\": [[0, 5, 0, 0, 2, 0, 0, 0, 0, 0, 0, -1]]}"; /* not a number of rows */
    assert_int_equal(tmi_engine_points(&list, engine, &asked, NULL, &err), TAMIS_SYSTEM);
    assert_null(list.points);
    s.reply = "{\"sums\": [[0]]}";
    assert_int_equal(tmi_engine_points(&list, engine, &asked, NULL, &err), TAMIS_SYSTEM);
    free(s.question);
    s.question = NULL;
    assert_int_equal(tmi_engine_points_check(engine, &fine, NULL, &err), TAMIS_REFUSED); /* 2 * 8001 * 1001 */
    assert_non_null(strstr(err.message, "column enroll"));
    assert_non_null(strstr(err.message, "larger step"));
    assert_null(s.question);
    engine->free(engine);
    tamis_source_free(source);
}

/* Every kind of column is written as JSON that can be read again. */
static void kinds(void **state)
{
    (void)state;
    static const int64_t cuts[] = {5}, numbers[] = {1, 2}, counts[] = {2, 1};
    static const int32_t first[] = {0, 1}, second[] = {1}, *const cells[] = {first, second};
    static const tmi_grid grids[] = {{0, 1, 1, 0, 1}, {0, 2, 1, 0, 2}};
    static const tmi_column cut = {.name = "cut", .kind = TMI_CUTS, .of = &x, .cuts = cuts, .value_count = 2},
                            lookup = {.name = "l", .kind = TMI_LOOKUP, .of = &g, .numbers = numbers},
                            weight =
                                {.name = "w", .reciprocal = true, .by = &g, .grids = grids, .has_instead = true, .instead = 1},
                            groups = {.name = "gr",
                                      .kind = TMI_GROUPS,
                                      .of = &cluster,
                                      .stratum = &g,
                                      .cell_of = cells,
                                      .cluster_counts = counts,
                                      .value_count = 2};
    static const tmi_condition both[] = {{.column = &x, .least = 1, .most = 2},
                                         {.column = &cut, .codes = first, .code_count = 1}};
    static const tmi_column indicator = {.name = "i", .kind = TMI_INDICATOR, .conditions = both, .condition_count = 2};
    static const unsigned char key[TMI_KEY_BYTES] = {[0] = 0xab, [31] = 7};
    static const tmi_column scatter = {.name = "sc", .kind = TMI_SCATTER, .of = &cluster, .key = key, .value_count = 1};
    static const int32_t classes[] = {1, -1};
    static const tmi_column g_class = {.name = "gc", .kind = TMI_CLASSES, .of = &g, .classes = classes, .value_count = 2},
                            x_class = {.name = "xc",
                                       .kind = TMI_CLASSES,
                                       .of = &x,
                                       .classes = classes,
                                       .value_count = 2,
                                       .has_instead = true};
    static const tmi_column product = {.name = "pr",
                                       .kind = TMI_PRODUCT,
                                       .of = &weight,
                                       .second = &x,
                                       .shift = 20,
                                       .grid = {.low = -1, .high = 99},
                                       .has_instead = true,
                                       .instead = 7};
    static const tmi_column *const by_both[] = {&groups, &cut, &scatter};
    static const tmi_measure many[] = {
        {.factors = {{&weight, 0}, {&lookup, 0}}, .factor_count = 2, .high = 9, .where = &indicator, .present = {&x, &g}},
        {.factors = {{&product, 0}}, .factor_count = 1, .present = {&x, &g_class, &x_class}, .high = 1}};
    static const tmi_table table = {by_both, 3, many, 2};
    static const tmi_request asked = {.tables = &table, .table_count = 1};
    script s = {.reply = "{\"sums\": [[1, 2, 3, 4, 5, 6, 7, 8]]}"};
    tamis_source *source;
    tmi_engine *engine = engine_of(&s, &source);
    tmi_int128 got[8], *const places[] = {got};
    assert_int_equal(engine->aggregate(engine, places, &asked, NULL, NULL), TAMIS_OK);
    assert_true(got[0] == 1 && got[7] == 8);
    tmi_value *read;
    assert_int_equal(tmi_json_read(&read, s.question, strlen(s.question), NULL), TAMIS_OK);
    assert_int_equal(tmi_value_size(tmi_value_get(read, "columns")), 12);
    assert_non_null(strstr(s.question, "\"least\": 1, \"most\": 2}, {\"column\": "));
    assert_non_null(strstr(s.question, "\"kind\": \"scatter\", \"of\": 1, \"stratum\": null, \"codes\": 1, \"key\": \"ab00"));
    assert_non_null(strstr(s.question, "0007\"}"));
    assert_non_null(
        strstr(s.question, "\"kind\": \"classes\", \"of\": 0, \"codes\": 2, \"classes\": [1, -1], \"instead\": null}"));
    assert_non_null(strstr(s.question, "\"codes\": 2, \"classes\": [1], \"instead\": 0}"));
    assert_non_null(strstr(s.question, "\"present\": [3, 10, 11]"));
    assert_non_null(
        strstr(s.question,
               "\"kind\": \"product\", \"of\": 6, \"second\": 3, \"shift\": 20, \"low\": -1, \"high\": 99, \"instead\": 7}"));
    assert_non_null(strstr(s.question, "\"cell_of\": [[0, 1], [1]]"));
    tmi_value_free(read);
    engine->free(engine);
    tamis_source_free(source);
    free(s.question);
}

static void inventories(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        tamis_status status;
    } cases[] = {
        {"{\"rows\": 9, \"units\": 5, \"rows_in\": [4, 5], \"units_in\": [2, 3], \"clusters_in\": [1, 1]}", TAMIS_OK},
        {"{\"units\": 5, \"rows_in\": [4, 5], \"units_in\": [2, 3], \"clusters_in\": [1, 1]}", TAMIS_SYSTEM},
        {"{\"rows\": -9, \"units\": 5, \"rows_in\": [4, 5], \"units_in\": [2, 3], \"clusters_in\": [1, 1]}", TAMIS_SYSTEM},
        {"{\"rows\": 9, \"rows_in\": [4, 5], \"units_in\": [2, 3], \"clusters_in\": [1, 1]}", TAMIS_SYSTEM},
        {"{\"rows\": 9, \"units\": 5, \"rows_in\": [4], \"units_in\": [2, 3], \"clusters_in\": [1, 1]}", TAMIS_SYSTEM},
        {"{\"rows\": 9, \"units\": 5, \"rows_in\": [4, 5], \"units_in\": [2, \"3\"], \"clusters_in\": [1, 1]}", TAMIS_SYSTEM},
        {"{\"rows\": 9, \"units\": 5, \"rows_in\": [4, 5], \"units_in\": [2, 3]}", TAMIS_SYSTEM},
    };
    script s = {0};
    tamis_source *source;
    tmi_engine *engine = engine_of(&s, &source);
    int64_t rows_in[2], units_in[2], clusters_in[2];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tmi_inventory all = {.unit = &id,
                             .cluster = &cluster,
                             .stratum = &g,
                             .rows_in = rows_in,
                             .units_in = units_in,
                             .clusters_in = clusters_in};
        s.reply = cases[i].reply;
        if (engine->describe(engine, &all, NULL, NULL) != cases[i].status) fail_msg("case %zu", i);
        const bool ok = cases[i].status == TAMIS_OK;
        assert_true(all.rows == (ok ? 9 : 0) && all.units == (ok ? 5 : 0) && rows_in[1] == (ok ? 5 : 0) && clusters_in[1] == ok);
    }
    assert_non_null(strstr(s.question, "\"ask\": \"inventory\""));
    engine->free(engine);
    tamis_source_free(source);
    free(s.question);
}

/* Before the charge the engine sees every column, table and kind, but no key, and may refuse. */
static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *reply, *words;
        tamis_status status;
    } cases[] = {
        {"{\"ok\": true}", NULL, TAMIS_OK},
        {"{\"ok\": false, \"column\": 1, \"reason\": \"kind\"}", "refuses column enroll: it does not know this kind",
         TAMIS_REFUSED},
        {"{\"ok\": false, \"column\": 9, \"reason\": \"size\"}", "refuses the request: the request is too large", TAMIS_REFUSED},
        {"{\"ok\": false, \"reason\": \"secret 4711\"}", "refuses the request: it cannot answer", TAMIS_REFUSED},
        {"{\"ok\": false}", "refuses the request", TAMIS_REFUSED},
        {"{}", "\"check\"", TAMIS_INVALID},
        {"{\"ok\": 1}", "\"check\"", TAMIS_INVALID},
    };
    script s = {0};
    tamis_source *source;
    tmi_engine *engine = engine_of(&s, &source);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_error err = {0};
        s.reply = cases[i].reply;
        if (engine->check(engine, &request, NULL, &err) != cases[i].status) fail_msg("case %zu: %s", i, err.message);
        if (cases[i].words && !strstr(err.message, cases[i].words)) fail_msg("case %zu: %s", i, err.message);
        assert_null(strstr(err.message, "4711"));
    }
    const char *both = strstr(question, "\"columns\""), *key_of = strstr(both, "\"key\"");
    assert_non_null(strstr(s.question, "\"ask\": \"check\""));
    assert_int_equal(strncmp(strstr(s.question, "\"columns\""), both, (size_t)(key_of - both)), 0); /* all that sums show */
    assert_non_null(strstr(s.question, "\"key\": null}"));
    assert_null(strstr(s.question, "\"key\": \"")); /* and no key */
    s.status = TAMIS_SYSTEM;
    assert_int_equal(engine->check(engine, &request, NULL, NULL), TAMIS_SYSTEM);
    s.status = TAMIS_OK;
    s.reply = "{\"ok\": true}";
    EVERY_ALLOCATION_FAILS(engine->check(engine, &request, NULL, NULL), (void)0);
    engine->free(engine);
    tamis_source_free(source);
    free(s.question);
}

static void contracts(void **state)
{
    (void)state;
    script s = {.reply = "{\"sums\": [[1, 2]]}"};
    tamis_source *source;
    tmi_engine *engine;
    tmi_int128 got[2], *const places[] = {got};
    assert_int_equal(tamis_source_asking(NULL, answer, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_asking(&source, NULL, NULL, NULL), TAMIS_INVALID);
    assert_null(source);
    tamis_reply_set(NULL, "x");
    EVERY_ALLOCATION_FAILS(tamis_source_asking(&source, answer, &s, NULL), assert_null(source));
    assert_int_equal(tamis_source_numbers(source, "x", (const double[]){1}, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tmi_engine_of_source(&engine, source, 1, NULL), assert_null(engine));
    EVERY_ALLOCATION_FAILS(engine->aggregate(engine, places, &request, NULL, NULL), assert_true(got[0] == 0));
    engine->free(engine);
    tamis_source_free(source);
    free(s.question);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(sums),        cmocka_unit_test(points),   cmocka_unit_test(kinds),
                                     cmocka_unit_test(inventories), cmocka_unit_test(refusals), cmocka_unit_test(contracts)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
