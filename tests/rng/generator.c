/* The real door: this test links src/rng/generator.c, with the calls to the operating system and to libcrypto wrapped so
 * that they can be made to fail. */
#include "tests/test.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rng/bits.h"
#include "tests/base/memory_that_fails.h"

#define BUFFER 65536 /* as in door.c; a test below notices if it changes */

/* ---- wrapped calls ---- */

static int system_calls, fail_system_call, system_bytes_at_once; /* the how-manieth call to getrandom fails */
static int cipher_calls, fail_cipher_call;                       /* the same for libcrypto */
static uint8_t cipher_key[32];                                   /* that libcrypto has now */
static int fail_wipe_on_fork, fail_pages;
static uint8_t *asked_from, *asked_to; /* the bytes that a sequence of calls has filled, one after the other */

ssize_t __real_getrandom(void *bytes, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags);
int __real_madvise(void *pages, size_t n, int advice);
int __wrap_madvise(void *pages, size_t n, int advice);
void *__real_mmap64(void *at, size_t n, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int file, off_t offset);
int __real_EVP_EncryptInit_ex(EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const uint8_t *, const uint8_t *);
int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const uint8_t *, const uint8_t *);
int __real_EVP_EncryptUpdate(EVP_CIPHER_CTX *, uint8_t *, int *, const uint8_t *, int);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *, uint8_t *, int *, const uint8_t *, int);
EVP_CIPHER_CTX *__real_EVP_CIPHER_CTX_new(void);
EVP_CIPHER_CTX *__wrap_EVP_CIPHER_CTX_new(void);

ssize_t __wrap_getrandom(void *bytes, size_t n, unsigned flags)
{
    system_calls++;
    if (fail_system_call && --fail_system_call == 0) {
        errno = EIO;
        return -1;
    }
    if (system_bytes_at_once && n > (size_t)system_bytes_at_once) n = (size_t)system_bytes_at_once;
    if (system_bytes_at_once && system_calls % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (bytes != asked_to) asked_from = bytes;
    asked_to = (uint8_t *)bytes + n;
    return __real_getrandom(bytes, n, flags);
}

int __wrap_madvise(void *pages, size_t n, int advice)
{
    if (fail_wipe_on_fork && advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    return __real_madvise(pages, n, advice);
}

void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int file, off_t offset)
{
    return fail_pages ? MAP_FAILED : __real_mmap64(at, n, protection, flags, file, offset);
}

static int cipher_fails(void)
{
    cipher_calls++;
    return fail_cipher_call && --fail_cipher_call == 0;
}

int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *cipher, ENGINE *engine, const uint8_t *key,
                              const uint8_t *counter)
{
    if (cipher_fails()) return 0;
    if (key) memcpy(cipher_key, key, sizeof cipher_key);
    return __real_EVP_EncryptInit_ex(c, cipher, engine, key, counter);
}

int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, uint8_t *out, int *length, const uint8_t *in, int n)
{
    static const uint8_t zeros[sizeof cipher_key];
    if (memcmp(cipher_key, zeros, sizeof zeros) == 0) return 0; /* never a byte without a key */
    return cipher_fails() ? 0 : __real_EVP_EncryptUpdate(c, out, length, in, n);
}

EVP_CIPHER_CTX *__wrap_EVP_CIPHER_CTX_new(void) { return cipher_fails() ? NULL : __real_EVP_CIPHER_CTX_new(); }

/* ---- helpers ---- */

#define SOME 32

static tamis_rng *new_rng(void)
{
    tamis_rng *rng;
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    return rng;
}

static void take(uint8_t *copy, tamis_rng *rng)
{
    const uint8_t *bytes = tmi_bits_take(rng, SOME);
    assert_non_null(bytes);
    memcpy(copy, bytes, SOME);
}

/* Runs `take` in a child (after a fork of that child again if `grandchild`) and brings the bytes back. */
static void take_in_child(uint8_t *copy, tamis_rng *rng, bool grandchild)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (grandchild && (child = fork()) > 0) {
            waitpid(child, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        const uint8_t *bytes = tmi_bits_take(rng, SOME);
        _exit(bytes && write(ends[1], bytes, SOME) == SOME ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(ends[0], copy, SOME), SOME);
    close(ends[0]);
    close(ends[1]);
}

static void all_different(uint8_t (*copies)[SOME], size_t n)
{
    static const uint8_t zeros[SOME];
    for (size_t i = 0; i < n; i++) {
        assert_memory_not_equal(copies[i], zeros, SOME);
        for (size_t j = 0; j < i; j++) assert_memory_not_equal(copies[i], copies[j], SOME);
    }
}

/* ---- tests ---- */

static void gives_different_bits(void **state)
{
    uint8_t copies[6][SOME];
    (void)state;
    tamis_rng *a = new_rng(), *b = new_rng();
    for (int i = 0; i < 3; i++) {
        take(copies[2 * i], a);
        take(copies[2 * i + 1], b);
    }
    all_different(copies, 6);
    tamis_rng_free(a);
    tamis_rng_free(b);
    tamis_rng_free(NULL);
}

/* Fork before the first take, after some, in the child again: nobody repeats anybody's bits. */
static void children_get_bits_of_their_own(void **state)
{
    uint8_t copies[9][SOME];
    (void)state;
    tamis_rng *rng = new_rng();
    take_in_child(copies[0], rng, false);
    take_in_child(copies[1], rng, false);
    take(copies[2], rng);
    take_in_child(copies[3], rng, false);
    take_in_child(copies[4], rng, false);
    take_in_child(copies[5], rng, true);
    take_in_child(copies[6], rng, true);
    take(copies[7], rng);
    take(copies[8], rng);
    all_different(copies, 9);
    tamis_rng_free(rng);
}

/* What a program sees: the same law and generator used on both sides of a fork. */
static void noise_differs_after_fork(void **state)
{
    tamis_number *scale;
    tamis_noise *noise;
    int64_t mine[SOME], theirs[2][SOME];
    (void)state;
    tamis_rng *rng = new_rng();
    assert_int_equal(tamis_number_read(&scale, "1e6", NULL), TAMIS_OK);
    assert_int_equal(tamis_noise_laplace_new(&noise, scale, NULL), TAMIS_OK);
    assert_int_equal(tamis_noise_draw(mine, SOME, noise, rng, NULL), TAMIS_OK);
    for (int i = 0; i < 2; i++) {
        int ends[2], status;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            int64_t values[SOME];
            int good = tamis_noise_draw(values, SOME, noise, rng, NULL) == TAMIS_OK;
            _exit(good && write(ends[1], values, sizeof values) == sizeof values ? 0 : 1);
        }
        waitpid(child, &status, 0);
        assert_int_equal(read(ends[0], theirs[i], sizeof theirs[i]), sizeof theirs[i]);
        close(ends[0]);
        close(ends[1]);
    }
    assert_int_equal(tamis_noise_draw(mine, SOME, noise, rng, NULL), TAMIS_OK);
    assert_memory_not_equal(theirs[0], theirs[1], sizeof mine);
    assert_memory_not_equal(theirs[0], mine, sizeof mine);
    assert_memory_not_equal(theirs[1], mine, sizeof mine);
    tamis_noise_free(noise);
    tamis_number_free(scale);
    tamis_rng_free(rng);
}

static void wipes_what_was_used(void **state)
{
    static const uint8_t zeros[SOME];
    (void)state;
    tamis_rng *rng = new_rng();
    const uint8_t *first = tmi_bits_take(rng, SOME), *second = tmi_bits_take(rng, SOME);
    assert_memory_not_equal(first, zeros, SOME);
    tmi_bits_done(rng);
    assert_memory_equal(first, zeros, SOME);
    assert_memory_equal(second, zeros, SOME);
    const uint8_t *third = tmi_bits_take(rng, SOME);
    assert_memory_not_equal(third, zeros, SOME);
    /* the key that made these bytes, and the next one, are not in front of them */
    assert_memory_equal(first - 48, zeros, SOME);
    tamis_rng_free(rng);
}

/* libcrypto's memory is neither locked nor wiped on fork: it holds no key of ours between two fills. */
static void lends_its_key_for_one_fill(void **state)
{
    static const uint8_t zeros[sizeof cipher_key];
    (void)state;
    memset(cipher_key, 1, sizeof cipher_key);
    tamis_rng *rng = new_rng();
    for (int i = 0; i < 300 * (BUFFER / TMI_TAKE); i++) { /* beyond a reseeding */
        assert_non_null(tmi_bits_take(rng, TMI_TAKE));
        assert_memory_equal(cipher_key, zeros, sizeof zeros);
    }
    tamis_rng_free(rng);
}

static void asks_the_system_again(void **state)
{
    (void)state;
    tamis_rng *rng = new_rng();
    int at_start = system_calls;
    for (int i = 0; i < 300 * (BUFFER / TMI_TAKE); i++) assert_non_null(tmi_bits_take(rng, TMI_TAKE));
    assert_int_equal(system_calls, at_start + 1);
    tamis_rng_free(rng);
}

/* Each bit of each place of the buffer is fair: off by one bit or byte anywhere would leave one fixed. 600 buffers,
 * each place counted over them: a fair place is outside 300 +- 110 with probability below 2 exp(-2 * 110^2 / 600) =
 * 6e-18; with 65488 * 8 places the false-alarm rate is below 4e-12. */
static void every_bit_is_random(void **state)
{
    enum { runs = 600, used = BUFFER - 48 };
    (void)state;
    tamis_rng *rng = new_rng();
    uint16_t *ones = calloc(used * 8, sizeof *ones);
    for (int run = 0; run < runs; run++)
        for (int at = 0; at < used; at += 8) {
            const uint8_t *bytes = tmi_bits_take(rng, 8);
            for (int i = 0; i < 64; i++) ones[8 * at + i] = (uint16_t)(ones[8 * at + i] + (bytes[i / 8] >> i % 8 & 1));
        }
    for (int i = 0; i < used * 8; i++) assert_in_range(ones[i], runs / 2 - 110, runs / 2 + 110);
    free(ones);
    tamis_rng_free(rng);
}

static void survives_slow_system(void **state)
{
    (void)state;
    system_bytes_at_once = 5; /* and every other call is interrupted */
    tamis_rng *rng = new_rng();
    assert_int_equal(asked_to - asked_from, 48); /* key and counter are all from the system */
    uint8_t copies[2][SOME];
    take(copies[0], rng);
    take(copies[1], rng);
    all_different(copies, 2);
    system_bytes_at_once = 0;
    tamis_rng_free(rng);
}

/* Every call that can fail is made to fail, once: the generator is not made, or gives nothing more for ever. */
static void failures_are_errors_for_ever(void **state)
{
    tamis_rng *rng = (tamis_rng *)&rng;
    tamis_error err = {0};
    (void)state;
    fail_system_call = 1;
    assert_int_equal(tamis_rng_new(&rng, &err), TAMIS_SYSTEM);
    assert_null(rng);
    assert_non_null(strstr(err.message, "random"));
    fail_wipe_on_fork = 1;
    assert_int_equal(tamis_rng_new(&rng, &err), TAMIS_SYSTEM);
    assert_null(rng);
    fail_wipe_on_fork = 0;
    fail_pages = 1;
    assert_int_equal(tamis_rng_new(&rng, &err), TAMIS_SYSTEM);
    assert_null(rng);
    fail_pages = 0;
    for (int i = 1; i <= 2; i++) { /* context, cipher */
        fail_cipher_call = i;
        assert_int_equal(tamis_rng_new(&rng, &err), TAMIS_SYSTEM);
        assert_null(rng);
    }
    for (int i = 1; i <= 6; i++) { /* key, fill, key of zeros, and all again in the second buffer */
        rng = new_rng();
        fail_cipher_call = i;
        uint64_t x = 1;
        for (int draws = 0; draws < 2 * BUFFER / TMI_TAKE; draws++) (void)tmi_bits_take(rng, TMI_TAKE);
        assert_int_equal(fail_cipher_call, 0);
        for (int again = 0; again < 3; again++) {
            assert_null(tmi_bits_take(rng, 1));
            assert_int_equal(tamis_uniform(&x, 256, rng, &err), TAMIS_SYSTEM);
            assert_int_equal(x, 0);
        }
        tamis_rng_free(rng);
    }
    rng = new_rng();
    fail_system_call = 1; /* the first reseeding */
    for (int i = 0; i < 300 * (BUFFER / TMI_TAKE); i++) (void)tmi_bits_take(rng, TMI_TAKE);
    assert_int_equal(fail_system_call, 0);
    assert_null(tmi_bits_take(rng, 1));
    tamis_rng_free(rng);
    rng = new_rng();
    assert_null(tmi_bits_take(rng, TMI_TAKE + 1));
    tamis_rng_free(rng);
    assert_int_equal(tamis_rng_new(NULL, &err), TAMIS_INVALID);
}

/* A child whose own key cannot be had gets nothing: it does not go on with the parent's. */
static void child_without_key_fails(void **state)
{
    int status;
    (void)state;
    tamis_rng *rng = new_rng();
    assert_non_null(tmi_bits_take(rng, SOME));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fail_system_call = 1;
        _exit(tmi_bits_take(rng, SOME) == NULL && tmi_bits_take(rng, SOME) == NULL ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tamis_rng_free(rng);
}

static void survives_missing_memory(void **state)
{
    tamis_rng *rng;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_rng_new(&rng, NULL), assert_null(rng));
    tamis_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_different_bits),         cmocka_unit_test(children_get_bits_of_their_own),
        cmocka_unit_test(noise_differs_after_fork),     cmocka_unit_test(wipes_what_was_used),
        cmocka_unit_test(lends_its_key_for_one_fill),   cmocka_unit_test(asks_the_system_again),
        cmocka_unit_test(every_bit_is_random),          cmocka_unit_test(survives_slow_system),
        cmocka_unit_test(failures_are_errors_for_ever), cmocka_unit_test(child_without_key_fails),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
