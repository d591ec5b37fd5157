/* A question about sampling, checked and in doubles. */
#ifndef TMI_STUDY_QUESTION_H
#define TMI_STUDY_QUESTION_H

#include "base/value/json.h"
#include "study/errors.h"

typedef struct tmi_study_asked {
    tamis_study_question question;
    tmi_values values; /* without `sorted` if only the standard deviation is known */
    double eps, delta, size;
    tmi_levels levels;         /* of quantiles */
    tamis_number *half, *step; /* what `levels` borrows */
    const tamis_number *median[1];
    unsigned mechanisms; /* asked for, and applying to the statistic and delta */
    int64_t runs;
    uint64_t seed;
    unsigned threads;
    tmi_watch watch;
} tmi_study_asked;

/* Clear it in any case. `usual` runs unless the options say otherwise. */
tamis_status tmi_study_asked_init(tmi_study_asked *asked, const tamis_study_question *question,
                                  const tamis_study_options *options, int64_t usual, tamis_error *err);
void tmi_study_asked_clear(tmi_study_asked *asked);

/* As tmi_simulate, for these sizes and spendings. */
tamis_status tmi_study_asked_simulate(tmi_squared_error *errors, tmi_study_asked *asked, const uint32_t *samples, size_t count,
                                      const tmi_spending *spendings, size_t spending_count, tamis_error *err);

/* "the median of 10,001 values (lognormal:5,0.5) between 0 and 1,000" */
void tmi_study_asked_words(tmi_text *text, const tmi_study_asked *asked);

/* The same as fields of a JSON object that is open. */
void tmi_study_asked_json(tmi_json_out *out, const tmi_study_asked *asked);

const char *tmi_study_statistic_name(tamis_study_statistic statistic);

/* Three significant digits, with commas: 3,070; 0.0123. A dash for NaN. */
void tmi_text_about(tmi_text *text, double x);

/* What a population is made of, in a picture's second line: at most `size` bytes. */
void tmi_study_asked_subtitle(char *text, size_t size, const tmi_study_asked *asked);

#endif
