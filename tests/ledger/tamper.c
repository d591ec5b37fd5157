/* Somebody changes the file: every column of every row, the order, the tables, single bits. */
#include "tests/test.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "ledger/ledger.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"

/* ---- a ledger to be changed ---- */

static char *original; /* its bytes */
static size_t original_size;

static void read_file(char **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &facts), 0);
    *size = (size_t)facts.st_size;
    *bytes = malloc(*size);
    assert_int_equal(fread(*bytes, 1, *size, file), *size);
    fclose(file);
}

static void write_file(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    char beside[160];
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    for (size_t i = 0; i < 3; i++) {
        snprintf(beside, sizeof beside, "%s%s", path, ends[i]);
        unlink(beside);
    }
}

/* Two accounts, four charges, two releases: entries 1 to 8. */
static int make_ledger(void **state)
{
    sample_charge s;
    tamis_charged charged;
    if (make_folder(state) != 0) return -1;
    tamis_ledger *ledger = open_ledger();
    for (int i = 0; i < 4; i++) {
        sample_charge_make(&s, "1/2", "2", i % 2 ? "[\"b\"]" : "[\"a\"]");
        s.charge.survey = i < 2 ? "schools" : "pupils";
        s.charge.new_account = i == 2 ? "pupils have a budget of their own" : NULL;
        assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, NULL), TAMIS_OK);
        if (i % 2 == 0) assert_int_equal(tamis_ledger_released(ledger, charged.entry, "{\"noisy\": [7, 8, 9]}", NULL), TAMIS_OK);
        tamis_charged_clear(&charged);
        sample_charge_clear(&s);
    }
    tamis_ledger_free(ledger);
    read_file(&original, &original_size);
    return 0;
}

static int drop_ledger(void **state)
{
    free(original);
    return remove_folder(state);
}

/* Runs SQL on the file, with the triggers that stand in the way taken off and put back. */
static void change(const char *sql)
{
    sqlite3 *db = NULL;
    char *triggers[4] = {NULL};
    int count = 0;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'", -1, &statement, NULL);
    char drop[4][96];
    while (sqlite3_step(statement) == SQLITE_ROW && count < 4) {
        snprintf(drop[count], sizeof *drop, "DROP TRIGGER %s", sqlite3_column_text(statement, 0));
        triggers[count++] = strdup((const char *)sqlite3_column_text(statement, 1));
    }
    sqlite3_finalize(statement);
    for (int i = 0; i < count; i++) assert_int_equal(sqlite3_exec(db, drop[i], NULL, NULL, NULL), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    for (int i = 0; i < count; i++) {
        sqlite3_exec(db, triggers[i], NULL, NULL, NULL); /* its table may be gone */
        free(triggers[i]);
    }
    sqlite3_close(db);
}

static int opens(void)
{
    tamis_ledger *ledger = NULL;
    tamis_status status = tamis_ledger_open(&ledger, path, NULL);
    tamis_ledger_free(ledger);
    return status == TAMIS_OK;
}

/* The change is found by verify; and `open` refuses the ledger, unless only numbers that were kept are touched. */
static void is_found(const char *sql, const char *field)
{
    char *problems = NULL;
    change(sql);
    if (verifies(&problems)) fail_msg("not found: %s", sql);
    if (!strstr(problems, field)) fail_msg("%s: %s", sql, problems);
    tamis_free(problems);
    if (opens() != (strncmp(field, "measurements", 12) == 0)) fail_msg("opens: %s", sql);
    write_file(original, original_size);
}

static void nothing_changed_is_fine(void **state)
{
    (void)state;
    change("SELECT 1");
    assert_true(verifies(NULL));
    assert_true(opens());
}

static void every_column_of_every_row(void **state)
{
    char sql[256], field[32];
    (void)state;
    for (int n = 1; n <= 8; n++) {
        snprintf(field, sizeof field, "entry %d", n);
        snprintf(sql, sizeof sql,
                 "UPDATE entries SET entry = replace(entry, '\"number\": %d', '\"number\": %d0') WHERE number = %d", n, n, n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET entry = replace(entry, ':', ' :') WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET entry = '' WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET entry = CAST(entry AS BLOB) WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET entry = entry || char(0) WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET hash = replace(hash, substr(hash, 1, 1), 'z') WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET hash = '%064d' WHERE number = %d", n, n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE entries SET number = number + 100 WHERE number = %d", n);
        is_found(sql, "entry");
        snprintf(sql, sizeof sql, "UPDATE entries SET number = -number WHERE number = %d", n);
        is_found(sql, "entry");
        if (n == 8) continue; /* the last one: only a certificate knows */
        snprintf(sql, sizeof sql, "DELETE FROM entries WHERE number = %d", n);
        is_found(sql, "entries before it are missing");
        snprintf(sql, sizeof sql,
                 "DELETE FROM entries WHERE number = %d; UPDATE entries SET number = number - 1 WHERE number > %d", n, n);
        is_found(sql, field);
        snprintf(sql, sizeof sql,
                 "UPDATE entries SET entry = (SELECT entry FROM entries WHERE number = %d), hash = (SELECT hash FROM entries "
                 "WHERE number = %d) WHERE number = %d",
                 n + 1, n + 1, n);
        is_found(sql, field);
    }
    for (int n = 3; n <= 7; n += 4) {
        snprintf(field, sizeof field, "measurements %d", n);
        snprintf(sql, sizeof sql, "UPDATE measurements SET text = replace(text, '7', '6') WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "UPDATE measurements SET number = number + 100 WHERE number = %d", n);
        is_found(sql, field);
        snprintf(sql, sizeof sql, "DELETE FROM measurements WHERE number = %d", n);
        is_found(sql, field);
    }
    is_found("INSERT INTO measurements VALUES (2, 'x')", "measurements: some belong to no release");
    is_found("INSERT INTO entries VALUES (9, '{}', '')", "entry 9");
}

/* The hash of an entry is that of the hash before it, a line end and its own text. */
static void the_chain_is_the_documented_one(void **state)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char before[TMI_SHA256_TEXT], hash[TMI_SHA256_TEXT];
    int entries = 0;
    tmi_book book;
    (void)state;
    tmi_book_init(&book);
    strcpy(before, book.hash);
    tmi_book_clear(&book);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT entry, hash FROM entries ORDER BY number", -1, &statement, NULL), SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; entries++) {
        char *text = NULL;
        const int length = asprintf(&text, "%s\n%s", before, (const char *)sqlite3_column_text(statement, 0));
        assert_true(length > 0);
        tmi_sha256_text(hash, text, (size_t)length);
        assert_string_equal(hash, (const char *)sqlite3_column_text(statement, 1));
        strcpy(before, hash);
        free(text);
    }
    assert_int_equal(entries, 8);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* Somebody who knows how the chain is made adds a charge that tamis would have refused. */
static void charges_beyond_the_budget_are_found(void **state)
{
    char *entry, sql[1024], hash[TMI_SHA256_TEXT], time[TAMIS_LEDGER_TIME], *problems = NULL;
    tamis_ledger *ledger = open_ledger();
    tmi_ledger_coin amount = {0};
    tamis_number *two = number_of("2");
    (void)state;
    strcpy(time, ledger->book.time);
    const tmi_entry_head head = {.number = ledger->book.number + 1, .time = time};
    assert_int_equal(tmi_coin_make(&amount, &(tamis_coin){.epsilon = two}, "amount", NULL), TAMIS_OK);
    assert_int_equal(tmi_entry_charge(&entry, &head, "schools", NULL, "plan.yaml", &amount, "[]", NULL, false, NULL), TAMIS_OK);
    assert_int_equal(tmi_chain_hash(hash, ledger->book.hash, entry, NULL), TAMIS_OK);
    tamis_ledger_free(ledger);
    snprintf(sql, sizeof sql, "INSERT INTO entries VALUES (%d, '%s', '%s')", (int)head.number, entry, hash);
    change(sql);
    assert_false(verifies(&problems));
    assert_non_null(strstr(problems, "exceed its budget"));
    assert_false(opens());
    tamis_free(problems);
    tamis_free(entry);
    tmi_coin_clear(&amount);
    tamis_number_free(two);
    write_file(original, original_size);
}

static void other_tables_are_found(void **state)
{
    (void)state;
    is_found("CREATE TABLE more(x)", "tables");
    is_found("CREATE INDEX i ON entries(hash)", "tables");
    is_found("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE number = new.number; END", "tables");
    is_found("ALTER TABLE measurements ADD COLUMN y", "tables");
    is_found("DROP TABLE measurements", "tables");
}

/* By hand nothing is changed without first taking the triggers off. */
static void rows_are_only_added(void **state)
{
    sqlite3 *db = NULL;
    (void)state;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    static const char *const tries[] = {"UPDATE entries SET hash = ''", "DELETE FROM entries",
                                        "UPDATE measurements SET text = ''", "DELETE FROM measurements"};
    for (size_t i = 0; i < 4; i++) assert_int_equal(sqlite3_exec(db, tries[i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
    sqlite3_close(db);
}

/* An open ledger notices when its last entries are taken away. */
static void behind_its_back(void **state)
{
    tamis_ledger *ledger = open_ledger();
    tamis_error err = {0};
    (void)state;
    change("DELETE FROM entries WHERE number = 8");
    assert_int_equal(charge_as(ledger, "1/8", "2", &err), -TAMIS_INVALID);
    if (!strstr(err.message, "disappeared or changed")) fail_msg("%s", err.message);
    tamis_ledger_free(ledger);
}

/* What was kept and changed is not given back. */
static void changed_numbers_are_not_given_back(void **state)
{
    sample_charge s;
    tamis_charged charged;
    tamis_error err = {0};
    (void)state;
    change("UPDATE measurements SET text = replace(text, '7', '6')");
    tamis_ledger *ledger = open_ledger();
    sample_charge_make(&s, "1/2", "2", "[\"a\"]");
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_INVALID);
    assert_null(charged.measurements);
    assert_non_null(strstr(err.message, "not those that were released"));
    s.charge.again = 1;
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &s.charge, &err), TAMIS_OK);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
}

/* ---- against certificates ---- */

static char certificate[160];

static void write_certificate(const char *text)
{
    snprintf(certificate, sizeof certificate, "%s/certificate.json", folder);
    FILE *file = fopen(certificate, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static tamis_status against(int *ok, char **text, tamis_error *err)
{
    const char *list[] = {certificate, certificate};
    return tamis_ledger_verify_json(ok, text, path, list, 2, err);
}

#define TABLE "{\"name\": \"counts\", \"noise\": [{\"law\": \"discrete_laplace\", \"scale\": \"4\"}], \"epsilon\": \"1/4\"}"
#define NOISY "{\"noisy\": [1, 2]}"

/* What the certificate of a charge of 1/4 says; each %s is one field that the ledger knows. */
static const char form[] =
    "{\"tamis\": 1, \"ledger\": {\"entry\": %s, \"hash\": \"%s\", \"time\": \"%s\", \"repeated\": %s}, \"plan\": {\"survey\": "
    "\"%s\", "
    "\"budget\": {\"epsilon\": \"%s\"}, \"design\": {\"srs\": {\"population\": %s, \"sample\": 10}}, \"privacy\": {\"unit\": "
    "\"%s\"}}, "
    "\"measurements\": [{\"limit\": 7, \"name\": \"counts\", \"epsilon\": \"1/4\", \"noise\": [{\"law\": \"discrete_laplace\", "
    "\"scale\": \"%s\"}]}], "
    "\"composition\": {\"epsilon\": \"%s\"}, \"account\": {\"before\": {\"epsilon\": \"%s\", \"delta\": \"0\", \"rho\": \"0\"}, "
    "\"after\": {\"epsilon\": \"%s\", \"delta\": \"0\", \"rho\": \"0\"}}, \"files\": {\"measurements.json\": \"%s\"}}";

enum { ENTRY, HASH, TIME, REPEATED, SURVEY, BUDGET, POPULATION, UNIT, SCALE, AMOUNT, BEFORE, AFTER, KEPT, FIELDS };

static void write_fields(const char *const f[FIELDS])
{
    char text[2048];
    snprintf(text, sizeof text, form, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12]);
    write_certificate(text);
}

/* Charges 1/4 to the schools, which had 1, and releases it; the certificate has the fields. */
static void charge_and_certify(const char *f[FIELDS], char entry[8], tamis_charged *charged, char kept[TMI_SHA256_TEXT])
{
    static const char *const rest[FIELDS] = {
        [REPEATED] = "false", [SURVEY] = "schools", [BUDGET] = "2", [POPULATION] = "1000", [UNIT] = "school",
        [SCALE] = "4",        [AMOUNT] = "1/4",     [BEFORE] = "1", [AFTER] = "5/4"};
    tamis_ledger *ledger = open_ledger();
    sample_charge s;
    sample_charge_make(&s, "1/4", "2", "[" TABLE "]");
    assert_int_equal(tamis_ledger_charge(charged, ledger, &s.charge, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_released(ledger, charged->entry, NOISY, NULL), TAMIS_OK);
    sample_charge_clear(&s);
    tamis_ledger_free(ledger);
    tmi_sha256_text(kept, NOISY, strlen(NOISY));
    snprintf(entry, 8, "%d", (int)charged->entry);
    memcpy(f, rest, sizeof rest);
    f[ENTRY] = entry;
    f[HASH] = charged->hash;
    f[TIME] = charged->time;
    f[KEPT] = kept;
    write_fields(f);
}

static void rollback_is_found_by_a_certificate(void **state)
{
    const char *fields[FIELDS];
    char entry[8], kept[TMI_SHA256_TEXT], *answer = NULL;
    tamis_charged charged;
    int ok;
    (void)state;
    charge_and_certify(fields, entry, &charged, kept);
    assert_int_equal(against(&ok, &answer, NULL), TAMIS_OK);
    if (!ok) fail_msg("%s", answer);
    tamis_free(answer);
    write_file(original, original_size); /* yesterday's copy */
    assert_true(verifies(NULL));         /* by itself it is faultless */
    assert_int_equal(against(&ok, &answer, NULL), TAMIS_OK);
    assert_false(ok);
    assert_non_null(strstr(answer, "rolled back"));
    tamis_free(answer);
    /* rolled back and gone on in another way */
    tamis_ledger *ledger = open_ledger();
    charge_as(ledger, "1/8", "2", NULL);
    tamis_ledger_free(ledger);
    assert_int_equal(against(&ok, &answer, NULL), TAMIS_OK);
    assert_false(ok);
    assert_non_null(strstr(answer, "another hash"));
    tamis_free(answer);
}

/* Entry and hash are right, and something else that the ledger knows is not. */
static void another_charge_is_found_by_the_ledger(void **state)
{
    static const struct {
        int field;
        const char *value, *words;
    } lies[] = {
        {TIME, "2020-01-01T00:00:00Z", "ledger.time"},
        {SURVEY, "pupils", "plan.survey"},
        {BUDGET, "3", "plan.budget"},
        {POPULATION, "1001", "plan.design"},
        {UNIT, "pupil", "plan.privacy"},
        {SCALE, "5", "measurements"},
        {AMOUNT, "1/400", "composition"},
        {AMOUNT, "x", "composition"},
        {BEFORE, "0", "account.before"},
        {AFTER, "1", "account.after"},
        {KEPT, "", "files.measurements.json"},
        {AFTER, "3/2", "account.after"},
    };
    const char *fields[FIELDS];
    char entry[8], kept[TMI_SHA256_TEXT], *answer;
    tamis_charged charged;
    int ok;
    (void)state;
    charge_and_certify(fields, entry, &charged, kept);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const char *right = fields[lies[i].field];
        fields[lies[i].field] = lies[i].value;
        write_fields(fields);
        assert_int_equal(against(&ok, &answer, NULL), TAMIS_OK);
        if (ok || !strstr(answer, lies[i].words)) fail_msg("%s: %s", lies[i].words, answer);
        tamis_free(answer);
        fields[lies[i].field] = right;
    }
    /* of a release that was returned as it was, `after` may have later charges; but such there must be */
    tamis_ledger *ledger = open_ledger();
    charge_as(ledger, "1/4", "2", NULL);
    tamis_ledger_free(ledger);
    fields[AFTER] = "3/2";
    for (int repeated = 0; repeated < 2; repeated++) {
        fields[REPEATED] = repeated ? "true" : "false";
        write_fields(fields);
        assert_int_equal(against(&ok, &answer, NULL), TAMIS_OK);
        assert_int_equal(ok, repeated);
        tamis_free(answer);
    }
}

static void against_without_memory(void **state)
{
    const char *fields[FIELDS];
    char entry[8], kept[TMI_SHA256_TEXT], *answer = NULL;
    tamis_charged charged;
    int ok;
    (void)state;
    charge_and_certify(fields, entry, &charged, kept);
    EVERY_ALLOCATION_FAILS(against(&ok, &answer, NULL), assert_null(answer));
    tamis_free(answer);
}

static void certificates_may_say_nothing(void **state)
{
    static const char *const silent[] = {"{}",
                                         "[]",
                                         "1",
                                         "{\"ledger\": null}",
                                         "{\"ledger\": {\"entry\": 2}}",
                                         "{\"ledger\": {\"entry\": \"2\", \"hash\": \"\"}}",
                                         "{\"ledger\": {\"entry\": 2, \"hash\": \"ab\"}}"};
    tamis_error err = {0};
    char *answer = NULL;
    int ok;
    (void)state;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        write_certificate(silent[i]);
        assert_int_equal(against(&ok, &answer, &err), TAMIS_OK);
        assert_false(ok);
        assert_non_null(strstr(answer, "names no entry"));
        tamis_free(answer);
    }
    write_certificate("{\"ledger\":");
    assert_int_equal(against(&ok, &answer, &err), TAMIS_INVALID);
    assert_null(answer);
    unlink(certificate);
    assert_int_equal(against(&ok, &answer, &err), TAMIS_INVALID);
    snprintf(certificate, sizeof certificate, "%s", folder);
    assert_int_equal(against(&ok, &answer, &err), TAMIS_INVALID);
}

/* ---- bits ---- */

static char *export_all(void)
{
    tamis_ledger *ledger = NULL;
    char *text = NULL;
    if (tamis_ledger_look(&ledger, path, NULL) == TAMIS_OK && tamis_ledger_entries_json(&text, ledger, NULL) != TAMIS_OK)
        text = NULL;
    tamis_ledger_free(ledger);
    return text;
}

/* After any single bit has flipped, either the ledger says that it is damaged, or it says what it said before. */
static void flipped_bits(void **state)
{
    char *before = export_all(), *copy = malloc(original_size);
    size_t found = 0, tried = 0;
    (void)state;
    assert_non_null(before);
    for (size_t i = 0; i < original_size; i += i < 100 ? 1 : 53) {
        memcpy(copy, original, original_size);
        copy[i] = (char)(copy[i] ^ 1 << (i % 8));
        write_file(copy, original_size);
        const int fine = verifies(NULL);
        char *after = export_all();
        tried++;
        if (!fine) found++;
        if (fine && !after) fail_msg("byte %zu: verifies, but cannot be read", i);
        if (fine && strcmp(before, after) != 0) fail_msg("byte %zu: verifies, but says something else", i);
        tamis_free(after);
    }
    print_message("# %zu of %zu flipped bits mattered\n", found, tried);
    assert_true(found > 50 && found < tried);
    write_file(original, original_size);
    tamis_free(before);
    free(copy);
}

#define WITH_A_LEDGER(test) cmocka_unit_test_setup_teardown(test, make_ledger, drop_ledger)

int main(void)
{
    const struct CMUnitTest all[] = {
        WITH_A_LEDGER(nothing_changed_is_fine),
        WITH_A_LEDGER(every_column_of_every_row),
        WITH_A_LEDGER(other_tables_are_found),
        WITH_A_LEDGER(the_chain_is_the_documented_one),
        WITH_A_LEDGER(charges_beyond_the_budget_are_found),
        WITH_A_LEDGER(rows_are_only_added),
        WITH_A_LEDGER(behind_its_back),
        WITH_A_LEDGER(changed_numbers_are_not_given_back),
        WITH_A_LEDGER(rollback_is_found_by_a_certificate),
        WITH_A_LEDGER(another_charge_is_found_by_the_ledger),
        WITH_A_LEDGER(against_without_memory),
        WITH_A_LEDGER(certificates_may_say_nothing),
        WITH_A_LEDGER(flipped_bits),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
