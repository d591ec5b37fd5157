/* Writes SQL so that text from a plan or a file name can only ever be a name, a string or a number. */
#ifndef TMI_ENGINE_CORE_SQL_H
#define TMI_ENGINE_CORE_SQL_H

#include "base/text.h"

/* A name: "stype", with quotes inside it doubled. */
void tmi_sql_name(tmi_text *sql, const char *name);

/* A text: 'Yes', with quotes inside it doubled. Backslashes mean themselves (standard SQL). */
void tmi_sql_text(tmi_text *sql, const char *text);

#endif
