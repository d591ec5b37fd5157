/* Dates in files of SPSS, Stata and SAS: numbers of days or seconds that a format in the header shows as a date or time. */
#ifndef TMI_ENGINE_FILES_READSTAT_CLASS_H
#define TMI_ENGINE_FILES_READSTAT_CLASS_H

#include <stdbool.h>

typedef enum tmi_format_of { TMI_SPSS_FORMAT, TMI_STATA_FORMAT, TMI_SAS_FORMAT } tmi_format_of;

/* Whether a number with this format (NULL: none) is shown as a date, a time or a duration. Years, months and days of the week
 * that are stored as such are numbers: MONTH and WKDAY of SPSS, %ty of Stata. */
bool tmi_is_date_format(tmi_format_of program, const char *format);

#endif
