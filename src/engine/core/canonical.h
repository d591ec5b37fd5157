/* The one form in which ids, strata, clusters and categories are compared, whatever the engine and the column type: a
 * canonical text, compared byte by byte. Two values that a source calls equal have the same canonical text; otherwise one
 * person would count as several, each with rows_per_unit rows of its own.
 *
 *     texts      the text without the blanks around it; an empty one is missing
 *     numbers    the exact value in decimal digits: no exponent, no leading zeros, no zeros at the end of a fraction, and no
 *                sign of zero. 17, 17.0, 17.00 and 1.7e1 are 17; the double 0.1 is 0.1000000000000000055511151231257827021...
 *                NaN and infinities are missing
 *     booleans   true, false
 *     dates      2000-01-31 (and 0044-03-15 BC, infinity, -infinity)
 *     UUIDs      lower-case, with hyphens
 *
 * Other types have no such form, or several (citext, CHAR(n), collations for which different texts are equal, times with
 * zones, JSON): a column of such a type cannot be an id, stratum, cluster or category. The column type alone decides this,
 * before anything is charged. The rule that all parts of a source have the same kind of column is checked at the same time.
 *
 * A value that the plan lists, or the id of a frame, is looked up in a column of numbers as the number of the column's own type
 * that is nearest to it: 0.1 in a column of doubles means the double 0.1. */
#ifndef TMI_ENGINE_CORE_CANONICAL_H
#define TMI_ENGINE_CORE_CANONICAL_H

#include "base/error.h"
#include "engine/core/text.h"

typedef enum tmi_form {
    TMI_FORM_TEXT,
    TMI_FORM_EXACT, /* integers and decimals */
    TMI_FORM_DOUBLE,
    TMI_FORM_FLOAT, /* of four bytes */
    TMI_FORM_BOOLEAN,
    TMI_FORM_DATE,
    TMI_FORM_UUID,
    TMI_FORM_ANY, /* a column without values */
    TMI_FORM_NONE /* no canonical form */
} tmi_form;

static inline bool tmi_form_is_number(tmi_form form)
{
    return form == TMI_FORM_EXACT || form == TMI_FORM_DOUBLE || form == TMI_FORM_FLOAT;
}

/* A part of a source, for messages: a file, or something with this name, such as a connection. Both NULL: there is only one
 * part. */
typedef struct tmi_source_part {
    const char *file, *name;
} tmi_source_part;

/* Joins the form `here` of a column in this part with the form `seen` in earlier parts (at first TMI_FORM_ANY). INVALID, as a
 * further line of the message, if they cannot be compared. `here` is not TMI_FORM_NONE. */
tamis_status tmi_form_join(tmi_form *seen, tmi_form here, const tmi_source_part *part, const char *column, tamis_error *err);

/* ---- classes ----
 *
 * Apart from the form, the class of a column's type is all that is read from a header before the charge. It is a declared
 * invariant, the same for all neighbours. Value labels, dictionaries and minima depend on people and are not read. */
typedef enum tmi_class {
    TMI_CLASS_OPEN, /* the header does not say: CSV, or a column without values */
    TMI_CLASS_NUMBER,
    TMI_CLASS_TEXT,
    TMI_CLASS_DATE, /* dates, times, intervals; numbers of SPSS, Stata and SAS with such a format */
    TMI_CLASS_BOOLEAN,
    TMI_CLASS_OTHER /* UUIDs, lists, bytes */
} tmi_class;

/* The class of a form. TMI_FORM_NONE has the class OTHER, unless the engine knows better. */
tmi_class tmi_class_of(tmi_form form);

/* Checks that a column used as a number in the plan (a value, weight, probability or size) can contain numbers. INVALID, as a
 * further line of the message, names the class and what to do. */
tamis_status tmi_class_check(tmi_class class, const tmi_source_part *part, const char *column, tamis_error *err);

/* Checks that at least one of the values listed for a category can occur in a column of this form. Text values never match a
 * number, so a release would publish pure noise. INVALID, as a further line of the message. Not used for files whose codes may
 * have labels. */
tamis_status tmi_values_check(const char *const *values, size_t count, tmi_form form, const tmi_source_part *part,
                              const char *column, tamis_error *err);

/* INVALID, as a further line of the message: two values listed for the column are the same number in it. */
tamis_status tmi_fail_same_number(const char *column, tamis_error *err);

/* The message about a column without a canonical form, after its name: why, and what to do. */
#define TMI_NO_FORM \
    "has a type or collation without one form for equal values; ids, strata, clusters and categories need " \
    "plain text, numbers, booleans, dates or UUIDs: convert it, for example in a view"

/* Size of the canonical text of a double: a sign, "0.", 1074 digits, and one more byte. */
#define TMI_NUMBER_TEXT 1080

/* The canonical text of a double, with its length; "" if it is not finite. A float is the double of the same value. */
size_t tmi_double_text(char text[TMI_NUMBER_TEXT], double x);

/* The canonical text of a number in decimal notation (as tmi_number_in reads it), with its length; 0 if it is not a number, or
 * if it has more than TMI_NUMBER_TEXT - 1 digits when written without an exponent. */
size_t tmi_decimal_text(char text[TMI_NUMBER_TEXT], tmi_cell number);

/* The canonical text that a value of the plan has in a column of this form, with its length; 0 if it cannot occur there. */
size_t tmi_value_text(char text[TMI_NUMBER_TEXT], tmi_cell value, tmi_form form);

#endif
