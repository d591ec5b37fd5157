/* Releases. A release belongs to the server, not to the tab that asked for it: it runs in a thread of its own, one at a time, and
 * any tab can ask what has become of it. Only Stop and the end of the server end it early. */
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental/editor.h>
#include <tamis/release.h>
#include <time.h>

#include "server.h"

struct web_job {
    web_server *server;
    pthread_t thread;
    bool joined;
    tamis_plan *plan;
    char *folder, *file, *survey, *sign, *new_account;
    tamis_repeat repeat;
    atomic_bool stop;
    /* What follows is under the server's lock. */
    int64_t number, entry;
    bool ended, started, cut; /* cut: the end of the server ended it */
    int phase;                /* -1: none yet */
    double share;
    time_t began, finished;
    tamis_status status;
    web_text error, result; /* JSON */
    tamis_error err;
};

static void free_job(web_job *job)
{
    if (!job) return;
    tamis_plan_free(job->plan);
    free(job->folder);
    free(job->file);
    free(job->survey);
    free(job->sign);
    free(job->new_account);
    free(job->error.bytes);
    free(job->result.bytes);
    free(job);
}

/* ---- the work ---- */

static int progress(void *context, double share, int64_t rows)
{
    web_job *job = context;
    (void)rows; /* how many there are may be a secret of its own: the page gets the share */
    pthread_mutex_lock(&job->server->lock);
    job->share = share;
    pthread_mutex_unlock(&job->server->lock);
    return atomic_load(&job->stop) || atomic_load(&job->server->ending);
}

static void reached(void *context, tamis_release_phase phase, int64_t entry)
{
    web_job *job = context;
    pthread_mutex_lock(&job->server->lock);
    job->phase = (int)phase;
    if (entry > 0) job->entry = entry;
    job->share = -1;
    pthread_mutex_unlock(&job->server->lock);
}

static tamis_status write_result(web_text *out, const tamis_release *release, tamis_error *err)
{
    char *json = NULL, *shown = NULL, *notice = NULL, *remarks = NULL;
    tamis_status status = tamis_release_json(&json, release, err);
    if (status == TAMIS_OK) status = tamis_release_shown_json(&shown, release, err);
    if (status == TAMIS_OK) status = tamis_release_notice_text(&notice, release, err);
    if (status == TAMIS_OK) status = tamis_release_remarks_text(&remarks, release, err);
    if (status == TAMIS_OK) {
        web_put(out, "{\"repeated\": ");
        web_put(out, tamis_release_is_repeated(release) ? "true" : "false");
        web_put(out, ", \"notice\": ");
        web_put_string(out, notice);
        web_put(out, ", \"remarks\": ");
        web_put_string(out, remarks);
        web_put(out, ", \"release\": ");
        web_put(out, json);
        web_put(out, ", \"shown\": ");
        web_put(out, shown);
        web_put(out, "}");
    }
    tamis_free(json);
    tamis_free(shown);
    tamis_free(notice);
    tamis_free(remarks);
    return status;
}

static void *work(void *context)
{
    web_job *job = context;
    tamis_error err = {0};
    tamis_release *release = NULL;
    web_text result = {0}, error = {0};
    const tamis_release_options options = {.size = sizeof options,
                                           .watch = {progress, job},
                                           .repeat = job->repeat,
                                           .new_account = job->new_account,
                                           .sign = job->sign,
                                           .phase = reached,
                                           .phase_context = job};
    pthread_mutex_lock(&job->server->lock);
    job->started = true;
    pthread_mutex_unlock(&job->server->lock);
    tamis_status status = tamis_release_new(&release, job->plan, job->folder, &options, &err);
    if (status == TAMIS_OK) status = write_result(&result, release, &err);
    if (status != TAMIS_OK) web_put_error(&error, &err, NULL);
    tamis_release_free(release);
    tamis_thread_done();
    pthread_mutex_lock(&job->server->lock);
    job->status = status;
    job->err = err;
    job->result = result;
    job->error = error;
    job->finished = time(NULL);
    job->cut = status != TAMIS_OK && atomic_load(&job->server->ending);
    job->ended = true;
    pthread_mutex_unlock(&job->server->lock);
    return NULL;
}

/* ---- asking for it ---- */

/* What ready and release share: everything is checked that can be seen from the request. */
typedef struct wish {
    tamis_plan *plan;
    const char *file, *text, *sign, *new_account;
    bool again;
    char survey[1024], folder[WEB_PATH];
} wish;

static bool survey_of(char survey[1024], const tamis_plan *plan)
{
    char *json = NULL;
    if (tamis_plan_json(&json, plan, NULL) != TAMIS_OK) return false;
    json_t *tree = json_loads(json, 0, NULL);
    const char *name = json_string_value(json_object_get(tree, "survey"));
    const bool fits = name && strlen(name) < 1024;
    if (fits) strcpy(survey, name);
    json_decref(tree);
    tamis_free(json);
    return fits;
}

/* The folder that was asked for, or the usual one beside the plan. */
static bool folder_of(web_request *r, wish *w)
{
    const char *given = NULL, *slash = strrchr(w->file, '/');
    char *usual = NULL;
    tamis_error err = {0};
    if (!web_string(r, "folder", &given, false)) return false;
    tamis_status status = given ? TAMIS_OK : tamis_plan_release_folder(&usual, w->plan, &err);
    if (status == TAMIS_OK) {
        const int length = snprintf(w->folder, sizeof w->folder, "%.*s%s", given || !slash ? 0 : (int)(slash - w->file) + 1,
                                    w->file, given ? given : usual);
        if (length < 0 || (size_t)length >= sizeof w->folder) {
            err = (tamis_error){.status = status = TAMIS_INVALID, .message = "folder: the name is too long"};
        }
    }
    if (status == TAMIS_OK) status = web_check_new(r->server, w->folder, "folder", &err);
    if (status == TAMIS_OK && w->sign) status = web_check_file(r->server, w->sign, "sign", &err);
    tamis_free(usual);
    if (status != TAMIS_OK) web_failed(r, &err);
    return status == TAMIS_OK;
}

static bool wish_of(web_request *r, wish *w)
{
    *w = (wish){0};
    if (!web_plan_text(r, &w->file, &w->text) || !web_string(r, "sign", &w->sign, false) ||
        !web_string(r, "new_account", &w->new_account, false) || !web_flag(r, "again", &w->again))
        return false;
    if (!web_is_saved(r, w->file, w->text) || !web_plan(r, &w->plan)) return false;
    if (!survey_of(w->survey, w->plan)) return false;
    return folder_of(r, w);
}

void web_route_ready(web_request *r)
{
    wish w;
    tamis_error err = {0};
    char *json = NULL;
    if (wish_of(r, &w)) {
        const tamis_release_options options = {.size = sizeof options,
                                               .watch = web_watch(r),
                                               .repeat = w.again ? TAMIS_REPEAT_PAID : TAMIS_REPEAT_IF_SAME_VERSION,
                                               .new_account = w.new_account,
                                               .sign = w.sign};
        if (tamis_release_ready(&json, w.plan, w.folder, &options, &err) == TAMIS_OK) {
            web_text out = {0};
            web_put(&out, "{\"survey\": ");
            web_put_string(&out, w.survey);
            web_put(&out, ", \"folder\": ");
            web_put_string(&out, w.folder);
            web_put(&out, ", \"ready\": ");
            web_put(&out, json);
            web_put(&out, "}");
            web_answer_text(r, MHD_HTTP_OK, &out);
        } else {
            web_failed(r, &err);
        }
    }
    tamis_free(json);
    tamis_plan_free(w.plan);
}

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static web_job *new_job(web_server *server, wish *w)
{
    web_job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    *job = (web_job){.server = server,
                     .plan = w->plan,
                     .folder = copy(w->folder),
                     .file = copy(w->file),
                     .survey = copy(w->survey),
                     .sign = copy(w->sign),
                     .new_account = copy(w->new_account),
                     .repeat = w->again ? TAMIS_REPEAT_PAID : TAMIS_REPEAT_IF_SAME_VERSION,
                     .phase = -1,
                     .share = -1,
                     .began = time(NULL)};
    w->plan = NULL;
    if (job->folder && job->file && job->survey && !job->sign == !w->sign && !job->new_account == !w->new_account) return job;
    free_job(job);
    return NULL;
}

/* Under one lock: once the server ends, no job is put in the place of the one that web_jobs_end looks at. */
static bool start(web_request *r, web_job *job)
{
    web_server *server = r->server;
    bool started = false;
    pthread_mutex_lock(&server->lock);
    web_job *old = server->job;
    const bool ending = atomic_load(&server->ending), busy = old && !old->ended;
    if (!ending && !busy) {
        job->number = old ? old->number + 1 : 1;
        started = pthread_create(&job->thread, NULL, work, job) == 0;
    }
    if (started) {
        server->job = job;
        if (old) pthread_join(old->thread, NULL); /* it has ended, and needs the lock no more */
        free_job(old);
    }
    const int64_t number = job->number;
    pthread_mutex_unlock(&server->lock);
    if (ending) web_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "busy", "the server is ending");
    else if (busy) web_refuse(r, MHD_HTTP_CONFLICT, "busy", "a release is running");
    else if (started) {
        char text[64];
        snprintf(text, sizeof text, "{\"job\": %lld}", (long long)number);
        web_answer(r, MHD_HTTP_OK, text);
    }
    return started;
}

void web_route_release(web_request *r)
{
    web_server *server = r->server;
    const char *confirm = NULL;
    wish w;
    if (!web_string(r, "confirm", &confirm, true)) return;
    if (wish_of(r, &w)) {
        web_job *job = NULL;
        if (strcmp(confirm, w.survey) != 0) web_refuse(r, WEB_WRONG, "request", "confirm: expected the name of the survey");
        else if ((job = new_job(server, &w)) && !start(r, job)) free_job(job);
    }
    tamis_plan_free(w.plan);
}

/* ---- looking at it ---- */

static void put_time(web_text *out, time_t at)
{
    char text[40];
    struct tm parts;
    if (at == 0 || !gmtime_r(&at, &parts) || strftime(text, sizeof text, "\"%Y-%m-%dT%H:%M:%SZ\"", &parts) == 0)
        web_put(out, "null");
    else web_put(out, text);
}

static void put_job(web_text *out, const web_job *job)
{
    static const char *const phases[] = {"\"checked\"", "\"charged\"", "\"read\"", "\"written\""};
    char piece[64];
    const bool stopping = atomic_load(&job->stop) || atomic_load(&job->server->ending);
    const char *state = !job->started             ? "waiting"
                        : !job->ended             ? "running"
                        : job->status == TAMIS_OK ? "done"
                        : stopping                ? "stopped"
                                                  : "failed";
    snprintf(piece, sizeof piece, "{\"job\": %lld, \"state\": \"%s\"", (long long)job->number, state);
    web_put(out, piece);
    web_put(out, stopping && !job->ended ? ", \"stopping\": true, \"phase\": " : ", \"stopping\": false, \"phase\": ");
    web_put(out, job->phase < 0 ? "null" : phases[job->phase]);
    if (job->entry > 0) snprintf(piece, sizeof piece, ", \"entry\": %lld", (long long)job->entry);
    else snprintf(piece, sizeof piece, ", \"entry\": null");
    web_put(out, piece);
    if (job->share >= 0 && !job->ended) snprintf(piece, sizeof piece, ", \"share\": %.3f", job->share > 1 ? 1 : job->share);
    else snprintf(piece, sizeof piece, ", \"share\": null");
    web_put(out, piece);
    web_put(out, ", \"survey\": ");
    web_put_string(out, job->survey);
    web_put(out, ", \"folder\": ");
    web_put_string(out, job->folder);
    web_put(out, ", \"file\": ");
    web_put_string(out, job->file);
    web_put(out, ", \"began\": ");
    put_time(out, job->began);
    web_put(out, ", \"ended\": ");
    put_time(out, job->finished);
    web_put(out, ", \"error\": ");
    web_put(out, job->error.bytes ? job->error.bytes : "null");
    web_put(out, ", \"result\": ");
    web_put(out, job->result.bytes ? job->result.bytes : "null");
    web_put(out, "}");
}

static void answer_job(web_request *r, bool needed, bool stop)
{
    web_server *server = r->server;
    int64_t number = 0;
    web_text out = {0};
    if (!web_whole(r, "job", &number, needed)) return;
    pthread_mutex_lock(&server->lock);
    web_job *job = server->job;
    const bool found = job && (number == 0 || job->number == number);
    if (found && stop && !job->ended) atomic_store(&job->stop, true);
    if (found) put_job(&out, job);
    pthread_mutex_unlock(&server->lock);
    if (found) web_answer_text(r, MHD_HTTP_OK, &out);
    else if (number == 0) web_answer(r, MHD_HTTP_OK, "{\"job\": null}");
    else web_refuse(r, MHD_HTTP_NOT_FOUND, "request", "job: there is no such release");
}

void web_route_job(web_request *r) { answer_job(r, false, false); }

void web_route_stop(web_request *r) { answer_job(r, true, true); }

/* ---- the end of the server ---- */

int web_jobs_end(web_server *server)
{
    pthread_mutex_lock(&server->lock);
    web_job *job = server->job;
    pthread_mutex_unlock(&server->lock);
    if (!job) return TAMIS_OK;
    pthread_join(job->thread, NULL);
    job->joined = true;
    if (!job->cut) return TAMIS_OK;
    for (char *c = job->err.message; *c; c++) /* it may quote a plan: what a terminal would obey is not sent there */
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = *c == '\n' ? '\n' : '?';
    fprintf(stderr, "tamis: %s\n", job->err.message);
    return TAMIS_SYSTEM;
}

void web_jobs_free(web_server *server)
{
    free_job(server->job);
    server->job = NULL;
}
