/* "a" or "an" before the name of a unit. */
#include "tests/test.h"

#include <string.h>

#include "base/article.h"

static void by_the_sound(void **state)
{
    static const char *const a[] = {"school",
                                    "household",
                                    "person",
                                    "university",
                                    "unit",
                                    "union",
                                    "user",
                                    "European",
                                    "one-parent family",
                                    "one",
                                    "utility",
                                    "Ukrainian",
                                    "year",
                                    "yacht",
                                    "U-turn",
                                    "UK resident",
                                    "PSU",
                                    "hospital",
                                    "hotel",
                                    "horse",
                                    "FIRM",
                                    "ewe",
                                    "",
                                    "1-person household",
                                    "110-bed hospital",
                                    "180",
                                    "çırak",
                                    "врач"};
    static const char *const an[] = {"employee",
                                     "enterprise",
                                     "individual",
                                     "address",
                                     "hour",
                                     "heir",
                                     "honest man",
                                     "honour",
                                     "X-ray",
                                     "NGO",
                                     "MP",
                                     "F unit",
                                     "SME",
                                     "owner",
                                     "onerous task",
                                     "uninsured person",
                                     "unidentified item",
                                     "urban district",
                                     "umbrella",
                                     "élève",
                                     "Établissement",
                                     "öffentlicher Betrieb",
                                     "8-year-old",
                                     "11-year-old",
                                     "18",
                                     "Apprentice",
                                     "OWNER"};
    (void)state;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        if (strcmp(tmi_article(a[i]), "a") != 0) fail_msg("a %s", a[i]);
    for (size_t i = 0; i < sizeof an / sizeof *an; i++)
        if (strcmp(tmi_article(an[i]), "an") != 0) fail_msg("an %s", an[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
