/* What may stand beside a design: a column of weights and its bounds, nonresponse, the variance of estimates. */
#include <math.h>
#include <stddef.h>

#include "plan/design_fields.h"
#include "plan/names.h"

/* A weight says how many units one stands for: beyond all populations there is none. */
static void read_positive(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key)
{
    tamis_number **number = field;
    if (tmi_read_exact(reader, value, number, key->example) &&
        (tmi_number_sign(*number) <= 0 || tmi_number_compare_int(*number, TMI_MAX_POPULATION) > 0))
        tmi_complain(reader, value, "expected a number above 0 and at most %lld, e.g. %s", (long long)TMI_MAX_POPULATION,
                     key->example);
}

static void read_weights_are(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char *const words[] = {"design", "final"};
    size_t i;
    if (tmi_read_word(reader, value, &i, words, 2)) ((tamis_plan *)target)->design.weights_final = i == 1;
}

static void read_variance(tmi_reader *reader, const tmi_value *value, void *target)
{
    const char *words[TMI_VARIANCE_WITH_REPLACEMENT];
    size_t i, count = 0;
    for (int m = TMI_VARIANCE_EXACT; m <= TMI_VARIANCE_WITH_REPLACEMENT; m++)
        words[count++] = tmi_variance_name((tmi_variance_method)m);
    if (tmi_read_word(reader, value, &i, words, count))
        ((tamis_plan *)target)->design.variance = (tmi_variance_method)(TMI_VARIANCE_EXACT + i);
}

static void read_regularise(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_number **share = &((tamis_plan *)target)->design.regularise;
    if (tmi_read_exact(reader, value, share, "0.3") && (tmi_number_sign(*share) <= 0 || tmi_number_compare_int(*share, 1) >= 0))
        tmi_complain(reader, value,
                     "expected a share above 0 and below 1, by which weights are shrunk towards their mean, e.g. 0.3");
}

#define FIELD(member) .field = offsetof(tamis_plan, design.member)

const tmi_plan_key tmi_beside_design[TMI_BESIDE_DESIGN] = {
    {.name = "weight", .plain = tmi_plain_text, FIELD(weight), .example = "weight"},
    {.name = "max_weight", .plain = read_positive, FIELD(max_weight), .example = "5000"},
    {.name = "weight_step", .plain = read_positive, FIELD(weight_step), .example = "0.001"},
    {.name = "weights_are", .read = read_weights_are},
    {.name = "nonresponse", .plain = tmi_plain_yes_no, FIELD(nonresponse)},
    {.name = "variance", .read = read_variance},
    {.name = "regularise", .read = read_regularise},
    {.name = "typical", .read = tmi_read_typical},
    {.name = "max_unit_weight", .plain = read_positive, FIELD(max_unit_weight), .example = "9000"},
    {.name = "replicates", .read = tmi_read_replicates},
};

/* The power of two nearest to max_weight * 2^-30. */
static tamis_status usual_step(tamis_number **step, const tamis_number *max_weight)
{
    double exponent = round(log2(tmi_number_nearest(max_weight))) - 30;
    return tmi_number_double(step, ldexp(1, exponent < -1000 ? -1000 : (int)exponent), NULL);
}

/* Weights are put on a grid as values are. */
static void check_grid(tmi_reader *reader, const tmi_value *value, const tmi_plan_design *design)
{
    tmi_grid grid;
    tamis_number *zero = NULL;
    tamis_error why = {0};
    if (tmi_number_ratio(&zero, 0, 1, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return;
    }
    if (tmi_number_compare(design->weight_step, design->max_weight) > 0)
        tmi_complain(reader, value, "expected a step no larger than max_weight, e.g. 0.001");
    else if (tmi_grid_set(&grid, zero, design->max_weight, design->weight_step, &why) != TAMIS_OK)
        tmi_complain(reader, value, "expected a larger step: max_weight must be less than 2^52 steps, e.g. 0.001");
    tamis_number_free(zero);
}

/* Weights that are public before a row is read: those of strata, or of a frame with a fixed sample size. */
static bool has_public_weights(const tmi_plan_design *d)
{
    const tmi_plan_kind *k = d->kind;
    return !d->weight && ((d->by && k->equal) || (k->unequal && k->fixed_size && d->frame));
}

static void check_unit_weight(tmi_reader *reader, const tmi_value *key, const tmi_plan_design *d)
{
    if (!key || !d->max_unit_weight) return;
    if (!d->weight && d->kind->with_replacement)
        tmi_complain_key(reader, key, "not with replacement: the rows of a unit are its draws, which count one by one");
    else if (d->max_weight && tmi_number_compare(d->max_unit_weight, d->max_weight) < 0)
        tmi_complain(reader, key, "expected at least max_weight, the bound of a single row");
}

/* What weights follow from that are read. */
static const char *implied_by(const tmi_plan_design *d)
{
    if (!d->kind->staged) return "1/probability, e.g. max_weight: 5000, or the design's key frame";
    if (d->second_rate) return "that probabilities of clusters and the rate imply, e.g. max_weight: 5000";
    return tmi_draws_clusters_unequally(d) ? "that probabilities and sizes of clusters imply, e.g. max_weight: 5000"
                                           : "that the sizes of clusters imply, e.g. max_weight: 5000";
}

void tmi_check_weights(tmi_reader *reader, const tmi_value *value, tamis_plan *plan)
{
    static const char *const idle[] = {"max_weight", "weight_step"};
    tmi_plan_design *design = &plan->design;
    const size_t before = reader->count;
    const tmi_value *are = tmi_value_get(value, "weights_are"), *step = tmi_value_get(value, "weight_step");
    if (design->kind->only_weights && !design->weight)
        tmi_complain_key(reader, tmi_value_get(value, "weights"),
                         "expected the key weight with it, e.g. {weights: {}, weight: w, max_weight: 5000}");
    const char *column = design->weight ? design->weight : design->probability ? design->probability : design->second_population;
    for (size_t i = 0; i < 2 && !column; i++) {
        const tmi_value *key = tmi_value_get(value, idle[i]);
        if (key) tmi_complain_key(reader, key, "not needed: this design reads no weights, probabilities or sizes");
    }
    if (design->replicates.weights && tmi_value_get(value, "variance"))
        tmi_complain_key(reader, tmi_value_get(value, "variance"),
                         "not beside replicates: `tamis estimate` takes variances from the replicate weights, and a release from "
                         "the design");
    check_unit_weight(reader, tmi_value_get(value, "max_unit_weight"), design);
    if (design->regularise && !has_public_weights(design))
        tmi_complain_key(
            reader, tmi_value_get(value, "regularise"),
            "this design has no public weights to shrink: strata of srs or systematic samples have them, and pps with a frame");
    if (are && design->weights_final && !design->weight)
        tmi_complain_key(reader, are, "expected the key weight with it: the column of the final weights");
    if (design->weight && !design->max_weight)
        tmi_complain_key(reader, tmi_value_get(value, "weight"),
                         "expected the key max_weight with it, a public bound of the weights, e.g. max_weight: 5000");
    else if (column && !design->max_weight && !design->frame)
        tmi_complain_key(reader, value, "expected the key max_weight, a public bound of the weights %s", implied_by(design));
    if (reader->count > before || !design->max_weight) return;
    if (!step && usual_step(&design->weight_step, design->max_weight) != TAMIS_OK) reader->no_memory = true;
    else if (step && !reader->no_memory) check_grid(reader, step, design);
}
