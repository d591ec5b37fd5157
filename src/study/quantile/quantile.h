/* The methods of tamis quantile on imagined files, compared.
 *
 * The answers are made by the code that answers `tamis quantile`. What that code draws before it looks at a record, uniform
 * numbers, integer noise and places of records, is put there by the study, from its own stream: so that a study is repeatable,
 * and nothing below this room knows a generator with a seed. */
#ifndef TMI_STUDY_QUANTILE_QUANTILE_H
#define TMI_STUDY_QUANTILE_QUANTILE_H

#include <tamis/experimental/quantile.h>

#include "base/text.h"
#include "mech/quantile/quantile.h"
#include "study/seeded.h"
#include "study/values.h"

#define TMI_STUDY_METHODS 9 /* auto, as it is, and all others */

/* One answer from records, with randomness of the stream. Errors: SYSTEM, UNABLE, INVALID. */
tamis_status tmi_quantile_imagine(int64_t *points, tamis_quantile *quantile, const int64_t *records, size_t count,
                                  tmi_stream *stream, tamis_error *err);

/* How far the answers of one method for one quantile were off. */
typedef struct tmi_quantile_errors {
    double median, most, rms; /* of the sizes of the errors; `most`: exceeded by one in twenty */
} tmi_quantile_errors;

/* A finished simulation. */
typedef struct tmi_quantile_simulation {
    const tamis_study_quantiles *asked;
    tmi_values values;
    tamis_number *rho; /* of method prefix: epsilon^2 / 2 */
    uint32_t rows;
    int64_t runs;
    tamis_quantile_method methods[TMI_STUDY_METHODS], chosen; /* those that apply; what auto takes */
    bool auto_by_log;                                         /* auto has chosen a log_unit */
    size_t method_count, count;                               /* of methods, of quantiles */
    double step;
    double *truths; /* quantiles of the population */
    tmi_quantile_errors
        *errors; /* [method * (count + 1) + quantile]; the last of each: of all quantiles together. After the methods
                                    those of a file's own quantiles, without noise */
} tmi_quantile_simulation;

/* Clear it in any case. Errors: INVALID, SYSTEM, UNABLE. */
tamis_status tmi_quantile_simulate(tmi_quantile_simulation *simulation, const tamis_study_quantiles *asked,
                                   const tamis_study_options *options, tamis_error *err);
void tmi_quantile_simulation_clear(tmi_quantile_simulation *simulation);

static inline const tmi_quantile_errors *tmi_quantile_errors_of(const tmi_quantile_simulation *s, size_t method, size_t quantile)
{
    return &s->errors[method * (s->count + 1) + quantile];
}

/* The study of a simulation. */
tamis_status tmi_quantile_study_write(tamis_study **study, const tmi_quantile_simulation *simulation, tamis_error *err);

#endif
