/* Any bytes as the frame of a plan, as a release reads it: CSV, by DuckDB, which makes this the slowest target. A frame that is
 * taken has facts that fit each other. */
#include "measure/frame/frame_file.h"
#include "num/number.h"
#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect_facts(const tmi_frame_file *f)
{
    int64_t units = 0;
    for (size_t h = 0; h < f->facts.count; h++) {
        const tmi_frame_stratum *s = &f->facts.strata[h];
        units += s->units;
        if (s->units < 1 || s->certain < 0 || s->certain > s->units || !s->smallest) abort();
        if ((s->largest == NULL) != (s->certain == s->units)) abort();
        if (tmi_number_sign(s->smallest) <= 0 || tmi_number_compare_int(s->smallest, 1) > 0) abort();
        if (s->largest && (tmi_number_compare(s->largest, s->smallest) < 0 || tmi_number_compare_int(s->largest, 1) >= 0))
            abort();
    }
    if (units != (int64_t)f->count) abort();
    for (size_t i = 0; i < f->count; i++)
        if (!f->ids[i] || f->ids[i][0] == '\0' || !(f->pi[i] > 0 && f->pi[i] <= 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static tamis_plan *plans[2]; /* without and with strata; they live as long as the fuzzer */
    static const char *const designs[] = {"pps: {method: sampford, probability: p, sample: 3, frame: %s}",
                                          "stratified: {by: s, within: {pps: {method: sampford, probability: p, frame: %s}}, "
                                          "strata: {north: {sample: 2}, south: {sample: 1}}}"};
    const char *path = fuzz_file("frame.csv", bytes, size);
    tmi_frame_file frame;
    tamis_error err = {0};
    const size_t i = memmem(bytes, size, ",s", 2) ? 1 : 0;
    if (!plans[i]) {
        char text[1024], design[512];
        snprintf(design, sizeof design, designs[i], path);
        snprintf(text, sizeof text,
                 "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {%s}\n"
                 "privacy: {unit: person, id: id, epsilon: 1}\ncolumns:\n  x: {from: 0, to: 1, step: 1}\n"
                 "  s: {values: [north, south]}\nstatistics:\n  - {total: x}\n",
                 design);
        if (tamis_plan_read_text(&plans[i], "p.yaml", text, strlen(text), &err) != TAMIS_OK) abort();
    }
    const tamis_status status = tmi_frame_file_read(&frame, plans[i], &err);
    if (status == TAMIS_OK) expect_facts(&frame);
    else if (frame.ids || (status != TAMIS_INVALID && status != TAMIS_SYSTEM) || err.message[0] == '\0') abort();
    tmi_frame_file_clear(&frame);
    return 0;
}
