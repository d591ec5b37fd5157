/* The audit of audit_trial.h for the engines that need no database, and what it is able to see. */
#include "tests/test.h"

#include "tests/release/audit_trial.h"

static const survey_engine engines[] = {{"arrays", in_arrays, 4, 1500, true},
                                        {"memory", in_memory, 2, 300, false},
                                        {"SPSS file", in_spss, 1, 100, false}};

static void laplace_noise_has_the_declared_law(void **state)
{
    (void)state;
    audit_all(TMI_NOT_GAUSSIAN, engines, 3);
}

static void gaussian_noise_has_the_declared_law(void **state)
{
    (void)state;
    audit_all(TMI_DISCRETE_GAUSSIAN, engines, 3);
}

static void normal_noise_has_the_declared_law(void **state)
{
    (void)state;
    audit_all(TMI_ROUNDED_NORMAL, engines, 3);
}

static void every_family_has_the_declared_noise(void **state)
{
    (void)state;
    audit_families(TMI_NOT_GAUSSIAN);
    audit_families(TMI_DISCRETE_GAUSSIAN);
    audit_families(TMI_ROUNDED_NORMAL);
}

/* The plan whose strata have noise of very different scales, a little longer. */
static void strata_get_noise_of_their_own(void **state)
{
    (void)state;
    static const survey_engine only = {"arrays", in_arrays, 24, 24, false};
    for (size_t i = 0; i < PLANS; i++)
        for (int gaussian = 0; strcmp(plans[i].x, APART) == 0 && gaussian <= TMI_ROUNDED_NORMAL; gaussian++)
            audit(&plans[i], (tmi_gaussian)gaussian, false, &only, 1);
}

/* ---- what the audit can see ---- */

/* The evidence after n draws of the declared law with its scale off by `ratio`, or moved. */
static double seen(tmi_gaussian gaussian, double ratio, int64_t shift, size_t n)
{
    const noise_law law = {gaussian, 1000};
    evidence e = {0};
    tamis_number *scale;
    tamis_noise *noise;
    tamis_rng *rng;
    int64_t *draws = calloc(n, sizeof *draws);
    assert_int_equal(tmi_number_double(&scale, law.scale * ratio, NULL), TAMIS_OK);
    assert_int_equal((gaussian == TMI_ROUNDED_NORMAL      ? tamis_noise_normal_new
                      : gaussian == TMI_DISCRETE_GAUSSIAN ? tamis_noise_gaussian_new
                                                          : tamis_noise_laplace_new)(&noise, scale, NULL),
                     TAMIS_OK);
    bits_from_seed(++seed);
    assert_int_equal(tamis_rng_new(&rng, NULL), TAMIS_OK);
    assert_int_equal(tamis_noise_draw(draws, n, noise, rng, NULL), TAMIS_OK);
    for (size_t i = 0; i < n; i++) evidence_add(&e, &law, draws[i] + shift);
    tamis_rng_free(rng);
    tamis_noise_free(noise);
    tamis_number_free(scale);
    free(draws);
    return evidence_of(&e);
}

static void wrong_noise_is_found(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        int64_t shift;
        size_t draws;
    } wrong[] = {{1e-3, 0, 14}, {10, 0, 14},     {0.1, 0, 60},    {4, 0, 60},    {0.5, 0, 400},
                 {2, 0, 400},   {0.9, 0, 16000}, {1.1, 0, 16000}, {1, 1000, 200}};
    seed = 7000; /* whatever was drawn before */
    for (int law = 0; law <= TMI_ROUNDED_NORMAL; law++) {
        const tmi_gaussian gaussian = (tmi_gaussian)law;
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            if (!(seen(gaussian, wrong[i].ratio, wrong[i].shift, wrong[i].draws) > EVIDENCE))
                fail_msg("ratio %g is not found", wrong[i].ratio);
        assert_true(seen(gaussian, 1, 0, 16000) < EVIDENCE);
    }
    const noise_law law = {TMI_NOT_GAUSSIAN, 1000};
    double repeated = 0;
    for (int i = 0; i < 6; i++) repeated += evidence_of_repeat(&law, i, i);
    assert_true(repeated > EVIDENCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_noise_has_the_declared_law), cmocka_unit_test(gaussian_noise_has_the_declared_law),
        cmocka_unit_test(normal_noise_has_the_declared_law),  cmocka_unit_test(every_family_has_the_declared_noise),
        cmocka_unit_test(strata_get_noise_of_their_own),      cmocka_unit_test(wrong_noise_is_found),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
