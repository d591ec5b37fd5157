/* tamis verify: is a release right? */
#include "cli.h"

static int run(const cli_call *call)
{
    tamis_error err = {0};
    char *text = NULL;
    int ok = 0;
    const tamis_verify_options options = {.key = cli_value(call, "key"), .frame = cli_value(call, "frame")};
    const char *path = call->operands[0];
    tamis_status status = tamis_tally_is_certificate(path)
                              ? tamis_tally_verify(&ok, &text, path, options.key, call->json, &err)
                              : (call->json ? tamis_verify_json : tamis_verify_text)(&ok, &text, path, &options, &err);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    int code = cli_print(text);
    return code != TAMIS_OK ? code : ok ? TAMIS_OK : TAMIS_INVALID;
}

extern const cli_command cli_command_verify;
const cli_command cli_command_verify = {
    .name = "verify",
    .purpose = "re-derive a release from its certificate",
    .about = "Reads the plan out of a certificate, computes sensitivities, noise, composition, account and amplification again, "
             "and compares every field with what follows. No data is needed. A guarantee that is missing is computed.\n\n"
             "Of a folder, every file must be there, have the hash that the certificate names, and say what follows: "
             "measurements.json the same tables and noise, release.json the numbers computed from them, release.csv, "
             "registry.yaml and report.html what is written from these. Of a certificate alone, the files beside it are "
             "checked as far as they are there, and the others are listed.\n\n"
             "A folder of tamis tally is computed again from the counts in its certificate, in the same way.\n\n"
             "That proves arithmetic. Who made the release is proved by a signature (--key, the public key that the "
             "agency has published) and by the agency's ledger ('tamis ledger verify --against'). docs/certificate.md "
             "describes the file, well enough to write another verifier.\n\n"
             "The exit code is 3 if a problem was found.",
    .operands = (const cli_argument[]){{.name = "FOLDER",
                                        .needed = true,
                                        .files = CLI_ANY_FILES,
                                        .help = "of a release or a tally, or its certificate.json"},
                                       {0}},
    .options =
        (const cli_argument[]){
            {.name = "key", .value = "NAME.pub", .files = CLI_ANY_FILES, .help = "the certificate must be signed with this key"},
            {.name = "frame",
             .value = "FILE",
             .files = CLI_ANY_FILES,
             .help =
                 "the frame that the plan names; if not given, it is looked for beside the certificate and in the folder above"},
            {0}},
    .examples = (const cli_example[]){{"tamis verify plan-release", "does the guarantee hold, and is everything unchanged?"},
                                      {"tamis verify plan-release --key agency.pub", "and is it the agency's?"},
                                      {"tamis verify plan-release/certificate.json --json", "the certificate, for a program"},
                                      {0}},
    .run = run,
};
