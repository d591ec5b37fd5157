/* The file of a picture. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "guarantee.h"

int cli_svg_open(cli_svg *svg, const cli_call *call)
{
    *svg = (cli_svg){.path = cli_value(call, "svg")};
    if (!svg->path) return 0;
    int file = open(svg->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    svg->is_new = file >= 0;
    if (file < 0 && errno == EEXIST) file = open(svg->path, O_WRONLY | O_CLOEXEC); /* emptied when there is something to write */
    svg->file = file >= 0 ? fdopen(file, "w") : NULL;
    return svg->file ? 0 : cli_wrong_usage(call->command, "--svg: cannot write '%s': %s", svg->path, strerror(errno));
}

/* Frees the text. */
static tamis_status take(cli_svg *svg, char *text, tamis_error *err)
{
    bool wrong = ftruncate(fileno(svg->file), 0) != 0 && errno != EINVAL; /* a pipe has no length */
    wrong |= fputs(text, svg->file) < 0;
    wrong |= fclose(svg->file) != 0;
    svg->file = NULL;
    tamis_free(text);
    if (!wrong) return TAMIS_OK;
    *err = (tamis_error){.status = TAMIS_SYSTEM};
    snprintf(err->message, sizeof err->message, "cannot write the picture: %s", strerror(errno));
    return TAMIS_SYSTEM;
}

tamis_status cli_svg_write(cli_svg *svg, const tamis_plot *plot, tamis_error *err)
{
    char *text = NULL;
    if (!svg->file) return TAMIS_OK;
    tamis_status status = tamis_plot_svg(&text, plot, err);
    return status == TAMIS_OK ? take(svg, text, err) : status;
}

void cli_svg_close(cli_svg *svg)
{
    if (svg->file) fclose(svg->file);
    if (svg->file && svg->is_new) unlink(svg->path);
    *svg = (cli_svg){0};
}
