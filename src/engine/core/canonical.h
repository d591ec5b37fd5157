/* The one form in which ids, strata, clusters and categories are compared, whatever engine reads them and whatever type holds
 * them: a canonical text, compared byte by byte. Two values that a source calls equal have the same canonical text; otherwise
 * one person would count as several, each with rows_per_unit rows of its own.
 *
 *     texts      the text without the blanks around it; an empty one is missing
 *     numbers    the exact value in decimal digits: no exponent, no leading zeros, no zeros at the end of a fraction, and no
 *                sign of zero. 17, 17.0, 17.00 and 1.7e1 are 17; the double 0.1 is 0.1000000000000000055511151231257827021...
 *                NaN and infinities are missing
 *     booleans   true, false
 *     dates      2000-01-31 (and 0044-03-15 BC, infinity, -infinity)
 *     UUIDs      lower-case, with hyphens
 *
 * Other types have no such form, or several (citext, CHAR(n), collations for which different texts are equal, times with zones,
 * JSON): a column of them cannot be an id, stratum, cluster or category. That is decided by the type of the column, before
 * anything is charged, and so is this: all parts of a source must hold the same kind.
 *
 * A value that the plan lists, or the id of a frame, is looked up in a column of numbers as the number of the column's own type
 * that is nearest to it: 0.1 in a column of doubles means the double 0.1.                                                */
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
    TMI_FORM_ANY, /* a column without any value */
    TMI_FORM_NONE /* no canonical form */
} tmi_form;

static inline bool tmi_form_is_number(tmi_form form)
{
    return form == TMI_FORM_EXACT || form == TMI_FORM_DOUBLE || form == TMI_FORM_FLOAT;
}

/* A part of a source in messages: a file, or something else of this name, such as a connection; both NULL: there is only one. */
typedef struct tmi_source_part {
    const char *file, *name;
} tmi_source_part;

/* The form of a column that has `seen` in the parts before (at first TMI_FORM_ANY) and `here` in this part. INVALID,
 * as a further line of the message, if they cannot be compared; `here` is not TMI_FORM_NONE. */
tamis_status tmi_form_join(tmi_form *seen, tmi_form here, const tmi_source_part *part, const char *column,
                           tamis_error *err);

/* ---- classes ----
 *
 * The class of a column's type is the one thing, beside the form, that is read of a header before the charge: it is a declared
 * invariant, the same for all neighbours. Value labels, dictionaries and minima depend on people and are not looked at.      */
typedef enum tmi_class {
    TMI_CLASS_OPEN, /* the header says nothing: CSV, a column without any value */
    TMI_CLASS_NUMBER,
    TMI_CLASS_TEXT,
    TMI_CLASS_DATE, /* dates, times, intervals; numbers of SPSS, Stata and SAS with such a format */
    TMI_CLASS_BOOLEAN,
    TMI_CLASS_OTHER /* UUIDs, lists, bytes */
} tmi_class;

/* The class of a form; TMI_FORM_NONE is of the class OTHER, unless the engine knows better. */
tmi_class tmi_class_of(tmi_form form);

/* That a column which the plan uses as a number (a value, weight, probability or size) may hold numbers. INVALID, as a further
 * line of the message, names the class and what to do. */
tamis_status tmi_class_check(tmi_class class, const tmi_source_part *part, const char *column, tamis_error *err);

/* That at least one of the values which the plan lists for a category can be in a column of this form: texts alone never meet a
 * number, and a release would be noise about nothing. INVALID, as a further line of the message. Not for files whose codes may
 * have labels. */
tamis_status tmi_values_check(const char *const *values, size_t count, tmi_form form, const tmi_source_part *part,
                              const char *column, tamis_error *err);

/* INVALID, as a further line of the message: two values that are listed for the column are one number there. */
tamis_status tmi_fail_same_number(const char *column, tamis_error *err);

/* What to say of a column that has no canonical form, after its name: why, and what to do. */
#define TMI_NO_FORM "has a type or collation without one form for equal values; ids, strata, clusters and categories need " \
                    "plain text, numbers, booleans, dates or UUIDs: convert it, for example in a view"

/* Bytes of the canonical text of a double, and one more: a sign, "0." and 1074 digits. */
#define TMI_NUMBER_TEXT 1080

/* The canonical text of a double, with its length; "" if it is not finite. A float is the double of the same value. */
size_t tmi_double_text(char text[TMI_NUMBER_TEXT], double x);

/* The canonical text of a number in decimal notation (as tmi_number_in reads it), with its length; 0 if it is no number. What
 * has more than TMI_NUMBER_TEXT - 1 digits without an exponent is none. */
size_t tmi_decimal_text(char text[TMI_NUMBER_TEXT], tmi_cell number);

/* The canonical text that a value of the plan has in a column of this form, with its length; 0 if it is none there. */
size_t tmi_value_text(char text[TMI_NUMBER_TEXT], tmi_cell value, tmi_form form);

#endif
