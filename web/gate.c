/* The gate: who may ask at all, decided by the head of a request, before a byte of its body is read.
 *
 * Any web page that is open in a browser of this computer can send requests here, and any local process can. What they cannot
 * do: a page of another site cannot leave out Origin, cannot name our Host after its own name was pointed at 127.0.0.1, and
 * cannot know the token; a process of another user does not know the token either.
 *
 *     421  the Host is not ours: a name of somebody else was resolved to this computer (DNS rebinding)
 *     403  a page of another origin asks
 *     404, 405  no such address, or not by this method
 *     401  no token, or a wrong one; after 20 different wrong ones the server ends
 *     415, 411, 413  not JSON, no length, too long                                                                  */
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server.h"


/* Headers that mean something here. Each may be there once: two that contradict each other would be read differently by
 * whoever stands before us and by us. */
typedef struct head {
    const char *host, *origin, *site, *mode, *dest, *token, *type, *length, *coding;
    bool twice;
} head;

static enum MHD_Result take(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    head *h = context;
    const struct {
        const char *name;
        const char **value;
    } known[] = {{"Host", &h->host},           {"Origin", &h->origin},         {"Sec-Fetch-Site", &h->site},
                 {"Sec-Fetch-Mode", &h->mode}, {"Sec-Fetch-Dest", &h->dest},   {"Authorization", &h->token},
                 {"Content-Type", &h->type},   {"Content-Length", &h->length}, {"Transfer-Encoding", &h->coding}};
    (void)kind;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(name, known[i].name) != 0) continue;
        if (*known[i].value) h->twice = true;
        *known[i].value = value ? value : "";
    }
    return MHD_YES;
}

static web_entry refuse(int status, const char *code, const char *why)
{
    return (web_entry){.status = status, .code = code, .why = why};
}

static bool is_ours(const char names[2][40], const char *name)
{
    return strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0;
}

/* A link from elsewhere to the page itself, which contains nothing of anybody: also the file by which we open a browser is such
 * a link. What the page then asks for is asked by the page. */
static bool is_visit(const head *h, const char *method, const char *url)
{
    return !h->origin && h->site && h->mode && h->dest && strcmp(method, "GET") == 0 && strcmp(url, "/") == 0 &&
           strcmp(h->site, "cross-site") == 0 && strcmp(h->mode, "navigate") == 0 && strcmp(h->dest, "document") == 0;
}

static bool is_same_origin(const web_server *server, const head *h)
{
    return (!h->origin || is_ours(server->origin, h->origin)) &&
           (!h->site || strcmp(h->site, "same-origin") == 0 || strcmp(h->site, "none") == 0);
}

/* Nobody guesses 256 bits: a wrong token has no consequence, or everybody on this computer could end the server. */
static bool has_token(const web_server *server, const head *h)
{
    static const char scheme[] = "Bearer ";
    const size_t length = sizeof scheme - 1;
    return h->token && strncmp(h->token, scheme, length) == 0 && strlen(h->token) == length + WEB_TOKEN &&
           CRYPTO_memcmp(h->token + length, server->token, WEB_TOKEN) == 0;
}

/* "application/json", perhaps with "; charset=utf-8". */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0) return false;
    type += sizeof json - 1;
    type += strspn(type, " \t");
    return *type == '\0' || *type == ';';
}

static web_entry for_page(web_server *server, const char *method, const char *url)
{
    const char *name = strcmp(url, "/") == 0 ? "index.html" : url + 1;
    const bool get = strcmp(method, "GET") == 0;
    if (strncmp(url, "/view/", 6) == 0)
        return get ? (web_entry){.ticket = url + 6}
                   : refuse(MHD_HTTP_METHOD_NOT_ALLOWED, "request", "a view is asked for by GET");
    if (server->options->assets && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(name) && name[0] != '.')
        return (web_entry){.asset = name};
    for (const web_asset *asset = web_assets; asset->name; asset++)
        if (strcmp(asset->name, name) == 0)
            return get ? (web_entry){.asset = asset->name}
                       : refuse(MHD_HTTP_METHOD_NOT_ALLOWED, "request", "a file of the page is asked for by GET");
    return refuse(MHD_HTTP_NOT_FOUND, "request", "there is nothing at this address");
}

web_entry web_gate(web_server *server, struct MHD_Connection *connection, const char *method, const char *url,
                   const char *version)
{
    head h = {0};
    char *end = NULL;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take, &h);
    if (!h.host || h.twice || url[0] != '/' || (strcmp(h.host, server->host[0]) != 0 && strcmp(h.host, server->host[1]) != 0) ||
        strcmp(version, MHD_HTTP_VERSION_1_1) != 0)
        return refuse(MHD_HTTP_MISDIRECTED_REQUEST, "request", "this server answers to its own address only, in HTTP/1.1");
    if (!is_same_origin(server, &h) && !is_visit(&h, method, url))
        return refuse(MHD_HTTP_FORBIDDEN, "request", "a page of another origin may not ask here");
    if (strncmp(url, "/api/", 5) != 0) return for_page(server, method, url);

    if (strcmp(method, "POST") != 0) return refuse(MHD_HTTP_METHOD_NOT_ALLOWED, "request", "routes are asked by POST");
    if (!has_token(server, &h))
        return refuse(MHD_HTTP_UNAUTHORIZED, "token", "open the page by the address that `tamis serve` has printed");
    if (!is_json(h.type)) return refuse(MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "request", "Content-Type: expected application/json");
    if (h.coding || !h.length) return refuse(MHD_HTTP_LENGTH_REQUIRED, "request", "Content-Length: expected");
    const unsigned long long length = strtoull(h.length, &end, 10);
    if (h.length[0] < '0' || h.length[0] > '9' || *end)
        return refuse(MHD_HTTP_BAD_REQUEST, "request", "Content-Length: not a number");
    if (length > WEB_BODY) return refuse(MHD_HTTP_CONTENT_TOO_LARGE, "request", "a request has at most 1 MB and 64 kB");
    const web_route *route = web_route_named(server, url + 5);
    if (!route) return refuse(MHD_HTTP_NOT_FOUND, "request", "there is no such route");
    return (web_entry){.route = route, .length = (size_t)length};
}
