/* A good plan from its text, and exact numbers. */
#ifndef TESTS_PLAN_READER_H
#define TESTS_PLAN_READER_H

#include <string.h>

#include "num/number.h"
#include "plan/plan.h"

static inline tamis_plan *read_good(const char *bytes)
{
    tamis_plan *plan;
    tamis_error err = {0};
    tamis_status status = tamis_plan_read_text(&plan, "folder/schools.yaml", bytes, strlen(bytes), &err);
    if (status != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

static inline void assert_number(const tamis_number *number, const char *expected)
{
    char *written;
    assert_non_null(number);
    assert_int_equal(tamis_number_write(&written, number, NULL), TAMIS_OK);
    assert_string_equal(written, expected);
    tamis_free(written);
}

#endif
