/* tamis estimate: the statistics without protection, for the agency itself. */
#include "cli.h"

static int run(const cli_call *call)
{
    const char *path = call->operands[0];
    tamis_error err = {0};
    tamis_plan *plan = NULL;
    tamis_estimate *estimate = NULL;
    char *text = NULL;
    cli_progress progress;
    tamis_estimate_options options = {.size = sizeof options,
                                      .engine = cli_engine(call),
                                      .watch = {cli_progress_step, &progress}};

    const int usage = cli_resources(&options.threads, &options.memory, call);
    if (usage != 0) return usage;
    tamis_status status = cli_plan_read(&plan, call, path, &err);
    if (status == TAMIS_OK) {
        cli_remark_engine(call, plan);
        cli_progress_begin(&progress, call);
        status = tamis_estimate_new(&estimate, plan, &options, &err);
        cli_progress_end(&progress);
    }
    if (status == TAMIS_OK) status = (call->json ? tamis_estimate_json : tamis_estimate_text)(&text, estimate, &err);
    if (status == TAMIS_OK) cli_remark(call, "warning: these numbers are NOT protected; they must not leave the agency");
    tamis_estimate_free(estimate);
    tamis_plan_free(plan);
    return status == TAMIS_OK ? cli_print(text) : cli_failed(&err, path);
}

const cli_command cli_command_estimate = {
    .name = "estimate",
    .purpose = "the same statistics WITHOUT protection, inside the agency only",
    .about = "Computes the usual design-based estimates of a plan's statistics, with the standard errors and intervals of R's "
             "package survey: values as recorded, no bounds, no rounding, no noise. Results go to the standard output only; no "
             "file is written.\n\n"
             "The numbers are NOT protected and must not leave the agency. Use them to look at the data and to compare with "
             "other survey software.",
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true,
                  .help = "the plan: statistics, source and design; -: standard input"}},
    .options = {CLI_ENGINE_OPTION, CLI_RESOURCE_OPTIONS},
    .examples = {{"tamis estimate plan.yaml", "what the survey says, for the agency only"},
                 {"tamis estimate plan.yaml --json --quiet", "for a program, without the warning"}},
    .run = run,
};
