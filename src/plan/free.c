/* Freeing a plan: everything that the sections allocated. */
#include "base/memory.h"
#include "plan/design_fields.h"
#include "plan/private_bounds.h"

static void free_numbers(tamis_number **numbers, size_t count)
{
    for (size_t i = 0; numbers && i < count; i++) tamis_number_free(numbers[i]);
    tmi_free(numbers);
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) tmi_free(texts[i]);
    tmi_free(texts);
}

static void clear_column(const tmi_plan_column *column, size_t strata)
{
    tmi_free(column->name);
    tmi_free(column->label);
    tmi_free(column->measured_in);
    tamis_number_free(column->from);
    tamis_number_free(column->to);
    tamis_number_free(column->step);
    tamis_number_free(column->typical);
    tamis_number_free(column->typical_sd);
    tamis_number_free(column->typical_share);
    free_numbers(column->shares, column->value_count);
    for (size_t h = 0; column->by_stratum && h < strata; h++) {
        tamis_number_free(column->by_stratum[h].from);
        tamis_number_free(column->by_stratum[h].to);
        tamis_number_free(column->by_stratum[h].step);
    }
    tmi_free(column->by_stratum);
    tmi_free(column->missing_codes);
    tamis_number_free(column->contribution);
    tamis_number_free(column->unit_contribution);
    tamis_number_free(column->times);
    tmi_free(column->of);
    tamis_number_free(column->private_share);
    free_texts(column->missing_texts, column->missing_text_count);
    free_texts(column->values, column->value_count);
    tmi_free(column->recode);
    tmi_free(column->joint);
    tmi_free(column->cuts);
    free_numbers(column->ends, column->value_count + 1);
    for (size_t i = 0; i < column->condition_count; i++) tmi_free(column->conditions[i].codes);
    tmi_free(column->conditions);
}

static void clear_design(const tmi_plan_design *design)
{
    for (size_t h = 0; h < design->stratum_count; h++) {
        tmi_free(design->strata[h].name);
        tamis_number_free(design->strata[h].rate);
    }
    tmi_free(design->strata);
    tmi_free(design->probability);
    tmi_free(design->cluster);
    tmi_free(design->second_population);
    tmi_free(design->second_sample);
    tamis_number_free(design->second_rate);
    tmi_free(design->strata_label);
    tmi_free(design->weight);
    tmi_free(design->frame);
    tmi_free(design->psus);
    tamis_number_free(design->deff);
    for (size_t k = 0; k < TMI_FAMILIES; k++) tamis_number_free(design->deff_of[k]);
    tamis_number_free(design->max_weight);
    tamis_number_free(design->max_unit_weight);
    tmi_replicates_clear(&design->replicates);
    tamis_number_free(design->weight_step);
    tamis_number_free(design->regularise);
    const tmi_plan_typical *t = &design->typical;
    tamis_number *const guesses[] = {t->population, t->sample,  t->cluster,  t->cluster_sd, t->taken,
                                     t->rows,       t->rows_sd, t->response, t->icc};
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) tamis_number_free(guesses[i]);
}

static void clear_loss(const tmi_plan_loss *loss, size_t strata)
{
    tamis_number_free(loss->outsider);
    tamis_number_free(loss->insider);
    free_numbers(loss->by_stratum, strata);
    tamis_number_free(loss->epsilon);
    tamis_number_free(loss->delta);
    tamis_number_free(loss->rho);
}

static void clear_source(const tmi_plan_source *source)
{
    free_texts(source->files, source->file_count);
    free_texts(source->names, source->file_count);
    tmi_free(source->table);
    tmi_free(source->caller);
    free_texts(source->connections, source->connection_count);
    free_texts(source->command, source->command_count);
    tmi_free(source->dialect);
    tmi_free(source->rows_version);
    tmi_free(source->errors_to);
}

static void clear_statistic(const tmi_plan_statistic *statistic)
{
    tamis_number_free(statistic->share);
    tamis_number_free(statistic->deff);
    tmi_free(statistic->label);
    tamis_number_free(statistic->confidence);
    free_numbers(statistic->at, statistic->at_count);
    tamis_number_free(statistic->limit);
    tmi_free(statistic->own_cuts);
    tmi_plan_contrast *contrast = statistic->contrast;
    for (size_t i = 0; contrast && i < contrast->term_count; i++) tamis_number_free(contrast->terms[i].weight);
    if (contrast) tmi_free(contrast->terms);
    if (contrast) tmi_free(contrast->since);
    tmi_free(contrast);
    tmi_plan_model *model = statistic->model;
    if (!model) return;
    tmi_free(model->interactions);
    tmi_free(model->terms);
    tamis_number_free(model->vif);
    tamis_number_free(model->r2);
    tmi_free(model);
}

const tamis_plan *tmi_plan_hold(const tamis_plan *plan)
{
    atomic_fetch_add(&((tamis_plan *)(uintptr_t)plan)->holders, 1);
    return plan;
}

void tmi_plan_drop(const tamis_plan *plan) { tamis_plan_free((tamis_plan *)(uintptr_t)plan); }

void tamis_plan_free(tamis_plan *plan)
{
    if (!plan || atomic_fetch_sub(&plan->holders, 1) > 1) return;
    if (plan->lender) {
        tmi_bounded_plan_free(plan);
        return;
    }
    tmi_free(plan->name);
    tmi_free(plan->survey);
    tmi_free(plan->title);
    tmi_plan_wave_clear(&plan->wave);
    clear_source(&plan->source);
    for (size_t i = 0; i < plan->column_count; i++) clear_column(&plan->columns[i], plan->design.stratum_count);
    tmi_free(plan->columns);
    tmi_free(plan->privacy.unit);
    tmi_free(plan->privacy.id);
    clear_loss(&plan->privacy.loss, plan->design.stratum_count);
    for (size_t i = 0; i < plan->statistic_count; i++) clear_statistic(&plan->statistics[i]);
    tmi_free(plan->statistics);
    for (size_t i = 0; i < plan->curve_count; i++) tmi_free(plan->curves[i].cuts);
    tmi_free(plan->curves);
    tmi_free(plan->ledger);
    clear_loss(&plan->budget, plan->design.stratum_count);
    clear_design(&plan->design);
    for (size_t i = 0; i < plan->control_count; i++) free_numbers(plan->controls[i].totals, plan->controls[i].total_count);
    tmi_free(plan->controls);
    for (size_t i = 0; i < TMI_RULES; i++) tamis_number_free(plan->postprocess.rules[i].cv_above);
    tmi_free(plan);
}
