/* Randomness of a study in the places where a quantile keeps what it has drawn. Noise is from doubles here: its law is that of
 * the exact one to fifteen digits, which is enough to imagine errors, and never enough to protect anybody. */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/above.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/several.h"
#include "mech/quantile/smooth.h"
#include "mech/quantile/tree.h"
#include "num/number.h"
#include "study/quantile/quantile.h"

static void fill_bits(tamis_quantile *q, tmi_stream *stream)
{
    for (size_t i = 0; i < q->bit_count; i++) {
        q->bits[i].count = TMI_UNIFORM_FIRST;
        for (size_t k = 0; k < TMI_UNIFORM_FIRST; k++) q->bits[i].words[k] = tmi_stream_bits(stream);
    }
}

/* P(k) proportional to exp(-k / scale), k >= 0. */
static int64_t geometric(tmi_stream *stream, double scale)
{
    return (int64_t)fmin(floor(-log(tmi_stream_unit(stream)) * scale), 0x1p60);
}

/* A difference of two of them has P(k) proportional to exp(-|k| / scale). */
static int64_t two_sided(tmi_stream *stream, double scale)
{
    const int64_t first = geometric(stream, scale);
    return first - geometric(stream, scale);
}

static void fill_above(tamis_quantile *q, tmi_stream *stream)
{
    for (size_t i = 0; i < q->count; i++) {
        const tmi_above *a = &q->above[i];
        for (size_t k = 0; k <= q->candidate_count; k++)
            a->noise[k] = (a->two_sided ? two_sided : geometric)(stream, tmi_number_nearest(k == 0 ? a->rho_scale : a->nu_scale));
    }
}

static void fill_distribution(tamis_distribution *d, tmi_stream *stream)
{
    const tmi_bin_tree *t = d->tree;
    for (size_t l = 0; t && l < t->levels; l++) {
        const double scale = tmi_number_nearest(t->scales[l]);
        for (size_t v = t->first[l]; v < t->first[l + 1]; v++) d->drawn[v] = two_sided(stream, scale);
    }
    const double sd = t ? 0 : sqrt(tmi_number_nearest(d->variance)); /* far above 1: the rows of F have been scaled up */
    for (size_t i = 0; !t && i < d->measures; i++) d->drawn[i] = llround(tmi_stream_normal(stream) * sd);
    d->prepared = true;
}

static tamis_status find_several(int64_t *points, tamis_quantile *q, const tmi_records *records, tmi_stream *stream,
                                 tamis_error *err)
{
    tmi_keys keys;
    tamis_status status = tmi_keys_begin(&keys, records, err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < records->count; i++) keys.keys[i] = (int64_t)(tmi_stream_bits(stream) >> 32) & (keys.places - 1);
    status = tmi_keys_read(&keys, records, err);
    if (status == TAMIS_OK) status = tmi_find_among_keys(points, q, &keys, NULL, err);
    tmi_keys_clear(&keys);
    return status;
}

tamis_status tmi_quantile_imagine(int64_t *points, tamis_quantile *q, const int64_t *records, size_t count, tmi_stream *stream,
                                  tamis_error *err)
{
    tmi_records all;
    const tamis_status status = tmi_quantile_records(&all, q, NULL, records, NULL, count, err);
    if (status != TAMIS_OK) return status;
    fill_bits(q, stream);
    if (q->above) fill_above(q, stream);
    if (q->distribution) fill_distribution(q->distribution, stream);
    return q->method == TAMIS_QUANTILE_JOINT || q->method == TAMIS_QUANTILE_SPLIT ? find_several(points, q, &all, stream, err)
                                                                                  : tmi_quantile_find(points, q, &all, NULL, err);
}
