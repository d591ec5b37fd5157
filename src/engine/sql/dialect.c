#include "engine/sql/dialect.h"

#include <stdio.h>
#include <string.h>

void tmi_sql_quote(tmi_text *sql, const tmi_dialect *dialect, const char *name)
{
    const char quote = dialect->quote;
    tmi_text_add(sql, &quote, 1);
    for (const char *end; (end = strchr(name, quote)); name = end + 1) {
        tmi_text_add(sql, name, (size_t)(end - name) + 1);
        tmi_text_add(sql, &quote, 1);
    }
    tmi_text_put(sql, name);
    tmi_text_add(sql, &quote, 1);
}

void tmi_sql_before(tmi_text *sql, const char *word) { tmi_text_add(sql, word, strcspn(word, "$")); }

void tmi_sql_after(tmi_text *sql, const char *word)
{
    const char *place = strchr(word, '$');
    if (place) tmi_text_put(sql, place + 1);
}

void tmi_sql_word(tmi_text *sql, const char *word, const char *operand)
{
    for (const char *place; (place = strchr(word, '$')); word = place + 1) {
        tmi_text_add(sql, word, (size_t)(place - word));
        tmi_text_put(sql, operand);
    }
    tmi_text_put(sql, word);
}

void tmi_sql_integer(tmi_text *sql, const tmi_dialect *dialect, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    tmi_sql_word(sql, dialect->integer, digits);
}

void tmi_sql_real(tmi_text *sql, const tmi_dialect *dialect, double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.17g", value);
    tmi_sql_word(sql, dialect->real, digits);
}
