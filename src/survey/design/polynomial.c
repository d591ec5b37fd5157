#include "survey/design/polynomial.h"

/* Terms to compute: about a minute. */
#define WORK_MAX ((double)(1 << 29))

typedef struct polynomial {
    tmi_ball *a, *b; /* coefficients of z^0, ..., z^n; b is NULL without mark */
} polynomial;

static bool init(polynomial *p, size_t length, bool marked)
{
    p->a = tmi_balls_new(length);
    p->b = marked ? tmi_balls_new(length) : NULL;
    return p->a && (p->b || !marked);
}

static void clear(polynomial *p, size_t length)
{
    tmi_balls_free(p->a, length);
    tmi_balls_free(p->b, length);
}

/* One more unit: A becomes A (1 + w z), B becomes B (1 + w z) + pi z A. */
static void bring_in(polynomial *p, size_t length, const tmi_ball *w, const tmi_ball *pi, long bits)
{
    tmi_ball term;
    tmi_ball_init(&term);
    for (size_t j = length; j-- > 1;) {
        if (p->b) {
            tmi_ball_mul(&term, w, &p->b[j - 1], bits);
            tmi_ball_add(&p->b[j], &p->b[j], &term, bits);
            tmi_ball_mul(&term, pi, &p->a[j - 1], bits);
            tmi_ball_add(&p->b[j], &p->b[j], &term, bits);
        }
        tmi_ball_mul(&term, w, &p->a[j - 1], bits);
        tmi_ball_add(&p->a[j], &p->a[j], &term, bits);
    }
    tmi_ball_clear(&term);
}

/* The reverse: q = p without this unit; q may be p. */
static void leave_out(polynomial *q, const polynomial *p, size_t length, const tmi_ball *w, const tmi_ball *pi, long bits)
{
    tmi_ball term;
    tmi_ball_init(&term);
    for (size_t j = 0; j < length; j++) {
        tmi_ball_set(&q->a[j], &p->a[j]);
        if (p->b) tmi_ball_set(&q->b[j], &p->b[j]);
        if (j == 0) continue;
        tmi_ball_mul(&term, w, &q->a[j - 1], bits);
        tmi_ball_sub(&q->a[j], &q->a[j], &term, bits);
        if (!p->b) continue;
        tmi_ball_mul(&term, w, &q->b[j - 1], bits);
        tmi_ball_sub(&q->b[j], &q->b[j], &term, bits);
        tmi_ball_mul(&term, pi, &q->a[j - 1], bits);
        tmi_ball_sub(&q->b[j], &q->b[j], &term, bits);
    }
    tmi_ball_clear(&term);
}

static void weigh_pair(tmi_ball *z, const polynomial *both_out, size_t power, const tmi_ball *odds, const tmi_ball *pi, size_t k,
                       size_t l, long bits)
{
    tmi_ball term;
    tmi_ball_init(&term);
    tmi_ball_mul(z, &odds[k], &odds[l], bits);
    tmi_ball_mul(z, z, both_out->b ? &both_out->b[power] : &both_out->a[power], bits);
    if (both_out->b) {
        tmi_ball_mul(&term, &pi[k], &odds[l], bits);
        tmi_ball_mul(&term, &term, &both_out->a[power], bits);
        tmi_ball_add(z, z, &term, bits);
        tmi_ball_mul(&term, &pi[l], &odds[k], bits);
        tmi_ball_mul(&term, &term, &both_out->a[power], bits);
        tmi_ball_add(z, z, &term, bits);
    }
    tmi_ball_clear(&term);
}

tamis_status tmi_polynomial_joint(tmi_ball *pij, const tmi_ball *odds, const tmi_ball *pi, size_t units, int64_t n,
                                  const size_t *open, size_t count, long bits, tamis_error *err)
{
    size_t length = (size_t)n + 1;
    polynomial all = {0}, one_out = {0}, both_out = {0};
    tamis_status status = TAMIS_OK;
    if (n < 2) {
        for (size_t i = 0; i < count * count; i++) tmi_ball_set_int(&pij[i], 0);
        return TAMIS_OK;
    }
    if (((double)units + 0.5 * (double)count * (double)count) * (double)length > WORK_MAX)
        return tmi_fail(err, TAMIS_UNABLE,
                        "joint probabilities: too many units for this sample size; ask for fewer "
                        "at a time");
    if (!init(&all, length, pi != NULL) || !init(&one_out, length, pi != NULL) || !init(&both_out, length, pi != NULL))
        TMI_TRY(tmi_fail_memory(err));
    tmi_ball_set_int(&all.a[0], 1);
    for (size_t k = 0; k < units; k++) bring_in(&all, length, &odds[k], pi ? &pi[k] : NULL, bits);
    for (size_t i = 0; i < count; i++) {
        size_t k = open[i];
        leave_out(&one_out, &all, length - 2, &odds[k], pi ? &pi[k] : NULL, bits);
        for (size_t j = i + 1; j < count; j++) {
            size_t l = open[j];
            tmi_ball *p = &pij[i * count + j];
            leave_out(&both_out, &one_out, length - 2, &odds[l], pi ? &pi[l] : NULL, bits);
            weigh_pair(p, &both_out, length - 3, odds, pi, k, l, bits);
            tmi_ball_div(p, p, all.b ? &all.b[n] : &all.a[n], bits);
        }
    }
done:
    clear(&all, length);
    clear(&one_out, length);
    clear(&both_out, length);
    return status;
}
