/* Plans for the tests of this room, over the columns of array_engine.h. */
#ifndef TESTS_PLANS_H
#define TESTS_PLANS_H

#include <stdio.h>
#include <string.h>

static inline tamis_plan *plan_of(const char *design, const char *epsilon, const char *statistics)
{
    char text[4096];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text, "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\n"
             "privacy: {unit: person, epsilon: %s}\ncolumns:\n  x: {from: 10, to: 30, step: 0.5}\n"
             "  g: {values: [a, b]}\n  h: {values: [u, v, w]}\nstatistics:\n%s", design, epsilon, statistics);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

#endif
