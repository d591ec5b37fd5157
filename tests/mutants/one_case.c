/* Linked into test programs by tests/mutants/run: TAMIS_TEST_CASE chooses the cases of a test, e.g. strata or *round*, and the
   result of each case is printed as soon as it is known. */
#include "tests/test.h"

__attribute__((constructor)) static void choose_cases(void)
{
    const char *wanted = getenv("TAMIS_TEST_CASE");
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (wanted) cmocka_set_test_filter(wanted);
}
