/* Long work and who watches it: a tamis_progress, and the part of the whole that the work at hand is. Progress is reported as
 * the share that is done; whoever divides it hands a narrower watch to each part. */
#ifndef TMI_BASE_WATCH_H
#define TMI_BASE_WATCH_H

#include <stdbool.h>
#include <time.h>

#include "base/error.h"

/* Reports a share, negative while it is unknown, and the rows read so far. Whether the caller asks to stop; `watch` may be
 * NULL. */
static inline bool tmi_stopped(const tamis_watch *watch, double share, int64_t rows)
{
    return watch && watch->progress && watch->progress(watch->context, share, rows) != 0;
}

/* A caller's watch that is asked at most 20 times a second, however often the work reports. */
typedef struct tmi_paced_watch {
    tamis_watch of;
    int64_t asked; /* when it was asked last, in milliseconds of the monotonic clock */
    int answer;    /* what it said then */
} tmi_paced_watch;

#define TMI_PACE 50 /* milliseconds */

static inline int tmi_paced_progress(void *context, double share, int64_t rows)
{
    tmi_paced_watch *w = context;
    struct timespec now;
    if (w->answer != 0 || clock_gettime(CLOCK_MONOTONIC, &now) != 0) return w->answer;
    const int64_t milliseconds = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (w->asked != 0 && milliseconds - w->asked < TMI_PACE) return 0;
    w->asked = milliseconds;
    w->answer = w->of.progress(w->of.context, share, rows);
    return w->answer;
}

/* The watch to hand on; `paced` lives as long as the work. */
static inline tamis_watch tmi_watch_paced(tmi_paced_watch *paced)
{
    return paced->of.progress ? (tamis_watch){tmi_paced_progress, paced} : (tamis_watch){0};
}

typedef struct tmi_watch {
    tamis_progress *progress; /* NULL: nobody watches */
    void *context;
    double from, to; /* where this work begins and ends in the whole, 0 <= from <= to <= 1 */
    int64_t rows;    /* read so far */
    int64_t asked;   /* when tmi_watch_beat last asked, in milliseconds of the monotonic clock */
} tmi_watch;

/* All of the work that a caller watches; NULL: nobody does. */
static inline tmi_watch tmi_watch_of(const tamis_watch *watch)
{
    return (tmi_watch){.progress = watch ? watch->progress : NULL, .context = watch ? watch->context : NULL, .to = 1};
}

/* The part of the work between two shares of it; of nothing, nothing. */
static inline tmi_watch tmi_watch_part(const tmi_watch *watch, double from, double to)
{
    if (!watch) return (tmi_watch){0};
    const double length = watch->to - watch->from;
    return (tmi_watch){watch->progress,           watch->context, watch->from + from * length,
                       watch->from + to * length, watch->rows,    watch->asked};
}

/* Tells the share of this work that is done, in [0, 1]. SYSTEM, "cancelled", if the caller asks to stop. `watch` may be
 * NULL. */
static inline tamis_status tmi_watch_tell(const tmi_watch *watch, double share, tamis_error *err)
{
    if (!watch || !watch->progress) return TAMIS_OK;
    const double whole = watch->from + share * (watch->to - watch->from);
    return watch->progress(watch->context, whole, watch->rows) == 0 ? TAMIS_OK : tmi_fail_cancelled(err);
}

#define TMI_BEAT 100 /* milliseconds between two questions of a loop */

/* For a loop to call at every turn: asks the caller ten times a second whether to go on. SYSTEM, "cancelled", if not. `watch` may
 * be NULL. */
static inline tamis_status tmi_watch_beat(tmi_watch *watch, tamis_error *err)
{
    struct timespec now;
    if (!watch || !watch->progress || clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0) return TAMIS_OK;
    const int64_t milliseconds = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (milliseconds - watch->asked < TMI_BEAT) return TAMIS_OK;
    watch->asked = milliseconds;
    return tmi_watch_tell(watch, 0, err);
}

/* The same as a tamis_progress, for a function that takes one: `watch` is the context, and the rows are the watch's. */
static inline int tmi_watch_progress(void *watch, double share, int64_t rows)
{
    (void)rows;
    return tmi_watch_tell(watch, share < 0 ? 0 : share, NULL) != TAMIS_OK;
}

#endif
