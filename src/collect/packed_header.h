/* The header of the packed form as bytes. */
#ifndef TMI_COLLECT_PACKED_HEADER_H
#define TMI_COLLECT_PACKED_HEADER_H

#include "collect/packed.h"

/* The part of fixed size: magic, version, size of the whole header, bits, flags. Integers are little-endian. */
#define TMI_PACKED_FIXED 24
#define TMI_PACKED_IDS 1u /* flag: every block has ids */

/* The caller frees `bytes`. */
tamis_status tmi_packed_header_write(uint8_t **bytes, size_t *size, const tmi_packed_form *form, tamis_error *err);

/* Checks the fixed part, and gives the size of the whole. */
tamis_status tmi_packed_header_size(size_t *size, const uint8_t fixed[TMI_PACKED_FIXED], const char *path, uint64_t at,
                                    tamis_error *err);

/* Reads all of it; `at` is the byte of the file at which it begins. The form is empty on failure. */
tamis_status tmi_packed_header_read(tmi_packed_form *form, const uint8_t *bytes, size_t size, const char *path, uint64_t at,
                                    tamis_error *err);

#endif
