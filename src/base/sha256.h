/* SHA-256: as text for chains of entries and for what a certificate says about a file, as bytes for keyed hashes. */
#ifndef TMI_BASE_SHA256_H
#define TMI_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define TMI_SHA256_BYTES 32
#define TMI_SHA256_TEXT 65

void tmi_sha256(unsigned char hash[TMI_SHA256_BYTES], const void *bytes, size_t length);

/* HMAC-SHA-256 (RFC 2104) of a text under a key of TMI_SHA256_BYTES bytes. `text` has room for TMI_HMAC_ROOM bytes before it
 * that the function may overwrite: nothing is allocated. Wipes what it computed on the way. */
#define TMI_HMAC_ROOM 64
void tmi_hmac(unsigned char hash[TMI_SHA256_BYTES], const unsigned char key[TMI_SHA256_BYTES], unsigned char *text,
              size_t length);

/* 2 length digits in lower case and a NUL. */
void tmi_hex(char *text, const unsigned char *bytes, size_t length);

/* 64 hexadecimal digits in lower case. */
void tmi_sha256_text(char text[TMI_SHA256_TEXT], const char *bytes, size_t length);

/* The same of a file. INVALID if there is none, SYSTEM if it cannot be read. */
tamis_status tmi_sha256_file(char text[TMI_SHA256_TEXT], const char *path, tamis_error *err);

/* Whether a text has that form. */
bool tmi_is_sha256_text(const char *text);

#endif
