/* The progress bar, and being stopped by Ctrl-C, SIGTERM or a terminal that goes away. Both hang on the callback that the
 * library calls now and then: it draws, and it asks to stop once the user did. A second Ctrl-C, if the first was not obeyed
 * within PATIENCE seconds, ends the process the ordinary way; earlier ones say nothing new (timeout(1) sends two at once). */
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define FIRST_DRAWN 0.3 /* seconds: shorter work shows nothing */
#define DRAW_EVERY 0.1
#define BAR_CELLS 24
#define LONGEST_LINE 256
#define PATIENCE 3

static const int signals[CLI_STOP_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stop_asked, asked_at; /* the second of the first time, by the monotonic clock */

static void ask_to_stop(int number)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (stop_asked && (sig_atomic_t)now.tv_sec - asked_at > PATIENCE) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (!stop_asked) {
        asked_at = (sig_atomic_t)now.tv_sec;
        stop_asked = 1;
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_begin(cli_progress *p, const cli_call *call)
{
    setlocale(LC_CTYPE, "");
    *p = (cli_progress){.shown = !call->quiet && isatty(STDERR_FILENO),
                        .start = seconds(),
                        .blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    stop_asked = 0;
    struct sigaction act = {.sa_handler = ask_to_stop};
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < CLI_STOP_SIGNALS; i++) {
        sigaction(signals[i], NULL, &p->old[i]);
        if (p->old[i].sa_handler != SIG_IGN) sigaction(signals[i], &act, NULL); /* nohup stays nohup */
    }
}

/* "4.5 M": three digits are enough to see that it moves. */
static void put_amount(char *room, size_t size, double amount)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    for (; amount >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++) amount /= 1000;
    snprintf(room, size, unit > 0 && amount < 99.95 ? "%.1f%s" : "%.0f%s", amount, units[unit]);
}

static void put_time_left(char *room, size_t size, double left)
{
    if (left < 99.5) snprintf(room, size, "%.0f s left", ceil(left));
    else if (left < 99.5 * 60) snprintf(room, size, "%.0f min left", ceil(left / 60));
    else snprintf(room, size, "%.1f h left", left / 3600);
}

/* Columns of the terminal that are safe to use: the last one stays free, or some terminals begin a new line. */
static size_t columns(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 2) return CLI_WIDTH - 1;
    return (size_t)window.ws_col - 1;
}

static void draw(const cli_progress *p, double share, int64_t rows, double elapsed)
{
    char amount[16], speed[16], left[32] = "", text[LONGEST_LINE];
    cli_paint paint = cli_paint_for(stderr);
    put_amount(amount, sizeof amount, (double)rows);
    put_amount(speed, sizeof speed, (double)rows / elapsed);
    if (share > 0) put_time_left(left, sizeof left, elapsed * (1 - share) / share);
    int percent = share >= 0 ? (int)(100 * share) : 0;
    if (rows > 0) snprintf(text, sizeof text, "%3d %%  %s rows, %s rows/s  %s", percent, amount, speed, left);
    else snprintf(text, sizeof text, "%3d %%  %s", percent, left);
    const char *tail = share >= 0 ? text : text + strcspn(text, "%") + 3; /* unknown share: no percent */

    fputs("\r\033[K", stderr);
    size_t room = columns();
    if (share >= 0 && room >= BAR_CELLS + 2 + strlen(tail)) {
        int full = (int)(share * BAR_CELLS);
        fputs(paint.bold, stderr);
        for (int i = 0; i < BAR_CELLS; i++) {
            if (i == full) fprintf(stderr, "%s%s", paint.plain, paint.faint);
            fputs(i < full ? (p->blocks ? "\u2501" : "=") : (p->blocks ? "\u2500" : "-"), stderr);
        }
        fprintf(stderr, "%s  ", paint.plain);
        room -= BAR_CELLS + 2;
    }
    fprintf(stderr, "%.*s", (int)(room < LONGEST_LINE ? room : LONGEST_LINE), tail);
}

int cli_progress_step(void *context, double share, int64_t rows)
{
    cli_progress *p = context;
    double now = seconds();
    if (share >= 0 && p->pass_start == 0) p->pass_start = now;
    bool reading = p->pass_start > 0;
    double began = reading ? p->pass_start : p->start;
    if (p->shown && now - began >= FIRST_DRAWN && now - p->last >= DRAW_EVERY) {
        if (reading) draw(p, share > 1 ? 1 : share, rows, now - began);
        else fputs("\r\033[Klooking at the source", stderr);
        fflush(stderr);
        p->last = now;
    }
    return stop_asked;
}

tamis_status cli_go_on(cli_progress *p, double share, tamis_error *err)
{
    if (!cli_progress_step(p, share, 0)) return TAMIS_OK;
    *err = (tamis_error){.status = TAMIS_SYSTEM, .message = "stopped before the end"};
    return TAMIS_SYSTEM;
}

void cli_progress_end(cli_progress *p)
{
    if (p->last > 0) fputs("\r\033[K", stderr);
    if (stop_asked) return; /* the message is still to come: another signal must not come before it */
    for (size_t i = 0; i < CLI_STOP_SIGNALS; i++) sigaction(signals[i], &p->old[i], NULL);
}
