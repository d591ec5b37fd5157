/* Runs a call with its first, second, third … allocation failing until it gets through:
 *
 *     EVERY_ALLOCATION_FAILS(tamis_number_read(&x, "1/3", &err), { check outputs; });
 *
 * The call must return TAMIS_SYSTEM each time before, and its outputs must be free of rubbish (the second argument
 * runs after each failure).                                                                                         */
#ifndef TESTS_BASE_MEMORY_THAT_FAILS_H
#define TESTS_BASE_MEMORY_THAT_FAILS_H

#include <stdbool.h>
#include <stddef.h>

void fail_allocation(long which); /* 1: the next one; 0: none */
bool allocation_failed(void);     /* whether the asked failure happened; switches it off */

/* From now on sees each block as it is when it is freed: has it been wiped? NULL: no more. */
typedef void look_at_block(const void *block, size_t size);
void look_at_freed_blocks(look_at_block *look);

#define EVERY_ALLOCATION_FAILS(call, after_failure) ALLOCATIONS_FAIL(k_ + 1, call, after_failure)

/* After the k_-th allocation the one that `next` says, for calls that repeat the same allocations many times. */
#define ALLOCATIONS_FAIL(next, call, after_failure) \
    for (long k_ = 1;; k_ = (next)) { \
        fail_allocation(k_); \
        tamis_status status_ = (call); \
        if (!allocation_failed()) { \
            assert_int_equal(status_, TAMIS_OK); \
            break; \
        } \
        assert_int_equal(status_, TAMIS_SYSTEM); \
        after_failure; \
    }

#endif
