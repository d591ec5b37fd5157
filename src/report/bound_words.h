/* Private bounds, for people. Nothing is written where there are none. */
#ifndef TMI_REPORT_BOUND_WORDS_H
#define TMI_REPORT_BOUND_WORDS_H

#include "report/preview.h"

/* What a bound clamps, a sentence each: the bound that was found and at most how many rows are above it, or that one will be. */
void tmi_list_bounds(tmi_lines *lines, const tmi_schedule *schedule);

/* The same as the key "bounds" of results: the bounds that were found. */
void tmi_put_bounds_found(tmi_json_out *out, const tmi_schedule *schedule);

/* " The bound of income is one of 20 ...": a sentence behind those about the noise. */
void tmi_bounds_words(tmi_text *text, const tmi_schedule *schedule);

/* Lines of a preview: what each costs, the guess of it, and whether it lowers errors; and as the key "bounds". */
void tmi_write_bounds(tmi_text *text, const tmi_preview *preview);
void tmi_put_bounds_expected(tmi_json_out *out, const tmi_preview *preview);

#endif
