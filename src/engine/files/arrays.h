/* Columns in memory: plain arrays and Arrow arrays. */
#ifndef TMI_ENGINE_FILES_ARRAYS_H
#define TMI_ENGINE_FILES_ARRAYS_H

#include <tamis/engine.h>

#include "engine/core/canonical.h"

typedef enum tmi_array_kind {
    TMI_ARRAY_NULL,
    TMI_ARRAY_BOOL,
    TMI_ARRAY_I8,
    TMI_ARRAY_U8,
    TMI_ARRAY_I16,
    TMI_ARRAY_U16,
    TMI_ARRAY_I32,
    TMI_ARRAY_U32,
    TMI_ARRAY_I64,
    TMI_ARRAY_U64,
    TMI_ARRAY_BOOL32, /* an int32_t that is 0 or not */
    TMI_ARRAY_F16,
    TMI_ARRAY_F32,
    TMI_ARRAY_F64,
    TMI_ARRAY_DECIMAL,
    TMI_ARRAY_DAYS32,  /* since 1970-01-01, as int32_t */
    TMI_ARRAY_DAYS_MS, /* the same in milliseconds, as int64_t */
    TMI_ARRAY_DAYS_F64,
    TMI_ARRAY_UUID,
    TMI_ARRAY_POINTERS,
    TMI_ARRAY_UTF8,
    TMI_ARRAY_LARGE_UTF8,
    TMI_ARRAY_VIEWS, /* of UTF-8 */
    TMI_ARRAY_RUNS,  /* `values` says where each run ends, `through` what its elements are */
    TMI_ARRAY_TIME,
    TMI_ARRAY_OTHER /* not usable: times and durations, or anything else */
} tmi_array_kind;

/* Element i of the array is at offset + i in its buffers. */
typedef struct tmi_array {
    tmi_array_kind kind;
    const void *values;   /* UTF8: where the texts begin and end */
    const char *bytes;    /* of UTF8 */
    int64_t byte_count;   /* of UTF8: where the last text of the buffers ends */
    const uint8_t *valid; /* one bit per element; NULL: all are valid */
    int64_t offset;
    int64_t length;
    int32_t width;                 /* bytes of a DECIMAL or of the end of a run */
    int32_t scale;                 /* digits of a DECIMAL behind the point; may be negative */
    const void *const *buffers;    /* of VIEWS: those of long texts */
    const int64_t *buffer_lengths; /* of these */
    int64_t buffer_count;          /* of these; of RUNS: the number of runs */
    bool has_missing;              /* an integer, `missing`, means that the element is */
    int32_t base;                  /* of an array of positions: that of the first element of `through` */
    int64_t missing;
    const struct tmi_array *through; /* not NULL: the elements are those of that array, at these positions or runs */
} tmi_array;

/* Whether its elements are texts, the form in which they are compared, and the class of their type. */
bool tmi_array_has_texts(const tmi_array *array);
tmi_form tmi_array_form(const tmi_array *array);
tmi_class tmi_array_class(const tmi_array *array);

/* n numbers from element `first` on, NaN where missing, of an array of numbers. A missing code that no float equals is matched
 * by the float nearest to it. */
void tmi_array_numbers(double *to, const tmi_array *array, int64_t first, size_t n, const double *codes, size_t code_count);

/* Where the text at this position of a UTF8 array's buffers begins, and the one before it ends. */
int64_t tmi_array_text_start(const tmi_array *array, int64_t at);

/* The canonical text of an element; missing if it lies outside the buffer. What is no text is written into `room`. */
tmi_cell tmi_array_text(const tmi_array *array, int64_t i, char room[TMI_NUMBER_TEXT]);

#endif
