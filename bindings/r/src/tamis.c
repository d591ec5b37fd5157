/* The library for R: passes JSON and vectors, holds results in external pointers, and knows no statistics.
 *
 * A failure is no R error here: it is returned, as a list of the class tamis_failure with what tamis_error_json writes and the
 * condition that stopped the work, and R/conditions.R signals what users see. R's errors jump over C frames, so whatever the
 * library gives hangs on an external pointer, made before the call, before R is asked for anything. While the library works, R is
 * called by the watch alone, in R's own thread, inside R_ToplevelExec, which no jump leaves. */
#include "json.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <R_ext/Visibility.h>
#include <limits.h>
#include <string.h>
#include <tamis/tamis.h>
#include <unistd.h>

static pid_t home; /* the process that loaded the package */

/* ---- arguments ---- */

/* A text, or NULL for R's NULL. R code has made it UTF-8. */
static const char *text_of(SEXP x)
{
    if (x == R_NilValue) return NULL;
    if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1 || STRING_ELT(x, 0) == NA_STRING) Rf_error("expected one text");
    return CHAR(STRING_ELT(x, 0));
}

static const char *needed_text(SEXP x)
{
    const char *text = text_of(x);
    if (!text) Rf_error("expected one text");
    return text;
}

/* An item of a list by its name; NULL if there is none. */
static SEXP item(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < XLENGTH(list) && names != R_NilValue; i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
    return R_NilValue;
}

/* ---- what has to be freed ---- */

typedef enum kind { TEXT, PLAN, SOURCE, PREVIEW, RELEASE, ESTIMATE, LEDGER, BATCH, NUMBER } kind;
static const char *const kind_names[] = {"text", "plan", "source", "preview", "release", "estimate", "ledger", "batch", "number"};

/* Results as Arrow gives them. */
typedef struct batch {
    struct ArrowSchema schema;
    struct ArrowArray array;
} batch;

static kind kind_of(SEXP pointer)
{
    if (TYPEOF(pointer) == EXTPTRSXP && TYPEOF(R_ExternalPtrTag(pointer)) == INTSXP)
        return (kind)INTEGER(R_ExternalPtrTag(pointer))[0];
    Rf_error("not an object of tamis");
}

static void finish(SEXP pointer)
{
    void *object = R_ExternalPtrAddr(pointer);
    if (!object) return;
    R_ClearExternalPtr(pointer);
    switch (kind_of(pointer)) {
    case TEXT: tamis_free(object); break;
    case PLAN: tamis_plan_free(object); break;
    case SOURCE: tamis_source_free(object); break;
    case PREVIEW: tamis_preview_free(object); break;
    case RELEASE: tamis_release_free(object); break;
    case ESTIMATE: tamis_estimate_free(object); break;
    case LEDGER: tamis_ledger_free(object); break;
    case NUMBER: tamis_number_free(object); break;
    case BATCH: {
        batch *b = object;
        if (b->schema.release) b->schema.release(&b->schema);
        if (b->array.release) b->array.release(&b->array);
        R_Free(b);
    }
    }
}

/* A pointer to what a call will give; empty until then. */
static SEXP keeper(kind what)
{
    SEXP tag = PROTECT(Rf_ScalarInteger((int)what));
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, tag, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finish, TRUE);
    UNPROTECT(2);
    return pointer;
}

static void keep(SEXP pointer, void *object) { R_SetExternalPtrAddr(pointer, object); }

static void *object_of(SEXP pointer, kind what)
{
    if (kind_of(pointer) != what) Rf_error("not a %s", kind_names[what]);
    void *object = R_ExternalPtrAddr(pointer);
    if (!object)
        Rf_error("this %s was made by another session of R: make it again; the same release costs nothing", kind_names[what]);
    return object;
}

/* ---- failures ---- */

/* What R signals: the status, the error as JSON, the condition that stopped the work, or NULL. */
static SEXP failure_by(const tamis_error *err, SEXP condition)
{
    SEXP kept = PROTECT(keeper(TEXT));
    SEXP list = PROTECT(Rf_allocVector(VECSXP, 3)), class = PROTECT(Rf_mkString("tamis_failure"));
    char *json = NULL;
    if (tamis_error_json(&json, err, NULL, NULL, NULL) != TAMIS_OK) Rf_error("tamis: no memory");
    keep(kept, json);
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)err->status));
    SET_VECTOR_ELT(list, 1, Rf_ScalarString(Rf_mkCharCE(json, CE_UTF8)));
    SET_VECTOR_ELT(list, 2, condition);
    Rf_setAttrib(list, R_ClassSymbol, class);
    finish(kept);
    UNPROTECT(3);
    return list;
}

static SEXP failure(const tamis_error *err) { return failure_by(err, R_NilValue); }

/* A ledger, a lock and the threads of the library do not survive a fork: a child is refused before it does anything. */
static int is_fork(tamis_error *err)
{
    if (getpid() == home) return 0;
    *err = (tamis_error){
        .status = TAMIS_INVALID,
        .message = "this process is a fork of the one that loaded tamis (parallel::mclapply, mcparallel): ledgers "
                   "belong to one process. Use parallel::makePSOCKcluster(), or call tamis from the first process"};
    return 1;
}

/* A text that the library gave, which `kept` holds. */
static SEXP text_result(SEXP kept, tamis_status status, char *text, const tamis_error *err)
{
    keep(kept, text);
    if (status != TAMIS_OK || !text) return failure(err);
    SEXP made = PROTECT(Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)));
    finish(kept);
    UNPROTECT(1);
    return made;
}

/* ---- watching ---- */

typedef struct watching {
    SEXP function; /* of the share done, or NA, and the rows: NULL, or the condition that asks to stop */
    SEXP answer;   /* a list of one item, for that condition */
    double share;
    int64_t rows;
    int stopped;
} watching;

static void ask(void *context)
{
    watching *w = context;
    SEXP share = PROTECT(Rf_ScalarReal(w->share < 0 ? NA_REAL : w->share)), rows = PROTECT(Rf_ScalarReal((double)w->rows));
    SEXP call = PROTECT(Rf_lang3(w->function, share, rows));
    SEXP value = PROTECT(Rf_eval(call, R_GlobalEnv));
    SET_VECTOR_ELT(w->answer, 0, value);
    w->stopped = value != R_NilValue;
    UNPROTECT(4);
}

static int watch(void *context, double share, int64_t rows)
{
    watching *w = context;
    if (w->stopped) return 1;
    w->share = share;
    w->rows = rows;
    if (!R_ToplevelExec(ask, w)) w->stopped = 1; /* something jumped past the handlers */
    return w->stopped;
}

/* Looked at by the function of the watch, which handles what it signals. */
static SEXP r_interrupt(void)
{
    R_CheckUserInterrupt();
    return R_NilValue;
}

/* ---- plans ---- */

static tamis_status read_plan(SEXP kept, SEXP name, SEXP text, tamis_error *err)
{
    const char *bytes = needed_text(text);
    tamis_plan *plan = NULL;
    const tamis_status status = tamis_plan_read_text(&plan, needed_text(name), bytes, strlen(bytes), err);
    keep(kept, plan);
    return status;
}

static SEXP r_plan_text(SEXP name, SEXP text, SEXP what)
{
    const int columns = strcmp(needed_text(what), "columns") == 0;
    SEXP plan = PROTECT(keeper(PLAN)), kept = PROTECT(keeper(TEXT)), made;
    tamis_error err = {0};
    char *written = NULL;
    tamis_status status = read_plan(plan, name, text, &err);
    if (status == TAMIS_OK)
        status = columns ? tamis_plan_columns_json(&written, object_of(plan, PLAN), &err)
                         : tamis_plan_json(&written, object_of(plan, PLAN), &err);
    made = text_result(kept, status, written, &err);
    UNPROTECT(2);
    return made;
}

/* ---- rows ---- */

/* A column as R/rows.R prepares it, list(name, type, values, levels); vectors are not copied. */
static tamis_status add_column(tamis_source *source, SEXP column, R_xlen_t rows, tamis_error *err)
{
    static const int64_t no_int = INT_MIN, no_int64 = INT64_MIN; /* NA */
    const char *type = needed_text(VECTOR_ELT(column, 1));
    SEXP values = VECTOR_ELT(column, 2), levels = VECTOR_ELT(column, 3);
    tamis_column_data data = {.size = sizeof data, .name = needed_text(VECTOR_ELT(column, 0))};
    if (XLENGTH(values) != rows) Rf_error("a column of another length");
    if (TYPEOF(values) == REALSXP) {
        data.type = strcmp(type, "integer64") == 0 ? TAMIS_I64 : strcmp(type, "date") == 0 ? TAMIS_DAYS_F64 : TAMIS_F64;
        data.missing = data.type == TAMIS_I64 ? &no_int64 : NULL;
        data.values = REAL_RO(values);
    } else if (TYPEOF(values) == INTSXP || TYPEOF(values) == LGLSXP) {
        data.type = TYPEOF(values) == LGLSXP ? TAMIS_BOOL32 : strcmp(type, "factor") == 0 ? TAMIS_CODES32 : TAMIS_I32;
        data.missing = &no_int;
        data.values = TYPEOF(values) == LGLSXP ? LOGICAL_RO(values) : INTEGER_RO(values);
    } else if (TYPEOF(values) == STRSXP) {
        data.type = TAMIS_TEXTS;
    } else {
        Rf_error("a column of another type");
    }
    SEXP texts = data.type == TAMIS_CODES32 ? levels : values;
    if (data.type == TAMIS_TEXTS || data.type == TAMIS_CODES32) {
        const R_xlen_t count = XLENGTH(texts);
        const char **list = (const char **)R_alloc((size_t)count + 1, sizeof *list);
        for (R_xlen_t i = 0; i < count; i++) list[i] = STRING_ELT(texts, i) == NA_STRING ? NULL : CHAR(STRING_ELT(texts, i));
        if (data.type == TAMIS_TEXTS) data.values = list;
        else data.levels = list, data.level_count = (int32_t)count, data.base = 1;
    }
    return tamis_source_column(source, &data, err);
}

/* The source of list(rows, columns), or none for NULL. */
static tamis_status make_source(SEXP kept, SEXP rows, tamis_error *err)
{
    if (rows == R_NilValue) return TAMIS_OK;
    const double count = Rf_asReal(VECTOR_ELT(rows, 0));
    SEXP columns = VECTOR_ELT(rows, 1);
    tamis_source *source = NULL;
    tamis_status status = tamis_source_new(&source, (int64_t)count, err);
    keep(kept, source);
    for (R_xlen_t i = 0; i < XLENGTH(columns) && status == TAMIS_OK; i++)
        status = add_column(source, VECTOR_ELT(columns, i), (R_xlen_t)count, err);
    return status;
}

/* ---- previews, releases, estimates ---- */

static tamis_status engine_of(tamis_engine *engine, SEXP options, tamis_error *err)
{
    const char *name = text_of(item(options, "engine"));
    *engine = TAMIS_ENGINE_FITTING;
    return name ? tamis_engine_of_name(engine, name, err) : TAMIS_OK;
}

static double number_in(SEXP options, const char *name)
{
    SEXP x = item(options, name);
    return x == R_NilValue ? 0 : Rf_asReal(x);
}

static SEXP r_preview(SEXP name, SEXP text, SEXP options, SEXP function)
{
    SEXP plan = PROTECT(keeper(PLAN)), made = PROTECT(keeper(PREVIEW)), answer = PROTECT(Rf_allocVector(VECSXP, 1));
    watching w = {.function = function, .answer = answer};
    tamis_error err = {0};
    tamis_preview *preview = NULL;
    const tamis_preview_options how = {.size = sizeof how,
                                       .ledger = text_of(item(options, "ledger")),
                                       .repeat = (tamis_repeat)number_in(options, "repeat"),
                                       .new_account = text_of(item(options, "new_account")),
                                       .no_advice = number_in(options, "no_advice") != 0,
                                       .watch = {watch, &w}};
    tamis_status status = is_fork(&err) ? err.status : read_plan(plan, name, text, &err);
    if (status == TAMIS_OK) {
        status = tamis_preview_make(&preview, object_of(plan, PLAN), &how, &err);
        keep(made, preview);
    }
    SEXP result = made;
    if (!preview) {
        result = failure_by(&err, VECTOR_ELT(answer, 0));
    } else if (status != TAMIS_OK) { /* the ledger refuses, and a preview is a question: the error is a part of the answer */
        SEXP refused = PROTECT(Rf_ScalarString(Rf_mkCharCE(err.message, CE_UTF8)));
        Rf_setAttrib(made, Rf_install("refused"), refused);
        UNPROTECT(1);
    }
    UNPROTECT(3);
    return result;
}

/* What a release and an estimate begin with: the engine, the plan and its rows. */
static tamis_status prepare(tamis_engine *engine, SEXP plan, SEXP source, SEXP name, SEXP text, SEXP rows, SEXP options,
                            tamis_error *err)
{
    tamis_status status = is_fork(err) ? err->status : engine_of(engine, options, err);
    if (status == TAMIS_OK) status = read_plan(plan, name, text, err);
    if (status == TAMIS_OK) status = make_source(source, rows, err);
    return status;
}

static SEXP r_release(SEXP name, SEXP text, SEXP rows, SEXP options, SEXP function)
{
    SEXP plan = PROTECT(keeper(PLAN)), source = PROTECT(keeper(SOURCE)), made = PROTECT(keeper(RELEASE)), result = made;
    SEXP answer = PROTECT(Rf_allocVector(VECSXP, 1));
    watching w = {.function = function, .answer = answer};
    tamis_error err = {0};
    tamis_release *release = NULL;
    tamis_release_options how = {.size = sizeof how,
                                 .threads = (unsigned)number_in(options, "threads"),
                                 .memory = (uint64_t)number_in(options, "memory"),
                                 .ledger = text_of(item(options, "ledger")),
                                 .repeat = (tamis_repeat)number_in(options, "repeat"),
                                 .rows_version = text_of(item(options, "rows_version")),
                                 .new_account = text_of(item(options, "new_account")),
                                 .sign = text_of(item(options, "sign")),
                                 .watch = {watch, &w}};
    const char *folder = text_of(item(options, "folder"));
    tamis_status status = prepare(&how.engine, plan, source, name, text, rows, options, &err);
    how.rows = R_ExternalPtrAddr(source);
    if (status == TAMIS_OK) {
        status = tamis_release_new(&release, object_of(plan, PLAN), folder, &how, &err);
        keep(made, release);
    }
    if (status != TAMIS_OK) result = failure_by(&err, VECTOR_ELT(answer, 0));
    finish(source); /* while the vectors that it refers to are there */
    UNPROTECT(4);
    return result;
}

static SEXP r_estimate(SEXP name, SEXP text, SEXP rows, SEXP options, SEXP function)
{
    SEXP plan = PROTECT(keeper(PLAN)), source = PROTECT(keeper(SOURCE)), made = PROTECT(keeper(ESTIMATE)), result = made;
    SEXP answer = PROTECT(Rf_allocVector(VECSXP, 1));
    watching w = {.function = function, .answer = answer};
    tamis_error err = {0};
    tamis_estimate *estimate = NULL;
    tamis_estimate_options how = {.size = sizeof how,
                                  .threads = (unsigned)number_in(options, "threads"),
                                  .memory = (uint64_t)number_in(options, "memory"),
                                  .watch = {watch, &w}};
    tamis_status status = prepare(&how.engine, plan, source, name, text, rows, options, &err);
    how.rows = R_ExternalPtrAddr(source);
    if (status == TAMIS_OK) {
        status = tamis_estimate_new(&estimate, object_of(plan, PLAN), &how, &err);
        keep(made, estimate);
    }
    if (status != TAMIS_OK) result = failure_by(&err, VECTOR_ELT(answer, 0));
    finish(source);
    UNPROTECT(4);
    return result;
}

/* ---- results ---- */

static tamis_status preview_short(char **text, const tamis_preview *preview, tamis_error *err)
{
    return tamis_preview_text(text, preview, TAMIS_DETAIL_SHORT, err);
}

static tamis_status preview_all(char **text, const tamis_preview *preview, tamis_error *err)
{
    return tamis_preview_text(text, preview, TAMIS_DETAIL_ALL, err);
}

static SEXP r_text(SEXP pointer, SEXP what)
{
    typedef tamis_status release_writer(char **, const tamis_release *, tamis_error *);
    typedef tamis_status estimate_writer(char **, const tamis_estimate *, tamis_error *);
    typedef tamis_status preview_writer(char **, const tamis_preview *, tamis_error *);
    static const struct {
        const char *name;
        release_writer *release;
        estimate_writer *estimate;
        preview_writer *preview;
    } texts[] = {{"json", tamis_release_json, tamis_estimate_json, tamis_preview_json},
                 {"csv", tamis_release_csv, tamis_estimate_csv, NULL},
                 {"text", tamis_release_text, tamis_estimate_text, preview_short},
                 {"all", NULL, NULL, preview_all},
                 {"compare", NULL, NULL, tamis_preview_compare_json},
                 {"notice", tamis_release_notice_text, NULL, NULL},
                 {"remarks", tamis_release_remarks_text, NULL, NULL},
                 {"measurements", tamis_release_measurements_json, NULL, NULL},
                 {"certificate", tamis_release_certificate_json, NULL, NULL},
                 {"registry", tamis_release_registry_yaml, NULL, NULL},
                 {"report", tamis_release_report_html, NULL, NULL}};
    const char *name = needed_text(what);
    const kind which = kind_of(pointer);
    if (which != RELEASE && which != ESTIMATE && which != PREVIEW) Rf_error("not a release, an estimate or a preview");
    const void *object = object_of(pointer, which);
    SEXP kept = PROTECT(keeper(TEXT)), made = R_NilValue;
    tamis_error err = {0};
    char *text = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) != 0) continue;
        tamis_status status = TAMIS_INVALID;
        if (which == RELEASE && texts[i].release) status = texts[i].release(&text, object, &err);
        else if (which == ESTIMATE && texts[i].estimate) status = texts[i].estimate(&text, object, &err);
        else if (which == PREVIEW && texts[i].preview) status = texts[i].preview(&text, object, &err);
        else break;
        made = text_result(kept, status, text, &err);
    }
    if (made == R_NilValue) Rf_error("no such text");
    UNPROTECT(1);
    return made;
}

/* A column of a batch that the library made: large texts and doubles. */
static SEXP column_of(const struct ArrowArray *array, int is_text)
{
    const uint8_t *valid = array->buffers[0];
    const double *numbers = array->buffers[1];
    const int64_t *starts = array->buffers[1];
    SEXP values = PROTECT(Rf_allocVector(is_text ? STRSXP : REALSXP, (R_xlen_t)array->length));
    for (int64_t i = 0; i < array->length; i++) {
        const int missing = valid && !(valid[i / 8] >> i % 8 & 1);
        if (!is_text) REAL(values)[i] = missing ? NA_REAL : numbers[i];
        else if (missing) SET_STRING_ELT(values, (R_xlen_t)i, NA_STRING);
        else
            SET_STRING_ELT(values, (R_xlen_t)i,
                           Rf_mkCharLenCE((const char *)array->buffers[2] + starts[i], (int)(starts[i + 1] - starts[i]),
                                          CE_UTF8));
    }
    UNPROTECT(1);
    return values;
}

/* The results as a named list of vectors of equal length. */
static SEXP r_columns(SEXP pointer)
{
    const kind which = kind_of(pointer);
    const void *object = object_of(pointer, which);
    SEXP kept = PROTECT(keeper(BATCH));
    batch *b = R_Calloc(1, batch);
    tamis_error err = {0};
    keep(kept, b);
    const tamis_status status = which == RELEASE ? tamis_release_arrow(&b->schema, &b->array, object, &err)
                                                 : tamis_estimate_arrow(&b->schema, &b->array, object, &err);
    if (status != TAMIS_OK) {
        SEXP failed = failure(&err);
        UNPROTECT(1);
        return failed;
    }
    const R_xlen_t count = (R_xlen_t)b->array.n_children;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count)), names = PROTECT(Rf_allocVector(STRSXP, count));
    for (R_xlen_t c = 0; c < count; c++) {
        SET_VECTOR_ELT(list, c, column_of(b->array.children[c], b->schema.children[c]->format[0] == 'U'));
        SET_STRING_ELT(names, c, Rf_mkCharCE(b->schema.children[c]->name, CE_UTF8));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    finish(kept);
    UNPROTECT(3);
    return list;
}

static SEXP r_repeated(SEXP pointer) { return Rf_ScalarLogical(tamis_release_is_repeated(object_of(pointer, RELEASE))); }

static SEXP r_save(SEXP pointer, SEXP folder, SEXP sign)
{
    tamis_error err = {0};
    if (is_fork(&err)) return failure(&err);
    if (tamis_release_save(object_of(pointer, RELEASE), needed_text(folder), text_of(sign), &err) != TAMIS_OK)
        return failure(&err);
    return R_NilValue;
}

/* ---- verification ---- */

/* The JSON, with the attribute ok. */
static SEXP verified(SEXP kept, tamis_status status, int ok, char *json, const tamis_error *err)
{
    SEXP made = PROTECT(text_result(kept, status, json, err));
    if (status == TAMIS_OK) {
        SEXP flag = PROTECT(Rf_ScalarLogical(ok));
        Rf_setAttrib(made, Rf_install("ok"), flag);
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return made;
}

static SEXP r_verify(SEXP path, SEXP key, SEXP frame)
{
    const tamis_verify_options how = {.size = sizeof how, .key = text_of(key), .frame = text_of(frame)};
    SEXP kept = PROTECT(keeper(TEXT));
    tamis_error err = {0};
    char *json = NULL;
    int ok = 0;
    const tamis_status status = tamis_verify_json(&ok, &json, needed_text(path), &how, &err);
    SEXP made = verified(kept, status, ok, json, &err);
    UNPROTECT(1);
    return made;
}

static SEXP r_verify_texts(SEXP names, SEXP texts, SEXP key, SEXP frame)
{
    const tamis_verify_options how = {.size = sizeof how, .key = text_of(key), .frame = text_of(frame)};
    const R_xlen_t count = XLENGTH(names);
    if (TYPEOF(names) != STRSXP || TYPEOF(texts) != STRSXP || XLENGTH(texts) != count) Rf_error("expected texts with names");
    SEXP kept = PROTECT(keeper(TEXT));
    tamis_named_text *files = (tamis_named_text *)R_alloc((size_t)count + 1, sizeof *files);
    for (R_xlen_t i = 0; i < count; i++) {
        const char *bytes = CHAR(STRING_ELT(texts, i));
        files[i] = (tamis_named_text){CHAR(STRING_ELT(names, i)), bytes, strlen(bytes)};
    }
    tamis_error err = {0};
    char *json = NULL;
    int ok = 0;
    const tamis_status status = tamis_verify_texts_json(&ok, &json, files, (size_t)count, &how, &err);
    SEXP made = verified(kept, status, ok, json, &err);
    UNPROTECT(1);
    return made;
}

/* ---- ledgers: opened for each call, since another process may have written ---- */

static SEXP r_ledger_text(SEXP path, SEXP what)
{
    const int for_people = strcmp(needed_text(what), "text") == 0;
    SEXP kept = PROTECT(keeper(LEDGER)), text_kept = PROTECT(keeper(TEXT));
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    char *text = NULL;
    tamis_status status = is_fork(&err) ? err.status : tamis_ledger_look(&ledger, needed_text(path), &err);
    keep(kept, ledger);
    if (status == TAMIS_OK)
        status = for_people ? tamis_ledger_text(&text, ledger, NULL, &err) : tamis_ledger_json(&text, ledger, NULL, &err);
    SEXP made = text_result(text_kept, status, text, &err);
    finish(kept);
    UNPROTECT(2);
    return made;
}

/* A ledger that exists, for writing: one that does not is not made. */
static tamis_status open_ledger(SEXP kept, const char *path, tamis_error *err)
{
    tamis_ledger *ledger = NULL;
    tamis_status status = is_fork(err) ? err->status : tamis_ledger_look(&ledger, path, err);
    tamis_ledger_free(ledger);
    ledger = NULL;
    if (status == TAMIS_OK) status = tamis_ledger_open(&ledger, path, err);
    keep(kept, ledger);
    return status;
}

static SEXP r_ledger_void(SEXP path, SEXP entry, SEXP reason)
{
    SEXP kept = PROTECT(keeper(LEDGER)), result = R_NilValue;
    tamis_error err = {0};
    tamis_status status = open_ledger(kept, needed_text(path), &err);
    if (status == TAMIS_OK)
        status = tamis_ledger_void(object_of(kept, LEDGER), (int64_t)Rf_asReal(entry), needed_text(reason), &err);
    if (status != TAMIS_OK) result = failure(&err);
    finish(kept);
    UNPROTECT(1);
    return result;
}

static SEXP r_ledger_raise(SEXP path, SEXP survey, SEXP amounts, SEXP reason)
{
    static const char *const coins[] = {"epsilon", "delta", "rho"};
    SEXP kept = PROTECT(keeper(LEDGER)), numbers[3], result = R_NilValue;
    for (int i = 0; i < 3; i++) numbers[i] = PROTECT(keeper(NUMBER));
    tamis_error err = {0};
    tamis_status status = TAMIS_OK;
    for (int i = 0; i < 3 && status == TAMIS_OK; i++) {
        const char *text = text_of(item(amounts, coins[i]));
        tamis_number *number = NULL;
        if (text) status = tamis_number_read(&number, text, &err);
        keep(numbers[i], number);
    }
    if (status == TAMIS_OK) status = open_ledger(kept, needed_text(path), &err);
    const tamis_coin budget = {R_ExternalPtrAddr(numbers[0]), R_ExternalPtrAddr(numbers[1]), R_ExternalPtrAddr(numbers[2])};
    if (status == TAMIS_OK)
        status = tamis_ledger_raise(object_of(kept, LEDGER), needed_text(survey), &budget, needed_text(reason), &err);
    if (status != TAMIS_OK) result = failure(&err);
    finish(kept);
    UNPROTECT(4);
    return result;
}

static SEXP r_ledger_verify(SEXP path, SEXP certificates)
{
    const R_xlen_t count = XLENGTH(certificates);
    SEXP kept = PROTECT(keeper(TEXT));
    const char **list = (const char **)R_alloc((size_t)count + 1, sizeof *list);
    for (R_xlen_t i = 0; i < count; i++) list[i] = CHAR(STRING_ELT(certificates, i));
    tamis_error err = {0};
    char *json = NULL;
    int ok = 0;
    const tamis_status status = is_fork(&err)
                                    ? err.status
                                    : tamis_ledger_verify_json(&ok, &json, needed_text(path), list, (size_t)count, &err);
    SEXP made = verified(kept, status, ok, json, &err);
    UNPROTECT(1);
    return made;
}

/* ---- the rest ---- */

/* The answer of a line has its own error. */
static SEXP r_compute(SEXP line)
{
    const char *request = needed_text(line);
    SEXP kept = PROTECT(keeper(TEXT));
    tamis_error err = {0};
    char *answer = NULL;
    const tamis_status status = tamis_compute_line(&answer, request, strlen(request), &err);
    SEXP made = text_result(kept, answer ? TAMIS_OK : status, answer, &err);
    UNPROTECT(1);
    return made;
}

static SEXP r_explain(SEXP topic)
{
    const char *name = text_of(topic);
    SEXP kept = PROTECT(keeper(TEXT));
    tamis_error err = {0};
    char *text = NULL;
    const tamis_status status = tamis_explain_text(&text, name, &err);
    SEXP made = text_result(kept, status, text, &err);
    UNPROTECT(1);
    return made;
}

static SEXP r_parts(void)
{
    SEXP kept = PROTECT(keeper(TEXT));
    tamis_error err = {0};
    char *json = NULL;
    const tamis_status status = tamis_parts_json(&json, &err);
    SEXP made = text_result(kept, status, json, &err);
    UNPROTECT(1);
    return made;
}

static SEXP r_init_file(SEXP file, SEXP table)
{
    const tamis_init init = {.size = sizeof init, .file = needed_text(file), .table = text_of(table)};
    SEXP kept = PROTECT(keeper(TEXT));
    tamis_error err = {0};
    char *yaml = NULL;
    const tamis_status status = tamis_init_yaml(&yaml, &init, &err);
    SEXP made = text_result(kept, status, yaml, &err);
    UNPROTECT(1);
    return made;
}

/* Names and Arrow's formats of the columns: no value is looked at. */
static SEXP r_init_columns(SEXP names, SEXP formats, SEXP caller)
{
    const R_xlen_t count = XLENGTH(names);
    const char *name = text_of(caller);
    SEXP kept = PROTECT(keeper(TEXT));
    struct ArrowSchema *fields = (struct ArrowSchema *)R_alloc((size_t)count + 1, sizeof *fields);
    struct ArrowSchema **list = (struct ArrowSchema **)R_alloc((size_t)count + 1, sizeof *list);
    for (R_xlen_t i = 0; i < count; i++) {
        fields[i] = (struct ArrowSchema){.format = CHAR(STRING_ELT(formats, i)), .name = CHAR(STRING_ELT(names, i))};
        list[i] = &fields[i];
    }
    const struct ArrowSchema schema = {.format = "+s", .n_children = count, .children = list};
    tamis_error err = {0};
    char *yaml = NULL;
    const tamis_status status = tamis_init_columns_yaml(&yaml, &schema, name, &err);
    SEXP made = text_result(kept, status, yaml, &err);
    UNPROTECT(1);
    return made;
}

/* ---- the door ---- */

#define ENTRY(function, arguments) \
    { \
#function, (DL_FUNC)&function, arguments \
    }

static const R_CallMethodDef entries[] = {
    ENTRY(r_json, 2),         ENTRY(r_interrupt, 0),   ENTRY(r_plan_text, 3),    ENTRY(r_preview, 4),
    ENTRY(r_release, 5),      ENTRY(r_estimate, 5),    ENTRY(r_text, 2),         ENTRY(r_columns, 1),
    ENTRY(r_repeated, 1),     ENTRY(r_save, 3),        ENTRY(r_verify, 3),       ENTRY(r_verify_texts, 4),
    ENTRY(r_ledger_text, 2),  ENTRY(r_ledger_void, 3), ENTRY(r_ledger_raise, 4), ENTRY(r_ledger_verify, 2),
    ENTRY(r_compute, 1),      ENTRY(r_explain, 1),     ENTRY(r_parts, 0),        ENTRY(r_init_file, 2),
    ENTRY(r_init_columns, 3), {NULL, NULL, 0}};

void attribute_visible R_init_tamis(DllInfo *library)
{
    home = getpid();
    R_registerRoutines(library, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
    R_forceSymbols(library, TRUE);
}
