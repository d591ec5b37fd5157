/* Samples of a population as the rows of a source. */
#include "base/memory.h"
#include "study/population_parts.h"

static const tmi_population_column *column_of(const tmi_population *p, const tmi_plan_column *number)
{
    for (size_t c = 0; c < p->column_count; c++)
        if (p->columns[c].declared == number) return &p->columns[c];
    return NULL;
}

const double *tmi_population_raw(const tmi_population *p, const tmi_plan_column *number)
{
    const tmi_population_column *k = column_of(p, number);
    return k ? k->raw : NULL;
}

double *tmi_population_numbers(tmi_population *p, const tmi_plan_column *number)
{
    const tmi_population_column *k = column_of(p, number);
    return k ? k->numbers : NULL;
}

struct tmi_sample_room {
    const tmi_population *population;
    double **numbers; /* by column, of the rows drawn last */
    const char ***texts;
    double *extras[TMI_EXTRAS];
    int64_t *rows, *units; /* of the file, and the units that they belong to */
};

void tmi_sample_room_free(tmi_sample_room *room)
{
    if (!room) return;
    for (size_t c = 0; c < room->population->column_count; c++) {
        if (room->numbers) tmi_free(room->numbers[c]);
        if (room->texts) tmi_free(room->texts[c]);
    }
    for (size_t e = 0; e < TMI_EXTRAS; e++) tmi_free(room->extras[e]);
    tmi_free(room->numbers);
    tmi_free(room->texts);
    tmi_free(room->rows);
    tmi_free(room->units);
    tmi_free(room);
}

tamis_status tmi_sample_room_new(tmi_sample_room **room, const tmi_population *p, tamis_error *err)
{
    const size_t n = (size_t)p->rows;
    tmi_sample_room *made = *room = tmi_alloc(1, sizeof *made);
    if (!made) return tmi_fail_memory(err);
    made->population = p;
    made->numbers = tmi_alloc(p->column_count, sizeof *made->numbers);
    made->texts = tmi_alloc(p->column_count, sizeof *made->texts);
    made->rows = tmi_alloc(n, sizeof *made->rows);
    made->units = tmi_alloc(n, sizeof *made->units);
    bool full = made->numbers && made->texts && made->rows && made->units;
    for (size_t c = 0; full && c < p->column_count; c++) {
        if (p->columns[c].numbers) full = (made->numbers[c] = tmi_alloc(n, sizeof **made->numbers)) != NULL;
        else full = (made->texts[c] = tmi_alloc(n, sizeof **made->texts)) != NULL;
    }
    for (size_t e = 0; full && e < TMI_EXTRAS; e++)
        if (p->extras[e].values) full = (made->extras[e] = tmi_alloc(n, sizeof *made->extras[e])) != NULL;
    if (full) return TAMIS_OK;
    tmi_sample_room_free(made);
    *room = NULL;
    return tmi_fail_memory(err);
}

tamis_status tmi_sample_respond(int64_t *units, size_t *count, const tmi_population *p, tamis_rng *rng, tamis_error *err)
{
    const uint64_t all = UINT64_C(1) << 53; /* probabilities are doubles */
    tamis_status status = TAMIS_OK;
    size_t left = 0;
    for (size_t i = 0; p->response && i < *count; i++) {
        uint64_t u;
        TMI_TRY(tamis_uniform(&u, all, rng, err));
        if ((double)u < p->response[p->row_of[units[i]]] * (double)all) units[left++] = units[i];
    }
    if (p->response) *count = left;

done:
    return status;
}

bool tmi_population_contributes(const tmi_population *p) { return p->contributed; }

/* Of these units, or of the first `count` if `units` is NULL; how many rows there are. */
static size_t find_rows(tmi_sample_room *room, const int64_t *units, size_t count)
{
    const tmi_population *p = room->population;
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t unit = units ? units[i] : (int64_t)i;
        for (int64_t row = p->row_of[unit]; row >= 0; row = tmi_population_next(p, row)) {
            room->rows[rows] = row;
            room->units[rows++] = unit;
        }
    }
    return rows;
}

tamis_status tmi_sample_source(tamis_source **source, tmi_sample_room *room, const int64_t *units, size_t count,
                               tmi_which_values values, tamis_error *err)
{
    const tmi_population *p = room->population;
    tamis_status status;
    *source = NULL;
    count = find_rows(room, units, units ? count : (size_t)p->units);
    TMI_TRY(tamis_source_new(source, (int64_t)count, err));
    for (size_t c = 0; c < p->column_count; c++) {
        const tmi_population_column *k = &p->columns[c];
        const bool summed = values == TMI_SUMMED_VALUES && k->contributed;
        if (!k->used) continue;
        for (size_t i = 0; i < count; i++) {
            const int64_t row = room->rows[i];
            if (k->numbers) room->numbers[c][i] = (values == TMI_RAW_VALUES ? k->raw : summed ? k->contributed : k->numbers)[row];
            else room->texts[c][i] = k->texts[row];
        }
        TMI_TRY(k->numbers ? tamis_source_numbers(*source, k->name, room->numbers[c], err)
                           : tamis_source_texts(*source, k->name, room->texts[c], err));
    }
    for (size_t e = 0; e < TMI_EXTRAS; e++) {
        if (!p->extras[e].name) continue;
        for (size_t i = 0; i < count; i++) room->extras[e][i] = p->extras[e].values[room->units[i]];
        TMI_TRY(tamis_source_numbers(*source, p->extras[e].name, room->extras[e], err));
    }

done:
    if (status != TAMIS_OK) {
        tamis_source_free(*source);
        *source = NULL;
    }
    return status;
}
