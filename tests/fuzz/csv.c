/* Any bytes as a CSV file of the engine without a database. */
#include "tests/fuzz/file.h"
#include "tests/fuzz/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("fuzz.csv", bytes, size);
    tmi_engine *engine;
    if (tmi_engine_memory(&engine, &(tmi_source){.files = &path, .file_count = 1}, 1, NULL) != TAMIS_OK) abort();
    fuzz_ask(engine);
    engine->free(engine);
    return 0;
}
