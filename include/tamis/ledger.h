/* The budget book: who spent what on which sample.
 *
 * A ledger is one file. It holds an account for each survey, that is for each sample: its budget and the fields of the
 * plan that its first release has frozen; and a list of entries: charges, and the fact that what was charged was
 * released. Entries are only ever added. Each one carries the SHA-256 of its own text and of the hash before it, so that
 * an edited, deleted or reordered entry breaks the chain; a certificate that names an entry and its hash proves that the
 * book was not rolled back behind it.
 *
 * A release charges by itself, in this order (<tamis/experimental/charge.h> has the calls for mechanisms of one's own):
 *
 *     open        the book is read and its chain recomputed
 *     charge      durable before anything is read; REFUSED if it would exceed the budget: then nothing was spent
 *     ...         the data is read, noise is added, the output is written
 *     released    the noisy numbers are kept, so that the same release again costs nothing
 *
 * A process that dies in between has spent its charge and published nothing. Such a charge can be voided
 * (tamis_ledger_void), or is claimed by the next identical release instead of paying again; not while its process lives.
 * Two processes at once are served one after the other: they cannot overspend together.
 *
 * Charges are exact and add up exactly. An account of pure epsilons takes epsilons. An account of rho takes rhos, and an
 * epsilon as its rho: epsilon tanh(epsilon/2), or less if its charge says so. An account of (epsilon, delta) adds epsilons
 * and deltas; from its first rho on, what was added up so far is taken off the budget for good, further charges count as
 * rho, and their sum, converted to epsilon and delta, must fit into the rest; then a charge with a delta is refused. If that
 * first one is a release with normal noise, mu^2 is added up instead, and a rho without a mu is refused. These sums hold also if
 * later charges are chosen after seeing earlier answers (docs/ledger.md has the argument). Whatever else a caller knows about
 * several releases of one plan together goes into the one charge of that plan.
 *
 * A ledger belongs to one thread at a time, and not to a child of fork. */
#ifndef TAMIS_LEDGER_H
#define TAMIS_LEDGER_H

#include <tamis/num.h>

TAMIS_BEGIN

typedef struct tamis_ledger tamis_ledger;

/* Lengths of the texts in a charge and in what is kept of a release, in bytes: names are for people, the others for
 * programs. SQLite holds texts of up to 10^9 bytes. */
#define TAMIS_LEDGER_NAME 1000
#define TAMIS_LEDGER_TEXT ((size_t)256 << 20)

/* Opens a ledger, for charging. A file that does not exist, or is empty, becomes a new one, which only its owner may read.
 *
 * Needs    a path whose folder exists; not a symbolic link, and no file that has two names.
 * Gives    a ledger that the caller frees with tamis_ledger_free; NULL on failure. Everything in it has been checked as
 *          by tamis_ledger_verify_text, except that a fault of the measurements kept is found when they are asked for.
 * Cost     about 20 microseconds an entry.
 * Errors   INVALID (another kind of file; damaged, tampered with; of a later version), SYSTEM (disk, read-only folder,
 *          busy for more than ten seconds, memory).                                                                   */
TAMIS_USE tamis_status tamis_ledger_open(tamis_ledger **ledger, const char *path, tamis_error *err);

/* The same, for reading only: the file must exist and is not changed. */
TAMIS_USE tamis_status tamis_ledger_look(tamis_ledger **ledger, const char *path, tamis_error *err);

TAMIS_API void tamis_ledger_free(tamis_ledger *ledger); /* NULL is fine */

/* ---- decisions of people ---- */

/* An amount: epsilon, or epsilon and delta, or rho; the others NULL. */
typedef struct tamis_coin {
    const tamis_number *epsilon, *delta, *rho;
} tamis_coin;

/* Voids a charge that was never published: its amount no longer counts, and the entry and the reason stay in the book. What
 * the interrupted process has left in its temporary folder is deleted first.
 *
 * Needs    a reason of 1 to TAMIS_LEDGER_NAME bytes, for people, not blank.
 * Gives    on OK the charge is voided on the disk. A charge without `leftover`, as earlier versions made them, has no lock
 *          and names no folder: that nobody is at work on it any more, and that nothing of it is left, is up to the caller.
 * Errors   INVALID (the reason; open for reading only), REFUSED (no such charge; it was released or voided; its process
 *          lives; it has fixed how much rho the account may spend; what is left of it cannot be deleted), SYSTEM. Then it
 *          stays charged; but after SYSTEM it is unknown whether the entry reached the disk. */
TAMIS_USE tamis_status tamis_ledger_void(tamis_ledger *ledger, int64_t entry, const char *reason, tamis_error *err);

/* Raises the budget of a survey: a decision of people, which stays in the book and appears in every later certificate. After it,
 * guarantees with delta or rho hold at the highest cap only (docs/ledger.md).
 *
 * Needs    a budget of the same kind as that of the account, one number of it larger and none smaller; a reason of 1 to
 *          TAMIS_LEDGER_NAME bytes, for people, not blank.
 * Errors   INVALID, REFUSED (no such account; not a higher budget of the same kind), SYSTEM. But for SYSTEM nothing was
 *          changed. */
TAMIS_USE tamis_status tamis_ledger_raise(tamis_ledger *ledger, const char *survey, const tamis_coin *budget, const char *reason,
                                          tamis_error *err);

/* ---- looking ---- */

/* The book for people, and as `tamis ledger show --json` prints it (docs/ledger.md).
 *
 * An outsider's number is that of everything charged, amplified once; where none is claimed the text says why.
 *
 * Needs    at: the delta at which an account of rho is converted to an epsilon; NULL: 10^-9.
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                         */
TAMIS_USE tamis_status tamis_ledger_text(char **text, const tamis_ledger *ledger, const tamis_number *at, tamis_error *err);
TAMIS_USE tamis_status tamis_ledger_json(char **json, const tamis_ledger *ledger, const tamis_number *at, tamis_error *err);

/* Everything in the book: as CSV one charge per line; as JSON every entry exactly as it was hashed and the numbers that were
 * kept, from which a stranger can recompute the chain.
 *
 * Gives, Errors   as above, and INVALID if numbers that were kept are damaged.                                        */
TAMIS_USE tamis_status tamis_ledger_csv(char **csv, tamis_ledger *ledger, tamis_error *err);
TAMIS_USE tamis_status tamis_ledger_entries_json(char **json, tamis_ledger *ledger, tamis_error *err);

/* Recomputes the chain, the sums and the caps, looks at every table, and finds what was edited, deleted or reordered. Each
 * certificate, a JSON file or the folder that has it, names an entry and its hash, which must be in the chain: that finds what
 * was deleted at the end. And that entry must be what the certificate says it is: the charge of this survey at this time, of
 * this amount, for these measurements, after these sums; and the measurements that the ledger keeps are those that the
 * certificate names.
 *
 * Needs    a file; certificates may be NULL if count is 0.
 * Gives    *ok: no problem was found; and the problems, one per line, or as
 *          {"ok": ..., "problems": [{"field", "message"}]}, which the caller frees with tamis_free. 0 and NULL on failure.
 * Errors   INVALID (no such file, another kind of file, a certificate that is not JSON), SYSTEM.                      */
TAMIS_USE tamis_status tamis_ledger_verify_text(int *ok, char **text, const char *path, const char *const *certificates,
                                                size_t count, tamis_error *err);
TAMIS_USE tamis_status tamis_ledger_verify_json(int *ok, char **json, const char *path, const char *const *certificates,
                                                size_t count, tamis_error *err);

TAMIS_END

#endif
