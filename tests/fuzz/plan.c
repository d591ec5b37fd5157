/* Any bytes as a plan: reading ends with a plan or with messages, and a plan that was read can be checked. */
#include <stdint.h>
#include <stdlib.h>
#include <tamis/experimental.h>
#include <tamis/tamis.h>

/* libfyaml 0.7.12 forgets 2 kB when a quoted key with dozens of escapes stands where no key may be
 * (docs/known-issues.md); our own blocks are never below libfyaml's frames. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so"; }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    tamis_plan *plan;
    tamis_preview *preview;
    tamis_error err = {0};
    char *text;
    tamis_design *design;
    tamis_sampling_facts facts;
    const tamis_number *eps, *delta;
    tamis_status status = tamis_plan_read_text(&plan, "p.yaml", (const char *)bytes, length, &err);
    if (status != TAMIS_OK) {
        if (plan || err.status != status || !err.message[0]) abort();
        return 0;
    }
    if (tamis_plan_sampling(&design, &facts, &eps, &delta, plan, &err) == TAMIS_OK) tamis_design_free(design);
    else if (design || !err.message[0]) abort();
    if (tamis_preview_new(&preview, plan, &err) == TAMIS_OK) {
        if (tamis_preview_json(&text, preview, &err) != TAMIS_OK) abort();
        tamis_free(text);
        if (tamis_preview_text(&text, preview, TAMIS_DETAIL_SHORT, &err) != TAMIS_OK) abort();
        tamis_free(text);
        if (tamis_preview_text(&text, preview, TAMIS_DETAIL_ALL, &err) != TAMIS_OK) abort();
        tamis_free(text);
    }
    tamis_preview_free(preview);
    tamis_plan_free(plan);
    return 0;
}
