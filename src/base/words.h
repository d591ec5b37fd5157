/* Did you mean ...? */
#ifndef TMI_BASE_WORDS_H
#define TMI_BASE_WORDS_H

#include <stddef.h>

#include "base/error.h"

/* Index of the nearest of `count` words to a mistyped one, -1 if none is near. */
typedef const char *tmi_word_at(const void *words, size_t index);
const char *tmi_word_of_list(const void *words, size_t index); /* where the words are an array of texts */
int tmi_nearest_word(const char *word, tmi_word_at *word_at, const void *words, size_t count);

/* The same; or, if none is near, the only one that the word is the beginning of: stratified for strat. For words that are public,
 * since it shows letters that the caller did not write. */
int tmi_meant_word(const char *word, tmi_word_at *word_at, const void *words, size_t count);

/* INVALID, as a further line of the message: "FILE: HAS no column COLUMN; did you mean NAME?", without the file if that is NULL.
 * `names` are the `count` columns that there are. A header is public, but the first line of a file without one is not: only
 * what is nearly the caller's own word, and a word, is shown; of fewer than four letters, only other capitals.
 * SYSTEM if memory runs out. */
tamis_status tmi_fail_column(tamis_error *err, const char *file, const char *has, const char *column, tmi_word_at *name_at,
                             const void *names, size_t count);

#endif
