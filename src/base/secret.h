/* Memory for exact answers, noise and keys.
 *
 * A block has pages of its own, with a guard page on either side: reading or writing past its end faults at once, and
 * nothing of it is in a neighbouring allocation. Where the system allows, the pages are
 *
 *   locked            they are never written to swap. An ordinary user may lock 8 MB by default (RLIMIT_MEMLOCK); a larger
 *                     block, or one beyond what is left of the limit, is not locked and protected in every other way.
 *   left out of core dumps
 *   wiped             before they are given back.
 *
 * A forked child inherits the block, because wiped noise would be no noise: a child that goes on with a release after its
 * noise was drawn would publish exact answers. Generators alone ask for wiping on fork, and key themselves anew.
 *
 * Every block costs at least four pages and four mappings, of which a process has about 65,000: allocate one block for
 * many arrays, not one each.                                                                                           */
#ifndef TMI_BASE_SECRET_H
#define TMI_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, aligned for any type whose alignment divides its size and is at most a page. NULL: no memory, or count * size
 * overflows. A size of zero gives a block of 16 bytes. */
void *tmi_secret_alloc(size_t count, size_t size);

/* Wipes and frees. Free of NULL is fine. */
void tmi_secret_free(void *block);

/* From now on a forked child finds zeros in the block, and may free it. False: the system cannot (Linux before 4.14). */
bool tmi_secret_wipe_on_fork(void *block);

#endif
