/* Stages: clusters are drawn by one design, and inside the drawn ones units by designs of their own, independently.
 * With censuses inside, that is cluster sampling.                                                                    */
#include "survey/parts.h"

static tamis_status first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    const tmi_parts *d = (const tmi_parts *)design;
    size_t c = tmi_part_of(d, unit);
    tmi_ball within;
    tmi_ball_init(&within);
    tamis_status status = d->above->kind->first(pi, d->above, (int64_t)c, bits, err);
    if (status == TAMIS_OK) status = d->parts[c]->kind->first(&within, d->parts[c], unit - d->first[c], bits, err);
    tmi_ball_mul(pi, pi, &within, bits);
    tmi_ball_clear(&within);
    return status;
}

static tamis_status exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    const tmi_parts *d = (const tmi_parts *)design;
    size_t c = tmi_part_of(d, unit);
    tamis_number *above = NULL, *within = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(d->above->kind->exact(&above, d->above, (int64_t)c, err));
    TMI_TRY(d->parts[c]->kind->exact(&within, d->parts[c], unit - d->first[c], err));
    TMI_TRY(tmi_number_mul(pi, above, within, err));
done:
    tamis_number_free(above);
    tamis_number_free(within);
    return status;
}

/* ---- pairs ---- */

/* The clusters of the units, each once, and for each unit the place of its own among them. */
typedef struct clusters {
    int64_t *list;
    size_t *place, count;
    tmi_ball *pij, *within; /* joint probabilities of the clusters; of each unit inside its own */
} clusters;

static tamis_status find_clusters(clusters *c, const tmi_parts *d, const int64_t *units, size_t count, long bits,
                                  tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *c = (clusters){.list = tmi_alloc(count, sizeof *c->list), .place = tmi_alloc(count, sizeof *c->place)};
    c->within = tmi_balls_new(count);
    if (!c->list || !c->place || !c->within) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        size_t part = tmi_part_of(d, units[i]), at = 0;
        while (at < c->count && c->list[at] != (int64_t)part) at++;
        if (at == c->count) c->list[c->count++] = (int64_t)part;
        c->place[i] = at;
        TMI_TRY(d->parts[part]->kind->first(&c->within[i], d->parts[part], units[i] - d->first[part], bits, err));
    }
    if (!(c->pij = tmi_balls_new(c->count * c->count))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_design_joint(c->pij, d->above, c->list, c->count, bits, err));
    for (size_t i = 0; i < c->count; i++) /* one cluster: its own probability, on the diagonal */
        TMI_TRY(d->above->kind->first(&c->pij[i * c->count + i], d->above, c->list[i], bits, err));
done:
    return status;
}

static tamis_status joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                          tamis_error *err)
{
    const tmi_parts *d = (const tmi_parts *)design;
    clusters c;
    tamis_status status = find_clusters(&c, d, units, count, bits, err);
    if (status == TAMIS_OK) status = tmi_parts_joint(pij, d, units, count, bits, err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++)
        for (size_t j = i + 1; j < count; j++) {
            tmi_ball *p = &pij[i * count + j];
            size_t x = c.place[i] < c.place[j] ? c.place[i] : c.place[j], y = c.place[i] + c.place[j] - x;
            if (x != y) tmi_ball_mul(p, &c.within[i], &c.within[j], bits);
            tmi_ball_mul(p, p, &c.pij[x * c.count + y], bits);
        }
    tmi_balls_free(c.pij, c.count * c.count);
    tmi_balls_free(c.within, count);
    tmi_free(c.list);
    tmi_free(c.place);
    return status;
}

/* ---- the law ---- */

/* The drawn clusters from number i on are still to be gone into. */
static tamis_status go_into(tamis_law *law, const tmi_parts *d, tamis_law *const *inside, const tmi_listed *drawn,
                            size_t i, const tmi_listed *so_far, tamis_error *err)
{
    tamis_law *next = NULL;
    tamis_status status = TAMIS_OK;
    if (i == drawn->size) return tmi_sample_law_add_copy(law, so_far, err);
    size_t c = drawn->units[i];
    TMI_TRY(tmi_sample_law_alloc(&next, law->population, err));
    for (size_t j = 0; j < inside[c]->count; j++)
        TMI_TRY(tmi_sample_law_add_product(next, so_far, &inside[c]->samples[j], (size_t)d->first[c], err));
    for (size_t j = 0; j < next->count; j++) TMI_TRY(go_into(law, d, inside, drawn, i + 1, &next->samples[j], err));
done:
    tamis_law_free(next);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_parts *d = (const tmi_parts *)design;
    tamis_law *above = NULL, *inside[TAMIS_LAW_UNITS] = {0}; /* no more clusters than units */
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_sample_law_of(&above, d->above, err));
    for (size_t c = 0; c < d->count; c++) TMI_TRY(tmi_sample_law_of(&inside[c], d->parts[c], err));
    for (size_t i = 0; i < above->count; i++) {
        tmi_listed nobody = above->samples[i]; /* its probability, and no unit yet */
        nobody.size = 0;
        TMI_TRY(go_into(law, d, inside, &above->samples[i], 0, &nobody, err));
    }
done:
    for (size_t c = 0; c < TAMIS_LAW_UNITS; c++) tamis_law_free(inside[c]);
    tamis_law_free(above);
    return status;
}

/* ---- drawing ---- */

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         tamis_error *err)
{
    const tmi_parts *d = (const tmi_parts *)design;
    void *const *own = tables;
    tamis_drawn clusters = {0};
    tamis_status status = tmi_design_draw(&clusters, d->above, own[d->count], 0, rng, err);
    for (size_t i = 0; i < clusters.count && status == TAMIS_OK; i++) {
        int64_t c = clusters.units[i];
        status = tmi_design_draw(drawn, d->parts[c], own[c], d->first[c], rng, err);
    }
    tamis_drawn_clear(&clusters);
    return status;
}

/* ---- exposure ---- */

/* Clusters coupled at distance 1: the unit's cluster stands where another one does. If all clusters give equally many
 * records these are exchanged, otherwise those of both are added or removed. */
static void couple(tamis_exposure *e, const tmi_parts *d, const tamis_exposure *cluster, size_t c)
{
    int64_t largest = 0, smallest = INT64_MAX, own;
    for (size_t h = 0; h < d->count; h++) {
        const tamis_design *part = d->parts[h];
        int64_t most = part->sample >= 0 ? part->sample : part->population, least = part->sample >= 0 ? most : 0;
        largest = most > largest ? most : largest;
        smallest = least < smallest ? least : smallest;
    }
    own = d->parts[c]->sample >= 0 ? d->parts[c]->sample : d->parts[c]->population;
    e->exchanges = e->additions = 0;
    if (cluster->exchanges == 0 && cluster->additions == 0) return; /* the cluster is always there */
    if (cluster->exchanges == 0) e->additions = own * cluster->additions;
    else if (smallest == largest) e->exchanges = own * cluster->exchanges;
    else e->additions = (own + largest) * cluster->exchanges;
}

static const tamis_exposure *exposure_of(const tmi_exposures *list, int64_t unit)
{
    for (size_t i = 0; i < list->count; i++)
        if (unit < list->list[i].first + list->list[i].count) return &list->list[i];
    return NULL;
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    const tmi_parts *d = (const tmi_parts *)design;
    tmi_exposures above = {0};
    bool cluster = true;
    tamis_status status = d->above->kind->expose(&above, d->above, err);
    for (size_t c = 0; c < d->count; c++) cluster = cluster && d->parts[c]->sample == d->parts[c]->population;
    for (size_t c = 0; c < d->count && status == TAMIS_OK; c++) {
        const tamis_exposure *own = exposure_of(&above, (int64_t)c);
        size_t before = exposures->count;
        status = d->parts[c]->kind->expose(exposures, d->parts[c], err);
        for (size_t i = before; i < exposures->count && status == TAMIS_OK; i++) {
            tamis_exposure *e = &exposures->list[i];
            e->first += d->first[c];
            e->within = e->inclusion;
            e->inclusion = own->inclusion;
            if (own->theorem && e->theorem) e->theorem = cluster ? "cluster" : "two_stage";
            else if (e->theorem) {
                e->theorem = NULL;
                e->reason = own->reason;
            }
            couple(e, d, own, c);
        }
    }
    tmi_free(above.list);
    return status;
}

static const tmi_design_kind stages_kind = {.name = "stages", .clear = tmi_parts_clear, .first = first,
    .exact = exact, .joint = joint, .law = law_of, .prepare = tmi_parts_prepare, .dismiss = tmi_parts_dismiss, .draw = draw, .expose = expose};

/* The size of every sample, if the number of clusters is fixed and all of them give as many. */
static int64_t size_of_samples(const tmi_parts *d)
{
    for (size_t c = 0; c < d->count; c++)
        if (d->parts[c]->sample < 0 || d->parts[c]->sample != d->parts[0]->sample) return -1;
    return d->above->sample < 0 ? -1 : d->above->sample * d->parts[0]->sample;
}

tamis_status tamis_design_take_stages(tamis_design **design, tamis_design *first_stage, tamis_design *const *second,
                                      size_t count, tamis_error *err)
{
    tmi_parts *d;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    if (!first_stage) return tmi_fail(err, TAMIS_INVALID, "first: NULL");
    if (first_stage->kind->with_replacement)
        return tmi_fail(err, TAMIS_INVALID, "first: clusters are drawn without replacement");
    if (first_stage->population != (int64_t)count)
        return tmi_fail(err, TAMIS_INVALID, "second: as many designs are needed as the first stage has units");
    for (size_t c = 0; second && c < count; c++)
        if (second[c] == first_stage) return tmi_fail(err, TAMIS_INVALID, "second: number %zu is the first stage", c);
    tamis_status status = tmi_parts_take(&d, &stages_kind, second, count, "second", err);
    if (status != TAMIS_OK) return status;
    d->above = first_stage;
    d->base.sample = size_of_samples(d);
    *design = &d->base;
    return TAMIS_OK;
}
