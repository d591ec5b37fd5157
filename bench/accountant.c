/* The accountant: eps of a thousand different releases, certified. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tamis/experimental.h>

#include "timing.h"

/* The next release of the list, which is one a line: {"kind": "laplace", "epsilon": 0.02}. */
static tamis_profile *read_release(FILE *file)
{
    char line[256], kind[64], name[64], value[64];
    tamis_number *x = NULL, *one = NULL, *scale = NULL;
    tamis_profile *profile = NULL;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "{\"kind\": \"%63[a-z_]\", \"%63[a-z]\": %63[0-9.e-]", kind, name, value) != 3) continue;
        char inverse[80];
        snprintf(inverse, sizeof inverse, "1/%s", value);
        must(tamis_number_read(&one, "1", NULL));
        if (strcmp(kind, "laplace") == 0) {
            must(tamis_number_read(&scale, inverse, NULL));
            must(tamis_profile_laplace(&profile, scale, one, NULL));
        } else {
            must(tamis_number_read(&x, value, NULL));
            if (strcmp(kind, "gaussian") == 0) must(tamis_profile_gaussian(&profile, x, one, NULL));
            else must(tamis_profile_randomized_response(&profile, x, NULL));
        }
        break;
    }
    tamis_number_free(x);
    tamis_number_free(one);
    tamis_number_free(scale);
    return profile;
}

enum { MOST = 2000 };

static double largest_width(const tamis_bound *eps, int count)
{
    double width = 0;
    for (int i = 0; i < count; i++)
        if ((eps[i].upper - eps[i].lower) / eps[i].upper > width) width = (eps[i].upper - eps[i].lower) / eps[i].upper;
    return width;
}

static int ask(tamis_bound *eps, const tamis_profile *profile, const tamis_outsider *outsider, const char *delta)
{
    tamis_number *x = NULL;
    tamis_error err;
    must(tamis_number_read(&x, delta, NULL));
    tamis_status status = profile ? tamis_profile_epsilon(eps, profile, x, &err) : tamis_outsider_epsilon(eps, outsider, x, &err);
    if (status != TAMIS_OK) fprintf(stderr, "%s\n", err.message);
    tamis_number_free(x);
    return status != TAMIS_OK;
}

/* Five independent samples at the rate 1/10, each with Gaussian noise; and discrete noise with a given pair of laws, at 1/2. */
static int mixed(void)
{
    tamis_number *tenth = NULL, *half = NULL, *two = NULL, *one = NULL, *five = NULL;
    tamis_profile *gaussian = NULL, *discrete = NULL, *rr = NULL, *both = NULL;
    tamis_outsider *first = NULL, *second = NULL, *all = NULL;
    tamis_bound eps;
    must(tamis_number_read(&tenth, "1/10", NULL));
    must(tamis_number_read(&half, "1/2", NULL));
    must(tamis_number_read(&one, "1", NULL));
    must(tamis_number_read(&two, "2", NULL));
    must(tamis_number_read(&five, "5", NULL));
    tamis_number *much = NULL, *little = NULL;
    must(tamis_number_read(&much, "3/4", NULL));
    must(tamis_number_read(&little, "1/4", NULL));
    const tamis_number *p[] = {much, little}, *q[] = {little, much};
    int failed = tamis_profile_gaussian(&gaussian, two, one, NULL) || tamis_profile_discrete_gaussian(&discrete, five, 1, NULL) ||
                 tamis_profile_pair(&rr, p, q, 2, NULL) || tamis_outsider_new(&first, gaussian, tenth, NULL);
    const tamis_profile *list[] = {discrete, rr};
    failed = failed || tamis_profile_compose(&both, list, NULL, 2, NULL) || tamis_outsider_new(&second, both, half, NULL);
    const tamis_outsider *samples[] = {first, first, first, first, first, second};
    static timing t;
    for (timing_begin(&t, 0); !failed && timing_goes_on(&t);) {
        double start = now();
        /* anew: it keeps what it has computed */
        failed = tamis_outsider_independent(&all, samples, 6, NULL) || ask(&eps, NULL, all, "1e-6");
        timing_add(&t, now() - start);
        tamis_outsider_free(all);
        all = NULL;
    }
    if (!failed)
        printf("{\"what\": \"compose amplified, discrete and given laws\", \"n\": 1, \"seconds\": %.9f, \"width\": %.3g, "
               "\"lower\": %.17g, \"upper\": %.17g}\n",
               timing_median(&t), largest_width(&eps, 1), eps.lower, eps.upper);
    tamis_outsider *outsiders[] = {first, second};
    for (int i = 0; i < 2; i++) tamis_outsider_free(outsiders[i]);
    tamis_profile *profiles[] = {gaussian, discrete, rr, both};
    for (int i = 0; i < 4; i++) tamis_profile_free(profiles[i]);
    tamis_number *numbers[] = {tenth, half, two, one, five, much, little};
    for (int i = 0; i < 7; i++) tamis_number_free(numbers[i]);
    return failed;
}

int main(int argc, char **argv)
{
    static const char *const deltas[] = {"1e-6", "1e-18"};
    static tamis_profile *list[MOST];
    size_t count = 0;
    FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: bench-accountant FOLDER accountant_mechanisms.json\n");
        return 2;
    }
    while (count < MOST && (list[count] = read_release(file))) count++;
    fclose(file);
    static timing t;
    tamis_bound eps[2];
    for (timing_begin(&t, 1); timing_goes_on(&t);) {
        double start = now();
        tamis_profile *all = NULL;
        if (tamis_profile_compose(&all, (const tamis_profile *const *)list, NULL, count, NULL)) return 1;
        for (int i = 0; i < 2; i++)
            if (ask(&eps[i], all, NULL, deltas[i])) return 1;
        tamis_profile_free(all);
        timing_add(&t, now() - start);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"what\": \"compose 1000 releases\", \"n\": 1, \"seconds\": %.9f, \"width\": %.3g, \"lower\": [%.17g, %.17g], "
           "\"upper\": [%.17g, %.17g], \"bytes\": %ld}\n",
           timing_median(&t), largest_width(eps, 2), eps[0].lower, eps[1].lower, eps[0].upper, eps[1].upper,
           usage.ru_maxrss * 1024);
    for (size_t i = 0; i < count; i++) tamis_profile_free(list[i]);
    int failed = mixed();
    tamis_thread_done();
    return failed;
}
