/* Whether a document holds all that its text says; for json.c alone.
 *
 * jansson 2.14 grows its buffer inside a string or a number byte by byte, and when that allocation fails it goes on without
 * the byte: "0.001" may arrive as "0.01" without any error. So the bytes of all strings and keys and the digits of all
 * integers are counted twice, in the text and in the document. (Other numbers and words carry no meaning for us or are
 * malformed without one of their letters.) */
#ifndef TMI_BASE_VALUE_WEIGHT_H
#define TMI_BASE_VALUE_WEIGHT_H

#include <jansson.h>

size_t tmi_json_text_weight(const char *bytes, size_t length);
size_t tmi_json_document_weight(const json_t *value);

#endif
