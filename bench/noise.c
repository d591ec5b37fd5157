/* How fast exact noise is drawn on one core: one JSON object a line, timed by timing.h. The last line is what
 * the processor can do at all, random bytes by AES-256-CTR, as every draw is made of them. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental.h>

#include "timing.h"

#define COUNT (1 << 16)
#define SECONDS 0.5 /* for each row */

typedef tamis_status law(tamis_noise **noise, const tamis_number *scale, tamis_error *err);

static const struct {
    const char *what;
    law *law;
    const char *scale;
} rows[] = {
    {"discrete Laplace, scale 1", tamis_noise_laplace_new, "1"},
    {"discrete Laplace, scale 10", tamis_noise_laplace_new, "10"},
    {"discrete Laplace, scale 1000", tamis_noise_laplace_new, "1000"},
    {"discrete Laplace, scale 1e6", tamis_noise_laplace_new, "1e6"},
    {"discrete Laplace, scale 2^40", tamis_noise_laplace_new, "1099511627776"},
    {"discrete Gaussian, sigma 1", tamis_noise_gaussian_new, "1"},
    {"discrete Gaussian, sigma 10", tamis_noise_gaussian_new, "10"},
    {"discrete Gaussian, sigma 1000", tamis_noise_gaussian_new, "1000"},
    {"discrete Gaussian, sigma 1e6", tamis_noise_gaussian_new, "1e6"},
    {"rounded normal, sigma 1", tamis_noise_normal_new, "1"},
    {"rounded normal, sigma 10", tamis_noise_normal_new, "10"},
    {"rounded normal, sigma 1000", tamis_noise_normal_new, "1000"},
    {"rounded normal, sigma 1e6", tamis_noise_normal_new, "1e6"},
};

static void print(const char *what, double n, double seconds)
{
    printf("{\"what\": \"%s\", \"n\": %.0f, \"seconds\": %.9f, \"per_second\": %.0f}\n", what, n, seconds, n / seconds);
    fflush(stdout);
}

static int measure(size_t row, int64_t *out, tamis_rng *rng, tamis_error *err)
{
    tamis_number *scale = NULL;
    tamis_noise *noise = NULL;
    static timing t;
    double prepare = now();
    int failed = tamis_number_read(&scale, rows[row].scale, err) || rows[row].law(&noise, scale, err);
    prepare = now() - prepare;
    for (timing_begin(&t, SECONDS); !failed && timing_goes_on(&t);) {
        double before = now();
        failed = tamis_noise_draw(out, COUNT, noise, rng, err) != TAMIS_OK;
        timing_add(&t, now() - before);
    }
    if (!failed) {
        char what[100];
        print(rows[row].what, COUNT, timing_median(&t));
        snprintf(what, sizeof what, "%s, prepared", rows[row].what);
        print(what, 1, prepare);
    }
    tamis_noise_free(noise);
    tamis_number_free(scale);
    return failed;
}

static int measure_aes(uint8_t *bytes)
{
    enum { size = 65536, blocks = 256 };
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    uint8_t key[32] = {0}, counter[16] = {0};
    static timing t;
    int length, failed = !cipher || EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), NULL, key, counter) != 1;
    for (timing_begin(&t, SECONDS); !failed && timing_goes_on(&t);) {
        double before = now();
        for (int i = 0; i < blocks; i++) failed |= EVP_EncryptUpdate(cipher, bytes, &length, bytes, size) != 1;
        timing_add(&t, now() - before);
    }
    EVP_CIPHER_CTX_free(cipher);
    if (!failed) print("random bytes by AES-256-CTR", (double)size * blocks, timing_median(&t));
    return failed;
}

int main(void)
{
    tamis_error err = {.message = "no memory"};
    tamis_rng *rng = NULL;
    int64_t *out = calloc(COUNT, sizeof *out);
    int failed = !out || tamis_rng_new(&rng, &err);
    for (size_t row = 0; row < sizeof rows / sizeof *rows && !failed; row++) failed = measure(row, out, rng, &err);
    failed = failed || measure_aes((uint8_t *)out);
    if (failed) fprintf(stderr, "%s\n", err.message);
    tamis_rng_free(rng);
    free(out);
    tamis_thread_done();
    return failed;
}
