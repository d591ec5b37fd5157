/* Stages: clusters are drawn by one design, and inside the drawn ones units by designs of their own, independently.
 * With censuses inside, that is cluster sampling.                                                                    */
#include "survey/design/composite.h"
#include "survey/design/form.h"

#include <math.h>
#include <string.h>

static tamis_status first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    const tmi_composite *d = (const tmi_composite *)design;
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
    const tmi_composite *d = (const tmi_composite *)design;
    size_t c = tmi_part_of(d, unit);
    tamis_number *above = NULL, *within = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(d->above->kind->exact(&above, d->above, (int64_t)c, err));
    TMI_TRY(d->parts[c]->kind->exact(&within, d->parts[c], unit - d->first[c], err));
    TMI_TRY(tmi_number_mul(pi, above, within, err));
done:
    tmi_number_frees(&above, &within, NULL);
    return status;
}

/* ---- pairs ---- */

/* The clusters of the units, each once, and for each unit the place of its own among them. */
typedef struct clusters {
    int64_t *list;
    size_t *place, count;
    tmi_ball *pij, *within; /* joint probabilities of the clusters; of each unit inside its own */
} clusters;

static tamis_status find_clusters(clusters *c, const tmi_composite *d, const int64_t *units, size_t count, long bits,
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
    const tmi_composite *d = (const tmi_composite *)design;
    clusters c;
    tamis_status status = find_clusters(&c, d, units, count, bits, err);
    if (status == TAMIS_OK) status = tmi_composite_joint(pij, d, units, count, bits, err);
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
static tamis_status go_into(tamis_law *law, const tmi_composite *d, tamis_law *const *inside, const tmi_listed *drawn, size_t i,
                            const tmi_listed *so_far, tamis_error *err)
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
    const tmi_composite *d = (const tmi_composite *)design;
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
                         const tmi_watch *watch, tamis_error *err)
{
    const tmi_composite *d = (const tmi_composite *)design;
    void *const *own = tables;
    tamis_drawn clusters = {0};
    tamis_status status = tmi_design_draw(&clusters, d->above, own[d->count], 0, rng, watch, err);
    for (size_t i = 0; i < clusters.count && status == TAMIS_OK; i++) {
        int64_t c = clusters.units[i];
        const tmi_watch part = tmi_composite_watch(d, (size_t)c, watch);
        status = tmi_design_draw(drawn, d->parts[c], own[c], d->first[c], rng, &part, err);
    }
    tamis_drawn_clear(&clusters);
    return status;
}

/* ---- exposure ---- */

/* Records from the clusters that may replace a cluster: those of its own stratum of the first stage. */
typedef struct givers {
    size_t first, end;                 /* clusters */
    size_t giver;                      /* that gives most */
    int64_t largest, second, smallest; /* most records, most of all but the giver, fewest */
} givers;

static int64_t most_records(const tamis_design *part) { return part->sample >= 0 ? part->sample : part->population; }

static givers find_givers(const tmi_composite *d, const tmi_exposures *above, size_t at)
{
    givers g = {.smallest = INT64_MAX};
    size_t i = at;
    g.first = (size_t)above->list[at].first;
    for (; i < above->count && above->list[i].stratum == above->list[at].stratum; i++) continue;
    g.end = (size_t)(above->list[i - 1].first + above->list[i - 1].count);
    for (size_t c = g.first; c < g.end; c++) {
        int64_t most = most_records(d->parts[c]), least = d->parts[c]->sample >= 0 ? most : 0;
        if (most > g.largest) {
            g.second = g.largest;
            g.largest = most;
            g.giver = c;
        } else if (most > g.second) g.second = most;
        if (least < g.smallest) g.smallest = least;
    }
    return g;
}

static int64_t larger(int64_t x, int64_t y) { return x > y ? x : y; }

/* A product of sizes below 2^62; beyond, a distance that is never reached. */
static int64_t times(int64_t x, int64_t y) { return y != 0 && x > (INT64_C(1) << 60) / y ? INT64_C(1) << 60 : x * y; }

/* From clusters to records. Of the clusters that differ, one is the unit's own; if all give equally many records these
 * are exchanged, otherwise those of both sides are added or removed. A mechanism that counts either as one step exchanges what
 * it can: for the unit's own cluster the larger of the two sizes, for any others the largest. */
static tamis_distance in_records(tamis_distance clusters, const givers *g, int64_t own, size_t c)
{
    int64_t other = c == g->giver ? g->second : g->largest;
    int64_t differ = times(2, clusters.exchanges) + clusters.additions, changes = clusters.exchanges + clusters.additions;
    if (g->smallest == g->largest) return (tamis_distance){times(own, clusters.exchanges), times(own, clusters.additions), 0};
    if (differ == 0) return (tamis_distance){0};
    return (tamis_distance){.additions = own + times(other, differ - 1),
                            .either = (clusters.exchanges > 0 ? larger(own, other) : own) + times(other, changes - 1)};
}

/* The product of two probabilities, rounded outwards. */
static tamis_bound product(tamis_bound x, tamis_bound y)
{
    tamis_bound z;
    tmi_ball a, b;
    tmi_ball_inits(&a, &b, NULL);
    tmi_ball_set_double(&a, x.lower);
    tmi_ball_set_double(&b, y.lower);
    tmi_ball_mul(&a, &a, &b, TMI_BITS_FIRST);
    z.lower = tmi_ball_bound(&a).lower;
    tmi_ball_set_double(&a, x.upper);
    tmi_ball_set_double(&b, y.upper);
    tmi_ball_mul(&a, &a, &b, TMI_BITS_FIRST);
    z.upper = tmi_ball_bound(&a).upper;
    tmi_ball_clears(&a, &b, NULL);
    return z;
}

static void add_absence(tamis_exposure *e, tamis_absence absence)
{
    if (e->absence_count < TAMIS_MAX_ABSENCES) {
        e->absences[e->absence_count++] = absence;
        return;
    }
    tamis_absence *last = &e->absences[TAMIS_MAX_ABSENCES - 1];
    last->probability.lower += absence.probability.lower;
    last->probability.upper = nextafter(last->probability.upper + absence.probability.upper, 2);
    last->probability.lower = nextafter(last->probability.lower, 0);
    const tamis_distance x = last->distance, y = absence.distance;
    const int64_t of_x = x.either > 0 ? x.either : x.exchanges + x.additions,
                  of_y = y.either > 0 ? y.either : y.exchanges + y.additions;
    last->distance = (tamis_distance){larger(x.exchanges, y.exchanges), larger(x.additions, y.additions), larger(of_x, of_y)};
    last->far = last->far || absence.far;
}

/* From the exposure inside cluster c to that in the whole design.
 *
 * Where no coupling of the first stage is proved, whatever the other drawn clusters are hides nobody: condition on all drawn
 * clusters, which do not depend on answers. What is left is the second stage in the unit's own cluster, and a mixture loses
 * no more than its parts. So the samples without the cluster are far, and what is claimed is true even if everybody knows
 * which clusters were drawn. A frame that lost a unit may have other probabilities of clusters: nothing is claimed for that
 * there, nor where probabilities are unequal and may follow from the clusters' sizes. */
static void expose_unit(tamis_exposure *e, const tmi_composite *d, const tamis_exposure *cluster, const givers *g, size_t c,
                        const char *theorem)
{
    const bool coupled = cluster->theorem != NULL;
    e->first += d->first[c];
    e->stratum = cluster->stratum;
    if (!coupled || strcmp(cluster->theorem, "strongly_rayleigh") == 0 ||
        (strcmp(cluster->theorem, "poisson") == 0 && !d->above->kind->equal && !d->above->kind->stratified))
        e->removal = (tamis_distance){0};
    e->inclusion = product(e->inclusion, cluster->inclusion);
    for (size_t k = 0; k < e->absence_count; k++)
        e->absences[k].probability = product(e->absences[k].probability, cluster->inclusion);
    for (size_t k = 0; k < cluster->absence_count; k++) {
        tamis_absence with_cluster = cluster->absences[k];
        with_cluster.distance = in_records(with_cluster.distance, g, most_records(d->parts[c]), c);
        with_cluster.far = with_cluster.far || !coupled;
        add_absence(e, with_cluster);
    }
    if (e->theorem && strcmp(e->theorem, "srs_with_replacement") == 0) {
        e->theorem = NULL;
        e->reason = "a second stage with replacement has no proved coupling";
    } else if (e->theorem) e->theorem = coupled ? theorem : "within_clusters";
}

/* Whole clusters that were drawn without a coupling: nobody is hidden by a second stage, and the reason is that of the first. */
static void refuse_whole(tmi_exposures *exposures, size_t from, const tmi_exposures *above)
{
    const char *reason = NULL;
    bool hidden = false;
    for (size_t i = 0; i < above->count && !reason; i++) reason = above->list[i].theorem ? NULL : above->list[i].reason;
    for (size_t i = from; i < exposures->count; i++)
        for (size_t k = 0; k < exposures->list[i].absence_count; k++) hidden = hidden || !exposures->list[i].absences[k].far;
    for (size_t i = from; i < exposures->count && reason && !hidden; i++) {
        exposures->list[i].theorem = NULL;
        exposures->list[i].reason = reason;
    }
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    const tmi_composite *d = (const tmi_composite *)design;
    tmi_exposures above = {0};
    givers g = {0};
    const char *theorem = "cluster";
    const size_t from = exposures->count;
    tamis_status status = d->above->kind->expose(&above, d->above, err);
    for (size_t c = 0; c < d->count; c++)
        if (d->parts[c]->sample != d->parts[c]->population) theorem = "two_stage";
    for (size_t c = 0, at = 0; c < d->count && status == TAMIS_OK; c++) {
        if ((int64_t)c >= above.list[at].first + above.list[at].count) at++;
        if (c >= g.end) g = find_givers(d, &above, at);
        size_t before = exposures->count;
        status = d->parts[c]->kind->expose(exposures, d->parts[c], err);
        for (size_t i = before; i < exposures->count && status == TAMIS_OK; i++)
            expose_unit(&exposures->list[i], d, &above.list[at], &g, c, theorem);
    }
    if (status == TAMIS_OK) refuse_whole(exposures, from, &above);
    tmi_free(above.list);
    return status;
}

static const tmi_design_kind stages_kind = {TMI_COMPOSITE("stages"), .first = first, .exact = exact,  .joint = joint,
                                            .law = law_of,           .draw = draw,   .expose = expose};

/* The size of every sample, if the number of clusters is fixed and all of them give as many. */
static int64_t size_of_samples(const tmi_composite *d)
{
    for (size_t c = 0; c < d->count; c++)
        if (d->parts[c]->sample < 0 || d->parts[c]->sample != d->parts[0]->sample) return -1;
    return d->above->sample < 0 ? -1 : d->above->sample * d->parts[0]->sample;
}

tamis_status tamis_design_take_stages(tamis_design **design, tamis_design *first_stage, tamis_design *const *second, size_t count,
                                      tamis_error *err)
{
    tmi_composite *d;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    if (!first_stage) return tmi_fail(err, TAMIS_INVALID, "first: NULL");
    if (first_stage->kind->with_replacement) return tmi_fail(err, TAMIS_INVALID, "first: clusters are drawn without replacement");
    if (first_stage->population != (int64_t)count)
        return tmi_fail(err, TAMIS_INVALID, "second: one design per unit of the first stage is needed");
    for (size_t c = 0; second && c < count; c++)
        if (second[c] == first_stage) return tmi_fail(err, TAMIS_INVALID, "second: number %zu is the first stage", c);
    tamis_status status = tmi_composite_take(&d, &stages_kind, second, count, "second", err);
    if (status != TAMIS_OK) return status;
    d->above = first_stage;
    d->base.sample = size_of_samples(d);
    *design = &d->base;
    return TAMIS_OK;
}

/* Clusters that are listed one by one. */
#define MOST_CLUSTERS ((int64_t)1 << 20)

tamis_status tamis_design_clusters(tamis_design **design, int64_t clusters, int64_t sample, int64_t smallest, int64_t largest,
                                   tamis_error *err)
{
    tamis_design *above = NULL, **second = NULL;
    tamis_status status = TAMIS_OK;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    if (smallest < 1) return tmi_fail(err, TAMIS_INVALID, "smallest: a cluster has at least one unit");
    if (largest < smallest) return tmi_fail(err, TAMIS_INVALID, "largest: must not be below smallest");
    if (clusters > MOST_CLUSTERS) return tmi_fail(err, TAMIS_INVALID, "population: at most 2^20 clusters are supported");
    if (smallest != largest && clusters < 3 && 0 < sample && sample <= clusters) {
        clusters *= 2;
        sample *= 2;
    }
    TMI_TRY(tamis_design_srs(&above, clusters, sample, err));
    second = tmi_alloc((size_t)clusters, sizeof *second);
    if (!second) TMI_TRY(tmi_fail_memory(err));
    for (int64_t c = 0; c < clusters; c++) TMI_TRY(tamis_design_census(&second[c], c < 2 ? largest : smallest, err));
    TMI_TRY(tamis_design_take_stages(design, above, second, (size_t)clusters, err));
done:
    if (status != TAMIS_OK) tamis_design_free(above);
    for (int64_t c = 0; second && status != TAMIS_OK && c < clusters; c++) tamis_design_free(second[c]);
    tmi_free(second);
    return status;
}

/* ---- as JSON ---- */

static tamis_status read_cluster(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    int64_t clusters, sample, smallest, largest;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_design_sizes_of(&clusters, &sample, f, err));
    TMI_TRY(tmi_design_integer(&smallest, f, "smallest", err));
    TMI_TRY(tmi_design_integer(&largest, f, "largest", err));
    if (smallest >= 1 && smallest < largest && !f->worst)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "largest: must be the same as smallest where units are numbered"));
    TMI_TRY(tamis_design_clusters(design, clusters, sample, smallest, largest, err));
done:
    return status;
}

const tmi_design_form tmi_cluster_form = {
    .name = "cluster",
    .keys = {"population", "sample", "smallest", "largest"},
    .read = read_cluster,
};

/* Clusters that may be listed one by one. */
#define LISTED ((int64_t)1 << 20)

static void free_designs(tamis_design **designs, size_t count)
{
    for (size_t i = 0; designs && i < count; i++) tamis_design_free(designs[i]);
    tmi_free(designs);
}

/* first and designs belong to the new design, or are freed. */
static tamis_status join_stages(tamis_design **design, tamis_design *first, tamis_design **second, size_t count, tamis_error *err)
{
    tamis_status status = tamis_design_take_stages(design, first, second, count, err);
    if (status != TAMIS_OK) tamis_design_free(first);
    free_designs(second, status == TAMIS_OK ? 0 : count);
    return status;
}

/* A list of integers, one per cluster, or one integer for all. */
static tamis_status get_each(int64_t *value, const tmi_design_fields *f, const char *name, int64_t c, int64_t count,
                             tamis_error *err)
{
    const tmi_value *json;
    tamis_error inner;
    tamis_status status = tmi_design_get(&json, f, name, err);
    if (status != TAMIS_OK) return status;
    if (tmi_value_kind_of(json) != TMI_VALUE_LIST) return tmi_design_integer(value, f, name, err);
    if (tmi_value_size(json) != (size_t)count) return tmi_fail(err, TAMIS_INVALID, "%s: must have one item per cluster", name);
    return tmi_design_field_failed(tmi_json_to_integer(value, tmi_value_at(json, (size_t)c), &inner), name, &inner, err);
}

static const char *const sizes[] = {"population", "sample"};

/* The design of a stage, in place of the sizes of a simple random sample; NULL: these are given. */
static const tmi_value *other_design(const tmi_design_fields *f, const char *name)
{
    const tmi_value *json;
    if (tmi_design_get(&json, f, name, NULL) != TAMIS_OK || tmi_value_kind_of(json) != TMI_VALUE_MAP) return NULL;
    return tmi_value_get(json, "population") || tmi_value_size(json) != 1 ? NULL : json;
}

static tamis_status read_first(tamis_design **first, const tmi_design_fields *f, tamis_error *err)
{
    const tmi_value *other = other_design(f, "first");
    tmi_design_fields above;
    tamis_error inner;
    int64_t clusters, sample;
    tamis_status status;
    if (other) {
        status = tmi_design_field_failed(tmi_design_from_value(first, other, false, &inner), "first", &inner, err);
    } else {
        TMI_TRY(tmi_design_object(&above, f, "first", sizes, 2, err));
        TMI_TRY(tmi_design_sizes_of(&clusters, &sample, &above, err));
        TMI_TRY(tamis_design_srs(first, clusters, sample, err));
    }
    if (status == TAMIS_OK && (*first)->population > LISTED)
        status = tmi_fail(err, TAMIS_INVALID, "first: at most 2^20 clusters are supported");

done:
    return status;
}

static tamis_status read_two_stage(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    tmi_design_fields inside = {0};
    tamis_design *first = NULL, **second = NULL;
    const tmi_value *other = other_design(f, "second");
    int64_t clusters = 0;
    tamis_error inner;
    tamis_status status = TAMIS_OK;
    TMI_TRY(read_first(&first, f, err));
    if (!other) TMI_TRY(tmi_design_object(&inside, f, "second", sizes, 2, err));
    clusters = first->population;
    if (!(second = tmi_alloc((size_t)clusters, sizeof *second))) TMI_TRY(tmi_fail_memory(err));
    for (int64_t c = 0; other && c < clusters; c++)
        TMI_TRY(tmi_design_field_failed(tmi_design_from_value(&second[c], other, false, &inner), "second", &inner, err));
    const bool common = !other && tmi_value_kind_of(tmi_value_get(inside.own, "sample")) != TMI_VALUE_LIST;
    for (int64_t c = 0; !other && c < clusters; c++) {
        int64_t units, taken;
        TMI_TRY(get_each(&units, &inside, "population", c, clusters, err));
        TMI_TRY(get_each(&taken, &inside, "sample", c, clusters, err));
        if (common && taken > units) taken = units; /* one number for all: at most the cluster */
        TMI_TRY(tamis_design_srs(&second[c], units, taken, err));
    }
    return join_stages(design, first, second, (size_t)clusters, err);
done:
    tamis_design_free(first);
    free_designs(second, second ? (size_t)clusters : 0);
    return status;
}

const tmi_design_form tmi_two_stage_form = {
    .name = "two_stage",
    .keys = {"first", "second"},
    .read = read_two_stage,
};
