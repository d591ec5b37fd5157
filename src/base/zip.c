#include "base/zip.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"

#define VERSION 10u              /* stored files need nothing newer than version 1.0 of the format */
#define FIRST_DAY (1u << 5 | 1u) /* 1 January 1980 */

void tmi_zip_init(tmi_zip *zip)
{
    tmi_text_init(&zip->bytes);
    tmi_text_init(&zip->entries);
    zip->count = 0;
}

/* The checksum of the format: the polynomial 0xedb88320, four bits at a time. */
static uint32_t crc_of(const char *bytes, size_t length)
{
    static const uint32_t step[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)bytes[i];
        crc = crc >> 4 ^ step[crc & 15];
        crc = crc >> 4 ^ step[crc & 15];
    }
    return ~crc;
}

static void put(tmi_text *text, uint32_t value, size_t bytes)
{
    char little[4];
    for (size_t i = 0; i < bytes; i++) little[i] = (char)(value >> 8 * i & 255);
    tmi_text_add(text, little, bytes);
}

/* What stands before a file and, again, in the list of contents. */
static void put_facts(tmi_text *text, const char *name, uint32_t crc, uint32_t length)
{
    put(text, VERSION, 2);
    put(text, 0, 2); /* nothing special */
    put(text, 0, 2); /* stored */
    put(text, 0, 2); /* midnight */
    put(text, FIRST_DAY, 2);
    put(text, crc, 4);
    put(text, length, 4);
    put(text, length, 4);
    put(text, (uint32_t)strlen(name), 2);
    put(text, 0, 2); /* no extra field */
}

void tmi_zip_add(tmi_zip *zip, const char *name, tmi_text *content)
{
    const size_t start = zip->bytes.length;
    const bool fits = zip->count < UINT16_MAX && content->length < UINT32_MAX && start + content->length < UINT32_MAX;
    if (content->failed || !fits) zip->bytes.failed = true;
    if (content->stopped) zip->bytes.stopped = true;
    if (!zip->bytes.failed) {
        const uint32_t crc = crc_of(content->bytes, content->length), length = (uint32_t)content->length;
        tmi_text_add(&zip->bytes, "PK\3\4", 4);
        put_facts(&zip->bytes, name, crc, length);
        tmi_text_put(&zip->bytes, name);
        tmi_text_add(&zip->bytes, content->bytes, content->length);
        tmi_text_add(&zip->entries, "PK\1\2", 4);
        put(&zip->entries, VERSION, 2);
        put_facts(&zip->entries, name, crc, length);
        put(&zip->entries, 0, 2); /* no comment */
        put(&zip->entries, 0, 2); /* on the first disk */
        put(&zip->entries, 0, 2); /* no attributes */
        put(&zip->entries, 0, 4);
        put(&zip->entries, (uint32_t)start, 4);
        tmi_text_put(&zip->entries, name);
        zip->count++;
    }
    tmi_text_clear(content);
    tmi_text_init(content);
}

tamis_status tmi_zip_take(char **bytes, size_t *length, tmi_zip *zip, tamis_error *err)
{
    const uint32_t start = (uint32_t)zip->bytes.length, count = (uint32_t)zip->count;
    if (zip->entries.failed) zip->bytes.failed = true;
    tmi_text_add(&zip->bytes, zip->entries.bytes ? zip->entries.bytes : "", zip->entries.length);
    tmi_text_add(&zip->bytes, "PK\5\6", 4);
    put(&zip->bytes, 0, 2); /* this disk, and that of the list */
    put(&zip->bytes, 0, 2);
    put(&zip->bytes, count, 2);
    put(&zip->bytes, count, 2);
    put(&zip->bytes, (uint32_t)zip->entries.length, 4);
    put(&zip->bytes, start, 4);
    put(&zip->bytes, 0, 2); /* no comment */
    *length = zip->bytes.length;
    tmi_text_clear(&zip->entries);
    tmi_text_init(&zip->entries);
    return tmi_text_take(bytes, &zip->bytes, err);
}
