/* How the values of a column are divided into classes by all that a plan asks about them. */
#ifndef TMI_MEASURE_CLASSES_H
#define TMI_MEASURE_CLASSES_H

#include "measure/workload.h"

/* Something that is asked about a column: its values one by one, its bins, how many are below each cut, or whether a condition
 * holds; or about an indicator of several columns, whether it is 1. */
typedef struct tmi_question {
    const tmi_plan_column *column;       /* a category or number of the file, or that indicator */
    const tmi_plan_column *bins;         /* cuts of it; NULL: none */
    const tmi_plan_column *recode;       /* the values of this recode of it; NULL: none */
    const tmi_plan_curve *curve;         /* those of a distribution function; NULL: none */
    const tmi_plan_condition *condition; /* NULL: none */
    bool is_where;                       /* of an indicator: missing values are "no" */
} tmi_question;

/* The values of a `by` column, a distribution function, a condition, an indicator as a whole. */
tmi_question tmi_question_by(const tmi_plan_column *by);
tmi_question tmi_question_curve(const tmi_plan_curve *curve);
tmi_question tmi_question_if(const tmi_plan_condition *condition);
tmi_question tmi_question_whole(const tmi_plan_column *indicator, bool is_where);

size_t tmi_question_size(const tmi_question *question);

/* Divides classes of its column so that the question has an answer. False: no memory. `tried`: nothing is changed. *count is
 * what their number is or would be. */
bool tmi_classes_divide(size_t *count, tmi_classes *classes, const tmi_question *question, bool tried);

/* Whether every class is inside or outside of all that the question asks about. */
bool tmi_classes_answer(const tmi_classes *classes, const tmi_question *question);

/* One class of all values. */
bool tmi_classes_make(tmi_classes *classes, const tmi_question *question, bool rest);
void tmi_classes_clear(tmi_classes *classes);

#endif
