/* Any bytes as a file of SPSS, Stata or SAS, whose name ends in ENDING. ReadStat, which reads them, is a library of the system:
 * not built for the fuzzer, so that only what our own code makes of its calls leads the way. */
#include "tests/fuzz/file.h"
#include "tests/fuzz/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("fuzz" ENDING, bytes, size);
    tmi_engine *engine;
    if (tmi_engine_readstat(&engine, &(tmi_source){.files = &path, .file_count = 1}, 1, NULL) != TAMIS_OK) abort();
    fuzz_ask(engine);
    engine->free(engine);
    return 0;
}
