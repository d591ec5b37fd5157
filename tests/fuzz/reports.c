/* Any bytes as the packed form of reports. Reports that are accepted are written again and read once more: the same bits. */
#include "collect/packed.h"
#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Sums the words of a file, so that two can be compared; false if it is refused. */
static bool sum_words(uint64_t *sum, uint64_t *reports, tmi_packed_reader *reader, tmi_packed_writer *writer)
{
    const size_t bits = tmi_packed_form_of(reader)->bits;
    tmi_packed_block block;
    *sum = *reports = 0;
    for (;;) {
        if (tmi_packed_next(&block, reader, NULL) != TAMIS_OK) return false;
        if (block.rows == 0) return true;
        for (size_t i = 0; i < tmi_packed_words(bits, block.rows); i++) *sum = *sum * 31 + block.words[i];
        if (writer && tmi_packed_write(writer, block.words, block.rows, block.ids, NULL) != TAMIS_OK) abort();
        *reports += block.rows;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(fuzz_file("fuzz.packed", bytes, size), "rbe"), *copy = tmpfile();
    tmi_packed_reader *reader = NULL, *again = NULL;
    tmi_packed_writer *writer = NULL;
    uint64_t sum, reports, sum_again, reports_again;
    if (!file || !copy) abort();
    if (tmi_packed_reader_new(&reader, file, "fuzz.packed", NULL) == TAMIS_OK) {
        if (tmi_packed_writer_new(&writer, copy, tmi_packed_form_of(reader), NULL) != TAMIS_OK) abort();
        if (sum_words(&sum, &reports, reader, writer)) {
            if (tmi_packed_write_end(writer, NULL) != TAMIS_OK) abort();
            rewind(copy);
            if (tmi_packed_reader_new(&again, copy, "copy", NULL) != TAMIS_OK) abort();
            if (!sum_words(&sum_again, &reports_again, again, NULL) || sum != sum_again || reports != reports_again) abort();
        }
    }
    tmi_packed_writer_free(writer);
    tmi_packed_reader_free(reader);
    tmi_packed_reader_free(again);
    fclose(file);
    fclose(copy);
    return 0;
}
