/* What the samplers are held against: certified masses from num/, binomial counts that cannot be chance, and a walk
 * through every string of random bits. */
#ifndef TESTS_RNG_LAW_H
#define TESTS_RNG_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tamis/experimental/bound.h>

/* P(X = k) for scale or variance given as text; sums of balls, written without a look at src/rng. */
tamis_bound laplace_mass(const char *scale, int64_t k);
tamis_bound gaussian_mass(const char *variance, int64_t k);

/* Whether n trials of probability p may give this count. By Chernoff's bound a fair sampler is refused with
 * probability at most 2 exp(-CHANCE) = 8.5e-15 each time: a program that asks 10^4 times has a false-alarm rate below
 * 10^-10. */
#define CHANCE 32.4
bool may_be_chance(uint64_t count, uint64_t n, tamis_bound p);

/* ---- every string of bits ---- */

#define TREE_DEPTH 40
#define TREE_SPAN 64

/* A sampler is run with every string of random digits up to a depth. Digits are taken eight for a byte, or one for a
 * plane: then all lanes of a bit-sliced sampler get the same digit. */
typedef struct tree {
    unsigned depth;
    size_t plane;                     /* takes of this many bytes are a plane; 0: no planes */
    uint64_t mass[2 * TREE_SPAN + 1]; /* of outcomes -TREE_SPAN, ..., TREE_SPAN, in units of 2^-depth */
    uint64_t elsewhere, undecided;
    /* the walk */
    uint8_t digits[TREE_DEPTH];
    unsigned known, used, wanted;
} tree;

/* Draws once: TAMIS_OK and the outcome, or TAMIS_SYSTEM if bits ran out. */
typedef tamis_status tree_draw(int64_t *outcome, void *context);

void tree_walk(tree *t, unsigned depth, size_t plane, tree_draw *draw, void *context);

/* Fails the test unless mass <= P(outcome) <= mass + undecided. */
void tree_check(const tree *t, int64_t outcome, tamis_bound p);

#endif
