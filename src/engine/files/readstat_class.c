#include "engine/files/readstat_class.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* SPSS counts seconds since 1582. These formats are recognised by name, whatever width and decimals follow. */
static const char *const spss[] = {"DATE", "ADATE",    "EDATE",  "JDATE", "SDATE", "QYR",  "MOYR",
                                   "WKYR", "DATETIME", "YMDHMS", "TIME",  "DTIME", "MTIME"};

/* SAS counts days or seconds since 1960. A letter at the end of a name chooses what separates the parts of a date. */
static const char *const sas[] = {"DATE",    "DATEAMPM", "DATETIME", "DAY",      "DDMMYY",   "DDMMYYB",  "DDMMYYC",  "DDMMYYD",
                                  "DDMMYYN", "DDMMYYP",  "DDMMYYS",  "DOWNAME",  "DTDATE",   "DTMONYY",  "DTWKDATX", "DTYEAR",
                                  "DTYYQC",  "HHMM",     "HOUR",     "JULDAY",   "JULIAN",   "MDYAMPM",  "MMDDYY",   "MMDDYYB",
                                  "MMDDYYC", "MMDDYYD",  "MMDDYYN",  "MMDDYYP",  "MMDDYYS",  "MMSS",     "MMYY",     "MMYYC",
                                  "MMYYD",   "MMYYN",    "MMYYP",    "MMYYS",    "MONNAME",  "MONTH",    "MONYY",    "QTR",
                                  "QTRR",    "TIME",     "TIMEAMPM", "TOD",      "WEEKDATE", "WEEKDATX", "WEEKDAY",  "WEEKU",
                                  "WEEKV",   "WEEKW",    "WORDDATE", "WORDDATX", "YEAR",     "YYMM",     "YYMMC",    "YYMMD",
                                  "YYMMN",   "YYMMP",    "YYMMS",    "YYMMDD",   "YYMMDDB",  "YYMMDDC",  "YYMMDDD",  "YYMMDDN",
                                  "YYMMDDP", "YYMMDDS",  "YYMON",    "YYQ",      "YYQC",     "YYQD",     "YYQN",     "YYQP",
                                  "YYQS",    "YYQR"};

/* Families of SAS formats, by how their names begin: ISO 8601 and those of national languages. */
static const char *const sas_families[] = {"B8601", "E8601", "IS8601", "NLDAT", "NLTIM", "EURDF"};

static bool is_listed(const char *format, const char *const *names, size_t count)
{
    const size_t length = strspn(format, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncasecmp(format, names[i], length) == 0) return true;
    return false;
}

/* "%td", "%-tcCCYY.NN.DD", and "%d", as old files have it. */
static bool is_stata_date(const char *format)
{
    if (*format != '%') return false;
    format += 1 + (format[1] == '-');
    return *format == 'd' || (*format == 't' && format[1] != 'y' && format[1] != 'g');
}

bool tmi_is_date_format(tmi_format_of program, const char *format)
{
    if (!format) return false;
    if (program == TMI_STATA_FORMAT) return is_stata_date(format);
    if (program == TMI_SPSS_FORMAT) return is_listed(format, spss, sizeof spss / sizeof *spss);
    for (size_t i = 0; i < sizeof sas_families / sizeof *sas_families; i++)
        if (strncasecmp(format, sas_families[i], strlen(sas_families[i])) == 0) return true;
    return is_listed(format, sas, sizeof sas / sizeof *sas);
}
