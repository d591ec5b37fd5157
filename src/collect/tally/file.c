/* A tally as a file: one JSON object of integers, and the SHA-256 of the text before it. There is one way to write a tally, and
 * a file is read only if it is, byte by byte, what would be written for the numbers in it: a changed number, a field too many and
 * a cut file are all found by that comparison. The hash also names the tally, so that none is added twice. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "base/sha256.h"
#include "base/value/json.h"
#include "collect/packed.h"
#include "collect/tally/tally.h"
#include "num/number.h"

#define VERSION 1
#define HASH_KEY ",\n  \"sha256\": \""

/* ---- writing ---- */

tamis_status tmi_tally_put_fraction(tmi_json_out *out, const char *key, const tamis_number *x, tamis_error *err)
{
    char *text;
    tamis_status status = tamis_number_write(&text, x, err);
    if (status != TAMIS_OK) return status;
    tmi_json_add_string(out, key, text);
    tamis_free(text);
    return TAMIS_OK;
}

static void put_counts(tmi_json_out *out, const char *key, const uint64_t *counts, size_t count)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < count; i++) tmi_json_put_integer(out, (int64_t)counts[i]);
    tmi_json_close(out, ']');
}

static void put_wide(tmi_json_out *out, tmi_int128 x)
{
    char text[TMI_INT128_TEXT];
    tmi_int128_text(text, x);
    tmi_json_put_string(out, text);
}

static void put_wides(tmi_json_out *out, const char *key, const tmi_int128 *x, size_t count)
{
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < count; i++) put_wide(out, x[i]);
    tmi_json_close(out, ']');
}

static void put_weights(tmi_json_out *out, const tamis_tally *t)
{
    tmi_json_add_open(out, "weights", '{');
    tmi_json_add_string(out, "column", t->weight);
    tmi_json_add_integer(out, "grid", TMI_TALLY_GRID);
    tmi_json_key(out, "sum");
    put_wide(out, t->weights.sum);
    tmi_json_key(out, "squares");
    put_wide(out, t->weights.squares);
    put_wides(out, "sum_ones", t->weights.sum_ones, t->bits);
    put_wides(out, "squares_ones", t->weights.squares_ones, t->bits);
    tmi_json_close(out, '}');
}

tamis_status tmi_tally_put(tmi_json_out *out, const tamis_tally *t, tamis_error *err)
{
    tamis_status status;
    tmi_json_add_integer(out, "tamis_tally", VERSION);
    TMI_TRY(tmi_tally_put_fraction(out, "lie", t->lie, err));
    TMI_TRY(tmi_tally_put_fraction(out, "lie_zero", t->lie_zero, err));
    tmi_json_add_open(out, "columns", '[');
    for (size_t j = 0; j < t->bits; j++) tmi_json_put_string(out, t->names[j]);
    tmi_json_close(out, ']');
    tmi_json_add_integer(out, "reports", t->reports);
    tmi_json_add_integer(out, "repeated", t->repeated);
    put_counts(out, "ones", t->ones, t->bits);
    if (t->cells) put_counts(out, "cells", t->cells, (size_t)1 << t->bits);
    if (t->weight) put_weights(out, t);
done:
    return status;
}

tamis_status tamis_tally_write(char **text, const tamis_tally *tally, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    if (!tally || tally->bits == 0) return tmi_fail(err, TAMIS_INVALID, "tally: nothing was added to it");
    char hash[TMI_SHA256_TEXT];
    tmi_text written;
    tmi_json_out out;
    tmi_text_init(&written);
    tmi_json_out_init(&out, &written, true);
    tmi_json_open(&out, '{');
    tamis_status status = tmi_tally_put(&out, tally, err);
    if (status == TAMIS_OK && !written.failed) {
        tmi_sha256_text(hash, written.bytes, written.length);
        tmi_text_format(&written, HASH_KEY "%s\"\n}\n", hash);
    }
    if (status == TAMIS_OK) status = tmi_text_take(text, &written, err);
    tmi_text_clear(&written);
    return status;
}

tamis_status tamis_tally_save(const tamis_tally *tally, const char *path, tamis_error *err)
{
    tmi_output output = {0};
    char *text = NULL;
    tamis_status status;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    TMI_TRY(tamis_tally_write(&text, tally, err));
    TMI_TRY(tmi_output_open(&output, &(tamis_stream){.path = path}, err));
    fputs(text, output.file); /* a failure is seen at the end */
    TMI_TRY(tmi_output_keep(&output, err));
done:
    tmi_output_clear(&output);
    tmi_free(text);
    return status;
}

/* ---- reading ---- */

static const char *const fields[] = {"tamis_tally", "lie",  "lie_zero", "columns", "reports",
                                     "repeated",    "ones", "cells",    "weights", "sha256"};

static bool is_kind(const tmi_value *value, tmi_value_kind kind) { return value && tmi_value_kind_of(value) == kind; }

static bool read_count(int64_t *count, const tmi_value *value, int64_t most)
{
    if (!is_kind(value, TMI_VALUE_INTEGER)) return false;
    *count = tmi_value_integer(value);
    return *count >= 0 && *count <= most;
}

static bool read_counts(uint64_t *counts, size_t count, const tmi_value *list, int64_t most)
{
    int64_t value;
    if (!is_kind(list, TMI_VALUE_LIST) || tmi_value_size(list) != count) return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_count(&value, tmi_value_at(list, i), most)) return false;
        counts[i] = (uint64_t)value;
    }
    return true;
}

static bool read_wide(tmi_int128 *x, const tmi_value *value, tmi_int128 most)
{
    return is_kind(value, TMI_VALUE_TEXT) && tmi_int128_read(x, tmi_value_string(value)) && *x >= 0 && *x <= most;
}

static bool read_wides(tmi_int128 *x, size_t count, const tmi_value *list, tmi_int128 most)
{
    if (!is_kind(list, TMI_VALUE_LIST) || tmi_value_size(list) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!read_wide(&x[i], tmi_value_at(list, i), most)) return false;
    return true;
}

static bool read_weights(tamis_tally *t, const tmi_value *weights)
{
    const tmi_int128 most = (tmi_int128)TMI_TALLY_WEIGHT * TMI_TALLY_GRID;
    return read_wide(&t->weights.sum, tmi_value_get(weights, "sum"), most * t->reports) &&
           read_wide(&t->weights.squares, tmi_value_get(weights, "squares"), most * most * t->reports) &&
           read_wides(t->weights.sum_ones, t->bits, tmi_value_get(weights, "sum_ones"), t->weights.sum) &&
           read_wides(t->weights.squares_ones, t->bits, tmi_value_get(weights, "squares_ones"), t->weights.squares);
}

/* The cells add up to the other counts. */
static bool is_consistent(const tamis_tally *t)
{
    if (!t->cells) return true;
    uint64_t all = 0, ones[TAMIS_TALLY_TABLE_BITS] = {0};
    for (size_t code = 0; code < (size_t)1 << t->bits; code++) {
        all += t->cells[code];
        for (size_t j = 0; j < t->bits; j++)
            if (code >> j & 1) ones[j] += t->cells[code];
    }
    return all == (uint64_t)t->reports && memcmp(ones, t->ones, t->bits * sizeof *ones) == 0;
}

static tamis_status fail_form(const char *path, tamis_error *err)
{
    return tmi_fail_file(err, TAMIS_INVALID, path, 0, "this is not a tally written by tamis tally --save, or it was changed");
}

/* Names, lies and the shape: what an empty tally needs. */
static tamis_status read_shape(tamis_tally **tally, const char *path, const tmi_value *file, tamis_error *err)
{
    tamis_number *lie = NULL, *lie_zero = NULL;
    char **names = NULL;
    tamis_error reason = {0};
    tamis_status status;
    const tmi_value *columns = tmi_value_get(file, "columns"), *weights = tmi_value_get(file, "weights");
    const tmi_value *a = tmi_value_get(file, "lie"), *b = tmi_value_get(file, "lie_zero");
    const tmi_value *column = weights && is_kind(weights, TMI_VALUE_MAP) ? tmi_value_get(weights, "column") : NULL;
    if (!is_kind(a, TMI_VALUE_TEXT) || !is_kind(b, TMI_VALUE_TEXT) || !is_kind(columns, TMI_VALUE_LIST) ||
        (weights && !is_kind(column, TMI_VALUE_TEXT)))
        return fail_form(path, err);
    const size_t bits = tmi_value_size(columns);
    if (bits < 1 || bits > TMI_PACKED_BITS) return fail_form(path, err);
    if (tamis_number_read(&lie, tmi_value_string(a), &reason) != TAMIS_OK ||
        tamis_number_read(&lie_zero, tmi_value_string(b), &reason) != TAMIS_OK)
        TMI_TRY(tmi_fail_as_file(err, &reason, path));
    if (!(names = tmi_alloc(bits, sizeof *names))) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < bits; j++) {
        if (!is_kind(tmi_value_at(columns, j), TMI_VALUE_TEXT)) TMI_TRY(fail_form(path, err));
        names[j] = (char *)(uintptr_t)tmi_value_string(tmi_value_at(columns, j));
    }
    if (tmi_packed_form_check(&(tmi_packed_form){lie, lie_zero, bits, names, NULL}, &reason) != TAMIS_OK)
        TMI_TRY(tmi_fail_as_file(err, &reason, path));
    const tamis_tally_terms terms = {.size = sizeof(tamis_tally_terms),
                                     .lie = lie,
                                     .lie_zero = lie_zero,
                                     .weight = column ? tmi_value_string(column) : NULL,
                                     .table = tmi_value_get(file, "cells") != NULL};
    TMI_TRY(tamis_tally_new(tally, &terms, err));
    TMI_TRY(tmi_tally_agree(*tally, path, lie, lie_zero, names, bits, err));
done:
    tmi_free(names);
    tmi_number_frees(&lie, &lie_zero, NULL);
    return status;
}

tamis_status tmi_tally_from_json(tamis_tally **tally, const char *path, const tmi_value *file, tamis_error *err)
{
    tamis_status status;
    *tally = NULL;
    if (!is_kind(file, TMI_VALUE_MAP) || tmi_value_extra_key(file, fields, sizeof fields / sizeof *fields))
        return fail_form(path, err);
    TMI_TRY(read_shape(tally, path, file, err));
    tamis_tally *t = *tally;
    if (!read_count(&t->reports, tmi_value_get(file, "reports"), TAMIS_TALLY_REPORTS) ||
        !read_count(&t->repeated, tmi_value_get(file, "repeated"), INT64_C(1) << 40) ||
        !read_counts(t->ones, t->bits, tmi_value_get(file, "ones"), t->reports) ||
        (t->cells && !read_counts(t->cells, (size_t)1 << t->bits, tmi_value_get(file, "cells"), t->reports)) ||
        (t->weight && !read_weights(t, tmi_value_get(file, "weights"))) || !is_consistent(t))
        TMI_TRY(fail_form(path, err));
done:
    if (status != TAMIS_OK) {
        tamis_tally_free(*tally);
        *tally = NULL;
    }
    return status;
}

/* A tally of its own. */
static tamis_status read_tally(tamis_tally **tally, const char *path, const char *bytes, size_t length, tamis_error *err)
{
    tmi_value *file = NULL;
    char *again = NULL;
    tamis_error reason = {0};
    tamis_status status = tmi_json_read(&file, bytes, length, &reason);
    *tally = NULL;
    if (status != TAMIS_OK) return tmi_fail_as_file(err, &reason, path);
    TMI_TRY(tmi_tally_from_json(tally, path, file, err));
    TMI_TRY(tamis_tally_write(&again, *tally, err));
    if (strlen(again) != length || memcmp(again, bytes, length) != 0) status = fail_form(path, err);
done:
    tmi_free(again);
    tmi_value_free(file);
    if (status != TAMIS_OK) {
        tamis_tally_free(*tally);
        *tally = NULL;
    }
    return status;
}

/* ---- merging ---- */

static tamis_status remember(tamis_tally *t, const char *path, const char *bytes, size_t length, tamis_error *err)
{
    char hash[TMI_SHA256_TEXT];
    tmi_sha256_text(hash, bytes, length);
    for (size_t i = 0; i < t->merged_count; i++)
        if (strcmp(t->merged[i], hash) == 0)
            return tmi_fail_file(err, TAMIS_INVALID, path, 0,
                                 "this tally was added already, or one with the same counts; if it is of other people, count "
                                 "their reports together instead");
    void *grown = tmi_realloc(t->merged, t->merged_count + 1, sizeof *t->merged);
    if (!grown) return tmi_fail_memory(err);
    t->merged = grown;
    memcpy(t->merged[t->merged_count++], hash, sizeof hash);
    return TAMIS_OK;
}

/* An empty tally takes over the table and the weights of the first file. */
static tamis_status adopt(tamis_tally *t, const tamis_tally *more, const char *path, tamis_error *err)
{
    if (t->id)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "a saved tally has no client ids: duplicates cannot be detected");
    if (t->bits == 0) {
        t->table = t->table || more->table;
        if (!t->weight && more->weight && !(t->weight = tmi_copy_text(more->weight, strlen(more->weight))))
            return tmi_fail_memory(err);
    }
    if (t->table != more->table)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "one tally has a table of whole reports, another does not");
    if (!t->weight != !more->weight || (t->weight && strcmp(t->weight, more->weight) != 0))
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the weight column differs from that of the other reports");
    return TAMIS_OK;
}

tamis_status tmi_tally_add_saved(tamis_tally *t, const char *path, const char *bytes, size_t length, tamis_error *err)
{
    tamis_tally *more = NULL;
    tamis_status status;
    TMI_TRY(read_tally(&more, path, bytes, length, err));
    TMI_TRY(adopt(t, more, path, err));
    TMI_TRY(tmi_tally_agree(t, path, more->lie, more->lie_zero, more->names, more->bits, err));
    TMI_TRY(tmi_tally_room(t, path, (uint64_t)more->reports, err));
    TMI_TRY(remember(t, path, bytes, length, err));
    t->reports += more->reports;
    t->repeated += more->repeated;
    for (size_t j = 0; j < t->bits; j++) t->ones[j] += more->ones[j];
    for (size_t i = 0; t->cells && i < (size_t)1 << t->bits; i++) t->cells[i] += more->cells[i];
    if (t->weight) {
        t->weights.sum += more->weights.sum;
        t->weights.squares += more->weights.squares;
        for (size_t j = 0; j < t->bits; j++) {
            t->weights.sum_ones[j] += more->weights.sum_ones[j];
            t->weights.squares_ones[j] += more->weights.squares_ones[j];
        }
    }
done:
    tamis_tally_free(more);
    return status;
}
