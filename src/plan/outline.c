/* The design of a plan in the words of the calculator, which knows more designs than a release does. The two ways of writing
 * differ in three things: a plan names the columns that hold strata and clusters, which the law of the sample does not
 * need; it names its strata; and its numbers are texts, which the calculator reads as exact.                         */
#include <string.h>
#include <tamis/plan.h>

#include "base/json/json.h"
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/schema.h"

#define DEPTH 8 /* of a design: strata of stages have six levels */

struct tamis_outline {
    tmi_yaml *root;
    const tmi_yaml *strata; /* NULL, or the map that names them */
    char *design;
};

static bool among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

/* What says where something stands in the file, or how estimates are made. */
static const char *const left_out[] = {"by",          "frame",       "weight",   "max_weight", "weight_step",
                                       "weights_are", "nonresponse", "variance", "regularise", NULL};

/* What a release reads from a file and is not read here; NULL: nothing. */
static const char *not_read(const tmi_yaml *part)
{
    if (strcmp(part->key, "probability") == 0)
        return "no frame is read here, so a column cannot be used; write probabilities: [1/10, ...]";
    if (strcmp(part->key, "weights") == 0) return "only weights are known, not how the sample was drawn";
    if (part->kind != TMI_YAML_TEXT || !part->parent->key || strcmp(part->parent->key, "second") != 0) return NULL;
    size_t digits = strspn(part->text, "0123456789.eE+/");
    return part->text[digits] ? "no frame is read here, so a column cannot be used; write a list with one number per cluster"
                              : NULL;
}

/* A list by itself has no outline: nothing of it is left out. */
static tamis_status write_node(tmi_json_out *out, tamis_outline *o, const tmi_yaml *node, int depth, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (depth > DEPTH) return tmi_fail(err, TAMIS_INVALID, "%smore than %d levels", o ? "design: " : "", DEPTH);
    if (node->kind == TMI_YAML_TEXT) {
        tmi_json_put_string(out, node->text);
        return status;
    }
    bool strata = o && node->kind == TMI_YAML_MAP && node->key && strcmp(node->key, "strata") == 0;
    bool list = node->kind == TMI_YAML_LIST || strata;
    if (strata && !o->strata) o->strata = node;
    tmi_json_open(out, list ? '[' : '{');
    for (const tmi_yaml *part = node->first; part; part = part->next) {
        if (o && !list && among(part->key, left_out)) continue;
        const char *reason = o && !list ? not_read(part) : NULL;
        if (reason) return tmi_fail(err, TAMIS_INVALID, "design.%s: %s", part->key, reason);
        if (!list) tmi_json_key(out, part->key);
        status = write_node(out, o, part, depth + 1, err);
        if (status != TAMIS_OK) return status;
    }
    tmi_json_close(out, list ? ']' : '}');
    return status;
}

tamis_status tamis_outline_read(tamis_outline **outline, const char *path, tamis_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    tamis_status status;
    tamis_outline *o = NULL;
    tmi_text text;
    tmi_json_out out;
    tmi_text_init(&text);
    if (!outline) return tmi_fail(err, TAMIS_INVALID, "outline: NULL");
    *outline = NULL;
    TMI_TRY(tmi_plan_bytes(&bytes, &length, path, err));
    o = tmi_alloc(1, sizeof *o);
    if (!o) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_yaml_read(&o->root, path, bytes, length, err));
    if (o->root->kind != TMI_YAML_MAP)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0,
                              "expected a plan or a design, e.g. design: {srs: {population: 6194, sample: 200}}"));
    const tmi_yaml *design = tmi_yaml_get(o->root, "design");
    tmi_json_out_init(&out, &text, false);
    TMI_TRY(write_node(&out, o, design ? design : o->root, 0, err));
    TMI_TRY(tmi_text_take(&o->design, &text, err));
    *outline = o;
    o = NULL;
done:
    tmi_free(bytes);
    tmi_text_clear(&text);
    tamis_outline_free(o);
    return status;
}

void tamis_outline_free(tamis_outline *o)
{
    if (!o) return;
    tmi_yaml_free(o->root);
    tmi_free(o->design);
    tmi_free(o);
}

const char *tamis_outline_design(const tamis_outline *o)
{
    return o ? o->design : NULL;
}

const char *tamis_outline_stratum(const tamis_outline *o, size_t stratum)
{
    const tmi_yaml *named = o && o->strata ? o->strata->first : NULL;
    for (; named && stratum > 0; stratum--) named = named->next;
    return named ? named->key : NULL;
}

static tamis_status bound(tamis_number **number, const tmi_yaml *column, const char *name, const char *key, tamis_error *err)
{
    const tmi_yaml *value = column->kind == TMI_YAML_MAP ? tmi_yaml_get(column, key) : NULL;
    if (!value || value->kind != TMI_YAML_TEXT)
        return tmi_fail(err, TAMIS_INVALID, "columns.%s: expected one number for %s, or values", name, key);
    tamis_error inner = {0};
    tamis_status status = tamis_number_read(number, value->text, &inner);
    return status == TAMIS_OK ? status : tmi_fail(err, status, "columns.%s.%s: %s", name, key, inner.message);
}

tamis_status tamis_outline_range(tamis_number **from, tamis_number **to, const tamis_outline *o, const char *column,
                                 tamis_error *err)
{
    tamis_status status;
    if (!from || !to || !o || !column) {
        if (from) *from = NULL;
        if (to) *to = NULL;
        return tmi_fail(err, TAMIS_INVALID, "%s: NULL", !from ? "from" : !to ? "to" : !o ? "outline" : "column");
    }
    *from = *to = NULL;
    const tmi_yaml *columns = tmi_yaml_get(o->root, "columns");
    const tmi_yaml *one = columns && columns->kind == TMI_YAML_MAP ? tmi_yaml_get(columns, column) : NULL;
    if (!one) return tmi_fail(err, TAMIS_INVALID, "columns: there is no %s", column);
    if (one->kind == TMI_YAML_MAP && tmi_yaml_get(one, "values")) {
        TMI_TRY(tamis_number_read(from, "0", err));
        TMI_TRY(tamis_number_read(to, "1", err));
    } else {
        TMI_TRY(bound(from, one, column, "from", err));
        TMI_TRY(bound(to, one, column, "to", err));
    }
done:
    if (status != TAMIS_OK) {
        tamis_number_free(*from);
        tamis_number_free(*to);
        *from = *to = NULL;
    }
    return status;
}

tamis_status tamis_outline_list_json(char **json, const char *path, tamis_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    tamis_status status;
    tmi_yaml *root = NULL;
    tmi_text text;
    tmi_json_out out;
    tmi_text_init(&text);
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    TMI_TRY(tmi_plan_bytes(&bytes, &length, path, err));
    TMI_TRY(tmi_yaml_read(&root, path, bytes, length, err));
    if (root->kind != TMI_YAML_LIST)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "expected a list, such as [{law: laplace, scale: 10}]"));
    tmi_json_out_init(&out, &text, false);
    TMI_TRY(write_node(&out, NULL, root, 0, err));
    TMI_TRY(tmi_text_take(json, &text, err));
done:
    tmi_free(bytes);
    tmi_text_clear(&text);
    tmi_yaml_free(root);
    return status;
}
