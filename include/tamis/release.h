/* From a plan to published numbers.
 *
 *     tamis_check         what a plan would measure, how wrong the numbers will be, what it promises; reads no data
 *     tamis_release_run   the main job: noise is drawn, the rows are added up to integers, the two are added and published
 *     tamis_estimate_run  the same statistics without protection, for use inside the agency only
 *
 * Each gives an object from which texts are made: JSON for programs, CSV for spreadsheets, a table for people. The
 * library writes nothing but the output folder of a release.
 *
 * A release is charged to the account of its survey in the plan's ledger, durably, before a value is read; the same
 * release again returns the numbers that were kept and spends nothing.                                              */
#ifndef TAMIS_RELEASE_H
#define TAMIS_RELEASE_H

#include <tamis/base.h>
#include <tamis/engine.h>
#include <tamis/plan.h>

TAMIS_BEGIN

/* ---- before the data ---- */

typedef struct tamis_preview tamis_preview;

/* Needs    a plan; no file of its source is opened.
 * Gives    a preview that the caller frees with tamis_preview_free; NULL on failure, unless it is the ledger that refuses the
 *          release: then the preview is there, and the error says why. It may outlive the plan.
 * Errors   INVALID (plan NULL; a noise scale beyond 10^-6 .. 2^55: the message names the statistic; more
 *          than 2^20 integers to count), REFUSED (the setting, the ledger), UNABLE, SYSTEM. */
TAMIS_API tamis_status tamis_check(tamis_preview **preview, const tamis_plan *plan, tamis_error *err);
TAMIS_API void tamis_preview_free(tamis_preview *preview);

/* Texts; the caller frees each with tamis_free. On failure *text is NULL. In the text for people what is alike shares a line, unless
 * all is asked for. */
TAMIS_API tamis_status tamis_preview_json(char **text, const tamis_preview *preview, tamis_error *err);
TAMIS_API tamis_status tamis_preview_text(char **text, const tamis_preview *preview, tamis_error *err);
TAMIS_API tamis_status tamis_preview_text_all(char **text, const tamis_preview *preview, tamis_error *err);

/* ---- with protection ---- */

/* How a run is made; all zero is the usual way. */
typedef struct tamis_run_options {
    const char *engine;       /* "duckdb" or "memory", for files; NULL: the one that fits the source (tamis_run_engine) */
    unsigned threads;         /* of the engine; 0: as many as the machine has */
    tamis_progress *progress; /* may be NULL */
    void *context;            /* handed to progress */
    const char *ledger;       /* NULL: the plan's */
    int again;                /* pay for fresh noise although the same release was made before */
    const char *new_account;  /* why this survey gets an account beside another one over the same source; NULL: then it is refused */
    const char *sign;         /* the file of a secret key (<tamis/key.h>), read before the charge; NULL: not signed */
    const tamis_source *rows; /* instead of the plan's source; NULL: the plan's. `engine` is then not looked at */
} tamis_run_options;

/* The engine that reads the rows of a plan unless options name another: "postgres", "readstat" or "duckdb"; and "memory", for
 * CSV files, where DuckDB is not installed. The answers of all engines are the same. NULL for NULL. No row is read. */
TAMIS_API const char *tamis_run_engine(const tamis_plan *plan);

typedef struct tamis_release tamis_release;

/* Releases the statistics of a plan.
 *
 * Needs    a plan; `folder` does not exist yet (NULL: nothing is written); options may be NULL.
 * Gives    a release that the caller frees with tamis_release_free, and the folder with release.json, release.csv,
 *          measurements.json, certificate.json, registry.yaml, report.html and, if it is signed, certificate.sig, complete or
 *          not at all; NULL and no folder on failure. It may outlive the plan.
 * Errors   INVALID (the plan has no budget, the folder exists, a column or file is missing, the number of rows contradicts the design: told
 *          before any value is read), REFUSED (the budget of the account, a field that its first release has frozen, the
 *          setting: nothing was spent), UNABLE, SYSTEM (engine, disk, memory, cancelled by progress). After the first
 *          value has been read no message depends on a value.                                                         */
TAMIS_API tamis_status tamis_release_run(tamis_release **release, const tamis_plan *plan, const char *folder,
                                         const tamis_run_options *options, tamis_error *err);
TAMIS_API void tamis_release_free(tamis_release *release);

TAMIS_API tamis_status tamis_release_json(char **text, const tamis_release *release, tamis_error *err);
TAMIS_API tamis_status tamis_release_csv(char **text, const tamis_release *release, tamis_error *err);
TAMIS_API tamis_status tamis_release_text(char **text, const tamis_release *release, tamis_error *err);

/* What the one who runs a release must not miss: that it created its ledger, that it opened its account, that its numbers are those of
 * an earlier release. The text for people begins with it; an empty text if there is none of that. It may name a path of this
 * computer, so it is not for others; release.json has it among `warnings`, without the path. */
TAMIS_API tamis_status tamis_release_notice(char **text, const tamis_release *release, tamis_error *err);

/* What only the one who runs a release should hear, a line each: that a file of the source was changed after the release whose numbers
 * are returned, that other charges of the account were never published. It may depend on the data's files and names paths, so it is in
 * no file of the folder; a program prints it on stderr. An empty text if there is nothing. */
TAMIS_API tamis_status tamis_release_remarks(char **text, const tamis_release *release, tamis_error *err);

/* measurements.json: the noisy integers with their exact noise laws. */
TAMIS_API tamis_status tamis_release_measurements(char **text, const tamis_release *release, tamis_error *err);

/* certificate.json: everything that the guarantee follows from; <tamis/verify.h> checks it. */
TAMIS_API tamis_status tamis_release_certificate(char **text, const tamis_release *release, tamis_error *err);

/* registry.yaml: the record for the public registry of deployments, with what the agency still has to fill in. */
TAMIS_API tamis_status tamis_release_registry(char **text, const tamis_release *release, tamis_error *err);

/* report.html: one page for people. */
TAMIS_API tamis_status tamis_release_report(char **text, const tamis_release *release, tamis_error *err);

/* ---- without protection ---- */

typedef struct tamis_estimate tamis_estimate;

/* The ordinary design-based estimates of a plan's statistics: values as they stand, no clamping, no grid, no noise;
 * standard errors by linearisation, intervals by Student's t, as R's package survey computes them.
 *
 * Needs    a plan; options may be NULL.
 * Gives    an estimate that the caller frees with tamis_estimate_free; it must not leave the agency.
 * Errors   INVALID, SYSTEM as above.                                                                                 */
TAMIS_API tamis_status tamis_estimate_run(tamis_estimate **estimate, const tamis_plan *plan,
                                          const tamis_run_options *options, tamis_error *err);
TAMIS_API void tamis_estimate_free(tamis_estimate *estimate);

TAMIS_API tamis_status tamis_estimate_json(char **text, const tamis_estimate *estimate, tamis_error *err);
TAMIS_API tamis_status tamis_estimate_csv(char **text, const tamis_estimate *estimate, tamis_error *err);
TAMIS_API tamis_status tamis_estimate_text(char **text, const tamis_estimate *estimate, tamis_error *err);

TAMIS_END

#endif
