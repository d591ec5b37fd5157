/* Plans: read, changed, previewed. The plan's text is the page's only state; nothing of it stays here between two requests. */
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/draft.h>
#include <tamis/experimental/editor.h>
#include <tamis/experimental/study.h>
#include <tamis/preview.h>

#include "server.h"

static tamis_plan_options places(const web_server *server)
{
    return (tamis_plan_options){.size = sizeof(tamis_plan_options), .root = ".", .also = (const char *const *)server->also};
}

bool web_plan_text(web_request *r, const char **file, const char **text)
{
    *file = "plan.yaml";
    if (!web_string(r, "file", file, false) || !web_string(r, "text", text, true)) return false;
    if (web_is_plan_name(*file) && (*file)[0] != '/') return true;
    web_refuse(r, WEB_WRONG, "request", "file: expected the name of a plan below the folder, such as plan.yaml");
    return false;
}

/* Rows come from files that this page may open, or from PostgreSQL. A source that a program brings has no program here, and one
 * that runs a command would let whoever wrote the plan run it. */
static bool source_is_allowed(web_request *r, const tamis_plan *plan)
{
    static const char *const keys[] = {"file", "files", "table", "postgres", "sharded_by"};
    char *json = NULL;
    tamis_error err = {0};
    if (tamis_plan_json(&json, plan, &err) != TAMIS_OK) {
        web_failed(r, &err);
        return false;
    }
    json_t *tree = json_loads(json, 0, NULL);
    json_t *source = json_object_get(tree, "source");
    bool allowed = json_object_get(source, "file") || json_object_get(source, "files") || json_object_get(source, "postgres");
    const char *key;
    json_t *value;
    json_object_foreach (source, key, value) {
        bool known = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) known |= strcmp(key, keys[i]) == 0;
        allowed &= known;
    }
    json_decref(tree);
    tamis_free(json);
    if (!allowed)
        web_refuse(r, MHD_HTTP_FORBIDDEN, "refused",
                   "source: the page reads files and PostgreSQL only; use `tamis release` for a source of another kind");
    return allowed;
}

bool web_plan(web_request *r, tamis_plan **plan)
{
    const char *file, *text;
    const tamis_plan_options options = places(r->server);
    tamis_error err = {0};
    *plan = NULL;
    if (!web_plan_text(r, &file, &text)) return false;
    if (tamis_plan_read_with(plan, file, text, strlen(text), &options, &err) != TAMIS_OK) {
        web_failed(r, &err);
        return false;
    }
    if (source_is_allowed(r, *plan)) return true;
    tamis_plan_free(*plan);
    *plan = NULL;
    return false;
}

/* ---- a file's header, a plan to begin with ---- */

/* Where the data are that a request names; `there` is false if it names none. */
static bool init_of(web_request *r, tamis_init *init, bool *there)
{
    tamis_error err = {0};
    const char *file = NULL, *connection = NULL, *table = NULL;
    *init = (tamis_init){.size = sizeof *init, .root = ".", .also = (const char *const *)r->server->also};
    if (!web_string(r, "file", &file, false) || !web_string(r, "connection", &connection, false) ||
        !web_string(r, "table", &table, false))
        return false;
    *there = file || connection;
    if (file && connection) {
        web_refuse(r, WEB_WRONG, "request", "file: expected either a file or a connection");
        return false;
    }
    if (file && web_check_file(r->server, file, "file", &err) != TAMIS_OK) {
        web_failed(r, &err);
        return false;
    }
    init->file = file;
    init->connection = connection;
    init->table = table;
    return true;
}

void web_route_header(web_request *r)
{
    tamis_init init;
    tamis_error err = {0};
    char *json = NULL;
    bool there = false;
    if (!init_of(r, &init, &there)) return;
    if (!there) web_refuse(r, WEB_WRONG, "request", "file: expected a file, or a connection and a table");
    else if (tamis_header_json(&json, &init, &err) == TAMIS_OK) web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
}

/* The file as a plan in its folder names it: "../data/a.csv" for data/a.csv and plans/plan.yaml. */
static bool name_from(char name[2 * WEB_PATH], const char *plan, const char *file)
{
    size_t shared = 0, up = 0, length = 0;
    if (strlen(plan) >= WEB_PATH || strlen(file) >= WEB_PATH) return false;
    if (file[0] != '/') {
        for (size_t i = 0; plan[i] && plan[i] == file[i]; i++)
            if (plan[i] == '/') shared = i + 1;
        for (const char *c = plan + shared; *c; c++) up += *c == '/';
    }
    if (3 * up + strlen(file) >= 2 * WEB_PATH) return false;
    for (; up > 0; up--, length += 3) memcpy(name + length, "../", 3);
    strcpy(name + length, file + shared);
    return true;
}

/* What is said about rows that are there. */
static void leave_out(char *text, const char *piece)
{
    char *at = strstr(text, piece);
    if (at) memmove(at, at + strlen(piece), strlen(at + strlen(piece)) + 1);
}

static void keep_schema(struct ArrowSchema *schema) { (void)schema; }

/* A plan for a survey that has no file yet: that of a file with one column, without the column. */
static tamis_status describe(char **text, tamis_error *err)
{
    struct ArrowSchema one = {.format = "g", .name = "answer", .release = keep_schema}, *columns[] = {&one};
    struct ArrowSchema schema = {.format = "+s", .name = "", .n_children = 1, .children = columns, .release = keep_schema};
    char *yaml = NULL, *empty = NULL;
    tamis_status status = tamis_init_columns_yaml(&yaml, &schema, "survey", err);
    if (status == TAMIS_OK) status = tamis_plan_set(&empty, yaml, strlen(yaml), "/columns", "{}", err);
    if (status == TAMIS_OK) status = tamis_plan_set(text, empty, strlen(empty), "/source", "{\"file\": \"survey.csv\"}", err);
    if (status == TAMIS_OK) {
        leave_out(*text, "    # names the rows that the program brings");
        leave_out(*text, "# It was written from the header of the data alone: no row was read.\n");
    }
    tamis_free(yaml);
    tamis_free(empty);
    return status;
}

void web_route_new(web_request *r)
{
    tamis_init init;
    tamis_error err = {0};
    const char *plan = "plan.yaml";
    char *text = NULL, source[2 * WEB_PATH];
    bool there = false;
    web_text out = {0};
    if (!init_of(r, &init, &there) || !web_string(r, "plan", &plan, false)) return;
    if (!web_is_plan_name(plan) || (init.file && !name_from(source, plan, init.file))) {
        web_refuse(r, WEB_WRONG, "request", "plan: expected the name of a plan, such as plan.yaml");
        return;
    }
    if (init.file) init.source = source;
    if ((there ? tamis_init_yaml(&text, &init, &err) : describe(&text, &err)) == TAMIS_OK) {
        web_put(&out, "{\"text\": ");
        web_put_string(&out, text);
        web_put(&out, "}");
        web_answer_text(r, MHD_HTTP_OK, &out);
    } else {
        web_failed(r, &err);
    }
    tamis_free(text);
}

/* ---- the text ---- */

void web_route_draft(web_request *r)
{
    const char *file, *text;
    const tamis_plan_options options = places(r->server);
    tamis_error err = {0};
    char *json = NULL;
    if (!web_plan_text(r, &file, &text)) return;
    if (tamis_draft_json(&json, file, text, strlen(text), &options, &err) == TAMIS_OK) web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
}

/* A value as JSON, with as few digits as give the same number again: a page has sent 0.1, not 0.10000000000000001. */
static char *write_value(const json_t *value)
{
    for (unsigned digits = 15; digits <= 17; digits++) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        json_t *again = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
        const bool same = again && json_equal(again, value);
        json_decref(again);
        if (same) return text;
        free(text);
    }
    return NULL;
}

/* One change of a text; the new one is the caller's. Answers what is wrong. */
static char *change(web_request *r, const char *text, const json_t *wanted)
{
    const char *path = json_string_value(json_object_get(wanted, "path"));
    const json_t *value = json_object_get(wanted, "value");
    char *changed = NULL;
    tamis_error err = {0};
    if (!path || !value || json_object_size(wanted) != 2) {
        web_refuse(r, WEB_WRONG, "request", "changes: expected {\"path\": \"/columns/hours/to\", \"value\": ...}");
        return NULL;
    }
    char *json = json_is_null(value) ? NULL : write_value(value);
    if (!json && !json_is_null(value)) err = (tamis_error){.status = TAMIS_SYSTEM, .message = "out of memory"};
    else if (tamis_plan_set(&changed, text, strlen(text), path, json, &err) != TAMIS_OK) changed = NULL;
    if (!changed) web_failed(r, &err);
    free(json);
    return changed;
}

#define CHANGES 1000

void web_route_set(web_request *r)
{
    const char *file, *text;
    const tamis_plan_options options = places(r->server);
    tamis_error err = {0};
    const json_t *changes = json_object_get(r->in, "changes");
    char *now = NULL, *json = NULL;
    if (!web_plan_text(r, &file, &text)) return;
    if (!json_is_array(changes) || json_array_size(changes) > CHANGES) {
        web_refuse(r, WEB_WRONG, "request", "changes: expected a list of at most %d", CHANGES);
        return;
    }
    for (size_t i = 0; i < json_array_size(changes); i++) {
        char *next = change(r, now ? now : text, json_array_get(changes, i));
        tamis_free(now);
        now = next;
        if (!now) return;
    }
    const char *end = now ? now : text;
    if (tamis_draft_json(&json, file, end, strlen(end), &options, &err) == TAMIS_OK) {
        web_text out = {0};
        web_put(&out, "{\"text\": ");
        web_put_string(&out, end);
        web_put(&out, ", \"draft\": ");
        web_put(&out, json);
        web_put(&out, "}");
        web_answer_text(r, MHD_HTTP_OK, &out);
    } else {
        web_failed(r, &err);
    }
    tamis_free(json);
    tamis_free(now);
}

/* ---- previews ---- */

static bool preview_of(web_request *r, tamis_preview **preview, bool advice, bool again)
{
    tamis_plan *plan = NULL;
    tamis_error err = {0};
    const tamis_preview_options options = {.size = sizeof options,
                                           .repeat = again ? TAMIS_REPEAT_PAID : TAMIS_REPEAT_IF_SAME_VERSION,
                                           .no_advice = !advice,
                                           .watch = web_watch(r),
                                           .root = ".",
                                           .also = (const char *const *)r->server->also};
    *preview = NULL;
    if (!web_plan(r, &plan)) return false;
    const tamis_status status = tamis_preview_make(preview, plan, &options, &err);
    tamis_plan_free(plan);
    if (*preview) return true; /* also of a release that the ledger refuses: then the preview says so */
    (void)status;
    web_failed(r, &err);
    return false;
}

void web_route_preview(web_request *r)
{
    tamis_preview *preview = NULL;
    tamis_error err = {0};
    char *json = NULL;
    bool advice = false, again = false;
    if (!web_flag(r, "advice", &advice) || !web_flag(r, "again", &again) || !preview_of(r, &preview, advice, again)) return;
    if (tamis_preview_json(&json, preview, &err) == TAMIS_OK) web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
    tamis_preview_free(preview);
}

void web_route_compare(web_request *r)
{
    tamis_preview *preview = NULL;
    tamis_error err = {0};
    char *json = NULL;
    if (!preview_of(r, &preview, false, false)) return;
    if (tamis_preview_compare_json(&json, preview, &err) == TAMIS_OK) web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
    tamis_preview_free(preview);
}

#define WANTED_ERRORS 256

void web_route_epsilon(web_request *r)
{
    const json_t *list = json_object_get(r->in, "errors");
    const char *errors[WANTED_ERRORS];
    const tamis_study_options options = {.size = sizeof options, .watch = web_watch(r), .threads = 1};
    tamis_number *share = NULL;
    tamis_plan *plan = NULL;
    tamis_study *study = NULL;
    tamis_error err = {0};
    bool svg = false;
    size_t count = json_array_size(list);
    web_text out = {0};
    for (size_t i = 0; i < count && i < WANTED_ERRORS; i++)
        if (!(errors[i] = json_string_value(json_array_get(list, i)))) count = WANTED_ERRORS + 1;
    if (count > WANTED_ERRORS || (list && !json_is_array(list) && !json_is_null(list))) {
        web_refuse(r, WEB_WRONG, "request", "errors: expected a list of texts such as \"mean income=200\"");
        return;
    }
    if (!web_flag(r, "svg", &svg) || !web_number(r, "share", &share)) return;
    if (!share && count == 0) web_refuse(r, WEB_WRONG, "request", "share: expected a share such as \"0.165\", or errors");
    else if (web_plan(r, &plan)) {
        const tamis_study_errors wanted = {.size = sizeof wanted, .list = errors, .count = count, .share = share};
        if (tamis_study_epsilon(&study, plan, &wanted, &options, &err) != TAMIS_OK) web_failed(r, &err);
        else {
            web_put(&out, "{\"study\": ");
            web_put(&out, tamis_study_as(study, TAMIS_STUDY_JSON));
            web_put(&out, ", \"svg\": ");
            web_put_string(&out, svg ? tamis_study_as(study, TAMIS_STUDY_SVG) : NULL);
            web_put(&out, "}");
            web_answer_text(r, MHD_HTTP_OK, &out);
        }
    }
    tamis_study_free(study);
    tamis_plan_free(plan);
    tamis_number_free(share);
}
