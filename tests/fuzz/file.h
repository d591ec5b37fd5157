/* The bytes of the fuzzer as a file with a name of the target's choice, in a private folder. It is in memory where the system
 * has such a place, and is written anew for each input. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fuzz_path[128];

static void fuzz_remove(void)
{
    unlink(fuzz_path);
    *strrchr(fuzz_path, '/') = '\0';
    rmdir(fuzz_path);
}

/* The path of a file with these bytes. */
static inline const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size)
{
    if (fuzz_path[0] == '\0') {
        char folder[64] = "/dev/shm/tamis-fuzz-XXXXXX";
        if (!mkdtemp(folder)) {
            strcpy(folder, "/tmp/tamis-fuzz-XXXXXX");
            if (!mkdtemp(folder)) abort();
        }
        snprintf(fuzz_path, sizeof fuzz_path, "%s/%s", folder, name);
        atexit(fuzz_remove);
    }
    const int file = open(fuzz_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0) abort();
    return fuzz_path;
}

#endif
