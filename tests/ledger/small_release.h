/* A release in small, for tests of charges that were never published: what src/release/run.c does with the ledger and the
 * folder, with one file that says whose answer it is. */
#ifndef TESTS_LEDGER_SMALL_RELEASE_H
#define TESTS_LEDGER_SMALL_RELEASE_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "ledger/ledger.h"
#include "tests/ledger/kit.h"

#define BUDGET "3"

typedef struct small_release {
    char temporary[160], answer[80];
    int64_t entry, claim;
    bool repeated;
} small_release;

/* Charges, or claims, and writes the answer into the temporary folder; minus the status of what failed. */
static inline int small_begin(small_release *r, tamis_ledger *ledger, const char *measures, bool again, tamis_error *err)
{
    sample_charge s;
    tamis_charged charged;
    char name[200], text[120];
    *r = (small_release){0};
    snprintf(r->temporary, sizeof r->temporary, "%s/.out.XXXXXX", folder);
    if (!mkdtemp(r->temporary)) return -TAMIS_SYSTEM;
    sample_charge_make(&s, "1", BUDGET, measures);
    s.charge.again = again;
    s.charge.leftover = r->temporary;
    tamis_status status = tamis_ledger_charge(&charged, ledger, &s.charge, err);
    sample_charge_clear(&s);
    if (status != TAMIS_OK) rmdir(r->temporary);
    if (status != TAMIS_OK) return -(int)status;
    r->entry = charged.entry;
    r->claim = charged.claim;
    r->repeated = charged.measurements != NULL;
    snprintf(r->answer, sizeof r->answer, "%s",
             charged.measurements ? charged.measurements : r->temporary + strlen(r->temporary) - 6);
    tamis_charged_clear(&charged);
    snprintf(name, sizeof name, "%s/answer", r->temporary);
    const int length = snprintf(text, sizeof text, "%lld %s", (long long)r->entry, r->answer);
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    const bool written = file >= 0 && write(file, text, (size_t)length) == length;
    if (file >= 0) close(file);
    return written ? TAMIS_OK : -TAMIS_SYSTEM;
}

/* Notes the release and gives the folder a name of its own. */
static inline int small_end(const small_release *r, tamis_ledger *ledger, tamis_error *err)
{
    char name[200];
    tamis_status status = r->repeated ? TAMIS_OK : tamis_ledger_released(ledger, r->entry, r->answer, err);
    snprintf(name, sizeof name, "%s/out-%s", folder, r->temporary + strlen(r->temporary) - 6);
    if (status == TAMIS_OK && rename(r->temporary, name) != 0) status = TAMIS_SYSTEM;
    return -(int)status;
}

static inline int small_whole(const char *measures, bool again, tamis_error *err)
{
    tamis_ledger *ledger = NULL;
    small_release r;
    tamis_status status = tamis_ledger_open(&ledger, path, err);
    int result = -(int)status;
    if (status == TAMIS_OK) result = small_begin(&r, ledger, measures, again, err);
    if (result == TAMIS_OK) result = small_end(&r, ledger, err);
    tamis_ledger_free(ledger);
    return result;
}

/* What is wrong with the folder; NULL if nothing is. Every answer that was published is the one that the ledger has kept
 * for a charge that is released; one that lies in a dotted folder is that too, or of a charge that is still open. The
 * account adds up. */
static inline const char *small_problem(size_t *published)
{
    static char message[600];
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    char *problems = NULL;
    message[0] = '\0';
    *published = 0;
    if (access(path, F_OK) != 0) return NULL;
    if (!verifies(&problems)) snprintf(message, sizeof message, "%.500s", problems);
    tamis_free(problems);
    if (*message) return message;
    if (tamis_ledger_look(&ledger, path, &err) != TAMIS_OK) {
        snprintf(message, sizeof message, "%.500s", err.message);
        return message;
    }
    DIR *list = opendir(folder);
    for (struct dirent *e; !*message && (e = readdir(list));) {
        const bool named = strncmp(e->d_name, "out-", 4) == 0, dotted = strncmp(e->d_name, ".out.", 5) == 0;
        char name[400], text[120] = "", answer[100] = "";
        long long entry = 0;
        if (!named && !dotted) continue;
        snprintf(name, sizeof name, "%s/%s/answer", folder, e->d_name);
        FILE *file = fopen(name, "r");
        if (file && !fgets(text, sizeof text, file)) text[0] = '\0';
        if (file) fclose(file);
        if (sscanf(text, "%lld %99s", &entry, answer) != 2) {
            if (named) snprintf(message, sizeof message, "%s has no answer", e->d_name);
            continue; /* killed before there was one */
        }
        const tmi_ledger_charge *c = tmi_book_charge(&ledger->book, entry);
        char *kept = NULL;
        if (c && c->released) assert_int_equal(tmi_store_measurements(&kept, ledger->file, c->released, &err), TAMIS_OK);
        const bool same = kept && strcmp(kept, answer) == 0, open = c && tmi_charge_is_open(c);
        if (!same && !(dotted && open))
            snprintf(message, sizeof message, "%.40s has the answer %.20s, and entry %lld is %s with %.20s", e->d_name, answer,
                     entry,
                     !c            ? "none"
                     : c->released ? "released"
                     : c->voided   ? "voided"
                                   : "open",
                     kept ? kept : "none");
        *published += named;
        tamis_free(kept);
    }
    closedir(list);
    tamis_ledger_free(ledger);
    return *message ? message : NULL;
}

#endif
