/* tamis verify: is a release right? */
#include "cli.h"

static int run(const cli_call *call)
{
    tamis_error err = {0};
    char *text = NULL;
    int ok = 0;
    const tamis_verify_options options = {.size = sizeof options,
                                          .key = cli_value(call, "key"),
                                          .frame = cli_value(call, "frame")};
    const char *path = call->operands[0];
    tamis_status status = tamis_tally_is_certificate(path)
                              ? (call->json ? tamis_tally_verify_json : tamis_tally_verify_text)(&ok, &text, path, options.key,
                                                                                                 &err)
                              : (call->json ? tamis_verify_json : tamis_verify_text)(&ok, &text, path, &options, &err);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    int code = cli_print(text);
    return code != TAMIS_OK ? code : ok ? TAMIS_OK : TAMIS_INVALID;
}

const cli_command cli_command_verify = {
    .name = "verify",
    .purpose = "check a release against its certificate",
    .about =
        "Reads the plan in a certificate, recomputes sensitivities, noise, composition, account and amplification, and compares "
        "every field with the result. No data are needed. A missing guarantee is computed.\n\n"
        "If you give a folder, every file must be there and have the hash in the certificate. measurements.json must have the "
        "same tables and noise, release.json the numbers computed from them, and all others what is written from these. If you "
        "give only a certificate, the files beside it are checked, and missing ones are listed.\n\n"
        "A folder of 'tamis tally' is checked in the same way, from the counts in its certificate.\n\n"
        "That checks the arithmetic. Who made the release is proved by a signature (--key, the public key that the agency "
        "publishes) and by the agency's ledger ('tamis ledger verify --against'). docs/certificate.md describes the file in "
        "enough detail to write another verifier.\n\n"
        "The exit code is 3 if a problem was found.",
    .operands = {{"FOLDER", .needed = true, .files = CLI_ANY_FILES,
                  .help = "the folder of a release or a tally, or its certificate.json"}},
    .options =
        {{"key", "NAME.pub", .files = CLI_ANY_FILES, .help = "the certificate must be signed with this key"},
         {"frame", "FILE", .files = CLI_ANY_FILES,
          .help =
              "the frame that the plan names; if not given, it is looked for beside the certificate and in the folder above"}},
    .examples = {{"tamis verify plan-release", "does the guarantee hold, and are all files unchanged?"},
                 {"tamis verify plan-release --key agency.pub", "and is it the agency's?"},
                 {"tamis verify plan-release/certificate.json --json", "the certificate, for a program"}},
    .run = run,
};
