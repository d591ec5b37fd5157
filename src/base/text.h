/* A text that grows. A failed allocation is remembered: write as much as you like, look once at the end. */
#ifndef TMI_BASE_TEXT_H
#define TMI_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/watch.h"

typedef struct tmi_text {
    char *bytes; /* zero-terminated when not NULL */
    size_t length, room;
    bool failed;
    bool counted;     /* set by the caller before the first write: nothing is kept, `length` alone grows */
    bool stopped;     /* failed because `watch` asked to stop */
    tmi_watch *watch; /* asked now and then while the text grows; NULL: nobody */
} tmi_text;

void tmi_text_init(tmi_text *text);
void tmi_text_clear(tmi_text *text);

void tmi_text_add(tmi_text *text, const char *bytes, size_t length);
void tmi_text_put(tmi_text *text, const char *string);
void tmi_text_format(tmi_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the bytes to the caller (tmi_free) and leaves the text empty; SYSTEM if any write failed, "cancelled" if it was
 * stopped. */
tamis_status tmi_text_take(char **bytes, tmi_text *text, tamis_error *err);

/* A copy of a string, which the caller frees with tmi_free; NULL for NULL. SYSTEM. */
tamis_status tmi_copy_string(char **copy, const char *string, tamis_error *err);

bool tmi_is_one_of(const char *string, const char *const *list); /* a list that ends with NULL */
int tmi_compare_strings(const void *x, const void *y);           /* for qsort of an array of strings */

#endif
