#include "base/article.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool begins(const char *word, const char *with) { return strncasecmp(word, with, strlen(with)) == 0; }

/* Spelled with a vowel, spoken with the sound of y or w: a university, a European, a one-parent household. */
static bool sounds_like_consonant(const char *w)
{
    static const char *const starts[] = {"eu",  "ewe", "ubiq", "uk",  "unanim", "use", "usu",  "usa",
                                         "uti", "ute", "uto",  "ura", "ure",    "uri", "once", "ufo"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(w, starts[i])) return true;
    if (begins(w, "one")) return !isalpha((unsigned char)w[3]) || begins(w, "oneself");
    if (!begins(w, "uni")) return false;
    /* un-initiated, un-insured, un-important, but union, unit, uniform, university */
    return !begins(w, "unin") && !begins(w, "unim") && !begins(w, "unid");
}

/* A vowel with an accent of Latin-1, in UTF-8: an élève. */
static bool is_accented_vowel(const char *w)
{
    if ((unsigned char)w[0] != 0xc3) return false;
    unsigned char second = (unsigned char)w[1] & 0xdf; /* upper case */
    return (second >= 0x80 && second <= 0x86) || (second >= 0x88 && second <= 0x8f) || (second >= 0x92 && second <= 0x96) ||
           (second >= 0x98 && second <= 0x9c);
}

/* The letters of an abbreviation that is spelled out; 0 if it is a word. Longer ones are often spoken as words. */
static size_t spelled(const char *w)
{
    size_t letters = 0;
    while (isupper((unsigned char)w[letters])) letters++;
    return letters <= 3 && !isalpha((unsigned char)w[letters]) && !((unsigned char)w[letters] & 0x80) ? letters : 0;
}

const char *tmi_article(const char *w)
{
    static const char *const silent_h[] = {"hour", "honest", "honour", "honor", "heir"};
    if (spelled(w) > 0) return strchr("AEFHILMNORSX", w[0]) ? "an" : "a";
    if (isdigit((unsigned char)w[0])) {
        bool teens = (begins(w, "11") || begins(w, "18")) && !isdigit((unsigned char)w[2]);
        return w[0] == '8' || teens ? "an" : "a";
    }
    for (size_t i = 0; i < sizeof silent_h / sizeof *silent_h; i++)
        if (begins(w, silent_h[i])) return "an";
    bool vowel = w[0] && strchr("aeiouAEIOU", w[0]);
    return (vowel && !sounds_like_consonant(w)) || is_accented_vowel(w) ? "an" : "a";
}
