/* The table of routes: POST /api/NAME, JSON in and out. docs/page.md describes each. */
#include <string.h>

#include "server.h"

/* clang-format off */
const web_route web_routes[] = {
    {"about",    web_route_about,    "",                                              false, WEB_QUICK},
    {"files",    web_route_files,    "folder",                                        false, WEB_QUICK},
    {"read",     web_route_read,     "file",                                          false, WEB_QUICK},
    {"save",     web_route_save,     "file text hash",                                true,  WEB_QUICK},
    {"example",  web_route_example,  "",                                              true,  WEB_QUICK},
    {"header",   web_route_header,   "file connection table",                         false, WEB_HEADER},
    {"new",      web_route_new,      "file connection table plan",                    false, WEB_HEADER},
    {"draft",    web_route_draft,    "file text",                                     false, WEB_QUICK},
    {"set",      web_route_set,      "file text changes",                             false, WEB_QUICK},
    {"preview",  web_route_preview,  "file text advice again lane",                   false, WEB_WORKER},
    {"compare",  web_route_compare,  "file text lane",                                false, WEB_WORKER},
    {"epsilon",  web_route_epsilon,  "file text share errors svg lane",               false, WEB_WORKER},
    {"explain",  web_route_explain,  "topic",                                         false, WEB_QUICK},
    {"settings", web_route_settings, "",                                              false, WEB_QUICK},
    {"meaning",  web_route_meaning,  "epsilon delta outsider_epsilon outsider_delta unit svg", false, WEB_QUICK},
    {"ready",    web_route_ready,    "file text folder sign again new_account",         true,  WEB_ERRAND},
    {"release",  web_route_release,  "file text folder sign again new_account confirm", true,  WEB_ERRAND},
    {"job",      web_route_job,      "job",                                           false, WEB_QUICK},
    {"stop",     web_route_stop,     "job",                                           true,  WEB_QUICK},
    {"account",  web_route_account,  "ledger file text delta",                        false, WEB_ERRAND},
    {"void",     web_route_void,     "ledger entry reason",                           true,  WEB_ERRAND},
    {"raise",    web_route_raise,    "ledger survey epsilon delta rho reason",        true,  WEB_ERRAND},
    {"export",   web_route_export,   "ledger form",                                   false, WEB_ERRAND},
    {"verify",   web_route_verify,   "folder ledger against",                         false, WEB_ERRAND},
    {"open",     web_route_open,     "folder name",                                   false, WEB_ERRAND},
    {0},
};
/* clang-format on */

const web_route *web_route_named(const web_server *server, const char *name)
{
    for (const web_route *route = web_routes; route->name; route++)
        if (strcmp(route->name, name) == 0) return route->writes && server->options->read_only ? NULL : route;
    return NULL;
}
