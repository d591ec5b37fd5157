/* The page of tamis: a server for one person on one computer, in front of the public functions of the library.
 *
 * Like the command it includes only <tamis/...>. docs/page.md describes what it answers, and what it refuses. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>

typedef struct web_options {
    const char *folder;  /* whose files are shown; everything else is out of reach */
    unsigned port;       /* 0: one that is free */
    bool read_only;      /* nothing is written, charged or released */
    bool open;           /* open a browser */
    bool json, quiet;    /* the address as one JSON object; no log */
    const char *also;    /* further files and folders that plans may name, separated by colons; NULL: none */
    const char *example; /* the plan of the example that comes with tamis; NULL: it is missing */
    const char *assets;  /* take the page from this folder instead of the program; only in test builds */
} web_options;

/* Serves until a signal ends it, or nobody has asked for 8 hours. Gives an exit code; what is wrong is on stderr. */
int web_serve(const web_options *options);

#endif
