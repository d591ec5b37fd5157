#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"

/* A stream that the caller closed would lend its number to the next file we open, and messages would be written into
 * that file. Each is held by a /dev/null that refuses the stream's direction: what was closed still fails. */
static void hold_closed_streams(void)
{
    for (int stream = 0; stream <= 2; stream++)
        if (fcntl(stream, F_GETFD) == -1) (void)!open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

/* Records, exact answers and noise pass through this process. It leaves no core dump and lets no other process of the same
 * user read its memory, and it may lock as much memory as its user may. Belongs to the command, not to the library: a program
 * that uses the library decides for itself. */
static void hide_memory(void)
{
    struct rlimit lock;
    if (getrlimit(RLIMIT_MEMLOCK, &lock) == 0) {
        lock.rlim_cur = lock.rlim_max;
        (void)setrlimit(RLIMIT_MEMLOCK, &lock);
    }
#ifndef CLI_SANITIZED /* LeakSanitizer attaches to its own process */
    (void)prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* A file beyond the limit of its size (ulimit -f) is an error of writing, like a full disk, and no reason to die in the middle of
 * a release. Belongs to the command: a program that uses the library decides for itself. */
static void fail_where_files_are_limited(void) { (void)signal(SIGXFSZ, SIG_IGN); }

int main(int argc, char **argv)
{
    fail_where_files_are_limited();
    hide_memory();
    hold_closed_streams();
    return cli_main(argc, argv);
}
