#include "num/common.h"

#include "base/memory.h"
#include "num/ball_arb.h"
#include "num/number_gmp.h"

/* A few short decimals may make a million others long: 2^27 words are 1 GiB. */
#define ALL_WORDS ((size_t)1 << 27)

/* The denominator goes into `common` unless it grows beyond the limit. */
static bool denominator_of_all(mpz_t common, const tamis_number *const *x, size_t count)
{
    mpz_set_ui(common, 1);
    for (size_t i = 0; i < count; i++) {
        if (mpz_divisible_p(common, mpq_denref(x[i]->value))) continue;
        mpz_lcm(common, common, mpq_denref(x[i]->value));
        if (mpz_sizeinbase(common, 2) > 64 * (TMI_COMMON_WORDS - 2)) return false;
    }
    return true;
}

static void export(uint64_t *words, const mpz_t x)
{
    mpz_export(words, NULL, -1, sizeof *words, 0, 0, x); /* the words were zero */
}

tamis_status tmi_common_alloc(tmi_common *c, size_t count, size_t bits, tamis_error *err)
{
    for (size_t n = count + 1; n > 0; n >>= 1) bits++;
    *c = (tmi_common){.count = count, .words = (bits + 63) / 64};
    tamis_status status = TAMIS_OK;
    if (c->words > TMI_COMMON_WORDS || count > ALL_WORDS / c->words)
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the numbers need more than a gigabyte over a common denominator"));
    if (!(c->numerators = tmi_alloc(count * c->words, sizeof(uint64_t))) ||
        !(c->denominator = tmi_alloc(c->words, sizeof(uint64_t))))
        TMI_TRY(tmi_fail_memory(err));
done:
    if (status != TAMIS_OK) tmi_common_clear(c);
    return status;
}

static tamis_status fill(tmi_common *c, const mpz_t common, const tamis_number *const *x, tamis_error *err)
{
    mpz_t numerator;
    size_t bits = mpz_sizeinbase(common, 2);
    tamis_status status = TAMIS_OK;
    mpz_init(numerator);
    for (size_t i = 0; i < c->count; i++) { /* a number above 1 may be longer than the denominator */
        size_t more = mpz_sizeinbase(mpq_numref(x[i]->value), 2), less = mpz_sizeinbase(mpq_denref(x[i]->value), 2);
        size_t length = mpz_sizeinbase(common, 2) + more - less + 2;
        if (more >= less && length > bits) bits = length;
    }
    TMI_TRY(tmi_common_alloc(c, c->count, bits, err));
    export(c->denominator, common);
    for (size_t i = 0; i < c->count; i++) {
        mpz_divexact(numerator, common, mpq_denref(x[i]->value));
        mpz_mul(numerator, numerator, mpq_numref(x[i]->value));
        export(c->numerators + i * c->words, numerator);
    }
done:
    mpz_clear(numerator);
    return status;
}

tamis_status tmi_common_init(tmi_common *c, const tamis_number *const *x, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    mpz_t common;
    *c = (tmi_common){.count = count};
    mpz_init(common);
    if (!denominator_of_all(common, x, count))
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE,
                         "the numbers have no common denominator of at most %d bits: write them as "
                         "decimals, or with one denominator",
                         64 * (TMI_COMMON_WORDS - 2)));
    TMI_TRY(fill(c, common, x, err));
done:
    mpz_clear(common);
    if (status != TAMIS_OK) tmi_common_clear(c);
    return status;
}

void tmi_common_clear(tmi_common *c)
{
    tmi_free(c->numerators);
    tmi_free(c->denominator);
    *c = (tmi_common){0};
}

tamis_status tmi_number_wide(tamis_number **z, const uint64_t *x, const uint64_t *y, size_t words, tamis_error *err)
{
    *z = tmi_number_new();
    if (!*z) return tmi_fail_memory(err);
    mpz_import(mpq_numref((*z)->value), words, -1, sizeof *x, 0, 0, x);
    mpz_import(mpq_denref((*z)->value), words, -1, sizeof *y, 0, 0, y);
    mpq_canonicalize((*z)->value);
    return TAMIS_OK;
}

void tmi_ball_set_wide(tmi_ball *z, const uint64_t *x, const uint64_t *y, size_t words, long bits)
{
    fmpz_t integer;
    mpz_t limbs;
    arb_t divisor;
    arb_init(divisor);
    fmpz_init(integer);
    mpz_init(limbs);
    mpz_import(limbs, words, -1, sizeof *y, 0, 0, y);
    fmpz_set_mpz(integer, limbs);
    arb_set_fmpz(divisor, integer);
    mpz_import(limbs, words, -1, sizeof *x, 0, 0, x);
    fmpz_set_mpz(integer, limbs);
    arb_set_fmpz(tmi_arb(z), integer);
    arb_div(tmi_arb(z), tmi_arb(z), divisor, bits);
    mpz_clear(limbs);
    fmpz_clear(integer);
    arb_clear(divisor);
}
