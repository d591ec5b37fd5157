#include "plan/law.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/design_fields.h"
#include "plan/json_fields.h"

tamis_status tmi_plan_knows_law(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    return d->kind->knows_law ? d->kind->knows_law(d, frame, err) : TAMIS_OK;
}

static tamis_status check_weights(const tmi_plan_design *design, tamis_error *err)
{
    if (!design->weights_final) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "design.weights_are: final weights depend on all units, and no theorem covers that");
}

tamis_status tmi_plan_may_amplify(const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    const tmi_plan_privacy *p = &plan->privacy;
    tamis_status status = tamis_setting_outsider(p->setting, p->secret_sample, p->design_protected, err);
    if (status == TAMIS_OK) status = check_weights(&plan->design, err);
    return status == TAMIS_OK ? tmi_plan_knows_law(plan, frame, err) : status;
}

/* ---- as the calculator reads it ---- */

static void put_probabilities(tmi_json_out *out, const tmi_frame_stratum *f)
{
    tmi_json_add_open(out, "probabilities", '[');
    if (f->largest) tmi_put_exact_value(out, f->largest);
    if (f->certain > 0) tmi_json_put_string(out, "1");
    tmi_json_close(out, ']');
}

/* The form of the law of a plan's strata. Clusters of which all units may be drawn are whole ones, of as many units as are
 * drawn in the others. Units that are drawn by themselves inside clusters have the law of one unit. */
static const tmi_design_form *form_of(const tmi_plan_design *d)
{
    if (d->second_rate) return &tmi_bernoulli_form;
    if (tmi_hides_within_clusters(d)) return &tmi_srs_form;
    return d->second_smallest > d->second_take ? &tmi_two_stage_form : d->kind->law;
}

static void put_sizes(tmi_json_out *out, const char *key, int64_t population, int64_t sample)
{
    tmi_json_add_open(out, key, '{');
    tmi_json_add_integer(out, "population", population);
    tmi_json_add_integer(out, "sample", sample);
    tmi_json_close(out, '}');
}

/* The fields of the law's form, as the plan and its frame have them. All clusters are as large as the largest, or as what is
 * drawn in one; of stages as small as the smallest. */
static void put_stratum(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s, int64_t population,
                        const tmi_frame_stratum *f)
{
    const bool within = tmi_hides_within_clusters(d);
    for (const char *const *key = form_of(d)->keys; *key; key++) {
        const bool cluster_size = strcmp(*key, "smallest") == 0 || strcmp(*key, "largest") == 0;
        if (strcmp(*key, "population") == 0)
            tmi_json_add_integer(out, *key, d->second_rate ? 1 : within ? d->second_smallest : population);
        else if (strcmp(*key, "sample") == 0) tmi_json_add_integer(out, *key, within ? d->second_take : s->sample);
        else if (strcmp(*key, "rate") == 0) tmi_put_exact_field(out, *key, d->second_rate ? d->second_rate : s->rate);
        else if (strcmp(*key, "order") == 0) tmi_json_add_string(out, *key, d->random_order ? "random" : "public");
        else if (cluster_size) tmi_json_add_integer(out, *key, d->kind->staged ? d->second_take : d->largest);
        else if (strcmp(*key, "probabilities") == 0) put_probabilities(out, f);
        else if (strcmp(*key, "first") == 0) put_sizes(out, *key, population, s->sample);
        else if (strcmp(*key, "second") == 0) put_sizes(out, *key, d->second_smallest, d->second_take);
    }
}

/* Where the size of the population is not public, each unit is drawn by itself, and any number of them has the same law: 1. */
static int64_t law_population(const tmi_plan_stratum *s) { return s->population > 0 ? s->population : 1; }

static int by_name(const void *a, const void *b)
{
    const tmi_plan_stratum *x = *(const tmi_plan_stratum *const *)a, *y = *(const tmi_plan_stratum *const *)b;
    return strcmp(x->name, y->name);
}

static void put_law(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame, bool sort)
{
    const tmi_plan_design *d = &plan->design;
    const tmi_plan_stratum **list = tmi_alloc(d->stratum_count, sizeof *list);
    if (!list) out->text->failed = true;
    for (size_t h = 0; list && h < d->stratum_count; h++) list[h] = &d->strata[h];
    if (list && d->by && sort) qsort(list, d->stratum_count, sizeof *list, by_name);
    tmi_json_open(out, '{');
    if (d->by) {
        tmi_json_add_open(out, tmi_strata_form.name, '{');
        tmi_json_add_string(out, "within", form_of(d)->name);
        tmi_json_add_open(out, "strata", '[');
    }
    for (size_t h = 0; list && h < d->stratum_count; h++) {
        if (d->by) tmi_json_open(out, '{');
        else tmi_json_add_open(out, form_of(d)->name, '{');
        put_stratum(out, d, list[h], law_population(list[h]), frame ? &frame->strata[list[h] - d->strata] : NULL);
        tmi_json_close(out, '}');
    }
    if (d->by) tmi_json_close(out, ']');
    if (d->by) tmi_json_close(out, '}');
    tmi_json_close(out, '}');
    tmi_free(list);
}

void tmi_put_law(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame) { put_law(out, plan, frame, true); }

/* ---- as a design ---- */

static tamis_status read_law(tamis_design **design, tmi_json_tree *tree, tamis_error *err)
{
    tmi_value *law = NULL;
    tamis_status status = tmi_json_tree_end(&law, tree, err);
    *design = NULL;
    if (status == TAMIS_OK) status = tmi_design_from_value(design, law, true, err);
    tmi_value_free(law);
    return status;
}

tamis_status tmi_plan_law(tamis_design **design, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    tmi_json_tree tree;
    tmi_json_tree_begin(&tree, NULL);
    put_law(&tree.out, plan, frame, false);
    return read_law(design, &tree, err);
}

tamis_status tmi_plan_stratum_law(tamis_design **design, const tmi_plan_design *d, const tmi_plan_stratum *s, int64_t population,
                                  tamis_error *err)
{
    tmi_json_tree tree;
    tmi_json_tree_begin(&tree, NULL);
    tmi_json_open(&tree.out, '{');
    tmi_json_add_open(&tree.out, form_of(d)->name, '{');
    put_stratum(&tree.out, d, s, population, NULL);
    tmi_json_close(&tree.out, '}');
    tmi_json_close(&tree.out, '}');
    return read_law(design, &tree, err);
}

tamis_status tamis_plan_sampling(tamis_design **design, tamis_sampling_facts *facts, const tamis_number **eps,
                                 const tamis_number **delta, const tamis_plan *plan, tamis_error *err)
{
    if (design) *design = NULL;
    if (facts) *facts = (tamis_sampling_facts){.known = 1};
    if (eps) *eps = NULL;
    if (delta) *delta = NULL;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (!facts) return tmi_fail(err, TAMIS_INVALID, "facts: NULL");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    const tmi_plan_privacy *p = &plan->privacy;
    *facts = (tamis_sampling_facts){.known = !p->secret_sample || !p->setting->may_amplify, .looked_at = p->design_protected};
    *eps = p->loss.epsilon;
    *delta = p->loss.delta;
    tamis_status status = check_weights(&plan->design, err);
    if (status == TAMIS_OK) status = tmi_plan_knows_law(plan, NULL, err);
    return status == TAMIS_OK ? tmi_plan_law(design, plan, NULL, err) : status;
}
