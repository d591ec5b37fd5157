#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char more[] = "\n(further messages did not fit)";

static void write_at(tamis_error *err, size_t at, const char *format, va_list arguments)
{
    size_t room = sizeof err->message - at;
    int length = vsnprintf(err->message + at, room, format, arguments);
    if (length >= 0 && (size_t)length < room) return;
    size_t cut = sizeof err->message - sizeof more;
    while (cut > 0 && ((unsigned char)err->message[cut] & 0xC0) == 0x80) cut--; /* not inside a UTF-8 character */
    memcpy(err->message + cut, more, sizeof more);
}

tamis_status tmi_fail(tamis_error *err, tamis_status status, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    write_at(err, 0, format, arguments);
    va_end(arguments);
    return status;
}

tamis_status tmi_fail_more(tamis_error *err, tamis_status status, const char *format, ...)
{
    if (!err) return status;
    size_t at = strnlen(err->message, sizeof err->message - 1);
    if (at > 0 && at + 1 < sizeof err->message) err->message[at++] = '\n';
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    write_at(err, at, format, arguments);
    va_end(arguments);
    return status;
}

tamis_status tmi_fail_memory(tamis_error *err)
{
    return tmi_fail(err, TAMIS_SYSTEM, "out of memory");
}

void tmi_error_reset(tamis_error *err)
{
    if (!err) return;
    err->status = TAMIS_OK;
    err->message[0] = '\0';
}
