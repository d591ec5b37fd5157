/* Secret memory as the kernel sees it: flags of the mapping, faults at the guards, a core dump. The calls of secret.c to the
 * system are wrapped, so that each can be made to fail. */
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/secret.h"
#include "tests/base/memory_that_fails.h"

static int protect_calls, fail_protect_call;
static bool fail_wishes;

int __real_mprotect(void *pages, size_t n, int protection);
int __wrap_mprotect(void *pages, size_t n, int protection);
int __real_madvise(void *pages, size_t n, int advice);
int __wrap_madvise(void *pages, size_t n, int advice);
int __real_mlock2(const void *pages, size_t n, unsigned flags);
int __wrap_mlock2(const void *pages, size_t n, unsigned flags);

int __wrap_mprotect(void *pages, size_t n, int protection)
{
    return ++protect_calls == fail_protect_call ? -1 : __real_mprotect(pages, n, protection);
}

int __wrap_madvise(void *pages, size_t n, int advice) { return fail_wishes ? -1 : __real_madvise(pages, n, advice); }

int __wrap_mlock2(const void *pages, size_t n, unsigned flags) { return fail_wishes ? -1 : __real_mlock2(pages, n, flags); }

/* ---- what the kernel says ---- */

/* Whether the mapping with this address has the flag in /proc/self/smaps: "dd" no core dump, "lo" locked, "wf" wiped on fork. */
static bool has_flag(const void *block, const char *flag)
{
    char line[4096];
    bool inside = false, found = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned long from, to;
        char after;
        if (sscanf(line, "%lx-%lx%c", &from, &to, &after) == 3 && after == ' ')
            inside = from <= (unsigned long)block && (unsigned long)block < to;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0) found = strstr(line, flag) != NULL;
    }
    fclose(file);
    return found;
}

/* Runs f(block) in a child and returns its wait status. A fault ends it as if no sanitizer were there. */
static int in_child(void (*f)(unsigned char *block), unsigned char *block)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        f(block);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool faults(void (*f)(unsigned char *block), unsigned char *block)
{
    const int status = in_child(f, block);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static bool succeeds(void (*f)(unsigned char *block), unsigned char *block) { return in_child(f, block) == 0; }

/* ---- tests ---- */

static void is_zeroed_and_ends_at_a_guard(void **state)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 65536, 100000};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *block = tmi_secret_alloc(sizes[i], 1);
        assert_non_null(block);
        const size_t whole = sizes[i] == 0 ? 16 : (sizes[i] + 15) / 16 * 16;
        assert_int_equal((uintptr_t)(block + whole) % page, 0);
        for (size_t k = 0; k < whole; k++) assert_int_equal(block[k], 0);
        memset(block, 0xa5, whole);
        tmi_secret_free(block);
    }
    tmi_secret_free(NULL);
}

static void write_last(unsigned char *block) { block[31] = 1; }
static void write_beyond(unsigned char *block) { block[32] = 1; }
static void read_beyond(unsigned char *block) { (void)*(volatile unsigned char *)(block + 32); }
static void write_before(unsigned char *block) { block[32 - 2 * sysconf(_SC_PAGESIZE)] = 1; }
static void read_before(unsigned char *block) { (void)*(volatile unsigned char *)(block + 31 - sysconf(_SC_PAGESIZE)); }
static void write_size(unsigned char *block) { block[32 - 3 * sysconf(_SC_PAGESIZE)] = 1; }

static void guards_fault(void **state)
{
    unsigned char *block = tmi_secret_alloc(4, 8);
    (void)state;
    assert_non_null(block);
    assert_true(succeeds(write_last, block));
    assert_true(faults(write_beyond, block));
    assert_true(faults(read_beyond, block));
    assert_true(faults(write_before, block));
    assert_true(faults(read_before, block));
    assert_true(faults(write_size, block));
    tmi_secret_free(block);
}

static void is_locked_and_not_dumped(void **state)
{
    char *ordinary = malloc(100);
    unsigned char *block = tmi_secret_alloc(100, 1);
    (void)state;
    assert_non_null(ordinary);
    assert_non_null(block);
    block[0] = 1;
    assert_true(has_flag(block, " dd"));
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (geteuid() == 0 || limit.rlim_cur >= 65536) assert_true(has_flag(block, " lo"));
    assert_false(has_flag(block, " wf"));
    assert_false(has_flag(ordinary, " lo"));
    tmi_secret_free(block);
    free(ordinary);
}

/* As a user who may lock nothing. */
static void use_without_locks(unsigned char *unused)
{
    const struct rlimit none = {0, 0};
    (void)unused;
    if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) _exit(2);
    prctl(PR_SET_DUMPABLE, 1); /* which setuid took away: /proc/self is read below */
    unsigned char *block = tmi_secret_alloc(1 << 24, 1);
    if (!block) _exit(3);
    memset(block, 1, 1 << 24);
    if (has_flag(block, " lo") || !has_flag(block, " dd")) _exit(4);
    tmi_secret_free(block);
}

static void works_where_nothing_may_be_locked(void **state)
{
    (void)state;
    assert_int_equal(in_child(use_without_locks, NULL), 0);
}

/* The secret is this exclusive-or 0x5a in each byte: it is nowhere else in memory, since it is made in its place. */
static const char pattern[] = "\x35\x2a\x29\x3f\x34\x7a\x3b\x34\x29\x2d\x3f\x28";
#define LENGTH (sizeof pattern - 1)
#define MASK 0x5a
#define OTHER_MASK 0x77 /* of a control in ordinary memory */

static void put_secret(volatile unsigned char *to, unsigned char mask)
{
    for (size_t i = 0; i < LENGTH; i++) to[i] = (unsigned char)(pattern[i] ^ mask);
}

static bool holds(const unsigned char *bytes, size_t size, unsigned char mask)
{
    for (size_t at = 0; at + LENGTH <= size; at++) {
        size_t same = 0;
        while (same < LENGTH && bytes[at + same] == (unsigned char)(pattern[same] ^ mask)) same++;
        if (same == LENGTH) return true;
    }
    return false;
}

static size_t seen; /* bytes of blocks that were looked at */

static void no_secret(const void *block, size_t size)
{
    assert_false(holds(block, size, MASK));
    seen += size;
}

static void is_wiped_when_freed(void **state)
{
    unsigned char *block = tmi_secret_alloc(10000, 1);
    (void)state;
    put_secret(block, MASK);
    put_secret(block + 9900, MASK);
    assert_true(holds(block, 10000, MASK));
    look_at_freed_blocks(no_secret);
    tmi_secret_free(block);
    look_at_freed_blocks(NULL);
    assert_true(seen > 10000);
}

static void find_and_free(unsigned char *block)
{
    if (!holds(block, 100, MASK)) _exit(2);
    tmi_secret_free(block);
}

static void find_zeros_and_free(unsigned char *block)
{
    for (size_t i = 0; i < 100; i++)
        if (block[i] != 0) _exit(2);
    put_secret(block, MASK);
    tmi_secret_free(block);
}

static void child_inherits_unless_wiped(void **state)
{
    unsigned char *block = tmi_secret_alloc(100, 1);
    (void)state;
    put_secret(block, MASK);
    assert_true(succeeds(find_and_free, block));
    assert_true(tmi_secret_wipe_on_fork(block));
    assert_true(has_flag(block, " wf"));
    assert_true(succeeds(find_zeros_and_free, block));
    assert_true(holds(block, 100, MASK));
    tmi_secret_free(block);
}

static void failures_leave_nothing_behind(void **state)
{
    (void)state;
    assert_null(tmi_secret_alloc(SIZE_MAX, 2));
    assert_null(tmi_secret_alloc(SIZE_MAX / 2, 1));
    assert_null(tmi_secret_alloc(SIZE_MAX, 1));
    fail_allocation(1);
    assert_null(tmi_secret_alloc(1, 1));
    assert_true(allocation_failed());
    for (int call = 1; call <= 3; call++) {
        protect_calls = 0;
        fail_protect_call = call;
        assert_null(tmi_secret_alloc(1, 1));
    }
    fail_protect_call = 0;
    fail_wishes = true; /* locks and advice are wishes; wiping on fork is not */
    unsigned char *block = tmi_secret_alloc(1, 1);
    assert_non_null(block);
    assert_false(tmi_secret_wipe_on_fork(block));
    assert_true(faults(write_beyond, block + 16 - 32));
    fail_wishes = false;
    tmi_secret_free(block);
}

/* ---- a core dump ---- */

static void die_with_secret(unsigned char *block)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &all) != 0) _exit(2);
    signal(SIGABRT, SIG_DFL);
    (void)block;
    abort();
}

/* The one file of the folder; NULL if there is none. */
static char *only_file(const char *folder)
{
    char *path = NULL;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *e; (e = readdir(entries));)
        if (e->d_name[0] != '.') assert_true(asprintf(&path, "%s/%s", folder, e->d_name) > 0);
    closedir(entries);
    return path;
}

/* The core is read piece by piece, without its holes: sanitizers make it long. */
static bool core_holds(const char *path, unsigned char mask)
{
    enum { PIECE = 1 << 20, KEPT = LENGTH - 1 };
    static unsigned char bytes[PIECE + KEPT];
    const int file = open(path, O_RDONLY);
    bool found = false;
    size_t kept = 0;
    assert_true(file >= 0);
    for (off_t at = 0; !found && (at = lseek(file, at, SEEK_DATA)) >= 0;) {
        const ssize_t got = pread(file, bytes + kept, PIECE, at);
        if (got <= 0) break;
        const size_t n = kept + (size_t)got;
        found = holds(bytes, n, mask);
        kept = n < KEPT ? n : KEPT;
        memmove(bytes, bytes + n - kept, kept);
        at += got;
    }
    close(file);
    return found;
}

/* Needs a system that writes core files into the working folder. */
static void core_dump_lacks_it(void **state)
{
    char folder[] = "/tmp/tamis-core-XXXXXX", where[256] = "", back[4096];
    unsigned char *block = tmi_secret_alloc(100, 1);
    (void)state;
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");
    if (file) (void)!fgets(where, sizeof where, file);
    if (file) fclose(file);
    if (where[0] == '\0' || where[0] == '|' || where[0] == '/') {
        tmi_secret_free(block);
        SKIP("this system writes no core files into the working folder");
    }
    unsigned char *control = malloc(100);
    assert_non_null(control);
    put_secret(block, MASK);
    put_secret(control, OTHER_MASK);
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(back, sizeof back));
    assert_int_equal(chdir(folder), 0);
    const int status = in_child(die_with_secret, block);
    assert_int_equal(chdir(back), 0);
    char *core = only_file(folder);
    assert_true(WIFSIGNALED(status));
    const bool dumped = core != NULL, has_control = dumped && core_holds(core, OTHER_MASK),
               has_secret = dumped && core_holds(core, MASK);
    if (core) unlink(core);
    free(core);
    rmdir(folder);
    free(control);
    tmi_secret_free(block);
    if (!dumped) SKIP("this system dumps no process");
    assert_true(has_control);
    assert_false(has_secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_zeroed_and_ends_at_a_guard), cmocka_unit_test(guards_fault),
        cmocka_unit_test(is_locked_and_not_dumped),      cmocka_unit_test(works_where_nothing_may_be_locked),
        cmocka_unit_test(is_wiped_when_freed),           cmocka_unit_test(child_inherits_unless_wiped),
        cmocka_unit_test(failures_leave_nothing_behind), cmocka_unit_test(core_dump_lacks_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
