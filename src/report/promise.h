/* What is promised to whom, and what is not: the same words in the preview, the table and the JSON. */
#ifndef TMI_REPORT_PROMISE_H
#define TMI_REPORT_PROMISE_H

#include "base/lines.h"
#include "base/value/json.h"
#include "ledger/account.h"
#include "schedule/outsider.h"
#include "schedule/schedule.h"

/* The first two lines of every table: "california-schools-2000: protected release", then the design and the unit. */
void tmi_write_heading(tmi_text *text, const tamis_plan *plan, const char *what, tmi_text *more);

/* "; one record is one school" */
void tmi_unit_words(tmi_text *text, const tamis_plan *plan);

/* Value of the key "guarantee": {"setting", "specification", "sample": {epsilon, delta}, "outsider", "outsider_reason",
 * "meaning"}. The outsider is that of the whole account, here and below. */
void tmi_put_guarantee(tmi_json_out *out, const tmi_schedule *schedule, const tmi_outsider *outsider);

/* The key "would_spend" of what is shown: "epsilon 1", rounded up; NULL: nothing, null. */
void tmi_put_would_spend_shown(tmi_json_out *out, const tmi_schedule *schedule);

/* The keys "sample", "outsider" and "meaning" of what is shown: texts, rounded up. */
void tmi_put_promise_shown(tmi_json_out *out, const tmi_schedule *schedule, const tmi_outsider *outsider);

/* Its parts: {protect, given, design_variables, secret_sample}; {epsilon, delta} of a sampled unit; {epsilon, delta, theorem,
 * by_stratum} of an outsider, or null. */
void tmi_put_setting(tmi_json_out *out, const tmi_schedule *schedule);
void tmi_put_sample_loss(tmi_json_out *out, const tmi_schedule *schedule);
void tmi_put_outsider_loss(tmi_json_out *out, const tmi_plan_design *design, const tmi_outsider *outsider);

/* {"epsilon": {lower, upper}, "delta": {lower, upper}}, or {"rho": {lower, upper}} */
void tmi_put_spent(tmi_json_out *out, const tmi_schedule *schedule);

/* What the release does not cover: a list of sentences. */
void tmi_list_not_covered(tmi_lines *lines, const tmi_schedule *schedule);

/* What there is to warn of, with the notice of the account; what the reader of a public page has to know of it, with the plan's
 * labels; and the warnings about the plan as paragraphs. */
void tmi_list_warnings(tmi_lines *lines, const tmi_schedule *schedule, const tmi_account *account);
void tmi_list_page_warnings(tmi_lines *lines, const tmi_schedule *schedule);
void tmi_write_warnings(tmi_text *text, const tmi_schedule *schedule);

/* What outsiders of each stratum lose, and units that are always drawn; with a target for outsiders also what people do who are
 * known to be sampled. */
void tmi_strata_words(tmi_text *text, const tmi_plan_design *design, const tmi_outsider *outsider);

/* What a sampled unit, and what an outsider is promised: a few sentences, also for a public page, without the plan's words; and a
 * picture of it, SVG that the caller frees. */
void tmi_promise_words(tmi_text *text, const tmi_schedule *schedule);
void tmi_outsider_words(tmi_text *text, const tamis_plan *plan, const tmi_outsider *outsider);
void tmi_promise_page(tmi_text *text, const tmi_schedule *schedule);
void tmi_outsider_page(tmi_text *text, const tamis_plan *plan, const tmi_outsider *outsider);
tamis_status tmi_promise_picture(char **svg, const tmi_schedule *schedule, const tmi_outsider *outsider, tamis_error *err);

/* Promise, warnings and what is not covered as paragraphs. `released`: numbers were published; else they would be. */
void tmi_write_promise(tmi_text *text, const tmi_schedule *schedule, const tmi_outsider *outsider, bool released);

/* The account for people: what was spent, what is left, which entry of the ledger. */
void tmi_write_account(tmi_text *text, const tmi_schedule *schedule, const tmi_account *account);
void tmi_account_words(tmi_text *text, const tmi_schedule *schedule,
                       const tmi_account *account); /* each sentence after a space */

/* What nobody may miss about a release's account, a sentence or two: that it created its ledger (with its path, if that is not
 * NULL), that it opened its account, that its numbers are those of an earlier release. Nothing if there is none of that. */
void tmi_account_notice(tmi_text *text, const tmi_account *account, const char *path);

/* "budget: {epsilon: 4}": four times what the plan spends, as a proposal. */
void tmi_budget_line(tmi_text *text, const tamis_plan *plan);

/* What `tamis check` says of a plan without a budget; where the account has one, that is the one to write. */
void tmi_budget_advice(tmi_text *text, const tamis_plan *plan, const tmi_account *account);

/* {"epsilon": ..., "delta": ...} or {"rho": ...}; null if the account does not exist. */
void tmi_put_spending(tmi_json_out *out, const tmi_account *account, const tamis_spending *spending);

/* Value of the key "ledger": {"entry", "hash", "time", "repeated", "created"}; null if there is none. */
void tmi_put_entry(tmi_json_out *out, const tmi_account *account);
void tmi_put_charge(tmi_json_out *out, const tamis_charged *charged); /* its keys, in an object that is open */

/* {"name", ..., "noise": [{"law", "scale"}]}: what a measurement is, without its numbers; the object stays open. */
void tmi_put_measurement(tmi_json_out *out, const tmi_schedule *schedule, const tmi_measurement *measurement);

/* "psu_strata": the strata in which totals of PSUs are compared; nothing if there are none. */
void tmi_put_psu_layout(tmi_json_out *out, const tmi_psu_layout *layout);

/* The same of a private bound, with the bound where it is found; and of all of them as the key "bounds", if there are any. */
void tmi_put_bound_task(tmi_json_out *out, const tmi_schedule *schedule, const tmi_bound_task *task);
void tmi_put_bound_tasks(tmi_json_out *out, const tmi_schedule *schedule);

/* The same of a quantile that a mechanism chooses: all that its guarantee follows from, without what was chosen. */
void tmi_put_quantile_task(tmi_json_out *out, const tmi_schedule *schedule, const tmi_quantile_task *task);

/* "design": {...} */
void tmi_put_design(tmi_json_out *out, const tmi_schedule *schedule);

/* An exact number as text "p/q", in JSON null for NULL; and for people: rounded up, as a promise must be. */
void tmi_text_number(tmi_text *text, const tamis_number *number);
void tmi_put_exact(tmi_json_out *out, const tamis_number *number);
void tmi_add_exact(tmi_json_out *out, const char *key, const tamis_number *number);
void tmi_text_number_up(tmi_text *text, const tamis_number *number);

/* What the plan declares public and nobody checks, one sentence each. A certificate lists columns by name, whatever their order
 * in the plan, and so does its page, which calls them by their labels; a preview has them in the plan's order. */
typedef enum tmi_declared { TMI_DECLARED_IN_ORDER, TMI_DECLARED_BY_NAME, TMI_DECLARED_ON_PAGE } tmi_declared;
void tmi_list_declared(tmi_lines *lines, const tmi_schedule *schedule, tmi_declared how);

#endif
