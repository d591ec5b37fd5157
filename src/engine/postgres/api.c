#include "engine/postgres/api.h"

#include <dlfcn.h>
#include <pg_config.h>
#include <stdio.h>
#include <threads.h>

#include "engine/core/libraries.h"
#include "engine/core/loader.h"

static const char library[] = "libpq.so.5"; /* its name since PostgreSQL 8.2 */

/* Which library a process has loaded is a fact about the process: it is written once, by the first thread. */
static once_flag once = ONCE_FLAG_INIT;
static struct {
    tmi_pq_api api;
    bool found;
    const char *lacks;
} loaded;

static void load(void)
{
    void *handle = tmi_library_open(library);
    if (!handle) return;
    loaded.found = true;
#define LOOK_UP(name) \
    *(void **)&loaded.api.name = dlsym(handle, "PQ" #name); \
    if (!loaded.api.name) loaded.lacks = "PQ" #name;
    TMI_PQ_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
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

const tmi_pq_api *tmi_pq(void) { return &loaded.api; }

/* The version is the header's: asking the library itself would mean loading it. */
void tmi_postgres_libraries(tmi_library_list *list)
{
    char version[TMI_LIBRARY_VERSION];
    tmi_library_path path;
    snprintf(version, sizeof version, "%d.%d", PG_VERSION_NUM / 10000, PG_VERSION_NUM % 10000);
    tmi_library_add(list, "libpq", tmi_library_find(&path, library) ? version : NULL);
}
