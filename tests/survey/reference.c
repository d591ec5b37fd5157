/* Inclusion probabilities and laws against R: tests/survey/inclusion.json says where its numbers come from. */
#include "tests/test.h"

#include <jansson.h>
#include <math.h>

#include "tests/survey/frames.h"

#define UNITS 300

typedef struct population {
    tamis_number *sizes[UNITS], *pi[UNITS];
    size_t count;
} population;

static bool is_near(tamis_bound x, double reference)
{
    return fabs(x.lower - reference) <= 1e-9 * fabs(reference) + 1e-14 &&
           fabs(x.upper - reference) <= 1e-9 * fabs(reference) + 1e-14;
}

static void probabilities(population *p, json_t *json, const char *name)
{
    json_t *sizes = json_object_get(json, "sizes"), *pik = json_object_get(json, "pik");
    p->count = json_array_size(sizes);
    assert_true(p->count <= UNITS);
    for (size_t i = 0; i < p->count; i++)
        assert_int_equal(tamis_number_read(&p->sizes[i], json_string_value(json_array_get(sizes, i)), NULL), TAMIS_OK);
    int64_t n = json_integer_value(json_object_get(json, "n"));
    tamis_error err = {0};
    if (tamis_pps_probabilities(p->pi, (const tamis_number *const *)p->sizes, p->count, n, &err) != TAMIS_OK)
        fail_msg("%s: %s", name, err.message);
    for (size_t i = 0; i < p->count; i++) {
        tamis_bound bound = {tmi_number_down(p->pi[i]), tmi_number_up(p->pi[i])};
        if (!is_near(bound, json_number_value(json_array_get(pik, i)))) fail_msg("%s: pi of unit %zu", name, i);
    }
}

static void joint_matches(const population *p, const char *method, json_t *matrices, const char *name)
{
    tamis_design *design = NULL;
    tamis_bound *pij = calloc(p->count * p->count, sizeof *pij);
    json_t *matrix;
    size_t which;
    assert_int_equal(tamis_design_pps(&design, method_named(method), (const tamis_number *const *)p->pi, p->count, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_inclusion_joint(pij, design, NULL, p->count, NULL), TAMIS_OK);
    json_array_foreach (matrices, which, matrix)
        for (size_t k = 0; k < p->count; k++)
            for (size_t l = 0; l < p->count; l++) {
                double reference = json_number_value(json_array_get(json_array_get(matrix, k), l));
                if (!is_near(pij[k * p->count + l], reference))
                    fail_msg("%s, %s: pi(%zu, %zu) is in [%.17g, %.17g], R says %.17g", name, method, k, l,
                             pij[k * p->count + l].lower, pij[k * p->count + l].upper, reference);
            }
    free(pij);
    tamis_design_free(design);
}

static void law_matches(const population *p, const char *method, json_t *samples, const char *name)
{
    const tamis_number *const *pi = (const tamis_number *const *)p->pi;
    tamis_design *design = NULL;
    tamis_law *law = NULL;
    size_t i, listed = 0;
    json_t *sample;
    if (strcmp(method, "poisson") == 0) assert_int_equal(tamis_design_poisson(&design, pi, p->count, NULL), TAMIS_OK);
    else assert_int_equal(tamis_design_pps(&design, method_named(method), pi, p->count, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    json_array_foreach (samples, i, sample) {
        const char *set = json_string_value(json_array_get(sample, 0));
        double reference = json_number_value(json_array_get(sample, 1));
        bool found = false;
        for (size_t j = 0; j < tamis_law_count(law) && !found; j++) {
            const uint8_t *units;
            char text[TAMIS_LAW_UNITS + 1] = {0};
            memset(text, '0', p->count);
            for (size_t k = tamis_law_sample(&units, law, j); k-- > 0;) text[units[k]] = '1';
            found = strcmp(text, set) == 0;
            if (found && !is_near(tamis_law_probability(law, j), reference)) fail_msg("%s, %s: p(%s)", name, method, set);
        }
        if (!found && reference > 1e-14) fail_msg("%s, %s: no sample %s", name, method, set);
        listed += found;
    }
    assert_int_equal(listed, tamis_law_count(law));
    tamis_law_free(law);
    tamis_design_free(design);
}

static void agrees_with_R(void **state)
{
    json_t *file = json_load_file(TESTS_FOLDER "/survey/inclusion.json", 0, NULL), *json, *reference;
    const char *name, *method;
    int compared = 0;
    (void)state;
    assert_non_null(file);
    json_object_foreach (json_object_get(file, "populations"), name, json) {
        population p = {0};
        probabilities(&p, json, name);
        json_object_foreach (json_object_get(json, "pikl"), method, reference) {
            joint_matches(&p, method, reference, name);
            compared++;
        }
        json_object_foreach (json_object_get(json, "design"), method, reference) {
            law_matches(&p, method, reference, name);
            compared++;
        }
        for (size_t i = 0; i < p.count; i++) {
            tamis_number_free(p.sizes[i]);
            tamis_number_free(p.pi[i]);
        }
    }
    json_decref(file);
    assert_int_equal(compared, 72);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_R)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
