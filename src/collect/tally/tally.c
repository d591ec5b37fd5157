#include "collect/tally/tally.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "collect/packed.h"
#include "num/number.h"

/* ---- making ---- */

static tamis_status copy_text(char **copy, const char *text, tamis_error *err)
{
    *copy = NULL;
    if (!text) return TAMIS_OK;
    *copy = tmi_copy_text(text, strlen(text));
    return *copy ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tamis_tally_new(tamis_tally **tally, const tamis_tally_terms *given, tamis_error *err)
{
    tamis_tally *t = NULL;
    tamis_tally_terms how;
    const tamis_tally_terms *terms = &how;
    if (!tally) return tmi_fail(err, TAMIS_INVALID, "tally: NULL");
    *tally = NULL;
    if (!given) return tmi_fail(err, TAMIS_INVALID, "terms: NULL");
    tamis_status status = tmi_options_take(&how, sizeof how, given, "terms", err);
    if (status != TAMIS_OK) return status;
    if (terms->lie_zero && !terms->lie) return tmi_fail(err, TAMIS_INVALID, "lie: missing, although lie_zero is given");
    if (terms->once && !terms->id)
        return tmi_fail(err, TAMIS_INVALID, "id: missing, although reports are counted once per client");
    if (terms->lie) {
        status = tmi_packed_check_lies(terms->lie, terms->lie_zero ? terms->lie_zero : terms->lie, err);
        if (status != TAMIS_OK) return status;
    }
    if (!(t = tmi_alloc(1, sizeof *t))) return tmi_fail_memory(err);
    t->once = terms->once != 0;
    t->table = terms->table != 0;
    t->keep = terms->keep != 0;
    TMI_TRY(copy_text(&t->id, terms->id, err));
    TMI_TRY(copy_text(&t->weight, terms->weight, err));
    if (terms->lie) {
        TMI_TRY(tmi_number_copy(&t->lie, terms->lie, err));
        TMI_TRY(tmi_number_copy(&t->lie_zero, terms->lie_zero ? terms->lie_zero : terms->lie, err));
    }
    *tally = t;
    t = NULL;
done:
    tamis_tally_free(t);
    return status;
}

void tamis_tally_free(tamis_tally *tally)
{
    if (!tally) return;
    tmi_number_frees(&tally->lie, &tally->lie_zero, NULL);
    tmi_free(tally->id);
    tmi_free(tally->weight);
    for (size_t j = 0; tally->names && j < tally->bits; j++) tmi_free(tally->names[j]);
    tmi_free(tally->names);
    tmi_free(tally->ones);
    tmi_free(tally->cells);
    if (tally->kept) tmi_wipe(tally->kept, tally->kept_words * sizeof *tally->kept);
    tmi_free(tally->kept);
    tmi_free(tally->weights.sum_ones);
    tmi_free(tally->weights.squares_ones);
    tmi_clients_clear(&tally->clients);
    tmi_free(tally->merged);
    tmi_free(tally);
}

/* ---- the first file decides ---- */

static tamis_status begin(tamis_tally *t, const char *path, char *const *names, size_t bits, tamis_error *err)
{
    if (bits < 1 || bits > TMI_PACKED_BITS)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "a report must have between 1 and %d bits", TMI_PACKED_BITS);
    if (t->table && bits > TAMIS_TALLY_TABLE_BITS)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "a table of whole reports has at most %d bits", TAMIS_TALLY_TABLE_BITS);
    t->names = tmi_alloc(bits, sizeof *t->names);
    t->ones = tmi_alloc(bits, sizeof *t->ones);
    if (t->table) t->cells = tmi_alloc((size_t)1 << bits, sizeof *t->cells);
    if (t->weight) {
        t->weights.sum_ones = tmi_alloc(bits, sizeof *t->weights.sum_ones);
        t->weights.squares_ones = tmi_alloc(bits, sizeof *t->weights.squares_ones);
        if (!t->weights.sum_ones || !t->weights.squares_ones) return tmi_fail_memory(err);
    }
    if (!t->names || !t->ones || (t->table && !t->cells)) return tmi_fail_memory(err);
    t->bits = bits;
    for (size_t j = 0; j < bits; j++)
        if (!(t->names[j] = tmi_copy_text(names[j], strlen(names[j])))) return tmi_fail_memory(err);
    return TAMIS_OK;
}

static tamis_status agree_on_lies(tamis_tally *t, const char *path, const tamis_number *lie, const tamis_number *lie_zero,
                                  tamis_error *err)
{
    if (!lie && !t->lie)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "a CSV file does not record the lie probability; give it: --lie 1/4");
    if (!lie) return TAMIS_OK;
    if (!t->lie) {
        tamis_status status = tmi_number_copy(&t->lie, lie, err);
        return status == TAMIS_OK ? tmi_number_copy(&t->lie_zero, lie_zero, err) : status;
    }
    if (tmi_number_compare(lie, t->lie) != 0 || tmi_number_compare(lie_zero, t->lie_zero) != 0)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0,
                             "the reports have other lie probabilities than those given or those of an earlier file");
    return TAMIS_OK;
}

tamis_status tmi_tally_agree(tamis_tally *t, const char *path, const tamis_number *lie, const tamis_number *lie_zero,
                             char *const *names, size_t bits, tamis_error *err)
{
    tamis_status status = agree_on_lies(t, path, lie, lie_zero, err);
    if (status != TAMIS_OK) return status;
    if (t->bits == 0) return begin(t, path, names, bits, err);
    if (bits != t->bits)
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the reports have %zu bits, those of an earlier file %zu", bits,
                             t->bits);
    for (size_t j = 0; j < bits; j++)
        if (strcmp(names[j], t->names[j]) != 0)
            return tmi_fail_file(err, TAMIS_INVALID, path, 0, "bit %zu has another name than in an earlier file", j + 1);
    return TAMIS_OK;
}

tamis_status tmi_tally_room(const tamis_tally *tally, const char *path, uint64_t more, tamis_error *err)
{
    if (more <= (uint64_t)(TAMIS_TALLY_REPORTS - tally->reports)) return TAMIS_OK;
    return tmi_fail_file(err, TAMIS_INVALID, path, 0, "there are more than 10^9 reports in total");
}

tamis_status tmi_tally_keep_room(tamis_tally *tally, size_t more, tamis_error *err)
{
    const size_t needed = tmi_packed_words(tally->bits, (size_t)tally->reports + more), old = tally->kept_words;
    if (needed <= old) return TAMIS_OK;
    const size_t room = needed + needed / 2;
    uint64_t *grown = tmi_regrow(tally->kept, old * sizeof *grown, room, sizeof *grown);
    if (!grown) return tmi_fail_memory(err);
    memset(grown + old, 0, (room - old) * sizeof *grown);
    tally->kept = grown;
    tally->kept_words = room;
    return TAMIS_OK;
}

/* ---- which kind of file ---- */

#define SAVED_MAX ((size_t)1 << 26) /* bytes of a saved tally */

/* The whole of a small file. */
static tamis_status slurp(char **bytes, size_t *length, FILE *file, const char *path, tamis_error *err)
{
    *length = 0;
    for (size_t room = 1 << 14, read = 1; read > 0; room *= 2) {
        char *grown = tmi_realloc(*bytes, room, 1);
        if (!grown) return tmi_fail_memory(err);
        *bytes = grown;
        read = fread(*bytes + *length, 1, room - *length, file);
        *length += read;
        if (*length > SAVED_MAX) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the file is too long for a saved tally");
    }
    return ferror(file) ? tmi_fail_file(err, TAMIS_SYSTEM, path, 0, "%s", strerror(errno)) : TAMIS_OK;
}

tamis_status tamis_tally_add(tamis_tally *tally, const char *path, const tamis_watch *watch, tamis_error *err)
{
    if (!tally) return tmi_fail(err, TAMIS_INVALID, "tally: NULL");
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");
    tmi_watch watching = tmi_watch_of(watch);
    watching.rows = tally->reports;
    char first[TMI_PACKED_MAGIC], *bytes = NULL;
    size_t length = 0;
    tamis_status status;
    FILE *file = fopen(path, "rbe");
    if (!file) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno));
    const size_t read = fread(first, 1, sizeof first, file);
    if (ferror(file)) TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno)));
    if (tmi_is_packed(first, read)) {
        status = tmi_tally_add_packed(tally, path, &watching, err);
    } else if (read > 0 && first[0] == '{') {
        if (tally->keep) TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "a saved tally has no reports to shuffle"));
        rewind(file);
        TMI_TRY(slurp(&bytes, &length, file, path, err));
        status = tmi_tally_add_saved(tally, path, bytes, length, err);
    } else {
        status = tmi_tally_add_csv(tally, path, &watching, err);
    }
done:
    tmi_free(bytes);
    fclose(file);
    return status;
}

/* ---- asking ---- */

int64_t tamis_tally_reports(const tamis_tally *tally) { return tally ? tally->reports : 0; }

int64_t tamis_tally_positions(const tamis_tally *tally) { return tally ? (int64_t)tally->bits : 0; }

static bool is_position(const tamis_tally *tally, int64_t position)
{
    return tally && position >= 0 && position < (int64_t)tally->bits;
}

const char *tamis_tally_column(const tamis_tally *tally, int64_t position)
{
    return is_position(tally, position) ? tally->names[position] : NULL;
}

int64_t tamis_tally_ones(const tamis_tally *tally, int64_t position)
{
    return is_position(tally, position) ? (int64_t)tally->ones[position] : 0;
}

int64_t tamis_tally_repeated(const tamis_tally *tally) { return tally ? tally->repeated : 0; }
