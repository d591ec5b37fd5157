#include "release/noise.h"

#include <tamis/rng.h>

#include "base/memory.h"
#include "base/secret.h"
#include "schedule/noise_law.h"

#define AT_ONCE 65536 /* draws between two looks at the clock */

static tamis_status draw_law(int64_t *noise, size_t count, const tmi_noise_law *law, const tmi_schedule *s, tamis_rng *rng,
                             tamis_error *err)
{
    tamis_noise *prepared = NULL;
    tamis_status status = s->gaussian ? tamis_noise_gaussian_new(&prepared, law->scale, err)
                                      : tamis_noise_laplace_new(&prepared, law->scale, err);
    for (size_t done = 0; done < count && status == TAMIS_OK; done += AT_ONCE) {
        status = tamis_noise_draw(noise + done, count - done < AT_ONCE ? count - done : AT_ONCE, prepared, rng, err);
        if (status == TAMIS_OK) status = tmi_watch_beat(s->watch, err);
    }
    tamis_noise_free(prepared);
    return status;
}

/* The noise of a table, law by law: of equal cells one block, then put where its stratum's cells are. */
static tamis_status draw_table(int64_t *noise, const tmi_measurement *m, const tmi_schedule *s, tamis_rng *rng, tamis_error *err)
{
    if (m->law_count == 1) return draw_law(noise, m->cells, &m->laws[0], s, rng, err);
    size_t each = m->cells / m->law_count;
    int64_t *block = tmi_secret_alloc(each, sizeof *block);
    tamis_status status = block ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t h = 0; status == TAMIS_OK && h < m->law_count; h++) {
        status = draw_law(block, each, &m->laws[h], s, rng, err);
        for (size_t cell = 0, next = 0; status == TAMIS_OK && cell < m->cells; cell++) {
            if (tmi_cell_stratum(m, cell) == h) noise[cell] = block[next++];
        }
    }
    tmi_secret_free(block);
    return status;
}

/* What the engine's question leaves to chance, and the noise of all measurements. */
static tamis_status draw_all(int64_t *const *noise, tmi_asking *asking, const tmi_schedule *schedule, tamis_error *err)
{
    tamis_rng *rng = NULL;
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tmi_asking_draw(asking, rng, err));
    for (size_t i = 0; i < schedule->measurement_count; i++) {
        const tmi_measurement *m = &schedule->measurements[i];
        TMI_TRY(draw_table(noise[i], m, schedule, rng, err));
    }

done:
    tamis_rng_free(rng);
    return status;
}

void tmi_noise_wipe(int64_t **noise)
{
    if (noise) tmi_secret_free(noise[0]);
    tmi_free(noise);
}

/* noise[i] for measurement i, all in one secret block. NULL without memory. */
static int64_t **room_for_noise(const tmi_schedule *schedule)
{
    size_t cells = 0;
    int64_t **noise = tmi_alloc(schedule->measurement_count + 1, sizeof *noise);
    for (size_t i = 0; i < schedule->measurement_count; i++) cells += schedule->measurements[i].cells;
    if (noise && (noise[0] = tmi_secret_alloc(cells, sizeof **noise))) {
        for (size_t i = 0; i < schedule->measurement_count; i++) noise[i + 1] = noise[i] + schedule->measurements[i].cells;
        return noise;
    }
    tmi_noise_wipe(noise);
    return NULL;
}

tamis_status tmi_noise_draw(int64_t ***noise, tmi_asking *asking, const tmi_schedule *schedule, tamis_error *err)
{
    *noise = room_for_noise(schedule);
    if (!*noise) return tmi_fail_memory(err);
    tamis_status status = draw_all(*noise, asking, schedule, err);
    if (status == TAMIS_OK) return TAMIS_OK;
    tmi_noise_wipe(*noise);
    *noise = NULL;
    return status;
}
