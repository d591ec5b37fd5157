/* tamis privacy meaning: what a guarantee is worth to a person. */
#include <errno.h>
#include <string.h>

#include "cli.h"

/* The exact number of an option, or `otherwise`; NULL, with *code set, if it is none. */
static tamis_number *read_option(int *code, const cli_call *call, const char *option, const char *otherwise)
{
    const char *text = cli_value(call, option);
    tamis_number *z = NULL;
    tamis_error err = {0};
    if (!text) text = otherwise;
    if (*code != 0 || !text) return NULL;
    if (tamis_number_read(&z, text, &err) != TAMIS_OK)
        *code = cli_wrong_usage(call->command, "--%s: must be a number such as 1 or 1/10, got '%s'", option, text);
    return z;
}

static int write_picture(const cli_call *call, const tamis_promise *promise, tamis_error *err)
{
    const char *path = cli_value(call, "svg");
    char *svg = NULL;
    if (!path) return 0;
    tamis_status status = tamis_meaning_svg(&svg, promise, err);
    if (status != TAMIS_OK) return cli_failed(err, NULL);
    FILE *file = fopen(path, "w");
    bool wrong = !file || fputs(svg, file) < 0;
    if (file) wrong |= fclose(file) != 0;
    tamis_free(svg);
    return wrong ? cli_wrong_usage(call->command, "--svg: cannot write '%s': %s", path, strerror(errno)) : 0;
}

static int show(const cli_call *call, const tamis_promise *promise)
{
    tamis_error err = {0};
    char *text = NULL;
    tamis_status status = (call->json ? tamis_meaning_json : tamis_meaning_text)(&text, promise, &err);
    if (status == TAMIS_INVALID) { /* "eps: ..." or "delta: ..." */
        bool is_delta = err.message[0] == 'd';
        return cli_wrong_usage(call->command, "--%s%s", is_delta ? "delta" : "epsilon, --outsider", strchr(err.message, ':'));
    }
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    int code = write_picture(call, promise, &err);
    if (code == 0 && call->json) printf("{\"meaning\": %s}\n", text);
    else if (code == 0) fputs(text, stdout);
    tamis_free(text);
    return code == 0 ? cli_finish_output() : code;
}

static int run(const cli_call *call)
{
    int code = 0;
    tamis_number *eps = read_option(&code, call, "epsilon", NULL), *delta = read_option(&code, call, "delta", "0");
    tamis_number *outsider = read_option(&code, call, "outsider", NULL);
    const tamis_promise promise = {eps, delta, outsider, outsider ? delta : NULL, NULL}; /* sampling leaves no more of a delta */
    if (code == 0) code = show(call, &promise);
    tamis_number_free(eps);
    tamis_number_free(delta);
    tamis_number_free(outsider);
    return code;
}

const cli_command cli_command_privacy_meaning = {
    .name = "privacy meaning",
    .purpose = "what it means for a person: odds, beliefs, detection",
    .about =
        "Prints one line for each of three attackers: a neighbour who knows that the person was sampled, a journalist who picks "
        "any sampled record, and an outsider who does not know who was sampled. Each line has the factor by which the odds of a "
        "guess can grow, what a belief of 1, 10 and 50 percent can become, and the power of a test with 1 and 5 percent false "
        "positives. All are upper bounds, whatever was known before, certified and rounded up. docs/settings.md explains them.",
    .options = {{"epsilon", "E", .needed = true, .help = "the epsilon of a sampled person"},
                {"delta", "D", .help = "the delta that goes with it; default 0"},
                {"outsider", "E", .help = "the epsilon of an outsider, where one is proved, at the same delta"},
                {"svg", "FILE", .help = "also write a picture: belief before against belief after; replaces FILE"}},
    .examples = {{"tamis privacy meaning --epsilon 1", "is 1 small?"},
                 {"tamis privacy meaning --epsilon 1 --delta 1e-6", "and with a delta?"},
                 {"tamis privacy meaning --epsilon 1 --outsider 0.054 --svg belief.svg", "with a picture"}},
    .run = run,
};
