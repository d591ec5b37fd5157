/* Any bytes as the public file of a category's values: `values: {file: codes.csv}`, from its first column and from a named one.
 * Reading ends with a plan or with messages. */
#include <tamis/experimental.h>

#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("codes.csv", bytes, size);
    for (int named = 0; named < 2; named++) {
        char text[1024];
        tamis_plan *plan;
        tamis_error err = {0};
        snprintf(
            text, sizeof text,
            "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {srs: {population: 100, sample: 10}}\n"
            "privacy: {unit: person, epsilon: 1}\ncolumns: {g: {values: {file: '%s'%s}}}\nstatistics: [{count: units, by: g}]\n",
            path, named ? ", column: code" : "");
        const tamis_status status = tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err);
        if (status != TAMIS_OK && (plan || err.status != status || !err.message[0])) abort();
        tamis_plan_free(plan);
    }
    return 0;
}
