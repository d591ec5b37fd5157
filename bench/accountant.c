/* The accountant: eps of a thousand different releases, certified. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tamis/tamis.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

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
        tamis_number_read(&one, "1", NULL);
        if (strcmp(kind, "laplace") == 0) {
            tamis_number_read(&scale, inverse, NULL);
            tamis_profile_laplace(&profile, scale, one, NULL);
        } else {
            tamis_number_read(&x, value, NULL);
            if (strcmp(kind, "gaussian") == 0) tamis_profile_gaussian(&profile, x, one, NULL);
            else tamis_profile_randomized_response(&profile, x, NULL);
        }
        break;
    }
    tamis_number_free(x);
    tamis_number_free(one);
    tamis_number_free(scale);
    return profile;
}

enum { MOST = 2000 };

int main(int argc, char **argv)
{
    static const char *const deltas[] = {"1e-6", "1e-18"};
    static tamis_profile *list[MOST];
    size_t count = 0;
    FILE *file = fopen(argc > 2 ? argv[2] : "accountant_mechanisms.json", "r");
    if (!file) return 1;
    while (count < MOST && (list[count] = read_release(file))) count++;
    fclose(file);
    double best = 1e9, began = now();
    tamis_bound eps[2];
    while (now() - began < 1) {
        double start = now();
        tamis_profile *all = NULL;
        if (tamis_profile_compose(&all, (const tamis_profile *const *)list, NULL, count, NULL)) return 1;
        for (int i = 0; i < 2; i++) {
            tamis_number *delta = NULL;
            tamis_error err;
            tamis_number_read(&delta, deltas[i], NULL);
            if (tamis_profile_epsilon(&eps[i], all, delta, &err)) {
                fprintf(stderr, "%s\n", err.message);
                return 1;
            }
            tamis_number_free(delta);
        }
        tamis_profile_free(all);
        double taken = now() - start;
        if (taken < best) best = taken;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"what\": \"compose 1000 releases\", \"n\": 1, \"seconds\": %.9f, \"lower\": [%.17g, %.17g], "
           "\"upper\": [%.17g, %.17g], \"bytes\": %ld}\n",
           best, eps[0].lower, eps[1].lower, eps[0].upper, eps[1].upper, usage.ru_maxrss * 1024);
    for (size_t i = 0; i < count; i++) tamis_profile_free(list[i]);
    tamis_thread_done();
    return 0;
}
