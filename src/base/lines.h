/* A list of sentences: made once, then written as JSON, as HTML or as text. A failed allocation is remembered: add as much as you
 * like, look once at the end. Begins as {0}. */
#ifndef TMI_BASE_LINES_H
#define TMI_BASE_LINES_H

#include "base/text.h"

typedef struct tmi_lines {
    char **list;
    size_t count, room;
    bool failed;
} tmi_lines;

void tmi_lines_add(tmi_lines *lines, const char *line);   /* copies it */
void tmi_lines_take(tmi_lines *lines, tmi_text *words);   /* moves it; the text is empty then */
void tmi_lines_split(tmi_lines *lines, const char *text); /* adds every line of a text; NULL: none */
void tmi_lines_clear(tmi_lines *lines);

/* One paragraph per line; clears the list. tmi_json_add_lines writes it as JSON. */
void tmi_lines_wrap(tmi_text *text, const char *first, const char *indent, tmi_lines *lines);

#endif
