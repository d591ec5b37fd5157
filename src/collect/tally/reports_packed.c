/* Packed reports: whole blocks are counted at once; ids and tables of whole reports require a pass over each report. */
#include <errno.h>
#include <string.h>

#include "collect/packed.h"
#include "collect/tally/positions.h"
#include "collect/tally/tally.h"

static uint64_t row_of(const uint64_t *words, size_t stride, size_t row) /* stride <= 64 */
{
    const size_t bit = row * stride;
    return words[bit / 64] >> bit % 64 & (stride == 64 ? ~UINT64_C(0) : (UINT64_C(1) << stride) - 1);
}

/* Takes a report out again. */
static void subtract(tamis_tally *t, const uint64_t *words, size_t stride, size_t row)
{
    for (size_t j = 0; j < t->bits; j++) {
        const size_t bit = row * stride + j;
        t->ones[j] -= words[bit / 64] >> bit % 64 & 1;
    }
    if (t->cells) t->cells[row_of(words, stride, row)]--;
    t->repeated++;
}

/* Report number `to` of those kept. */
static void keep(tamis_tally *t, size_t to, const uint64_t *words, size_t stride, size_t row)
{
    if (stride < 64) {
        t->kept[to * stride / 64] |= row_of(words, stride, row) << to * stride % 64;
        return;
    }
    memcpy(t->kept + to * (stride / 64), words + row * (stride / 64), stride / 8);
}

/* The block was counted. Reports whose client is already known are subtracted; the others may have to be kept. */
static tamis_status look_at_each(tamis_tally *t, const tmi_packed_block *block, const char *path, size_t stride, tamis_error *err)
{
    for (size_t row = 0; row < block->rows; row++) {
        bool known = false;
        if (t->id) {
            tamis_status status = tmi_clients_add(&known, &t->clients, block->ids + row * TMI_PACKED_ID, err);
            if (status != TAMIS_OK) return status;
        }
        if (known && !t->once)
            return tmi_fail_file(err, TAMIS_INVALID, path, 0, "report %llu: this client has already reported",
                                 (unsigned long long)(block->first + row + 1));
        if (known) {
            subtract(t, block->words, stride, row);
            continue;
        }
        if (t->keep) keep(t, (size_t)t->reports, block->words, stride, row);
        t->reports++;
    }
    return TAMIS_OK;
}

static tamis_status add_block(tamis_tally *t, const tmi_packed_block *block, const char *path, tamis_error *err)
{
    const size_t stride = tmi_packed_stride(t->bits);
    tamis_status status = tmi_tally_room(t, path, block->rows, err);
    if (status == TAMIS_OK && t->keep) status = tmi_tally_keep_room(t, block->rows, err);
    if (status != TAMIS_OK) return status;
    tmi_count_positions(t->ones, block->words, block->rows, t->bits);
    if (t->cells)
        for (size_t row = 0; row < block->rows; row++) t->cells[row_of(block->words, stride, row)]++;
    if (t->id || t->keep) return look_at_each(t, block, path, stride, err);
    t->reports += (int64_t)block->rows;
    return TAMIS_OK;
}

tamis_status tmi_tally_add_packed(tamis_tally *t, const char *path, tmi_watch *watch, tamis_error *err)
{
    tmi_packed_reader *reader = NULL;
    tmi_packed_block block;
    tamis_status status;
    if (t->weight) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "packed reports have no weights; use CSV");
    FILE *file = fopen(path, "rbe");
    if (!file) return tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno));
    setvbuf(file, NULL, _IOFBF, 1 << 14); /* small blocks come from it, large ones are read past it */
    TMI_TRY(tmi_packed_reader_new(&reader, file, path, err));
    const tmi_packed_form *form = tmi_packed_form_of(reader);
    if (t->id && (!form->id || strcmp(form->id, t->id) != 0))
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "the reports have no id column of that name"));
    TMI_TRY(tmi_tally_agree(t, path, form->lie, form->lie_zero, form->names, form->bits, err));
    for (;;) {
        TMI_TRY(tmi_packed_next(&block, reader, err));
        if (block.rows == 0) break;
        TMI_TRY(add_block(t, &block, path, err));
        watch->rows = t->reports;
        TMI_TRY(tmi_watch_beat(watch, err));
    }
done:
    tmi_packed_reader_free(reader);
    fclose(file);
    return status;
}
