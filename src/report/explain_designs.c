/* The designs of the plan format in words, and the amplified epsilon of each, computed by the amplification itself. */
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "num/bound.h"
#include "num/number.h"
#include "report/explain.h"
#include "survey/design/method.h"

/* ---- examples: about a tenth of a small frame ---- */

static tamis_status make_srs(tamis_design **d, tamis_error *err) { return tamis_design_srs(d, 1000, 100, err); }

static tamis_status make_replacement(tamis_design **d, tamis_error *err)
{
    return tamis_design_srs_with_replacement(d, 1000, 100, err);
}

static tamis_status make_systematic(tamis_design **d, tamis_error *err) { return tamis_design_systematic(d, 1000, 100, 0, err); }

static tamis_status make_census(tamis_design **d, tamis_error *err) { return tamis_design_census(d, 1000, err); }

static tamis_status make_bernoulli(tamis_design **d, tamis_error *err)
{
    tamis_number *rate = NULL;
    tamis_status status = tmi_number_ratio(&rate, 1, 10, err);
    if (status == TAMIS_OK) status = tamis_design_bernoulli(d, 1000, rate, err);
    tamis_number_free(rate);
    return status;
}

#define LISTED 4

/* Four units of probabilities 1/20, 2/20, 3/20, and what makes `whole` of them. */
static tamis_status unequal(tamis_number *p[LISTED], bool whole, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int64_t i = 0; i < LISTED && status == TAMIS_OK; i++)
        status = tmi_number_ratio(&p[i], whole && i == 3 ? 14 : i + 1, 20, err);
    return status;
}

static void free_list(tamis_number *p[LISTED])
{
    for (size_t i = 0; i < LISTED; i++) tamis_number_free(p[i]);
}

static tamis_status make_poisson(tamis_design **d, tamis_error *err)
{
    tamis_number *p[LISTED] = {0};
    tamis_status status = unequal(p, false, err);
    if (status == TAMIS_OK) status = tamis_design_poisson(d, (const tamis_number *const *)p, LISTED, err);
    free_list(p);
    return status;
}

static tamis_status make_pps(tamis_design **d, tamis_method method, tamis_error *err)
{
    tamis_number *p[LISTED] = {0};
    tamis_status status = unequal(p, true, err);
    if (status == TAMIS_OK) status = tamis_design_pps(d, method, (const tamis_number *const *)p, LISTED, err);
    free_list(p);
    return status;
}

static tamis_status make_strata(tamis_design **d, tamis_error *err)
{
    tamis_design *strata[2] = {0};
    tamis_status status;
    TMI_TRY(tamis_design_srs(&strata[0], 900, 80, err));
    TMI_TRY(tamis_design_srs(&strata[1], 100, 20, err));
    TMI_TRY(tamis_design_take_strata(d, strata, 2, err));
    strata[0] = strata[1] = NULL;

done:
    tamis_design_free(strata[0]);
    tamis_design_free(strata[1]);
    return status;
}

#define CLUSTERS 10

/* One of ten clusters of four; of each drawn one `within` units. */
static tamis_status make_stages(tamis_design **d, int64_t within, tamis_error *err)
{
    tamis_design *first = NULL, *second[CLUSTERS] = {0};
    tamis_status status;
    TMI_TRY(tamis_design_srs(&first, CLUSTERS, 1, err));
    for (size_t c = 0; c < CLUSTERS; c++)
        TMI_TRY(within == 4 ? tamis_design_census(&second[c], 4, err) : tamis_design_srs(&second[c], 4, within, err));
    TMI_TRY(tamis_design_take_stages(d, first, second, CLUSTERS, err));
    return TAMIS_OK;

done:
    tamis_design_free(first);
    for (size_t c = 0; c < CLUSTERS; c++) tamis_design_free(second[c]);
    return status;
}

static tamis_status make_cluster(tamis_design **d, tamis_error *err) { return make_stages(d, 4, err); }

static tamis_status make_two_stage(tamis_design **d, tamis_error *err) { return make_stages(d, 2, err); }

/* ---- words ---- */

const tmi_design_words tmi_designs[] = {
    {"srs", "simple random sampling without replacement: each set of n of the N units is equally likely",
     "srs: {population: 6194, sample: 200}", "N/n, the same for everybody",
     "log(1 + n/N (e^eps - 1)) instead of eps: about n/N times a small epsilon", "100 of 1000", make_srs, TAMIS_REPLACE},
    {"srs_with_replacement", "n independent draws of one unit each; a unit drawn several times counts several times",
     "srs_with_replacement: {population: 6194, sample: 200}", "N/n per draw",
     "larger than without replacement: a unit drawn k times loses k times as much", "100 draws from 1000", make_replacement,
     TAMIS_REPLACE},
    {"bernoulli", "each unit is drawn independently, with the same probability; the sample size is random",
     "bernoulli: {rate: 0.1}", "1/rate, the same for everybody",
     "log(1 + rate (e^eps - 1)) instead of eps, if records are added or removed", "rate 1/10", make_bernoulli, TAMIS_ADD_REMOVE},
    {"poisson", "each unit is drawn independently, with its own probability; the sample size is random",
     "poisson: {probability: COLUMN}, max_weight: 50", "1/probability: the smallest probability needs the most noise",
     "log(1 + pi (e^eps - 1)) instead of eps for each unit; the largest pi counts", "from 1/20 to 4/20", make_poisson,
     TAMIS_ADD_REMOVE},
    {"pps",
     "unequal probabilities and a fixed sample size: conditional_poisson, sampford, pivotal, pivotal_random, systematic, "
     "systematic_random, brewer, tille",
     "pps: {method: sampford, probability: COLUMN, sample: 200}, max_weight: 50", "1/probability",
     "log(1 + pi (e^eps - 1)) instead of eps for each unit, for methods where samples with and without a unit are proved to "
     "differ by one exchange; otherwise eps itself, since nothing better is proved",
     NULL, NULL, TAMIS_REPLACE},
    {"systematic", "every k-th unit of a list after a random start", "systematic: {population: 6194, sample: 200, order: public}",
     "N/n, the same for everybody",
     "with a public order almost eps itself: the list is divided into k clusters, one of which is the sample; with a random "
     "order as for srs",
     "every 10th of a list", make_systematic, TAMIS_REPLACE},
    {"stratified", "an independent sample in each stratum; strata and their sizes are public",
     "stratified: {by: stype, within: srs, strata: {E: {population: 4421, sample: 100}, ...}}; by: [region, area] with strata: "
     "{north: {urban: {population: 4000, sample: 100}, ...}, ...}",
     "N_h/n_h in stratum h",
     "computed in each stratum with its own rate, and the largest counts; a take-all stratum is not amplified",
     "80 of 900, 20 of 100", make_strata, TAMIS_REPLACE},
    {"cluster", "single-stage cluster sampling: clusters are drawn with all their units, for instance households",
     "cluster: {by: household, population: 3000, sample: 300, smallest: 1, largest: 9}", "clusters / drawn clusters",
     "not much below eps unless clusters are small, since all units of a cluster are drawn together", "1 of 10 clusters of 4",
     make_cluster, TAMIS_REPLACE},
    {"two_stage", "clusters are drawn, then units within each drawn cluster",
     "two_stage: {first: {by: psu, population: 90, sample: 9}, second: {population: M, sample: 20, smallest: 150}}; clusters by "
     "unequal probabilities: first: {by: psu, pps: {method: sampford, probability: COLUMN, sample: 9}}",
     "one over the product of the two rates",
     "with f the largest share of a cluster that is drawn, at most log(1 + f (e^eps - 1)); less if clusters are a simple random "
     "sample and few units are drawn per cluster; a plan with other clusters needs `smallest`, or second: {method: bernoulli, "
     "rate: 1/5}, "
     "which draws each unit of a cluster by itself",
     "1 of 10, then 2 of 4", make_two_stage, TAMIS_REPLACE},
    {"weights", "weights-only design: only the weights of a finished survey are known, not how the sample was drawn",
     "weights: {strata: COLUMN, cluster: COLUMN}, weight: w, max_weight: 500", "as given, clamped to max_weight",
     "eps itself: the inclusion probabilities are not known", NULL, NULL, TAMIS_REPLACE},
    {"census", "everybody", "census: {population: 6194}", "1", "eps itself: everybody is in the sample", "1000 of 1000",
     make_census, TAMIS_REPLACE},
    {0},
};

const tmi_design_words *tmi_design_named(const char *name)
{
    for (const tmi_design_words *d = tmi_designs; d->name; d++)
        if (strcmp(d->name, name) == 0) return d;
    for (size_t i = 0; i < TMI_PPS_METHODS; i++) /* "systematic" is the design of that name, found above */
        if (strcmp(tamis_method_name(tmi_method_pps(i)), name) == 0) return tmi_design_named("pps");
    return NULL;
}

/* ---- the amplified epsilon, as the library computes it ---- */

typedef struct verdict {
    bool proved;
    const char *theorem;
    tamis_bound eps;
    char reason[400];
} verdict;

/* The example with epsilon 1 on the sample; takes the design. A refusal is an answer. */
static tamis_status ask(verdict *v, tamis_design *design, tamis_neighbours neighbours, tamis_error *err)
{
    tamis_number *one = NULL, *zero = NULL;
    tamis_amplified amplified = {0};
    tamis_error reason = {0};
    tamis_status status;
    *v = (verdict){0};
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    tamis_sample_promise promise = {.eps = one, .delta = zero, .neighbours = neighbours, .mechanism = neighbours};
    status = tamis_amplify_design(&amplified, design, &promise, &reason);
    if (status == TAMIS_REFUSED) {
        snprintf(v->reason, sizeof v->reason, "%.390s", reason.message);
        status = TAMIS_OK;
    } else if (status == TAMIS_OK) {
        v->proved = true;
        v->theorem = amplified.theorem;
        v->eps = amplified.eps; /* one drawn without a look at the answers loses no more than 1; the enclosure is wider */
        if (v->eps.lower <= 1 && v->eps.upper > 1) v->eps.upper = 1;
    } else if (err) {
        *err = reason;
    }

done:
    tamis_amplified_clear(&amplified);
    tamis_design_free(design);
    tmi_number_frees(&one, &zero, NULL);
    return status;
}

static tamis_status verdict_of(verdict *v, const tmi_design_words *d, tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_status status = d->example(&design, err);
    return status == TAMIS_OK ? ask(v, design, d->neighbours, err) : status;
}

static tamis_status verdict_of_method(verdict *v, tamis_method method, tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_status status = make_pps(&design, method, err);
    return status == TAMIS_OK ? ask(v, design, TAMIS_REPLACE, err) : status;
}

/* "0.158566 (theorem srs)" or "refused: ...". */
static tamis_status put_verdict(tmi_text *text, const verdict *v, tamis_error *err)
{
    if (!v->proved) {
        tmi_text_format(text, "refused: %s", v->reason);
        return TAMIS_OK;
    }
    tamis_number *eps = NULL;
    char written[TMI_DECIMAL];
    tamis_status status = tmi_number_double(&eps, v->eps.upper, err);
    if (status == TAMIS_OK) status = tmi_number_decimal_up(written, eps, err);
    if (status == TAMIS_OK) tmi_text_format(text, "%s for an outsider (theorem: %s)", written, v->theorem);
    tamis_number_free(eps);
    return status;
}

static void put_json(tmi_json_out *out, const char *example, const verdict *v)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "design", example);
    tmi_json_add_string(out, "eps", "1");
    tmi_json_key(out, "eps_pop");
    if (v->proved) tmi_json_put_bound(out, v->eps);
    else tmi_json_put_null(out);
    tmi_json_add_string(out, "theorem", v->theorem);
    tmi_json_add_string(out, "refused", v->proved ? NULL : v->reason);
    tmi_json_close(out, '}');
}

/* One line "epsilon 1 on the sample: ...", or an element of the JSON list. */
static tamis_status show(tmi_page *page, const char *example, const verdict *v, tamis_error *err)
{
    if (page->json) {
        put_json(page->json, example, v);
        return TAMIS_OK;
    }
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(&line, "%s, epsilon 1 on the sample: ", example);
    tamis_status status = put_verdict(&line, v, err);
    if (line.failed) page->text->failed = true;
    else if (status == TAMIS_OK) tmi_page_part(page, "Example", "", line.bytes);
    tmi_text_clear(&line);
    return status;
}

static tamis_status show_examples(tmi_page *page, const tmi_design_words *d, const char *method, tamis_error *err)
{
    verdict v;
    tamis_status status = TAMIS_OK;
    if (d->example) {
        TMI_TRY(verdict_of(&v, d, err));
        TMI_TRY(show(page, d->example_words, &v, err));
    }
    for (size_t i = 0; strcmp(d->name, "pps") == 0 && i < TMI_PPS_METHODS; i++) {
        const char *name = tamis_method_name(tmi_method_pps(i));
        if (method && strcmp(method, name) != 0) continue;
        TMI_TRY(verdict_of_method(&v, tmi_method_pps(i), err));
        TMI_TRY(show(page, name, &v, err));
    }

done:
    return status;
}

tamis_status tmi_explain_design(tmi_page *page, const tmi_design_words *d, const char *method, tamis_error *err)
{
    static const char shown[] = "sampford"; /* the method in the row of pps */
    const char *at = method ? strstr(d->plan, shown) : NULL;
    char remark[100], plan[400];
    snprintf(plan, sizeof plan, "%.*s%s%s", at ? (int)(at - d->plan) : (int)strlen(d->plan), d->plan, at ? method : "",
             at ? at + strlen(shown) : "");
    snprintf(remark, sizeof remark, "a method of %s, unequal probabilities and a fixed size", d->name);
    tmi_page_title(page, method ? method : d->name, method ? remark : d->what);
    if (page->json) tmi_page_part(page, "", "what", d->what);
    tmi_page_part(page, "In a plan", "plan", plan);
    tmi_page_part(page, "Weights", "weights", d->weights);
    tmi_page_part(page, "Amplified epsilon", "amplification", d->adds);
    if (page->json) tmi_json_add_open(page->json, "examples", '[');
    tamis_status status = show_examples(page, d, method, err);
    if (page->json) tmi_json_close(page->json, ']');
    tmi_page_note(page, "\nAn outsider does not know who was sampled; for anyone who does, epsilon is 1. The amplified epsilon "
                        "holds once for everything released from one sample, and needs `protect: frame` or `population` and "
                        "`secret_sample: yes`.");
    return status;
}

/* ---- all of them ---- */

#define COLUMNS 4

static tamis_status add_row(tmi_text_table *table, const char *name, const char *example, const verdict *v, tamis_error *err)
{
    tamis_number *eps = NULL;
    char written[TMI_DECIMAL] = "refused";
    tamis_status status = TAMIS_OK;
    if (v->proved) {
        TMI_TRY(tmi_number_double(&eps, v->eps.upper, err));
        TMI_TRY(tmi_number_decimal_up(written, eps, err));
    }
    const char *const row[COLUMNS] = {name, example, written, v->proved ? v->theorem : "not proved"};
    tmi_table_row(table, row);

done:
    tamis_number_free(eps);
    return status;
}

static tamis_status write_table(tmi_text *text, tamis_error *err)
{
    static const char *const heading[COLUMNS] = {"design", "example", "1 becomes", "theorem"};
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_LEFT, TMI_RIGHT, TMI_LEFT};
    tmi_text_table table;
    verdict v;
    tamis_status status = TAMIS_OK;
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    for (const tmi_design_words *d = tmi_designs; d->name; d++) {
        if (d->example) {
            TMI_TRY(verdict_of(&v, d, err));
            TMI_TRY(add_row(&table, d->name, d->example_words, &v, err));
        }
        for (size_t i = 0; strcmp(d->name, "pps") == 0 && i < TMI_PPS_METHODS; i++) {
            TMI_TRY(verdict_of_method(&v, tmi_method_pps(i), err));
            TMI_TRY(add_row(&table, i ? "" : "pps", tamis_method_name(tmi_method_pps(i)), &v, err));
        }
        if (strcmp(d->name, "weights") == 0) TMI_TRY(add_row(&table, d->name, "design not known", &(verdict){0}, err));
    }
    tmi_table_write(text, &table);

done:
    tmi_table_clear(&table);
    return status;
}

tamis_status tmi_explain_designs(tmi_page *page, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (page->json) {
        tmi_json_add_open(page->json, "designs", '[');
        for (const tmi_design_words *d = tmi_designs; d->name && status == TAMIS_OK; d++) {
            tmi_json_open(page->json, '{');
            status = tmi_explain_design(page, d, NULL, err);
            tmi_json_close(page->json, '}');
        }
        tmi_json_close(page->json, ']');
        return status;
    }
    tmi_page_note(page, "Designs: how a sample is drawn, and what epsilon 1 on the sample becomes for an outsider");
    tmi_text_put(page->text, "\n");
    status = write_table(page->text, err);
    tmi_page_note(page, "\nAn outsider does not know who was sampled. Refused: no theorem is known, so epsilon stays as it is. "
                        "With clusters and lists in public order many units are drawn together, so the sampling rate alone says "
                        "nothing. For an attacker who knows who was sampled, epsilon is 1 whatever the design.");
    tmi_page_note(page, "\nMore about one design: tamis explain stratified");
    return status;
}
