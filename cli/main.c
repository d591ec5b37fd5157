#include <fcntl.h>
#include <unistd.h>

#include "cli.h"

/* A stream that the caller closed would lend its number to the next file we open, and messages would be written into
 * that file. Each is held by a /dev/null that refuses the stream's direction: what was closed still fails. */
static void hold_closed_streams(void)
{
    for (int stream = 0; stream <= 2; stream++)
        if (fcntl(stream, F_GETFD) == -1) (void)!open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    hold_closed_streams();
    return cli_main(argc, argv);
}
