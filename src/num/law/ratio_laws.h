/* Laws whose neighbouring masses have simple ratios: their mode, and the ratios away from it; for num/ alone. */
#ifndef TMI_NUM_LAW_RATIO_LAWS_H
#define TMI_NUM_LAW_RATIO_LAWS_H

#include "num/law/laws.h"
#include "num/ratio.h"

/* A law on low..high that rises to its mode and falls after it. */
typedef struct tmi_ratio_law {
    int64_t low, high, mode;
    void (*mass)(tmi_ball *z, const void *law, int64_t k, long bits); /* low <= k <= high */
    tmi_ratios (*ratios)(const void *law, int64_t k, bool up);        /* from k outwards */
    const void *law;
} tmi_ratio_law;

tmi_ratio_law tmi_hypergeometric_ratio_law(const tmi_hypergeometric *law);

/* The binomial with 0 < p < 1, and what is computed from p once. */
typedef struct tmi_odds {
    int64_t trials, mode;
    const tamis_number *success;  /* p, borrowed */
    tamis_number *failure, *odds; /* 1-p and p/(1-p) */
} tmi_odds;
tamis_status tmi_odds_set(tmi_odds *law, const tmi_binomial *binomial, tamis_error *err);
void tmi_odds_clear(tmi_odds *law);
tmi_ratio_law tmi_binomial_ratio_law(const tmi_odds *law);

/* One part of such a law. Tails are summed from k away from the mode, so the terms fall and the shorter side is the one
 * that is summed; the other side is one minus it. */
void tmi_ratio_law_part(tmi_ball *z, const tmi_ratio_law *law, tmi_law_part part, int64_t k, long bits);

#endif
