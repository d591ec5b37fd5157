#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <tamis/experimental/outline.h>

#include "base/check.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "num/number.h"
#include "plan/outsiders.h"
#include "plan/sections.h"

static void read_version(tmi_reader *reader, const tmi_value *value, void *target)
{
    (void)target;
    if (value->kind != TMI_VALUE_TEXT || strcmp(value->text, "1") != 0) {
        tmi_complain(reader, value, "expected 1, the version of the plan format that this program reads");
    }
}

static const tmi_plan_key keys[] = {
    {.name = "tamis", .read = read_version, .required = "tamis: 1"},
    {.name = "survey",
     .plain = tmi_plain_text,
     .field = offsetof(tamis_plan, survey),
     .example = "california-schools-2000",
     .required = "survey: california-schools-2000"},
    {.name = "title", .plain = tmi_plain_label, .field = offsetof(tamis_plan, title), .example = "Schools of California, 2000"},
    {.name = "wave", .read = tmi_read_wave},
    {.name = "source", .read = tmi_read_source, .required = "source: {file: schools.csv}"},
    {.name = "design", .read = tmi_read_later, .required = "design: {srs: {population: 6194, sample: 200}}"},
    {.name = "privacy", .read = tmi_read_privacy, .required = "privacy: {unit: school, epsilon: 1}"},
    {.name = "columns", .read = tmi_read_later},
    {.name = "statistics", .read = tmi_read_later, .required = "statistics: [{count: units}]"},
    {.name = "ledger", .read = tmi_read_ledger},
    {.name = "budget", .read = tmi_read_budget},
    {.name = "calibrate", .read = tmi_read_later},
    {.name = "postprocess", .read = tmi_read_postprocess},
};

/* The file that calibrate.to names, if it names one. */
static void read_totals_file(tmi_reader *reader, const tmi_value *calibrate, const tamis_plan *plan, tmi_value **totals,
                             char **path)
{
    const tmi_value *to = calibrate && calibrate->kind == TMI_VALUE_MAP ? tmi_value_get(calibrate, "to") : NULL;
    char *bytes = NULL;
    size_t length;
    tamis_error why = {0};
    if (!to || to->kind != TMI_VALUE_TEXT || !tmi_read_path(reader, to, plan->name, path, "totals.yaml")) return;
    if (tmi_plan_bytes(&bytes, &length, *path, &why) != TAMIS_OK)
        tmi_complain(reader, to, "expected a list of totals, or a file with one that can be read, e.g. totals.yaml");
    else if (tmi_yaml_read(totals, *path, bytes, length, &why) != TAMIS_OK) tmi_complain(reader, to, "%s", why.message);
    if (why.status == TAMIS_SYSTEM) reader->no_memory = true;
    tmi_free(bytes);
}

static void read_root(tmi_reader *reader, const tmi_value *root, tamis_plan *plan)
{
    tmi_complain_duplicates(reader, root);
    tmi_read_map(reader, root, keys, sizeof keys / sizeof *keys, "tamis: 1", plan);
    if (root->kind != TMI_VALUE_MAP) return;
    const tmi_value *columns = tmi_value_get(root, "columns"), *design = tmi_value_get(root, "design"),
                    *statistics = tmi_value_get(root, "statistics"), *calibrate = tmi_value_get(root, "calibrate");
    tmi_value *totals = NULL;
    char *path = NULL;
    read_totals_file(reader, calibrate, plan, &totals, &path);
    tmi_make_column_room(reader, plan, columns, statistics, totals ? totals : calibrate);
    if (columns && !reader->no_memory) tmi_read_columns(reader, columns, plan);
    if (design && !reader->no_memory) tmi_read_design(reader, design, plan);
    if (columns && !reader->no_memory) tmi_read_ranges(reader, columns, plan);
    tmi_read_targets(reader, root, plan);
    if (statistics && !reader->no_memory) tmi_read_statistics(reader, statistics, plan);
    if (calibrate && !reader->no_memory && (totals || !path)) tmi_read_calibrate(reader, calibrate, totals, path, plan);
    tmi_check_sections(reader, root, plan);
    if (!plan->privacy.unit && !(plan->privacy.unit = tmi_copy_text("unit", 4))) reader->no_memory = true;
    if (!plan->ledger && !(plan->ledger = tmi_beside_plan(plan->name, "tamis.ledger"))) reader->no_memory = true;
    tmi_value_free(totals);
    tmi_free(path);
}

static bool is_column(const tamis_plan *plan, const tmi_plan_column *column)
{
    return plan->columns <= column && column < plan->columns + plan->column_count;
}

static bool is_column_or_none(const tamis_plan *plan, const tmi_plan_column *column)
{
    return !column || is_column(plan, column);
}

static bool is_loss(const tmi_plan_loss *loss)
{
    if (loss->outsider && (!loss->by_stratum || !loss->insider || loss->delta || loss->rho)) return false;
    return loss->rho ? !loss->epsilon && !loss->delta : loss->epsilon != NULL;
}

static bool statistic_is_sound(const tamis_plan *plan, const tmi_plan_statistic *s)
{
    const tmi_statistic_kind kind = s->contrast ? s->contrast->compared[0].kind : s->kind;
    if (s->by_count > TMI_MAX_BY || (s->kind == TMI_REGRESSION ? s->second != NULL
                                                               : (kind == TMI_RATIO || kind == TMI_CORRELATION ||
                                                                  kind == TMI_PRODUCTS) != (s->second != NULL)))
        return false;
    if ((s->kind == TMI_REGRESSION) != (s->model != NULL)) return false;
    for (size_t k = 0; s->model && k < s->model->on_count; k++)
        if (!is_column(plan, s->model->on[k])) return false;
    if ((tmi_is_contrast(s->kind) && !s->contrast) ||
        (s->contrast && !tmi_is_contrast(s->kind) && !s->model && s->kind != TMI_CORRELATION))
        return false;
    if (s->contrast && s->contrast->term_count < (s->kind == TMI_CONTRAST_CHANGE || !tmi_is_contrast(s->kind) ? 1 : 2))
        return false;
    if (s->contrast && (s->kind == TMI_CONTRAST_CHANGE) != (s->contrast->since != NULL)) return false;
    if (s->contrast && !is_column_or_none(plan, s->contrast->before)) return false;
    for (size_t k = 0; k < s->by_count; k++)
        if (!is_column(plan, s->by[k])) return false;
    return is_column_or_none(plan, s->column) && is_column_or_none(plan, s->second) && is_column_or_none(plan, s->where);
}

int64_t tmi_statistic_cells(const tmi_plan_statistic *statistic)
{
    int64_t cells = statistic->kind == TMI_QUANTILE ? (int64_t)statistic->at_count : 1;
    if (statistic->model) cells = (int64_t)statistic->model->term_count;
    for (size_t i = 0; i < statistic->by_count; i++) {
        if (__builtin_mul_overflow(cells, (int64_t)statistic->by[i]->value_count, &cells)) return INT64_MAX;
    }
    return cells;
}

bool tmi_plan_is_sound(const tamis_plan *plan)
{
    const tmi_plan_privacy *p = &plan->privacy;
    if (!plan->survey || !plan->ledger || !p->unit || !p->setting) return false;
    if (plan->declared_count > plan->column_count || plan->column_count > plan->column_room) return false;
    if (p->rows_per_unit < 1 || (!p->id && p->rows_per_unit != 1)) return false;
    if (!is_loss(&p->loss) || (tmi_has_budget(plan) && !is_loss(&plan->budget))) return false;
    for (size_t i = 0; i < plan->statistic_count; i++)
        if (!statistic_is_sound(plan, &plan->statistics[i])) return false;
    return plan->statistic_count > 0;
}

tamis_status tmi_plan_of(tamis_plan **plan, tmi_reader *reader, const tmi_value *root, tamis_error *err)
{
    tamis_plan *p = tmi_alloc(1, sizeof *p);
    *plan = p;
    if (!p) return tmi_fail_memory(err);
    p->holders = 1;
    p->design.kind = &tmi_plan_kind_srs; /* what the sections are checked with if the plan says no design that can be read */
    p->name = tmi_copy_text(reader->name, strlen(reader->name));
    if (p->name) read_root(reader, root, p);
    else reader->no_memory = true;
    return reader->no_memory ? tmi_fail_memory(err) : TAMIS_OK;
}

tamis_status tmi_plan_allowed_of(const tamis_plan_options *options, const char *name, tmi_plan_allowed *places, tamis_error *err)
{
    tamis_plan_options how;
    tamis_status status = tmi_options_take(&how, sizeof how, options, "options", err);
    *places = (tmi_plan_allowed){how.root, how.also};
    if (status == TAMIS_OK && !tmi_is_within(places, name))
        status = tmi_fail(err, TAMIS_INVALID, "name: the plan is outside of the folder that its files may be in here");
    return status;
}

tamis_status tamis_plan_read_with(tamis_plan **plan, const char *name, const char *bytes, size_t length,
                                  const tamis_plan_options *options, tamis_error *err)
{
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    *plan = NULL;
    if (!name) return tmi_fail(err, TAMIS_INVALID, "name: NULL");
    if (!bytes) return tmi_fail(err, TAMIS_INVALID, "bytes: NULL");

    tmi_reader reader = {.name = name};
    tmi_value *root = NULL;
    tamis_plan *p = NULL;
    tamis_status status;
    TMI_TRY(tmi_plan_allowed_of(options, name, &reader.places, err));
    TMI_TRY(tmi_yaml_read(&root, name, bytes, length, err));
    TMI_TRY(tmi_plan_of(&p, &reader, root, err));
    TMI_TRY(tmi_reader_end(&reader, err));
    TMI_CHECK(tmi_plan_is_sound(p));
    *plan = p;
    p = NULL;

done:
    tmi_reader_clear(&reader);
    tmi_value_free(root);
    tamis_plan_free(p);
    return status;
}

tamis_status tamis_plan_read_text(tamis_plan **plan, const char *name, const char *bytes, size_t length, tamis_error *err)
{
    return tamis_plan_read_with(plan, name, bytes, length, NULL, err);
}

tamis_status tmi_plan_bytes(char **bytes, size_t *length, const char *path, tamis_error *err)
{
    *bytes = NULL;
    *length = 0;
    if (!path) return tmi_fail(err, TAMIS_INVALID, "path: NULL");

    tamis_status status = TAMIS_OK;
    FILE *file = fopen(path, "rb");
    if (!file) {
        status = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? TAMIS_INVALID : TAMIS_SYSTEM;
        return tmi_fail_file(err, status, path, 0, "the plan cannot be opened: %s", strerror(errno));
    }
    *bytes = tmi_alloc(TMI_YAML_BYTES + 2, 1); /* one byte more than a plan may have tells that it is too long */
    if (!*bytes) {
        status = tmi_fail_memory(err);
        goto done;
    }
    *length = fread(*bytes, 1, TMI_YAML_BYTES + 1, file);
    if (ferror(file)) {
        status = tmi_fail_file(err, errno == EISDIR ? TAMIS_INVALID : TAMIS_SYSTEM, path, 0, "the plan cannot be read: %s",
                               strerror(errno));
    }
done:
    fclose(file);
    if (status != TAMIS_OK) {
        tmi_free(*bytes);
        *bytes = NULL;
    }
    return status;
}

tamis_status tmi_yaml_read_file(tmi_value **root, const char *path, tamis_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    *root = NULL;
    tamis_status status = tmi_plan_bytes(&bytes, &length, path, err);
    if (status == TAMIS_OK) status = tmi_yaml_read(root, path, bytes, length, err);
    if (status == TAMIS_OK) {
        tmi_reader reader = {.name = path};
        tmi_complain_duplicates(&reader, *root);
        status = tmi_reader_end(&reader, err);
    }
    if (status != TAMIS_OK) {
        tmi_value_free(*root);
        *root = NULL;
    }
    tmi_free(bytes);
    return status;
}

tamis_status tamis_plan_read(tamis_plan **plan, const char *path, tamis_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    *plan = NULL;
    tamis_status status = tmi_plan_bytes(&bytes, &length, path, err);
    if (status == TAMIS_OK) status = tamis_plan_read_text(plan, path, bytes, length, err);
    tmi_free(bytes);
    return status;
}

const char *tamis_plan_stratum(const tamis_plan *plan, size_t stratum)
{
    return plan && stratum < plan->design.stratum_count ? plan->design.strata[stratum].name : NULL;
}

tamis_status tamis_plan_set_ledger(tamis_plan *plan, const char *path, tamis_error *err)
{
    if (!plan || !path) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", plan ? "path" : "plan");
    if (!*path) return tmi_fail(err, TAMIS_INVALID, "ledger: must be the name of a file");
    char *copy = tmi_copy_text(path, strlen(path));
    if (!copy) return tmi_fail_memory(err);
    tmi_free(plan->ledger);
    plan->ledger = copy;
    return TAMIS_OK;
}

tamis_status tamis_plan_release_folder(char **folder, const tamis_plan *plan, tamis_error *err)
{
    if (!folder) return tmi_fail(err, TAMIS_INVALID, "folder: NULL");
    *folder = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    const char *slash = strrchr(plan->name, '/');
    const char *name = slash ? slash + 1 : plan->name;
    size_t length = strlen(name);
    if (length > 5 && strcasecmp(name + length - 5, ".yaml") == 0) length -= 5;
    else if (length > 4 && strcasecmp(name + length - 4, ".yml") == 0) length -= 4;
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_add(&text, name, length);
    tmi_text_put(&text, "-release");
    return tmi_text_take(folder, &text, err);
}
