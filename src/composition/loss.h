/* The loss of one release: what is known of its pair of laws, and its profile in balls.
 *
 * All profiles here are symmetric: both orders of the pair are covered, so that the profile at -eps follows from that at
 * eps, delta(-eps) = 1 - e^-eps (1 - delta(eps)). A loss never changes once it is made; several profiles may hold it.    */
#ifndef TMI_COMPOSITION_LOSS_H
#define TMI_COMPOSITION_LOSS_H

#include <stdatomic.h>
#include <tamis/experimental/profile.h>

#include "num/ball.h"
#include "num/number.h"

typedef enum tmi_loss_kind {
    TMI_LOSS_CLAIM,             /* a = eps, b = delta; randomized response is a claim with delta 0 */
    TMI_LOSS_LAPLACE,           /* a = sensitivity / scale */
    TMI_LOSS_GAUSSIAN,          /* a = (sensitivity / scale)^2 */
    TMI_LOSS_DISCRETE_LAPLACE,  /* a = scale, step = sensitivity */
    TMI_LOSS_DISCRETE_GAUSSIAN, /* a = scale^2, step = sensitivity */
    TMI_LOSS_ZCDP,              /* a = rho */
    TMI_LOSS_CURVE              /* only the profile is known */
} tmi_loss_kind;

/* A profile that is found in some way of its own: `open` gives the evaluator to it, `free` gets `self`. */
struct tmi_evaluator;

typedef struct tmi_curve {
    tamis_status (*open)(struct tmi_evaluator *evaluator, const void *self, tamis_error *err);
    void (*free)(void *self);
} tmi_curve;

typedef struct tmi_loss {
    atomic_size_t owners;
    tmi_loss_kind kind;
    tamis_number *a, *b;
    int64_t step;
    const tmi_curve *curve;
    void *self;
} tmi_loss;

/* Each gives a loss with one owner; NULL on failure. */
tamis_status tmi_loss_new(tmi_loss **loss, tmi_loss_kind kind, const tamis_number *a, const tamis_number *b, int64_t step,
                          tamis_error *err);
tamis_status tmi_loss_take_curve(tmi_loss **loss, const tmi_curve *curve, void *self, tamis_error *err); /* frees self on
                                                                                                            failure too */
tmi_loss *tmi_loss_share(tmi_loss *loss);
void tmi_loss_free(tmi_loss *loss); /* one owner less; NULL is fine */

/* An order of losses in which equal ones stand together. Two curves are equal only if they are the same one. */
int tmi_loss_compare(const tmi_loss *x, const tmi_loss *y);

/* Enclosures of a lower and an upper end of delta at eps >= 0; the same ball twice where the value is known exactly. Gaussian
 * losses, and the lower end of zCDP, which is that of one, also at eps < 0. Not for curves, which have evaluators. */
void tmi_loss_delta(tmi_ball *lower, tmi_ball *upper, const tmi_loss *loss, const tmi_ball *eps, long bits);

/* delta of a discrete loss by P(X <= k) - e^eps P(X <= k - D) at the best k; `f` gives this difference. */
typedef void tmi_set_difference(tmi_ball *z, const void *self, int64_t k, const tmi_ball *eps, long bits);
void tmi_loss_best_set(tmi_ball *z, const tmi_loss *loss, const tmi_ball *eps, tmi_set_difference *f, const void *self,
                       long bits);

bool tmi_loss_is_exact(const tmi_loss *loss);
bool tmi_loss_is_discrete(const tmi_loss *loss); /* all its losses are multiples of one rational number */

#endif
