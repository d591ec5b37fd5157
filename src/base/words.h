/* Did you mean ...? */
#ifndef TMI_WORDS_H
#define TMI_WORDS_H

#include <stddef.h>

/* Index of the nearest of `count` words to a mistyped one, -1 if none is near. */
typedef const char *tmi_word_at(const void *words, size_t index);
int tmi_nearest_word(const char *word, tmi_word_at *word_at, const void *words, size_t count);

#endif
