/* What can be guessed of a model before any row is read: how much the mean of each combination of its categories counts in each
 * coefficient, if categories are independent of each other, and of what is explained. It shapes previews and the split of the
 * budget; no promise hangs on it. */
#ifndef TMI_SCHEDULE_MODEL_GUESS_H
#define TMI_SCHEDULE_MODEL_GUESS_H

#include "measure/line_fit.h"
#include "schedule/schedule.h"

typedef struct tmi_model_guess {
    size_t cells, terms;
    double *weights; /* of each term, then each cell: the derivative of the coefficient by the cell's mean */
    double *turns;   /* the same times what the linear predictor of the cell moves with the coefficient, and its mean with that */
    double *shares;  /* of each cell, of all rows of the group */
    double inflation; /* of variances, because predictors are not independent */
} tmi_model_guess;

/* Needs a model whose predictors are all categories. Errors: SYSTEM. */
tamis_status tmi_model_guess_make(tmi_model_guess *guess, const tmi_schedule *schedule, size_t statistic, tamis_error *err);
void tmi_model_guess_clear(tmi_model_guess *guess);

/* The same of a model with numbers: its fit, if predictors have nothing to do with each other nor with what is explained. */
typedef struct tmi_line_guess {
    tmi_line_fit fit;
    double rows;      /* of the population, in a group */
    double simple;    /* times an element of the diagonal of the fit's inverse: the variance in a simple random sample */
    double effect;    /* the design effect that is expected */
    double inflation; /* of variances, because predictors are not independent */
} tmi_line_guess;

tamis_status tmi_line_guess_make(tmi_line_guess *guess, const tmi_schedule *schedule, size_t statistic, tamis_error *err);
void tmi_line_guess_clear(tmi_line_guess *guess);

#endif
