/* Signatures: a vector of RFC 8032, pairs of keys as files, and keys that are refused with the reason. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/sign.h"
#include "tests/base/memory_that_fails.h"

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tamis-sign-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *written(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

/* RFC 8032, 7.1, test 1. */
static const char rfc_secret[] = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
                                 "-----END PRIVATE KEY-----\n";
static const char rfc_public[] = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
                                 "-----END PUBLIC KEY-----\n";
static const char rfc_signature[] = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                                    "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

static void the_vector_of_the_standard(void **state)
{
    (void)state;
    tmi_key *secret, *public;
    tamis_error err;
    unsigned char signature[TMI_SIGNATURE_BYTES];
    char hex[2 * TMI_SIGNATURE_BYTES + 1], of_secret[TAMIS_KEY_FINGERPRINT], of_public[TAMIS_KEY_FINGERPRINT];
    bool right;
    if (tmi_key_read_secret(&secret, written("rfc.key", rfc_secret, 0600), &err) != TAMIS_OK) fail_msg("%s", err.message);
    if (tmi_key_read_public(&public, written("rfc.pub", rfc_public, 0644), &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tmi_sign(signature, secret, "", &err), TAMIS_OK);
    tmi_hex(hex, signature, sizeof signature);
    assert_string_equal(hex, rfc_signature);
    assert_int_equal(tmi_check_signature(&right, signature, sizeof signature, public, "", &err), TAMIS_OK);
    assert_true(right);
    assert_int_equal(tmi_key_fingerprint(of_secret, secret, &err), TAMIS_OK);
    assert_int_equal(tmi_key_fingerprint(of_public, public, &err), TAMIS_OK);
    assert_string_equal(of_secret, of_public);
    for (size_t bit = 0; bit < 8 * sizeof signature; bit++) {
        signature[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(tmi_check_signature(&right, signature, sizeof signature, public, "", &err), TAMIS_OK);
        assert_false(right);
        signature[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_int_equal(tmi_check_signature(&right, signature, sizeof signature, public, "x", &err), TAMIS_OK);
    assert_false(right);
    for (size_t length = 0; length < sizeof signature; length++) {
        assert_int_equal(tmi_check_signature(&right, signature, length, public, "", &err), TAMIS_OK);
        assert_false(right);
    }
    tmi_key_free(secret);
    tmi_key_free(public);
    tmi_key_free(NULL);
}

static void a_new_pair_signs(void **state)
{
    (void)state;
    tmi_key *secret, *public;
    tamis_error err;
    struct stat facts;
    unsigned char signature[TMI_SIGNATURE_BYTES];
    char name[128], first[TAMIS_KEY_FINGERPRINT], second[TAMIS_KEY_FINGERPRINT], read[TAMIS_KEY_FINGERPRINT];
    bool right;
    snprintf(name, sizeof name, "%s/agency", folder);
    mode_t old = umask(0);
    assert_int_equal(tamis_key_create(first, name, &err), TAMIS_OK);
    umask(old);
    assert_int_equal(stat(in_folder("agency.key"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(tmi_key_read_secret(&secret, path, &err), TAMIS_OK);
    assert_int_equal(tmi_key_read_public(&public, in_folder("agency.pub"), &err), TAMIS_OK);
    assert_int_equal(tmi_key_fingerprint(read, public, &err), TAMIS_OK);
    assert_string_equal(read, first);
    assert_int_equal(tmi_sign(signature, secret, "words", &err), TAMIS_OK);
    assert_int_equal(tmi_check_signature(&right, signature, sizeof signature, public, "words", &err), TAMIS_OK);
    assert_true(right);
    tmi_key_free(secret);
    tmi_key_free(public);
    snprintf(name, sizeof name, "%s/other", folder);
    assert_int_equal(tamis_key_create(second, name, &err), TAMIS_OK);
    assert_string_not_equal(first, second);
}

/* Neither file is touched if one exists, and none is left over. */
static void a_key_is_never_written_over(void **state)
{
    (void)state;
    static const char *const endings[] = {"key", "pub"};
    for (size_t i = 0; i < 2; i++) {
        char name[128], there[16], other[16], fingerprint[TAMIS_KEY_FINGERPRINT] = "x", line[8] = "";
        tamis_error err;
        snprintf(name, sizeof name, "%s/once%zu", folder, i);
        snprintf(there, sizeof there, "once%zu.%s", i, endings[i]);
        snprintf(other, sizeof other, "once%zu.%s", i, endings[1 - i]);
        written(there, "mine", 0600);
        assert_int_equal(tamis_key_create(fingerprint, name, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "already exists"));
        assert_string_equal(fingerprint, "");
        assert_int_not_equal(access(in_folder(other), F_OK), 0);
        FILE *file = fopen(in_folder(there), "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        fclose(file);
        assert_string_equal(line, "mine");
    }
}

static void refused(const char *file, bool secret, tamis_status expected, const char *words)
{
    tmi_key *key = (tmi_key *)(void *)folder;
    tamis_error err = {0};
    tamis_status status = secret ? tmi_key_read_secret(&key, file, &err) : tmi_key_read_public(&key, file, &err);
    if (status != expected || key || !strstr(err.message, words)) fail_msg("%s: %d, %s", words, (int)status, err.message);
}

static void keys_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char encrypted[] =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
        "MIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBDXfCmuxTzzaF2bbRqR\n-----END ENCRYPTED PRIVATE KEY-----\n";
    static const char elliptic[] =
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt\n"
        "6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n-----END PUBLIC KEY-----\n";
    refused(in_folder("nothing.key"), true, TAMIS_INVALID, "No such file");
    refused(folder, true, TAMIS_INVALID, "directory");
    refused(written("empty", "", 0600), true, TAMIS_INVALID, "expected an Ed25519 key");
    refused(written("words", "my key", 0600), false, TAMIS_INVALID, "expected an Ed25519 key");
    refused(written("broken", "-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\n", 0600), true, TAMIS_INVALID,
            "expected an Ed25519 key");
    refused(written("public", rfc_public, 0600), true, TAMIS_INVALID, "needs the secret one");
    refused(written("secret", rfc_secret, 0600), false, TAMIS_INVALID, "needs the public one");
    refused(written("open", rfc_secret, 0640), true, TAMIS_INVALID, "chmod 600");
    refused(written("closed", encrypted, 0600), true, TAMIS_INVALID, "encrypted");
    refused(written("curve", elliptic, 0600), false, TAMIS_INVALID, "expected Ed25519");
}

/* A user who may lock no memory gets a message about the key, not about the lock. */
static void a_refused_lock_is_not_the_reason(void **state)
{
    (void)state;
    int status;
    assert_int_equal(chmod(folder, 0755), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        tmi_key *key;
        tamis_error err = {0};
        if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0)) _exit(2);
        if (tmi_key_read_secret(&key, in_folder("nothing.key"), &err) != TAMIS_INVALID) _exit(3);
        _exit(strstr(err.message, "No such file") ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void wrong_arguments(void **state)
{
    (void)state;
    char fingerprint[TAMIS_KEY_FINGERPRINT];
    tamis_error err;
    assert_int_equal(tamis_key_create(NULL, "x", &err), TAMIS_INVALID);
    assert_int_equal(tamis_key_create(fingerprint, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_key_create(fingerprint, "", &err), TAMIS_INVALID);
    assert_int_equal(tamis_key_create(fingerprint, "/nowhere/at/all", &err), TAMIS_INVALID);
    assert_string_equal(fingerprint, "");
}

static void no_memory(void **state)
{
    (void)state;
    char name[128], fingerprint[TAMIS_KEY_FINGERPRINT];
    tmi_key *key = NULL;
    snprintf(name, sizeof name, "%s/memory", folder);
    EVERY_ALLOCATION_FAILS(tamis_key_create(fingerprint, name, NULL),
                           { assert_int_not_equal(access(in_folder("memory.key"), F_OK), 0); });
    in_folder("memory.key");
    EVERY_ALLOCATION_FAILS(tmi_key_read_secret(&key, path, NULL), assert_null(key));
    tmi_key_free(key);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(the_vector_of_the_standard),
        cmocka_unit_test(a_new_pair_signs),
        cmocka_unit_test(a_key_is_never_written_over),
        cmocka_unit_test(keys_that_are_none_are_refused),
        cmocka_unit_test(a_refused_lock_is_not_the_reason),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
