/* Connections to PostgreSQL, as libpq takes them: keywords and values, an address postgresql://..., or a database's name. */
#include <string.h>
#include <strings.h>

#include "plan/plan.h"
#include "plan/sections.h"

static const char spaces[] = " \t\n\v\f\r";

bool tmi_has_password(const char *connection)
{
    if (strcasestr(connection, "password")) return true;
    const char *host = strstr(connection, "://");
    if (!host) return false;
    host += 3;
    const char *at = host + strcspn(host, "@/");
    return *at == '@' && memchr(host, ':', (size_t)(at - host)) != NULL;
}

/* What a connection says. */
typedef struct said {
    bool service, address, other;
} said;

static bool is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

static void take(said *s, const char *key, size_t length, const char *value, size_t size)
{
    static const char *const harmless[] = {"dbname", "connect_timeout", "application_name"}, *const address[] = {"host", "port",
                                                                                                                 "user"};
    bool known = is(key, length, "sslmode") && is(value, size, "verify-full");
    for (size_t i = 0; i < 3; i++) {
        known = known || is(key, length, harmless[i]) || is(key, length, address[i]);
        s->address = s->address || is(key, length, address[i]);
    }
    if (is(key, length, "service")) s->service = true;
    else if (!known) s->other = true;
}

/* Every key of an address follows a ? or a &; one that is written with % is none of ours. */
static void read_address(said *s, const char *text)
{
    s->address = true;
    for (const char *key = strpbrk(text, "?&"); key; key = strpbrk(key, "?&")) {
        const size_t length = strcspn(++key, "=&?");
        const char *value = key + length + (key[length] == '=');
        take(s, key, length, value, strcspn(value, "&?"));
    }
}

static void read_keywords(said *s, const char *at)
{
    for (at += strspn(at, spaces); *at && !s->other; at += strspn(at, spaces)) {
        const char *key = at;
        const size_t length = strcspn(at, "= \t\n\v\f\r");
        at += length;
        at += strspn(at, spaces);
        if (*at != '=') s->other = true; /* libpq cannot read it either */
        if (s->other) return;
        at++;
        at += strspn(at, spaces);
        const bool quoted = *at == '\'';
        const char *value = at += quoted;
        for (; *at && (quoted ? *at != '\'' : !strchr(spaces, *at)); at++)
            if (*at == '\\' && at[1]) at++;
        take(s, key, length, value, (size_t)(at - value));
        if (quoted && *at) at++;
        else if (quoted) s->other = true;
    }
}

bool tmi_is_plain_connection(const char *connection)
{
    said s = {0};
    if (strncmp(connection, "postgresql://", 13) == 0 || strncmp(connection, "postgres://", 11) == 0)
        read_address(&s, connection);
    else if (strchr(connection, '=')) read_keywords(&s, connection);
    return !s.other && !(s.service && s.address);
}
