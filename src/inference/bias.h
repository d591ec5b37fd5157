/* The bias that weights moved towards their mean bring (measure/regularised.h). */
#ifndef TMI_INFERENCE_BIAS_H
#define TMI_INFERENCE_BIAS_H

#include "schedule/result.h"

/* Weights moved towards their mean: w' = keep w + (1 - keep) mean, 0 <= keep <= 1. Less noise, for the largest weight falls;
 * a bias, which is bounded here from public facts: with values in [from, to],
 *
 *     |sum w' x - sum w x| <= (1 - keep) (to - from)/2 sum |w - mean|,  sum |w - mean| <= 2 n (mean - min)(max - mean) / (max -
 *     min).
 *
 * Needs    smallest <= mean <= largest, n >= 0; keep outside of [0, 1] counts as the nearer end. */
typedef struct tmi_regularised {
    double largest; /* the largest of the new weights */
    double bias;    /* the total's bias is at most this */
} tmi_regularised;

tmi_regularised tmi_regularise(double keep, double n, double smallest, double mean, double largest, double from, double to);

/* The bias that weights bring to a result at most, for values that range over `width`, and a sum of them over `denominator`; with
 * the note. Nothing is done where no weights are moved. */
void tmi_result_bias(tmi_result *result, const tmi_schedule *schedule, double width, double denominator);

#endif
