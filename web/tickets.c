/* Tickets: a browser shows a file in a tab of its own only by asking for it without the token, so the page first gets an address
 * that nobody can guess, which is good for one look within a minute. The file is read when the ticket is made. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

#define SECONDS 60.0
#define FILE_BYTES ((size_t)64 << 20)

static const struct {
    const char *name, *type;
} names[] = {{"report.html", "text/html; charset=utf-8"},
             {"release.json", "application/json"},
             {"release.csv", "text/csv; charset=utf-8"},
             {"measurements.json", "application/json"},
             {"certificate.json", "application/json"},
             {"certificate.sig", "application/octet-stream"},
             {"registry.yaml", "application/yaml"},
             {"release.sdmx.csv", "text/csv; charset=utf-8"},
             {"release.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}};

static void clear(web_ticket *ticket)
{
    free(ticket->bytes);
    *ticket = (web_ticket){0};
}

/* The oldest makes room. */
static void keep(web_server *server, const web_ticket *ticket)
{
    pthread_mutex_lock(&server->lock);
    web_ticket *place = &server->tickets[0];
    for (size_t i = 0; i < WEB_TICKETS; i++) {
        web_ticket *other = &server->tickets[i];
        if (other->bytes && other->until < web_now()) clear(other);
        if (other->until < place->until) place = other;
    }
    clear(place);
    *place = *ticket;
    pthread_mutex_unlock(&server->lock);
}

void web_route_open(web_request *r)
{
    const char *folder = NULL, *name = "report.html";
    char path[WEB_PATH];
    web_ticket ticket = {.until = web_now() + SECONDS};
    tamis_error err = {0};
    web_text out = {0};
    if (!web_string(r, "folder", &folder, true) || !web_string(r, "name", &name, false)) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0) ticket.name = names[i].name, ticket.type = names[i].type;
    if (!ticket.name || strlen(folder) > 4000) {
        web_refuse(r, WEB_WRONG, "request", "name: expected a file of a release, such as report.html");
        return;
    }
    snprintf(path, sizeof path, "%.4000s/%s", *folder ? folder : ".", ticket.name);
    if (web_read_file(r->server, path, FILE_BYTES, &ticket.bytes, &ticket.length, &err) != TAMIS_OK) {
        web_failed(r, &err);
        return;
    }
    if (!web_random(ticket.id, sizeof ticket.id - 1)) {
        free(ticket.bytes);
        return;
    }
    web_put(&out, "{\"view\": \"/view/");
    web_put(&out, ticket.id);
    web_put(&out, "\"}");
    keep(r->server, &ticket);
    web_answer_text(r, MHD_HTTP_OK, &out);
}

bool web_ticket_take(web_server *server, const char *id, web_ticket *ticket)
{
    bool found = false;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < WEB_TICKETS && !found; i++) {
        web_ticket *other = &server->tickets[i];
        if (!other->bytes || strlen(id) != sizeof other->id - 1 || strcmp(id, other->id) != 0) continue;
        found = other->until >= web_now();
        if (found) {
            *ticket = *other;
            *other = (web_ticket){0};
        }
    }
    pthread_mutex_unlock(&server->lock);
    return found;
}

void web_tickets_free(web_server *server)
{
    for (size_t i = 0; i < WEB_TICKETS; i++) clear(&server->tickets[i]);
}
