/* exp(-rate n) for many integers n >= 0: n is written with digits of six bits, and each digit's power is computed once. */
#include "base/memory.h"
#include "mech/quantile/inverse.h"

#define DIGIT 6
#define PLACES 21 /* 126 bits */

struct tmi_decays {
    tmi_ball rate;
    tmi_ball power[PLACES][1 << DIGIT];
    bool known[PLACES][1 << DIGIT];
    long bits;
};

tmi_decays *tmi_decays_new(const tamis_number *rate, long bits)
{
    tmi_decays *p = tmi_alloc(1, sizeof *p);
    if (!p) return NULL;
    p->bits = bits;
    tmi_ball_init(&p->rate);
    tmi_ball_set_number(&p->rate, rate, bits + 64);
    return p;
}

void tmi_decays_free(tmi_decays *p)
{
    if (!p) return;
    for (size_t place = 0; place < PLACES; place++)
        for (size_t digit = 0; digit < 1 << DIGIT; digit++)
            if (p->known[place][digit]) tmi_ball_clear(&p->power[place][digit]);
    tmi_ball_clear(&p->rate);
    tmi_free(p);
}

static const tmi_ball *power_of(tmi_decays *p, size_t place, size_t digit)
{
    tmi_ball *z = &p->power[place][digit];
    if (p->known[place][digit]) return z;
    p->known[place][digit] = true;
    tmi_ball_init(z);
    tmi_ball_mul_int(z, &p->rate, -(int64_t)digit, p->bits + 64);
    tmi_ball_shift(z, z, (long)(DIGIT * place));
    tmi_ball_exp(z, z, p->bits);
    return z;
}

void tmi_decay(tmi_ball *z, tmi_decays *p, tmi_int128 loss)
{
    bool first = true;
    tmi_ball_set_int(z, 1);
    for (size_t place = 0; place < PLACES && loss > 0; place++, loss >>= DIGIT) {
        const size_t digit = (size_t)loss & ((1 << DIGIT) - 1);
        if (digit == 0) continue;
        if (first) tmi_ball_set(z, power_of(p, place, digit));
        else tmi_ball_mul(z, z, power_of(p, place, digit), p->bits);
        first = false;
    }
}
