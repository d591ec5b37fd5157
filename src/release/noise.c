#include "release/noise.h"

#include <tamis/experimental/rng.h>

#include "base/memory.h"
#include "base/secret.h"
#include "num/law/noise.h"

#define AT_ONCE 65536 /* draws between two looks at the clock */

static tamis_status draw_law(int64_t *noise, size_t count, const tmi_noise_law *law, const tmi_schedule *s, tamis_rng *rng,
                             tamis_error *err)
{
    tamis_noise *prepared = NULL;
    tamis_status status = (s->gaussian == TMI_ROUNDED_NORMAL      ? tamis_noise_normal_new
                           : s->gaussian == TMI_DISCRETE_GAUSSIAN ? tamis_noise_gaussian_new
                                                                  : tamis_noise_laplace_new)(&prepared, law->scale, err);
    for (size_t done = 0; done < count && status == TAMIS_OK; done += AT_ONCE) {
        status = tamis_noise_draw(noise + done, count - done < AT_ONCE ? count - done : AT_ONCE, prepared, rng, err);
        if (status == TAMIS_OK) status = tmi_watch_beat(s->watch, err);
    }
    tamis_noise_free(prepared);
    return status;
}

/* The noise of a table, stratum by stratum: numbers of a law are together. */
static tamis_status draw_table(int64_t *noise, const tmi_measurement *m, const tmi_schedule *s, tamis_rng *rng, tamis_error *err)
{
    const size_t each = m->numbers / m->strata;
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; status == TAMIS_OK && h < m->strata; h++)
        status = draw_law(noise + h * each, each, &m->laws[h], s, rng, err);
    return status;
}

/* What the engine's question leaves to chance, and the noise of all measurements. */
static tamis_status draw_all(int64_t *const *noise, tmi_query *query, const tmi_schedule *schedule, tamis_error *err)
{
    tamis_rng *rng = NULL;
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tmi_query_draw(query, rng, err));
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
    for (size_t i = 0; i < schedule->measurement_count; i++) cells += schedule->measurements[i].numbers;
    if (noise && (noise[0] = tmi_secret_alloc(cells, sizeof **noise))) {
        for (size_t i = 0; i < schedule->measurement_count; i++) noise[i + 1] = noise[i] + schedule->measurements[i].numbers;
        return noise;
    }
    tmi_noise_wipe(noise);
    return NULL;
}

tamis_status tmi_noise_draw(int64_t ***noise, tmi_query *query, const tmi_schedule *schedule, tamis_error *err)
{
    *noise = room_for_noise(schedule);
    if (!*noise) return tmi_fail_memory(err);
    tamis_status status = draw_all(*noise, query, schedule, err);
    if (status == TAMIS_OK) return TAMIS_OK;
    tmi_noise_wipe(*noise);
    *noise = NULL;
    return status;
}
