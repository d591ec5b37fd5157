/* tamis key: an agency's keys, to sign releases with. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static int run_create(const cli_call *call)
{
    static const char *const endings[] = {"key", "pub"};
    const char *name = call->operands[0];
    char fingerprint[TAMIS_KEY_FINGERPRINT], path[PATH_MAX];
    tamis_error err = {0};
    struct stat there;
    for (size_t i = 0; i < 2; i++) {
        const size_t length = strlen(name), end = strlen(endings[i]) + 1;
        if (length > end && name[length - end] == '.' && strcmp(name + length - end + 1, endings[i]) == 0)
            return cli_wrong_usage(call->command, "give NAME without its ending: 'tamis key create %.*s' makes both files",
                                   (int)(length - end), name);
        if (snprintf(path, sizeof path, "%s.%s", name, endings[i]) < (int)sizeof path && lstat(path, &there) == 0)
            return cli_wrong_usage(call->command, "%s already exists, and a key is never overwritten: choose another name", path);
    }
    if (tamis_key_create(fingerprint, name, &err) != TAMIS_OK) return cli_failed(&err, NULL);
    if (call->json) printf("{\"fingerprint\": \"%s\"}\n", fingerprint);
    else
        printf("%s.key signs releases: keep it secret, and a copy of it in a safe place\n"
               "%s.pub checks them: publish it and its fingerprint\n  %s\n",
               name, name, fingerprint);
    return cli_finish_output();
}

static const cli_command create_command = {
    .name = "key create",
    .purpose = "make a pair of keys to sign releases",
    .about = "Makes a pair of Ed25519 keys: NAME.key, the secret one, which only its owner may read, and NAME.pub. Neither file "
             "may exist yet. Both are PEM files that openssl can read.\n\n"
             "'tamis release --sign NAME.key' signs a release, 'tamis verify --key NAME.pub' checks the signature. The "
             "fingerprint that is printed, the SHA-256 of the public key, is the field signed_by of certificates. "
             "docs/certificate.md says how to keep the secret key encrypted, and how to check a signature without tamis.",
    .operands = {{"NAME", .needed = true, .files = CLI_ANY_FILES, .help = "name of the files, without .key and .pub"}},
    .examples = {{"tamis key create agency", "agency.key and agency.pub"},
                 {"tamis key create agency --json", "the same for a program"}},
    .run = run_create,
};

const cli_command cli_command_key = {
    .name = "key",
    .purpose = "an agency's keys: who made a release?",
    .about = "A certificate proves that its numbers follow from one another, not who made them. An agency that signs its "
             "releases with a secret key, and publishes the public key, lets everybody check that too.",
    .members = (const cli_command *const[]){&create_command, NULL},
};
