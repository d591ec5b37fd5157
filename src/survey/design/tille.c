/* Tille's elimination (Tille 1996): from all N units, one is put out at each step until n are left.
 *
 * Let pi(i|k) be the inclusion probabilities, proportional to the pi_i, of a sample of size k, units that would get
 * more than 1 having 1 ("full"). At the step from k+1 to k units, i is put out with probability r = 1 - pi(i|k) /
 * pi(i|k+1). With the units sorted, largest first, the full ones at k are the first alpha(k) of them; let X(alpha) be
 * the sum of the others. Then, with a = alpha(k+1) and b = alpha(k),
 *     full before and after:   r = 0
 *     full before, not after:  r = 1 - (k - b) pi_i / X(b)                              (each unit has one such step)
 *     not full before:         r = 1 - (k - b) X(a) / ((k + 1 - a) X(b)), the same for all of them.
 * Full units have never been put out, so exactly k + 1 - a of the last sort are left and the r sum to 1. Hence a step
 * needs one uniform integer below X(b), and a draw O(N) of them in all.
 *
 * A pair survives a step with probability 1 - r_i - r_j; with running products of 1 - r and 1 - 2r over the steps at
 * which both are of the last sort, each pi_ij takes a few operations.                                                */
#include <stdlib.h>

#include "rng/uniform.h"
#include "survey/design/pps.h"

typedef struct steps {
    const tmi_pps *pps;
    size_t n, N;
    size_t *sorted; /* open numbers, the largest probability first */
    size_t *alpha;  /* alpha[k], n <= k <= N */
    uint64_t *rest; /* X(0), ..., X(N), `words` each */
} steps;

typedef struct unit {
    const uint64_t *pi;
    size_t number, words;
} unit;

static int largest_first(const void *x, const void *y)
{
    const unit *a = x, *b = y;
    int order = tmi_wide_compare(b->pi, a->pi, a->words);
    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static const uint64_t *rest(const steps *s, size_t alpha) { return s->rest + alpha * s->pps->pi.words; }

static const uint64_t *size_of(const steps *s, size_t rank) { return tmi_open(s->pps, s->sorted[rank]); }

/* alpha(k) is the smallest a with (k - a) pi_(a) < X(a); it falls with k. */
static void find_full(steps *s)
{
    uint64_t product[TMI_COMMON_WORDS];
    size_t words = s->pps->pi.words, a = s->N;
    s->alpha[s->N] = s->N;
    for (size_t k = s->N; k-- > s->n;) {
        if (a > k) a = k;
        for (; a > 0; a--) {
            tmi_wide_mul(product, size_of(s, a - 1), k - (a - 1), words);
            if (tmi_wide_compare(product, rest(s, a - 1), words) >= 0) break;
        }
        s->alpha[k] = a;
    }
}

static void clear_steps(steps *s)
{
    tmi_free(s->sorted);
    tmi_free(s->alpha);
    tmi_free(s->rest);
}

static tamis_status make_steps(steps *s, const tmi_pps *pps, tamis_error *err)
{
    size_t N = pps->open_count, words = pps->pi.words;
    unit *units = tmi_alloc(N, sizeof *units);
    *s = (steps){.pps = pps, .n = (size_t)pps->size, .N = N};
    s->sorted = tmi_alloc(N, sizeof *s->sorted);
    s->alpha = tmi_alloc(N + 1, sizeof *s->alpha);
    s->rest = tmi_alloc((N + 1) * words, sizeof *s->rest);
    if (!units || !s->sorted || !s->alpha || !s->rest) {
        tmi_free(units);
        clear_steps(s);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < N; i++) units[i] = (unit){tmi_open(pps, i), i, words};
    qsort(units, N, sizeof *units, largest_first);
    for (size_t i = 0; i < N; i++) s->sorted[i] = units[i].number;
    tmi_free(units);
    for (size_t i = N; i-- > 0;) tmi_wide_add(s->rest + i * words, rest(s, i + 1), size_of(s, i), words);
    find_full(s);
    return TAMIS_OK;
}

/* r X(b) of a unit that is full at k+1 but not at k. */
static void special_mass(uint64_t *mass, const steps *s, size_t rank, size_t k)
{
    size_t words = s->pps->pi.words, b = s->alpha[k];
    tmi_wide_mul(mass, size_of(s, rank), k - b, words);
    tmi_wide_sub(mass, rest(s, b), mass, words);
}

/* ---- drawing ---- */

static tamis_status prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    (void)watch;
    steps *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    tamis_status status = make_steps(s, tmi_pps_of(design), err);
    if (status == TAMIS_OK) *tables = s;
    else tmi_free(s);
    return status;
}

static void dismiss(void *tables, const tamis_design *design)
{
    (void)design;
    clear_steps(tables);
    tmi_free(tables);
}

/* Puts one unit out: a rank that is no longer full, or one of the `left` others. The ranks that stay join them. */
static bool put_out(size_t *left, size_t *count, const steps *s, size_t k, tamis_rng *rng)
{
    size_t words = s->pps->pi.words, a = s->alpha[k + 1], b = s->alpha[k], out = SIZE_MAX;
    uint64_t u[TMI_COMMON_WORDS], mass[TMI_COMMON_WORDS], which;
    if (!tmi_uniform_wide(u, rest(s, b), words, rng)) return false;
    for (size_t rank = b; rank < a && out == SIZE_MAX; rank++) {
        special_mass(mass, s, rank, k);
        if (tmi_wide_compare(u, mass, words) < 0) out = rank;
        else tmi_wide_sub(u, u, mass, words);
    }
    if (out == SIZE_MAX) {
        if (!tmi_uniform(&which, *count, rng)) return false;
        left[which] = left[--*count];
    }
    for (size_t rank = b; rank < a; rank++)
        if (rank != out) left[(*count)++] = s->sorted[rank];
    return true;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    const steps *s = tables;
    size_t *left = tmi_alloc(s->N + 1, sizeof *left), count = 0;
    tamis_status status = TAMIS_OK;
    (void)watch;
    if (!left) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_pps_draw_certain(drawn, tmi_pps_of(design), err));
    for (size_t k = s->N; k-- > s->n;)
        if (!put_out(left, &count, s, k, rng)) TMI_TRY(tmi_bits_failed(err));
    for (size_t i = 0; i < count; i++) TMI_TRY(tmi_drawn_add(drawn, s->pps->open[left[i]], err));
done:
    if (left) tmi_wipe(left, (s->N + 1) * sizeof *left);
    tmi_free(left);
    return status;
}

/* ---- the probabilities of a step ---- */

/* r of the units that were not full before step k; 0 if there are none. */
static tamis_status ordinary(tamis_number **r, const steps *s, size_t k, tamis_error *err)
{
    size_t a = s->alpha[k + 1], b = s->alpha[k];
    tamis_number *share = NULL, *counts = NULL, *kept = NULL, *one = NULL;
    tamis_status status = TAMIS_OK;
    *r = NULL;
    if (k + 1 == a) return tmi_number_ratio(r, 0, 1, err);
    TMI_TRY(tmi_number_wide(&share, rest(s, a), rest(s, b), s->pps->pi.words, err));
    TMI_TRY(tmi_number_ratio(&counts, (int64_t)(k - b), (int64_t)(k + 1 - a), err));
    TMI_TRY(tmi_number_mul(&kept, share, counts, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(r, one, kept, err));
done:
    tamis_number_free(share);
    tamis_number_free(counts);
    tamis_number_free(kept);
    tamis_number_free(one);
    return status;
}

static tamis_status special(tamis_number **r, const steps *s, size_t rank, size_t k, tamis_error *err)
{
    uint64_t mass[TMI_COMMON_WORDS];
    special_mass(mass, s, rank, k);
    return tmi_number_wide(r, mass, rest(s, s->alpha[k]), s->pps->pi.words, err);
}

/* ---- the law ---- */

/* From the probability of a set of k+1 ranks to those of its subsets of k. */
static tamis_status eliminate(tamis_number **p, uint32_t set, const steps *s, size_t k, tamis_error *err)
{
    tamis_number *usual = NULL, *own = NULL, *term = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(ordinary(&usual, s, k, err));
    for (size_t rank = s->alpha[k]; rank < s->N; rank++) {
        if (!(set >> rank & 1)) continue;
        if (rank < s->alpha[k + 1]) TMI_TRY(special(&own, s, rank, k, err));
        TMI_TRY(tmi_number_mul(&term, p[set], own ? own : usual, err));
        tamis_number_free(own);
        own = NULL;
        TMI_TRY(tmi_sum_take(&p[set & ~(UINT32_C(1) << rank)], term, err));
    }
done:
    tamis_number_free(usual);
    tamis_number_free(own);
    return status;
}

static uint32_t units_of(const steps *s, uint32_t ranks)
{
    uint32_t set = 0;
    for (size_t rank = 0; rank < s->N; rank++)
        if (ranks >> rank & 1) set |= UINT32_C(1) << s->sorted[rank];
    return tmi_pps_units(s->pps, set);
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    steps s;
    tamis_number **p = NULL;
    size_t sets = (size_t)1 << tmi_pps_of(design)->open_count;
    tamis_status status = make_steps(&s, tmi_pps_of(design), err);
    if (status != TAMIS_OK) return status;
    if (!(p = tmi_alloc(sets, sizeof *p))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_ratio(&p[sets - 1], 1, 1, err));
    for (size_t i = sets; i-- > 0;) {
        uint32_t set = (uint32_t)i;
        size_t left = (size_t)__builtin_popcount(set);
        if (!p[i]) continue;
        if (left > s.n) {
            TMI_TRY(eliminate(p, set, &s, left - 1, err));
            tamis_number_free(p[i]);
        } else {
            status = tmi_sample_law_take_set(law, units_of(&s, set), p[i], err);
        }
        p[i] = NULL;
        if (status != TAMIS_OK) goto done;
    }
done:
    for (size_t i = 0; p && i < sets; i++) tamis_number_free(p[i]);
    tmi_free(p);
    clear_steps(&s);
    return status;
}

/* ---- pairs ---- */

typedef struct survival {
    tmi_ball *one, *two;  /* products of 1 - r and 1 - 2r over steps n, ..., k-1, for k = n, ..., N: index k - n */
    tamis_number **usual; /* r at step k: index k - n */
    tamis_number **own;   /* r of a rank at its own step */
    size_t *step;         /* the own step of a rank */
    size_t *rank;         /* of an open number */
} survival;

static void clear_survival(survival *v, const steps *s)
{
    size_t count = s->N - s->n;
    tmi_balls_free(v->one, count + 1);
    tmi_balls_free(v->two, count + 1);
    for (size_t i = 0; v->usual && i < count; i++) tamis_number_free(v->usual[i]);
    for (size_t i = 0; v->own && i < s->N; i++) tamis_number_free(v->own[i]);
    tmi_free(v->usual);
    tmi_free(v->own);
    tmi_free(v->step);
    tmi_free(v->rank);
}

/* z = x (1 - r - q), where r and q are exact, so that an impossible survival is exactly 0. */
static tamis_status survive(tmi_ball *z, const tmi_ball *x, const tamis_number *r, const tamis_number *q, long bits,
                            tamis_error *err)
{
    tamis_number *sum = NULL, *one = NULL, *kept = NULL;
    tamis_status status = TAMIS_OK;
    tmi_ball factor;
    tmi_ball_init(&factor);
    TMI_TRY(tmi_number_add(&sum, r, q, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&kept, one, sum, err));
    tmi_ball_set_number(&factor, kept, bits);
    tmi_ball_mul(z, x, &factor, bits);
done:
    tamis_number_free(sum);
    tamis_number_free(one);
    tamis_number_free(kept);
    tmi_ball_clear(&factor);
    return status;
}

static tamis_status make_survival(survival *v, const steps *s, const tamis_number *zero, long bits, tamis_error *err)
{
    size_t count = s->N - s->n;
    tamis_status status = TAMIS_OK;
    *v = (survival){.one = tmi_balls_new(count + 1), .two = tmi_balls_new(count + 1)};
    v->usual = tmi_alloc(count, sizeof *v->usual);
    v->own = tmi_alloc(s->N, sizeof *v->own);
    v->step = tmi_alloc(s->N, sizeof *v->step);
    v->rank = tmi_alloc(s->N, sizeof *v->rank);
    if (!v->one || !v->two || !v->usual || !v->own || !v->step || !v->rank) TMI_TRY(tmi_fail_memory(err));
    for (size_t rank = 0; rank < s->N; rank++) v->rank[s->sorted[rank]] = rank;
    tmi_ball_set_int(&v->one[0], 1);
    tmi_ball_set_int(&v->two[0], 1);
    for (size_t k = s->n; k < s->N; k++) {
        size_t i = k - s->n;
        TMI_TRY(ordinary(&v->usual[i], s, k, err));
        TMI_TRY(survive(&v->one[i + 1], &v->one[i], v->usual[i], zero, bits, err));
        TMI_TRY(survive(&v->two[i + 1], &v->two[i], v->usual[i], v->usual[i], bits, err));
        for (size_t rank = s->alpha[k]; rank < s->alpha[k + 1]; rank++) {
            v->step[rank] = k;
            TMI_TRY(special(&v->own[rank], s, rank, k, err));
        }
    }
done:
    return status;
}

/* The own step of i comes first (or at the same time): it is i <= j as a rank or the steps are equal. */
static tamis_status pair_of(tmi_ball *p, const survival *v, const steps *s, size_t i, size_t j, const tamis_number *zero,
                            long bits, tamis_error *err)
{
    size_t at_i = v->step[i] - s->n, at_j = v->step[j] - s->n;
    tamis_status status = TAMIS_OK;
    if (at_i == at_j) return survive(p, &v->two[at_i], v->own[i], v->own[j], bits, err);
    TMI_TRY(survive(p, &v->two[at_j], v->usual[at_j], v->own[j], bits, err));
    tmi_ball_mul(p, p, &v->one[at_i], bits);
    tmi_ball_div(p, p, &v->one[at_j + 1], bits);
    TMI_TRY(survive(p, p, v->own[i], zero, bits, err));
done:
    return status;
}

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits, tamis_error *err)
{
    steps s;
    survival v = {0};
    tamis_number *zero = NULL;
    tamis_status status = make_steps(&s, pps, err);
    if (status != TAMIS_OK) return status;
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(make_survival(&v, &s, zero, bits, err));
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            size_t x = v.rank[open[i]], y = v.rank[open[j]];
            bool x_first = v.step[x] >= v.step[y];
            TMI_TRY(pair_of(&pij[i * count + j], &v, &s, x_first ? x : y, x_first ? y : x, zero, bits, err));
        }
done:
    clear_survival(&v, &s);
    clear_steps(&s);
    tamis_number_free(zero);
    return status;
}

const tmi_pps_method tmi_tille = {{TMI_PPS_KIND("tille"), .law = law_of, .joint = tmi_pps_joint, .prepare = prepare,
                                   .dismiss = dismiss, .draw = draw},
                                  .open_joint = open_joint,
                                  .reason = "Tille's elimination has no proved coupling"};
