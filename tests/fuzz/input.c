/* Any bytes through a pipe, as a command reads them (cli/input.c): the copy has the same bytes and disappears; and in a message,
 * made of the bytes with the name of the copy here and there, what was given takes its place. */
#include <sys/wait.h>

#include "cli/cli.h"
#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What cli/input.c takes from the rest of the command. */
tamis_status cli_go_on(cli_progress *progress, double share, tamis_error *err)
{
    (void)progress, (void)share, (void)err;
    return TAMIS_OK;
}

void cli_progress_begin(cli_progress *progress, const cli_call *call) { (void)progress, (void)call; }
void cli_progress_end(cli_progress *progress) { (void)progress; }
void cli_remark(const cli_call *call, const char *format, ...) { (void)call, (void)format; }
int cli_failed(const tamis_error *err, const char *path) { return (void)err, (void)path, 1; }
const char *cli_value(const cli_call *call, const char *option) { return (void)call, (void)option, NULL; }

static void expect_bytes(const char *path, const uint8_t *bytes, size_t size)
{
    char *found = malloc(size + 1);
    FILE *file = fopen(path, "re");
    if (!found || !file || fread(found, 1, size + 1, file) != size || (size > 0 && memcmp(found, bytes, size) != 0)) abort();
    fclose(file);
    free(found);
}

/* A zero byte in the input is replaced by the name of the copy. */
static void name_it(const cli_input *in, const uint8_t *bytes, size_t size)
{
    tamis_error err = {0};
    size_t length = 0;
    for (size_t i = 0; i < size && length + sizeof in->file + 1 < sizeof err.message; i++) {
        if (bytes[i] != 0) {
            err.message[length++] = (char)bytes[i];
            continue;
        }
        if (err.item_count < TAMIS_ERROR_ITEMS)
            err.items[err.item_count++] = (tamis_error_item){.begin = (uint16_t)length,
                                                             .file = (uint16_t)strlen(in->file),
                                                             .text = (uint16_t)(length + strlen(in->file))};
        length += strlen(strcpy(err.message + length, in->file));
    }
    cli_input_name(in, &err);
    if (!memchr(err.message, 0, sizeof err.message)) abort();
    const size_t shown = strlen(in->shown);
    for (size_t i = 0; i < err.item_count && !strstr(err.message, in->file); i++) {
        const tamis_error_item *item = &err.items[i];
        if (item->file != shown || item->text != item->begin + shown || strncmp(err.message + item->begin, in->shown, shown) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char pipe_name[64];
    const cli_call call = {0};
    cli_input in;
    int ends[2];
    if (size > 60000 || pipe(ends) != 0) return 0; /* what a pipe holds without a reader */
    if (write(ends[1], bytes, size) != (ssize_t)size || close(ends[1]) != 0) abort();
    snprintf(pipe_name, sizeof pipe_name, "/dev/fd/%d", ends[0]);
    if (cli_input_open(&in, &call, pipe_name) != 0) abort();
    expect_bytes(in.path, bytes, size);
    name_it(&in, bytes, size);
    char copy[sizeof in.file];
    strcpy(copy, in.file);
    cli_input_close(&in);
    if (access(copy, F_OK) == 0) abort();
    close(ends[0]);
    return 0;
}
