/* Invariants, asserted by functions that say whether they hold. They are called in the builds with sanitizers only: the library
 * that is installed never stops a program.
 *
 *     TMI_CHECK(tmi_schedule_is_sound(schedule)); */
#ifndef TMI_BASE_CHECK_H
#define TMI_BASE_CHECK_H

#if defined(__SANITIZE_ADDRESS__)
#define TMI_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMI_CHECKED 1
#endif
#endif

#ifdef TMI_CHECKED
#define TMI_CHECK(invariant) ((invariant) ? (void)0 : __builtin_trap()) /* the sanitizer shows where */
#else
#define TMI_CHECK(invariant) ((void)0)
#endif

#endif
