#include "num/exact.h"

#include "base/memory.h"

void tmi_exact_clear(tmi_exact *e)
{
    for (size_t i = 0; i < e->count; i++) tamis_number_free(e->list[i]);
    tmi_free(e->list);
    *e = (tmi_exact){.status = e->status, .err = e->err};
}

/* Takes z, the result of a step that ended with `status`. */
static tmi_term keep(tmi_exact *e, tamis_number *z, tamis_status status)
{
    if (status == TAMIS_OK && !tmi_grow(&e->list, &e->room, e->count, sizeof *e->list)) {
        tamis_number_free(z);
        status = tmi_fail_memory(e->err);
    }
    e->status = status;
    if (status != TAMIS_OK) return NULL;
    e->list[e->count++] = z;
    return z;
}

tmi_term tmi_int(tmi_exact *e, int64_t x)
{
    tamis_number *z = NULL;
    if (e->status != TAMIS_OK) return NULL;
    tamis_status status = tmi_number_ratio(&z, x, 1, e->err);
    return keep(e, z, status);
}

typedef tamis_status step(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);

static tmi_term take(tmi_exact *e, step *step, tmi_term x, tmi_term y)
{
    tamis_number *z = NULL;
    if (e->status != TAMIS_OK || !x || !y) return NULL;
    tamis_status status = step(&z, x, y, e->err);
    return keep(e, z, status);
}

tmi_term tmi_add(tmi_exact *e, tmi_term x, tmi_term y) { return take(e, tmi_number_add, x, y); }

tmi_term tmi_sub(tmi_exact *e, tmi_term x, tmi_term y) { return take(e, tmi_number_sub, x, y); }

tmi_term tmi_mul(tmi_exact *e, tmi_term x, tmi_term y) { return take(e, tmi_number_mul, x, y); }

tmi_term tmi_div(tmi_exact *e, tmi_term x, tmi_term y) { return take(e, tmi_number_div, x, y); }

tmi_term tmi_abs(tmi_exact *e, tmi_term x)
{
    if (!x || tmi_number_sign(x) >= 0) return x;
    return tmi_sub(e, tmi_int(e, 0), x);
}

tmi_term tmi_larger(tmi_term x, tmi_term y)
{
    if (!x || !y) return NULL;
    return tmi_number_compare(x, y) >= 0 ? x : y;
}

tmi_term tmi_smaller(tmi_term x, tmi_term y)
{
    if (!x || !y) return NULL;
    return tmi_number_compare(x, y) <= 0 ? x : y;
}

tamis_status tmi_exact_copy(tamis_number **z, tmi_exact *e, tmi_term x)
{
    *z = NULL;
    if (e->status == TAMIS_OK) e->status = tmi_number_copy(z, x, e->err);
    return e->status;
}
