/* The embedded client by itself, compiled by tests/collect/clients.py as C and as C++, with random bytes of our own:
 *
 *     embedded exact         all that can be enumerated; prints "ok", or where it fails
 *     embedded chance N      how many of N ones, and of N zeros, lie with probabilities 1/3 and 1/5, with the system's randomness
 *     embedded known         40 permanent lies
 *     embedded pack          a report of four bits on stdout, packed */
#include "../../client/tamis_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
int __real_getentropy(void *bytes, size_t n);
int __wrap_getentropy(void *bytes, size_t n);
#ifdef __cplusplus
}
#endif

static uint64_t script[3];
static size_t script_length, script_at;
static int scripted;

/* The words of the script, then failure; or the system's. */
int __wrap_getentropy(void *bytes, size_t n)
{
    if (!scripted) return __real_getentropy(bytes, n);
    if (n != sizeof *script || script_at == script_length) return -1;
    memcpy(bytes, &script[script_at++], n);
    return 0;
}

#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("line %d: %s\n", __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

static const char *const one_name[] = {"a"};

static tamis_client_form form_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    tamis_client_form form;
    form.one.over = a;
    form.one.under = b;
    form.zero.over = c;
    form.zero.under = d;
    form.names = one_name;
    form.bits = 1;
    form.id = NULL;
    return form;
}

/* Whether a bit lies if U has these digits; -1: more digits are needed. */
static int lies(int bit, const tamis_client_form *form, uint64_t first, uint64_t second, size_t words)
{
    int report;
    script[0] = first;
    script[1] = second;
    script_length = words;
    script_at = 0;
    return tamis_client_report(&report, bit, form) ? report != bit : -1;
}

/* Around the edges: U is just below p, ties with it, is just above it; then the next word decides. */
static void edges(const tamis_client_form *form, int bit)
{
    tamis_client_lie p = bit ? form->one : form->zero;
    unsigned __int128 scaled = (unsigned __int128)p.over << 64;
    uint64_t digits = (uint64_t)(scaled / p.under), rest = (uint64_t)(scaled % p.under);
    uint64_t next = (uint64_t)(((unsigned __int128)rest << 64) / p.under);
    CHECK(digits == 0 || lies(bit, form, digits - 1, 0, 2) == 1);
    CHECK(lies(bit, form, digits + 1, 0, 2) == 0);
    CHECK(lies(bit, form, digits, 0, 1) == -1);
    CHECK(next == 0 || lies(bit, form, digits, next - 1, 2) == 1);
    CHECK(lies(bit, form, digits, next + 1, 2) == 0);
}

/* The 2^16 values of the first digits of U, all others 0. */
static void counts(const tamis_client_form *form, int bit)
{
    tamis_client_lie p = bit ? form->one : form->zero;
    uint64_t lied = 0, expected = 0;
    for (uint64_t u = 0; u < 65536; u++) {
        int l = lies(bit, form, u << 48, 1, 2);
        CHECK(l >= 0);
        lied += (uint64_t)l;
        expected += (unsigned __int128)u * p.under < (unsigned __int128)p.over << 16;
    }
    CHECK(lied + 1 >= expected && lied <= expected); /* a dyadic p ties once, and U is not below it then */
    if (p.under % 2 == 1) CHECK(lied == expected);
}

static void exact(void)
{
    static const uint64_t lists[][4] = {{1, 4, 1, 4},
                                        {1, 3, 1, 3},
                                        {1, 2, 1, 55},
                                        {3, 16, 5, 8},
                                        {2, 8, 10, 30},
                                        {1, 1000000007, 999, 1000},
                                        {6148914691236517205u, 18446744073709551615u, 1, 18446744073709551557u}};
    scripted = 1;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        tamis_client_form form = form_of(lists[i][0], lists[i][1], lists[i][2], lists[i][3]);
        for (int bit = 0; bit < 2; bit++) {
            edges(&form, bit);
            if (i < 6) counts(&form, bit);
        }
    }
    static const uint64_t bad[][4] = {
        {0, 1, 1, 4}, {1, 2, 1, 2},
        {1, 4, 0, 4}, {4, 4, 1, 4},
        {1, 3, 2, 3}, {5, 4, 1, 4},
        {1, 0, 1, 4}, {9223372036854775807u, 18446744073709551615u, 9223372036854775808u, 18446744073709551615u}};
    int report;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_client_form form = form_of(bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        script_at = 0;
        CHECK(!tamis_client_report(&report, 1, &form));
    }
    tamis_client_form form = form_of(1, 4, 1, 4);
    uint8_t secret[TAMIS_CLIENT_SECRET], zeros[TAMIS_CLIENT_SECRET] = {0};
    CHECK(!tamis_client_report(&report, 2, &form));
    CHECK(lies(1, &form, 0, 0, 0) == -1); /* no randomness */
    CHECK(!tamis_client_secret(secret) && memcmp(secret, zeros, sizeof secret) == 0);
    scripted = 0;
    CHECK(tamis_client_secret(secret) && memcmp(secret, zeros, sizeof secret) != 0);
    puts("ok");
}

static void known(void)
{
    char names[40][8];
    const char *list[40];
    uint8_t secret[TAMIS_CLIENT_SECRET];
    tamis_client_form form = form_of(1, 3, 1, 5);
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "q%d", i);
        list[i] = names[i];
    }
    for (int i = 0; i < TAMIS_CLIENT_SECRET; i++) secret[i] = (uint8_t)i;
    form.names = list;
    form.bits = 40;
    for (size_t i = 0; i < 40; i++) {
        int report;
        CHECK(tamis_client_report_again(&report, i % 2 != 0, &form, i, i % 2 ? "1" : "0", secret));
        putchar('0' + report);
    }
    putchar('\n');
}

static void pack(void)
{
    static const char *const names[] = {"smoker", "region=north", "region=south", "region=\xc3\xa9t\xc3\xa9"};
    static const uint8_t reports[] = {1, 0, 1, 0};
    uint8_t bytes[512];
    size_t size, needed;
    tamis_client_form form = form_of(2, 2000000000000u, 1, 1000000000000u);
    form.names = names;
    form.bits = 4;
    form.id = "client";
    CHECK(tamis_client_pack(bytes, sizeof bytes, &size, reports, "person 7", &form));
    CHECK(!tamis_client_pack(bytes, size - 1, &needed, reports, "person 7", &form) && needed == size);
    CHECK(!tamis_client_pack(bytes, sizeof bytes, &needed, reports, NULL, &form));
    CHECK(tamis_client_pack(bytes, sizeof bytes, &size, reports, "person 7", &form));
    fwrite(bytes, 1, size, stdout);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "exact") == 0) exact();
    if (strcmp(what, "known") == 0) known();
    if (strcmp(what, "pack") == 0) pack();
    if (strcmp(what, "chance") == 0 && argc > 2) {
        tamis_client_form form = form_of(1, 3, 1, 5);
        for (int bit = 1; bit >= 0; bit--) {
            long lied = 0, n = atol(argv[2]);
            for (long i = 0; i < n; i++) {
                int report;
                CHECK(tamis_client_report(&report, bit, &form));
                lied += report != bit;
            }
            printf("%ld\n", lied);
        }
    }
    return 0;
}
