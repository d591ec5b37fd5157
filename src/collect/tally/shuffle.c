/* The anonymiser: writes the reports in a uniformly drawn order, without anything else. */
#include <string.h>

#include <tamis/experimental/rng.h>

#include "base/memory.h"
#include "base/output.h"
#include "collect/packed.h"
#include "collect/tally/tally.h"

static bool ends_in_csv(const char *path)
{
    const size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".csv") == 0;
}

static bool bit_of(const tamis_tally *t, size_t report, size_t j)
{
    const size_t place = report * tmi_packed_stride(t->bits) + j;
    return t->kept[place / 64] >> place % 64 & 1;
}

static void put_name(FILE *file, const char *name)
{
    const bool quoted = strpbrk(name, ",\"\r\n ") != NULL;
    if (quoted) putc('"', file);
    for (const char *c = name; *c; c++) {
        if (*c == '"') putc('"', file);
        putc(*c, file);
    }
    if (quoted) putc('"', file);
}

static void write_csv(FILE *file, const tamis_tally *t, const uint64_t *order)
{
    for (size_t j = 0; j < t->bits; j++) {
        if (j > 0) putc(',', file);
        put_name(file, t->names[j]);
    }
    putc('\n', file);
    for (size_t i = 0; i < (size_t)t->reports; i++)
        for (size_t j = 0; j < t->bits; j++) {
            putc(bit_of(t, (size_t)order[i], j) ? '1' : '0', file);
            putc(j + 1 < t->bits ? ',' : '\n', file);
        }
}

static tamis_status write_packed(FILE *file, const tamis_tally *t, const uint64_t *order, tamis_error *err)
{
    const tmi_packed_form form = {t->lie, t->lie_zero, t->bits, t->names, NULL};
    const size_t stride = tmi_packed_stride(t->bits), most = tmi_packed_rows(t->bits, false);
    tmi_packed_writer *writer = NULL;
    tamis_status status;
    uint64_t *words = tmi_alloc(tmi_packed_words(t->bits, most), sizeof *words);
    if (!words) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_packed_writer_new(&writer, file, &form, err));
    for (size_t done = 0; done < (size_t)t->reports;) {
        const size_t left = (size_t)t->reports - done, rows = left < most ? left : most;
        memset(words, 0, tmi_packed_words(t->bits, rows) * sizeof *words);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < t->bits; j++) {
                const size_t place = i * stride + j;
                words[place / 64] |= (uint64_t)bit_of(t, (size_t)order[done + i], j) << place % 64;
            }
        TMI_TRY(tmi_packed_write(writer, words, rows, NULL, err));
        done += rows;
    }
    TMI_TRY(tmi_packed_write_end(writer, err));
done:
    tmi_packed_writer_free(writer);
    tmi_free(words);
    return status;
}

tamis_status tamis_tally_shuffle(const tamis_tally *tally, const char *path, tamis_error *err)
{
    tmi_output output = {0};
    tamis_rng *rng = NULL;
    uint64_t *order = NULL;
    tamis_status status;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    if (!tally || !tally->keep || tally->reports < 1) return tmi_fail(err, TAMIS_INVALID, "tally: no reports were kept");
    const size_t n = (size_t)tally->reports;
    if (!(order = tmi_alloc(n, sizeof *order))) return tmi_fail_memory(err);
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tamis_permutation(order, n, rng, err));
    TMI_TRY(tmi_output_open(&output, &(tamis_stream){.path = path}, err));
    if (ends_in_csv(path)) write_csv(output.file, tally, order); /* a failure is seen at the end */
    else TMI_TRY(write_packed(output.file, tally, order, err));
    TMI_TRY(tmi_output_keep(&output, err));
done:
    tmi_output_clear(&output);
    tamis_rng_free(rng);
    tmi_wipe(order, n * sizeof *order);
    tmi_free(order);
    return status;
}
