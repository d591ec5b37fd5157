/* tamis check: what a plan would do, before any data is read. */
#include "cli.h"

static int run(const cli_call *call)
{
    const char *path = call->operands[0];
    tamis_error err = {0};
    tamis_plan *plan = NULL;
    tamis_preview *preview = NULL;
    char *text = NULL;
    const tamis_detail detail = cli_value(call, "all") ? TAMIS_DETAIL_ALL : TAMIS_DETAIL_SHORT;
    unsigned threads; /* nothing is read here, but a wrong value would stop the release */
    uint64_t memory;
    const int usage = cli_resources(&threads, &memory, call);
    if (usage != 0) return usage;
    tamis_status status = cli_plan_read(&plan, call, path, &err);
    if (status == TAMIS_OK) status = tamis_preview_new(&preview, plan, &err);
    /* also of a release that the ledger refuses; JSON is one object, and that the error */
    if (preview && !(call->json && status != TAMIS_OK)) {
        tamis_error reason = {0};
        tamis_status written = cli_value(call, "compare") ? (call->json ? tamis_preview_compare_json
                                                                        : tamis_preview_compare_text)(&text, preview, &reason)
                               : call->json               ? tamis_preview_json(&text, preview, &reason)
                                                          : tamis_preview_text(&text, preview, detail, &reason);
        if (written != TAMIS_OK) {
            status = written;
            err = reason;
        }
    }
    tamis_preview_free(preview);
    tamis_plan_free(plan);
    const int printed = text ? cli_print(text) : 0;
    return status != TAMIS_OK ? cli_failed(&err, cli_is_dash(path) ? CLI_STDIN : path) : printed;
}

const cli_command cli_command_check = {
    .name = "check",
    .purpose = "what a plan would measure, guarantee and spend; reads no data",
    .about =
        "Validates a plan and prints on one screen the expected errors, what was assumed, what would help and what a release "
        "would cost. No data file is opened, so a plan can be tried and discussed before there are any answers. What would "
        "lower the expected errors most is more budget, a delta, a secret sample, a narrower range or fewer groups, each "
        "tried on the plan. Further declarations (complete columns, a list of clusters, a design effect, guesses of sizes) are "
        "tried too, and suggested where errors would be at least 5 % lower. Sizes, means and shares that the preview needs and "
        "the plan does not give are assumed; numbers that nothing determines are shown as not known.\n\n"
        "--all adds each measurement with its sensitivity and its noise, the guarantee in words with what attackers could learn, "
        "the declarations, and for each assumption the line that would replace it.\n\n"
        "All errors of a plan are reported at once, each with file, line and column; the exit code is then 3. If the ledger "
        "would refuse the release, the preview comes first, then the refusal, and the exit code is 4; with --json the "
        "refusal alone.\n\n" CLI_ABOUT_PLANS,
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true,
                  .help = "the plan: what to release, and how it is protected; -: standard input"}},
    .options = {{"all",
                 .help = "everything: each statistic on its own line, the measured tables, the guarantee, the declarations"},
                {"compare", .help = "instead: errors under this plan, with each statistic measured by itself, with the other "
                                    "noise distribution, and with twice the budget"},
                CLI_LEDGER_OPTION,
                {"threads", "N", .help = "as for release; nothing is read here, so this is only checked"},
                {"memory", "SIZE", .help = "likewise"}},
    .examples = {{"tamis check plan.yaml", "how wrong will the numbers be?"},
                 {"tamis check plan.yaml --compare", "what does measuring everything together gain?"},
                 {"tamis check plan.yaml --json", "the same for a program"}},
    .run = run,
};
