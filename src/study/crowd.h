/* Simulations in parallel: items of work with numbers, each done once by some thread. What an item computes depends on its
 * number alone, so that the result is the same for every number of threads.                                          */
#ifndef TMI_STUDY_CROWD_H
#define TMI_STUDY_CROWD_H

#include "base/watch.h"

/* Does item `number`; `room` is the thread's own, from `open` below. */
typedef tamis_status tmi_crowd_item(void *context, void *room, size_t number, tamis_error *err);

typedef struct tmi_crowd {
    unsigned threads; /* 0: as many as the machine has, 64 at most */
    size_t items;
    tmi_crowd_item *item;
    tamis_status (*open)(void **room, const void *context, tamis_error *err); /* NULL: no room is needed */
    void (*close)(void *room);
    void *context;
    const tmi_watch *watch; /* NULL: nobody */
} tmi_crowd;

/* The error is that of an item that failed; SYSTEM, "cancelled", if the watch asks to stop. */
tamis_status tmi_crowd_run(const tmi_crowd *crowd, tamis_error *err);

#endif
