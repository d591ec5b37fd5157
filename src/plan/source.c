/* source: where the rows are. Files are named relative to the plan, so that a folder can be moved as a whole. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/text.h"
#include "plan/sections.h"

static const char *const endings[] = {".csv", ".parquet", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt", ".duckdb", ".db"};
#define ENDINGS (sizeof endings / sizeof *endings)

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

static bool is_database(const char *file) { return ends_with(file, ".duckdb") || ends_with(file, ".db"); }

static bool check_ending(tmi_reader *reader, const tmi_value *value, const char *file)
{
    for (size_t i = 0; i < ENDINGS; i++)
        if (ends_with(file, endings[i])) return true;
    tmi_complain(reader, value,
                 "expected a file that ends in .csv, .parquet, .sav, .zsav, .dta, .sas7bdat, .xpt, .duckdb or .db, "
                 "e.g. schools.csv");
    return false;
}

char *tmi_beside_plan(const char *plan, const char *file)
{
    const char *slash = strrchr(plan, '/');
    tmi_text path;
    tmi_text_init(&path);
    if (file[0] != '/' && slash) tmi_text_add(&path, plan, (size_t)(slash - plan) + 1);
    tmi_text_put(&path, file);
    char *whole;
    return tmi_text_take(&whole, &path, NULL) == TAMIS_OK ? whole : NULL;
}

static bool is_within(const char *folder, const char *path)
{
    char top[PATH_MAX], found[PATH_MAX], part[PATH_MAX];
    struct stat there;
    size_t length = strlen(path);
    if (!realpath(folder, top) || length >= sizeof part) return false;
    memcpy(part, path, length + 1);
    while (!realpath(*part ? part : ".", found)) { /* the nearest folder that exists; what is missing has no links and no .. */
        if ((errno != ENOENT && errno != ENOTDIR) || !*part || lstat(part, &there) == 0) return false;
        while (length > 1 && part[length - 1] == '/') part[--length] = '\0';
        size_t parent = length;
        while (parent > 0 && part[parent - 1] != '/') parent--;
        if (strcmp(part + parent, "..") == 0) return false;
        while (parent > 1 && part[parent - 1] == '/') parent--;
        part[length = parent] = '\0';
    }
    const size_t whole = strcmp(top, "/") == 0 ? 0 : strlen(top);
    return strncmp(found, top, whole) == 0 && (found[whole] == '/' || found[whole] == '\0');
}

bool tmi_is_within(const tmi_plan_allowed *places, const char *path)
{
    struct stat there;
    bool within = !places->root || is_within(places->root, path);
    for (const char *const *also = places->root ? places->also : NULL; !within && also && *also; also++)
        within = is_within(*also, path);
    /* A pipe or a device would be waited for, or read without end. */
    return within && (!places->root || stat(path, &there) != 0 || S_ISREG(there.st_mode) || S_ISDIR(there.st_mode));
}

tamis_status tmi_plan_is_within(const tamis_plan *plan, const tmi_plan_allowed *places, const char *ledger, tamis_error *err)
{
    const char *const others[] = {plan->design.frame, plan->design.psus, ledger};
    static const char *const names[] = {"design.frame", "design.psus", "ledger"};
    const char *outside = NULL;
    for (size_t i = 0; i < plan->source.file_count; i++)
        if (!tmi_is_within(places, plan->source.files[i])) outside = "source";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] && !tmi_is_within(places, others[i])) outside = names[i];
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_contrast *c = plan->statistics[i].contrast;
        if (c && c->since && !tmi_is_within(places, c->since)) outside = "statistics.since";
    }
    if (!outside) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID,
                    "%s: this file is outside of the folder that the files of a plan may be in here, or it is no regular file",
                    outside);
}

char *tmi_path_of(tmi_reader *reader, const tmi_value *value, const char *plan, const char *file)
{
    char *path = tmi_beside_plan(plan, file);
    if (!path) reader->no_memory = true;
    if (!path || tmi_is_within(&reader->places, path)) return path;
    tmi_complain(reader, value,
                 "this file is outside of the folder that the files of a plan may be in here, or it is no regular file");
    tmi_free(path);
    return NULL;
}

bool tmi_read_path(tmi_reader *reader, const tmi_value *value, const char *plan, char **path, const char *example)
{
    char *file = NULL;
    if (!tmi_read_text(reader, value, &file, example)) return false;
    *path = tmi_path_of(reader, value, plan, file);
    tmi_free(file);
    return *path != NULL;
}

static void read_file(tmi_reader *reader, const tmi_value *value, tamis_plan *plan)
{
    char *file = NULL;
    tmi_plan_source *source = &plan->source;
    if (!tmi_read_text(reader, value, &file, "schools.csv")) return;
    if (!check_ending(reader, value, file)) {
        tmi_free(file);
        return;
    }
    char *path = tmi_path_of(reader, value, plan->name, file);
    if (!path) {
        tmi_free(file);
        return;
    }
    source->names[source->file_count] = file;
    source->files[source->file_count++] = path;
}

static void read_files(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    tmi_plan_source *source = &plan->source;
    bool is_list = value->kind == TMI_VALUE_LIST;
    size_t count = is_list ? value->count : 1;
    if (source->files) {
        tmi_complain_key(reader, value, "expected either file or files, not both");
        return;
    }
    if (count == 0 || count > TMI_MAX_FILES) {
        tmi_complain(reader, value, "expected 1 to %d files, e.g. [north.csv, south.csv]", TMI_MAX_FILES);
        return;
    }
    source->files = tmi_alloc(count, sizeof *source->files);
    source->names = tmi_alloc(count, sizeof *source->names);
    if (!source->files || !source->names) {
        reader->no_memory = true;
        return;
    }
    if (!is_list) read_file(reader, value, plan);
    for (const tmi_value *item = is_list ? tmi_value_first(value) : NULL; item; item = tmi_value_next(item))
        read_file(reader, item, plan);
}

#define TEXT(member, says) .plain = tmi_plain_text, .field = offsetof(tamis_plan, source.member), .example = says

/* ---- PostgreSQL ---- */

static void read_connections(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char example[] = "service=survey";
    tmi_plan_source *source = &((tamis_plan *)target)->source;
    if (source->connections) {
        tmi_complain_key(reader, value, "expected either connection or connections, not both");
        return;
    }
    if (value->kind != TMI_VALUE_LIST) {
        source->connections = tmi_alloc(1, sizeof *source->connections);
        if (!source->connections) reader->no_memory = true;
        else if (tmi_read_text(reader, value, &source->connections[0], example)) source->connection_count = 1;
    } else {
        tmi_read_texts(reader, value, &source->connections, &source->connection_count, TMI_MAX_FILES, example);
    }
    for (size_t i = 0; i < source->connection_count; i++) {
        if (reader->places.root && !tmi_is_plain_connection(source->connections[i])) {
            tmi_complain(reader, value, TMI_PLAIN_CONNECTION);
            return;
        }
        if (!tmi_has_password(source->connections[i])) continue;
        tmi_complain(reader, value,
                     "expected a connection without a password, e.g. %s: a plan is public, a password belongs in "
                     "libpq's service or password file",
                     example);
        return;
    }
}

static void read_postgres(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "connection", .read = read_connections},
        {.name = "connections", .read = read_connections},
        {.name = "table", TEXT(table, "interviews"), .required = "table: interviews"},
    };
    tamis_plan *plan = target;
    tmi_read_map(reader, value, keys, 3, "{connection: service=survey, table: interviews}", plan);
    if (value->kind == TMI_VALUE_MAP && !tmi_value_get(value, "connection") && !tmi_value_get(value, "connections"))
        tmi_complain_key(reader, value, "expected the key connection, e.g. connection: service=survey");
}

/* ---- a client that runs SQL ---- */

#define MOST_WORDS 64
#define LONGEST_TABLE 1000 /* it is in the certificate */
#define USUAL_TIMEOUT 3600
#define LONGEST_TIMEOUT (7 * 24 * 3600)

static void read_command(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char example[] = "[psql, -X, --csv, -v, ON_ERROR_STOP=1]";
    tmi_plan_source *source = &((tamis_plan *)target)->source;
    if (value->kind != TMI_VALUE_LIST) {
        tmi_complain(reader, value, "expected the words of a command, which no shell reads, e.g. %s", example);
        return;
    }
    tmi_read_texts(reader, value, &source->command, &source->command_count, MOST_WORDS, example);
    for (size_t i = 0; i < source->command_count; i++) {
        if (!tmi_has_password(source->command[i])) continue;
        tmi_complain(reader, value,
                     "expected a command without a password: a plan is public, a password belongs in the client's own file");
        return;
    }
}

static void read_dialect(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char *const dialects[] = {"spark", "duckdb", "postgres", NULL};
    tmi_plan_source *source = &((tamis_plan *)target)->source;
    if (!tmi_read_text(reader, value, &source->dialect, "spark") || tmi_is_one_of(source->dialect, dialects)) return;
    tmi_complain(reader, value, "expected a dialect of SQL: spark, duckdb or postgres");
}

static void read_errors_to(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    tmi_read_path(reader, value, plan->name, &plan->source.errors_to, "errors.log");
}

static void read_timeout(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_whole(reader, value, &((tamis_plan *)target)->source.timeout, 1, LONGEST_TIMEOUT, "3600");
}

/* A chain over the words, so that no two lists of them have the same text. */
void tmi_hash_command(char hash[TMI_SHA256_TEXT], const tmi_plan_source *source)
{
    unsigned char chain[2 * TMI_SHA256_BYTES] = {0};
    for (size_t i = 0; i < source->command_count; i++) {
        tmi_sha256(chain + TMI_SHA256_BYTES, source->command[i], strlen(source->command[i]));
        tmi_sha256(chain, chain, sizeof chain);
    }
    tmi_hex(hash, chain, TMI_SHA256_BYTES);
}

/* What is said beside the command, or without one. */
static void check_command(tmi_reader *reader, const tmi_value *value, tamis_plan *plan)
{
    static const char *const with[] = {"dialect", "rows_version", "errors_to", "timeout"};
    const tmi_value *command = tmi_value_get(value, "command"), *table = tmi_value_get(value, "table");
    for (size_t i = 0; !command && i < sizeof with / sizeof *with; i++)
        if (tmi_value_get(value, with[i]))
            tmi_complain_key(reader, tmi_value_get(value, with[i]), "expected a command with it, e.g. command: [psql, ...]");
    if (!command) return;
    if (plan->source.timeout == 0) plan->source.timeout = USUAL_TIMEOUT;
    if (!tmi_value_get(value, "dialect"))
        tmi_complain_key(reader, command, "expected the key dialect with it: spark, duckdb or postgres");
    if (!table) tmi_complain_key(reader, command, "expected the key table with it, e.g. table: interviews");
    else if (plan->source.table && strlen(plan->source.table) > LONGEST_TABLE)
        tmi_complain(reader, table, "must have at most %d bytes: make a view", LONGEST_TABLE);
    else if (plan->source.table && strchr(plan->source.table, ';'))
        tmi_complain(reader, table, "expected one table as it comes after FROM, without a semicolon");
}

/* ---- the section ---- */

/* Which column tells units apart is known with `privacy`: see checks.c. */
static void read_sharded_by(tmi_reader *reader, const tmi_value *value, void *target)
{
    char *name = NULL;
    if (tmi_read_text(reader, value, &name, "id")) ((tamis_plan *)target)->source.sharded_by_unit = true;
    tmi_free(name);
}

static const tmi_plan_key keys[] = {
    {.name = "file", .read = read_files},
    {.name = "files", .read = read_files},
    {.name = "table", TEXT(table, "interviews")},
    {.name = "postgres", .read = tmi_read_later},
    {.name = "caller", TEXT(caller, "interviews of 2026")},
    {.name = "sharded_by", .read = read_sharded_by},
    {.name = "command", .read = read_command},
    {.name = "dialect", .read = read_dialect},
    {.name = "rows_version", TEXT(rows_version, "delta@12")},
    {.name = "errors_to", .read = read_errors_to},
    {.name = "timeout", .read = read_timeout},
};

void tmi_read_source(tmi_reader *reader, const tmi_value *value, void *target)
{
    size_t before = reader->count;
    tamis_plan *plan = target;
    const tmi_plan_source *source = &plan->source;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, "{file: schools.csv}", plan);
    if (value->kind != TMI_VALUE_MAP) return;
    const tmi_value *postgres = tmi_value_get(value, "postgres"), *table = tmi_value_get(value, "table");
    const tmi_value *command = tmi_value_get(value, "command");
    check_command(reader, value, plan);
    if (command && (source->files || postgres || tmi_value_get(value, "caller"))) {
        tmi_complain_key(reader, command, "expected either a command, or files, postgres or rows of a program, not both");
        return;
    }
    if (command) return;
    if (postgres && (source->files || table)) {
        tmi_complain_key(reader, postgres, "expected either files or postgres, not both");
        return;
    }
    const tmi_value *caller = tmi_value_get(value, "caller");
    if (caller && (source->files || table || postgres)) {
        tmi_complain_key(reader, caller, "expected either rows of a program, by their name, or files or postgres, not both");
        return;
    }
    if (caller) return;
    if (postgres) read_postgres(reader, postgres, plan);
    if (postgres || reader->count > before) return;
    if (!source->files) {
        tmi_complain_key(reader, value, "expected the key file, e.g. file: schools.csv");
        return;
    }
    bool database = false;
    for (size_t i = 0; i < source->file_count; i++) database = database || is_database(source->names[i]);
    if (database && !table) tmi_complain_key(reader, value, "expected the key table with a DuckDB file, e.g. table: interviews");
    if (!database && table) tmi_complain_key(reader, table, "expected a DuckDB file with it: other files contain one table");
}
