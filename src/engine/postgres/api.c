#include "engine/postgres/api.h"

#include <pg_config.h>
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>

#include "engine/core/libraries.h"
#include "engine/core/loader.h"

static const char library[] = "libpq.so.5"; /* its name since PostgreSQL 8.2 */

/* Which library a process has loaded is a fact about the process: it is written once, by the first thread. */
static once_flag once = ONCE_FLAG_INIT;
static tmi_pq_api api;
static tmi_loaded loaded;
static atomic_bool asked; /* `loaded` and `api` are written */

static void load(void)
{
#define NAME(name) "PQ" #name,
    static const char *const names[] = {TMI_PQ_FUNCTIONS(NAME)};
#undef NAME
    _Static_assert(sizeof names / sizeof *names * sizeof(void *) == sizeof api, "one pointer per name");
    loaded = tmi_library_load(&api, names, sizeof names / sizeof *names, "pq", library);
    asked = true;
}

tamis_status tmi_pq_load(tamis_error *err)
{
    call_once(&once, load);
    if (!loaded.found)
        return tmi_fail(err, TAMIS_SYSTEM,
                        "%s, the client library of PostgreSQL, was not found; on Debian: apt-get install libpq5", library);
    if (loaded.lacks) return tmi_fail(err, TAMIS_SYSTEM, "%s is too old: it has no %s", library, loaded.lacks);
    return TAMIS_OK;
}

const tmi_pq_api *tmi_pq(void) { return &api; }

/* The version is that of the library if it is loaded; else the header's, since asking it would mean loading it. */
void tmi_postgres_libraries(tmi_library_list *list)
{
    char version[TMI_LIBRARY_VERSION];
    tmi_library_path path;
    const int found = asked && loaded.found && !loaded.lacks ? api.libVersion() : PG_VERSION_NUM;
    snprintf(version, sizeof version, "%d.%d", found / 10000, found % 10000);
    tmi_library_add(list, "libpq", tmi_library_given("pq") || tmi_library_find(&path, library) ? version : NULL);
}
