/* Before the data: what a plan would measure, how wrong the numbers will be, what it promises and what it costs. */
#ifndef TAMIS_PREVIEW_H
#define TAMIS_PREVIEW_H

#include <tamis/base.h>
#include <tamis/plan.h>
#include <tamis/release.h>

TAMIS_BEGIN

typedef struct tamis_preview tamis_preview;

/* How a preview is made; all zero but the size is the usual way. */
typedef struct tamis_preview_options {
    size_t size;             /* sizeof(tamis_preview_options) */
    const char *ledger;      /* as in tamis_release_options; NULL: the plan's */
    tamis_repeat repeat;     /* TAMIS_REPEAT_PAID: what fresh numbers would cost although the same was released before */
    const char *new_account; /* as in tamis_release_options */
    int no_advice;           /* what would lower the errors is not looked for, which takes most of the time */
    tamis_watch watch;
    const char *root; /* no file outside of this folder is opened; NULL: anywhere. tamis_plan_read_with has the same for what
                         reading a plan opens */
    const char *const *also; /* as in tamis_plan_options */
} tamis_preview_options;

/* Needs    a plan; no file of its source is opened. options may be NULL.
 * Gives    a preview that the caller frees with tamis_preview_free; NULL on failure, unless it is the ledger that refuses the
 *          release: then the preview is there, and the error says why. It may outlive the plan.
 * Errors   INVALID (plan NULL; a noise scale beyond 10^-6 .. 2^55: the message names the statistic; more
 *          than 2^20 integers to count), REFUSED (the setting, the ledger), UNABLE, SYSTEM (also: cancelled).           */
TAMIS_USE tamis_status tamis_preview_make(tamis_preview **preview, const tamis_plan *plan, const tamis_preview_options *options,
                                          tamis_error *err);

/* The usual way. */
static inline tamis_status tamis_preview_new(tamis_preview **preview, const tamis_plan *plan, tamis_error *err)
{
    return tamis_preview_make(preview, plan, NULL, err);
}

TAMIS_API void tamis_preview_free(tamis_preview *preview); /* NULL is fine */

typedef enum tamis_detail {
    TAMIS_DETAIL_SHORT, /* a screen: expected errors, assumptions, advice and cost */
    TAMIS_DETAIL_ALL    /* one line per cell */
} tamis_detail;

/* Texts for programs and for people; the caller frees each with tamis_free. NULL on failure. If the ledger refuses the release,
 * the JSON has `refusal`, with the reason and the message. `shown` has the numbers beside it as they are said, rounded up. */
TAMIS_USE tamis_status tamis_preview_json(char **json, const tamis_preview *preview, tamis_error *err);
TAMIS_USE tamis_status tamis_preview_text(char **text, const tamis_preview *preview, tamis_detail detail, tamis_error *err);

/* The expected error and noise of each statistic under this plan; if each statistic were measured by itself; under the other law
 * of noise, Laplace in the place of Gaussian or the other way round, at the same privacy or with a delta of 10^-6; and with twice
 * the budget.
 *
 * Needs    a preview.
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Cost     two more schedules of the plan.
 * Errors   INVALID (NULL), UNABLE, SYSTEM.                                                                           */
TAMIS_USE tamis_status tamis_preview_compare_json(char **json, const tamis_preview *preview, tamis_error *err);
TAMIS_USE tamis_status tamis_preview_compare_text(char **text, const tamis_preview *preview, tamis_error *err);

TAMIS_END

#endif
