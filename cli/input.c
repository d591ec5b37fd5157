/* Files that are read: by their name, from standard input, or from a pipe. The library opens files by name, often more than
 * once, so what can be read only once is first copied to a private file, which disappears with the command. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define BLOCK ((size_t)1 << 16)
#define PLAN_BYTES ((size_t)1 << 20) /* of a plan at most */

bool cli_is_dash(const char *path) { return path && strcmp(path, "-") == 0; }

bool cli_is_stdout(const char *path) { return cli_is_dash(path) || (path && strcmp(path, "/dev/stdout") == 0); }

/* Of what is not there, and of a folder, the library says so. */
bool cli_is_piped(const char *path)
{
    struct stat facts;
    return cli_is_dash(path) || (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode));
}

/* How the name of a file must end for the library, by how its content begins; everything else is CSV, or needs no name. */
static const char *ending_of(const char *bytes, size_t length)
{
    static const struct {
        const char *magic, *ending;
        size_t at;
    } kinds[] = {{"PAR1", ".parquet", 0},    {"$FL2", ".sav", 0},    {"$FL3", ".zsav", 0},
                 {"<stata_dta>", ".dta", 0}, {"DUCK", ".duckdb", 8}, {"HEADER RECORD", ".xpt", 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t size = strlen(kinds[i].magic);
        if (length >= kinds[i].at + size && memcmp(bytes + kinds[i].at, kinds[i].magic, size) == 0) return kinds[i].ending;
    }
    return ".csv";
}

static tamis_status fail(tamis_error *err, const char *what, const char *why)
{
    *err = (tamis_error){.status = TAMIS_SYSTEM};
    snprintf(err->message, sizeof err->message, "%.*s: %s", PATH_MAX / 2, what, why);
    return TAMIS_SYSTEM;
}

/* The next bytes of a pipe; 0 at its end. Waits in poll, which a signal ends: a read would go on. */
static tamis_status take(ssize_t *got, const cli_input *in, int from, char *block, cli_progress *progress, tamis_error *err)
{
    struct pollfd ready = {.fd = from, .events = POLLIN};
    do {
        const int waited = poll(&ready, 1, -1);
        if (cli_go_on(progress, -1, err) != TAMIS_OK) return err->status;
        *got = waited < 0 ? -1 : read(from, block, BLOCK);
    } while (*got < 0 && errno == EINTR);
    return *got < 0 ? fail(err, in->shown, strerror(errno)) : TAMIS_OK;
}

static bool put(int to, const char *bytes, ssize_t count)
{
    while (count > 0) {
        const ssize_t written = write(to, bytes, (size_t)count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        count -= written;
    }
    return true;
}

static tamis_status copy(cli_input *in, int from, char *block, cli_progress *progress, tamis_error *err)
{
    const char *place = getenv("TMPDIR");
    ssize_t got = 0;
    tamis_status status = take(&got, in, from, block, progress, err);
    if (status != TAMIS_OK) return status;
    snprintf(in->folder, sizeof in->folder, "%.*s/tamis-input-XXXXXX", PATH_MAX - 64, place && *place ? place : "/tmp");
    if (!mkdtemp(in->folder)) {
        in->folder[0] = '\0';
        return fail(err, "no folder for what is read from a pipe can be created in TMPDIR", strerror(errno));
    }
    snprintf(in->file, sizeof in->file, "%s/input%s", in->folder, ending_of(block, (size_t)got));
    const int to = open(in->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0) status = fail(err, in->file, strerror(errno));
    while (status == TAMIS_OK && got > 0)
        status = put(to, block, got) ? take(&got, in, from, block, progress, err) : fail(err, in->file, strerror(errno));
    if (to >= 0 && close(to) != 0 && status == TAMIS_OK) status = fail(err, in->file, strerror(errno));
    return status;
}

int cli_input_open(cli_input *in, const cli_call *call, const char *given)
{
    const bool dash = cli_is_dash(given);
    *in = (cli_input){.shown = dash ? CLI_STDIN : given, .path = given};
    if (!cli_is_piped(given)) return 0;
    tamis_error err = {0};
    tamis_status status = TAMIS_OK;
    char *block = malloc(BLOCK);
    cli_progress progress;
    cli_progress_begin(&progress, call);
    if (dash && isatty(STDIN_FILENO)) cli_remark(call, "reading from the terminal; end with Ctrl-D");
    const int from = dash ? STDIN_FILENO : open(given, O_RDONLY | O_CLOEXEC);
    if (!block) status = fail(&err, in->shown, "out of memory");
    else if (from < 0) status = fail(&err, in->shown, strerror(errno));
    else status = copy(in, from, block, &progress, &err);
    if (from >= 0 && !dash) close(from);
    cli_progress_end(&progress);
    if (block) explicit_bzero(block, BLOCK);
    free(block);
    in->path = in->file;
    if (status == TAMIS_OK) return 0;
    cli_input_close(in);
    return cli_failed(&err, NULL);
}

static tamis_status read_text(tamis_plan **plan, const char *path, tamis_error *err)
{
    FILE *file = cli_is_dash(path) ? stdin : fopen(path, "re");
    char *text = malloc(PLAN_BYTES + 1);
    tamis_status status = TAMIS_OK;
    if (!file) status = fail(err, path, strerror(errno));
    else if (!text) status = fail(err, path, "out of memory");
    const size_t length = status == TAMIS_OK ? fread(text, 1, PLAN_BYTES + 1, file) : 0; /* one byte too many is said so */
    if (status == TAMIS_OK && ferror(file)) status = fail(err, path, strerror(errno));
    if (status == TAMIS_OK) status = tamis_plan_read_text(plan, CLI_STDIN, text, length, err);
    if (file && file != stdin) fclose(file);
    free(text);
    return status;
}

tamis_status cli_plan_read(tamis_plan **plan, const cli_call *call, const char *path, tamis_error *err)
{
    const char *ledger = cli_value(call, "ledger");
    tamis_status status = cli_is_piped(path) ? read_text(plan, path, err) : tamis_plan_read(plan, path, err);
    return status == TAMIS_OK && ledger ? tamis_plan_set_ledger(*plan, ledger, err) : status;
}

void cli_input_close(cli_input *in)
{
    if (in->file[0]) unlink(in->file);
    if (in->folder[0]) rmdir(in->folder);
    in->file[0] = in->folder[0] = '\0';
}

void cli_input_name(const cli_input *in, tamis_error *err)
{
    const size_t mine = strlen(in->file), theirs = strlen(in->shown);
    if (mine == 0) return;
    for (char *at = err->message; (at = strstr(at, in->file)); at += theirs) {
        const size_t place = (size_t)(at - err->message), rest = strlen(at + mine) + 1;
        if (place + theirs + rest > sizeof err->message) return;
        memmove(at + theirs, at + mine, rest);
        memcpy(at, in->shown, theirs);
        for (size_t i = 0; i < err->item_count; i++) {
            tamis_error_item *item = &err->items[i];
            if (item->begin == place && item->file >= mine) item->file = (uint16_t)(item->file - mine + theirs);
            if (item->begin > place) item->begin = (uint16_t)(item->begin - mine + theirs);
            if (item->text > place) item->text = (uint16_t)(item->text - mine + theirs);
        }
    }
}
