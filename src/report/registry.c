/* registry.yaml: the record for the public registry of deployments of differential privacy, filled in as far as a release
 * knows itself. What only the agency knows is asked for in words that begin with "To be filled in". Strings are written as
 * JSON writes them, which is YAML too.                                                                               */
#include <ctype.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "num/number.h"
#include "report/bound_words.h"
#include "report/promise.h"
#include "report/quantile_words.h"
#include "report/report.h"

static void put_key(tmi_text *yaml, int depth, const char *key) { tmi_text_format(yaml, "%*s%s:", 2 * depth, "", key); }

static void put_string(tmi_text *yaml, int depth, const char *key, const char *text)
{
    tmi_json_out out;
    put_key(yaml, depth, key);
    tmi_text_put(yaml, " ");
    tmi_json_out_init(&out, yaml, false);
    tmi_json_put_string(&out, text);
    tmi_text_put(yaml, "\n");
}

static void put_words(tmi_text *yaml, int depth, const char *key, tmi_text *words)
{
    if (words->failed) yaml->failed = true;
    else put_string(yaml, depth, key, words->bytes);
    tmi_text_clear(words);
}

static void put_group(tmi_text *yaml, int depth, const char *key)
{
    put_key(yaml, depth, key);
    tmi_text_put(yaml, "\n");
}

static void put_number(tmi_text *yaml, int depth, const char *key, const tamis_number *number)
{
    put_key(yaml, depth, key);
    tmi_text_put(yaml, " ");
    tmi_text_number_up(yaml, number);
    tmi_text_put(yaml, "\n");
}

/* Lower-case letters, digits and hyphens. */
static void put_slug(tmi_text *yaml, const char *name)
{
    for (const char *c = name; *c; c++) {
        char letter = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
        tmi_text_add(yaml, &letter, 1);
    }
}

/* Each wave is a deployment of its own. */
static void put_address(tmi_text *yaml, const tamis_plan *plan)
{
    tmi_text_put(yaml, "url_slug: \"");
    put_slug(yaml, plan->survey);
    if (plan->wave.name) tmi_text_put(yaml, "-");
    if (plan->wave.name) put_slug(yaml, plan->wave.name);
    tmi_text_put(yaml, "\"\n");
}

static void put_basic(tmi_text *yaml, const tmi_results *r)
{
    const tamis_plan *plan = r->plan;
    tmi_text words;
    tmi_text_init(&words);
    put_group(yaml, 1, "basic");
    tmi_text_put(&words, plan->survey);
    if (plan->wave.name) tmi_text_format(&words, ", wave %s", plan->wave.name);
    put_words(yaml, 2, "name", &words);
    put_group(yaml, 2, "data_curators");
    put_string(yaml, 3, "- data_curator_name", "To be filled in: who publishes it");
    put_string(yaml, 4, "data_curator_type", "Government");
    put_string(yaml, 2, "intended_use", "To be filled in: what the numbers are for");
    put_string(yaml, 2, "data_product_type", "Summary statistics");
    put_string(yaml, 2, "data_product_region", "To be filled in: which region the survey is about");
    put_string(yaml, 2, "data_product_sector", "Government");
    tmi_text_put(&words, "Estimates from a sample survey, with confidence intervals. Design: ");
    tmi_describe_design(&words, &plan->design);
    tmi_text_put(&words, ". Statistics: ");
    for (size_t i = 0; i < plan->asked_count; i++) {
        tmi_text_put(&words, i ? "; " : "");
        tmi_statistic_title(&words, plan, i);
    }
    tmi_text_put(&words, ".");
    put_words(yaml, 2, "description", &words);
    tmi_text_format(&words, "%.10s", r->account->charged.time[0] ? r->account->charged.time : "1970-01-01");
    put_words(yaml, 2, "publication_date", &words);
}

static void put_loss(tmi_text *yaml, const tmi_schedule *s, const tmi_outsider *outsider)
{
    const tamis_plan *plan = s->plan;
    const tamis_setting *setting = plan->privacy.setting;
    tmi_text words;
    tmi_text_init(&words);
    put_group(yaml, 1, "dp_variant");
    put_string(yaml, 2, "variant_name",
               !s->gaussian             ? "Pure DP"
               : plan->privacy.loss.rho ? "Zero-concentrated DP"
                                        : "Approximate DP");
    tmi_text_format(&words, "%s; %s", setting->domain, setting->universes);
    put_words(yaml, 2, "data_domain", &words);
    tmi_text_put(&words, "The design is public and the same for all neighbours: ");
    tmi_describe_design(&words, &plan->design);
    put_words(yaml, 2, "unprotected_quantities", &words);
    put_group(yaml, 1, "privacy_loss");
    put_string(yaml, 2, "privacy_unit", plan->privacy.unit);
    put_string(yaml, 2, "privacy_unit_details", setting->neighbours);
    put_group(yaml, 2, "privacy_parameters");
    if (plan->privacy.loss.rho) {
        put_number(yaml, 3, "rho", s->spent);
    } else {
        put_number(yaml, 3, "epsilon", s->epsilon);
        put_number(yaml, 3, "delta", s->delta);
    }
    tmi_promise_words(&words, s);
    tmi_text_put(&words, " ");
    tmi_outsider_words(&words, plan, outsider);
    put_words(yaml, 2, "privacy_parameters_details", &words);
}

static void put_model(tmi_text *yaml)
{
    put_group(yaml, 1, "deployment_model");
    put_string(yaml, 2, "model_name", "Central");
    put_string(yaml, 2, "actors",
               "The operator who runs tamis sees the data and is trusted. Readers of the output folder are not trusted: they may "
               "know the plan, everything that was ever released, and all other records.");
    put_string(yaml, 2, "release_type", "One release");
    put_string(yaml, 2, "data_source_type", "Static");
    put_string(yaml, 2, "access_type", "Non-interactive");
}

static void put_practice(tmi_text *yaml, const tmi_schedule *s, const char *version)
{
    tmi_text words;
    tmi_text_init(&words);
    put_group(yaml, 1, "accounting");
    tmi_text_format(&words,
                    "Estimates, standard errors and intervals are computed from the noisy tables%s alone, and so are the "
                    "adjustments that the plan requests under postprocess and calibrate.",
                    s->quantile_task_count > 0 ? " and the chosen quantiles" : "");
    put_words(yaml, 2, "post_processing", &words);
    tmi_text_format(&words,
                    "The %s of all tables%s of a release add up, and so do the releases of one sample, in one account of a "
                    "hash-chained ledger; amplification by sampling is applied once, to the whole account.",
                    s->gaussian ? "rhos" : "epsilons", s->quantile_task_count > 0 ? " and chosen quantiles" : "");
    put_words(yaml, 2, "composition", &words);
    put_group(yaml, 1, "implementation");
    put_string(yaml, 2, "preprocessing_and_hyperparameter_tuning",
               s->bound_task_count > 0 ? "Values are clamped to bounds that are public, or were chosen with a part of the "
                                         "budget, and rounded to grids, record by record. "
                                         "The other bounds, grids, groups and the budget are in the plan; the split of the "
                                         "budget follows from the plan alone. Nothing "
                                         "checks that the plan was written without looking at the data."
                                       : "Values are clamped to public bounds and rounded to public grids, record by record. "
                                         "Bounds, grids, groups and the budget are in the plan; the split of the budget follows "
                                         "from the plan alone. Nothing "
                                         "checks that the plan was written without looking at the data.");
    tmi_text_format(&words,
                    "tamis %s. Exact %s noise on exact integer sums, drawn with random bits from the operating system "
                    "before the first value is read: no floating point between a record and the release, and no timing that "
                    "depends on the data before the query.",
                    version, tmi_noise_words(s->gaussian));
    tmi_bounds_words(&words, s);
    tmi_quantile_tasks_words(&words, s);
    tmi_text_put(&words, " The guarantee can be recomputed from certificate.json (tamis verify).");
    put_words(yaml, 2, "mechanisms", &words);
    put_string(yaml, 2, "justification", "To be filled in: why this unit, this setting and this budget");
    put_group(yaml, 1, "administrative");
    put_group(yaml, 2, "sources");
    tmi_text_put(yaml, "      - \"certificate.json\"\n");
    put_string(yaml, 2, "notes",
               "Written by tamis with the release; the curator fills in the fields that begin with \"To be filled in\".");
    put_group(yaml, 2, "registry_authors");
    tmi_text_put(yaml, "      - \"To be filled in: who submits this record\"\n");
    put_string(yaml, 2, "status", "Pending");
    tmi_text_put(yaml, "    tier: 3\n");
}

tamis_status tmi_registry(char **text, const tmi_results *results, const char *version, tamis_error *err)
{
    tmi_text yaml;
    tmi_text_init(&yaml);
    put_address(&yaml, results->plan);
    tmi_text_put(&yaml, "deployment:\n");
    put_basic(&yaml, results);
    put_loss(&yaml, results->schedule, &results->promised->outsider);
    put_model(&yaml);
    put_practice(&yaml, results->schedule, version);
    return tmi_text_take(text, &yaml, err);
}
