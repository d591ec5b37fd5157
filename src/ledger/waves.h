/* Waves of a survey, and how its budget was raised: what an account has beside its charges. */
#ifndef TMI_LEDGER_WAVES_H
#define TMI_LEDGER_WAVES_H

#include <tamis/experimental/charge.h>

#include "ledger/losses.h"

/* {"name": "2026-Q3", "groups": ["A", "B"], "same_sample": true}; all empty: releases of a plan that names no wave. */
typedef struct tmi_wave {
    char *name;
    char **groups; /* the rotation groups in it; none: it counts for everybody */
    size_t group_count;
    bool same_sample; /* declared: the people of the wave before */
} tmi_wave;

/* Groups of a wave: a rotating panel has a dozen. Each has a sum of its own in every account of the ledger. */
#define TMI_MAX_GROUPS 1000

/* `value` may be NULL: no wave. INVALID; empty on failure. */
tamis_status tmi_wave_read(tmi_wave *wave, const tmi_value *value, tamis_error *err);
tamis_status tmi_wave_copy(tmi_wave *copy, const tmi_wave *wave, tamis_error *err);
bool tmi_wave_equal(const tmi_wave *x, const tmi_wave *y);
bool tmi_wave_named(const tmi_wave *wave, const char *name); /* name NULL: that it has none */
void tmi_wave_put(tmi_json_out *out, const tmi_wave *wave);  /* the object above, or null */
void tmi_wave_clear(tmi_wave *wave);

/* Why nothing is claimed for outsiders across waves; NULL if there is no obstacle: one wave, or the same sample in all. */
const char *tmi_waves_apart(const tmi_wave *first, size_t stride, size_t count); /* stride: bytes from one to the next */

/* A budget that was raised. */
typedef struct tmi_raise {
    int64_t number; /* of the entry */
    char time[TAMIS_LEDGER_TIME];
    tmi_ledger_coin from, to;
    char *reason;
} tmi_raise;

tamis_status tmi_raise_copy(tmi_raise *copy, const tmi_raise *raise, tamis_error *err);
void tmi_raise_clear(tmi_raise *raise);

/* INVALID, with the reason, if `to` is not a higher cap of the same kind. */
tamis_status tmi_check_raise(const tmi_ledger_coin *from, const tmi_ledger_coin *to, tamis_error *err);

/* An account as a certificate states it. */
typedef struct tmi_standing {
    tmi_ledger_coin cap; /* of the day */
    tmi_raise *raises;
    size_t raise_count;
    tmi_wave *waves; /* in the order of their opening */
    size_t wave_count;
    tmi_losses before, after;     /* a certain entry, and as it is now; the same groups in both */
    tamis_number *as_rho, *as_mu; /* the rho and the mu^2 that the entry has booked beside its epsilon; NULL: none */
} tmi_standing;

/* INVALID if the survey has no account; empty on failure. */
tamis_status tmi_ledger_standing(tmi_standing *standing, const tamis_ledger *ledger, const char *survey, int64_t entry,
                                 tamis_error *err);
void tmi_standing_clear(tmi_standing *standing);

/* What the cap promises, in a sentence or two. */
void tmi_cap_words(tmi_text *text, const tmi_standing *standing);

#endif
