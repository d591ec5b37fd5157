#include "collect/packed_header.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A byte that no text has, line ends of two systems and the end-of-file character of a third: a transfer that changes any of
 * them is noticed at once. */
static const uint8_t magic[TMI_PACKED_MAGIC] = {0x89, 't', 'm', 'k', '\r', '\n', 0x1a, '\n'};

bool tmi_is_packed(const void *bytes, size_t length) { return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0; }

static uint32_t load32(const uint8_t *bytes)
{
    uint32_t x;
    memcpy(&x, bytes, sizeof x);
    return x;
}

/* ---- writing ---- */

static void add32(tmi_text *out, size_t x)
{
    uint32_t number = (uint32_t)x;
    tmi_text_add(out, (const char *)&number, sizeof number);
}

static void add_text(tmi_text *out, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    add32(out, length);
    tmi_text_add(out, text ? text : "", length);
}

static tamis_status add_number(tmi_text *out, const tamis_number *number, tamis_error *err)
{
    char *text = NULL;
    tamis_status status = tamis_number_write(&text, number, err);
    if (status == TAMIS_OK && strlen(text) > TMI_PACKED_NAME)
        status = tmi_fail(err, TAMIS_INVALID, "lie: the fraction has more than %d characters", TMI_PACKED_NAME);
    if (status == TAMIS_OK) add_text(out, text);
    tamis_free(text);
    return status;
}

tamis_status tmi_packed_header_write(uint8_t **bytes, size_t *size, const tmi_packed_form *form, tamis_error *err)
{
    tmi_text out;
    tamis_status status;
    char *taken = NULL;
    tmi_text_init(&out);
    *bytes = NULL;
    tmi_text_add(&out, (const char *)magic, sizeof magic);
    add32(&out, TMI_PACKED_VERSION);
    add32(&out, 0); /* the size, known at the end */
    add32(&out, form->bits);
    add32(&out, form->id ? TMI_PACKED_IDS : 0);
    TMI_TRY(add_number(&out, form->lie, err));
    TMI_TRY(add_number(&out, form->lie_zero, err));
    add_text(&out, form->id);
    for (size_t i = 0; i < form->bits && out.length <= TMI_PACKED_HEADER; i++) add_text(&out, form->names[i]);
    while (out.length % 8 != 0 && !out.failed) tmi_text_add(&out, "", 1);
    if (out.length > TMI_PACKED_HEADER)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the names of the bits have more than %d bytes together", TMI_PACKED_HEADER));
    *size = out.length;
    TMI_TRY(tmi_text_take(&taken, &out, err));
    uint32_t number = (uint32_t)*size;
    memcpy(taken + sizeof magic + 4, &number, sizeof number);
    *bytes = (uint8_t *)taken;
done:
    tmi_text_clear(&out);
    return status;
}

/* ---- reading ---- */

static tamis_status wrong(const char *path, uint64_t at, const char *what, tamis_error *err)
{
    return tmi_fail_file(err, TAMIS_INVALID, path, 0, "byte %llu: %s", (unsigned long long)at, what);
}

tamis_status tmi_packed_header_size(size_t *size, const uint8_t fixed[TMI_PACKED_FIXED], const char *path, uint64_t at,
                                    tamis_error *err)
{
    *size = 0;
    if (!tmi_is_packed(fixed, TMI_PACKED_FIXED)) return wrong(path, at, "this is not the packed form of reports", err);
    if (load32(fixed + 8) != TMI_PACKED_VERSION)
        return wrong(path, at + 8, "unknown version of the packed form; this program reads version 1", err);
    size_t all = load32(fixed + 12);
    if (all < TMI_PACKED_FIXED || all > TMI_PACKED_HEADER || all % 8 != 0)
        return wrong(path, at + 12, "the size of the header is wrong", err);
    if (load32(fixed + 16) < 1 || load32(fixed + 16) > TMI_PACKED_BITS)
        return wrong(path, at + 16, "the number of bits must be between 1 and 65536", err);
    if (load32(fixed + 20) & ~TMI_PACKED_IDS) return wrong(path, at + 20, "unknown flags", err);
    *size = all;
    return TAMIS_OK;
}

typedef struct header_text {
    const uint8_t *bytes;
    size_t at, size;
    const char *path;
    uint64_t begin;
} header_text;

static tamis_status next_text(char **text, header_text *h, tamis_error *err)
{
    *text = NULL;
    size_t length = h->size - h->at >= 4 ? load32(h->bytes + h->at) : SIZE_MAX;
    if (length > TMI_PACKED_NAME || length > h->size - h->at - 4 || memchr(h->bytes + h->at + 4, 0, length))
        return wrong(h->path, h->begin + h->at, "a text of the header is damaged", err);
    *text = tmi_copy_text((const char *)h->bytes + h->at + 4, length);
    h->at += 4 + length;
    return *text ? TAMIS_OK : tmi_fail_memory(err);
}

/* A fraction is written in one way only, so that equal headers are equal bytes. */
static tamis_status next_number(tamis_number **number, header_text *h, tamis_error *err)
{
    char *text = NULL, *again = NULL;
    tamis_status status;
    size_t at = h->at;
    TMI_TRY(next_text(&text, h, err));
    status = tamis_number_read(number, text, err);
    if (status == TAMIS_OK) TMI_TRY(tamis_number_write(&again, *number, err));
    if (status == TAMIS_INVALID || (status == TAMIS_OK && strcmp(text, again) != 0))
        status = wrong(h->path, h->begin + at, "a lie probability is not a fraction in lowest terms", err);
done:
    tmi_free(text);
    tamis_free(again);
    return status;
}

static tamis_status read_texts(tmi_packed_form *form, header_text *h, bool ids, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    TMI_TRY(next_number(&form->lie, h, err));
    TMI_TRY(next_number(&form->lie_zero, h, err));
    size_t at = h->at;
    TMI_TRY(next_text(&form->id, h, err));
    if (ids != (form->id[0] != '\0')) TMI_TRY(wrong(h->path, h->begin + at, "the id column does not match the flags", err));
    if (!ids) {
        tmi_free(form->id);
        form->id = NULL;
    }
    for (size_t i = 0; i < form->bits; i++) TMI_TRY(next_text(&form->names[i], h, err));
    for (at = h->at; at < h->size && h->bytes[at] == 0; at++) continue;
    if (at < h->size || h->size - h->at >= 8) status = wrong(h->path, h->begin + h->at, "the header is longer than needed", err);
done:
    return status;
}

tamis_status tmi_packed_header_read(tmi_packed_form *form, const uint8_t *bytes, size_t size, const char *path, uint64_t at,
                                    tamis_error *err)
{
    header_text h = {bytes, TMI_PACKED_FIXED, size, path, at};
    tamis_error reason;
    tamis_status status;
    *form = (tmi_packed_form){.bits = load32(bytes + 16)};
    /* Each name takes 4 bytes at least: a short header cannot ask for a long list. */
    if (form->bits > size / 4) TMI_TRY(wrong(path, at + 16, "the header is too short for this number of bits", err));
    if (!(form->names = tmi_alloc(form->bits, sizeof *form->names))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(read_texts(form, &h, load32(bytes + 20) & TMI_PACKED_IDS, err));
    status = tmi_packed_form_check(form, &reason);
    if (status != TAMIS_OK) status = tmi_fail_as_file(err, &reason, path);
done:
    if (status != TAMIS_OK) tmi_packed_form_clear(form);
    return status;
}
