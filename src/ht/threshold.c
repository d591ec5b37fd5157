/* Doubling and halving until the target is met on one side and missed on the other; then secants on a logarithmic scale,
 * the end that does not move counted half each time (Illinois). Only certain answers move an end.                   */
#include "ht/threshold.h"

#include <math.h>

#include "num/bound.h"

#define WIDTH 1e-10
#define STEPS 200
#define SMALLEST 1e-30

typedef struct question {
    tmi_falling *f;
    void *context;
    tamis_bound target;
} question;

typedef struct probe {
    double x, height;   /* height: log(f / target), about */
    bool meets, misses; /* certainly */
} probe;

static tamis_status ask(probe *p, const question *q, double x, tamis_error *err)
{
    tamis_number *number = NULL;
    tamis_bound value;
    tamis_status status = tmi_number_double(&number, x, err);
    if (status == TAMIS_OK) status = q->f(&value, q->context, number, err);
    tamis_number_free(number);
    if (status != TAMIS_OK) return status;
    *p = (probe){x, log(value.lower > 0 ? value.lower : value.upper) - log(q->target.upper), value.upper <= q->target.lower,
                 value.lower > q->target.upper};
    if (!isfinite(p->height)) p->height = p->height > 0 ? 700 : -700;
    return TAMIS_OK;
}

/* As ask, a little to the right if nothing is certain at x. */
static tamis_status ask_near(probe *p, const question *q, double x, double high, tamis_error *err)
{
    tamis_status status = ask(p, q, x, err);
    if (status == TAMIS_OK && !p->meets && !p->misses) status = ask(p, q, fmin(x + WIDTH * high / 4, (x + high) / 2), err);
    if (status == TAMIS_OK && !p->meets && !p->misses)
        status = tmi_fail(err, TAMIS_UNABLE, "the target is too close to a discontinuity to certify");
    return status;
}

static tamis_status close_in(probe *low, probe *high, const question *q, tamis_error *err)
{
    double left = low->height, right = high->height;
    int side = 0;
    for (int i = 0; high->x - low->x > WIDTH * high->x; i++) {
        double gap = high->x - low->x, share = left / (left - right), edge = fmin(0.45, WIDTH * high->x / (3 * gap));
        probe p;
        if (i == STEPS) return tmi_fail(err, TAMIS_UNABLE, "the target could not be met closely enough in time");
        if (!(share > 0 && share < 1) || i % 8 == 7) share = 0.5;
        tamis_status status = ask_near(&p, q, low->x + gap * fmin(fmax(share, edge), 1 - edge), high->x, err);
        if (status != TAMIS_OK) return status;
        if (p.meets) {
            *high = p;
            right = fmin(p.height, -1e-12);
            if (side == 1) left /= 2;
            side = 1;
        } else {
            *low = p;
            left = fmax(p.height, 1e-12);
            if (side == -1) right /= 2;
            side = -1;
        }
    }
    return TAMIS_OK;
}

tamis_status tmi_smallest(tamis_bound *x, tmi_falling *f, void *context, const tamis_number *target, double start, double last,
                          tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    question q = {f, context, tmi_number_bound(target)};
    probe low, high;
    *x = (tamis_bound){0, INFINITY};
    TMI_TRY(ask(&high, &q, fmin(start, last), err));
    low = high;
    while (!high.meets) {
        if (high.misses) low = high;
        if (high.x >= last) {
            *x = (tamis_bound){low.misses ? low.x : 0, INFINITY};
            goto done;
        }
        TMI_TRY(ask(&high, &q, fmin(2 * high.x, last), err));
    }
    while (!low.misses) {
        if (low.meets) high = low;
        if (low.x < SMALLEST) {
            *x = (tamis_bound){0, high.x};
            goto done;
        }
        TMI_TRY(ask(&low, &q, low.x / 2, err));
    }
    status = close_in(&low, &high, &q, err);
    *x = (tamis_bound){low.x, high.x}; /* on failure too */
done:
    return status;
}
