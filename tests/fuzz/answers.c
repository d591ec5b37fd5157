/* Any bytes as a CSV file of answers: as yes or no, with categories, ids and missing answers, in both forms of reports. */
#include <tamis/experimental/randomize.h>

#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static tamis_rng *rng;
    static tamis_number *lie;
    static const char *const values[] = {"x", "y"};
    static const tamis_categories categories = {"b", values, 2};
    tamis_randomized facts;
    if (!rng && (tamis_rng_new(&rng, NULL) != TAMIS_OK || tamis_number_read(&lie, "1/4", NULL) != TAMIS_OK)) abort();
    const tamis_stream in = {.path = fuzz_file("fuzz.csv", bytes, size)};
    for (int way = 0; way < 4; way++) {
        const tamis_stream out = {"out", fopen("/dev/null", "wbe")};
        const tamis_collection c = {.lie = lie,
                                    .packed = way & 1,
                                    .missing_bit = way >> 1,
                                    .categories = way >> 1 ? &categories : NULL,
                                    .categories_count = (size_t)(way >> 1),
                                    .id = way >> 1 ? "id" : NULL};
        if (!out.stream) abort();
        const tamis_status status = tamis_randomize_file(&facts, &out, &in, &c, rng, NULL, NULL);
        if ((status == TAMIS_OK) != (facts.local.upper < 1e9)) abort();
        fclose(out.stream);
    }
    return 0;
}
