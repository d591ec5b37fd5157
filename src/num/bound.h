/* Printing enclosures so that the printed decimals still enclose. */
#ifndef TMI_NUM_BOUND_H
#define TMI_NUM_BOUND_H

#include <tamis/experimental/bound.h>

#include "base/value/json.h"

#define TMI_BOUND_UNKNOWN ((tamis_bound){-__builtin_inf(), __builtin_inf()})

/* tamis_decimal_down and tamis_decimal_up with 17 digits. */
#define TMI_DECIMAL TAMIS_DECIMAL
void tmi_decimal_down(char *text, double x);
void tmi_decimal_up(char *text, double x);

/* A number >= 0 for people: exactly if six digits or an integer do, else with about six significant digits, the last one
 * rounded up. */
tamis_status tmi_number_decimal_up(char *text, const tamis_number *x, tamis_error *err);

/* A number for people, in TMI_DECIMAL bytes: exactly if it is a decimal of up to 15 digits, else with six digits, rounded up or
 * down. *exact says which; it may be NULL. SYSTEM (memory). */
tamis_status tmi_number_decimal(char *text, bool *exact, const tamis_number *x, bool up, tamis_error *err);

/* {"lower": ..., "upper": ...}, infinities as strings. */
void tmi_json_put_bound(tmi_json_out *out, tamis_bound bound);
void tmi_json_add_bound(tmi_json_out *out, const char *key, tamis_bound bound);

/* The doubles around an exact number. */
tamis_bound tmi_number_bound(const tamis_number *x);

#endif
