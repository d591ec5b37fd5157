/* GMP aborts when it has no memory, so the size of every number is bounded before GMP sees it: at most 1000 digits and
 * exponent 1000 when read, hence below 2^6650 above and below; products of a few of them stay small.                */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/memory.h"
#include "num/number_gmp.h"

tamis_number *tmi_number_new(void)
{
    tamis_number *x = tmi_alloc(1, sizeof *x);
    if (x) mpq_init(x->value);
    return x;
}

void tamis_number_free(tamis_number *number)
{
    if (!number) return;
    mpq_clear(number->value);
    tmi_free(number);
}

void tmi_number_frees(tamis_number **x, ...)
{
    va_list more;
    va_start(more, x);
    for (; x; x = va_arg(more, tamis_number **)) {
        tamis_number_free(*x);
        *x = NULL;
    }
    va_end(more);
}

static void wipe_limbs(mpz_ptr z)
{
    if (z->_mp_alloc > 0) tmi_wipe(z->_mp_d, (size_t)z->_mp_alloc * sizeof *z->_mp_d);
}

void tmi_number_wipe(tamis_number *number)
{
    if (number) {
        wipe_limbs(mpq_numref(number->value));
        wipe_limbs(mpq_denref(number->value));
    }
    tamis_number_free(number);
}

/* ---- reading ---- */

typedef struct decimal {
    char digits[TAMIS_NUMBER_DIGITS + 1];
    size_t count;
    long exponent; /* value = digits * 10^exponent */
    bool negative;
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static tamis_status add_digit(decimal *d, char digit, tamis_error *err)
{
    if (d->count == 0 && digit == '0') return TAMIS_OK; /* leading zeros cost nothing */
    if (d->count == TAMIS_NUMBER_DIGITS)
        return tmi_fail(err, TAMIS_INVALID, "a number has more than %d digits", TAMIS_NUMBER_DIGITS);
    d->digits[d->count++] = digit;
    return TAMIS_OK;
}

/* One decimal from *at on; *at moves behind it. */
static tamis_status read_decimal(decimal *d, const char **at, tamis_error *err)
{
    const char *c = *at;
    tamis_status status = TAMIS_OK;
    bool any = false;
    size_t length = 0;
    *d = (decimal){0};
    if (*c == '+' || *c == '-') d->negative = *c++ == '-';
    for (; is_digit(*c); c++, any = true) {
        if (++length > 2 * TAMIS_NUMBER_DIGITS) return tmi_fail(err, TAMIS_INVALID, "a number is too long");
        TMI_TRY(add_digit(d, *c, err));
    }
    if (*c == '.') {
        for (c++; is_digit(*c); c++, any = true) {
            if (++length > 2 * TAMIS_NUMBER_DIGITS) return tmi_fail(err, TAMIS_INVALID, "a number is too long");
            TMI_TRY(add_digit(d, *c, err));
            d->exponent--;
        }
    }
    if (!any) return tmi_fail(err, TAMIS_INVALID, "not a number: write it as 12, 0.5, 1e-6 or 3/10");
    if (*c == 'e' || *c == 'E') {
        bool down = false;
        long e = 0;
        c++;
        if (*c == '+' || *c == '-') down = *c++ == '-';
        if (!is_digit(*c)) return tmi_fail(err, TAMIS_INVALID, "not a number: the exponent has no digits");
        for (; is_digit(*c); c++) {
            if (e <= TAMIS_NUMBER_EXPONENT) e = 10 * e + (*c - '0');
        }
        if (e > TAMIS_NUMBER_EXPONENT) return tmi_fail(err, TAMIS_INVALID, "an exponent is beyond %d", TAMIS_NUMBER_EXPONENT);
        d->exponent += down ? -e : e;
    }
    *at = c;
done:
    return status;
}

/* d as numerator and denominator. */
static tamis_status set_decimal(mpq_t value, const decimal *d, tamis_error *err)
{
    mpz_t power;
    if (d->count == 0) {
        mpq_set_ui(value, 0, 1);
        return TAMIS_OK;
    }
    if (mpz_set_str(mpq_numref(value), d->digits, 10) != 0)
        return tmi_fail(err, TAMIS_INVALID, "not a number"); /* cannot happen: digits only */
    if (d->negative) mpz_neg(mpq_numref(value), mpq_numref(value));
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)(d->exponent < 0 ? -d->exponent : d->exponent));
    if (d->exponent < 0) mpz_set(mpq_denref(value), power);
    else mpz_mul(mpq_numref(value), mpq_numref(value), power);
    mpz_clear(power);
    mpq_canonicalize(value);
    return TAMIS_OK;
}

tamis_status tamis_number_read(tamis_number **number, const char *text, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *x = NULL, *y = NULL;
    decimal d;
    if (!number) return tmi_fail(err, TAMIS_INVALID, "number: NULL");
    *number = NULL;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    if (!(x = tmi_number_new())) return tmi_fail_memory(err);
    TMI_TRY(read_decimal(&d, &text, err));
    TMI_TRY(set_decimal(x->value, &d, err));
    if (*text == '/') {
        text++;
        if (!(y = tmi_number_new())) TMI_TRY(tmi_fail_memory(err));
        TMI_TRY(read_decimal(&d, &text, err));
        TMI_TRY(set_decimal(y->value, &d, err));
        if (mpq_sgn(y->value) == 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a fraction has a denominator of zero"));
        mpq_div(x->value, x->value, y->value);
    }
    if (*text) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "not a number: something follows its last digit"));
    *number = x;
    x = NULL;
done:
    tmi_number_frees(&x, &y, NULL);
    return status;
}

tamis_status tamis_number_write(char **text, const tamis_number *number, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!number) return tmi_fail(err, TAMIS_INVALID, "number: NULL");
    size_t size = mpz_sizeinbase(mpq_numref(number->value), 10) + mpz_sizeinbase(mpq_denref(number->value), 10) + 3;
    char *bytes = tmi_alloc(size, 1);
    if (!bytes) return tmi_fail_memory(err);
    mpq_get_str(bytes, 10, number->value); /* writes no "/1" */
    *text = bytes;
    return TAMIS_OK;
}

/* ---- arithmetic ---- */

tamis_status tmi_number_ratio(tamis_number **z, int64_t p, int64_t q, tamis_error *err)
{
    *z = NULL;
    if (q == 0) return tmi_fail(err, TAMIS_INVALID, "a fraction has a denominator of zero");
    tamis_number *x = tmi_number_new();
    if (!x) return tmi_fail_memory(err);
    mpz_set_si(mpq_numref(x->value), p);
    mpz_set_si(mpq_denref(x->value), q);
    mpq_canonicalize(x->value);
    *z = x;
    return TAMIS_OK;
}

tamis_status tmi_number_double(tamis_number **z, double x, tamis_error *err)
{
    *z = NULL;
    if (!isfinite(x)) return tmi_fail(err, TAMIS_UNABLE, "a number without a known bound is needed exactly");
    *z = tmi_number_new();
    if (!*z) return tmi_fail_memory(err);
    mpq_set_d((*z)->value, x);
    return TAMIS_OK;
}

tamis_status tmi_number_int128(tamis_number **z, tmi_int128 x, tamis_error *err)
{
    *z = tmi_number_new();
    if (!*z) return tmi_fail_memory(err);
    mpz_ptr value = mpq_numref((*z)->value);
    mpz_set_si(value, (long)(x >> 64));
    mpz_mul_2exp(value, value, 64);
    mpz_add_ui(value, value, (unsigned long)x);
    return TAMIS_OK;
}

tamis_status tmi_number_copy(tamis_number **z, const tamis_number *x, tamis_error *err)
{
    *z = tmi_number_new();
    if (!*z) return tmi_fail_memory(err);
    mpq_set((*z)->value, x->value);
    return TAMIS_OK;
}

static tamis_status apply(tamis_number **z, void operation(mpq_ptr, mpq_srcptr, mpq_srcptr), const tamis_number *x,
                          const tamis_number *y, tamis_error *err)
{
    *z = tmi_number_new();
    if (!*z) return tmi_fail_memory(err);
    operation((*z)->value, x->value, y->value);
    return TAMIS_OK;
}

tamis_status tmi_number_add(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err)
{
    return apply(z, mpq_add, x, y, err);
}

tamis_status tmi_number_sub(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err)
{
    return apply(z, mpq_sub, x, y, err);
}

tamis_status tmi_number_mul(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err)
{
    return apply(z, mpq_mul, x, y, err);
}

tamis_status tmi_number_div(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err)
{
    *z = NULL;
    if (mpq_sgn(y->value) == 0) return tmi_fail(err, TAMIS_INVALID, "division by zero");
    return apply(z, mpq_div, x, y, err);
}

/* gcd(a/b, c/d) = gcd(a d, c b) / (b d). */
tamis_status tmi_number_gcd(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err)
{
    mpz_t product;
    *z = tmi_number_new();
    if (!*z) return tmi_fail_memory(err);
    mpz_init(product);
    mpz_mul(mpq_numref((*z)->value), mpq_numref(x->value), mpq_denref(y->value));
    mpz_mul(product, mpq_numref(y->value), mpq_denref(x->value));
    mpz_gcd(mpq_numref((*z)->value), mpq_numref((*z)->value), product);
    mpz_mul(mpq_denref((*z)->value), mpq_denref(x->value), mpq_denref(y->value));
    mpq_canonicalize((*z)->value);
    mpz_clear(product);
    return TAMIS_OK;
}

int tmi_number_sign(const tamis_number *x) { return mpq_sgn(x->value); }

int tmi_number_compare(const tamis_number *x, const tamis_number *y)
{
    int order = mpq_cmp(x->value, y->value);
    return (order > 0) - (order < 0);
}

int tmi_number_compare_int(const tamis_number *x, int64_t y)
{
    int order = mpq_cmp_si(x->value, y, 1);
    return (order > 0) - (order < 0);
}

bool tmi_number_is_integer(const tamis_number *x) { return mpz_cmp_ui(mpq_denref(x->value), 1) == 0; }

size_t tmi_number_bytes(const tamis_number *x)
{
    return sizeof *x + (mpz_size(mpq_numref(x->value)) + mpz_size(mpq_denref(x->value))) * sizeof(mp_limb_t);
}

static bool divide(int64_t *z, const tamis_number *x, void division(mpz_ptr, mpz_srcptr, mpz_srcptr))
{
    mpz_t quotient;
    mpz_init(quotient);
    division(quotient, mpq_numref(x->value), mpq_denref(x->value));
    bool fits = mpz_fits_slong_p(quotient) != 0;
    *z = fits ? mpz_get_si(quotient) : 0;
    mpz_clear(quotient);
    return fits;
}

bool tmi_number_floor(int64_t *z, const tamis_number *x) { return divide(z, x, mpz_fdiv_q); }

bool tmi_number_ceil(int64_t *z, const tamis_number *x) { return divide(z, x, mpz_cdiv_q); }

double tmi_number_nearest(const tamis_number *x)
{
    double lower = tmi_number_down(x), upper = tmi_number_up(x);
    if (lower == upper || isinf(upper)) return lower;
    mpq_t below, above;
    mpq_init(below);
    mpq_init(above);
    mpq_set_d(below, lower);
    mpq_set_d(above, upper);
    mpq_sub(below, x->value, below);
    mpq_sub(above, above, x->value);
    double d = mpq_cmp(below, above) <= 0 ? lower : upper;
    mpq_clear(below);
    mpq_clear(above);
    return d;
}
