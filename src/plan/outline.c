/* The design of a plan in the words of the calculator, which knows more designs than a release does. The two ways of writing
 * differ in two things: a plan names the columns that hold strata and clusters, which the law of the sample does not need; and it
 * names its strata. */
#include <string.h>
#include <tamis/plan.h>

#include "base/memory.h"
#include "base/value/json.h"
#include "num/number.h"
#include "plan/plan.h"
#include "plan/schema.h"
#include "survey/design/form.h"

#define DEPTH 8 /* of a design: strata of stages have six levels */

struct tamis_outline {
    tmi_value *root;
    const tmi_value *strata; /* NULL, or the map that names them */
    tmi_value *sampling;     /* as survey/design/form.h describes it */
    char *design;            /* the same as text */
};

static bool among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

/* What says where something is in the file, or how estimates are made. */
static const char *const left_out[] = {"by",          "frame",       "weight",      "max_weight", "max_unit_weight", "replicates",
                                       "weight_step", "weights_are", "nonresponse", "variance",   "regularise",      NULL};

/* What a release reads from a file and is not read here; NULL: nothing. */
static const char *not_read(const tmi_value *part)
{
    if (strcmp(tmi_value_key(part), "probability") == 0)
        return "no frame is read here, so a column cannot be used; write probabilities: [1/10, ...]";
    if (strcmp(tmi_value_key(part), "weights") == 0) return "only weights are known, not how the sample was drawn";
    if (part->kind != TMI_VALUE_TEXT || !tmi_value_key(tmi_value_parent(part)) ||
        strcmp(tmi_value_key(tmi_value_parent(part)), "second") != 0)
        return NULL;
    size_t digits = strspn(part->text, "0123456789.eE+/");
    return part->text[digits] ? "no frame is read here, so a column cannot be used; write a list with one number per cluster"
                              : NULL;
}

static tamis_status write_node(tmi_json_out *out, tamis_outline *o, const tmi_value *node, int depth, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (depth > DEPTH) return tmi_fail(err, TAMIS_INVALID, "design: more than %d levels", DEPTH);
    if (node->kind == TMI_VALUE_TEXT) {
        tmi_json_put_string(out, node->text);
        return status;
    }
    bool strata = node->kind == TMI_VALUE_MAP && tmi_value_key(node) && strcmp(tmi_value_key(node), "strata") == 0;
    bool list = node->kind == TMI_VALUE_LIST || strata;
    if (strata && !o->strata) o->strata = node;
    tmi_json_open(out, list ? '[' : '{');
    for (const tmi_value *part = tmi_value_first(node); part; part = tmi_value_next(part)) {
        if (!list && among(tmi_value_key(part), left_out)) continue;
        const char *reason = !list ? not_read(part) : NULL;
        if (reason) return tmi_fail(err, TAMIS_INVALID, "design.%s: %s", tmi_value_key(part), reason);
        if (!list) tmi_json_key(out, tmi_value_key(part));
        status = write_node(out, o, part, depth + 1, err);
        if (status != TAMIS_OK) return status;
    }
    tmi_json_close(out, list ? ']' : '}');
    return status;
}

/* The text has the keys in the order of the file. */
static tamis_status write_design(tamis_outline *o, const tmi_value *design, tamis_error *err)
{
    tmi_json_tree tree;
    tmi_json_out out;
    tmi_text text;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tmi_json_tree_begin(&tree, NULL);
    tamis_status status = write_node(&out, o, design, 0, err);
    if (status == TAMIS_OK) status = tmi_text_take(&o->design, &text, err);
    if (status == TAMIS_OK) status = write_node(&tree.out, o, design, 0, err);
    tmi_text_clear(&text);
    tamis_status ended = tmi_json_tree_end(&o->sampling, &tree, status == TAMIS_OK ? err : NULL);
    return status == TAMIS_OK ? ended : status;
}

tamis_status tamis_outline_read(tamis_outline **outline, const char *path, tamis_error *err)
{
    tamis_status status;
    if (!outline) return tmi_fail(err, TAMIS_INVALID, "outline: NULL");
    *outline = NULL;
    tamis_outline *o = tmi_alloc(1, sizeof *o);
    if (!o) return tmi_fail_memory(err);
    TMI_TRY(tmi_yaml_read_file(&o->root, path, err));
    if (o->root->kind != TMI_VALUE_MAP)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0,
                              "expected a plan or a design, e.g. design: {srs: {population: 6194, sample: 200}}"));
    const tmi_value *design = tmi_value_get(o->root, "design");
    TMI_TRY(write_design(o, design ? design : o->root, err));
    *outline = o;
    o = NULL;
done:
    tamis_outline_free(o);
    return status;
}

void tamis_outline_free(tamis_outline *o)
{
    if (!o) return;
    tmi_value_free(o->root);
    tmi_value_free(o->sampling);
    tmi_free(o->design);
    tmi_free(o);
}

tamis_status tamis_outline_sampling(tamis_design **design, const tamis_outline *o, tamis_error *err)
{
    if (design) *design = NULL;
    if (!design || !o) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", !design ? "design" : "outline");
    return tmi_design_from_value(design, o->sampling, true, err);
}

const char *tamis_outline_design(const tamis_outline *o) { return o ? o->design : NULL; }

const char *tamis_outline_stratum(const tamis_outline *o, size_t stratum)
{
    const tmi_value *named = o && o->strata ? tmi_value_first(o->strata) : NULL;
    for (; named && stratum > 0; stratum--) named = tmi_value_next(named);
    return named ? tmi_value_key(named) : NULL;
}

static tamis_status bound(tamis_number **number, const tmi_value *column, const char *name, const char *key, tamis_error *err)
{
    const tmi_value *value = column->kind == TMI_VALUE_MAP ? tmi_value_get(column, key) : NULL;
    if (!value || value->kind != TMI_VALUE_TEXT)
        return tmi_fail(err, TAMIS_INVALID, "columns.%s: must have one number for %s, or values", name, key);
    tamis_error inner = {0};
    tamis_status status = tamis_number_read(number, value->text, &inner);
    return status == TAMIS_OK ? status : tmi_fail(err, status, "columns.%s.%s: %s", name, key, inner.message);
}

tamis_status tamis_outline_range(tamis_number **from, tamis_number **to, tamis_number **step, const tamis_outline *o,
                                 const char *column, tamis_error *err)
{
    tamis_status status;
    if (from) *from = NULL;
    if (to) *to = NULL;
    if (step) *step = NULL;
    if (!from || !to || !step || !o || !column) {
        const char *name = !from ? "from" : !to ? "to" : !step ? "step" : !o ? "outline" : "column";
        return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    }
    const tmi_value *columns = tmi_value_get(o->root, "columns");
    const tmi_value *one = columns && columns->kind == TMI_VALUE_MAP ? tmi_value_get(columns, column) : NULL;
    if (!one) return tmi_fail(err, TAMIS_INVALID, "columns: there is no %s", column);
    if (one->kind == TMI_VALUE_MAP && tmi_value_get(one, "values")) {
        TMI_TRY(tamis_number_read(from, "0", err));
        TMI_TRY(tamis_number_read(to, "1", err));
        TMI_TRY(tamis_number_read(step, "1", err));
    } else {
        TMI_TRY(bound(from, one, column, "from", err));
        TMI_TRY(bound(to, one, column, "to", err));
        if (tmi_value_get(one, "step")) TMI_TRY(bound(step, one, column, "step", err));
    }
done:
    if (status != TAMIS_OK) tmi_number_frees(from, to, step, NULL);
    return status;
}
