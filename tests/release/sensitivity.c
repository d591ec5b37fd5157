/* The sensitivity against its definition, by brute force over tiny worlds. */
#include "test.h"

#include "release/sensitivity.h"

static int64_t size(int64_t x)
{
    return x < 0 ? -x : x;
}

/* A record is left out (cell -1) or adds c in [low, high] to one of the cells. Two neighbours differ in one record, and
 * all others cancel: the L1 distance of their tables is that of the two records' own tables. */
static int64_t brute_force(int64_t low, int64_t high, int cells)
{
    int64_t worst = 0;
    for (int cell = -1; cell < cells; cell++) {
        for (int other_cell = -1; other_cell < cells; other_cell++) {
            for (int64_t c = low; c <= high; c++) {
                for (int64_t other = low; other <= high; other++) {
                    int64_t distance = 0;
                    for (int i = 0; i < cells; i++) distance += size((i == cell ? c : 0) - (i == other_cell ? other : 0));
                    if (distance > worst) worst = distance;
                }
            }
        }
    }
    return worst;
}

static int64_t sensitivity(int64_t low, int64_t high, int cells)
{
    int64_t z;
    assert_int_equal(tmi_sensitivity(&z, tamis_setting_named("sample given frame"), low, high, (size_t)cells, NULL), TAMIS_OK);
    return z;
}

static void is_exact(void **state)
{
    (void)state;
    for (int64_t low = -6; low <= 6; low++) {
        for (int64_t high = low; high <= 6; high++) {
            for (int cells = 1; cells <= 4; cells++) {
                assert_int_equal(sensitivity(low, high, cells), brute_force(low, high, cells));
            }
        }
    }
}

/* Whole samples of n = 3 records of one of 2 groups or none: every pair of samples that differ in one record. */
static void is_exact_for_whole_samples(void **state)
{
    (void)state;
    enum { LOW = -1, HIGH = 2, RECORDS = 1 + 2 * (HIGH - LOW + 1), N = 3 };
    int64_t worst = 0;
    for (int code = 0; code < RECORDS * RECORDS * RECORDS * RECORDS; code++) {
        int rest = code;
        int64_t table[2][2] = {{0}}; /* of the sample and of its neighbour */
        for (int i = 0; i < N + 1; i++, rest /= RECORDS) {
            int record = rest % RECORDS; /* 0: left out; else group and value */
            if (record == 0) continue;
            int group = (record - 1) % 2, value = LOW + (record - 1) / 2;
            if (i != N) table[0][group] += value; /* records 0, 1, 2 */
            if (i != 0) table[1][group] += value; /* records 3, 1, 2 */
        }
        int64_t distance = size(table[0][0] - table[1][0]) + size(table[0][1] - table[1][1]);
        if (distance > worst) worst = distance;
    }
    assert_int_equal(sensitivity(LOW, HIGH, 2), worst);
}

int main(void)
{
    const struct CMUnitTest group[] = {cmocka_unit_test(is_exact), cmocka_unit_test(is_exact_for_whole_samples)};
    return cmocka_run_group_tests(group, NULL, NULL);
}
