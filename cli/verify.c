/* tamis verify: is a certificate right? */
#include "cli.h"

static int run(const cli_call *call)
{
    tamis_error err = {0};
    char *text = NULL;
    int ok = 0;
    if (tamis_verify(&ok, &text, call->operands[0], call->json, &err) != TAMIS_OK) return cli_failed(&err, NULL);
    int code = cli_print(text);
    return code != TAMIS_OK ? code : ok ? TAMIS_OK : TAMIS_INVALID;
}

extern const cli_command cli_command_verify;
const cli_command cli_command_verify = {
    .name = "verify",
    .purpose = "re-derive the guarantee of a release from its certificate",
    .about = "Reads the plan out of a certificate, computes sensitivities, noise, composition, account and amplification again, "
             "and compares every field with what follows. No data is needed. If measurements.json lies beside the "
             "certificate, its hash must be the one that is named. A guarantee that is missing is computed and told.\n\n"
             "This proves arithmetic, not authorship: 'tamis ledger verify --against' compares certificates with the "
             "ledger. docs/certificate.md describes the file, well enough to write another verifier.\n\n"
             "The exit code is 3 if a problem was found.",
    .operands = (const cli_argument[]){
        {.name = "CERTIFICATE.json", .needed = true, .files = CLI_ANY_FILES, .help = "of a release"},
        {0}},
    .examples = (const cli_example[]){{"tamis verify plan-release/certificate.json", "does the promise hold?"},
                                      {"tamis verify plan-release/certificate.json --json", "the same for a program"},
                                      {0}},
    .run = run,
};
