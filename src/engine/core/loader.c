#include "engine/core/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

tmi_loaded tmi_library_load(void *functions, const char *const *names, size_t count, const char *library)
{
    tmi_library_path path;
    /* the full path, because the address sanitizer's dlopen loses track of whose RUNPATH to use */
    void *handle = dlopen(tmi_library_find(&path, library) ? path.text : library, RTLD_NOW | RTLD_LOCAL);
    tmi_loaded loaded = {.found = handle != NULL};
    for (size_t i = 0; handle && i < count; i++) {
        void *const function = dlsym(handle, names[i]);
        memcpy((char *)functions + i * sizeof function, &function, sizeof function);
        if (!function) loaded.lacks = names[i];
    }
    return loaded;
}
