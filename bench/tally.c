/* How fast packed reports are counted on one core, from a file that is in the page cache; and how fast the file is read without a
 * look at it. One JSON object per line; n counts bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <tamis/experimental.h>
#include <unistd.h>

#include "collect/packed.h"
#include "timing.h"

#define BYTES (1 << 26)
#define SECONDS 1.0

static const size_t widths[] = {1, 8, 64, 256};

/* Reports of `bits` bits, all random enough for a counter. */
static int make_file(const char *path, size_t bits, tamis_error *err)
{
    const size_t rows = tmi_packed_rows(bits, false), count = tmi_packed_words(bits, rows);
    tamis_number *lie = NULL;
    tmi_packed_writer *writer = NULL;
    uint64_t *words = calloc(count, sizeof *words), state = 1;
    char **names = calloc(bits, sizeof *names);
    FILE *file = fopen(path, "wb");
    int failed = !words || !names || !file || tamis_number_read(&lie, "1/4", err);
    for (size_t j = 0; !failed && j < bits; j++) failed = asprintf(&names[j], "b%zu", j) < 0;
    const tmi_packed_form form = {lie, lie, bits, names, NULL};
    failed = failed || tmi_packed_writer_new(&writer, file, &form, err);
    for (size_t i = 0; !failed && i < count; i++) words[i] = state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    for (size_t done = 0; !failed && done < BYTES; done += 8 * count)
        failed = tmi_packed_write(writer, words, rows, NULL, err) != 0;
    failed = failed || tmi_packed_write_end(writer, err) || fflush(file) != 0;
    tmi_packed_writer_free(writer);
    if (file) fclose(file);
    for (size_t j = 0; names && j < bits; j++) free(names[j]);
    free(names);
    free(words);
    tamis_number_free(lie);
    return failed;
}

static int count_file(const char *path, tamis_error *err)
{
    tamis_tally *tally = NULL;
    int failed = tamis_tally_new(&tally, &(tamis_tally_terms){.size = sizeof(tamis_tally_terms)}, err) ||
                 tamis_tally_add(tally, path, NULL, err);
    tamis_tally_free(tally);
    return failed;
}

static int read_file(const char *path)
{
    static char buffer[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) return 1;
    setvbuf(file, NULL, _IONBF, 0);
    while (fread(buffer, 1, sizeof buffer, file) == sizeof buffer) continue;
    fclose(file);
    return 0;
}

static int measure(const char *path, size_t bits, tamis_error *err)
{
    static timing t;
    int failed = make_file(path, bits, err);
    for (timing_begin(&t, SECONDS); !failed && timing_goes_on(&t);) {
        double before = now();
        failed = count_file(path, err);
        timing_add(&t, now() - before);
    }
    if (!failed)
        printf("{\"what\": \"tally reports of %zu bits\", \"n\": %d, \"seconds\": %.9f}\n", bits, BYTES, timing_median(&t));
    for (timing_begin(&t, SECONDS); !failed && timing_goes_on(&t);) {
        double before = now();
        failed = read_file(path);
        timing_add(&t, now() - before);
    }
    if (!failed)
        printf("{\"what\": \"read reports of %zu bits\", \"n\": %d, \"seconds\": %.9f}\n", bits, BYTES, timing_median(&t));
    unlink(path);
    return failed;
}

int main(void)
{
    char path[] = "/tmp/tamis-bench-XXXXXX";
    tamis_error err = {.message = "no memory"};
    int place = mkstemp(path), failed = place < 0;
    if (place >= 0) close(place);
    for (size_t i = 0; !failed && i < sizeof widths / sizeof *widths; i++) failed = measure(path, widths[i], &err);
    if (failed) fprintf(stderr, "%s\n", err.message);
    unlink(path);
    tamis_thread_done();
    return failed;
}
