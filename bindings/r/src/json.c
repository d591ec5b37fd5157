/* JSON that the library wrote, as R has such things: an object is a named list, a list of texts or of numbers a vector, other
 * lists are lists, null is NULL. */
#define _GNU_SOURCE /* strtod_l */
#include "json.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 100 /* nothing that the library writes is half as deep */

typedef struct reader {
    const char *at;
    int depth;
    SEXP left_out; /* names of the outermost object whose values are not wanted */
} reader;

static SEXP read_value(reader *r);

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r') r->at++;
}

static int take(reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c) return 0;
    r->at++;
    return 1;
}

static void need(reader *r, char c)
{
    if (!take(r, c)) Rf_error("not JSON: expected %c", c);
}

static unsigned hex_digits(reader *r)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char c = *r->at;
        if (!isxdigit((unsigned char)c)) Rf_error("not JSON: an escape");
        code = code * 16 + (unsigned)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
    }
    return code;
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
    *out++ = (char)(first[more] | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *out++ = (char)(0x80 | (code >> 6 * i & 0x3f));
    return out;
}

static SEXP read_text(reader *r)
{
    need(r, '"');
    size_t length = 0;
    while (r->at[length] != '"') {
        if (!r->at[length]) Rf_error("not JSON: a text without an end");
        length += r->at[length] == '\\' && r->at[length + 1] ? 2 : 1;
    }
    const void *top = vmaxget();
    char *text = R_alloc(length + 1, 1), *out = text;
    while (*r->at != '"') {
        if (*r->at != '\\') {
            *out++ = *r->at++;
            continue;
        }
        static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
        const char c = r->at[1], *letter = c ? strchr(letters, c) : NULL;
        r->at += 2;
        if (c != 'u') {
            *out++ = letter ? meanings[letter - letters] : c;
            continue;
        }
        unsigned code = hex_digits(r);
        if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
            r->at += 2;
            code = 0x10000 + ((code - 0xd800) << 10) + (hex_digits(r) - 0xdc00);
        }
        out = put_utf8(out, code);
    }
    r->at++;
    SEXP made = Rf_mkCharLenCE(text, (int)(out - text), CE_UTF8);
    vmaxset(top);
    return made;
}

/* The list that grows: it doubles when it is full. */
static SEXP append(SEXP list, R_xlen_t count, SEXP value, PROTECT_INDEX place)
{
    PROTECT(value);
    if (count == XLENGTH(list)) REPROTECT(list = Rf_xlengthgets(list, 2 * count), place);
    SET_VECTOR_ELT(list, count, value);
    UNPROTECT(1);
    return list;
}

/* A list whose items all are one text, or one number, as a vector. */
static SEXP simple(SEXP list)
{
    const R_xlen_t n = XLENGTH(list);
    const SEXPTYPE type = n > 0 ? TYPEOF(VECTOR_ELT(list, 0)) : VECSXP;
    if (type != STRSXP && type != REALSXP) return list;
    for (R_xlen_t i = 0; i < n; i++)
        if (TYPEOF(VECTOR_ELT(list, i)) != type || XLENGTH(VECTOR_ELT(list, i)) != 1) return list;
    SEXP vector = PROTECT(Rf_allocVector(type, n));
    for (R_xlen_t i = 0; i < n; i++)
        if (type == STRSXP) SET_STRING_ELT(vector, i, STRING_ELT(VECTOR_ELT(list, i), 0));
        else REAL(vector)[i] = REAL(VECTOR_ELT(list, i))[0];
    UNPROTECT(1);
    return vector;
}

static SEXP read_list(reader *r)
{
    PROTECT_INDEX place;
    SEXP list = Rf_allocVector(VECSXP, 8);
    R_xlen_t count = 0;
    PROTECT_WITH_INDEX(list, &place);
    need(r, '[');
    if (!take(r, ']')) {
        do list = append(list, count, read_value(r), place), count++;
        while (take(r, ','));
        need(r, ']');
    }
    REPROTECT(list = Rf_xlengthgets(list, count), place);
    list = simple(list);
    UNPROTECT(1);
    return list;
}

static int is_left_out(const reader *r, SEXP name)
{
    for (R_xlen_t i = 0; r->depth == 1 && i < XLENGTH(r->left_out); i++)
        if (strcmp(CHAR(STRING_ELT(r->left_out, i)), CHAR(name)) == 0) return 1;
    return 0;
}

/* To the end of a value of which nothing is made. */
static void skip_value(reader *r)
{
    int open = 0;
    do {
        skip_blanks(r);
        if (!*r->at) Rf_error("not JSON: a value without an end");
        if (*r->at == '"') {
            for (r->at++; *r->at && *r->at != '"'; r->at++)
                if (*r->at == '\\' && r->at[1]) r->at++;
        } else {
            open += strchr("[{", *r->at) != NULL;
            open -= strchr("]}", *r->at) != NULL;
        }
        if (*r->at) r->at++;
    } while (open > 0);
    r->at += strcspn(r->at, ",]}"); /* the rest of a number or word */
}

static SEXP read_object(reader *r)
{
    PROTECT_INDEX place, name_place;
    SEXP list = Rf_allocVector(VECSXP, 8), names;
    R_xlen_t count = 0;
    PROTECT_WITH_INDEX(list, &place);
    names = Rf_allocVector(STRSXP, 8);
    PROTECT_WITH_INDEX(names, &name_place);
    need(r, '{');
    if (!take(r, '}')) {
        do {
            skip_blanks(r);
            SEXP name = PROTECT(read_text(r));
            if (count == XLENGTH(names)) REPROTECT(names = Rf_xlengthgets(names, 2 * count), name_place);
            SET_STRING_ELT(names, count, name);
            need(r, ':');
            const int unwanted = is_left_out(r, name);
            UNPROTECT(1);
            if (unwanted) skip_value(r);
            list = append(list, count, unwanted ? R_NilValue : read_value(r), place);
            count++;
        } while (take(r, ','));
        need(r, '}');
    }
    REPROTECT(list = Rf_xlengthgets(list, count), place);
    REPROTECT(names = Rf_xlengthgets(names, count), name_place);
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

static int take_word(reader *r, const char *word)
{
    if (strncmp(r->at, word, strlen(word)) != 0) return 0;
    r->at += strlen(word);
    return 1;
}

/* The nearest double, whatever the locale says; R_strtod is neither exact nor quick in a long text. */
static double read_number(reader *r)
{
    static locale_t c;
    if (!c) c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end = NULL;
    const double number = c ? strtod_l(r->at, &end, c) : strtod(r->at, &end);
    if (end == r->at) Rf_error("not JSON: expected a value");
    r->at = end;
    return number;
}

static SEXP read_value(reader *r)
{
    if (++r->depth > DEPTH) Rf_error("not JSON: too deep");
    skip_blanks(r);
    SEXP value;
    if (*r->at == '{') value = read_object(r);
    else if (*r->at == '[') value = read_list(r);
    else if (*r->at == '"') {
        SEXP text = PROTECT(read_text(r));
        value = Rf_ScalarString(text);
        UNPROTECT(1);
    } else if (take_word(r, "true")) value = Rf_ScalarLogical(1);
    else if (take_word(r, "false")) value = Rf_ScalarLogical(0);
    else if (take_word(r, "null")) value = R_NilValue;
    else value = Rf_ScalarReal(read_number(r));
    r->depth--;
    return value;
}

SEXP r_json(SEXP text, SEXP left_out)
{
    if (TYPEOF(text) != STRSXP || XLENGTH(text) != 1 || TYPEOF(left_out) != STRSXP) Rf_error("expected texts");
    reader r = {CHAR(STRING_ELT(text, 0)), 0, left_out};
    SEXP value = PROTECT(read_value(&r));
    skip_blanks(&r);
    if (*r.at) Rf_error("not JSON: more than one value");
    UNPROTECT(1);
    return value;
}
