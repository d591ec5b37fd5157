/* A table for people: columns aligned by what the terminal shows, not by bytes, and paragraphs that fit the width. */
#ifndef TMI_BASE_TABLE_H
#define TMI_BASE_TABLE_H

#include "base/text.h"

typedef enum tmi_align { TMI_LEFT, TMI_RIGHT } tmi_align;

#define TMI_TABLE_COLUMNS 12
#define TMI_TEXT_WIDTH 79

typedef struct tmi_text_table {
    size_t columns;
    tmi_align align[TMI_TABLE_COLUMNS];
    char **cells; /* row by row */
    size_t rows, room;
    bool failed;
} tmi_text_table;

void tmi_table_init(tmi_text_table *table, size_t columns, const tmi_align *align);
void tmi_table_clear(tmi_text_table *table);

/* Adds a row; `cells` has one string per column; NULL is empty. The first row is the heading. */
void tmi_table_row(tmi_text_table *table, const char *const *cells);
void tmi_table_row_taken(tmi_text_table *table, tmi_text *cells); /* the same of texts, which are cleared */

/* Writes the heading, a rule, the rows; two spaces between columns, none at the end of a line. Where the table would not fit the
 * width, names in the first column are broken between words, or after marks such as _ in long ones; texts in the last column
 * go below their row, and with little room left the numbers of a row do. */
void tmi_table_write(tmi_text *text, const tmi_text_table *table);

/* Columns of a terminal that a UTF-8 string takes: wide East Asian letters two, combining marks none. */
size_t tmi_text_columns(const char *string);

/* A paragraph broken into lines of at most TMI_TEXT_WIDTH columns, the second and later ones indented. */
void tmi_text_wrap(tmi_text *text, const char *first, const char *indent, const char *paragraph);
void tmi_text_wrap_taken(tmi_text *text, const char *first, const char *indent, tmi_text *paragraph); /* clears the paragraph */

#endif
