/* What can be said of a plan before a row is read, as texts. */
#ifndef TMI_REPORT_PREVIEW_H
#define TMI_REPORT_PREVIEW_H

#include "ledger/account.h"
#include "schedule/expected/alternatives.h"
#include "schedule/expected/declarations.h"
#include "schedule/expected/waves.h"
#include "schedule/outsider.h"

typedef struct tmi_preview {
    tmi_schedule schedule;
    tmi_account account;
    tmi_promised promised;                       /* by the account with this release in it */
    tamis_error *refusal;                        /* by the ledger; NULL: it does not refuse */
    tmi_expected_statistic *expected_statistics; /* one per statistic */
    tmi_expected_wave *waves;                    /* changes to a wave like this one, by statistic; NULL: none is for them */
    tmi_alternative remedies[TMI_REMEDIES];
    tmi_alternative public_bounds;                  /* not possible: the plan has no private ones, or nobody asked for advice */
    tmi_declaration declarations[TMI_DECLARATIONS]; /* what to declare, the best first */
    size_t declaration_count;
} tmi_preview;

/* The caller frees the text. The one for people is a screen, unless `all` is asked for. */
tamis_status tmi_preview_json(char **text, const tmi_preview *preview, tamis_error *err);
tamis_status tmi_preview_text(char **text, const tmi_preview *preview, bool all, tamis_error *err);

/* The plan's strategy beside others. */
tamis_status tmi_compare_json(char **text, const tmi_preview *preview, tamis_error *err);
tamis_status tmi_compare_text(char **text, const tmi_preview *preview, tamis_error *err);

/* What would lower the errors most: a table, a row for each statistic that is its own leader, with `sizes` others that it
 * stands for; and as keys of a statistic (remedies.c). */
void tmi_write_remedies(tmi_text *text, const tmi_preview *preview, const size_t *leader, const size_t *sizes);
void tmi_sum_up_remedies(tmi_text *text, const tmi_preview *preview, const size_t *leader,
                         const size_t *sizes); /* in a sentence */
void tmi_put_remedies(tmi_json_out *out, const tmi_preview *preview, size_t statistic);
const char *tmi_alternative_name(tmi_alternative_kind kind);

/* What the plan could declare, a line for each, or an item of a list with `all` names of columns; and as a key of the preview
 * (declarations.c). */
void tmi_write_declaration(tmi_text *text, const tmi_preview *preview, size_t declaration, bool all);
void tmi_put_declarations(tmi_json_out *out, const tmi_preview *preview);

/* "epsilon 6, delta 1e-6"; and as keys of an object. */
void tmi_put_loss_words(tmi_text *text, const tmi_plan_loss *loss);
void tmi_put_loss(tmi_json_out *out, const tmi_plan_loss *loss);

/* That the noise of a statistic is above a third of its size, and what would be enough (tmi_expected_statistics_advise; NaN:
 * nothing is known to be); `more` follows its title (" and 12 more"). */
void tmi_expected_advice(tmi_text *text, const tmi_preview *preview, size_t statistic, const char *more, double loss,
                         double sample);

#endif
