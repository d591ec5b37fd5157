/* Rows that are not in a file or a database: arrays in the caller's memory, or Arrow data. An engine of the caller's own is in
 * <tamis/experimental/caller.h>.
 *
 *     tamis_source_new, tamis_source_column         columns of the caller, one after the other
 *     tamis_source_arrow                            record batches of the Arrow C data interface
 *     tamis_source_take_stream                      the same from an Arrow C stream
 *     tamis_source_streams                          the same from streams that can be opened again: rows beyond memory
 *
 * A source is given as `rows` in tamis_release_options and tamis_estimate_options, and then replaces the source of the plan.
 * What it refers to must stay as it is until tamis_source_free.                                                     */
#ifndef TAMIS_ENGINE_H
#define TAMIS_ENGINE_H

#include <stdint.h>
#include <tamis/base.h>

TAMIS_BEGIN

/* What reads the rows of a plan. The answers of all engines are the same. */
typedef enum tamis_engine {
    TAMIS_ENGINE_FITTING, /* the one that fits the source */
    TAMIS_ENGINE_DUCKDB,  /* CSV, Parquet and DuckDB files */
    TAMIS_ENGINE_MEMORY,  /* CSV files, arrays, Arrow */
    TAMIS_ENGINE_POSTGRES,
    TAMIS_ENGINE_READSTAT /* files of SPSS, Stata and SAS */
} tamis_engine;

/* The engine of a name: "duckdb", "memory", "postgres" or "readstat". TAMIS_ENGINE_FITTING on failure. Errors: INVALID. */
TAMIS_USE tamis_status tamis_engine_of_name(tamis_engine *engine, const char *name, tamis_error *err);

/* Names the file of a library that is loaded when it is first used: "duckdb", "pq" (libpq) or "readstat". Without it the usual
 * folders of the system are searched. Python's package of DuckDB, for one, has all its functions.
 *
 * Needs    to be called before the library's first use.
 * Errors   INVALID (no such library or file, or one is loaded already).                                              */
TAMIS_USE tamis_status tamis_library_use(const char *name, const char *path, tamis_error *err);

/* ---- arrays ---- */

typedef struct tamis_source tamis_source;

/* A source without columns.
 *
 * Needs    0 <= rows <= 2^40.
 * Gives    a source that the caller frees with tamis_source_free; NULL on failure.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_source_new(tamis_source **source, int64_t rows, tamis_error *err);
TAMIS_API void tamis_source_free(tamis_source *source); /* NULL is fine */

typedef enum tamis_column_type {
    TAMIS_F64,      /* double: NaN and infinities are missing */
    TAMIS_I64,      /* int64_t */
    TAMIS_I32,      /* int32_t */
    TAMIS_BOOL32,   /* int32_t: 0 is false, others are true */
    TAMIS_DAYS_F64, /* double: a date, in days since 1970-01-01; NaN is missing, fractions are cut off */
    TAMIS_TEXTS,    /* const char *: UTF-8; NULL and blank ones are missing */
    TAMIS_CODES32   /* int32_t: `base` is the first of `levels`; other codes are missing */
} tamis_column_type;

/* A column: as many values as the source has rows, which the caller keeps. Numbers are compared by exact value as ids, strata,
 * clusters and categories: 12.0 is 12, and -0 is 0. Texts are no numbers, whatever they look like; they are compared by their
 * bytes, without the blanks around them. Dates are written 2000-01-31 in a plan. */
typedef struct tamis_column_data {
    size_t size; /* sizeof(tamis_column_data) */
    const char *name;
    tamis_column_type type;
    const void *values;
    const int64_t *missing; /* of integers, booleans and codes: one that means missing, as R's NA is INT32_MIN; NULL: none */
    const char *const *levels;
    int32_t level_count, base;
} tamis_column_data;

/* One more column.
 *
 * Needs    a source of tamis_source_new, a name that it does not have yet, values (NULL only without rows). The struct is copied,
 *          what it refers to is not.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_USE tamis_status tamis_source_column(tamis_source *source, const tamis_column_data *column, tamis_error *err);

/* Short forms of it. */
static inline tamis_status tamis_source_numbers(tamis_source *source, const char *name, const double *values, tamis_error *err)
{
    const tamis_column_data column = {sizeof column, name, TAMIS_F64, values, NULL, NULL, 0, 0};
    return tamis_source_column(source, &column, err);
}

static inline tamis_status tamis_source_integers(tamis_source *source, const char *name, const int64_t *values, tamis_error *err)
{
    const tamis_column_data column = {sizeof column, name, TAMIS_I64, values, NULL, NULL, 0, 0};
    return tamis_source_column(source, &column, err);
}

static inline tamis_status tamis_source_texts(tamis_source *source, const char *name, const char *const *texts, tamis_error *err)
{
    const tamis_column_data column = {sizeof column, name, TAMIS_TEXTS, texts, NULL, NULL, 0, 0};
    return tamis_source_column(source, &column, err);
}

/* ---- Arrow ---- */

/* The Arrow C data interface, as its specification prints it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

/* Record batches that together are one table. Columns can be used that have booleans, integers, floats, decimals (as a label
 * their exact text, as a number the nearest double), dates (tdD, tdm), UUIDs (w:16 with the extension arrow.uuid), UTF-8 texts
 * (u, U, vu), or nulls; dictionaries of these, and runs (+r) of either. Half floats are numbers only. Others may be there.
 *
 * Needs    a schema and arrays of structs (format "+s") that fit it; they are read and not released. No row of a batch is null
 *          as a whole: what such a row would count as, nobody has said.
 * Gives    a source as tamis_source_new.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_source_arrow(tamis_source **source, const struct ArrowSchema *schema,
                                          const struct ArrowArray *const *batches, size_t batch_count, tamis_error *err);

/* The Arrow C stream interface, as its specification prints it. */
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* The record batches of a stream, as tamis_source_arrow takes them. The stream is read to its end by this call and released in
 * any case; the source releases the batches. A stream can be read once and a release looks at the rows several times, so the
 * batches stay in memory until tamis_source_free.
 *
 * Needs    a stream of structs that is not released yet.
 * Gives    a source as tamis_source_new.
 * Errors   INVALID (not a stream, a schema or batch that does not fit), SYSTEM (memory; the stream reports an error: the message
 *          has its number, but not its words, which might contain data).                                              */
TAMIS_USE tamis_status tamis_source_take_stream(tamis_source **source, struct ArrowArrayStream *stream, tamis_error *err);

/* Opens a stream of the same rows, from the first on; *out is zero before. 0, or an errno. */
typedef int tamis_open_stream(void *context, struct ArrowArrayStream *out);

/* Rows beyond memory: `open` is called again for each look at the rows, and one batch at a time is in memory. It is called by the
 * thread that makes the release.
 *
 * Needs    streams with the same schema each time, and the same rows: a release looks at them several times.
 * Gives    a source as tamis_source_new; nothing is opened yet.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_source_streams(tamis_source **source, tamis_open_stream *open, void *context, tamis_error *err);

TAMIS_END

#endif
