#include "draw/design.h"

#include "base/memory.h"
#include "num/number.h"
#include "survey/design/method.h"

/* ---- the parts of a design ---- */

bool tmi_frame_is_slow(const tamis_frame_design *design) { return tmi_method_row(design->method)->slow; }

bool tmi_frame_is_with_replacement(const tamis_frame_design *design) { return tmi_method_row(design->method)->with_replacement; }

static tamis_status check_numbers(const tamis_frame_design *d, const tmi_method *m, tamis_error *err)
{
    const bool has_size = d->sample != 0 || d->allocation, unequal = d->size || d->probability;
    if (m->by_rate != (d->rate != NULL))
        return tmi_fail(err, TAMIS_INVALID, d->rate ? "rate: only bernoulli has one" : "rate: bernoulli needs one");
    if (d->rate && (tmi_number_sign(d->rate) <= 0 || tmi_number_compare_int(d->rate, 1) > 0))
        return tmi_fail(err, TAMIS_INVALID, "rate: must be above 0 and at most 1");
    if (unequal && !m->unequal)
        return tmi_fail(err, TAMIS_INVALID, "%s: %s draws with equal probabilities", d->size ? "size" : "probability", m->name);
    if (!unequal && !m->equal)
        return tmi_fail(err, TAMIS_INVALID, "probability: %s needs a column of probabilities, or of sizes", m->name);
    const bool needs_size = !m->by_rate && !d->probability;
    if (needs_size && !has_size) return tmi_fail(err, TAMIS_INVALID, "sample: must be the number of units to draw");
    if (!needs_size && has_size)
        return tmi_fail(err, TAMIS_INVALID, "%s: not needed, because the %s determines how many are drawn",
                        d->sample ? "sample" : "allocation", d->rate ? "rate" : "column of probabilities");
    return TAMIS_OK;
}

static tamis_status check_clusters(const tamis_frame_design *d, const tmi_method *m, tamis_error *err)
{
    if (d->within < 0 || d->within > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "within: must be between 1 and 2^40");
    if (d->within && d->within_column)
        return tmi_fail(err, TAMIS_INVALID, "within: must be either one number or a column, not both");
    if (d->within_systematic && !d->within && !d->within_column)
        return tmi_fail(err, TAMIS_INVALID, "within-systematic: needs the number of units to draw in each cluster, --within");
    if ((d->within || d->within_column) && !d->cluster)
        return tmi_fail(err, TAMIS_INVALID, "within: needs clusters, and none are named");
    if (d->within_rate && (d->within || d->within_column))
        return tmi_fail(err, TAMIS_INVALID,
                        "within-rate: how many units of a cluster are drawn is left to chance, and --within says it");
    if (d->within_rate && !d->cluster) return tmi_fail(err, TAMIS_INVALID, "within-rate: needs clusters, and none are named");
    if (d->within_rate && (tmi_number_sign(d->within_rate) <= 0 || tmi_number_compare_int(d->within_rate, 1) > 0))
        return tmi_fail(err, TAMIS_INVALID, "within-rate: must be above 0 and at most 1");
    if (d->cluster && m->with_replacement)
        return tmi_fail(err, TAMIS_INVALID, "cluster: cannot be used with %s, which draws single units", m->name);
    return TAMIS_OK;
}

tamis_status tamis_frame_design_check(const tamis_frame_design *design, tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    const tmi_method *m = tmi_method_row(design->method);
    if (!m) return tmi_fail(err, TAMIS_INVALID, "method: none given; use one of tamis_method");
    if (design->sample < 0 || design->sample > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "sample: must be between 1 and 2^40");
    if (design->size && design->probability)
        return tmi_fail(err, TAMIS_INVALID, "size: must be either sizes or probabilities, not both");
    if (design->sample && design->allocation)
        return tmi_fail(err, TAMIS_INVALID, "allocation: must be either one sample size or a column, not both");
    if (design->allocation && !design->strata)
        return tmi_fail(err, TAMIS_INVALID, "allocation: needs strata, and none are named");
    tamis_status status = check_clusters(design, m, err);
    return status == TAMIS_OK ? check_numbers(design, m, err) : status;
}

/* ---- the order of the units ---- */

/* What is drawn first, rows or clusters, stratum by stratum: `first` is the place where those of a stratum begin. */
typedef struct order {
    size_t *first;    /* stratum_count + 1 */
    int64_t *members; /* by place: the row, or the number of the cluster; NULL: the same */
} order;

static void clear_order(order *o)
{
    tmi_free(o->first);
    tmi_free(o->members);
}

static uint32_t stratum_of(const tmi_frame_units *units, size_t member)
{
    if (units->clusters.of) return units->clusters.list[member].stratum;
    return units->strata.of ? units->strata.of[member] : 0;
}

static tamis_status sort_members(order *o, const tmi_frame_units *units, tamis_error *err)
{
    const size_t count = units->clusters.of ? units->clusters.count : (size_t)units->count, strata = units->strata.count;
    *o = (order){.first = tmi_alloc(strata + 2, sizeof *o->first)};
    if (!o->first) return tmi_fail_memory(err);
    o->first[1] = count;
    if (strata == 1) return TAMIS_OK;
    if (!(o->members = tmi_alloc(count, sizeof *o->members))) return tmi_fail_memory(err);
    o->first[1] = 0;
    for (size_t i = 0; i < count; i++) o->first[stratum_of(units, i) + 2]++;
    for (size_t s = 2; s <= strata; s++) o->first[s] += o->first[s - 1]; /* first[s + 1] is where stratum s begins */
    for (size_t i = 0; i < count; i++) o->members[o->first[stratum_of(units, i) + 1]++] = (int64_t)i;
    return TAMIS_OK; /* and now where it ends */
}

static size_t member(const order *o, size_t place) { return o->members ? (size_t)o->members[place] : place; }

/* The rows of the clusters, one cluster after the other. */
static tamis_status sort_rows(int64_t **rows, const order *o, const tmi_frame_units *units, tamis_error *err)
{
    int64_t *next = tmi_alloc(units->clusters.count, sizeof *next), unit = 0;
    *rows = tmi_alloc((size_t)units->count, sizeof **rows);
    if (next && *rows) {
        for (size_t i = 0; i < units->clusters.count; i++) {
            next[member(o, i)] = unit;
            unit += units->clusters.list[member(o, i)].count;
        }
        for (int64_t row = 0; row < units->count; row++) (*rows)[next[units->clusters.of[row]]++] = row;
    }
    tmi_free(next);
    return next && *rows ? TAMIS_OK : tmi_fail_memory(err);
}

/* ---- the design ---- */

/* What one stratum needs: its members begin at place `first`. */
typedef struct part {
    const tamis_frame_design *design;
    const tmi_frame_units *units;
    const order *order;
    size_t first, count;
    int64_t sample;
} part;

static tamis_status make_unequal(tamis_design **made, const part *p, tamis_error *err)
{
    const tamis_number **list = tmi_alloc(p->count, sizeof *list);
    tamis_status status;
    if (!list) return tmi_fail_memory(err);
    for (size_t i = 0; i < p->count; i++) list[i] = p->units->numbers[member(p->order, p->first + i)];
    if (p->design->size) status = tamis_design_pps_sizes(made, p->design->method, list, p->count, p->sample, err);
    else status = tamis_design_pps(made, p->design->method, list, p->count, err);
    tmi_free(list);
    return status;
}

/* All units of a cluster, or a simple random or systematic sample of them, or each by itself. */
static tamis_status make_second(tamis_design **made, const tmi_frame_group *cluster, const tamis_frame_design *d,
                                tamis_error *err)
{
    if (d->within_rate) return tamis_design_bernoulli(made, cluster->count, d->within_rate, err);
    if (cluster->sample == 0 || cluster->sample >= cluster->count) return tamis_design_census(made, cluster->count, err);
    if (d->within_systematic) return tamis_design_systematic(made, cluster->count, cluster->sample, 0, err);
    return tamis_design_srs(made, cluster->count, cluster->sample, err);
}

/* Takes `first` in any case. */
static tamis_status add_second(tamis_design **made, tamis_design *first, const part *p, tamis_error *err)
{
    tamis_design **second = tmi_alloc(p->count, sizeof *second);
    tamis_status status = TAMIS_OK;
    if (!second) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < p->count; i++)
        TMI_TRY(make_second(&second[i], &p->units->clusters.list[member(p->order, p->first + i)], p->design, err));
    TMI_TRY(tamis_design_take_stages(made, first, second, p->count, err));
    tmi_free(second);
    return TAMIS_OK;
done:
    for (size_t i = 0; second && i < p->count; i++) tamis_design_free(second[i]);
    tmi_free(second);
    tamis_design_free(first);
    return status;
}

static tamis_status make_part(tamis_design **made, const part *p, tamis_error *err)
{
    const tmi_method *m = tmi_method_row(p->design->method);
    tamis_design *first = NULL;
    if (p->sample > (int64_t)p->count && !m->with_replacement)
        return tmi_fail(err, TAMIS_INVALID, "sample: %lld %s, but there are only %zu", (long long)p->sample,
                        p->units->clusters.of ? "clusters" : "units", p->count);
    tamis_status status = p->units->numbers ? make_unequal(&first, p, err)
                                            : m->equal(&first, (int64_t)p->count, p->sample, p->design->rate, err);
    if (status == TAMIS_OK && p->units->clusters.of) return add_second(made, first, p, err);
    *made = first;
    return status;
}

static tamis_status make_strata(tamis_design **made, part *p, tamis_error *err)
{
    const tmi_groups *strata = &p->units->strata;
    size_t count = strata->count;
    tamis_status status = TAMIS_OK;
    tamis_design **parts = tmi_alloc(count, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    for (size_t s = 0; s < count; s++) {
        tamis_error inner;
        p->first = p->order->first[s];
        p->count = p->order->first[s + 1] - p->first;
        p->sample = strata->list[s].sample ? strata->list[s].sample : p->design->sample;
        status = make_part(&parts[s], p, &inner);
        if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
        if (status == TAMIS_OK) continue;
        if (!strata->of) TMI_TRY(tmi_fail_as(err, &inner));
        TMI_TRY(tmi_fail(err, status, "the stratum of row %lld: %s", (long long)strata->list[s].first + 1, inner.message));
    }
    if (count == 1) *made = parts[0];
    else TMI_TRY(tamis_design_take_strata(made, parts, count, err));
    count = 0;
done:
    for (size_t s = 0; s < count; s++) tamis_design_free(parts[s]);
    tmi_free(parts);
    return status;
}

tamis_status tmi_frame_plan_make(tmi_frame_plan *plan, const tamis_frame_design *design, const tmi_frame_units *units,
                                 tamis_error *err)
{
    order o = {0};
    part p = {.design = design, .units = units, .order = &o};
    tamis_status status;
    *plan = (tmi_frame_plan){0};
    TMI_TRY(sort_members(&o, units, err));
    TMI_TRY(make_strata(&plan->design, &p, err));
    if (units->clusters.of) TMI_TRY(sort_rows(&plan->rows, &o, units, err));
    else {
        plan->rows = o.members;
        o.members = NULL;
    }
done:
    clear_order(&o);
    return status;
}

void tmi_frame_plan_clear(tmi_frame_plan *plan)
{
    tamis_design_free(plan->design);
    tmi_free(plan->rows);
    *plan = (tmi_frame_plan){0};
}
