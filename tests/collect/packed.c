/* The packed form: what is written is read again; every cut and every changed byte of a header or a block frame is noticed. */
#include "collect/packed.h"

#include <string.h>

#include "base/memory.h"
#include "tests/base/memory_that_fails.h"
#include "tests/test.h"

static tmi_packed_form a_form(size_t bits, const char *lie, const char *lie_zero, bool ids)
{
    tmi_packed_form form = {number(lie), number(lie_zero), bits, calloc(bits, sizeof(char *)), ids ? strdup("client") : NULL};
    for (size_t i = 0; i < bits; i++)
        if (asprintf(&form.names[i], "q%zu", i) < 0) abort();
    return form;
}

/* Bits in every place that belongs to a report. */
static void fill(uint64_t *words, size_t bits, size_t rows, uint64_t *stream)
{
    size_t stride = tmi_packed_stride(bits);
    memset(words, 0, tmi_packed_words(bits, rows) * sizeof *words);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < bits; j++) words[(r * stride + j) / 64] |= (next_word(stream) & 1) << (r * stride + j) % 64;
}

/* A file of some blocks, in memory; the caller frees it. */
static char *a_file(size_t *size, const tmi_packed_form *form, const size_t *rows, size_t blocks, uint64_t stream)
{
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, size);
    tmi_packed_writer *writer;
    assert_int_equal(tmi_packed_writer_new(&writer, file, form, NULL), TAMIS_OK);
    for (size_t b = 0; b < blocks; b++) {
        uint64_t *words = calloc(tmi_packed_words(form->bits, rows[b]), sizeof *words);
        uint8_t *ids = calloc(rows[b], TMI_PACKED_ID);
        fill(words, form->bits, rows[b], &stream);
        for (size_t i = 0; i < rows[b] * TMI_PACKED_ID; i++) ids[i] = (uint8_t)next_word(&stream);
        assert_int_equal(tmi_packed_write(writer, words, rows[b], form->id ? ids : NULL, NULL), TAMIS_OK);
        free(words);
        free(ids);
    }
    assert_int_equal(tmi_packed_write_end(writer, NULL), TAMIS_OK);
    tmi_packed_writer_free(writer);
    fclose(file);
    return bytes;
}

/* Reads to the end; the number of reports. */
static tamis_status read_all(uint64_t *reports, const char *bytes, size_t size, tamis_error *err)
{
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "rb") : fopen("/dev/null", "rb");
    tmi_packed_reader *reader = NULL;
    tmi_packed_block block;
    tamis_status status = tmi_packed_reader_new(&reader, file, "reports", err);
    *reports = 0;
    while (status == TAMIS_OK) {
        status = tmi_packed_next(&block, reader, err);
        if (status == TAMIS_OK && block.rows == 0) break;
        *reports += block.rows;
    }
    tmi_packed_reader_free(reader);
    fclose(file);
    return status;
}

static void comes_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 700, TMI_PACKED_BITS};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int ids = 0; ids < 2; ids++) {
            tmi_packed_form form = a_form(sizes[s], "1/4", "1/3", ids);
            size_t full = tmi_packed_rows(sizes[s], ids), rows[] = {1, 3, full, full - 1}, size;
            char *bytes = a_file(&size, &form, rows, 4, 7 + s);
            FILE *file = fmemopen(bytes, size, "rb");
            tmi_packed_reader *reader;
            tmi_packed_block block;
            uint64_t stream = 7 + s, first = 0;
            assert_int_equal(tmi_packed_reader_new(&reader, file, "reports", NULL), TAMIS_OK);
            const tmi_packed_form *read = tmi_packed_form_of(reader);
            assert_int_equal(read->bits, sizes[s]);
            assert_string_equal(read->names[sizes[s] - 1], form.names[sizes[s] - 1]);
            assert_int_equal(read->id != NULL, ids);
            for (size_t b = 0; b < 4; b++) {
                assert_int_equal(tmi_packed_next(&block, reader, NULL), TAMIS_OK);
                assert_int_equal(block.rows, rows[b]);
                assert_int_equal(block.first, first);
                assert_int_equal((uintptr_t)block.words % 64, 0);
                uint64_t *words = calloc(tmi_packed_words(sizes[s], rows[b]), sizeof *words);
                fill(words, sizes[s], rows[b], &stream);
                assert_memory_equal(words, block.words, tmi_packed_words(sizes[s], rows[b]) * sizeof *words);
                free(words);
                for (size_t i = 0; i < rows[b] * TMI_PACKED_ID; i++) {
                    uint8_t byte = (uint8_t)next_word(&stream);
                    if (ids && block.ids[i] != byte) fail_msg("an id is wrong");
                }
                first += rows[b];
            }
            assert_int_equal(tmi_packed_next(&block, reader, NULL), TAMIS_OK);
            assert_int_equal(block.rows, 0);
            tmi_packed_reader_free(reader);
            fclose(file);
            free(bytes);
            tmi_packed_form_clear(&form);
        }
    }
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    for (int ids = 0; ids < 2; ids++) {
        tmi_packed_form form = a_form(5, "1/4", "1/4", ids);
        size_t rows[] = {9, 2}, size;
        char *bytes = a_file(&size, &form, rows, 2, 3);
        uint64_t reports;
        tamis_error err;
        assert_int_equal(read_all(&reports, bytes, size, &err), TAMIS_OK);
        assert_int_equal(reports, 11);
        for (size_t cut = 0; cut < size; cut++) {
            assert_int_equal(read_all(&reports, bytes, cut, &err), TAMIS_INVALID);
            assert_non_null(strstr(err.message, "byte "));
        }
        free(bytes);
        tmi_packed_form_clear(&form);
    }
}

/* Each bit of a file, flipped: refused, or a file that means something else (a name, a lie, a report), never a crash. The number
 * of reports never changes. */
static void every_damage_is_noticed(void **state)
{
    (void)state;
    tmi_packed_form form = a_form(3, "1/4", "1/4", false);
    size_t rows[] = {5, 16}, size;
    char *bytes = a_file(&size, &form, rows, 2, 3);
    uint64_t reports;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        if (read_all(&reports, bytes, size, NULL) == TAMIS_OK) assert_int_equal(reports, 21);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    free(bytes);
    tmi_packed_form_clear(&form);
}

static void streams_may_follow_each_other(void **state)
{
    (void)state;
    tmi_packed_form form = a_form(3, "1/4", "1/4", false), other = a_form(3, "1/4", "1/5", false);
    size_t rows[] = {5}, size, other_size;
    uint64_t reports;
    tamis_error err;
    char *bytes = a_file(&size, &form, rows, 1, 3), *more = a_file(&other_size, &other, rows, 1, 3), both[4096];
    memcpy(both, bytes, size);
    memcpy(both + size, bytes, size);
    assert_int_equal(read_all(&reports, both, 2 * size, &err), TAMIS_OK);
    assert_int_equal(reports, 10);
    for (size_t cut = size + 1; cut < 2 * size; cut++) assert_int_equal(read_all(&reports, both, cut, &err), TAMIS_INVALID);
    memcpy(both + size, more, other_size);
    assert_int_equal(read_all(&reports, both, size + other_size, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "another header"));
    memset(both + size, 'x', 100);
    assert_int_equal(read_all(&reports, both, size + 100, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "after the end"));
    free(bytes);
    free(more);
    tmi_packed_form_clear(&form);
    tmi_packed_form_clear(&other);
}

static void padding_must_be_zero(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 3, 8, 33, 65, 128, 130};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tmi_packed_form form = a_form(sizes[s], "1/4", "1/4", false);
        size_t rows[] = {3}, size, words = tmi_packed_words(sizes[s], 3), stride = tmi_packed_stride(sizes[s]);
        char *bytes = a_file(&size, &form, rows, 1, 3), *block = bytes + size - 16 - 8 * words;
        uint64_t reports;
        for (size_t bit = 0; bit < 64 * words; bit++) {
            bool belongs = bit / stride < 3 && bit % stride < sizes[s];
            block[bit / 8] = (char)(block[bit / 8] ^ 1 << bit % 8);
            assert_int_equal(read_all(&reports, bytes, size, NULL), belongs ? TAMIS_OK : TAMIS_INVALID);
            block[bit / 8] = (char)(block[bit / 8] ^ 1 << bit % 8);
        }
        free(bytes);
        tmi_packed_form_clear(&form);
    }
}

static void forms_are_checked(void **state)
{
    (void)state;
    static const char *const lies[][2] = {{"0", "1/4"}, {"1/4", "0"},    {"1/2", "1/2"},
                                          {"1", "1"},   {"-1/4", "1/4"}, {"1/3", "2/3"}};
    tamis_error err;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        tmi_packed_form form = a_form(1, lies[i][0], lies[i][1], false);
        assert_int_equal(tmi_packed_form_check(&form, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "lie"));
        tmi_packed_form_clear(&form);
    }
    static const char *const names[] = {"", "a\nb", "\xff", "q0", "client"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tmi_packed_form form = a_form(2, "1/2", "1/4", true);
        assert_int_equal(tmi_packed_form_check(&form, &err), TAMIS_OK);
        free(form.names[1]);
        form.names[1] = strdup(names[i]);
        assert_int_equal(tmi_packed_form_check(&form, &err), TAMIS_INVALID);
        tmi_packed_form_clear(&form);
    }
}

static void memory_can_run_out(void **state)
{
    (void)state;
    tmi_packed_form form = a_form(5, "1/4", "1/4", true);
    size_t rows[] = {2}, size;
    char *bytes = a_file(&size, &form, rows, 1, 3);
    uint64_t reports;
    for (long k = 1;; k++) {
        fail_allocation(k);
        tamis_status status = read_all(&reports, bytes, size, NULL);
        if (!allocation_failed()) break;
        assert_int_equal(status, TAMIS_SYSTEM);
    }
    for (long k = 1;; k++) {
        FILE *file = fopen("/dev/null", "wb");
        tmi_packed_writer *writer;
        fail_allocation(k);
        tamis_status status = tmi_packed_writer_new(&writer, file, &form, NULL);
        bool failed = allocation_failed();
        assert_int_equal(status, failed ? TAMIS_SYSTEM : TAMIS_OK);
        tmi_packed_writer_free(writer);
        fclose(file);
        if (!failed) break;
        assert_null(writer);
    }
    free(bytes);
    tmi_packed_form_clear(&form);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(every_damage_is_noticed),
        cmocka_unit_test(streams_may_follow_each_other),
        cmocka_unit_test(padding_must_be_zero),
        cmocka_unit_test(forms_are_checked),
        cmocka_unit_test(memory_can_run_out),
    };
    return cmocka_run_group_tests_name("collect/packed", cases, NULL, NULL);
}
