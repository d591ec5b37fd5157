/* The tables that results rest on. Every number of a statistic rests on the same tables, and statistics of the same columns do
 * too, so that each list is in the file once, under a number, and results name the number: with a thousand tables, a list at each
 * result would be nearly all of the file.                                                                              */
#include <string.h>

#include "base/memory.h"
#include "report/results.h"

/* Whether a measurement bears on a statistic: it is of the same rows, and has one of its axes or counts all rows. */
static bool bears_on(const tmi_measurement *m, const tmi_statistic_map *r)
{
    if (m->marginal.domain != r->domain) return false;
    for (size_t i = 0; i < m->marginal.axis_count; i++)
        for (size_t k = 0; k < r->axis_count; k++)
            if (m->marginal.axes[i] == r->axes[k]) return true;
    return m->marginal.axis_count == 0 || r->axis_count == 0;
}

/* One bool per measurement; whether there is any. */
static bool find_tables(bool *tables, const tmi_schedule *schedule, size_t statistic)
{
    const tmi_plan_statistic *s = &schedule->plan->statistics[statistic];
    const bool of_curve = tmi_is_of_distribution(s->kind); /* then it is measured as the shares are that it is read from */
    const size_t own = of_curve ? schedule->plan->curves[s->curve].first : statistic,
                 count = s->contrast ? s->contrast->compared_count : 1; /* or as the numbers that it compares */
    bool any = false;
    for (size_t i = 0; i < schedule->measurement_count; i++) {
        tables[i] = false;
        for (size_t k = 0; k < count; k++) {
            const tmi_statistic_map *r = &schedule->workload.maps[s->contrast ? s->contrast->compared[k].statistic : own];
            tables[i] = tables[i] || (!r->known && bears_on(&schedule->measurements[i], r));
        }
        any |= tables[i];
    }
    return any;
}

bool tmi_measured_in_init(tmi_measured_in *m, const tmi_schedule *schedule)
{
    const size_t width = schedule->measurement_count, statistics = schedule->plan->asked_count;
    *m = (tmi_measured_in){.schedule = schedule, .list_of = tmi_alloc(statistics, sizeof *m->list_of)};
    bool *tables = tmi_alloc(width, sizeof *tables);
    bool fine = m->list_of && tables;
    for (size_t s = 0, room = 0; fine && s < statistics; s++) {
        size_t list = 0;
        if (!find_tables(tables, schedule, s)) continue; /* 0: nothing was measured */
        while (list < m->count && memcmp(&m->tables[list * width], tables, width * sizeof *tables) != 0) list++;
        if (list == m->count) {
            fine = tmi_grow(&m->tables, &room, m->count, width * sizeof *tables);
            if (fine) memcpy(&m->tables[m->count++ * width], tables, width * sizeof *tables);
        }
        m->list_of[s] = list + 1;
    }
    tmi_free(tables);
    if (!fine) tmi_measured_in_clear(m);
    return fine;
}

void tmi_measured_in_clear(tmi_measured_in *m)
{
    tmi_free(m->list_of);
    tmi_free(m->tables);
    *m = (tmi_measured_in){0};
}

static void put_number(tmi_text *text, size_t list)
{
    tmi_text_init(text);
    if (list > 0) tmi_text_format(text, "%zu", list);
}

void tmi_put_measured_in(tmi_json_out *out, const tmi_measured_in *m, size_t statistic)
{
    tmi_text number;
    put_number(&number, m->list_of[statistic]);
    tmi_json_add_taken(out, "measured_in", &number);
}

void tmi_put_tables_measured_in(tmi_json_out *out, const tmi_measured_in *m)
{
    const tmi_schedule *schedule = m->schedule;
    tmi_json_add_open(out, "measured_in", '{');
    for (size_t list = 0; list < m->count && !out->text->failed; list++) {
        tmi_text number;
        put_number(&number, list + 1);
        if (number.failed) out->text->failed = true;
        else tmi_json_add_open(out, number.bytes, '[');
        for (size_t i = 0; !number.failed && i < schedule->measurement_count; i++) {
            if (!m->tables[list * schedule->measurement_count + i]) continue;
            tmi_text name;
            tmi_text_init(&name);
            tmi_measurement_name(&name, &schedule->measurements[i], &schedule->workload);
            tmi_json_put_taken(out, &name);
        }
        if (!number.failed) tmi_json_close(out, ']');
        tmi_text_clear(&number);
    }
    tmi_json_close(out, '}');
}
