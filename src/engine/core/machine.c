#include "engine/core/machine.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number in a file; UINT64_MAX if there is none: "max", or no such file. */
static uint64_t number_in(const char *path)
{
    char text[64] = "";
    FILE *file = fopen(path, "re");
    if (!file) return UINT64_MAX;
    const char *line = fgets(text, sizeof text, file);
    fclose(file);
    char *end = text;
    const unsigned long long number = line ? strtoull(text, &end, 10) : 0;
    return end > text ? number : UINT64_MAX;
}

/* The smallest limit of a group and of the groups above it. */
static uint64_t limit_of(const char *root, char *group, const char *name)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char path[PATH_MAX];
        const int length = snprintf(path, sizeof path, "%s%s/%s", root, group, name);
        const uint64_t limit = length > 0 && (size_t)length < sizeof path ? number_in(path) : UINT64_MAX;
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

/* Lines such as "0::/user.slice" (version 2) and "4:cpu,memory:/job_17" (version 1). */
uint64_t tmi_cgroup_memory(const char *list, const char *root)
{
    char line[PATH_MAX], memory[PATH_MAX];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen(list, "re");
    if (!file) return least;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        controllers++;
        uint64_t limit = UINT64_MAX;
        if (*controllers == '\0') {
            limit = limit_of(root, group, "memory.max");
        } else if (strstr(controllers, "memory")) {
            const int length = snprintf(memory, sizeof memory, "%s/memory", root);
            if (length > 0 && (size_t)length < sizeof memory) limit = limit_of(memory, group, "memory.limit_in_bytes");
        }
        least = limit < least ? limit : least;
    }
    fclose(file);
    return least;
}

uint64_t tmi_machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    const uint64_t whole = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_C(1) << 30;
    const uint64_t group = tmi_cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    struct rlimit space;
    uint64_t least = group < whole ? group : whole;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur < least) least = space.rlim_cur;
    return least / 4 * 3;
}

uint64_t tmi_free_memory(void)
{
    char line[256];
    unsigned long long kilobytes;
    uint64_t bytes = UINT64_MAX;
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file) return bytes;
    while (bytes == UINT64_MAX && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1 && kilobytes <= UINT64_MAX / 1024) bytes = kilobytes * 1024;
    fclose(file);
    return bytes;
}

unsigned tmi_machine_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (unsigned)CPU_COUNT(&set);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}
