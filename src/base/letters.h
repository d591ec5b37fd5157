/* Characters that do not belong into names that people read.
 *
 * A *control* character is obeyed by a terminal instead of shown. A *hidden* one shows nothing, or changes how the text around it
 * is shown: bidirectional controls, with which a name can be displayed as another one ("Trojan Source", Boucher and Anderson
 * 2021); zero-width and other characters that Unicode calls default-ignorable; separators of lines; blanks that are no spaces.
 *
 * The two joiners, U+200C and U+200D, are hidden except directly between two letters of a script whose spelling needs them:
 * Arabic (Persian), Syriac, the scripts of India, Myanmar, Khmer and Mongolian. Combining marks are letters like any others. Not
 * covered: letters that look like others (Latin and Cyrillic a), the same letter composed and decomposed, spaces of other widths.
 *
 * Texts are UTF-8; a byte that is none belongs to no character here. */
#ifndef TMI_BASE_LETTERS_H
#define TMI_BASE_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The bytes of the control character, or of the hidden one, at `at`; 0 if there is none. */
size_t tmi_control(const char *at);
size_t tmi_hidden(const char *bytes, size_t length, size_t at);

bool tmi_has_control(const char *text);

/* The code point of the first control or hidden character of a text; 0 if it has none. */
uint32_t tmi_unreadable(const char *text);

/* The length of the UTF-8 character at the beginning of `room` bytes; 0 if there is none: overlong forms, surrogates and what
 * lies beyond U+10FFFF are none. */
size_t tmi_utf8_length(const char *bytes, size_t room);

/* The code point at `at`; U+FFFD if the bytes are no UTF-8. */
uint32_t tmi_code_point(const char *bytes, size_t length, size_t at);

/* A name inside a message: what cannot be read becomes <U+202E>. */
void tmi_text_shown(tmi_text *text, const char *name);

#endif
