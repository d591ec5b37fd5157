#include "study/crowd.h"

#include <stdatomic.h>
#include <threads.h>
#include <unistd.h>

#include "base/memory.h"

#define MOST_THREADS 64

typedef struct hand {
    const tmi_crowd *crowd;
    _Atomic size_t *next;
    atomic_bool *stopped;
    bool aloud; /* the caller's own thread, which alone asks the watch */
    tamis_status status;
    tamis_error err;
} hand;

static int work(void *context)
{
    hand *h = context;
    const tmi_crowd *c = h->crowd;
    tmi_watch watch = c->watch ? *c->watch : (tmi_watch){0};
    tamis_status status = TAMIS_OK;
    void *room = NULL;
    if (c->open) TMI_TRY(c->open(&room, c->context, &h->err));
    for (size_t i; !*h->stopped && (i = atomic_fetch_add(h->next, 1)) < c->items;) {
        if (h->aloud) TMI_TRY(tmi_watch_tell(&watch, (double)i / (double)c->items, &h->err));
        TMI_TRY(c->item(c->context, room, i, &h->err));
    }

done:
    if (c->close) c->close(room);
    if (status != TAMIS_OK) *h->stopped = true;
    h->status = status;
    if (!h->aloud) tamis_thread_done();
    return 0;
}

/* A thread that cannot be started leaves its items to the others. */
tamis_status tmi_crowd_run(const tmi_crowd *crowd, tamis_error *err)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = crowd->threads > 0 ? crowd->threads : cores > 1 ? (size_t)cores : 1;
    if (count > MOST_THREADS) count = MOST_THREADS;
    if (count > crowd->items) count = crowd->items > 0 ? crowd->items : 1;
    _Atomic size_t next = 0;
    atomic_bool stopped = false;
    thrd_t threads[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    tamis_status status = TAMIS_OK;
    hand *hands = tmi_alloc(count, sizeof *hands);
    if (!hands) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        hands[i].crowd = crowd;
        hands[i].next = &next;
        hands[i].stopped = &stopped;
        hands[i].aloud = i == 0;
        if (i > 0) started[i] = thrd_create(&threads[i], work, &hands[i]) == thrd_success;
    }
    work(&hands[0]);
    for (size_t i = 1; i < count; i++)
        if (started[i]) thrd_join(threads[i], NULL);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++)
        if (hands[i].status != TAMIS_OK) status = tmi_fail_as(err, &hands[i].err);
    tmi_free(hands);
    return status;
}
