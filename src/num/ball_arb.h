/* The two names of a ball; for num/ alone. */
#ifndef TMI_NUM_BALL_ARB_H
#define TMI_NUM_BALL_ARB_H

#if __has_include(<flint/arb.h>)
#include <flint/arb.h> /* FLINT 3 */
#else
#include <arb.h>
#endif

#include "num/ball.h"

static inline arb_ptr tmi_arb(tmi_ball *x) { return (arb_ptr)(void *)x; }

static inline arb_srcptr tmi_arb_const(const tmi_ball *x) { return (arb_srcptr)(const void *)x; }

#endif
