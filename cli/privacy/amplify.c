/* tamis privacy amplify: a secret sample: the smaller epsilon of an outsider. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "amplify.h"
#include "target.h"

/* ---- what is asked ---- */

static int read_design(amplify_request *r, tamis_error *err)
{
    const cli_call *call = r->call;
    const char *json = cli_value(call, "design");
    int64_t N, n;
    if ((call->operand_count > 0) + (json != NULL) + (cli_value(call, "population") || cli_value(call, "sample")) != 1)
        return cli_wrong_usage(call->command, "give exactly one of: a plan, --design, or --population with --sample");
    if (call->operand_count > 0) { /* a plan says by itself what is public and what is not */
        if (tamis_plan_read(&r->plan, call->operands[0], err) != TAMIS_OK ||
            tamis_plan_sampling(&r->design, &r->facts, &r->promise.eps, &r->promise.delta, r->plan, err) != TAMIS_OK)
            return cli_failed(err, call->operands[0]);
        return 0;
    }
    if (json) {
        if (tamis_design_read(&r->design, json, err) == TAMIS_OK) return 0;
        return err->status == TAMIS_INVALID ? cli_wrong_usage(call->command, "--design: %s", err->message)
                                            : cli_failed(err, NULL);
    }
    int code = cli_sizes(&N, &n, call);
    if (code != 0) return code;
    return tamis_design_srs(&r->design, N, n, err) == TAMIS_OK ? 0 : cli_failed(err, NULL);
}

static tamis_neighbours neighbours(const char *text)
{
    return text && strcmp(text, "add_remove") == 0 ? TAMIS_ADD_REMOVE : TAMIS_REPLACE;
}

/* What --rho or --mu-squared say: the whole profile of a sampled person's loss, and its epsilon at the delta. */
static int read_profile(amplify_request *r, const cli_call *call)
{
    const bool normal = cli_value(call, "mu-squared");
    tamis_profile *profile = NULL;
    tamis_bound eps;
    tamis_error err = {0};
    char text[TAMIS_DECIMAL];
    if (normal && cli_value(call, "rho")) return cli_wrong_usage(call->command, "give either --rho or --mu-squared");
    if (!cli_value(call, "delta"))
        return cli_wrong_usage(call->command, "--%s needs --delta, such as 1e-6: epsilon follows at that delta",
                               normal ? "mu-squared" : "rho");
    static const char *const others[] = {"epsilon", "releases", "inverse", "neighbours", "mechanism"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_value(call, others[i]))
            return cli_wrong_usage(call->command,
                                   "--%s says what all releases of the sample have lost by records that are replaced; "
                                   "leave out --%s",
                                   normal ? "mu-squared" : "rho", others[i]);
    if (call->operand_count > 0)
        return cli_wrong_usage(call->command,
                               "a plan has its own epsilon or rho; with a plan, `tamis check` shows the outsider's");
    int code = cli_number(&r->profile, call, normal ? "mu-squared" : "rho");
    if (code == 0) code = cli_number(&r->delta, call, "delta");
    if (code != 0) return code;
    tamis_status status = tamis_number_read(&r->pure, "0", &err);
    if (status == TAMIS_OK) status = (normal ? tamis_profile_normal : tamis_profile_zcdp)(&profile, r->profile, &err);
    if (status == TAMIS_OK) status = tamis_profile_epsilon(&eps, profile, r->delta, &err);
    tamis_profile_free(profile);
    if (status == TAMIS_OK && isinf(eps.upper))
        return cli_wrong_usage(call->command, "--delta: no epsilon follows at this delta; it must be above 0");
    if (status == TAMIS_OK) {
        tamis_decimal_up(text, eps.upper, 17);
        status = tamis_number_read(&r->own_eps, text, &err);
    }
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    r->promise.eps = r->own_eps;
    r->promise.delta = r->delta;
    r->promise.pure = r->pure;
    *(normal ? &r->promise.mu_squared : &r->promise.rho) = r->profile;
    return 0;
}

static int read_request(amplify_request *r, const cli_call *call)
{
    tamis_error err = {0};
    const char *eps = cli_value(call, "epsilon"), *delta = cli_value(call, "delta"), *releases = cli_value(call, "releases");
    const char *frame = cli_value(call, "neighbours"), *mechanism = cli_value(call, "mechanism");
    *r = (amplify_request){.call = call};
    int code = read_design(r, &err);
    if (code != 0) return code;
    r->promise.neighbours = neighbours(frame);
    r->promise.mechanism = neighbours(mechanism ? mechanism : frame);
    r->facts.known |= cli_value(call, "known-sample") != NULL;
    r->facts.by_response |= cli_value(call, "nonresponse") != NULL;
    r->facts.one_of_several |= cli_value(call, "one-of-several") != NULL;
    r->facts.as_srs |= cli_value(call, "as-srs") != NULL;
    if (cli_value(call, "rho") || cli_value(call, "mu-squared")) return read_profile(r, call);
    if (!eps && !r->promise.eps) return cli_wrong_usage(call->command, "--epsilon is needed, such as 1 or 0.25");
    code = cli_number(&r->own_eps, call, "epsilon");
    if (code == 0) code = cli_number(&r->delta, call, "delta");
    if (code != 0) return code;
    if (!delta && tamis_number_read(&r->delta, "0", &err) != TAMIS_OK) return cli_failed(&err, NULL);
    if (eps) r->promise.eps = r->own_eps;
    if (delta || !r->promise.delta) r->promise.delta = r->delta; /* a plan may have its own */
    if (releases && !cli_whole(&r->promise.releases, releases, 1, 1000000))
        return cli_wrong_usage(call->command, "--releases needs a whole number from 1 to 10^6");
    return 0;
}

static void clear_request(amplify_request *r)
{
    tamis_plan_free(r->plan);
    tamis_design_free(r->design);
    tamis_number_free(r->own_eps);
    tamis_number_free(r->delta);
    tamis_number_free(r->pure);
    tamis_number_free(r->profile);
    tamis_number_free(r->down_eps);
    tamis_number_free(r->down_delta);
    tamis_amplified_clear(&r->amplified);
}

/* ---- numbers ---- */

/* The lower end as a number, all its digits. */
static tamis_status read_down(tamis_number **number, double x, tamis_error *err)
{
    char text[TAMIS_DECIMAL];
    tamis_decimal_down(text, x, 17);
    return tamis_number_read(number, text, err);
}

static tamis_status compute(amplify_request *r, tamis_error *err)
{
    tamis_status status = tamis_sampling_facts_check(&r->facts, r->design, err);
    r->sample = r->promise;
    if (status == TAMIS_OK && cli_value(r->call, "inverse")) {
        status = tamis_amplify_design_inverse(&r->eps_n, &r->delta_n, r->design, &r->promise, err);
        if (status == TAMIS_OK) status = read_down(&r->down_eps, r->eps_n.lower, err);
        if (status == TAMIS_OK) status = read_down(&r->down_delta, r->delta_n.lower, err);
        r->sample.eps = r->down_eps;
        r->sample.delta = r->down_delta;
    }
    if (status == TAMIS_OK) status = tamis_amplify_design(&r->amplified, r->design, &r->sample, err);
    return status;
}

static int run(const cli_call *call)
{
    amplify_request r;
    tamis_error err = {0};
    int code = read_request(&r, call);
    if (code == 0) code = cli_svg_open(&r.svg, call);
    if (code == 0) {
        tamis_status status = compute(&r, &err);
        if (status == TAMIS_OK) status = call->json ? amplify_show_json(&r, &err) : amplify_show(&r, &err);
        code = status == TAMIS_OK ? cli_finish_output() : cli_noise_failed(&(cli_noise){.call = call}, &err);
    }
    cli_svg_close(&r.svg);
    clear_request(&r);
    return code;
}

const cli_command cli_command_privacy_amplify = {
    .name = "privacy amplify",
    .purpose = "a smaller epsilon for outsiders, if the sample is secret",
    .about =
        "A release is epsilon-private for the people in a sample. An attacker who does not know who was sampled learns less. "
        "This command computes the smaller epsilon that holds for everybody in the frame (amplification by sampling), for simple "
        "random samples, strata, unequal probabilities, clusters and stages, and refuses where nothing is proved.\n\n"
        "The design comes from a plan, is a simple random sample, or is written as in docs/compute.md, section Designs. With "
        "--inverse, epsilon and delta are the target for the frame, and the answer is what may be spent on the sample, rounded "
        "down. With --rho or --mu-squared the whole profile of the loss counts, which says more than one epsilon and delta where "
        "several records come and go together (clusters, stages, systematic samples).\n\n"
        "Refused, each with the reason, because sampling does not amplify there: a sample that is known, nonresponse counted as "
        "sampling, one of several releases taken alone, clusters treated as a simple random sample.",
    .operands = {{"PLAN.yaml", .help = "a plan: its design, its epsilon, and whether its sample is secret", .files = CLI_PLANS}},
    .options = {{"epsilon", "E", .help = "epsilon of each release, on the sample (default: that of the plan)"},
                {"delta", "D", .help = "delta of each release, on the sample (default: that of the plan, or 0)"},
                {"rho", "R", .help = "in place of epsilon: rho of all releases together, with --delta"},
                {"mu-squared", "M", .help = "in place of epsilon: mu^2 of normal noise, of all releases together, with --delta"},
                {"population", "N", .help = "records in the frame of a simple random sample"},
                {"sample", "n", .help = "records drawn from it"},
                {"design", "JSON", .help = "any design"},
                {"inverse", .help = "epsilon and delta are targets for the frame: what may be spent on the sample?"},
                {"releases", "K", .help = "number of releases from this sample (composed first, then amplified once)"},
                {"neighbours", "WORD", .choices = "replace add_remove",
                 .help = "what changes in the frame: replace (default) or add_remove"},
                {"mechanism", "WORD", .choices = "replace add_remove",
                 .help = "what epsilon on the sample protects against: replace or add_remove (default: as --neighbours)"},
                {"known-sample", .help = "somebody outside knows who was sampled"},
                {"nonresponse", .help = "the sample consists of those who chose to answer"},
                {"one-of-several", .help = "epsilon is that of one release, and there are others from the same sample"},
                {"as-srs", .help = "treat the design as a simple random sample: log(1 + rate (e^epsilon - 1))"},
                {"svg", "FILE", .help = "also write the curve as a picture; replaces FILE"},
                {"ascii", .help = "draw the plot in ASCII (the default in locales other than UTF-8)"}},
    .examples = {{"tamis privacy amplify --population 6194 --sample 200 --epsilon 1",
                  "what is epsilon for a person in the frame?"},
                 {"tamis privacy amplify --population 6194 --sample 200 --epsilon 0.1 --inverse",
                  "what may be spent for epsilon 0.1 in the frame?"},
                 {"tamis privacy amplify --population 100 --sample 1 --epsilon 1 --releases 10", "ten releases of one sample"},
                 {"tamis privacy amplify --epsilon 1 --design '{\"census\": {\"population\": 9}}'", "any design, as JSON"}},
    .run = run,
};
