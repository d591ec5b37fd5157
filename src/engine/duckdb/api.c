#include "engine/duckdb/api.h"

#include <stdatomic.h>
#include <threads.h>

#include "engine/core/libraries.h"
#include "engine/core/loader.h"

static const char library[] = "libduckdb.so";

#define HOW_TO_GET_IT "fetch it with `make setup`, or build with DUCKDB_DIR=FOLDER to use one that is already installed"

/* Which library a process has loaded is a fact about the process: it is written once, by the first thread. */
static once_flag once = ONCE_FLAG_INIT;
static tmi_duckdb_api api;
static tmi_loaded loaded;
static atomic_bool asked; /* `loaded` and `api` are written */

static void load(void)
{
#define NAME(name) "duckdb_" #name,
    static const char *const names[] = {TMI_DUCKDB_FUNCTIONS(NAME)};
#undef NAME
    _Static_assert(sizeof names / sizeof *names * sizeof(void *) == sizeof api, "one pointer per name");
    loaded = tmi_library_load(&api, names, sizeof names / sizeof *names, "duckdb", library);
    asked = true;
}

const tmi_duckdb_api *tmi_duckdb_load(tamis_error *err)
{
    call_once(&once, load);
    if (loaded.found && !loaded.lacks) return &api;
    if (loaded.found) tmi_fail(err, TAMIS_SYSTEM, "%s is too old: it has no %s; " HOW_TO_GET_IT, library, loaded.lacks);
    else
        tmi_fail(err, TAMIS_SYSTEM,
                 "DuckDB (%s), which reads Parquet and DuckDB files, was not found; the engine memory reads "
                 "CSV files: " HOW_TO_GET_IT,
                 library);
    return NULL;
}

/* A library that is too old also counts as found: it is reported, not skipped. */
bool tmi_duckdb_is_there(void)
{
    call_once(&once, load);
    return loaded.found;
}

const tmi_duckdb_api *tmi_duckdb(void) { return &api; }

/* The version is that of the library if it is loaded; else the header's, since asking it would mean loading it. */
#define TEXT_OF(x) #x
#define VERSION(x, y, z) TEXT_OF(x) "." TEXT_OF(y) "." TEXT_OF(z)
#ifdef DUCKDB_API_VERSION_MAJOR
static const char version[] = VERSION(DUCKDB_API_VERSION_MAJOR, DUCKDB_API_VERSION_MINOR, DUCKDB_API_VERSION_PATCH);
#else
static const char version[] = "1.4"; /* the last headers that did not state it */
#endif

void tmi_engine_libraries(tmi_library_list *list)
{
    tmi_library_path path;
    const bool there = tmi_library_given("duckdb") || tmi_library_find(&path, library);
    const char *found = asked && loaded.found && !loaded.lacks ? api.library_version() : version;
    if (found[0] == 'v') found++;
    tmi_library_add(list, "DuckDB", there ? found : NULL);
}
