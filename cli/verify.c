/* tamis verify: is a release right? */
#include "cli.h"

static int run(const cli_call *call)
{
    tamis_error err = {0};
    char *text = NULL;
    int ok = 0;
    const tamis_verify_options options = {.key = cli_value(call, "key"), .frame = cli_value(call, "frame")};
    tamis_status status = (call->json ? tamis_verify_json : tamis_verify_text)(&ok, &text, call->operands[0], &options, &err);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    int code = cli_print(text);
    return code != TAMIS_OK ? code : ok ? TAMIS_OK : TAMIS_INVALID;
}

const cli_command cli_command_verify = {
    .name = "verify",
    .purpose = "re-derive a release from its certificate",
    .about = "Reads the plan out of a certificate, computes sensitivities, noise, composition, account and amplification again, "
             "and compares every field with what follows. No data is needed. A guarantee that is missing is computed.\n\n"
             "Of a folder, every file must be there, have the hash that the certificate names, and say what follows: "
             "measurements.json the same tables and noise, release.json the numbers computed from them, release.csv, "
             "registry.yaml and report.html what is written from these. Of a certificate alone, the files beside it are checked "
             "as far as they are there, and the others are listed.\n\n"
             "That proves arithmetic. Who made the release is proved by a signature (--key, the public key that the agency has "
             "published) and by the agency's ledger ('tamis ledger verify --against'). docs/certificate.md describes the file, "
             "well enough to write another verifier.\n\n"
             "The exit code is 3 if a problem was found.",
    .operands = {{"FOLDER", .needed = true, .files = CLI_ANY_FILES, .help = "of a release, or its certificate.json"}},
    .options =
        {{"key", "NAME.pub", .files = CLI_ANY_FILES, .help = "the certificate must be signed with this key"},
         {"frame", "FILE", .files = CLI_ANY_FILES,
          .help =
              "the frame that the plan names; if not given, it is looked for beside the certificate and in the folder above"}},
    .examples = {{"tamis verify plan-release", "does the guarantee hold, and is everything unchanged?"},
                 {"tamis verify plan-release --key agency.pub", "and is it the agency's?"},
                 {"tamis verify plan-release/certificate.json --json", "the certificate, for a program"}},
    .run = run,
};
