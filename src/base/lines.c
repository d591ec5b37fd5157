#include "base/lines.h"

#include <string.h>

#include "base/memory.h"
#include "base/table.h"

/* Takes the line, also where there is no room for it. */
static void take(tmi_lines *l, char *line)
{
    if (line && tmi_grow(&l->list, &l->room, l->count, sizeof *l->list)) {
        l->list[l->count++] = line;
        return;
    }
    tmi_free(line);
    l->failed = true;
}

void tmi_lines_add(tmi_lines *l, const char *line) { take(l, tmi_copy_text(line, strlen(line))); }

void tmi_lines_take(tmi_lines *l, tmi_text *words)
{
    char *line = NULL;
    if (tmi_text_take(&line, words, NULL) == TAMIS_OK) take(l, line);
    else l->failed = true;
}

void tmi_lines_split(tmi_lines *l, const char *text)
{
    for (size_t length; text && *text; text += length + (text[length] != '\0')) {
        length = strcspn(text, "\n");
        take(l, tmi_copy_text(text, length));
    }
}

void tmi_lines_clear(tmi_lines *l)
{
    for (size_t i = 0; i < l->count; i++) tmi_free(l->list[i]);
    tmi_free(l->list);
    *l = (tmi_lines){0};
}

void tmi_lines_wrap(tmi_text *text, const char *first, const char *indent, tmi_lines *l)
{
    for (size_t i = 0; i < l->count; i++) tmi_text_wrap(text, first, indent, l->list[i]);
    if (l->failed) text->failed = true;
    tmi_lines_clear(l);
}
