#include "engine/statements/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/value/json.h"
#include "base/watch.h"
#include "rng/bits.h"

extern char **environ;

#define WORD_BYTES 16 /* of the random word in front of each row */

struct tmi_client {
    char **words; /* ends with NULL */
    char *errors_to;
    int64_t seconds;
    const tamis_watch *watch;
    int64_t question; /* their number */
    bool charged;     /* answers have no limit any more */
    bool stopped;     /* the last one, by the watch */
    char trouble[96]; /* why it failed */
};

void tmi_client_free(tmi_client *client)
{
    if (!client) return;
    for (size_t i = 0; client->words && client->words[i]; i++) tmi_free(client->words[i]);
    tmi_free(client->words);
    tmi_free(client->errors_to);
    tmi_free(client);
}

tamis_status tmi_client_new(tmi_client **client, const tmi_command *command, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_client *made = tmi_alloc(1, sizeof *made);
    *client = NULL;
    if (!made) return tmi_fail_memory(err);
    made->seconds = command->seconds;
    made->words = tmi_alloc(command->word_count + 1, sizeof *made->words);
    if (!made->words) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < command->word_count; i++) TMI_TRY(tmi_copy_string(&made->words[i], command->words[i], err));
    TMI_TRY(tmi_copy_string(&made->errors_to, command->errors_to, err));
    *client = made;
    return TAMIS_OK;
done:
    tmi_client_free(made);
    return status;
}

void tmi_client_watched(tmi_client *client, const tamis_watch *watch) { client->watch = watch; }

void tmi_client_charged(tmi_client *client) { client->charged = true; }

bool tmi_client_was_stopped(const tmi_client *client) { return client->stopped; }

/* ---- the process ---- */

/* A file in memory with the statements: writing to a pipe whose reader has ended would raise a signal. */
static int file_of(const tmi_text *sql)
{
    const int file = memfd_create("tamis", MFD_CLOEXEC);
    size_t written = 0;
    while (file >= 0 && written < sql->length) {
        const ssize_t n = write(file, sql->bytes + written, sql->length - written);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(file);
            return -1;
        }
        written += (size_t)n;
    }
    if (file >= 0) lseek(file, 0, SEEK_SET);
    return file;
}

/* Starts the client as the leader of a group of processes, so that it ends with its children. 0 or an errno. */
static int start(pid_t *child, const tmi_client *c, int input, int output)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    const char *errors = c->errors_to ? c->errors_to : "/dev/null";
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    sigemptyset(&none);
    int code = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (code == 0) code = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (code == 0) code = posix_spawnattr_setpgroup(&how, 0);
    if (code == 0) code = posix_spawnattr_setsigmask(&how, &none);
    if (code == 0) code = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    if (code == 0) code = posix_spawnp(child, c->words[0], &files, &how, c->words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return code;
}

static int64_t seconds_now(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? (int64_t)now.tv_sec : 0;
}

/* Whether the watch and the time allow more. */
static bool may_go_on(tmi_client *c, int64_t begin)
{
    if (tmi_stopped(c->watch, -1, 0)) c->stopped = true;
    else if (seconds_now() - begin >= c->seconds)
        snprintf(c->trouble, sizeof c->trouble, "no answer within %lld seconds", (long long)c->seconds);
    else return true;
    return false;
}

/* Waits for the client, which may go on after its answer, and ends what it has left behind. False if it had to be ended, or if
 * nobody knows how it ended. */
static bool end(int *result, tmi_client *c, pid_t child, int64_t begin)
{
    static const struct timespec patience = {0, 20000000};
    bool waits = true;
    pid_t found;
    while ((found = waitpid(child, result, WNOHANG)) == 0 || (found < 0 && errno == EINTR)) {
        if (waits && !may_go_on(c, begin)) {
            waits = false;
            kill(-child, SIGKILL);
        }
        nanosleep(&patience, NULL);
    }
    kill(-child, SIGKILL);
    if (found != child) snprintf(c->trouble, sizeof c->trouble, "nobody knows how it ended");
    return waits && found == child;
}

/* Reads the answer to its end. False, with the trouble, if it is too long, takes too long or is not wanted any more. */
static bool read_answer(tmi_text *answer, tmi_client *c, int output, int64_t begin)
{
    static const int patience = 100; /* milliseconds, after which the watch is asked */
    char piece[1 << 16];
    for (;;) {
        struct pollfd ready = {.fd = output, .events = POLLIN};
        const int found = poll(&ready, 1, patience);
        if (!may_go_on(c, begin)) return false;
        if (found <= 0) continue;
        const ssize_t n = read(output, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) return true;
        if (n < 0 || (!c->charged && answer->length + (size_t)n > TMI_COMMAND_BYTES)) {
            snprintf(c->trouble, sizeof c->trouble, n < 0 ? "its answer cannot be read" : "its answer is longer than 64 MB");
            return false;
        }
        tmi_text_add(answer, piece, (size_t)n);
        tmi_wipe(piece, (size_t)n);
    }
}

/* Runs the client on the statements. False, with the trouble. */
static bool converse(tmi_text *answer, tmi_client *c, const tmi_text *sql)
{
    int pipes[2] = {-1, -1}, code = 0, result = 0;
    pid_t child = -1;
    bool read = false;
    const int64_t begin = seconds_now();
    const int input = file_of(sql);
    if (input < 0 || pipe2(pipes, O_CLOEXEC) != 0) snprintf(c->trouble, sizeof c->trouble, "no files for it");
    else if ((code = start(&child, c, input, pipes[1])) != 0)
        snprintf(c->trouble, sizeof c->trouble, "it cannot be started: %s",
                 code == ENOENT ? "no such program" : "see its permissions");
    if (input >= 0) close(input);
    if (pipes[1] >= 0) close(pipes[1]);
    if (child > 0) {
        read = read_answer(answer, c, pipes[0], begin);
        if (!read) kill(-child, SIGKILL);
        read = end(&result, c, child, begin) && read;
    }
    if (pipes[0] >= 0) close(pipes[0]);
    if (!read) return false;
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0) return true;
    if (WIFEXITED(result)) snprintf(c->trouble, sizeof c->trouble, "exit code %d", WEXITSTATUS(result));
    else snprintf(c->trouble, sizeof c->trouble, "ended by a signal");
    return false;
}

/* ---- what it is sent, and what it answers ---- */

static bool is_explain(const char *sql) { return strncmp(sql, "EXPLAIN", 7) == 0; }

/* A plan cannot be wrapped: its lines are those between two rows. */
static void write_statements(tmi_text *sql, const char *statement, const char *tag)
{
    if (is_explain(statement)) {
        tmi_text_format(sql, "SELECT '%s begin';\n", tag);
        tmi_text_put(sql, statement);
    } else {
        tmi_text_format(sql, "SELECT '%s' AS tamis, q.* FROM (SELECT 1 AS one) o LEFT JOIN (", tag);
        tmi_text_put(sql, statement);
        tmi_text_put(sql, ") q ON 1 = 1");
    }
    tmi_text_format(sql, ";\nSELECT '%s end';\n", tag);
}

/* A cell of a line: up to the separator, or in quotes. Gives where the next one begins; NULL at the end of the line, or if
 * the cell is none (*fits false). */
static const char *next_cell(tmi_text *cell, const char *at, const char *end, char separator, bool *fits)
{
    const bool quoted = at < end && *at == '"';
    tmi_text_init(cell);
    tmi_text_put(cell, "");
    if (quoted) {
        for (at++; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); at++) {
            tmi_text_add(cell, at, 1);
            at += *at == '"';
        }
        *fits = *fits && at < end;
        at += at < end;
    } else {
        const char *from = at;
        while (at < end && *at != separator) at++;
        tmi_text_add(cell, from, (size_t)(at - from));
    }
    if (at == end) return NULL;
    *fits = *fits && *at == separator;
    return at + 1;
}

/* An integer, NULL, or the word of a type. */
static bool put_answer_cell(tmi_json_out *out, const tmi_text *cell)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_(),.+- ";
    if (cell->failed) return false;
    if (cell->length == 0 || strcmp(cell->bytes, "NULL") == 0 || strcmp(cell->bytes, "\\N") == 0) tmi_json_put_null(out);
    else if (cell->length > 200 || cell->bytes[strspn(cell->bytes, allowed)] != '\0') return false;
    else tmi_json_put_string(out, cell->bytes);
    return true;
}

/* One line of an answer without its tag. A row of NULL alone, where a type or a number of a query would be, is none: it is there
 * because the statement has no other. */
static bool put_row(tmi_json_out *out, const char *at, const char *end, char separator)
{
    bool fits = true, empty = true;
    for (const char *cell = at; fits && cell < end; cell++) empty = empty && strchr("\t,NUL\\", *cell);
    if (empty) return fits;
    tmi_json_open(out, '[');
    while (at && fits) {
        tmi_text cell;
        at = next_cell(&cell, at, end, separator, &fits);
        fits = fits && put_answer_cell(out, &cell);
        tmi_text_clear(&cell);
    }
    tmi_json_close(out, ']');
    return fits;
}

/* The rows of an answer as JSON. False: it is not complete, or a row is none. */
static bool read_rows(tmi_text *json, const tmi_text *answer, const char *tag, bool explains)
{
    const size_t length = strlen(tag);
    bool begun = false, ended = false, fits = true;
    tmi_json_out out;
    tmi_json_out_init(&out, json, false);
    tmi_json_open(&out, '[');
    for (const char *at = answer->bytes, *end; fits && !ended && at && *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        const char *last = end > at && end[-1] == '\r' ? end - 1 : end;
        const char *line = at + (*at == '"');
        const bool tagged = strncmp(line, tag, length) == 0;
        const char *rest = tagged ? line + length + (*at == '"' && line[length] == '"') : line;
        if (tagged && strncmp(rest, " end", 4) == 0) {
            ended = true;
        } else if (tagged && explains && strncmp(rest, " begin", 6) == 0) {
            begun = true;
        } else if (tagged && !explains) {
            begun = true;
            fits = (*rest == '\t' || *rest == ',') && put_row(&out, rest + 1, last, *rest);
        } else if (explains && begun) {
            tmi_text text;
            tmi_text_init(&text);
            for (const char *c = at; c < last; c++) tmi_text_add(&text, *c >= ' ' && *c <= '~' ? c : " ", 1);
            tmi_json_open(&out, '[');
            tmi_json_put_taken(&out, &text);
            tmi_json_close(&out, ']');
        }
    }
    tmi_json_close(&out, ']');
    return fits && begun && ended && !json->failed;
}

/* A word that no client can know before it is asked. */
static tamis_status random_word(char word[2 * WORD_BYTES + 1], tamis_error *err)
{
    tamis_rng *rng = NULL;
    tamis_status status = tamis_rng_new(&rng, err);
    if (status != TAMIS_OK) return status;
    const uint8_t *bytes = tmi_bits_take(rng, WORD_BYTES);
    if (bytes) tmi_hex(word, bytes, WORD_BYTES);
    else status = tmi_bits_failed(err);
    tmi_bits_done(rng);
    tamis_rng_free(rng);
    return status;
}

tamis_status tmi_client_run(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    tmi_client *c = context;
    char word[2 * WORD_BYTES + 1], tag[96];
    tmi_text sent, answer, json;
    tmi_text_init(&sent);
    tmi_text_init(&answer);
    tmi_text_init(&json);
    c->trouble[0] = '\0';
    c->stopped = false;
    tamis_status known = random_word(word, err);
    if (known != TAMIS_OK) return known;
    snprintf(tag, sizeof tag, "tamis %s %lld", word, (long long)++c->question);
    write_statements(&sent, sql, tag);
    tmi_text_put(&answer, "");
    bool done = !sent.failed && converse(&answer, c, &sent);
    if (done && !answer.failed && !read_rows(&json, &answer, tag, is_explain(sql))) {
        snprintf(c->trouble, sizeof c->trouble, "its answer is not complete, or has other cells than integers");
        done = false;
    }
    done = done && !answer.failed && !json.failed;
    if (done) tamis_reply_set(reply, json.bytes);
    const bool no_memory = sent.failed || answer.failed || json.failed;
    tmi_text *const all[] = {&sent, &answer, &json};
    for (size_t i = 0; i < 3; i++) {
        if (all[i]->bytes) tmi_wipe(all[i]->bytes, all[i]->length);
        tmi_text_clear(all[i]);
    }
    if (done) return TAMIS_OK;
    return no_memory ? tmi_fail_memory(err) : tmi_fail(err, TAMIS_SYSTEM, "%s", c->trouble);
}
