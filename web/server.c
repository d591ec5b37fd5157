/* The server: from a connection to an answer, from the first signal to the end. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD_SECONDS 5.0  /* for the head of a first request */
#define BODY_SECONDS 30.0 /* for the body of one */
#define IDLE_SECONDS 10   /* between two requests of a connection, and between two pieces of one */
#define END_AFTER (8 * 3600.0)
#define SEND_SECONDS 60.0
#define LINK_SECONDS 60.0 /* for a browser to start */
#define REFUSALS 100      /* in the log */
#define LAST_WORDS 1      /* seconds for which a page can still ask what became of a release */
#define HEAD_BYTES ((size_t)64 << 10)
#define LONGEST_WAIT 250000000L /* nanoseconds between two looks at slow clients */

double web_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool web_random(char *hex, size_t digits)
{
    unsigned char bytes[WEB_TOKEN / 2];
    const size_t count = digits / 2;
    if (count > sizeof bytes || getrandom(bytes, count, 0) != (ssize_t)count) return false;
    for (size_t i = 0; i < count; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof bytes);
    return true;
}

/* ---- slow clients ---- */

/* libmicrohttpd ends a connection after some seconds without a byte; one that sends a byte now and then would stay for ever. So
 * each has a deadline, and is cut off when it has passed. */
static void set_deadline(struct MHD_Connection *connection, web_server *server, double seconds)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    web_connection *c = info ? info->socket_context : NULL;
    if (!c) return;
    pthread_mutex_lock(&server->lock);
    c->deadline = seconds > 0 ? web_now() + seconds : 0;
    pthread_mutex_unlock(&server->lock);
}

static void connected(void *context, struct MHD_Connection *connection, void **place, enum MHD_ConnectionNotificationCode what)
{
    web_server *server = context;
    pthread_mutex_lock(&server->lock);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *place = NULL;
        for (size_t i = 0; info && i < sizeof server->connections / sizeof *server->connections; i++) {
            if (server->connections[i].used) continue;
            server->connections[i] = (web_connection){true, info->connect_fd, web_now() + HEAD_SECONDS};
            *place = &server->connections[i];
            break;
        }
    } else if (*place) {
        *(web_connection *)*place = (web_connection){0};
        *place = NULL;
    }
    pthread_mutex_unlock(&server->lock);
}

static void cut_off_slow_ones(web_server *server)
{
    const double now = web_now();
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < sizeof server->connections / sizeof *server->connections; i++) {
        web_connection *c = &server->connections[i];
        if (!c->used || c->deadline == 0 || c->deadline > now) continue;
        shutdown(c->socket, SHUT_RDWR); /* its thread closes it */
        c->deadline = 0;
    }
    pthread_mutex_unlock(&server->lock);
}

/* ---- answers ---- */

static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
static const char view_policy[] =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

static void add_headers(struct MHD_Response *response, const char *type, const char *policy)
{
    const char *const headers[][2] = {{"Content-Type", type},
                                      {"Content-Security-Policy", policy},
                                      {"X-Content-Type-Options", "nosniff"},
                                      {"Cache-Control", "no-store"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Cross-Origin-Opener-Policy", "same-origin"},
                                      {"Cross-Origin-Resource-Policy", "same-origin"}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result send_response(struct MHD_Connection *connection, int status, struct MHD_Response *response)
{
    if (!response) return MHD_NO;
    const enum MHD_Result sent = MHD_queue_response(connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result send_answer(web_request *r)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(r->answer.length, r->answer.bytes, free);
    if (response) r->answer = (web_text){0};
    if (response) add_headers(response, "application/json", page_policy);
    set_deadline(r->connection, r->server, SEND_SECONDS);
    return send_response(r->connection, r->status, response);
}

static enum MHD_Result send_file(struct MHD_Connection *connection, const web_server *server, const char *name)
{
    char path[WEB_PATH];
    struct stat found;
    snprintf(path, sizeof path, "%s/%s", server->options->assets, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) != 0) {
        if (fd >= 0) close(fd);
        return MHD_NO;
    }
    struct MHD_Response *response = MHD_create_response_from_fd64((uint64_t)found.st_size, fd);
    const char *end = strrchr(name, '.');
    add_headers(response,
                end && strcmp(end, ".js") == 0     ? "text/javascript; charset=utf-8"
                : end && strcmp(end, ".css") == 0  ? "text/css; charset=utf-8"
                : end && strcmp(end, ".svg") == 0  ? "image/svg+xml"
                : end && strcmp(end, ".html") == 0 ? "text/html; charset=utf-8"
                                                   : "application/octet-stream",
                page_policy);
    return send_response(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result send_asset(web_request *r, const char *name)
{
    if (r->server->options->assets) return send_file(r->connection, r->server, name);
    const web_asset *asset = web_assets;
    while (strcmp(asset->name, name) != 0) asset++; /* the gate has found it */
    const char *known = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "If-None-Match");
    const bool same = known && strcmp(known, asset->etag) == 0;
    struct MHD_Response *response = MHD_create_response_from_buffer(same ? 0 : asset->length, (void *)(uintptr_t)asset->bytes,
                                                                    MHD_RESPMEM_PERSISTENT);
    if (response) {
        add_headers(response, asset->type, page_policy);
        MHD_add_response_header(response, "ETag", asset->etag);
        MHD_add_response_header(response, "Content-Encoding", "gzip"); /* every browser reads it */
        /* what is kept is asked for again each time: another version of tamis may be at this port */
        MHD_del_response_header(response, "Cache-Control", "no-store");
        MHD_add_response_header(response, "Cache-Control", "no-cache");
    }
    r->status = same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
    return send_response(r->connection, r->status, response);
}

/* A file of a release, once. It may contain whatever somebody has put into it: in a sandbox it can do nothing. */
static enum MHD_Result send_view(web_request *r, const char *id)
{
    web_ticket ticket;
    if (!web_ticket_take(r->server, id, &ticket)) {
        web_refuse(r, MHD_HTTP_NOT_FOUND, "request", "this address was used already, or is older than a minute");
        return send_answer(r);
    }
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(ticket.length, ticket.bytes, free);
    if (!response) free(ticket.bytes);
    if (response) add_headers(response, ticket.type, view_policy);
    if (response && strcmp(ticket.name, "report.html") != 0) {
        char disposition[128];
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", ticket.name);
        MHD_add_response_header(response, "Content-Disposition", disposition);
    }
    r->status = MHD_HTTP_OK;
    return send_response(r->connection, r->status, response);
}

/* ---- requests ---- */

/* How deep the JSON of a body is, seen without parsing it: the parser calls itself. */
static int depth_of(const char *bytes, size_t length)
{
    bool text = false, escaped = false;
    int depth = 0, deepest = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = bytes[i];
        if (escaped) escaped = false;
        else if (text && c == '\\') escaped = true;
        else if (c == '"') text = !text;
        else if (!text && (c == '[' || c == '{')) deepest = ++depth > deepest ? depth : deepest;
        else if (!text && (c == ']' || c == '}')) depth--;
    }
    return deepest;
}

static bool is_member(const char *members, const char *name)
{
    const size_t length = strlen(name);
    while (*members) {
        const size_t word = strcspn(members, " ");
        if (word == length && strncmp(members, name, length) == 0) return true;
        members += word;
        members += strspn(members, " ");
    }
    return false;
}

/* Answers a body that is wrong. */
static void read_body(web_request *r)
{
    if (r->length == r->expected && depth_of(r->body, r->length) <= WEB_DEPTH)
        r->in = json_loadb(r->body, r->length, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(r->in)) {
        web_refuse(r, MHD_HTTP_BAD_REQUEST, "request", "expected one JSON object, at most %d deep", WEB_DEPTH);
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach (r->in, key, value) {
        if (is_member(r->route->members, key)) continue;
        web_refuse(r, WEB_WRONG, "request", "%.100s: this route has no such member", key);
        return;
    }
    (void)web_string(r, "lane", &r->lane, false);
}

static enum MHD_Result begin(web_server *server, struct MHD_Connection *connection, const char *method, const char *url,
                             const char *version, void **context)
{
    const web_entry entry = web_gate(server, connection, method, url, version);
    web_request *r = calloc(1, sizeof *r);
    if (!r) return MHD_NO;
    *context = r;
    r->server = server;
    r->connection = connection;
    r->route = entry.route;
    clock_gettime(CLOCK_MONOTONIC, &r->began);
    if (entry.status != 0) {
        web_refuse(r, entry.status, entry.code, "%s", entry.why);
        return send_answer(r);
    }
    atomic_store(&server->last, web_now());
    set_deadline(connection, server, BODY_SECONDS);
    if (entry.asset) return send_asset(r, entry.asset);
    if (entry.ticket) return send_view(r, entry.ticket);
    r->expected = entry.length;
    r->body = malloc(entry.length + 1);
    return r->body ? MHD_YES : MHD_NO;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *bytes, size_t *size, void **request)
{
    web_server *server = context;
    web_request *r = *request;
    if (!r) return begin(server, connection, method, url, version, request);
    if (!r->route) { /* what is sent with a request for an asset is thrown away */
        *size = 0;
        return MHD_YES;
    }
    if (*size > 0) {
        if (*size > r->expected - r->length) return MHD_NO;
        memcpy(r->body + r->length, bytes, *size);
        r->length += *size;
        *size = 0;
        return MHD_YES;
    }
    if (!r->in && !r->answered) {
        read_body(r);
        set_deadline(connection, server, 0); /* from here on it waits for us */
        if (!r->answered) {
            MHD_suspend_connection(connection);
            web_queue_add(&server->queues[r->route->place], r);
            return MHD_YES;
        }
    }
    return r->answered ? send_answer(r) : MHD_NO;
}

/* Time, route, status, milliseconds: nothing of what was asked or answered. */
static void log_request(const web_request *r)
{
    struct timespec now;
    struct tm clock;
    char text[16] = "";
    const time_t wall = time(NULL);
    if (r->server->options->quiet || (!r->route && r->status < MHD_HTTP_BAD_REQUEST)) return;
    if (!r->route) { /* a page that asks without end would fill the terminal */
        const int count = atomic_fetch_add(&r->server->refusals, 1);
        if (count == REFUSALS) fprintf(stderr, "tamis: further refusals are not logged\n");
        if (count >= REFUSALS) return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (localtime_r(&wall, &clock)) strftime(text, sizeof text, "%H:%M:%S", &clock);
    const double ms = (double)(now.tv_sec - r->began.tv_sec) * 1e3 + (double)(now.tv_nsec - r->began.tv_nsec) * 1e-6;
    fprintf(stderr, "%s %-8s %d %.0f ms\n", text, r->route ? r->route->name : "-", r->status, ms);
}

static void completed(void *context, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode code)
{
    web_server *server = context;
    web_request *r = *request;
    (void)code;
    set_deadline(connection, server, IDLE_SECONDS + HEAD_SECONDS);
    if (!r) return;
    log_request(r);
    json_decref(r->in);
    free(r->body);
    free(r->answer.bytes);
    free(r);
    *request = NULL;
}

/* ---- beginning and end ---- */

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "tamis: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return TAMIS_SYSTEM;
}

/* What libmicrohttpd has to say about a client is of no use to the person at the terminal, and may quote it. */
static void say_nothing(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

static bool take_also(web_server *server, const char *list)
{
    size_t count = 0;
    while (list && *list) {
        char given[PATH_MAX], real[PATH_MAX];
        const size_t length = strcspn(list, ":");
        if (length >= sizeof given || count == WEB_ALSO) return false;
        memcpy(given, list, length);
        given[length] = '\0';
        if (!realpath(given, real) || strcmp(real, "/") == 0 || !(server->also[count++] = strdup(real))) {
            fprintf(stderr, "tamis: --also: there is no '%s' that could be read\n", given);
            return false;
        }
        list += length + (list[length] == ':');
    }
    return true;
}

/* Bound to this computer alone. The names by which we may be called follow from the port, and are there before the first
 * request. */
static int listen_here(web_server *server)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)server->options->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    const int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 || bind(fd, (struct sockaddr *)&here, size) != 0 ||
        listen(fd, WEB_CONNECTIONS) != 0 || getsockname(fd, (struct sockaddr *)&here, &size) != 0) {
        close(fd);
        return -1;
    }
    server->port = ntohs(here.sin_port);
    for (size_t i = 0; i < 2; i++) {
        snprintf(server->host[i], sizeof server->host[i], "%s:%u", names[i], server->port);
        snprintf(server->origin[i], sizeof server->origin[i], "http://%s:%u", names[i], server->port);
    }
    return fd;
}

static bool start(web_server *server)
{
    const int listening = listen_here(server);
    if (listening < 0) return false;
    server->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_ALLOW_SUSPEND_RESUME |
                                          MHD_USE_ERROR_LOG,
                                      0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
                                      MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CONNECTIONS,
                                      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                      HEAD_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, completed, server,
                                      MHD_OPTION_NOTIFY_CONNECTION, connected, server, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
                                      MHD_OPTION_END);
    if (!server->daemon) close(listening);
    return server->daemon != NULL;
}

static void put_address(const web_server *server)
{
    if (server->options->json)
        printf("{\"url\": \"http://%s/#%s\", \"port\": %u}\n", server->host[0], server->token, server->port);
    else if (isatty(STDOUT_FILENO)) printf("The page is at http://%s/#%s\nCtrl-C ends it.\n", server->host[0], server->token);
    else
        printf("The page is at http://%s/ (its address with the token is printed on a terminal, or with --json)\n",
               server->host[0]);
    fflush(stdout);
}

/* A file that only its owner may read leads the browser to the address: the arguments of a program are for everybody to see. */
static void open_browser(const web_server *server, char path[PATH_MAX])
{
    extern char **environ;
    const char *run = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    const char *folder = run && *run ? run : temporary && *temporary ? temporary : "/tmp";
    posix_spawn_file_actions_t quiet;
    pid_t child;
    path[0] = '\0';
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return;
    snprintf(path, PATH_MAX, "%.3000s/tamis-XXXXXX.html", folder);
    const int fd = mkstemps(path, 5); /* 0600 */
    if (fd < 0) {
        path[0] = '\0';
        return;
    }
    dprintf(fd,
            "<!doctype html><meta charset=utf-8><title>tamis</title><meta http-equiv=refresh content=\"0;url=http://%s/#%s\">\n",
            server->host[0], server->token);
    close(fd);
    posix_spawn_file_actions_init(&quiet);
    for (int stream = 0; stream <= 2; stream++)
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", stream == 0 ? O_RDONLY : O_WRONLY, 0);
    char *const arguments[] = {"xdg-open", path, NULL};
    if (posix_spawnp(&child, "xdg-open", &quiet, NULL, arguments, environ) != 0)
        fprintf(stderr, "tamis: no browser could be opened (xdg-open is missing): open the address by hand\n");
    posix_spawn_file_actions_destroy(&quiet);
}

static void wait_for_end(web_server *server, const sigset_t *signals, char *link)
{
    const double begun = web_now();
    const struct timespec pause = {.tv_nsec = LONGEST_WAIT};
    while (!atomic_load(&server->ending)) {
        if (sigtimedwait(signals, NULL, &pause) > 0) atomic_store(&server->ending, true);
        cut_off_slow_ones(server);
        if (*link && web_now() - begun > LINK_SECONDS) {
            unlink(link);
            *link = '\0';
        }
        if (web_now() - atomic_load(&server->last) > END_AFTER) {
            fprintf(stderr, "tamis: nobody has asked for 8 hours: the page ends\n");
            atomic_store(&server->ending, true);
        }
    }
}

static int serve(web_server *server)
{
    sigset_t signals;
    char link[PATH_MAX] = "", here[PATH_MAX];
    const char *name;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* for all threads that follow; this one waits for them */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    if (!web_random(server->token, WEB_TOKEN)) return fail("no randomness", strerror(errno));
    if (!take_also(server, server->options->also)) return 2;
    server->root = open(server->options->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (server->root < 0 || fchdir(server->root) != 0 || !getcwd(here, sizeof here)) {
        fprintf(stderr, "tamis: %s: %s\n", server->options->folder, strerror(errno));
        return 2;
    }
    name = strrchr(here, '/');
    snprintf(server->folder_name, sizeof server->folder_name, "%.*s", NAME_MAX, name && name[1] ? name + 1 : here);
    const int probe = web_open_file(server, ".", O_PATH);
    if (probe < 0) return fail("this system has no openat2, by which files outside of the folder are kept out", strerror(errno));
    close(probe);
    for (size_t i = 0; i < WEB_QUEUES; i++)
        if (!web_queue_start(&server->queues[i])) return fail("no thread", NULL);
    if (!start(server)) {
        fprintf(stderr, "tamis: no server could be started at 127.0.0.1:%u: %s\n", server->options->port, strerror(errno));
        return TAMIS_SYSTEM;
    }
    put_address(server);
    if (server->options->open) open_browser(server, link);
    wait_for_end(server, &signals, link);
    if (*link) unlink(link);
    return TAMIS_OK;
}

int web_serve(const web_options *options)
{
    web_server *server = calloc(1, sizeof *server);
    if (!server) return fail("out of memory", NULL);
    server->options = options;
    server->root = -1;
    atomic_store(&server->last, web_now());
    pthread_mutex_init(&server->lock, NULL);
    json_object_seed(0);
    int code = serve(server);
    atomic_store(&server->ending, true);
    MHD_socket listening = server->daemon ? MHD_quiesce_daemon(server->daemon) : MHD_INVALID_SOCKET;
    if (listening != MHD_INVALID_SOCKET) close(listening);
    bool ended = web_queue_end(&server->queues[WEB_ERRAND]); /* a release that is being accepted is so, or is not */
    const int released = web_jobs_end(server);
    if (released != TAMIS_OK) sleep(LAST_WORDS);
    if (code == TAMIS_OK) code = released;
    for (size_t i = 0; i < WEB_QUEUES; i++)
        if (i != WEB_ERRAND) ended &= web_queue_end(&server->queues[i]);
    if (!ended) _exit(code); /* nothing is lost: what is charged and published is durable step by step */
    if (server->daemon) MHD_stop_daemon(server->daemon);
    web_jobs_free(server);
    web_tickets_free(server);
    for (char **also = server->also; *also; also++) free(*also);
    if (server->root >= 0) close(server->root);
    pthread_mutex_destroy(&server->lock);
    explicit_bzero(server->token, sizeof server->token);
    free(server);
    return code;
}
