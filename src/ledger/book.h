/* What a ledger says, in memory: accounts and charges, built from its entries one by one. The same code reads a file that is
 * opened, what another process has added since, and what this one has just written.
 *
 * An entry is one line of JSON. Its hash is the SHA-256 of the hash before it (64 zeros before the first), a newline, and the
 * entry. The kinds:
 *
 *     {"number": 1, "time": "...", "kind": "account", "survey": "...", "budget": {...}, "frozen": {...}, "source": ["file
 *     a.csv"]}
 *
 *     {"number": 2, "time": "...", "kind": "charge", "survey": "...", "release": "...", "amount": {...}, "measures": "..."}
 *
 *     {"number": 3, "time": "...", "kind": "released", "entry": 2, "measurements": "hash of the text kept in its own table"}
 *
 *     {"number": 4, "time": "...", "kind": "voided", "entry": 2, "reason": "..."}: 2 was never published and no longer counts
 *
 *     {"number": 5, "time": "...", "kind": "claimed", "entry": 2}: a later identical release took 2 over
 *
 *     {"number": 6, "time": "...", "kind": "wave", "survey": "...", "wave": {...}, "frozen": {...}, "source": ["file b.csv"]}
 *
 *     {"number": 7, "time": "...", "kind": "raised", "survey": "...", "budget": {...the new cap...}, "reason": "..."}
 *
 * and "source" in a charge or a claim where it is not just what its wave has noted, "claimable": true in a charge whose owner
 * holds a lock (owner.h), "claim": 5 in a release of a charge that was claimed, "rows_version": "..." in a release of rows whose
 * state the caller has named,
 * "wave": {...} in an account that was opened by a wave, "wave": "its name" in a charge to one,
 * "clock_behind": true where the computer's clock was earlier than the entry before, "new_account": "..." in an account whose
 * opening beside another one over the same source was given a reason. Older accounts have no "source".
 *
 * Invariants of a book without faults:
 *  1  Entries are numbered 1, 2, 3 ..., their hashes form the chain, their times never go backwards.
 *  2  A survey has one account, opened before its charges; a wave is opened once, before its charges; a charge is released or
 *     voided, at most once, after it; it is claimed only while it is neither, and released by the last one who claimed it.
 *  3  The charges of each account that are not voided stay within the budget of their day, which is only ever raised. */
#ifndef TMI_LEDGER_BOOK_H
#define TMI_LEDGER_BOOK_H

#include <stdint.h>

#include "base/sha256.h"
#include "ledger/waves.h"

/* A wave of a survey, as its first release has fixed it. */
typedef struct tmi_ledger_wave {
    tmi_wave wave;
    int64_t number; /* of the entry that opened it */
    tmi_value *frozen;
    char *design;       /* canonical: the design under "outsider", if there is one */
    const char *reason; /* what it says there instead; NULL: nothing */
    tmi_value *parts;   /* of all sources that it was declared to be in: a list of texts; NULL: not noted */
} tmi_ledger_wave;

typedef struct tmi_ledger_account {
    char *survey;
    char *new_account;      /* why it was opened beside another one; NULL: no reason was given */
    tmi_ledger_wave *waves; /* at least one; the first was opened with the account */
    size_t wave_count;
    tmi_ledger_coin budget; /* after the last raise */
    tmi_raise *raises;
    size_t raise_count;
    tmi_losses losses;
} tmi_ledger_account;

typedef struct tmi_ledger_charge {
    size_t account, wave;                    /* wave: of the account */
    int64_t number, released, voided, claim; /* released, voided, claimed last: the number of that entry, or 0 */
    bool claimable, as_rho;                  /* as_rho: it counts as rho, or mu^2, for everybody, also if it is an epsilon */
    bool as_mu;                              /* it then counts as mu^2 */
    char *release, *void_reason;
    char *rows_version; /* of the rows that were released, in the caller's words; NULL: not said */
    tmi_value *parts;   /* of the source that it was last declared to read; NULL: not noted */
    tmi_ledger_coin amount;
    char time[TAMIS_LEDGER_TIME], released_time[TAMIS_LEDGER_TIME], voided_time[TAMIS_LEDGER_TIME];
    char hash[TMI_SHA256_TEXT], identity[TMI_SHA256_TEXT], kept[TMI_SHA256_TEXT]; /* of the entry, of `measures`, of what is
                                                                                     kept of the release */
} tmi_ledger_charge;

typedef struct tmi_book {
    tmi_ledger_account *accounts;
    tmi_ledger_charge *charges;
    size_t account_count, account_room, charge_count, charge_room;
    int64_t number; /* of the last entry; its hash and time */
    char hash[TMI_SHA256_TEXT], time[TAMIS_LEDGER_TIME];
} tmi_book;

/* The first charge of a ledger: entry 1 opens its account. */
#define TMI_FIRST_CHARGE 2

void tmi_book_init(tmi_book *book);
void tmi_book_clear(tmi_book *book);

tmi_ledger_account *tmi_book_account(const tmi_book *book, const char *survey); /* NULL if there is none */
tmi_ledger_charge *tmi_book_charge(const tmi_book *book, int64_t number);       /* NULL if there is none */

/* The first account but `own` (NULL: none) that has a part of the source which `own` has not noted, or, where parts are not noted
 * (NULL), the same frozen "source"; NULL if there is none. `ledger`: the place of its file, from whose folder the paths of
 * parts are seen. */
const tmi_ledger_account *tmi_book_beside(const tmi_book *book, const tmi_ledger_account *own, const tmi_value *parts,
                                          const tmi_value *frozen, const char *ledger);
bool tmi_is_parts(const tmi_value *value); /* a list of texts */

/* name NULL: of releases without one; or NULL */
tmi_ledger_wave *tmi_account_wave(const tmi_ledger_account *account, const char *name);

/* ---- what was frozen (frozen.c) ---- */

/* The first field in which a release differs from what its wave has frozen, or from what is fixed in all waves of a survey, since
 * losses of one kind alone add up; NULL if there is none. */
const char *tmi_frozen_difference(const tmi_value *frozen, const tmi_value *says);
const char *tmi_frozen_difference_of_survey(const tmi_value *frozen, const tmi_value *says);

/* " (design.srs.sample: 200 there, 210 here)": the first place inside a field where the two differ, and what they say there. Both
 * are declarations of plans, which are public. Nothing if the field is the same in both. */
void tmi_frozen_words(tmi_text *text, const tmi_value *frozen, const tmi_value *says, const char *field);

/* As it is kept: without the budget, and without the source where its parts are noted instead. The caller frees it. SYSTEM. */
tamis_status tmi_frozen_kept(tmi_value **kept, const tmi_value *frozen, bool with_source, tamis_error *err);

/* Opens one more wave of an account, by the entry `number`. `wave` and `parts` may be NULL. INVALID; the account is as it was
 * on failure. */
tamis_status tmi_account_open(tmi_ledger_account *account, int64_t number, const tmi_value *wave, const tmi_value *frozen,
                              const tmi_value *parts, tamis_error *err);
void tmi_ledger_wave_clear(tmi_ledger_wave *wave);

/* Notes the source of a charge, or of its claim (NULL: it is the wave's), with the charge and with its wave. INVALID, SYSTEM. */
tamis_status tmi_charge_source(tmi_ledger_charge *charge, tmi_ledger_wave *wave, const tmi_value *parts, tamis_error *err);

/* The first wave of the account, other than that of this name, that has a part of the source and has groups, but others; NULL if
 * there is none. */
const tmi_ledger_wave *tmi_account_other_groups(const tmi_ledger_account *account, const tmi_wave *wave, const tmi_value *parts,
                                                const char *ledger);

/* Notes a raise (raise.c). INVALID if it is not one; the account is as it was on failure. */
tamis_status tmi_account_raised(tmi_ledger_account *account, int64_t number, const char *time, const tmi_value *budget,
                                const char *reason, tamis_error *err);

/* Whether a charge opened its account: no earlier one counts. */
bool tmi_book_opened(const tmi_book *book, const tmi_ledger_charge *charge);

/* The entry from which on a charge is the first of its ledger that counts, since all before it are voided by then: 0 if there are
 * none, INT64_MAX if one of them is not voided. */
int64_t tmi_book_first_from(const tmi_book *book, const tmi_ledger_charge *charge);

/* Neither released nor voided. */
bool tmi_charge_is_open(const tmi_ledger_charge *charge);

/* losses += what a charge counts as once the book has come to the entry `at`: nothing if it is voided by then. */
tamis_status tmi_count_charge(tmi_losses *losses, const tmi_ledger_account *account, const tmi_ledger_charge *charge, int64_t at,
                              tamis_error *err);

/* What the charges of an account come to, as the book is now. *losses is empty on failure. */
tamis_status tmi_count_account(tmi_losses *losses, const tmi_book *book, size_t account, tamis_error *err);

/* REFUSED if the amount of a charge cannot be given back: in an account of (epsilon, delta) that counts in rho, what was charged
 * before the first rho has fixed how much rho there may be, and that must not move with the answers (count.c). */
tamis_status tmi_check_returnable(const tmi_book *book, const tmi_ledger_charge *charge, tamis_error *err);

/* ---- faults ---- */

#define TMI_FAULT_FIELD 128

typedef struct tmi_fault {
    char field[TMI_FAULT_FIELD], message[256];
} tmi_fault;

/* Where faults are collected. NULL instead: the first one is an error. */
typedef struct tmi_faults {
    tmi_fault *list;
    size_t count, room;
} tmi_faults;

/* INVALID with "damaged or tampered with: field: message", or OK and noted. */
tamis_status tmi_fault_note(tmi_faults *faults, tamis_error *err, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void tmi_faults_clear(tmi_faults *faults);

/* [{"field", "message"}, ...], and the same as lines. */
void tmi_faults_put(tmi_json_out *out, const tmi_faults *faults);
void tmi_faults_write(tmi_text *text, const tmi_faults *faults);

/* The bytes of a certificate, or of a file beside it; the caller frees them, whatever happens. Or the certificate, read: any
 * JSON, which the caller frees. INVALID, SYSTEM. */
tamis_status tmi_certificate_read(tmi_value **document, const char *path, tamis_error *err);
tamis_status tmi_read_certificate(char **bytes, size_t *length, const char *path, tamis_error *err);

/* ---- entries ---- */

/* The hash of an entry after `before`. */
tamis_status tmi_chain_hash(char hash[TMI_SHA256_TEXT], const char *before, const char *entry, tamis_error *err);

/* Whether a text is a time as entries have it: 2026-11-16T03:17:40Z. */
bool tmi_is_time(const char *text);

/* Takes an entry into the book; on failure the book is as it was. */
tamis_status tmi_book_add(tmi_book *book, int64_t number, const char *entry, const char *hash, tmi_faults *faults,
                          tamis_error *err);

/* Whether invariants 1 and 2 hold, as far as a book that was read without faults remembers its entries (base/check.h). */
bool tmi_book_is_sound(const tmi_book *book);

/* Invariant 3, of what was charged since the last entry that raised a budget or voided a charge: those have looked at what was
 * before. */
tamis_status tmi_book_check_budgets(const tmi_book *book, tmi_faults *faults, tamis_error *err);

/* Entries as text, for the place after `number`. The caller frees them with tmi_free. */
typedef struct tmi_entry_head {
    int64_t number;
    const char *time;
    bool clock_behind;
} tmi_entry_head;

/* `parts` (JSON) and `new_account` may be NULL. */
tamis_status tmi_entry_account(char **entry, const tmi_entry_head *head, const char *survey, const tmi_wave *wave,
                               const tmi_ledger_coin *budget, const tmi_value *frozen, const tmi_value *parts,
                               const char *new_account, tamis_error *err);
tamis_status tmi_entry_wave(char **entry, const tmi_entry_head *head, const char *survey, const tmi_wave *wave,
                            const tmi_value *frozen, const tmi_value *parts, tamis_error *err);
tamis_status tmi_entry_raised(char **entry, const tmi_entry_head *head, const char *survey, const tmi_ledger_coin *budget,
                              const char *reason, tamis_error *err);
tamis_status tmi_entry_charge(char **entry, const tmi_entry_head *head, const char *survey, const char *wave, const char *release,
                              /* wave: a name, or NULL */
                              const tmi_ledger_coin *amount, const char *measures, const tmi_value *parts, bool claimable,
                              tamis_error *err);
tamis_status tmi_entry_released(char **entry, const tmi_entry_head *head, int64_t charge, int64_t claim, const char *measurements,
                                const char *rows_version, tamis_error *err); /* claim: 0 for none; rows_version may be NULL */
tamis_status tmi_entry_voided(char **entry, const tmi_entry_head *head, int64_t charge, const char *reason, tamis_error *err);
tamis_status tmi_entry_claimed(char **entry, const tmi_entry_head *head, int64_t charge, const tmi_value *parts,
                               tamis_error *err);

#endif
