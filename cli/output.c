/* Outputs that must not exist yet, and files that come with tamis. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* The folder in which `path` would be made; NULL if it has no name of its own. */
static const char *parent_of(char room[PATH_MAX], const char *path)
{
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') length--;
    size_t parent = length;
    while (parent > 0 && path[parent - 1] != '/') parent--;
    if (length == 0 || parent >= PATH_MAX) return NULL;
    if (parent == 0) return ".";
    snprintf(room, PATH_MAX, "%.*s", (int)parent, path);
    return room;
}

int cli_check_new(const cli_call *call, const char *path, const char *what, const char *kind)
{
    char room[PATH_MAX];
    struct stat there;
    const char *option = cli_value(call, "out") ? "--out " : "", *parent = parent_of(room, path);
    if (!*path) return cli_wrong_usage(call->command, "--out: must be the name of a %s", kind);
    if (lstat(path, &there) == 0)
        return cli_wrong_usage(call->command, "%s%s already exists, and a %s is never overwritten: name another %s%s", option,
                               path, what, kind, *option ? "" : " with --out");
    if (errno != ENOENT) return cli_wrong_usage(call->command, "%s%s cannot be created: %s", option, path, strerror(errno));
    if (parent && stat(parent, &there) != 0)
        return cli_wrong_usage(call->command, "%s%s cannot be created: there is no folder %s", option, path, parent);
    if (parent && access(parent, W_OK | X_OK) != 0)
        return cli_wrong_usage(call->command, "%s%s cannot be created: %s", option, path, strerror(errno));
    return TAMIS_OK;
}

/* Installed beside the program wherever that was moved to, in the tree where the program was built, or where it was meant to be
 * installed. */
bool cli_find_shared(char path[PATH_MAX], const char *name)
{
    static const char *const beside_program[] = {"../share/tamis/", "../", "../share/"};
    char program[PATH_MAX], place[3 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    for (size_t i = 0; i < sizeof beside_program / sizeof *beside_program; i++) {
        snprintf(place, sizeof place, "%s/%s%s", program, beside_program[i], name);
        if (realpath(place, path)) return true;
    }
    snprintf(place, sizeof place, "%s/%s", TAMIS_DATA_FOLDER, name);
    return realpath(place, path);
}
