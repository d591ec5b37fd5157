/* Short exact calculations: each result is kept until the end, the first failure stops all that follow; for mech/ alone. */
#ifndef TMI_HT_CALC_H
#define TMI_HT_CALC_H

#include "num/number.h"

#define TMI_CALC_ROOM 64

typedef struct tmi_calc {
    tamis_number *made[TMI_CALC_ROOM];
    size_t count;
    tamis_status status;
    tamis_error *err;
} tmi_calc;

typedef tamis_status tmi_operation(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);

/* x op y, which belongs to the calculation; after a failure NULL, and NULL operands give NULL. */
static inline const tamis_number *tmi_calc_do(tmi_calc *c, tmi_operation *op, const tamis_number *x, const tamis_number *y)
{
    tamis_number *z = NULL;
    if (c->status != TAMIS_OK || !x || !y) return NULL;
    if (c->count == TMI_CALC_ROOM) {
        c->status = tmi_fail(c->err, TAMIS_UNABLE, "the calculation would need too many steps");
        return NULL;
    }
    c->status = op(&z, x, y, c->err);
    if (c->status == TAMIS_OK) c->made[c->count++] = z;
    return c->status == TAMIS_OK ? z : NULL;
}

static inline const tamis_number *tmi_calc_int(tmi_calc *c, int64_t x)
{
    tamis_number *z = NULL;
    if (c->status != TAMIS_OK || c->count == TMI_CALC_ROOM) return NULL;
    c->status = tmi_number_ratio(&z, x, 1, c->err);
    if (c->status == TAMIS_OK) c->made[c->count++] = z;
    return z;
}

static inline const tamis_number *tmi_calc_max(const tamis_number *x, const tamis_number *y)
{
    if (!x || !y) return NULL;
    return tmi_number_compare(x, y) >= 0 ? x : y;
}

static inline const tamis_number *tmi_calc_min(const tamis_number *x, const tamis_number *y)
{
    if (!x || !y) return NULL;
    return tmi_number_compare(x, y) <= 0 ? x : y;
}

static inline void tmi_calc_clear(tmi_calc *c)
{
    while (c->count > 0) tamis_number_free(c->made[--c->count]);
}

#endif
