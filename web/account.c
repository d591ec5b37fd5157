/* The account: what was spent, what is left; charges that were never published voided, budgets raised; and verification. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/draft.h>
#include <tamis/ledger.h>
#include <tamis/verify.h>
#include <unistd.h>

#include "server.h"

/* The ledger that a plan's text names, from the page's folder: as the plan will be read, also if it has errors elsewhere. */
static bool ledger_of_plan(web_request *r, char path[WEB_PATH])
{
    const char *file, *text, *slash;
    char *json = NULL;
    tamis_error err = {0};
    if (!web_plan_text(r, &file, &text)) return false;
    const tamis_plan_options options = {.size = sizeof options, .root = ".", .also = (const char *const *)r->server->also};
    if (tamis_draft_json(&json, file, text, strlen(text), &options, &err) != TAMIS_OK) {
        web_failed(r, &err);
        return false;
    }
    json_t *draft = json_loads(json, 0, NULL), *given = json_object_get(json_object_get(draft, "tree"), "ledger");
    if (json_is_object(given)) given = json_object_get(given, "file");
    const char *name = json_is_string(given) && *json_string_value(given) ? json_string_value(given) : "tamis.ledger";
    slash = name[0] == '/' ? NULL : strrchr(file, '/');
    const size_t folder = slash ? (size_t)(slash - file) + 1 : 0;
    const bool fits = folder + strlen(name) < WEB_PATH;
    if (fits) {
        memcpy(path, file, folder);
        strcpy(path + folder, name);
    } else {
        web_refuse(r, WEB_WRONG, "request", "ledger: the name is too long");
    }
    json_decref(draft);
    tamis_free(json);
    return fits;
}

static bool ledger_path(web_request *r, char path[WEB_PATH])
{
    const char *given = NULL;
    if (!web_string(r, "ledger", &given, false)) return false;
    if (!given && json_object_get(r->in, "text")) return ledger_of_plan(r, path);
    if (!given || strlen(given) >= WEB_PATH) {
        web_refuse(r, WEB_WRONG, "request", "ledger: expected the name of a ledger, or a plan");
        return false;
    }
    strcpy(path, given);
    return true;
}

/* What the book says, or that there is none yet. */
static void answer_book(web_request *r, const char *path, const char *book)
{
    web_text out = {0};
    web_put(&out, "{\"ledger\": ");
    web_put_string(&out, path);
    web_put(&out, book ? ", \"exists\": true, \"book\": " : ", \"exists\": false, \"book\": ");
    web_put(&out, book ? book : "null");
    web_put(&out, "}");
    web_answer_text(r, MHD_HTTP_OK, &out);
}

static void look(web_request *r, const char *path, const tamis_number *at)
{
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    char *json = NULL;
    if (web_check_file(r->server, path, "ledger", &err) == TAMIS_OK && tamis_ledger_look(&ledger, path, &err) == TAMIS_OK &&
        tamis_ledger_json(&json, ledger, at, &err) == TAMIS_OK)
        answer_book(r, path, json);
    else web_failed(r, &err);
    tamis_free(json);
    tamis_ledger_free(ledger);
}

void web_route_account(web_request *r)
{
    char path[WEB_PATH];
    tamis_number *at = NULL;
    tamis_error err = {0};
    if (web_number(r, "delta", &at) && ledger_path(r, path)) {
        /* there is none before the first release; what is elsewhere is an error as always */
        if (web_check_new(r->server, path, "ledger", &err) == TAMIS_OK) answer_book(r, path, NULL);
        else look(r, path, at);
    }
    tamis_number_free(at);
}

/* Opens a ledger that is there. */
static bool open_ledger(web_request *r, const char *path, tamis_ledger **ledger)
{
    tamis_error err = {0};
    tamis_status status = web_check_file(r->server, path, "ledger", &err);
    if (status == TAMIS_OK) status = tamis_ledger_look(ledger, path, &err); /* to open would make one of an empty file */
    tamis_ledger_free(*ledger);
    *ledger = NULL;
    if (status == TAMIS_OK) status = tamis_ledger_open(ledger, path, &err);
    if (status != TAMIS_OK) web_failed(r, &err);
    return status == TAMIS_OK;
}

void web_route_void(web_request *r)
{
    char path[WEB_PATH];
    const char *reason = NULL;
    int64_t entry = 0;
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    if (!ledger_path(r, path) || !web_string(r, "reason", &reason, true) || !web_whole(r, "entry", &entry, true) ||
        !open_ledger(r, path, &ledger))
        return;
    const tamis_status status = tamis_ledger_void(ledger, entry, reason, &err);
    tamis_ledger_free(ledger);
    if (status == TAMIS_OK) look(r, path, NULL);
    else web_failed(r, &err);
}

void web_route_raise(web_request *r)
{
    char path[WEB_PATH];
    const char *survey = NULL, *reason = NULL;
    tamis_number *epsilon = NULL, *delta = NULL, *rho = NULL;
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    if (ledger_path(r, path) && web_string(r, "survey", &survey, true) && web_string(r, "reason", &reason, true) &&
        web_number(r, "epsilon", &epsilon) && web_number(r, "delta", &delta) && web_number(r, "rho", &rho)) {
        const tamis_coin budget = {epsilon, delta, rho};
        if (!epsilon == !rho || (rho && delta))
            web_refuse(r, WEB_WRONG, "request", "epsilon: expected epsilon, or epsilon and delta, or rho");
        else if (open_ledger(r, path, &ledger)) {
            const tamis_status status = tamis_ledger_raise(ledger, survey, &budget, reason, &err);
            tamis_ledger_free(ledger);
            if (status == TAMIS_OK) look(r, path, NULL);
            else web_failed(r, &err);
        }
    }
    tamis_number_free(epsilon);
    tamis_number_free(delta);
    tamis_number_free(rho);
}

void web_route_export(web_request *r)
{
    char path[WEB_PATH], name[256];
    const char *form = "csv";
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    char *text = NULL;
    web_text out = {0};
    if (!ledger_path(r, path) || !web_string(r, "form", &form, false)) return;
    const bool json = strcmp(form, "json") == 0;
    if (!json && strcmp(form, "csv") != 0) {
        web_refuse(r, WEB_WRONG, "request", "form: expected csv or json");
        return;
    }
    tamis_status status = web_check_file(r->server, path, "ledger", &err);
    if (status == TAMIS_OK) status = tamis_ledger_look(&ledger, path, &err);
    if (status == TAMIS_OK) status = (json ? tamis_ledger_entries_json : tamis_ledger_csv)(&text, ledger, &err);
    if (status == TAMIS_OK) {
        const char *slash = strrchr(path, '/');
        snprintf(name, sizeof name, "%.240s.%s", slash ? slash + 1 : path, form);
        web_put(&out, "{\"name\": ");
        web_put_string(&out, name);
        web_put(&out, ", \"text\": ");
        web_put_string(&out, text);
        web_put(&out, "}");
        web_answer_text(r, MHD_HTTP_OK, &out);
    } else {
        web_failed(r, &err);
    }
    tamis_free(text);
    tamis_ledger_free(ledger);
}

/* ---- verification ---- */

/* A release's folder: not the page's own, since its frame is looked for in the folder above; and its files are not elsewhere. */
static tamis_status check_release(const web_server *server, const char *folder, tamis_error *err)
{
    static const char *const names[] = {"certificate.json",  "certificate.sig", "release.json", "release.csv", "release.sdmx.csv",
                                        "measurements.json", "registry.yaml",   "report.html",  "release.xlsx"};
    char path[WEB_PATH];
    tamis_status status = web_check_folder(server, folder, "folder", err);
    for (size_t i = 0; i < sizeof names / sizeof *names && status == TAMIS_OK; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= sizeof path) break;
        const int link = web_open_file(server, path, O_PATH | O_NOFOLLOW);
        if (link < 0 && errno == ENOENT && i > 0) continue; /* verification says what is missing */
        if (link >= 0) close(link);
        status = web_check_file(server, path, "folder", err);
    }
    char above[WEB_PATH];
    if (status == TAMIS_OK && (size_t)snprintf(above, sizeof above, "%s/..", folder) < sizeof above)
        status = web_check_folder(server, above, "folder", err);
    return status;
}

static void verify_folder(web_request *r, const char *folder)
{
    tamis_error err = {0};
    char *json = NULL;
    int ok = 0;
    const tamis_verify_options options = {.size = sizeof options, .root = ".", .also = (const char *const *)r->server->also};
    if (check_release(r->server, folder, &err) == TAMIS_OK && tamis_verify_json(&ok, &json, folder, &options, &err) == TAMIS_OK)
        web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
}

#define CERTIFICATES 100

void web_route_verify(web_request *r)
{
    const json_t *against = json_object_get(r->in, "against");
    const char *folder = NULL, *certificates[CERTIFICATES];
    char path[WEB_PATH];
    const size_t count = json_array_size(against);
    tamis_error err = {0};
    char *json = NULL;
    int ok = 0;
    if (!web_string(r, "folder", &folder, false)) return;
    if (folder) {
        verify_folder(r, folder);
        return;
    }
    if (!ledger_path(r, path)) return;
    if (count > CERTIFICATES || (against && !json_is_array(against))) {
        web_refuse(r, WEB_WRONG, "request", "against: expected a list of at most %d folders", CERTIFICATES);
        return;
    }
    tamis_status status = web_check_file(r->server, path, "ledger", &err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) {
        certificates[i] = json_string_value(json_array_get(against, i));
        status = check_release(r->server, certificates[i] ? certificates[i] : "", &err);
    }
    if (status == TAMIS_OK) status = tamis_ledger_verify_json(&ok, &json, path, certificates, count, &err);
    if (status == TAMIS_OK) web_answer(r, MHD_HTTP_OK, json);
    else web_failed(r, &err);
    tamis_free(json);
}
