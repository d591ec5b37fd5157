/* The local epsilon. A reported one has the likelihood ratio A = (1 - lie) / lie_zero of a true one to a true zero, a reported
 * zero the ratio B = (1 - lie_zero) / lie the other way. Answers that differ in one bit lose at most log max(A, B); two one-hot
 * codes of different categories differ in one bit each way, which makes log A + log B. Bits are flipped independently, so the
 * losses of the bits add up.
 *
 * Upper ends assume no more than was declared: bits that are not declared to be the code of one answer may be any. Lower ends
 * assume no more than is certain. The names say which bits may belong to one answer (collect/coding.h): `a` and `a=missing` are
 * never both set, and of `a=x` and `a=y` exactly one is. So there each name before a "=" counts as one answer. */
#include "collect/tally/guarantee.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/anonymous.h>

#include "base/memory.h"
#include "collect/anonymous/reports.h"
#include "num/ball.h"

typedef struct parts {
    const tamis_tally *t;
    int64_t groups, singles; /* answers with a one-hot code, and other bits */
    bool one_hot;            /* a single answer, and exactly one of its bits is set */
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

/* As declared. */
static parts parts_of(const tamis_tally *t, const tmi_asked *asked)
{
    parts p = {.t = t, .groups = asked->groups};
    for (size_t j = 0; j < t->bits; j++) p.singles += asked->group[j] == 0;
    p.one_hot = p.groups == 1 && p.singles == 0;
    return p;
}

static int by_column(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const size_t m = strcspn(x, "="), n = strcspn(y, "=");
    const int order = strncmp(x, y, m < n ? m : n);
    return order != 0 ? order : (m > n) - (m < n);
}

static bool same_column(const char *x, const char *y)
{
    const size_t length = strcspn(x, "=");
    return length == strcspn(y, "=") && strncmp(x, y, length) == 0;
}

/* As few different answers as the names allow. The other bits of an answer, and one that has no other bit but a category, are not
 * counted. */
static tamis_status certain_parts(parts *p, const tamis_tally *t, tamis_error *err)
{
    const char **sorted = tmi_alloc(t->bits, sizeof *sorted);
    *p = (parts){.t = t};
    if (!sorted) return tmi_fail_memory(err);
    for (size_t j = 0; j < t->bits; j++) sorted[j] = t->names[j];
    qsort(sorted, t->bits, sizeof *sorted, by_column);
    for (size_t j = 0, next; j < t->bits; j = next) {
        for (next = j + 1; next < t->bits && same_column(sorted[j], sorted[next]); next++) {}
        if (next > j + 1) p->groups++;
        else if (!strchr(sorted[j], '=')) p->singles++;
    }
    tmi_free(sorted);
    return TAMIS_OK;
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
    const bool whole = p->t->cells != NULL;
    const int64_t bits = (int64_t)p->t->bits, ones = p->groups + p->singles;
    return (tamis_reports){.reports = reports,
                           .form = whole ? TAMIS_REPORT_WHOLE : TAMIS_REPORT_COUNTS,
                           .positions = whole || p->one_hot ? bits : 2 * p->groups + p->singles,
                           .ones = p->groups > 0 && (whole || p->one_hot) ? ones : 0,
                           .exactly = p->one_hot,
                           .lie_one = p->t->lie,
                           .lie_zero = p->t->lie_zero};
}

/* The anonymous epsilon of this many reports. What cannot be certified is bounded by the local epsilon; so are sums of weights,
 * which show who reported a one if weights differ. Where answers may be fewer than was assumed, an attack on two of those that
 * there are in any case gives the lower end. */
static tamis_status anonymous_epsilon(tamis_bound *epsilon, const parts *p, const parts *certain, int64_t reports,
                                      tamis_bound local, const tmi_asked *question, tamis_error *err)
{
    const tamis_reports asked = reports_of(p, reports);
    const tamis_number *delta = question->delta;
    *epsilon = (tamis_bound){0, local.upper};
    if (p->t->weight || asked.positions > TAMIS_MAX_POSITIONS) return TAMIS_OK;
    tamis_bound found;
    tamis_error reason = {0};
    tamis_status status = tmi_anonymous_epsilon(&found, &asked, delta, question->bounds, &reason);
    if (status == TAMIS_OK && !p->one_hot && (p->groups > 0 || certain->singles < p->singles)) {
        const bool ones_reveal_more = tmi_number_compare(p->t->lie, p->t->lie_zero) >= 0;
        const int64_t all = certain->groups + certain->singles;
        const tmi_changes changes = {ones_reveal_more ? all : certain->groups, ones_reveal_more ? certain->groups : all};
        status = tmi_attack_two(&found.lower, &asked, changes, delta, &reason);
    }
    if (status == TAMIS_UNABLE) return TAMIS_OK;
    if (status != TAMIS_OK) return tmi_fail_as(err, &reason);
    *epsilon = (tamis_bound){fmin(found.lower, local.lower), fmin(found.upper, local.upper)};
    return TAMIS_OK;
}

tamis_status tmi_tally_promise(tamis_tally_guarantee *guarantee, const tamis_tally *t, const tmi_asked *asked, tamis_error *err)
{
    const parts p = parts_of(t, asked);
    const tamis_tally_guarantee unknown = {nothing, nothing, nothing, 2 * p.groups + p.singles};
    parts certain;
    tamis_bound least;
    tamis_status status = TAMIS_OK;
    *guarantee = unknown;
    TMI_TRY(certain_parts(&certain, t, err));
    TMI_TRY(tmi_certify(&guarantee->local, TAMIS_WIDTH, local_epsilon, &p, err));
    TMI_TRY(tmi_certify(&least, TAMIS_WIDTH, local_epsilon, p.one_hot ? &p : &certain, err));
    guarantee->local.lower = fmin(guarantee->local.lower, least.lower);
    TMI_TRY(anonymous_epsilon(&guarantee->anonymous, &p, &certain, t->reports, guarantee->local, asked, err));
    guarantee->promised = guarantee->anonymous;
    if (asked->promised > t->reports)
        TMI_TRY(anonymous_epsilon(&guarantee->promised, &p, &certain, asked->promised, guarantee->local, asked, err));
done:
    if (status != TAMIS_OK) *guarantee = unknown;
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
