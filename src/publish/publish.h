/* Everything that is charged is published by this driver: a release, a quantile of a file, a tally, and whatever is charged
 * later. One step per line in tmi_publish:
 *
 *     begin        the key that signs, that a temporary folder can be made beside the place of the output, what would be charged
 *     look         what the ledger says: refused, published before, or what would be left
 *     feasibility  that everything after the charge can be asked, kept, promised and written
 *     charge       durable; from here on a failure has cost something
 *     do           the numbers, from the data; or those that the ledger has kept
 *     keep         the numbers, in the ledger, durable: nothing leaves the process that is not kept
 *     folder       all files, into the temporary folder, and the certificate that names them
 *     sign         the certificate
 *     released     the folder gets its name, and the charge is closed
 *
 * Up to the charge a failure costs nothing. After it a failure is the system's (SYSTEM), whatever its cause says, and names the
 * entry, the amount and what to do. Wherever a publication was stopped, the same one again goes on and pays nothing more:
 *
 *     before the charge             it begins
 *     between charge and keep       it takes over the charge, and makes the numbers
 *     between keep and released     it publishes the numbers that were kept, and reads no data
 *
 * Which of the three it is, the ledger says. So a write, a sync or a commit whose result was not known is read back by the next
 * run, and no answer ever has two versions: numbers that were not kept were seen by nobody. */
#ifndef TMI_PUBLISH_PUBLISH_H
#define TMI_PUBLISH_PUBLISH_H

#include <tamis/key.h>

#include "base/sign.h"
#include "publish/account.h"
#include "publish/folder.h"
#include "publish/signature.h"

/* What differs between publications. A step that is NULL has nothing to do; each gets the caller's job. */
typedef struct tmi_publishing {
    const char *again; /* what to do after a failure: "Run the same plan again" */

    /* What is charged; `leftover` is the driver's. What the bill points to lives as long as the job. */
    tamis_status (*bill)(tmi_bill *bill, void *job, tamis_error *err);

    /* The same was published before: REFUSED, and nothing is spent, if it must not be given back. Asked again at the charge. */
    tamis_status (*repeat)(const tamis_charged *kept, void *job, tamis_error *err);

    /* With the account as it is before the charge. `repeated`: nothing will be asked of the data. */
    tamis_status (*check)(bool repeated, void *job, tamis_error *err);

    tamis_status (*charged)(void *job, tamis_error *err); /* with the account as it is now: nothing is read yet */
    tamis_status (*make)(void *job, tamis_error *err);    /* reads the data */
    tamis_status (*recall)(const char *kept, void *job, tamis_error *err);
    tamis_status (*keep)(const char **text, void *job, tamis_error *err); /* what the ledger keeps, from which recall makes the
                                                                             same; the job's */

    /* Everything that goes to files. With a folder: also its files, the text of its certificate, and the hash that is signed. */
    tamis_status (*write)(char **certificate, char hash[TMI_SHA256_TEXT], tmi_folder *folder, void *job, tamis_error *err);
    void (*undo)(void *job); /* a later step failed: what `write` has put elsewhere than into the folder goes */
} tmi_publishing;

typedef struct tmi_publication {
    const tmi_publishing *steps;
    void *job;
    const char *ledger;       /* NULL: nobody keeps count */
    const char *folder;       /* NULL: none */
    const char *sign;         /* the file of the secret key; NULL: the certificate is not signed */
    char *signed_by;          /* where the key's fingerprint goes, TAMIS_KEY_FINGERPRINT bytes, from the first step on */
    const char *rows_version; /* kept with the numbers; NULL: none */
    tmi_account *account;     /* of the job, which clears it: after the charge, the ledger and the charge */
    tamis_phase *phase;       /* called after each phase; may be NULL */
    void *phase_context;
    char **charge;  /* gets "epsilon 1 (entry 2 of FILE)", freed by the job; NULL: it is not asked for */
    bool rehearsed; /* it ends before the charge: nothing is spent or published */
} tmi_publication;

/* Errors   those of the steps; after the charge SYSTEM. Then nothing was published. */
tamis_status tmi_publish(const tmi_publication *p, tamis_error *err);

/* Says to whoever stopped a publication before its charge that it was not paid for; other errors stay as they are. */
void tmi_nothing_charged(tamis_error *err);

#endif
