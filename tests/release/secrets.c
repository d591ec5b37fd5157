/* Where a release keeps its noise and its exact answers: all memory of the process is searched while it holds them. The random
 * bits are those of a seed, so that the test knows the noise beforehand. */
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/secret.h"
#include "release/release.h"
#include "tests/release/array_engine.h"
#include "tests/release/plans.h"

#define SEED 7
#define MASK UINT64_C(0x5a5a5a5a5a5a5a5a)
#define PIECE (1 << 20)
#define TOO_LARGE (UINT64_C(1) << 30) /* a sanitizer's shadow */

static const array_row rows[] = {
    {.x = 12.3, .g = "a", .h = "u"}, {.x = 500, .g = "a", .h = "v"},   {.x = -3, .g = "b", .h = "u"},
    {.x = NAN, .g = "b", .h = "w"},  {.x = 20.25, .g = "b", .h = "w"}, {.x = 29.9, .g = NULL, .h = "w"},
    {.x = 15, .g = "z", .h = "v"},   {.x = 11, .g = "a", .h = NULL},
};

/* ---- all memory ---- */

typedef struct mapping {
    unsigned long from, to;
    bool readable, dumped;
} mapping;

/* All mappings from /proc/self/smaps; the caller frees. */
static mapping *mappings(size_t *count)
{
    char line[4096], mode[8];
    mapping *list = NULL;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    *count = 0;
    while (fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3) {
            list = realloc(list, (*count + 1) * sizeof *list);
            assert_non_null(list);
            list[(*count)++] = (mapping){from, to, mode[0] == 'r', true};
        } else if (*count > 0 && strncmp(line, "VmFlags:", 8) == 0) {
            list[*count - 1].dumped = !strstr(line, " dd");
        }
    }
    fclose(file);
    return list;
}

/* The two integers, each exclusive-or MASK here, one after the other. */
static size_t times_in(int memory, const mapping *m, unsigned char *room, const uint64_t masked[2])
{
    size_t times = 0;
    for (unsigned long at = m->from; at < m->to; at += PIECE - 2 * sizeof *masked) {
        const size_t most = m->to - at < PIECE ? m->to - at : PIECE;
        const ssize_t got = pread(memory, room, most, (off_t)at);
        for (ssize_t i = 0; i + (ssize_t)(2 * sizeof *masked) <= got; i += (ssize_t)sizeof *masked) {
            uint64_t a, b;
            memcpy(&a, room + i, sizeof a);
            memcpy(&b, room + i + sizeof a, sizeof b);
            times += (a ^ MASK) == masked[0] && (b ^ MASK) == masked[1];
        }
    }
    return times;
}

/* How often the integers are in memory that a core dump would have, and in memory that it would not. */
static void search(size_t *dumped, size_t *hidden, const uint64_t masked[2])
{
    size_t count;
    unsigned char *room = tmi_secret_alloc(PIECE, 1);
    mapping *list = mappings(&count);
    const int memory = open("/proc/self/mem", O_RDONLY);
    assert_true(room && memory >= 0);
    *dumped = *hidden = 0;
    for (size_t i = 0; i < count; i++) {
        const mapping *m = &list[i];
        const bool own = m->from <= (unsigned long)room && (unsigned long)room < m->to;
        if (own || !m->readable || m->to - m->from > TOO_LARGE) continue;
        *(m->dumped ? dumped : hidden) += times_in(memory, m, room, masked);
    }
    close(memory);
    free(list);
    tmi_secret_free(room);
}

/* ---- the release ---- */

static uint64_t noise[2]; /* the first two, masked */
static size_t noise_dumped, noise_hidden, truth_dumped, truth_hidden;

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    tamis_status status = array_aggregate(engine, answers, request, watch, err);
    search(&noise_dumped, &noise_hidden, noise);
    /* The answers are small integers; one that is nowhere else is put there for a moment. */
    static const uint64_t masked[2] = {UINT64_C(0x0102030405060708), UINT64_C(0x1112131415161718)};
    volatile uint64_t *first = (volatile uint64_t *)(void *)answers[0];
    const uint64_t kept[2] = {first[0], first[1]};
    for (size_t i = 0; i < 2; i++) first[i] = masked[i] ^ MASK;
    search(&truth_dumped, &truth_hidden, masked);
    for (size_t i = 0; i < 2; i++) first[i] = kept[i];
    return status;
}

/* The first two integers of the noise, drawn from the same bits as in a release. */
static void learn_noise(const tmi_schedule *s)
{
    tamis_rng *rng;
    tamis_noise *law;
    int64_t *drawn = tmi_secret_alloc(s->measurements[0].cells, sizeof *drawn);
    assert_true(drawn && s->measurements[0].cells >= 2 && s->measurements[0].strata == 1);
    bits_from_seed(SEED);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_noise_laplace_new(&law, s->measurements[0].laws[0].scale, NULL), TAMIS_OK);
    assert_int_equal(tamis_noise_draw(drawn, s->measurements[0].cells, law, rng, NULL), TAMIS_OK);
    for (size_t i = 0; i < 2; i++) noise[i] = (uint64_t)drawn[i] ^ MASK;
    tamis_noise_free(law);
    tamis_rng_free(rng);
    tmi_secret_free(drawn);
}

static void noise_and_answers_are_hidden(void **state)
{
    tamis_release *release;
    tamis_error err = {0};
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 80, sample: 8}", "1e-9", "  - {count: units, by: [g, h]}\n");
    array_engine engine = array_engine_of(rows, 8);
    engine.engine.aggregate = aggregate;
    tmi_schedule schedule;
    assert_int_equal(tmi_schedule_make(&schedule, plan, NULL, NULL), TAMIS_OK);
    learn_noise(&schedule);
    bits_from_seed(SEED);
    if (tmi_release_with(&release, plan, &engine.engine, &(tmi_run){0}, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(engine.aggregates, 1);
    assert_int_equal(noise_hidden, 1);
    assert_int_equal(noise_dumped, 0);
    assert_int_equal(truth_hidden, 1);
    assert_int_equal(truth_dumped, 0);
    search(&noise_dumped, &noise_hidden, noise);
    assert_int_equal(noise_dumped + noise_hidden, 0);
    tamis_release_free(release);
    tmi_schedule_clear(&schedule);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(noise_and_answers_are_hidden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
