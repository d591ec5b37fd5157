#include "engine/files/readstat_api.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "engine/core/libraries.h"
#include "engine/core/loader.h"

static const char library[] = "libreadstat.so.1"; /* its name since ReadStat 1.1 */

/* Which library a process has loaded is a fact about the process: it is written once, by the first thread. */
static once_flag once = ONCE_FLAG_INIT;
static tmi_readstat_api api;
static tmi_loaded loaded;

static void load(void)
{
#define NAME(name) "readstat_" #name,
    static const char *const names[] = {TMI_READSTAT_FUNCTIONS(NAME)};
#undef NAME
    _Static_assert(sizeof names / sizeof *names * sizeof(void *) == sizeof api, "one pointer per name");
    loaded = tmi_library_load(&api, names, sizeof names / sizeof *names, "readstat", library);
}

tamis_status tmi_readstat_load(tamis_error *err)
{
    call_once(&once, load);
    if (!loaded.found)
        return tmi_fail(err, TAMIS_SYSTEM,
                        "%s, which reads files of SPSS, Stata and SAS, was not found; on Debian: apt-get install libreadstat1",
                        library);
    if (loaded.lacks) return tmi_fail(err, TAMIS_SYSTEM, "%s is too old: it has no %s", library, loaded.lacks);
    return TAMIS_OK;
}

const tmi_readstat_api *tmi_readstat(void) { return &api; }

/* ReadStat does not report its version; the name of its file has it: libreadstat.so.1.1.8. */
void tmi_readstat_libraries(tmi_library_list *list)
{
    static const char mark[] = ".so.";
    tmi_library_path path;
    const char *given = tmi_library_given("readstat");
    char *real = given || tmi_library_find(&path, library) ? realpath(given ? given : path.text, NULL) : NULL;
    const char *version = real ? strstr(real, mark) : NULL;
    tmi_library_add(list, "ReadStat", !real ? NULL : version ? version + sizeof mark - 1 : "of an unknown version");
    free(real);
}
