/* Plans for the tests of this room, over the columns of array_engine.h. */
#ifndef TESTS_RELEASE_PLANS_H
#define TESTS_RELEASE_PLANS_H

#include <stdio.h>
#include <string.h>

/* A budget for one release: the epsilon, and the delta that may follow it. */
static inline void add_budget(char *text, size_t size, const char *epsilon)
{
    const char *delta = strstr(epsilon, "delta: ");
    const size_t at = strlen(text);
    const char *line_end = at > 0 && text[at - 1] != '\n' ? "\n" : "";
    snprintf(text + at, size - at, "%sbudget: {epsilon: %.*s%s%.*s}\n", line_end, (int)strcspn(epsilon, ","), epsilon,
             delta ? ", " : "", delta ? (int)strcspn(delta, ",") : 0, delta ? delta : "");
}

/* `epsilon` may go on with other keys of `privacy`, and `statistics` with other sections. */
static inline tamis_plan *plan_of(const char *design, const char *epsilon, const char *statistics)
{
    char text[4096];
    tamis_plan *plan;
    tamis_error err = {0};
    snprintf(text, sizeof text,
             "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\n"
             "privacy: {unit: person, epsilon: %s}\ncolumns:\n  x: {from: 10, to: 30, step: 0.5}\n"
             "  g: {values: [a, b]}\n  h: {values: [u, v, w]}\nstatistics:\n%s",
             design, epsilon, statistics);
    if (!strstr(statistics, "budget:")) add_budget(text, sizeof text, epsilon);
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    return plan;
}

#endif
