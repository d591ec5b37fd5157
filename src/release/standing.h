/* The account in a certificate: its budget of the day and how that was raised, its waves, and its sums before and after a
 * release. */
#ifndef TMI_RELEASE_STANDING_H
#define TMI_RELEASE_STANDING_H

#include "ledger/waves.h"
#include "plan/plan.h"
#include "publish/checking.h"

/* The keys of the object "account", which is open: before, after, groups?, cap, raised?, waves?, statement. */
void tmi_put_standing(tmi_json_out *out, const tmi_standing *standing);

/* At least as many bytes as tmi_put_standing writes more for an account like this one than for a new one. `standing` may be
 * empty. */
size_t tmi_standing_bytes(const tmi_standing *standing, const tamis_plan *plan);

/* A number that a file gives as text; NULL where there is none. SYSTEM (memory). */
tamis_status tmi_exact_field(tamis_number **number, const tmi_value *object, const char *key, tamis_error *err);

/* What the object says; *whole is false if something is missing. The caller clears it. SYSTEM (memory). */
tamis_status tmi_standing_read(tmi_standing *standing, bool *whole, const tmi_value *account, tamis_error *err);

/* What the parts of it, and the plan, say about each other, and that `amount` was added; `entry` is that of the charge,
 * `repeated`: later charges and raises may be in it. SYSTEM, UNABLE. */
tamis_status tmi_standing_check(const tmi_standing *standing, const tamis_plan *plan, const tmi_ledger_coin *amount,
                                int64_t entry, bool repeated, tmi_checking *check, tamis_error *err);

#endif
