/* Clients that run SQL for a plan: what is believed of their answers, and what becomes of clients that fail, hang, talk or
 * lie. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "engine/statements/command.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/folder.h"
#include "tests/rng/scripted_bits.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A client: a program of the shell that knows its tag, and does what `text` says. */
static const char *write_client(const char *text)
{
    const char *path = in_folder("client");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\nsql=$(cat)\ntag=$(printf '%%s\\n' \"$sql\" | sed -n \"s/^SELECT '\\(tamis [0-9a-f]* [0-9]*\\) "
            "end';/\\1/p\")\n%s\n",
            text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static tamis_status ask(char **reply_text, const tmi_command *command, const char *sql, const tamis_watch *watch,
                        tamis_error *err)
{
    tmi_client *client;
    tamis_reply reply = {0};
    tamis_status status = tmi_client_new(&client, command, err);
    *reply_text = NULL;
    if (status != TAMIS_OK) return status;
    tmi_client_watched(client, watch);
    status = tmi_client_run(client, &reply, sql, err);
    if (tmi_client_was_stopped(client)) strcpy(err->message, "stopped");
    if (reply.failed) status = TAMIS_SYSTEM;
    if (status == TAMIS_OK && reply.text) *reply_text = reply.text;
    else tmi_free(reply.text);
    tmi_client_free(client);
    return status;
}

static tmi_command command_of(const char *const *words, size_t count)
{
    return (tmi_command){.words = words, .word_count = count, .dialect = "spark", .table = "t", .seconds = 20};
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *client, *reply; /* NULL: it fails */
        const char *word;
    } cases[] = {
        {"printf '%s\\t0\\t5\\tNULL\\n%s end\\n' \"$tag\" \"$tag\"", "[[\"0\", \"5\", null]]", NULL},
        {"printf 'tamis,c0\\n%s,0,5,\\n?column?\\n%s end\\n' \"$tag\" \"$tag\"", "[[\"0\", \"5\", null]]", NULL},
        {"printf '\"%s\",\"0\",\"-17\",\"\"\\r\\n\"%s end\"\\r\\n' \"$tag\" \"$tag\"", "[[\"0\", \"-17\", null]]", NULL},
        {"echo Welcome; echo \"spark-sql> $sql\"; printf '%s\\t1\\n%s end\\nbye\\n' \"$tag\" \"$tag\"", "[[\"1\"]]", NULL},
        {"printf '%s\\tdecimal(9,2)\\tbigint\\n%s end\\n' \"$tag\" \"$tag\"", "[[\"decimal(9,2)\", \"bigint\"]]", NULL},
        {"printf '%s,\"DECIMAL(9,2)\",double precision\\n%s end\\n' \"$tag\" \"$tag\"",
         "[[\"DECIMAL(9,2)\", \"double precision\"]]", NULL},
        {"printf '%s\\tNULL\\tNULL\\n%s end\\n' \"$tag\" \"$tag\"", "[]", NULL}, /* no row: the statement has one all the same */
        {"printf '%s,,\\n%s end\\n' \"$tag\" \"$tag\"", "[]", NULL},
        {"printf '%s\\t1\\n' \"$tag\"", NULL, "not complete"},
        {"printf '%s end\\n' \"$tag\"", NULL, "not complete"}, /* an error, after which the client went on */
        {"printf 'tamis 0 1\\t1\\n%s end\\n' \"$tag\"", NULL, "not complete"},
        {"printf '%s\\t1\\ntamis 00 1 end\\n' \"$tag\"", NULL, "not complete"},
        {"printf '%s\\t1\\t2;secret\\n%s end\\n' \"$tag\" \"$tag\"", NULL, "integers"},
        {"printf '%s\\t1\\t\"2\\n%s end\\n' \"$tag\" \"$tag\"", NULL, "integers"},
        {"printf '%s\\t1\\t\"2\"x\\n%s end\\n' \"$tag\" \"$tag\"", NULL, "integers"},
        {"printf '%s 1\\n%s end\\n' \"$tag\" \"$tag\"", NULL, "integers"},
        {"printf '%s\\t1\\n%s end\\n' \"$tag\" \"$tag\"; exit 3", NULL, "exit code 3"},
        {"printf '%s\\t1\\n%s end\\n' \"$tag\" \"$tag\"; kill -9 $$", NULL, "ended by a signal"},
        {"echo secret >&2; exit 1", NULL, "exit code 1"},
        {"", NULL, "not complete"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const words[] = {write_client(cases[i].client), "-S"};
        const tmi_command command = command_of(words, 2);
        tamis_error err = {0};
        char *reply;
        const tamis_status status = ask(&reply, &command, "SELECT 1, 2", NULL, &err);
        if (status != (cases[i].reply ? TAMIS_OK : TAMIS_SYSTEM)) fail_msg("%zu: %d, %s", i, (int)status, err.message);
        if (cases[i].reply) assert_string_equal(reply, cases[i].reply);
        else if (!strstr(err.message, cases[i].word)) fail_msg("%zu: %s", i, err.message);
        assert_null(strstr(err.message, "secret"));
        tmi_free(reply);
    }
}

/* The lines of a plan are texts; nothing but printing characters of ASCII is left of them. */
static void plans(void **state)
{
    (void)state;
    const char *const words[] = {
        write_client("printf 'before\\n%s begin\\n+- Sample 0.1\\n\\303\\251\\n%s end\\nafter\\n' \"$tag\" \"$tag\"")};
    const tmi_command command = command_of(words, 1);
    tamis_error err = {0};
    char *reply;
    if (ask(&reply, &command, "EXPLAIN SELECT 1", NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_string_equal(reply, "[[\"+- Sample 0.1\"], [\"  \"]]");
    tmi_free(reply);
}

/* What it gets: no shell has read its words, and the statement comes on its standard input alone. */
static void what_it_is_given(void **state)
{
    (void)state;
    const char *const words[] = {write_client(
                                     "[ \"$1\" = '$HOME; \"x\"' ] || exit 7\n[ $# = 1 ] || exit 8\n"
                                     "printf '%s' \"$sql\" | grep -q \"LEFT JOIN (SELECT 'k' AS key) q ON 1 = 1;\" || exit 9\n"
                                     "printf '%s\\t1\\n%s end\\n' \"$tag\" \"$tag\""),
                                 "$HOME; \"x\""};
    const tmi_command command = command_of(words, 2);
    tamis_error err = {0};
    char *reply;
    if (ask(&reply, &command, "SELECT 'k' AS key", NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tmi_free(reply);
}

/* The word in front of each row is 16 bytes of the generator, new ones for each question: a client that repeats an old answer is
 * not believed. Without random bits nothing is asked. */
static void words_are_new_for_each_question(void **state)
{
    (void)state;
    uint8_t bytes[32];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i + 16);
    const char *const client = write_client(
        "[ \"$tag\" = \"tamis $1 1\" ] || exit 1\nprintf '%s\\t1\\n%s end\\n' \"$tag\" \"$tag\"");
    static const char *const expected[] = {"101112131415161718191a1b1c1d1e1f", "202122232425262728292a2b2c2d2e2f", "none"};
    bits_from_bytes(bytes, sizeof bytes);
    for (size_t question = 0; question < COUNT(expected); question++) {
        const char *const called[] = {client, expected[question]};
        const tmi_command command = command_of(called, 2);
        tamis_error err = {0};
        char *reply;
        tamis_status status = ask(&reply, &command, "SELECT 'k' AS key", NULL, &err);
        if (question < 2 && status != TAMIS_OK) fail_msg("%zu: %s", question, err.message);
        if (question == 2 && !(status == TAMIS_SYSTEM && strstr(err.message, "no further bits"))) fail_msg("%s", err.message);
        tmi_free(reply);
    }
    bits_from_seed(1);
}

static void errors_go_to_a_file(void **state)
{
    (void)state;
    const char *const words[] = {write_client("echo 'the value is secret' >&2; exit 1")};
    char path[600], line[64] = "";
    tmi_command command = command_of(words, 1);
    tamis_error err = {0};
    struct stat facts;
    char *reply;
    snprintf(path, sizeof path, "%s", in_folder("errors.log"));
    command.errors_to = path;
    assert_int_equal(ask(&reply, &command, "SELECT 1", NULL, &err), TAMIS_SYSTEM);
    assert_null(strstr(err.message, "secret"));
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "the value is secret\n");
    fclose(file);
}

static double seconds_since(struct timespec start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
}

static int stop(void *context, double share, int64_t rows)
{
    assert_true(share < 0 && rows == 0);
    return ++*(int *)context > 2;
}

/* Clients that do not end are ended, with the processes that they started. */
static void clients_that_hang(void **state)
{
    (void)state;
    static const struct {
        const char *client, *word;
        bool stopped;
    } cases[] = {{"sleep 300", "no answer within 1 seconds", false},
                 {"sleep 300 & sleep 300", "no answer within 1 seconds", false},
                 {"exec >&-; sleep 300", "no answer within 1 seconds", false},
                 {"exec >&-; sleep 300", "stopped", true},
                 {"sleep 300", "stopped", true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const words[] = {write_client(cases[i].client)};
        int asked = 0;
        const tamis_watch watch = {stop, &asked};
        tmi_command command = command_of(words, 1);
        struct timespec start;
        tamis_error err = {0};
        char *reply;
        command.seconds = cases[i].stopped ? 100 : 1;
        clock_gettime(CLOCK_MONOTONIC, &start);
        assert_int_equal(ask(&reply, &command, "SELECT 1", cases[i].stopped ? &watch : NULL, &err), TAMIS_SYSTEM);
        if (!strstr(err.message, cases[i].word)) fail_msg("%zu: %s", i, err.message);
        assert_true(seconds_since(start) < 60);
    }
}

static void clients_that_talk(void **state)
{
    (void)state;
    const char *const words[] = {write_client("yes 'a line that nobody wants to read, again and again and again'")};
    tmi_command command = command_of(words, 1);
    tamis_error err = {0};
    char *reply;
    command.seconds = 300;
    assert_int_equal(ask(&reply, &command, "SELECT 1", NULL, &err), TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "longer than 64 MB"));
}

/* How long a list of points is depends on values: the same answer is too long before a charge, and is read after one. */
static void long_answers_after_a_charge(void **state)
{
    (void)state;
    const char *const words[] = {
        write_client("row=$(printf '\\t%0190d' $(seq 100))\nyes \"$tag$row\" | head -n 3600\necho \"$tag end\"")};
    tmi_command command = command_of(words, 1);
    tamis_error err = {0};
    tmi_client *client;
    tamis_reply reply = {0};
    command.seconds = 300;
    assert_int_equal(tmi_client_new(&client, &command, NULL), TAMIS_OK);
    assert_int_equal(tmi_client_run(client, &reply, "SELECT 1", &err), TAMIS_SYSTEM);
    assert_true(strstr(err.message, "longer than 64 MB") && !reply.text);
    tmi_client_charged(client);
    if (tmi_client_run(client, &reply, "SELECT 1", &err) != TAMIS_OK) fail_msg("%s", err.message);
    size_t count = 0;
    for (const char *at = reply.text; (at = strchr(at, '[')); at++) count++;
    assert_int_equal(count, 3601);
    assert_true(strlen(reply.text) > TMI_COMMAND_BYTES);
    tmi_free(reply.text);
    tmi_client_free(client);
}

static void programs_that_are_not_there(void **state)
{
    (void)state;
    const char *const words[] = {"no-such-program-anywhere"}, *const folders[] = {"/"};
    tamis_error err = {0};
    char *reply;
    tmi_command command = command_of(words, 1);
    assert_int_equal(ask(&reply, &command, "SELECT 1", NULL, &err), TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "no such program"));
    command = command_of(folders, 1);
    assert_int_equal(ask(&reply, &command, "SELECT 1", NULL, &err), TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "cannot be started"));
}

static void memory_fails(void **state)
{
    (void)state;
    const char *const words[] = {write_client("printf '%s\\t0\\t5\\tNULL\\n%s end\\n' \"$tag\" \"$tag\"")};
    const tmi_command command = command_of(words, 1);
    tamis_error err = {0};
    char *reply = NULL;
    EVERY_ALLOCATION_FAILS(ask(&reply, &command, "SELECT 1", NULL, &err), assert_null(reply));
    assert_string_equal(reply, "[[\"0\", \"5\", null]]");
    tmi_free(reply);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(plans),
        cmocka_unit_test(what_it_is_given),
        cmocka_unit_test(words_are_new_for_each_question),
        cmocka_unit_test(errors_go_to_a_file),
        cmocka_unit_test(clients_that_hang),
        cmocka_unit_test(clients_that_talk),
        cmocka_unit_test(long_answers_after_a_charge),
        cmocka_unit_test(programs_that_are_not_there),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(all, make_folder, remove_folder);
}
