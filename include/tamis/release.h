/* The main job: from a plan to published numbers.
 *
 * Noise is drawn, the rows are added up to integers, the two are added and published. The release is charged to the account of
 * its survey in the plan's ledger, durably, before a value is read; the same release again returns the numbers that were kept
 * and spends nothing.
 *
 * From a release texts are made: JSON for programs, CSV for spreadsheets, a table for people. The library writes nothing but the
 * output folder. <tamis/preview.h> says beforehand what a plan would release, <tamis/verify.h> checks afterwards what was
 * released, <tamis/estimate.h> gives the same statistics without protection.                                         */
#ifndef TAMIS_RELEASE_H
#define TAMIS_RELEASE_H

#include <tamis/base.h>
#include <tamis/engine.h>
#include <tamis/plan.h>

TAMIS_BEGIN

/* What happens if the same release was made before. Its numbers are in the ledger, and nothing of the rows is, so nobody can see
 * whether they have changed since: whoever knows says so by `rows_version`. */
typedef enum tamis_repeat {
    TAMIS_REPEAT_IF_SAME_VERSION, /* the numbers that were kept, for nothing; REFUSED if a version is named and another one, or
                                     none, was kept with them */
    TAMIS_REPEAT_KEPT,            /* the numbers that were kept, whatever their version */
    TAMIS_REPEAT_PAID             /* fresh noise, which is paid for */
} tamis_repeat;

/* How a release is made; all zero but the size is the usual way. */
typedef struct tamis_release_options {
    size_t size;              /* sizeof(tamis_release_options): later versions have more fields */
    tamis_engine engine;      /* for files, TAMIS_ENGINE_DUCKDB or TAMIS_ENGINE_MEMORY; else the one that fits the source */
    unsigned threads;         /* of the engine; 0: as many as the machine has */
    const tamis_source *rows; /* instead of the plan's source; NULL: the plan's. `engine` is then ignored */
    tamis_watch watch;
    const char *ledger; /* NULL: the plan's */
    tamis_repeat repeat;
    const char
        *rows_version; /* the caller's own words for the state of its rows, such as "delta@12": kept in the ledger with what
                                 was released from them; never a hash of the data. NULL: none */
    /* why this survey gets an account beside another one over the same source; NULL: then it is refused */
    const char *new_account;
    const char *sign; /* the file of a secret key (<tamis/key.h>), read before the charge; NULL: not signed */
    /* bytes that the engine may use; 0: three quarters of what the machine, or the control group of the process, has. PostgreSQL
     * and a caller's own engine ignore it */
    uint64_t memory;
    tamis_phase *phase; /* called after each phase; may be NULL */
    void *phase_context;
    int allow_command; /* not 0: a plan with `source: {command: ...}` may run that program; otherwise it is REFUSED */
} tamis_release_options;

/* The engine that reads the rows of a plan, for a release or an estimate, unless options name another: DuckDB for files, but
 * ReadStat for those of SPSS, Stata and SAS, and TAMIS_ENGINE_MEMORY for CSV files where DuckDB is not installed.
 * TAMIS_ENGINE_FITTING for NULL. No row is read. */
TAMIS_API tamis_engine tamis_release_engine(const tamis_plan *plan);

typedef struct tamis_release tamis_release;

/* Releases the statistics of a plan.
 *
 * Needs    a plan; `folder` does not exist yet (NULL: nothing is written); options may be NULL.
 * Gives    a release that the caller frees with tamis_release_free, and the folder with release.json, release.csv,
 *          release.sdmx.csv, release.xlsx (up to 100,000 numbers), measurements.json, certificate.json, registry.yaml,
 *          report.html and, if it is signed, certificate.sig, complete or not at all; NULL and no folder on failure. It may
 *          outlive the plan.
 * Errors   INVALID (the plan has no budget, the folder exists, a column or file is missing, the number of rows contradicts the
 *          design: reported before any value is read), REFUSED (the budget of the account, a field that its first release has
 *          frozen, the setting, another version of the rows than that of the kept release: nothing was spent), UNABLE, SYSTEM
 *          (engine, disk, memory, cancelled by the watch). After the charge every failure is SYSTEM, and its message names the
 *          entry, the amount and what to do; no message depends on a value. */
TAMIS_USE tamis_status tamis_release_new(tamis_release **release, const tamis_plan *plan, const char *folder,
                                         const tamis_release_options *options, tamis_error *err);
TAMIS_API void tamis_release_free(tamis_release *release);

/* Whether the numbers are those of an earlier release, which the ledger kept: nothing was read, and nothing was spent. */
TAMIS_API int tamis_release_is_repeated(const tamis_release *release);

TAMIS_USE tamis_status tamis_release_json(char **text, const tamis_release *release, tamis_error *err);
TAMIS_USE tamis_status tamis_release_csv(char **text, const tamis_release *release, tamis_error *err);
TAMIS_USE tamis_status tamis_release_text(char **text, const tamis_release *release, tamis_error *err);

/* The results as one record batch, for data frames: a row for each number, with the columns
 *
 *     statistic, column, where         texts
 *     one for each grouping column     its value, or null; by_NAME if NAME is one of these columns
 *     at, line                         of a quantile; of a share below a line, or of poverty
 *     estimate, se, sampling_se, noise_sd, lower, upper, confidence, df, cv
 *     quality, notes                   "E", "F" or null (docs/accuracy.md); what was done to the number, or why it is null
 *
 * Needs    two structs of the Arrow C data interface, whose content is overwritten.
 * Gives    a schema and an array, each of which the caller releases by its own `release`; all zero on failure. They may outlive
 *          the release.
 * Errors   INVALID, SYSTEM (memory).                                                                                 */
TAMIS_USE tamis_status tamis_release_arrow(struct ArrowSchema *schema, struct ArrowArray *array, const tamis_release *release,
                                           tamis_error *err);

/* Writes the folder of a release that was made without one, or another copy: the same files as tamis_release_new writes, complete
 * or not at all. Nothing is charged.
 *
 * Needs    `folder` does not exist yet; `sign`: the file of a secret key, or NULL.
 * Errors   INVALID (the folder exists, the key), SYSTEM.                                                             */
TAMIS_USE tamis_status tamis_release_save(const tamis_release *release, const char *folder, const char *sign, tamis_error *err);

/* What the person who runs a release must not miss: that it created its ledger, that it opened its account, that its numbers are
 * those of an earlier release. The text for people begins with it; empty if there is nothing to say. It may name a path of
 * this computer, so it is not for others; release.json has it among `warnings`, without the path. */
TAMIS_USE tamis_status tamis_release_notice_text(char **text, const tamis_release *release, tamis_error *err);

/* What only the person who runs a release should see, one per line: that a file of the source was changed after the release whose
 * numbers are returned, or that rows in memory were not read and how to pay for numbers from them; that other charges of the
 * account were never published. It may depend on the data's files and names paths, so it is in no file of the folder; a program
 * prints it on stderr. An empty text if there is nothing. */
TAMIS_USE tamis_status tamis_release_remarks_text(char **text, const tamis_release *release, tamis_error *err);

/* measurements.json: the noisy integers with their exact noise laws. */
TAMIS_USE tamis_status tamis_release_measurements_json(char **text, const tamis_release *release, tamis_error *err);

/* certificate.json: everything that the guarantee follows from; <tamis/verify.h> checks it. */
TAMIS_USE tamis_status tamis_release_certificate_json(char **text, const tamis_release *release, tamis_error *err);

/* registry.yaml: the record for the public registry of deployments, with what the agency still has to fill in. */
TAMIS_USE tamis_status tamis_release_registry_yaml(char **text, const tamis_release *release, tamis_error *err);

/* report.html: one page for people. */
TAMIS_USE tamis_status tamis_release_report_html(char **text, const tamis_release *release, tamis_error *err);

TAMIS_END

#endif
