/* What an engine may use of the machine: limits of control groups of both versions, and of the groups above them. */
#include "tests/test.h"

#include <sys/stat.h>

#include "engine/core/machine.h"
#include "tests/engine/folder.h"

static void make(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static uint64_t limit(const char *list)
{
    make("list", list);
    char path[512];
    snprintf(path, sizeof path, "%s/list", folder);
    return tmi_cgroup_memory(path, folder);
}

static void control_groups(void **state)
{
    (void)state;
    make("job/step/memory.max", "max\n");
    make("job/memory.max", "2147483648\n");
    make("memory/batch/memory.limit_in_bytes", "1000000\n");
    assert_true(limit("0::/job/step\n") == 2147483648);
    assert_true(limit("0::/job\n") == 2147483648);
    assert_true(limit("0::/\n") == UINT64_MAX);
    assert_true(limit("0::/elsewhere\n") == UINT64_MAX);
    assert_true(limit("3:cpu:/batch\n4:hugetlb,memory:/batch\n0::/job\n") == 1000000);
    assert_true(limit("nonsense\n::\n") == UINT64_MAX);
    make("memory.max", "5000\n"); /* of the container itself */
    assert_true(limit("0::/job/step\n") == 5000);
    assert_true(limit("0::/\n") == 5000);
    assert_true(tmi_cgroup_memory("/nowhere/at/all", folder) == UINT64_MAX);
}

static void this_machine(void **state)
{
    (void)state;
    assert_true(tmi_machine_memory() > 1 << 20);
    assert_true(tmi_machine_threads() >= 1);
    assert_true(tmi_free_memory() > 1 << 20);
    assert_true(tmi_free_memory() < tmi_machine_memory() * 2); /* of the whole machine, of which the other has at most 3/4 */
}

static int remove_all(void **state)
{
    static const char *const names[] = {
        "job/step/memory.max", "job/step", "job/memory.max", "job", "memory/batch/memory.limit_in_bytes",
        "memory/batch",        "memory"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(in_folder(names[i]));
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(control_groups), cmocka_unit_test(this_machine)};
    return cmocka_run_group_tests(all, make_folder, remove_all);
}
