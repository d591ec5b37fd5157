/* Invariants as code. TMI_CHECK ends the program where its condition does not hold, in builds with the address sanitizer alone: the
 * shipped library never ends a program, and spends no time on what cannot happen. A function that asserts the invariants of a type
 * is called tmi_TYPE_check and is empty in other builds. */
#ifndef TMI_BASE_CHECK_H
#define TMI_BASE_CHECK_H

#if defined(__SANITIZE_ADDRESS__)
#define TMI_CHECKING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMI_CHECKING 1
#endif
#endif

#ifdef TMI_CHECKING
#include <stdio.h>

#define TMI_CHECK(condition) ((condition) ? (void)0 : tmi_check_failed(#condition, __FILE__, __LINE__))

static inline _Noreturn void tmi_check_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    __builtin_trap();
}
#else
#define TMI_CHECK(condition) ((void)sizeof(condition))
#endif

#endif
