/* The local epsilon. A reported one has the likelihood ratio A = (1 - lie) / lie_zero of a true one to a true zero, a reported
 * zero the ratio B = (1 - lie_zero) / lie the other way. Answers that differ in one bit lose at most log max(A, B); two one-hot
 * codes of different categories differ in one bit each way, which makes log A + log B. Bits are flipped independently, so the
 * losses of the bits add up. */
#include "collect/tally/guarantee.h"

#include <math.h>
#include <tamis/anonymous.h>

#include "num/ball.h"

typedef struct parts {
    const tamis_tally *t;
    int64_t groups, singles; /* answers with a one-hot code, and other bits */
} parts;

/* log((1 - x) / y) */
static void log_ratio(tmi_ball *z, const tamis_number *x, const tamis_number *y, long bits)
{
    tmi_ball below;
    tmi_ball_init(&below);
    tmi_ball_set_number(z, x, bits);
    tmi_ball_neg(z, z);
    tmi_ball_log1p(z, z, bits);
    tmi_ball_set_number(&below, y, bits);
    tmi_ball_log(&below, &below, bits);
    tmi_ball_sub(z, z, &below, bits);
    tmi_ball_clear(&below);
}

static tamis_status local_epsilon(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const parts *p = context;
    tmi_ball b, larger;
    (void)err;
    tmi_ball_init(&b);
    tmi_ball_init(&larger);
    log_ratio(z, p->t->lie, p->t->lie_zero, bits);
    log_ratio(&b, p->t->lie_zero, p->t->lie, bits);
    tmi_ball_max(&larger, z, &b, bits);
    tmi_ball_add(z, z, &b, bits);
    tmi_ball_mul_int(z, z, p->groups, bits);
    tmi_ball_mul_int(&larger, &larger, p->singles, bits);
    tmi_ball_add(z, z, &larger, bits);
    tmi_ball_clear(&b);
    tmi_ball_clear(&larger);
    return TAMIS_OK;
}

static parts parts_of(const tamis_tally *t, const tmi_asked *asked)
{
    parts p = {.t = t, .groups = asked->groups};
    for (size_t j = 0; j < t->bits; j++) p.singles += asked->group[j] == 0;
    return p;
}

static const tamis_bound nothing = {0, INFINITY};

/* The anonymous epsilon of this many reports. Counts or whole reports are published; two answers differ in all single bits and
 * in two of each one-hot code. A single answer with such a code is asked for as such; for a mixture the two bits count as any
 * others, which is never too small. What cannot be certified is bounded by the local epsilon. */
static tamis_status anonymous_epsilon(tamis_bound *epsilon, const parts *p, int64_t reports, tamis_bound local,
                                      const tamis_number *delta, tamis_error *err)
{
    const bool one_hot = p->groups == 1 && p->singles == 0;
    const tamis_reports asked = {.reports = reports,
                                 .form = p->t->cells ? TAMIS_REPORT_WHOLE : TAMIS_REPORT_COUNTS,
                                 .positions = one_hot ? (int64_t)p->t->bits : 2 * p->groups + p->singles,
                                 .ones = one_hot ? 1 : 0,
                                 .lie_one = p->t->lie,
                                 .lie_zero = p->t->lie_zero};
    *epsilon = (tamis_bound){0, local.upper};
    if (asked.positions > TAMIS_MAX_POSITIONS) return TAMIS_OK;
    tamis_bound found;
    tamis_error reason = {0};
    tamis_status status = tamis_anonymous_epsilon(&found, &asked, delta, &reason);
    if (status == TAMIS_UNABLE) return TAMIS_OK;
    if (status != TAMIS_OK) return tmi_fail_as(err, &reason);
    *epsilon = (tamis_bound){fmin(found.lower, local.upper), fmin(found.upper, local.upper)};
    return TAMIS_OK;
}

tamis_status tmi_tally_promise(tamis_tally_guarantee *guarantee, const tamis_tally *t, const tmi_asked *asked, tamis_error *err)
{
    const parts p = parts_of(t, asked);
    *guarantee = (tamis_tally_guarantee){nothing, nothing, nothing, 2 * p.groups + p.singles};
    tamis_status status = tmi_certify(&guarantee->local, TAMIS_WIDTH, local_epsilon, &p, err);
    if (status != TAMIS_OK) {
        guarantee->local = nothing;
        return status;
    }
    status = anonymous_epsilon(&guarantee->anonymous, &p, t->reports, guarantee->local, asked->delta, err);
    guarantee->promised = guarantee->anonymous;
    if (status == TAMIS_OK && asked->promised > t->reports)
        status = anonymous_epsilon(&guarantee->promised, &p, asked->promised, guarantee->local, asked->delta, err);
    if (status != TAMIS_OK) *guarantee = (tamis_tally_guarantee){nothing, nothing, nothing, 2 * p.groups + p.singles};
    return status;
}

tamis_status tamis_tally_promise(tamis_tally_guarantee *guarantee, const tamis_tally *tally, const tamis_tally_question *question,
                                 tamis_error *err)
{
    tmi_asked asked;
    if (!guarantee) return tmi_fail(err, TAMIS_INVALID, "guarantee: NULL");
    *guarantee = (tamis_tally_guarantee){nothing, nothing, nothing, 0};
    tamis_status status = tmi_asked_make(&asked, tally, question, err);
    if (status == TAMIS_OK) status = tmi_tally_promise(guarantee, tally, &asked, err);
    tmi_asked_clear(&asked);
    return status;
}
