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

/* The question about the reports. Counts or whole reports are published.
 *
 * Counts: only positions at which two answers differ matter, all single bits and two of each one-hot code.
 *
 * Whole reports: the other bits matter too, because they distinguish the reports of others and leave fewer to hide among. So all
 * bits are counted, and any answer with as many ones as answers have is allowed: more answers than there are, never fewer. */
static tamis_reports reports_of(const parts *p, int64_t reports)
{
    const bool whole = p->t->cells != NULL, one_hot = p->groups == 1 && p->singles == 0;
    const int64_t bits = (int64_t)p->t->bits, ones = p->groups + p->singles;
    return (tamis_reports){.reports = reports,
                           .form = whole ? TAMIS_REPORT_WHOLE : TAMIS_REPORT_COUNTS,
                           .positions = whole || one_hot ? bits : 2 * p->groups + p->singles,
                           .ones = p->groups > 0 && (whole || one_hot) ? ones : 0,
                           .lie_one = p->t->lie,
                           .lie_zero = p->t->lie_zero};
}

/* The anonymous epsilon of this many reports. What cannot be certified is bounded by the local epsilon; so are sums of weights,
 * which show who reported a one if weights differ. */
static tamis_status anonymous_epsilon(tamis_bound *epsilon, const parts *p, int64_t reports, tamis_bound local,
                                      const tamis_number *delta, tamis_error *err)
{
    const tamis_reports asked = reports_of(p, reports);
    *epsilon = (tamis_bound){0, local.upper};
    if (p->t->weight || asked.positions > TAMIS_MAX_POSITIONS) return TAMIS_OK;
    tamis_bound found;
    tamis_error reason = {0};
    tamis_status status = tamis_anonymous_epsilon(&found, &asked, delta, &reason);
    if (status == TAMIS_UNABLE) return TAMIS_OK;
    if (status != TAMIS_OK) return tmi_fail_as(err, &reason);
    const bool all_answers = p->groups == 0 || (p->groups == 1 && p->singles == 0); /* else the attack may need others */
    *epsilon = (tamis_bound){all_answers ? fmin(found.lower, local.upper) : 0, fmin(found.upper, local.upper)};
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
