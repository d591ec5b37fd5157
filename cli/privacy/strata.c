/* tamis privacy strata: one epsilon per stratum, for a target of outsiders. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target.h"

#define DIGITS 5

typedef struct request {
    const cli_call *call;
    tamis_plan *plan;
    tamis_design *design;
    tamis_sampling_facts facts;
    tamis_number *outsider, *insider, *from, *to;
    tamis_stratum_budget *list;
    size_t count;
    tamis_bound crossing, uniform; /* of a total, with --to */
} request;

/* ---- what is asked ---- */

#define MOST 64 /* strata of --strata */

/* "200:100,20000:100": units and sampled units of each stratum, simple random samples. */
static int read_sizes(request *r, const char *text, tamis_error *err)
{
    tamis_design *strata[MOST] = {NULL};
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    for (const char *at = text; status == TAMIS_OK && at; count++) {
        char one[64], *sample;
        int64_t N, n;
        const size_t length = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), at);
        sample = strchr(one, ':');
        if (sample) *sample++ = '\0';
        if (count == MOST || !sample || !cli_whole(&N, one, 1, TAMIS_MAX_UNITS) || !cli_whole(&n, sample, 1, N)) {
            while (count > 0) tamis_design_free(strata[--count]);
            return cli_wrong_usage(
                r->call->command,
                "--strata needs UNITS:SAMPLED of each stratum, such as 200:100,20000:100, no more sampled than units, and at "
                "most %d strata",
                MOST);
        }
        status = tamis_design_srs(&strata[count], N, n, err);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    if (status == TAMIS_OK) status = tamis_design_take_strata(&r->design, strata, count, err);
    if (status == TAMIS_OK) return 0;
    while (count > 0) tamis_design_free(strata[--count]);
    return cli_failed(err, NULL);
}

static int read_design(request *r, tamis_error *err)
{
    const cli_call *call = r->call;
    const char *json = cli_value(call, "design"), *sizes = cli_value(call, "strata");
    const tamis_number *eps, *delta;
    if ((call->operand_count > 0) + (json != NULL) + (sizes != NULL) != 1)
        return cli_wrong_usage(call->command, "give exactly one of: a plan, --strata, or --design");
    if (sizes) return read_sizes(r, sizes, err);
    if (call->operand_count > 0) {
        if (tamis_plan_read(&r->plan, call->operands[0], err) != TAMIS_OK ||
            tamis_plan_sampling(&r->design, &r->facts, &eps, &delta, r->plan, err) != TAMIS_OK)
            return cli_failed(err, call->operands[0]);
        return 0;
    }
    if (tamis_design_read(&r->design, json, err) == TAMIS_OK) return 0;
    return err->status == TAMIS_INVALID ? cli_wrong_usage(call->command, "--design: %s", err->message) : cli_failed(err, NULL);
}

static int read_request(request *r, const cli_call *call)
{
    tamis_error err = {0};
    *r = (request){.call = call};
    if (!cli_value(call, "outsider") || !cli_value(call, "insider"))
        return cli_wrong_usage(call->command, "--outsider and --insider are needed, such as 0.5 and 5");
    if (cli_value(call, "from") && !cli_value(call, "to"))
        return cli_wrong_usage(call->command, "--from needs --to, the largest value");
    int code = read_design(r, &err);
    if (code == 0) code = cli_number(&r->outsider, call, "outsider");
    if (code == 0) code = cli_number(&r->insider, call, "insider");
    if (code == 0 && cli_value(call, "to")) code = cli_number(&r->to, call, "to");
    if (code == 0 && cli_value(call, "from")) code = cli_number(&r->from, call, "from");
    if (code == 0 && r->to && !r->from && tamis_number_read(&r->from, "0", &err) != TAMIS_OK) code = cli_failed(&err, NULL);
    return code;
}

static void clear_request(request *r)
{
    tamis_number *const numbers[] = {r->outsider, r->insider, r->from, r->to};
    tamis_strata_budgets_free(r->list, r->count);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) tamis_number_free(numbers[i]);
    tamis_design_free(r->design);
    tamis_plan_free(r->plan);
}

/* ---- what is answered ---- */

#define ROWS 40 /* strata listed one by one */

static void put_name(char cell[CLI_CELL], const request *r, size_t h)
{
    const char *name = tamis_plan_stratum(r->plan, h);
    if (name) snprintf(cell, CLI_CELL, "%.30s", name);
    else snprintf(cell, CLI_CELL, "%zu", h);
}

/* Rounded down, as it may be spent. */
static void put_epsilon(char cell[CLI_CELL], const tamis_stratum_budget *b)
{
    char *exact = NULL;
    if (tamis_number_write(&exact, b->epsilon, NULL) != TAMIS_OK) return;
    if (strlen(exact) < 8) snprintf(cell, CLI_CELL, "%s", exact);
    else tamis_decimal_down(cell, b->sampled.lower, DIGITS);
    tamis_free(exact);
}

static void show(const request *r)
{
    const bool ascii = cli_plain_letters(r->call);
    cli_cells cells[ROWS + 1] = {{"stratum", "units", "largest weight", "known to be sampled", "outsider"}};
    const size_t count = r->count < ROWS ? r->count : ROWS;
    for (size_t h = 0; h < count; h++) {
        const tamis_stratum_budget *b = &r->list[h];
        put_name(cells[h + 1][0], r, h);
        cli_thousands(cells[h + 1][1], CLI_CELL, b->units);
        snprintf(cells[h + 1][2], CLI_CELL, "%.6g", b->weight.upper); /* for people: nothing is promised by it */
        put_epsilon(cells[h + 1][3], b);
        tamis_decimal_up(cells[h + 1][4], b->outsider.upper, DIGITS);
    }
    printf("Epsilons for outsider %s, insider at most %s\n\n", cli_value(r->call, "outsider"), cli_value(r->call, "insider"));
    cli_table("lrlll", (const cli_cells *)cells, count + 1, ascii);
    if (count < r->count) printf("and %zu more; --json lists all\n", r->count - count);
    if (r->to) {
        char crossing[TAMIS_DECIMAL], uniform[TAMIS_DECIMAL];
        tamis_decimal_up(crossing, r->crossing.upper, DIGITS);
        tamis_decimal_up(uniform, r->uniform.upper, DIGITS);
        printf("\nOne weighted total over all strata: Laplace noise of scale %s\n", crossing);
        printf("(with the same epsilon in every stratum: %s)\n", uniform);
    }
    puts("\nWhat it means");
    cli_paragraph(
        stdout,
        "A sampled person of a stratum may lose the epsilon of that stratum, by everything that is released from the sample "
        "together; if somebody knows who was sampled, that is what holds. Somebody else of the stratum then loses no more "
        "than the outsider's epsilon, as long as the sample is secret. Each noisy number costs every stratum the largest "
        "change that exchanging one of its records can make, divided by the scale; these add up stratum by stratum. "
        "Strata are public and nobody can change theirs.",
        2);
}

static void show_json(const request *r)
{
    printf("{\"strata\": [");
    for (size_t h = 0; h < r->count; h++) {
        const tamis_stratum_budget *b = &r->list[h];
        char *exact = NULL;
        if (tamis_number_write(&exact, b->epsilon, NULL) != TAMIS_OK) continue;
        printf("%s{\"stratum\": %zu, \"units\": %" PRId64 ", \"weight\": ", h > 0 ? ", " : "", h, b->units);
        cli_put_bound(b->weight);
        printf(", \"epsilon\": \"%s\", \"outsider\": ", exact);
        cli_put_bound(b->outsider);
        putchar('}');
        tamis_free(exact);
    }
    putchar(']');
    if (r->to) {
        fputs(", \"scale\": {\"crossing\": ", stdout);
        cli_put_bound(r->crossing);
        fputs(", \"uniform\": ", stdout);
        cli_put_bound(r->uniform);
        putchar('}');
    }
    puts("}");
}

static int run(const cli_call *call)
{
    request r;
    tamis_error err = {0};
    int code = read_request(&r, call);
    if (code == 0) {
        tamis_status status = tamis_sampling_facts_check(&r.facts, r.design, &err);
        if (status == TAMIS_OK) status = tamis_strata_budgets(&r.list, &r.count, r.design, r.outsider, r.insider, &err);
        if (status == TAMIS_OK && r.to) status = tamis_strata_scale(&r.crossing, &r.uniform, r.list, r.count, r.from, r.to, &err);
        if (status == TAMIS_OK && call->json) show_json(&r);
        else if (status == TAMIS_OK) show(&r);
        code = status == TAMIS_OK ? cli_finish_output() : cli_failed(&err, NULL);
    }
    clear_request(&r);
    return code;
}

const cli_command cli_command_privacy_strata = {
    .name = "privacy strata",
    .purpose = "one epsilon per stratum, for a target of outsiders",
    .about =
        "In a stratum with a small sampling fraction, outsiders learn little, and more may be spent for the same promise to "
        "them. "
        "This command gives the largest epsilon of each stratum at which outsiders lose at most --outsider and sampled people at "
        "most --insider, and, with --to, the noise of one weighted total over all strata. More may be spent where weights are "
        "large, so the noise is far smaller than with one epsilon for all.\n\n"
        "The design comes from a plan, which must say that its sample is secret, is a list of sizes, or is written as in "
        "docs/compute.md, section Designs. Refused where no theorem covers the design, and with replacement. A plan with "
        "`privacy: {outsider, insider}` spends these epsilons: docs/plan.md.",
    .operands = {{"PLAN.yaml", .help = "a plan: its design, and whether its sample is secret", .files = CLI_PLANS}},
    .options = {{"outsider", "E", .help = "the most that somebody may lose if nobody knows whether they were sampled"},
                {"insider", "E", .help = "the most that a sampled person may lose"},
                {"strata", "N:n,...", .help = "units and sampled units of each stratum: simple random samples"},
                {"design", "JSON", .help = "any design"},
                {"from", "A", .help = "the smallest value of a total (default: 0)"},
                {"to", "B", .help = "its largest value"}},
    .examples = {{"tamis privacy strata --strata 20:10,900:9 --outsider 1 --insider 5 --to 1",
                  "one in two, and one in a hundred"},
                 {"tamis privacy strata --strata 6194:200 --outsider 0.1 --insider 2 --json", "a simple random sample"}},
    .run = run,
};
