/* Linked into test programs by tests/mutants/run: TAMIS_TEST_CASE chooses the cases of a test, e.g. strata or *round*. */
#include "tests/test.h"

__attribute__((constructor)) static void choose_cases(void)
{
    const char *wanted = getenv("TAMIS_TEST_CASE");
    if (wanted) cmocka_set_test_filter(wanted);
}
