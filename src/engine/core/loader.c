#include "engine/core/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tamis/engine.h>
#include <unistd.h>

#include "base/error.h"

/* Bytes for the linker's list of folders: a few dozen paths at most. */
#define SEARCH_PATHS 16384

/* The search starts from the object that contains this code, the command itself or libtamis.so, and uses its RUNPATH as
 * dlopen(library) would. */
bool tmi_library_find(tmi_library_path *path, const char *library)
{
    static const char here;
    Dl_info info;
    struct link_map *map = NULL;
    union {
        Dl_serinfo list;
        char bytes[SEARCH_PATHS];
    } search;
    bool found = false;

    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return false;
    void *self = dlopen(map->l_name[0] ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!self) return false;
    if (dlinfo(self, RTLD_DI_SERINFOSIZE, &search.list) != 0 || search.list.dls_size > sizeof search) goto done;
    if (dlinfo(self, RTLD_DI_SERINFO, &search.list) != 0) goto done;
    for (unsigned i = 0; i < search.list.dls_cnt && !found; i++) {
        tmi_library_path tried;
        int length = snprintf(tried.text, sizeof tried.text, "%s/%s", search.list.dls_serpath[i].dls_name, library);
        found = length > 0 && (size_t)length < sizeof tried.text && access(tried.text, R_OK) == 0;
        if (found) *path = tried;
    }
done:
    dlclose(self);
    return found;
}

/* Which libraries a process uses is a fact about the process, like which it has loaded. */
static struct {
    const char *name;
    char path[PATH_MAX];
    atomic_bool loaded;
} given[] = {{.name = "duckdb"}, {.name = "pq"}, {.name = "readstat"}};
static atomic_flag changing = ATOMIC_FLAG_INIT;
#define GIVEN (sizeof given / sizeof *given)

static size_t place_of(const char *name)
{
    size_t i = 0;
    while (i < GIVEN && strcmp(given[i].name, name) != 0) i++;
    return i;
}

tamis_status tamis_library_use(const char *name, const char *path, tamis_error *err)
{
    if (!name || !path) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name ? "path" : "name");
    const size_t i = place_of(name);
    if (i == GIVEN) return tmi_fail(err, TAMIS_INVALID, "name: expected duckdb, pq or readstat");
    if (strlen(path) >= sizeof given[i].path) return tmi_fail(err, TAMIS_INVALID, "path: too long");
    if (access(path, R_OK) != 0) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "no such file, or it cannot be read");
    if (atomic_flag_test_and_set(&changing)) return tmi_fail(err, TAMIS_INVALID, "another thread is just naming a library");
    const bool late = given[i].loaded && strcmp(given[i].path, path) != 0;
    if (!given[i].loaded) strcpy(given[i].path, path);
    atomic_flag_clear(&changing);
    return late ? tmi_fail(err, TAMIS_INVALID, "%s: one is loaded already; name another before the first use", name) : TAMIS_OK;
}

const char *tmi_library_given(const char *name)
{
    const size_t i = place_of(name);
    return i < GIVEN && given[i].path[0] ? given[i].path : NULL;
}

tmi_loaded tmi_library_load(void *functions, const char *const *names, size_t count, const char *name, const char *library)
{
    tmi_library_path path;
    if (place_of(name) < GIVEN) given[place_of(name)].loaded = true;
    const char *own = tmi_library_given(name);
    /* the full path, because the address sanitizer's dlopen loses track of whose RUNPATH to use */
    void *handle = dlopen(own ? own : tmi_library_find(&path, library) ? path.text : library, RTLD_NOW | RTLD_LOCAL);
    tmi_loaded loaded = {.found = handle != NULL};
    for (size_t i = 0; handle && i < count; i++) {
        void *const function = dlsym(handle, names[i]);
        memcpy((char *)functions + i * sizeof function, &function, sizeof function);
        if (!function) loaded.lacks = names[i];
    }
    return loaded;
}
