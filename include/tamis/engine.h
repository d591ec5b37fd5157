/* Rows that are not in a file or a database: arrays in the caller's memory, Arrow data, or an engine of the caller's own.
 *
 *     tamis_source_new, tamis_source_numbers, ...   columns of the caller, one after the other
 *     tamis_source_arrow                            record batches of the Arrow C data interface
 *     tamis_source_take_stream                      the same from an Arrow C stream
 *     tamis_source_asking                           questions as JSON, answers as JSON: for clusters and other databases
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

/* "duckdb", "memory", "postgres", "readstat"; NULL for any other number. */
TAMIS_API const char *tamis_engine_name(tamis_engine engine);

/* The engine of a name. TAMIS_ENGINE_FITTING on failure. Errors: INVALID. */
TAMIS_USE tamis_status tamis_engine_of_name(tamis_engine *engine, const char *name, tamis_error *err);

/* ---- arrays ---- */

typedef struct tamis_source tamis_source;

/* A source without columns.
 *
 * Needs    0 <= rows <= 2^40.
 * Gives    a source that the caller frees with tamis_source_free; NULL on failure.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_source_new(tamis_source **source, int64_t rows, tamis_error *err);
TAMIS_API void tamis_source_free(tamis_source *source); /* NULL is fine */

/* One more column: `rows` values that the caller keeps.
 *
 * Numbers     NaN and infinities are missing. As ids, strata, clusters and categories they are compared by exact value: 12.0 is
 *             12, and -0 is 0.
 * Integers    the same.
 * Texts       UTF-8; NULL and blank ones are missing. They are no numbers, whatever they look like. As ids and categories texts
 *             are compared by their bytes, without the blanks around them.
 *
 * Needs    a source of tamis_source_new, a name that it does not have yet, values (NULL only without rows).
 * Errors   INVALID, SYSTEM. */
TAMIS_USE tamis_status tamis_source_numbers(tamis_source *source, const char *name, const double *values, tamis_error *err);
TAMIS_USE tamis_status tamis_source_integers(tamis_source *source, const char *name, const int64_t *values, tamis_error *err);
TAMIS_USE tamis_status tamis_source_texts(tamis_source *source, const char *name, const char *const *texts, tamis_error *err);

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

/* Record batches that together are one table. Columns of booleans, integers, floats, UTF-8 texts (also large ones, and
 * dictionaries of texts) and nulls can be used; others may be there.
 *
 * Needs    a schema and arrays of structs (format "+s") that fit it; they are read and not released.
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

/* ---- an engine of the caller's own ---- */

typedef struct tamis_reply tamis_reply;

/* Answers a question. Both are JSON objects; docs/engines.md describes them. The guarantee of a release rests on the
 * answer being what was asked for.
 *
 * Gives    TAMIS_OK after tamis_reply_set; another status if there is no answer. Its message is not passed on: it might
 *          contain data.                                                                                                */
typedef tamis_status tamis_answer(void *context, tamis_reply *reply, const char *question, tamis_error *err);

/* Sets the answer, which is copied. The last call wins. */
TAMIS_API void tamis_reply_set(tamis_reply *reply, const char *text);

/* A source that asks `answer`, which gets `context`. It serves releases; estimates need rows.
 *
 * Gives    a source as tamis_source_new.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_source_asking(tamis_source **source, tamis_answer *answer, void *context, tamis_error *err);

TAMIS_END

#endif
