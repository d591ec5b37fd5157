#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char more[] = "\n(further messages did not fit)";
static const char place[] = "%s:%d:%d: ";

/* An item beyond the last one becomes a further line of that. */
static void add_item(tamis_error *err, tamis_error_item item)
{
    if (err->item_count < TAMIS_ERROR_ITEMS) err->items[err->item_count++] = item;
}

/* Ends the message with the remark that it is not complete. */
static void cut_message(tamis_error *err)
{
    size_t cut = sizeof err->message - sizeof more;
    while (cut > 0 && ((unsigned char)err->message[cut] & 0xC0) == 0x80) cut--; /* not inside a UTF-8 character */
    memcpy(err->message + cut, more, sizeof more);
    while (err->item_count > 0 && err->items[err->item_count - 1].begin >= cut) err->item_count--;
    tamis_error_item *last = &err->items[err->item_count > 0 ? err->item_count - 1 : 0];
    if (err->item_count > 0 && last->text > cut) *last = (tamis_error_item){.begin = last->begin, .text = last->begin};
    add_item(err, (tamis_error_item){.begin = (uint16_t)(cut + 1), .text = (uint16_t)(cut + 1)});
}

/* Where the text ends that was written at `at`; nothing fits behind sizeof message. */
static size_t end_of(size_t at, int length)
{
    return length < 0 || (size_t)length >= TAMIS_ERROR_SIZE - at ? TAMIS_ERROR_SIZE : at + (size_t)length;
}

/* What several places need is reported once: forgets the last item, bytes `at` to `end`, if an earlier one reads the same. */
static void drop_repeated(tamis_error *err, size_t at, size_t end)
{
    if (err->item_count == 0 || err->items[err->item_count - 1].begin != at) return;
    for (size_t i = 0; i + 1 < err->item_count; i++) {
        const size_t begin = err->items[i].begin, length = err->items[i + 1].begin - 1 - begin;
        if (length != end - at || memcmp(err->message + begin, err->message + at, length) != 0) continue;
        err->item_count--;
        err->message[at - 1] = '\0'; /* the newline before it */
        return;
    }
}

/* Writes one error at byte `at`; `file` NULL: the format may name a place. */
static void write_item(tamis_error *err, size_t at, const char *file, int64_t line, const char *format, va_list arguments)
{
    tamis_error_item item = {.begin = (uint16_t)at};
    size_t end = at, room = sizeof err->message - at;
    if (file && line > 0) end = end_of(at, snprintf(err->message + at, room, "%s: line %lld: ", file, (long long)line));
    else if (file) end = end_of(at, snprintf(err->message + at, room, "%s: ", file));
    if (!file && strncmp(format, place, sizeof place - 1) == 0) {
        va_list copy;
        va_copy(copy, arguments);
        file = va_arg(copy, const char *);
        line = va_arg(copy, int);
        item.column = va_arg(copy, int);
        va_end(copy);
        item.text = (uint16_t)end_of(at, snprintf(NULL, 0, place, file, (int)line, (int)item.column));
    } else {
        item.text = (uint16_t)end;
    }
    item.line = line;
    if (file) item.file = (uint16_t)(end_of(at, (int)strnlen(file, TAMIS_ERROR_SIZE)) - at);
    add_item(err, item);
    if (end < sizeof err->message) end = end_of(end, vsnprintf(err->message + end, sizeof err->message - end, format, arguments));
    if (end == sizeof err->message) cut_message(err);
    else drop_repeated(err, at, end);
}

static void forget_facts(tamis_error *err)
{
    err->reason[0] = '\0';
    err->entry = 0;
    err->amount = err->ledger = (tamis_error_piece){0};
}

static size_t begin(tamis_error *err, tamis_status status)
{
    err->status = status;
    err->item_count = 0;
    forget_facts(err);
    return 0;
}

/* At the end of what is there; a message that was written by hand is the first item. */
static size_t begin_more(tamis_error *err, tamis_status status)
{
    size_t at = strnlen(err->message, sizeof err->message - 1);
    err->status = status;
    if (at == 0) return begin(err, status);
    if (err->item_count == 0) add_item(err, (tamis_error_item){0});
    if (at + 1 < sizeof err->message) err->message[at++] = '\n';
    return at;
}

tamis_status tmi_fail(tamis_error *err, tamis_status status, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    write_item(err, begin(err, status), NULL, 0, format, arguments);
    va_end(arguments);
    return status;
}

tamis_status tmi_fail_more(tamis_error *err, tamis_status status, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    write_item(err, begin_more(err, status), NULL, 0, format, arguments);
    va_end(arguments);
    return status;
}

tamis_status tmi_fail_file(tamis_error *err, tamis_status status, const char *file, int64_t line, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    write_item(err, begin(err, status), file, line, format, arguments);
    va_end(arguments);
    return status;
}

tamis_status tmi_fail_file_more(tamis_error *err, tamis_status status, const char *file, int64_t line, const char *format, ...)
{
    if (!err) return status;
    va_list arguments;
    va_start(arguments, format);
    write_item(err, begin_more(err, status), file, line, format, arguments);
    va_end(arguments);
    return status;
}

tamis_status tmi_fail_as(tamis_error *err, const tamis_error *reason)
{
    if (err && err != reason) *err = *reason;
    return reason->status;
}

tamis_status tmi_fail_as_more(tamis_error *err, const tamis_error *reason)
{
    if (!err) return reason->status;
    size_t at = begin_more(err, reason->status), i = err->item_count;
    if (reason->item_count == 0) add_item(err, (tamis_error_item){.begin = (uint16_t)at, .text = (uint16_t)at});
    for (size_t r = 0; r < reason->item_count; r++) add_item(err, reason->items[r]);
    for (; reason->item_count > 0 && i < err->item_count; i++) {
        err->items[i].begin = (uint16_t)(err->items[i].begin + at);
        err->items[i].text = (uint16_t)(err->items[i].text + at);
    }
    int length = snprintf(err->message + at, sizeof err->message - at, "%s", reason->message);
    if (end_of(at, length) == sizeof err->message) cut_message(err);
    return reason->status;
}

tamis_status tmi_fail_as_file(tamis_error *err, const tamis_error *reason, const char *file)
{
    tmi_fail_file(err, reason->status, file, 0, "%s", reason->message);
    if (err) memcpy(err->reason, reason->reason, sizeof err->reason);
    if (err && reason->item_count == 1) {
        err->items[0].line = reason->items[0].line;
        err->items[0].column = reason->items[0].column;
    }
    return reason->status;
}

tamis_status tmi_fail_memory(tamis_error *err)
{
    return tmi_because(err, "memory", tmi_fail(err, TAMIS_SYSTEM, "out of memory"));
}

tamis_status tmi_fail_cancelled(tamis_error *err)
{
    return tmi_because(err, "cancelled", tmi_fail(err, TAMIS_SYSTEM, "cancelled"));
}

tamis_status tmi_because(tamis_error *err, const char *reason, tamis_status status)
{
    if (err && status != TAMIS_OK && !err->reason[0]) snprintf(err->reason, sizeof err->reason, "%s", reason);
    return status;
}

void tmi_error_key(tamis_error *err, size_t length)
{
    if (!err || err->item_count == 0) return;
    tamis_error_item *item = &err->items[err->item_count - 1];
    if (item->text + length < strnlen(err->message, sizeof err->message)) item->key = (uint16_t)length;
}

void tmi_error_reset(tamis_error *err)
{
    if (!err) return;
    err->status = TAMIS_OK;
    err->message[0] = '\0';
    err->item_count = 0;
    forget_facts(err);
}
