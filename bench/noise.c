/* How fast exact noise is drawn on one core: one JSON object a line, the best of several runs. The last line is what
 * the processor can do at all, random bytes by AES-256-CTR, as every draw is made of them. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>
#include <time.h>

#define COUNT (1 << 16) /* short runs: some of many are not interrupted */
#define SECONDS 0.5 /* for each row */

typedef tamis_status law(tamis_noise **noise, const tamis_number *scale, tamis_error *err);

static const struct { const char *what; law *law; const char *scale; } rows[] = {
    {"discrete Laplace, scale 1", tamis_noise_laplace_new, "1"},
    {"discrete Laplace, scale 10", tamis_noise_laplace_new, "10"},
    {"discrete Laplace, scale 1000", tamis_noise_laplace_new, "1000"},
    {"discrete Laplace, scale 1e6", tamis_noise_laplace_new, "1e6"},
    {"discrete Laplace, scale 2^40", tamis_noise_laplace_new, "1099511627776"},
    {"discrete Gaussian, sigma 1", tamis_noise_gaussian_new, "1"},
    {"discrete Gaussian, sigma 10", tamis_noise_gaussian_new, "10"},
    {"discrete Gaussian, sigma 1000", tamis_noise_gaussian_new, "1000"},
    {"discrete Gaussian, sigma 1e6", tamis_noise_gaussian_new, "1e6"},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print(const char *what, double n, double seconds)
{
    printf("{\"what\": \"%s\", \"n\": %.0f, \"seconds\": %.9f, \"per_second\": %.0f}\n", what, n, seconds, n / seconds);
    fflush(stdout);
}

static int measure(size_t row, int64_t *out, tamis_rng *rng, tamis_error *err)
{
    tamis_number *scale = NULL;
    tamis_noise *noise = NULL;
    double best = 1e9, prepare = now();
    int failed = tamis_number_read(&scale, rows[row].scale, err) || rows[row].law(&noise, scale, err);
    prepare = now() - prepare;
    for (double start = now(); !failed && now() - start < SECONDS;) {
        double before = now();
        failed = tamis_noise_draw(out, COUNT, noise, rng, err) != TAMIS_OK;
        double taken = now() - before;
        if (taken < best) best = taken;
    }
    if (!failed) {
        char what[100];
        print(rows[row].what, COUNT, best);
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
    double best = 1e9;
    int length, failed = !cipher || EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), NULL, key, counter) != 1;
    for (double start = now(); !failed && now() - start < SECONDS;) {
        double before = now();
        for (int i = 0; i < blocks; i++) failed |= EVP_EncryptUpdate(cipher, bytes, &length, bytes, size) != 1;
        double taken = now() - before;
        if (taken < best) best = taken;
    }
    EVP_CIPHER_CTX_free(cipher);
    if (!failed) print("random bytes by AES-256-CTR", (double)size * blocks, best);
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
