/* tamis noise: exact integer noise for other programs. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Numbers drawn and written at a time: a few pages, so that a reader downstream never waits long. */
#define PIECE 8192

/* Sign, 19 digits, separator. */
#define LONGEST_NUMBER 21

/* Counts up to 2^63, read exactly as any other number: "1000", "1e3". */
static bool read_count(uint64_t *count, const char *text)
{
    tamis_number *number = NULL;
    char *digits = NULL;
    bool fine = tamis_number_read(&number, text, NULL) == TAMIS_OK;
    fine = fine && tamis_number_write(&digits, number, NULL) == TAMIS_OK;
    fine = fine && strlen(digits) <= 19 && strspn(digits, "0123456789") == strlen(digits);
    if (fine) *count = strtoull(digits, NULL, 10);
    tamis_free(digits);
    tamis_number_free(number);
    return fine && *count <= UINT64_C(1) << 63;
}

static char *put_number(char *at, int64_t value)
{
    char digits[20];
    size_t n = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do digits[n++] = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    if (value < 0) *at++ = '-';
    while (n > 0) *at++ = digits[--n];
    return at;
}

/* One piece as text: one number per line, or a part of a JSON list. */
static size_t write_text(char *bytes, const int64_t *numbers, size_t count, bool json, bool first)
{
    char *at = bytes;
    for (size_t i = 0; i < count; i++) {
        if (json && !(first && i == 0)) *at++ = ',';
        at = put_number(at, numbers[i]);
        if (!json) *at++ = '\n';
    }
    return (size_t)(at - bytes);
}

static tamis_status stream(uint64_t count, tamis_noise *noise, tamis_rng *rng, bool json, bool binary, tamis_error *err)
{
    static int64_t numbers[PIECE];
    static char text[PIECE * LONGEST_NUMBER];
    for (uint64_t done = 0; done < count && !ferror(stdout);) {
        size_t piece = count - done < PIECE ? (size_t)(count - done) : PIECE;
        tamis_status status = tamis_noise_draw(numbers, piece, noise, rng, err);
        if (status != TAMIS_OK) return status;
        if (binary) {
            for (size_t i = 0; i < piece; i++) numbers[i] = (int64_t)htole64((uint64_t)numbers[i]);
            fwrite(numbers, sizeof *numbers, piece, stdout);
        } else {
            fwrite(text, 1, write_text(text, numbers, piece, json, done == 0), stdout);
        }
        done += piece;
    }
    return TAMIS_OK;
}

static int run(const cli_call *call)
{
    tamis_error err = {0};
    tamis_number *scale = NULL;
    tamis_noise *noise = NULL;
    tamis_rng *rng = NULL;
    char *exact = NULL;
    uint64_t count = 0;
    const char *law = call->operands[0];
    bool binary = cli_value(call, "binary");
    int code;

    if (binary && call->json) return cli_wrong_usage(call->command, "give either --json or --binary, not both");
    if (!read_count(&count, cli_value(call, "count")))
        return cli_wrong_usage(call->command, "--count needs a whole number from 0 to 2^63, such as 1000");
    tamis_status status = tamis_number_read(&scale, cli_value(call, "scale"), &err);
    if (status == TAMIS_OK)
        status = (strcmp(law, "laplace") == 0    ? tamis_noise_laplace_new
                  : strcmp(law, "gaussian") == 0 ? tamis_noise_gaussian_new
                                                 : tamis_noise_normal_new)(&noise, scale, &err);
    if (status == TAMIS_INVALID) {
        bool named = strncmp(err.message, "scale:", 6) == 0;
        code = cli_wrong_usage(call->command, "--%s%s", named ? "" : "scale: ", err.message);
        goto done;
    }
    if (status == TAMIS_OK) status = tamis_rng_new(&rng, &err);
    if (status == TAMIS_OK) status = tamis_number_write(&exact, scale, &err);
    if (status == TAMIS_OK) cli_output_begins();
    if (status == TAMIS_OK && call->json)
        printf("{\"law\": \"%s\", \"scale\": \"%s\", \"count\": %llu, \"noise\": [", law, exact, (unsigned long long)count);
    if (status == TAMIS_OK) status = stream(count, noise, rng, call->json, binary, &err);
    if (status == TAMIS_OK && call->json) puts("]}");
    code = status == TAMIS_OK ? cli_finish_output() : cli_failed(&err, NULL);
done:
    tamis_free(exact);
    tamis_rng_free(rng);
    tamis_noise_free(noise);
    tamis_number_free(scale);
    return code;
}

const cli_command cli_command_noise = {
    .name = "noise",
    .purpose = "exact integer noise for other programs",
    .about = "Prints integers drawn from the discrete Laplace distribution, P(k) proportional to exp(-|k|/scale), from the "
             "discrete Gaussian distribution, P(k) proportional to exp(-k^2/(2 scale^2)), or from the normal distribution of "
             "this standard deviation, rounded to the nearest integer; one integer per line. The distribution is exact: the "
             "scale is read as a fraction, random bits come from the operating system's generator, and no floating-point number "
             "is involved. Rounded normal noise on integers has exactly the privacy of the continuous normal mechanism, also "
             "for many numbers together (`tamis privacy noise --gaussian`); the discrete Gaussian has not.\n\n"
             "The scale is between 1e-6 and 2^55 for laplace, 1e16 for the others. There is no seed: noise that can be "
             "reproduced protects nobody.",
    .operands = {{"laplace|gaussian|normal", .choices = "laplace gaussian normal", .needed = true, .help = "the distribution"}},
    .options = {{"scale", "P/Q", .needed = true, .help = "an exact number: 3, 0.5, 2e6 or 10/3"},
                {"count", "N", .needed = true, .help = "how many numbers, up to 2^63"},
                {"binary", .help = "little-endian 64-bit integers instead of lines"}},
    .examples = {{"tamis noise laplace --scale 10 --count 5", "five numbers from the discrete Laplace distribution"},
                 {"tamis noise gaussian --scale 10/3 --count 3 --json",
                  "three from the discrete Gaussian, with a standard deviation near 10/3"},
                 {"tamis noise normal --scale 10/3 --count 3", "three normal numbers, rounded"},
                 {"tamis noise laplace --scale 1e6 --count 6 --binary | od -A n -t d8",
                  "for a program that reads 64-bit integers"}},
    .run = run,
};
