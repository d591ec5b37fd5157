#include "engine/core/sql.h"

#include <string.h>

static void quoted(tmi_text *sql, const char *text, char quote)
{
    tmi_text_add(sql, &quote, 1);
    for (const char *end; (end = strchr(text, quote)); text = end + 1) {
        tmi_text_add(sql, text, (size_t)(end - text) + 1);
        tmi_text_add(sql, &quote, 1);
    }
    tmi_text_put(sql, text);
    tmi_text_add(sql, &quote, 1);
}

void tmi_sql_name(tmi_text *sql, const char *name) { quoted(sql, name, '"'); }

void tmi_sql_text(tmi_text *sql, const char *text) { quoted(sql, text, '\''); }
