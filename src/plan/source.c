/* source: where the rows are. Files are named relative to the plan, so that a folder can be moved as a whole. */
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "plan/sections.h"

/* Kinds of files of the format, by their ending; those this version reads are marked. */
static const struct {
    const char *ending;
    bool now;
} endings[] = {{".csv", true},  {".parquet", true},  {".sav", false}, {".zsav", false},
               {".dta", false}, {".sas7bdat", false}, {".xpt", false}, {".duckdb", false}, {".db", false}};

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcasecmp(text + length - tail, ending) == 0;
}

static bool check_ending(tmi_reader *reader, const tmi_yaml *value, const char *file)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!ends_with(file, endings[i].ending)) continue;
        if (endings[i].now) return true;
        tmi_complain(reader, value, "a %s file " TMI_NOT_YET, endings[i].ending);
        return false;
    }
    tmi_complain(reader, value, "expected a file that ends in .csv or .parquet, e.g. schools.csv");
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

static void read_one(tmi_reader *reader, const tmi_yaml *value, tamis_plan *plan)
{
    char *file = NULL;
    if (!tmi_read_text(reader, value, &file, "schools.csv")) return;
    if (check_ending(reader, value, file)) {
        char *path = tmi_beside_plan(plan->name, file);
        if (path) {
            plan->source.files[plan->source.file_count] = path;
            plan->source.names[plan->source.file_count++] = file;
            return;
        }
        reader->no_memory = true;
    }
    tmi_free(file);
}

static void read_files(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tamis_plan *plan = target;
    bool is_list = value->kind == TMI_YAML_LIST;
    size_t count = is_list ? value->count : 1;
    if (plan->source.files) {
        tmi_complain_key(reader, value, "expected either file or files, not both");
        return;
    }
    if (count == 0 || count > TMI_MAX_FILES) {
        tmi_complain(reader, value, "expected 1 to %d files, e.g. [north.csv, south.csv]", TMI_MAX_FILES);
        return;
    }
    plan->source.files = tmi_alloc(count, sizeof *plan->source.files);
    plan->source.names = tmi_alloc(count, sizeof *plan->source.names);
    if (!plan->source.files || !plan->source.names) {
        reader->no_memory = true;
        return;
    }
    if (!is_list) read_one(reader, value, plan);
    for (const tmi_yaml *item = is_list ? value->first : NULL; item; item = item->next) read_one(reader, item, plan);
}

static const tmi_key keys[] = {
    {.name = "file", .read = read_files},
    {.name = "files", .read = read_files},
    {.name = "table"},
    {.name = "postgres"},
    {.name = "sharded_by"},
};

void tmi_read_source(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, "{file: schools.csv}", target);
    tamis_plan *plan = target;
    if (!plan->source.files && reader->count == before) {
        tmi_complain_key(reader, value, "expected the key file, e.g. file: schools.csv");
    }
}
