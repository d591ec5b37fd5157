/* Reports as CSV: a header with the names of the bits, the id and the weight if there are any, and a line of 0 and 1 per
 * report. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "collect/packed.h"
#include "collect/tally/tally.h"
#include "engine/files/csv.h"

typedef struct csv {
    tamis_tally *t;
    const char *path;
    tmi_csv_header header;
    tmi_csv_rows *rows;
    size_t *wanted;          /* every column; bits first, in the order of the file, then id and weight */
    char **names;            /* of the bits */
    size_t bits, id, weight; /* places among the cells; SIZE_MAX: no such column */
} csv;

/* Where each column goes. */
static tamis_status place_columns(csv *c, tamis_error *err)
{
    const tamis_tally *t = c->t;
    size_t id = SIZE_MAX, weight = SIZE_MAX;
    c->wanted = tmi_alloc(c->header.count, sizeof *c->wanted);
    c->names = tmi_alloc(c->header.count, sizeof *c->names);
    if (!c->wanted || !c->names) return tmi_fail_memory(err);
    for (size_t i = 0; i < c->header.count; i++) {
        if (t->id && strcmp(c->header.names[i], t->id) == 0) id = i;
        else if (t->weight && strcmp(c->header.names[i], t->weight) == 0) weight = i;
        else {
            c->names[c->bits] = c->header.names[i];
            c->wanted[i] = c->bits++;
        }
    }
    if (t->id && id == SIZE_MAX) return tmi_fail_file(err, TAMIS_INVALID, c->path, 1, "the column of client ids is missing");
    if (t->weight && weight == SIZE_MAX) return tmi_fail_file(err, TAMIS_INVALID, c->path, 1, "the column of weights is missing");
    size_t next = c->bits;
    if (t->id) c->wanted[id] = c->id = next++;
    if (t->weight) c->wanted[weight] = c->weight = next;
    return TAMIS_OK;
}

static tamis_status check_names(const csv *c, tamis_error *err)
{
    tamis_error reason = {0};
    const tmi_packed_form form = {c->t->lie, c->t->lie_zero, c->bits, c->names, NULL};
    if (!c->t->lie || tmi_packed_form_check(&form, &reason) == TAMIS_OK) return TAMIS_OK;
    return tmi_fail_as_file(err, &reason, c->path);
}

static const tmi_cell *cell_at(const tmi_cell *cells, size_t place, size_t row) { return &cells[place * TMI_CSV_ROWS + row]; }

/* The grid units of a weight; 0 if it is not one. */
static int64_t weight_of(const tmi_cell *cell)
{
    if (!cell->bytes) return 0;
    const double w = tmi_number_in(tmi_trimmed(cell->bytes, cell->length));
    return w > 0 && w <= (double)TMI_TALLY_WEIGHT ? (int64_t)llround(w * TMI_TALLY_GRID) : 0;
}

static tamis_status look_at_id(bool *known, csv *c, const tmi_cell *cell, int64_t line, tamis_error *err)
{
    unsigned char hash[TMI_SHA256_BYTES];
    const tmi_cell id = tmi_trimmed(cell->bytes, cell->bytes ? cell->length : 0);
    if (id.length == 0) return tmi_fail_file(err, TAMIS_INVALID, c->path, line, "the client id is missing");
    tmi_sha256(hash, id.bytes, id.length);
    tamis_status status = tmi_clients_add(known, &c->t->clients, hash, err);
    if (status == TAMIS_OK && *known && !c->t->once)
        return tmi_fail_file(err, TAMIS_INVALID, c->path, line, "this client has already reported");
    return status;
}

/* All bits are checked before anything is added: a bad line leaves the counts unchanged. */
static tamis_status add_row(csv *c, const tmi_cell *cells, size_t row, tamis_error *err)
{
    tamis_tally *t = c->t;
    const int64_t line = tmi_csv_rows_line(c->rows, row);
    bool known = false;
    int64_t weight = 0;
    size_t code = 0;
    for (size_t j = 0; j < c->bits; j++) {
        const tmi_cell *cell = cell_at(cells, j, row);
        const tmi_cell bit = tmi_trimmed(cell->bytes, cell->bytes ? cell->length : 0);
        if (bit.length != 1 || (*bit.bytes != '0' && *bit.bytes != '1'))
            return tmi_fail_file(err, TAMIS_INVALID, c->path, line, "bit %zu of the report is neither 0 nor 1%s", j + 1,
                                 t->id ? "" : "; name a column of client ids with --id, one of weights with --weight");
        if (j < TAMIS_TALLY_TABLE_BITS && *bit.bytes == '1') code |= (size_t)1 << j;
    }
    if (t->weight && (weight = weight_of(cell_at(cells, c->weight, row))) == 0)
        return tmi_fail_file(err, TAMIS_INVALID, c->path, line, "the weight is not a number above 0 and at most 10^7");
    if (t->id) {
        tamis_status status = look_at_id(&known, c, cell_at(cells, c->id, row), line, err);
        if (status != TAMIS_OK) return status;
    }
    if (known) {
        t->repeated++;
        return TAMIS_OK;
    }
    const tmi_int128 square = (tmi_int128)weight * weight;
    for (size_t j = 0; j < c->bits; j++) {
        const tmi_cell *cell = cell_at(cells, j, row);
        if (*tmi_trimmed(cell->bytes, cell->length).bytes != '1') continue;
        t->ones[j]++;
        if (t->keep) {
            const size_t place = (size_t)t->reports * tmi_packed_stride(c->bits) + j;
            t->kept[place / 64] |= UINT64_C(1) << place % 64;
        }
        if (!t->weight) continue;
        t->weights.sum_ones[j] += weight;
        t->weights.squares_ones[j] += square;
    }
    t->weights.sum += weight;
    t->weights.squares += square;
    if (t->cells) t->cells[code]++;
    t->reports++;
    return TAMIS_OK;
}

static tamis_status add_rows(csv *c, tmi_watch *watch, tamis_error *err)
{
    const tmi_cell *cells;
    double share;
    size_t n;
    do {
        tamis_status status = tmi_csv_rows_next(&n, &cells, &share, c->rows, err);
        if (status == TAMIS_OK) status = tmi_tally_room(c->t, c->path, n, err);
        if (status == TAMIS_OK && c->t->keep) status = tmi_tally_keep_room(c->t, n, err);
        for (size_t row = 0; status == TAMIS_OK && row < n; row++) status = add_row(c, cells, row, err);
        watch->rows = c->t->reports;
        if (status == TAMIS_OK) status = tmi_watch_beat(watch, err);
        if (status != TAMIS_OK) return status;
    } while (n > 0);
    return TAMIS_OK;
}

tamis_status tmi_tally_add_csv(tamis_tally *t, const char *path, tmi_watch *watch, tamis_error *err)
{
    if (t->keep && t->weight) return tmi_fail(err, TAMIS_INVALID, "weight: weighted reports cannot be shuffled");
    csv c = {.t = t, .path = path, .id = SIZE_MAX, .weight = SIZE_MAX};
    tamis_status status;
    TMI_TRY(tmi_csv_header_read(&c.header, path, err));
    TMI_TRY(place_columns(&c, err));
    TMI_TRY(check_names(&c, err));
    TMI_TRY(tmi_tally_agree(t, path, NULL, NULL, c.names, c.bits, err));
    TMI_TRY(tmi_csv_rows_open(&c.rows, path, c.header.count, c.wanted, c.header.count, err));
    TMI_TRY(add_rows(&c, watch, err));
done:
    tmi_csv_rows_free(c.rows);
    tmi_csv_header_clear(&c.header);
    tmi_free(c.wanted);
    tmi_free(c.names);
    return status;
}
