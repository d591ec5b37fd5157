/* Reading a tree by a table of keys, complaining about everything at once.
 *
 * A map of the format is a table of tmi_plan_key rows: its name, the function that reads its value, whether it must be
 * there. A plain value needs no function of its own: the row names the field that it goes into. A row without a function is
 * something that tamis does not offer, with the reason; a key that nobody knows gets the nearest name as a suggestion. Adding a
 * key is adding a row.
 *
 * Complaints are collected with their places, sorted, and become one message of several lines:
 *
 *     plan.yaml:7:17: design.srs.population: expected a whole number from 1 to 1099511627776, e.g. 6194              */
#ifndef TMI_PLAN_SCHEMA_H
#define TMI_PLAN_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/num.h>

#include "base/words.h"
#include "plan/allowed.h"
#include "plan/yaml.h"

typedef struct tmi_complaint {
    int file, line, column;
    size_t order;
    char *name, *text; /* of the file; what is wrong */
    size_t key;        /* bytes of the key that the text begins with; 0: none */
} tmi_complaint;

typedef struct tmi_reader {
    const char *name;        /* of the file, as the user wrote it */
    tmi_plan_allowed places; /* where files that the plan names must be */
    int file;                /* 0: the plan; files that it names come after it */
    tmi_complaint *complaints;
    size_t count, room;
    const tmi_value *unread_strata; /* the column or columns of strata that were complained about: nobody can miss these */
    bool no_memory;
} tmi_reader;

/* A place that `tamis init` left open, and that no text of a plan may be (TAMIS_FILL_IN). */
#define TMI_FILL_IN "FILL_IN"

/* Complaints kept: a message holds 4096 bytes anyway. */
#define TMI_MAX_COMPLAINTS 200

/* Adds a complaint about a value, or about its key. */
void tmi_complain(tmi_reader *reader, const tmi_value *value, const char *format, ...) __attribute__((format(printf, 3, 4)));
void tmi_complain_key(tmi_reader *reader, const tmi_value *value, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* In the order of the file. */
void tmi_reader_sort(tmi_reader *reader);
void tmi_reader_clear(tmi_reader *reader);

/* OK if there were none; otherwise all of them, in the order of the file. Frees them. */
tamis_status tmi_reader_end(tmi_reader *reader, tamis_error *err);

typedef struct tmi_plan_key tmi_plan_key;
typedef void tmi_read_value(tmi_reader *reader, const tmi_value *value, void *target);
typedef void tmi_read_field(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key);

struct tmi_plan_key {
    const char *name;
    tmi_read_value *read;  /* with neither this nor `plain` the key is not offered */
    tmi_read_field *plain; /* in place of `read`: reads a field, with the example and the number `as` of this row */
    size_t field;          /* where the field, or the target of `read`, begins in the target of the map */
    const char *example;
    int as;
    const char *required;    /* an example, if the key must be there */
    const char *not_offered; /* why there is no such key and what to do instead */
};

/* Calls the reader of each key of a map. `example` shows what the map looks like if the value is no map. */
void tmi_read_map(tmi_reader *reader, const tmi_value *map, const tmi_plan_key *keys, size_t key_count, const char *example,
                  void *target);

/* The row of a key, or NULL with a complaint (unknown, not offered). */
const tmi_plan_key *tmi_find_key(tmi_reader *reader, const tmi_value *value, const tmi_plan_key *keys, size_t key_count);

/* Complains about every key that appears twice in a map, in the whole tree. */
void tmi_complain_duplicates(tmi_reader *reader, const tmi_value *root);

/* ---- values; each returns false after a complaint ---- */

/* Text that is not empty after trimming and has no control characters; *text is a copy, freed with tmi_free. */
bool tmi_read_text(tmi_reader *reader, const tmi_value *value, char **text, const char *example);

/* The same for what people read in a report, at most TMI_MAX_LABEL bytes. */
bool tmi_read_label(tmi_reader *reader, const tmi_value *value, char **text, const char *example);
bool tmi_read_whole(tmi_reader *reader, const tmi_value *value, int64_t *whole, int64_t least, int64_t most, const char *example);
bool tmi_read_exact(tmi_reader *reader, const tmi_value *value, tamis_number **number, const char *example);
bool tmi_read_yes_no(tmi_reader *reader, const tmi_value *value, bool *yes);

/* One of the words; the nearest one is suggested. */
bool tmi_read_word(tmi_reader *reader, const tmi_value *value, size_t *index, const char *const *words, size_t count);

/* A list of 1 to `most` texts; the texts that could be read are the caller's also after a complaint. */
bool tmi_read_texts(tmi_reader *reader, const tmi_value *value, char ***texts, size_t *count, size_t most, const char *example);

/* The same as fields of a target: a text, a label, a number and a bool. */
tmi_read_field tmi_plain_text, tmi_plain_label, tmi_plain_exact, tmi_plain_yes_no;

/* A key that is read later, when what it needs is known. */
tmi_read_value tmi_read_later;

#endif
