/* What the files of this room share.
 *
 * Threads. libmicrohttpd has one, which reads requests and passes the gate. A request that may be answered is suspended, put
 * into one of four queues and answered by the queue's own thread, so that no answer waits for a longer kind of work: quick ones,
 * previews, headers of data, and errands (ledgers, verification). A release has a thread of its own. The first thread of the
 * process waits for signals and watches slow clients.                                                               */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include <jansson.h>
#include <limits.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tamis/base.h>
#include <tamis/plan.h>

#include "web.h"

#define WEB_BODY (((size_t)1 << 20) + ((size_t)64 << 10)) /* of a request: a plan has up to 1 MB, and there are other members */
#define WEB_PLAN ((size_t)1 << 20)
#define WEB_PATH 4096
#define WEB_TOKEN 64 /* hexadecimal digits: 256 bits */
#define WEB_HASH 65  /* a SHA-256 in hexadecimal digits, and the end of the text */
#define WEB_CONNECTIONS 64
#define WEB_WAITING 32 /* requests in one queue */
#define WEB_TICKETS 16
#define WEB_ALSO 16
#define WEB_WRONG 422 /* the status of a wrong request; its name differs between versions of libmicrohttpd */
#define WEB_DEPTH 64  /* of a request's JSON */

typedef struct web_server web_server;
typedef struct web_request web_request;

/* ---- texts ---- */

/* A text that grows; `failed` if there was no memory. */
typedef struct web_text {
    char *bytes;
    size_t length, room;
    bool failed;
} web_text;

void web_add(web_text *to, const char *bytes, size_t length);
void web_put(web_text *to, const char *text);
void web_put_string(web_text *to, const char *text); /* as JSON, with its quotes; null for NULL, and for what is not UTF-8 */
void web_put_hash(char hash[WEB_HASH], const void *bytes, size_t length);

/* ---- requests ---- */

/* WEB_HEADER: a database that does not answer keeps no ledger waiting. */
typedef enum web_place { WEB_QUICK, WEB_WORKER, WEB_ERRAND, WEB_HEADER, WEB_QUEUES } web_place;

typedef struct web_route {
    const char *name;
    void (*run)(web_request *r);
    const char *members; /* that a request may have, separated by spaces */
    bool writes;         /* not there under --read-only */
    web_place place;
} web_route;

extern const web_route web_routes[]; /* ends with an empty one */
const web_route *web_route_named(const web_server *server, const char *name);

struct web_request {
    web_server *server;
    struct MHD_Connection *connection;
    const web_route *route; /* NULL: an asset, or refused by the gate */
    struct timespec began;
    char *body;
    size_t length, expected;
    json_t *in;
    const char *lane;
    atomic_bool overtaken;
    bool answered;
    int status;
    web_text answer;
    web_request *next;
};

/* The answer. web_answer takes a text of the library, which it copies; web_answer_text takes what was put together. */
void web_answer(web_request *r, int status, const char *json);
void web_answer_text(web_request *r, int status, web_text *text);
/* An error of the server itself, in the form of tamis_error_json. */
void web_refuse(web_request *r, int status, const char *code, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* An error of the library. */
void web_failed(web_request *r, const tamis_error *err);
/* An error object alone, for an answer that is not that of a request. */
void web_put_error(web_text *to, const tamis_error *err, const char *code);

/* Members of a request. A wrong kind is answered, and the result is false; absent: true, and the value that was there. */
bool web_string(web_request *r, const char *name, const char **value, bool needed);
bool web_flag(web_request *r, const char *name, bool *value);
bool web_whole(web_request *r, const char *name, int64_t *value, bool needed);
bool web_number(web_request *r, const char *name, tamis_number **value); /* exact; the caller frees it */

/* Ends a library's work once the request was overtaken, or the server ends. */
tamis_watch web_watch(web_request *r);

/* ---- queues ---- */

typedef struct web_queue {
    pthread_mutex_t lock;
    pthread_cond_t came;
    pthread_t thread;
    web_request *first, *running;
    size_t count;
    bool started, ending;
} web_queue;

bool web_queue_start(web_queue *queue);
void web_queue_add(web_queue *queue, web_request *r); /* which is suspended, and is resumed when it is answered */
/* False if its thread is in the middle of something that cannot be ended: a server that does not answer, a long verification. */
bool web_queue_end(web_queue *queue);

/* ---- files ---- */

/* Opens a file below the folder, or one of --also by its absolute path. Links that leave are refused by the kernel, and nothing
 * is waited for. -1 and errno. */
int web_open_file(const web_server *server, const char *path, int flags);

/* The file as it is found there, or what it should be and is not. INVALID: also if it is outside, with the same words. */
tamis_status web_check_file(const web_server *server, const char *path, const char *what, tamis_error *err);
tamis_status web_check_folder(const web_server *server, const char *path, const char *what, tamis_error *err);
/* Something that may be created: its folder is there, and it is not. */
tamis_status web_check_new(const web_server *server, const char *path, const char *what, tamis_error *err);

/* All of a regular file, at most `most` bytes, and one that is 0 behind them; the caller frees it. */
tamis_status web_read_file(const web_server *server, const char *path, size_t most, char **bytes, size_t *length,
                           tamis_error *err);

bool web_is_plan_name(const char *path); /* .yaml or .yml, and nothing hidden */

void web_route_files(web_request *r);
void web_route_read(web_request *r);
void web_route_save(web_request *r);
void web_route_example(web_request *r);

/* ---- plans ---- */

/* The plan's name and text in a request, and the plan: INVALID is answered, also a source that may not be read here. */
bool web_plan_text(web_request *r, const char **file, const char **text);
bool web_plan(web_request *r, tamis_plan **plan);
/* Whether the file has this text; answers if it does not. */
bool web_is_saved(web_request *r, const char *file, const char *text);

void web_route_header(web_request *r);
void web_route_new(web_request *r);
void web_route_draft(web_request *r);
void web_route_set(web_request *r);
void web_route_preview(web_request *r);
void web_route_compare(web_request *r);
void web_route_epsilon(web_request *r);

/* ---- words ---- */

void web_route_about(web_request *r);
void web_route_explain(web_request *r);
void web_route_settings(web_request *r);
void web_route_meaning(web_request *r);

/* ---- releases ---- */

typedef struct web_job web_job;

void web_route_ready(web_request *r);
void web_route_release(web_request *r);
void web_route_job(web_request *r);
void web_route_stop(web_request *r);
/* Asks a release that is running to stop, waits for it, and says on stderr what became of it. Gives its exit code. */
int web_jobs_end(web_server *server);
void web_jobs_free(web_server *server);

/* ---- accounts ---- */

void web_route_account(web_request *r);
void web_route_void(web_request *r);
void web_route_raise(web_request *r);
void web_route_export(web_request *r);
void web_route_verify(web_request *r);

/* ---- tickets ---- */

/* A file of a release that may be looked at once, within a minute. */
typedef struct web_ticket {
    char id[33];
    char *bytes;
    size_t length;
    const char *name, *type;
    double until;
} web_ticket;

void web_route_open(web_request *r);
bool web_ticket_take(web_server *server, const char *id, web_ticket *ticket); /* the caller frees its bytes */
void web_tickets_free(web_server *server);

/* ---- the gate ---- */

/* What a request is before anything of its body is read. */
typedef struct web_entry {
    int status;             /* 0: it may go on; otherwise what it is refused with */
    const char *code, *why; /* of a refusal */
    const web_route *route;
    const char *asset, *ticket; /* one of the three */
    size_t length;              /* of the body */
} web_entry;

web_entry web_gate(web_server *server, struct MHD_Connection *connection, const char *method, const char *url,
                   const char *version);

/* ---- assets ---- */

typedef struct web_asset {
    const char *name, *type, *etag;
    const unsigned char *bytes;
    size_t length;
} web_asset;

extern const web_asset web_assets[]; /* written by web/embed; ends with an empty one */

/* ---- the server ---- */

typedef struct web_connection {
    bool used;
    int socket;
    double deadline; /* when it is cut off, by the monotonic clock; 0: not */
} web_connection;

struct web_server {
    const web_options *options;
    struct MHD_Daemon *daemon;
    int root;                 /* the folder, O_PATH; it is also the current folder */
    char *also[WEB_ALSO + 1]; /* absolute, without links; ends with NULL */
    char token[WEB_TOKEN + 1];
    unsigned port;
    char host[2][32], origin[2][40]; /* "127.0.0.1:PORT", "localhost:PORT" */
    char folder_name[NAME_MAX + 1];
    atomic_int refusals;
    atomic_bool ending;
    _Atomic double last; /* when the last request came */
    web_queue queues[WEB_QUEUES];
    pthread_mutex_t lock; /* of what follows */
    web_connection connections[WEB_CONNECTIONS + 8];
    web_ticket tickets[WEB_TICKETS];
    web_job *job;
};

double web_now(void); /* seconds of the monotonic clock */
bool web_random(char *hex, size_t digits);

#endif
