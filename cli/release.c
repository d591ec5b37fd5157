/* tamis release: the main job. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* The folder in which `folder` would be made; NULL if it has no name of its own. */
static const char *parent_of(char room[PATH_MAX], const char *folder)
{
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    size_t parent = length;
    while (parent > 0 && folder[parent - 1] != '/') parent--;
    if (length == 0 || parent >= PATH_MAX) return NULL;
    if (parent == 0) return ".";
    snprintf(room, PATH_MAX, "%.*s", (int)parent, folder);
    return room;
}

/* Whether the output folder can be made at all is seen before anything is read: that is a matter of the command line, not
 * of the plan. */
static int check_folder(const cli_call *call, const char *folder)
{
    char room[PATH_MAX];
    struct stat there;
    const char *option = cli_value(call, "out") ? "--out " : "", *parent = parent_of(room, folder);
    if (!*folder) return cli_wrong_usage(call->command, "--out: expected the name of a folder, such as schools-release");
    if (lstat(folder, &there) == 0)
        return cli_wrong_usage(call->command, "%s%s exists already, and a release is never written over: name another folder%s",
                               option, folder, *option ? "" : " with --out");
    if (errno != ENOENT) return cli_wrong_usage(call->command, "%s%s cannot be made: %s", option, folder, strerror(errno));
    if (parent && stat(parent, &there) != 0)
        return cli_wrong_usage(call->command, "%s%s cannot be made: there is no folder %s", option, folder, parent);
    return TAMIS_OK;
}

static int tell_result(const cli_call *call, const tamis_release *release, const char *folder)
{
    tamis_error err = {0};
    char *text = NULL;
    tamis_status status = call->json ? tamis_release_json(&text, release, &err) : tamis_release_text(&text, release, &err);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    fputs(text, stdout);
    tamis_free(text);
    int code = cli_finish_output();
    if (code != TAMIS_OK || call->json) cli_remark(call, "the release is in %s", folder);
    return code;
}

int cli_release(const cli_call *call, const char *path, const char *folder)
{
    tamis_error err = {0};
    tamis_plan *plan = NULL;
    tamis_release *release = NULL;
    char *usual_folder = NULL;
    cli_progress progress;
    tamis_run_options options = {.engine = cli_value(call, "engine"), .progress = cli_progress_step, .context = &progress};

    int code = folder ? check_folder(call, folder) : TAMIS_OK;
    if (code != TAMIS_OK) return code;
    tamis_status status = tamis_plan_read(&plan, path, &err);
    if (status == TAMIS_OK && !folder) {
        status = tamis_plan_release_folder(&usual_folder, plan, &err);
        folder = usual_folder;
        if (status == TAMIS_OK) code = check_folder(call, folder);
    }
    if (status == TAMIS_OK && code == TAMIS_OK) {
        cli_progress_begin(&progress, call);
        status = tamis_release_run(&release, plan, folder, &options, &err);
        cli_progress_end(&progress);
    }
    if (status != TAMIS_OK)
        code = cli_failed(&err, path);
    else if (code == TAMIS_OK)
        code = tell_result(call, release, folder);
    tamis_free(usual_folder);
    tamis_release_free(release);
    tamis_plan_free(plan);
    return code;
}

static int run(const cli_call *call)
{
    return cli_release(call, call->operands[0], cli_value(call, "out"));
}

const cli_command cli_command_release = {
    .name = "release",
    .purpose = "publish the statistics of a plan, protected",
    .about = "Draws the noise, adds up the rows to exact integers, adds the two, and writes the output folder: all of it, "
             "or nothing at all. Prints the results with their intervals and the guarantee in plain words.\n\n"
             "Only the output folder is for others, and only after exit code 0. Ctrl-C stops the work; nothing is "
             "published then.\n\n"
             CLI_ABOUT_PLANS,
    .operands = (const cli_argument[]){
        {.name = "PLAN.yaml", .files = CLI_PLANS, .needed = true, .help = "what to release, and how it is protected"},
        {0}},
    .options = (const cli_argument[]){
        {.name = "out", .value = "DIR", .files = CLI_FOLDERS,
         .help = "the output folder, which must not exist yet; default: the plan's name and -release"},
        {.name = "engine", .value = "NAME", .choices = "duckdb",
         .help = "what reads the rows: duckdb; default: what fits the source"},
        {0}},
    .examples = (const cli_example[]){{"tamis release plan.yaml", "into the folder plan-release"},
                                      {"tamis release plan.yaml --out june --json", "for a program; files go to june"},
                                      {0}},
    .run = run,
};
