/* tamis release: the main job. */
#include <limits.h>
#include <string.h>

#include "cli.h"

/* On stderr, where stdout is for a program. */
static tamis_status remark_notice(const cli_call *call, const tamis_release *release, tamis_error *err)
{
    char *notice = NULL;
    tamis_status status = tamis_release_notice_text(&notice, release, err);
    if (status == TAMIS_OK && *notice) cli_remark(call, "%s", notice);
    tamis_free(notice);
    return status;
}

/* Always on stderr: it is nobody else's business. */
static tamis_status remark_for_operator(const cli_call *call, const tamis_release *release, tamis_error *err)
{
    char *text = NULL;
    tamis_status status = tamis_release_remarks_text(&text, release, err);
    for (char *line = text; status == TAMIS_OK && *line; line += strcspn(line, "\n") + 1)
        cli_remark(call, "%.*s", (int)strcspn(line, "\n"), line);
    tamis_free(text);
    return status;
}

static int tell_result(const cli_call *call, const tamis_release *release, const char *folder)
{
    tamis_error err = {0};
    char *text = NULL;
    if (remark_for_operator(call, release, &err) != TAMIS_OK) return cli_failed(&err, NULL);
    if (call->json && remark_notice(call, release, &err) != TAMIS_OK) return cli_failed(&err, NULL);
    tamis_status status = (call->json ? tamis_release_json : tamis_release_text)(&text, release, &err);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    fputs(text, stdout);
    tamis_free(text);
    int code = cli_finish_output();
    if (code != TAMIS_OK || call->json) cli_remark(call, "the release is in %s", folder);
    return code;
}

tamis_engine cli_engine(const cli_call *call)
{
    const char *name = cli_value(call, "engine");
    tamis_engine engine = TAMIS_ENGINE_FITTING;
    return !name || tamis_engine_of_name(&engine, name, NULL) != TAMIS_OK ? TAMIS_ENGINE_FITTING : engine;
}

void cli_remark_engine(const cli_call *call, const tamis_plan *plan)
{
    if (!cli_value(call, "engine") && tamis_release_engine(plan) == TAMIS_ENGINE_MEMORY)
        cli_remark(call, "DuckDB is not installed, so the engine `memory` reads the CSV files, with the same results (`make "
                         "setup` fetches DuckDB)");
}

int cli_release(const cli_call *call, const char *path, const char *folder, const char *ledger, cli_tell_release *tell)
{
    tamis_error err = {0};
    tamis_plan *plan = NULL;
    tamis_release *release = NULL;
    char *usual_folder = NULL;
    cli_progress progress;
    tamis_release_options options = {.size = sizeof options,
                                     .engine = cli_engine(call),
                                     .watch = {cli_progress_step, &progress},
                                     .ledger = ledger,
                                     .repeat = cli_value(call, "again") ? TAMIS_REPEAT_PAID : TAMIS_REPEAT_IF_SAME_VERSION,
                                     .new_account = cli_value(call, "new-account"),
                                     .sign = cli_value(call, "sign"),
                                     .allow_command = cli_value(call, "allow-command") != NULL};

    int code = cli_resources(&options.threads, &options.memory, call);
    if (code == 0 && folder) code = cli_check_new(call, folder, "release", "folder");
    if (code != TAMIS_OK) return code;
    tamis_status status = cli_plan_read(&plan, call, path, &err);
    if (status == TAMIS_OK && !folder && cli_is_piped(path)) {
        code = cli_wrong_usage(call->command, "--out: must name the output folder, because a plan from a pipe has no name");
    } else if (status == TAMIS_OK && !folder) {
        status = tamis_plan_release_folder(&usual_folder, plan, &err);
        folder = usual_folder;
        if (status == TAMIS_OK) code = cli_check_new(call, folder, "release", "folder");
    }
    if (status == TAMIS_OK && code == TAMIS_OK) {
        cli_remark_engine(call, plan);
        cli_progress_begin(&progress, call);
        status = tamis_release_new(&release, plan, folder, &options, &err);
        cli_progress_end(&progress);
    }
    if (status != TAMIS_OK) code = cli_failed(&err, path);
    else if (code == TAMIS_OK) code = (tell ? tell : tell_result)(call, release, folder);
    tamis_free(usual_folder);
    tamis_release_free(release);
    tamis_plan_free(plan);
    return code;
}

static int run(const cli_call *call) { return cli_release(call, call->operands[0], cli_value(call, "out"), NULL, NULL); }

const cli_command cli_command_release = {
    .name = "release",
    .purpose = "publish the statistics of a plan, protected",
    .about =
        "Charges the survey's account in the plan's ledger, draws the noise, computes exact integer sums of the rows, adds the "
        "noise, and writes the output folder, complete or not at all. Prints the results with their intervals and the guarantee "
        "in plain words.\n\n"
        "If the same release was made before (same statistics, same epsilon or rho), its numbers are returned and nothing is "
        "charged; "
        "--again pays for fresh noise. A release that would exceed the budget of the account is refused with exit code 4, and "
        "nothing is read.\n\n"
        "The first release creates the ledger, and the first line of the output says so: if the survey already has a ledger, use "
        "that one, since a second one would not know what was spent. `ledger: {file: FILE, existing: yes}` in the plan "
        "refuses to create one. A second account for the same source is refused unless --new-account says why.\n\n"
        "With --sign the folder also has certificate.sig, with which others can check who made the release. The key is read "
        "before anything is charged.\n\n"
        "Pass on only the output folder, and only after exit code 0. Ctrl-C stops the release within about a second; nothing is "
        "published then, and the message says whether something was charged. If a run was stopped after its charge, the next run "
        "of the same plan takes over the charge and pays nothing; or `tamis ledger void` returns it.\n\n" CLI_ABOUT_PLANS,
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true,
                  .help = "the plan: what to release, and how it is protected; -: standard input"}},
    .options =
        {{"out", "DIR", .files = CLI_FOLDERS,
          .help = "the output folder, which must not exist yet; default: the plan's name and -release"},
         {"again", .help = "pay for fresh noise although the same release was made before"},
         {"new-account", "REASON",
          .help = "open an account for this survey although another account in the ledger has the same source; the reason "
                  "is recorded in the ledger and in the certificate"},
         {"sign", "NAME.key", .files = CLI_ANY_FILES,
          .help = "sign the certificate with this secret key ('tamis key create'), in certificate.sig"},
         {"allow-command",
          .help = "run the program that the plan names under `source: {command: ...}`, with your rights; refused otherwise"},
         CLI_LEDGER_OPTION,
         CLI_ENGINE_OPTION,
         CLI_RESOURCE_OPTIONS},
    .examples = {{"tamis release plan.yaml", "write the folder plan-release"},
                 {"tamis release plan.yaml --out june --json", "for a program; write the folder june"},
                 {"tamis key create agency && tamis release plan.yaml --sign agency.key", "and sign it"}},
    .run = run,
};
