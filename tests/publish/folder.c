/* An output folder is durable before it has its name, and its name is durable before a release is reported as done. The calls
 * that make it so are this file's own fsync and renameat2, which write down what they were asked for and may fail. */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "publish/folder.h"

#define MOST_CALLS 16

static struct {
    char what[MOST_CALLS][64]; /* "sync a.json" */
    size_t count, fail_at;     /* the call that fails, from 1; 0: none */
    int lasting;               /* and all calls after it */
    int reason;
} calls;

static char place[64], out[96];

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strcmp(path, place) == 0 ? "parent" : strncmp(name, ".out.", 5) == 0 ? "folder" : name;
}

/* Whether the call goes on. */
static int note(const char *what, const char *path)
{
    assert_true(calls.count < MOST_CALLS);
    snprintf(calls.what[calls.count++], sizeof *calls.what, "%s %.40s", what, last_name(path));
    if (calls.fail_at == 0 || (calls.lasting ? calls.count < calls.fail_at : calls.count != calls.fail_at)) return 1;
    errno = calls.reason;
    return 0;
}

int fsync(int file)
{
    char link[64], path[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    return note("sync", path) ? 0 : -1;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (!note("rename", from)) return -1;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

static int make_place(void **state)
{
    (void)state;
    snprintf(place, sizeof place, "/tmp/tamis-folder-XXXXXX");
    if (!mkdtemp(place)) return 1;
    snprintf(out, sizeof out, "%s/out", place);
    memset(&calls, 0, sizeof calls);
    return 0;
}

static int remove_place(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -r '%s'", place);
    return system(line);
}

/* Entries of the place but for itself and its parent. */
static size_t entries(void)
{
    DIR *dir = opendir(place);
    size_t count = 0;
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 2;
}

static tamis_status write_folder(const char *path, tamis_error *err)
{
    tmi_folder folder;
    const size_t before = entries();
    tamis_status status = tmi_folder_begin(&folder, path, err);
    assert_int_equal(entries(), before); /* whoever is killed now leaves nothing */
    if (status == TAMIS_OK) status = tmi_folder_make(&folder, err);
    if (status == TAMIS_OK) status = tmi_folder_write(&folder, "a.json", "{}\n", 3, err);
    if (status == TAMIS_OK) status = tmi_folder_write(&folder, "b.csv", "1\n", 2, err);
    if (status == TAMIS_OK) status = tmi_folder_end(&folder, err);
    tmi_folder_clear(&folder);
    return status;
}

static const char *const order[] = {"sync a.json", "sync b.csv", "sync folder", "rename folder", "sync parent"};
#define STEPS (sizeof order / sizeof *order)

static void files_then_folder_then_name_then_parent(void **state)
{
    (void)state;
    struct stat facts;
    const mode_t old = umask(022);
    assert_int_equal(write_folder(out, NULL), TAMIS_OK);
    umask(old);
    assert_int_equal(calls.count, STEPS);
    for (size_t i = 0; i < STEPS; i++) assert_string_equal(calls.what[i], order[i]);
    assert_int_equal(stat(out, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0755);
    assert_int_equal(entries(), 1);
}

/* Until it has its name, nobody else may look into it. */
static void before_it_has_its_name_it_is_its_owner_s(void **state)
{
    (void)state;
    tmi_folder made;
    struct stat facts;
    const mode_t old = umask(0);
    assert_int_equal(tmi_folder_begin(&made, out, NULL), TAMIS_OK);
    assert_int_equal(tmi_folder_make(&made, NULL), TAMIS_OK);
    umask(old);
    assert_int_equal(stat(made.temporary, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
    tmi_folder_clear(&made);
}

static void a_relative_name_has_a_parent_too(void **state)
{
    (void)state;
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(place), 0);
    assert_int_equal(write_folder("out/", NULL), TAMIS_OK);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(calls.count, STEPS);
    assert_string_equal(calls.what[STEPS - 1], "sync parent");
}

/* Whatever fails leaves nothing. If the name of the folder may be lost it is taken back; if that fails too, the folder is
 * complete, and the caller hears it. */
static void each_step_may_fail(void **state)
{
    (void)state;
    for (size_t step = 1; step <= STEPS; step++) {
        tamis_error err = {0};
        memset(&calls, 0, sizeof calls);
        calls.fail_at = step;
        calls.reason = EIO;
        assert_int_equal(write_folder(out, &err), TAMIS_SYSTEM);
        assert_int_equal(calls.count, step == STEPS ? STEPS + 1 : step);
        assert_int_equal(entries(), 0);
    }
    tamis_error err = {0};
    memset(&calls, 0, sizeof calls);
    calls.fail_at = STEPS;
    calls.lasting = 1;
    calls.reason = EIO;
    assert_int_equal(write_folder(out, &err), TAMIS_SYSTEM);
    assert_int_equal(entries(), 1);
    assert_non_null(strstr(err.message, "is complete"));
}

static void a_file_system_that_syncs_no_folders_is_no_failure(void **state)
{
    (void)state;
    calls.fail_at = STEPS;
    calls.reason = EINVAL;
    assert_int_equal(write_folder(out, NULL), TAMIS_OK);
}

#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(files_then_folder_then_name_then_parent),
        IN_A_PLACE(before_it_has_its_name_it_is_its_owner_s),
        IN_A_PLACE(a_relative_name_has_a_parent_too),
        IN_A_PLACE(each_step_may_fail),
        IN_A_PLACE(a_file_system_that_syncs_no_folders_is_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
