/* tamis draw: a sample from a frame. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static int summarize(const cli_call *call, const tamis_frame_sample *sample, const char *out)
{
    if (cli_is_stdout(out)) {
        cli_remark(call, "%" PRId64 " of %" PRId64 " units drawn", sample->sample, sample->population);
    } else if (call->json) {
        printf("{\"population\": %" PRId64 ", \"sample\": %" PRId64 ", \"strata\": %" PRId64, sample->population, sample->sample,
               sample->strata);
        if (sample->clusters > 0)
            printf(", \"clusters\": %" PRId64 ", \"clusters_drawn\": %" PRId64, sample->clusters, sample->clusters_drawn);
        puts("}");
    } else {
        printf("%" PRId64 " of %" PRId64 " units drawn", sample->sample, sample->population);
        if (sample->clusters > 0) printf(", in %" PRId64 " of %" PRId64 " clusters", sample->clusters_drawn, sample->clusters);
        if (cli_value(call, "strata")) printf(" in %" PRId64 " strata", sample->strata);
        printf(", in %s\n", out);
    }
    return cli_finish_output();
}

/* What the library says about its parameters is said about the options. */
static int failed(const tamis_error *err)
{
    if (ferror(stdout)) return cli_finish_output();
    static const char *const names[][2] = {{"sample: ", "--sample: "},
                                           {"probabilities: ", "--probability: "},
                                           {"sizes: ", "--size: "}};
    tamis_error shown = *err;
    if (shown.item_count > 1) shown.item_count = 1; /* behind the place, which comes first, the text changes */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(err->message, names[i][0]);
        if (!at || (at > err->message && at[-1] != ' ')) continue;
        snprintf(shown.message, sizeof shown.message, "%.*s%s%.3000s", (int)(at - err->message), err->message, names[i][1],
                 at + strlen(names[i][0]));
        break;
    }
    return cli_failed(&shown, NULL);
}

static int draw(const cli_call *call, const tamis_frame_design *design, const char *out)
{
    tamis_error err = {0};
    tamis_frame_sample sample;
    cli_progress progress;
    cli_input frame;
    const tamis_stream to = cli_is_stdout(out) ? (tamis_stream){"standard output", stdout} : (tamis_stream){.path = out};
    int code = cli_input_open(&frame, call, call->operands[0]);
    if (code != 0) return code;
    cli_progress_begin(&progress, call);
    const tamis_watch watch = {cli_progress_step, &progress};
    tamis_status status = tamis_frame_draw(&sample, frame.path, design, &to, &watch, &err);
    cli_progress_end(&progress);
    cli_input_name(&frame, &err);
    cli_input_close(&frame);
    return status == TAMIS_OK ? summarize(call, &sample, out) : failed(&err);
}

static int run(const cli_call *call)
{
    const char *sample_text = cli_value(call, "sample"), *within_text = cli_value(call, "within");
    tamis_error err = {0};
    tamis_number *rate = NULL, *within_rate = NULL;
    tamis_frame_design design = {.probability = cli_value(call, "probability"),
                                 .size = cli_value(call, "size"),
                                 .strata = cli_value(call, "strata"),
                                 .allocation = cli_value(call, "allocation"),
                                 .cluster = cli_value(call, "cluster")};
    if (tamis_method_of_name(&design.method, cli_value(call, "design"), &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--design: %s", err.message);
    if (sample_text && !cli_whole(&design.sample, sample_text, 1, INT64_MAX))
        return cli_wrong_usage(call->command, "--sample must be a whole number, at least 1");
    if (within_text && !cli_whole(&design.within, within_text, 1, INT64_MAX)) {
        if (tamis_number_read(&rate, within_text, NULL) == TAMIS_OK) {
            tamis_number_free(rate);
            return cli_wrong_usage(call->command, "--within must be a whole number, at least 1, or a column");
        }
        design.within_column = within_text;
    }
    design.within_systematic = cli_value(call, "within-systematic") != NULL;
    int code = cli_number(&rate, call, "rate");
    if (code != 0) return code;
    design.rate = rate;
    code = cli_number(&within_rate, call, "within-rate");
    if (code != 0) {
        tamis_number_free(rate);
        return code;
    }
    design.within_rate = within_rate;
    if (tamis_frame_design_check(&design, &err) != TAMIS_OK) code = cli_wrong_usage(call->command, "--%s", err.message);
    else if (cli_is_stdout(cli_value(call, "out")))
        code = call->json ? cli_wrong_usage(call->command, "--json needs --out FILE, because the sample goes to stdout") : 0;
    else code = cli_check_new(call, cli_value(call, "out"), "sample", "file");
    if (code == 0) code = draw(call, &design, cli_value(call, "out"));
    tamis_number_free(rate);
    tamis_number_free(within_rate);
    return code;
}

const cli_command cli_command_draw = {
    .name = "draw",
    .purpose = "draw a sample from a frame, with inclusion probabilities and weights",
    .about = "Draws a sample from a frame, a CSV or Parquet file with one row per unit, and writes it to a CSV file: the frame's "
             "columns and two more, inclusion_probability and weight, its inverse. Rows stay in the frame's order. Random bits "
             "come from the operating system, sizes and probabilities are exact numbers, and the distribution of the sample is "
             "exactly that of the design.\n\n"
             "  srs                   simple random sampling: --sample\n"
             "  srs_with_replacement  --sample draws, each of any unit\n"
             "  bernoulli             each unit independently: --rate\n"
             "  poisson               each unit independently, with its own probability\n"
             "  systematic            every k-th unit of the list after a random start\n"
             "  systematic_random     the same, the list shuffled first\n"
             "  pivotal               neighbours in the list compete for a place\n"
             "  pivotal_random        the same, the list shuffled first\n"
             "  conditional_poisson   maximum entropy, fixed size\n"
             "  sampford              Sampford's method, fixed size\n"
             "  brewer                Brewer's method, fixed size; slow for large frames\n"
             "  tille                 Tille's elimination, fixed size\n\n"
             "docs/designs.md, installed as share/doc/tamis/designs.md, compares them. With replacement the sample has one row "
             "per draw; weight is then the inverse of the expected number of draws of the unit.\n\n"
             "Unequal probabilities come from --probability, a column of them, or from --size and --sample: they are then "
             "proportional to the sizes, and units that would get more than 1 are always drawn. Except for poisson, "
             "probabilities must add up to a whole number. systematic draws with equal probabilities if neither is given.\n\n"
             "With --strata a separate sample is drawn in each stratum: --sample units in each, or as many as the column "
             "--allocation says.\n\n"
             "With --cluster the design draws clusters, and --sample, --allocation, --rate, --size and --probability refer to "
             "clusters. All units of a drawn cluster are taken, or with --within a simple random sample of them, with "
             "--within-systematic every k-th, with --within-rate each by itself: two stages. The sample then has two more "
             "columns, cluster_probability and "
             "cluster_size, which a plan's two_stage design names.",
    .operands = {{"FRAME", .needed = true, .help = "a .csv or .parquet file with one row per unit; -: standard input"}},
    .options = {{"design", "NAME", .needed = true,
                 .choices = "srs srs_with_replacement bernoulli poisson systematic systematic_random pivotal pivotal_random "
                            "conditional_poisson sampford brewer tille",
                 .help = "the design"},
                {"sample", "N", .help = "units to draw, in each stratum if there are strata"},
                {"rate", "P/Q", .help = "the probability of each unit (bernoulli)"},
                {"probability", "COLUMN", .help = "inclusion probabilities: 0.25, 3/10"},
                {"size", "COLUMN", .help = "positive sizes; probabilities are proportional to them"},
                {"strata", "COLUMN", .help = "the column that names the stratum; several columns: A,B"},
                {"allocation", "COLUMN", .help = "units to draw in the stratum of a row, instead of --sample"},
                {"cluster", "COLUMN", .help = "the column that names the cluster within its stratum; several columns: A,B"},
                {"within", "N|COLUMN", .help = "units to draw in each drawn cluster; all if it has no more"},
                {"within-systematic", .help = "every k-th unit of a cluster, from a random start"},
                {"within-rate", "P/Q", .help = "the probability of each unit of a drawn cluster, instead of --within"},
                {"out", "FILE", .needed = true, .help = "the sample, a CSV file that must not exist yet; -: standard output"}},
    .examples = {{"tamis draw apisrs.csv --design srs --sample 20 --out sample.csv", "20 of the schools"},
                 {"tamis draw apisrs.csv --design sampford --size enroll --sample 9 --out s.csv", "large schools more often"},
                 {"tamis draw apisrs.csv --design srs --strata stype --sample 5 --out s.csv", "five schools of each type"},
                 {"tamis draw apisrs.csv --design srs --cluster cname --sample 6 --out s.csv", "all schools of six counties"}},
    .run = run,
};
