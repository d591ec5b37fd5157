#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/letters.h"

#define LONGEST_WORD 40
#define SHORTEST_BEGINNING 4 /* letters: fewer are the beginning of anything */

/* Damerau-Levenshtein distance (optimal string alignment) of two short words. */
static size_t distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST_WORD || n > LONGEST_WORD) return SIZE_MAX;
    size_t rows[3][LONGEST_WORD + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[m % 3][n];
}

const char *tmi_word_of_list(const void *words, size_t index) { return ((const char *const *)words)[index]; }

int tmi_nearest_word(const char *word, tmi_word_at *word_at, const void *words, size_t count)
{
    size_t nearest = strlen(word) < 4 ? 2 : 3; /* one wrong letter of a short word, two of a longer one */
    int found = -1;
    for (size_t i = 0; i < count; i++) {
        const char *other = word_at(words, i);
        const size_t d = strcasecmp(word, other) == 0 && strcmp(word, other) != 0 ? 1 : distance(word, other);
        if (d < nearest && d < strlen(word)) nearest = d, found = (int)i; /* some letter stays */
    }
    return found;
}

/* The one word that begins with this one; -1 if there are several, or none. */
static int begun_by(const char *word, tmi_word_at *word_at, const void *words, size_t count)
{
    const size_t length = strlen(word);
    int found = -1;
    if (length < SHORTEST_BEGINNING) return -1;
    for (size_t i = 0; i < count; i++) {
        if (strncasecmp(word, word_at(words, i), length) != 0) continue;
        if (found >= 0) return -1;
        found = (int)i;
    }
    return found;
}

int tmi_meant_word(const char *word, tmi_word_at *word_at, const void *words, size_t count)
{
    const int nearest = tmi_nearest_word(word, word_at, words, count);
    return nearest >= 0 ? nearest : begun_by(word, word_at, words, count);
}

tamis_status tmi_fail_column(tamis_error *err, const char *file, const char *has, const char *column, tmi_word_at *name_at,
                             const void *names, size_t count)
{
    const int nearest = tmi_nearest_word(column, name_at, names, count);
    const char *meant = nearest < 0 ? "" : name_at(names, (size_t)nearest);
    if (strlen(column) < 4 && strcasecmp(meant, column) != 0) meant = ""; /* of a short word only capitals may differ */
    const bool is_word = (*meant | 32) >= 'a' && (*meant | 32) <= 'z';
    tmi_text shown;
    tmi_text_init(&shown);
    if (is_word) {
        tmi_text_put(&shown, "; did you mean ");
        tmi_text_shown(&shown, meant);
    }
    tmi_text_put(&shown, is_word ? "?" : "");
    const tamis_status status = shown.failed ? tmi_fail_memory(err)
                                             : tmi_fail_file_more(err, TAMIS_INVALID, file, 0, "%s no column %s%s", has, column,
                                                                  shown.bytes);
    tmi_text_clear(&shown);
    return status;
}
