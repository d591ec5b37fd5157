/* The library for Python: passes JSON and Arrow, holds pointers in capsules, and knows no statistics.
 *
 * A failure raises Failure(status, json, exception): what tamis_error_json writes, and the exception that a signal handler or a
 * progress function raised while the library worked, or None. errors.py makes of it what users see.
 *
 * The lock of the interpreter is given up during every call that can take more than a moment. The watch is called in the same
 * thread, and takes it back. */
#include "_tamis.h"

#include <stdlib.h>
#include <string.h>

typedef struct module_state {
    PyObject *failure;
} module_state;

static module_state *state_of(PyObject *module) { return PyModule_GetState(module); }

/* ---- failures ---- */

PyObject *py_fail(PyObject *module, const tamis_error *err, PyObject *exception)
{
    char *json = NULL;
    PyObject *arguments = NULL;
    if (tamis_error_json(&json, err, NULL, NULL, NULL) == TAMIS_OK)
        arguments = Py_BuildValue("(isO)", (int)err->status, json, exception ? exception : Py_None);
    else PyErr_NoMemory();
    if (arguments) PyErr_SetObject(state_of(module)->failure, arguments);
    tamis_free(json);
    Py_XDECREF(arguments);
    return NULL;
}

PyObject *py_take_text(PyObject *module, tamis_status status, char *text, const tamis_error *err)
{
    if (status != TAMIS_OK || !text) return py_fail(module, err, NULL);
    PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    tamis_free(text);
    return made;
}

/* ---- watching ---- */

static int watch(void *context, double share, int64_t rows)
{
    py_watching *w = context;
    if (w->exception) return 1;
    const PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *answer = NULL;
    if (PyErr_CheckSignals() == 0) {
        if (!w->function) {
            answer = Py_None;
            Py_INCREF(answer);
        } else if (share < 0) {
            answer = PyObject_CallFunction(w->function, "OL", Py_None, (long long)rows);
        } else {
            answer = PyObject_CallFunction(w->function, "dL", share, (long long)rows);
        }
    }
    if (!answer) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        if (trace) PyException_SetTraceback(value, trace);
        w->exception = value;
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    Py_XDECREF(answer);
    PyGILState_Release(lock);
    return w->exception != NULL;
}

tamis_watch py_watch_of(py_watching *w, PyObject *function)
{
    *w = (py_watching){.function = function == Py_None ? NULL : function};
    return (tamis_watch){watch, w};
}

PyObject *py_fail_watched(PyObject *module, const tamis_error *err, py_watching *w)
{
    py_fail(module, err, w->exception);
    Py_XDECREF(w->exception);
    return NULL;
}

void py_watched(py_watching *w) { Py_CLEAR(w->exception); }

/* ---- capsules ---- */

#define PLAN "tamis.plan"
#define PREVIEW "tamis.preview"
#define RELEASE "tamis.release"
#define ESTIMATE "tamis.estimate"
#define SOURCE "tamis.source"

#define DESTRUCTOR(kind, NAME) \
    static void free_##kind(PyObject *capsule) { tamis_##kind##_free(PyCapsule_GetPointer(capsule, NAME)); }
DESTRUCTOR(plan, PLAN)
DESTRUCTOR(preview, PREVIEW)
DESTRUCTOR(release, RELEASE)
DESTRUCTOR(estimate, ESTIMATE)

const tamis_plan *py_plan(PyObject *capsule) { return PyCapsule_GetPointer(capsule, PLAN); }

/* ---- plans ---- */

static PyObject *plan_capsule(PyObject *module, tamis_status status, tamis_plan *plan, const tamis_error *err)
{
    return status == TAMIS_OK ? PyCapsule_New(plan, PLAN, free_plan) : py_fail(module, err, NULL);
}

static PyObject *plan_read(PyObject *module, PyObject *args)
{
    const char *path;
    tamis_plan *plan;
    tamis_error err = {0};
    tamis_status status;
    if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_plan_read(&plan, path, &err);
    Py_END_ALLOW_THREADS;
    return plan_capsule(module, status, plan, &err);
}

static PyObject *plan_parse(PyObject *module, PyObject *args)
{
    const char *name, *text;
    Py_ssize_t length;
    tamis_plan *plan;
    tamis_error err = {0};
    tamis_status status;
    if (!PyArg_ParseTuple(args, "ss#", &name, &text, &length)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_plan_read_text(&plan, name, text, (size_t)length, &err);
    Py_END_ALLOW_THREADS;
    return plan_capsule(module, status, plan, &err);
}

static PyObject *plan_text(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *what;
    tamis_error err = {0};
    char *text = NULL;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &what)) return NULL;
    const tamis_plan *plan = py_plan(capsule);
    if (!plan) return NULL;
    const tamis_status status = strcmp(what, "columns") == 0 ? tamis_plan_columns_json(&text, plan, &err)
                                                             : tamis_plan_json(&text, plan, &err);
    return py_take_text(module, status, text, &err);
}

/* ---- rows ---- */

/* A source, and what it refers to: buffers of Python, and Arrow's structs around them. */
typedef struct rows {
    tamis_source *source;
    size_t column_count;
    Py_buffer (*buffers)[3]; /* validity, values, bytes of texts */
    const void *(*places)[3];
    struct ArrowSchema *fields, **field_list;
    struct ArrowArray *arrays, **array_list;
    PyObject *names, *first, *second; /* kept: texts of names; capsules whose structs are lent */
    PyObject *run;                    /* runs a statement */
} rows;

static void free_rows(rows *r)
{
    if (!r) return;
    tamis_source_free(r->source);
    for (size_t c = 0; r->buffers && c < r->column_count; c++)
        for (size_t i = 0; i < 3; i++)
            if (r->buffers[c][i].obj) PyBuffer_Release(&r->buffers[c][i]);
    free(r->buffers);
    free(r->places);
    free(r->fields);
    free(r->field_list);
    free(r->arrays);
    free(r->array_list);
    Py_XDECREF(r->names);
    Py_XDECREF(r->first);
    Py_XDECREF(r->second);
    Py_XDECREF(r->run);
    free(r);
}

static void free_source(PyObject *capsule) { free_rows(PyCapsule_GetPointer(capsule, SOURCE)); }

static PyObject *source_capsule(PyObject *module, tamis_status status, rows *r, const tamis_error *err)
{
    PyObject *capsule = status == TAMIS_OK ? PyCapsule_New(r, SOURCE, free_source) : py_fail(module, err, NULL);
    if (!capsule) free_rows(r);
    return capsule;
}

/* The capsule of a stream; it is read to its end, and its batches are kept. */
static PyObject *source_stream(PyObject *module, PyObject *capsule)
{
    tamis_error err = {0};
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream) return NULL;
    rows *r = calloc(1, sizeof *r);
    if (!r) return PyErr_NoMemory();
    tamis_status status; /* the stream may call Python: it takes the lock itself */
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_source_take_stream(&r->source, stream, &err);
    Py_END_ALLOW_THREADS;
    return source_capsule(module, status, r, &err);
}

/* The two capsules of an array of structs, which are kept. */
static PyObject *source_array(PyObject *module, PyObject *args)
{
    PyObject *first, *second;
    tamis_error err = {0};
    if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
    const struct ArrowSchema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    const struct ArrowArray *array = schema ? PyCapsule_GetPointer(second, "arrow_array") : NULL;
    if (!array) return NULL;
    rows *r = calloc(1, sizeof *r);
    if (!r) return PyErr_NoMemory();
    Py_INCREF(first), r->first = first;
    Py_INCREF(second), r->second = second;
    return source_capsule(module, tamis_source_arrow(&r->source, schema, &array, 1, &err), r, &err);
}

static int take_buffer(rows *r, size_t c, size_t i, PyObject *object)
{
    if (object == Py_None) return 0;
    if (PyObject_GetBuffer(object, &r->buffers[c][i], PyBUF_C_CONTIGUOUS) != 0) return -1;
    r->places[c][i] = r->buffers[c][i].buf;
    return 0;
}

static int take_column(rows *r, size_t c, PyObject *column, Py_ssize_t length)
{
    const char *name, *format;
    PyObject *valid, *values, *bytes;
    if (!PyArg_ParseTuple(column, "ssOOO", &name, &format, &valid, &values, &bytes)) return -1;
    if (take_buffer(r, c, 0, valid) || take_buffer(r, c, 1, values) || take_buffer(r, c, 2, bytes)) return -1;
    const Py_ssize_t bits = strchr("gltuUL", format[0]) ? 64
                            : strchr("ifI", format[0])  ? 32
                            : strchr("sSe", format[0])  ? 16
                            : format[0] == 'b'          ? 1
                                                        : 8;
    const Py_ssize_t wide = strcmp(format, "tdD") == 0 ? 32 : bits, items = format[0] == 'U' ? length + 1 : length;
    if (r->buffers[c][1].len < (items * wide + 7) / 8 || (valid != Py_None && r->buffers[c][0].len < (length + 7) / 8)) {
        PyErr_SetString(PyExc_ValueError, "columns of different lengths");
        return -1;
    }
    r->fields[c] = (struct ArrowSchema){.format = format, .name = name, .flags = ARROW_FLAG_NULLABLE};
    r->arrays[c] = (struct ArrowArray){.length = length,
                                       .null_count = valid == Py_None ? 0 : -1,
                                       .n_buffers = format[0] == 'U' ? 3 : 2,
                                       .buffers = r->places[c]};
    r->field_list[c] = &r->fields[c];
    r->array_list[c] = &r->arrays[c];
    return 0;
}

/* Columns as (name, Arrow's format, bits of validity or None, values, bytes of texts or None), which are not copied. */
static PyObject *source_columns(PyObject *module, PyObject *args)
{
    PyObject *list;
    Py_ssize_t length;
    tamis_error err = {0};
    if (!PyArg_ParseTuple(args, "nO", &length, &list)) return NULL;
    const Py_ssize_t count = PyList_Size(list);
    if (count < 0) return NULL;
    rows *r = calloc(1, sizeof *r);
    if (!r) return PyErr_NoMemory();
    const size_t n = (size_t)count + 1;
    r->buffers = calloc(n, sizeof *r->buffers);
    r->places = calloc(n, sizeof *r->places);
    r->fields = calloc(n, sizeof *r->fields);
    r->field_list = calloc(n, sizeof *r->field_list);
    r->arrays = calloc(n, sizeof *r->arrays);
    r->array_list = calloc(n, sizeof *r->array_list);
    if (!r->buffers || !r->places || !r->fields || !r->field_list || !r->arrays || !r->array_list) {
        free_rows(r);
        return PyErr_NoMemory();
    }
    Py_INCREF(list), r->names = list; /* which keeps the texts */
    r->column_count = (size_t)count;
    for (Py_ssize_t c = 0; c < count; c++)
        if (take_column(r, (size_t)c, PyList_GetItem(list, c), length) != 0) {
            free_rows(r);
            return NULL;
        }
    const struct ArrowSchema schema = {.format = "+s", .n_children = count, .children = r->field_list};
    const struct ArrowArray batch = {.length = length, .n_children = count, .children = r->array_list}, *batches[] = {&batch};
    return source_capsule(module, tamis_source_arrow(&r->source, &schema, batches, 1, &err), r, &err);
}

/* What the function raises is dropped: it may quote a cell. */
static tamis_status run_statement(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    const PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *answer = PyObject_CallFunction(context, "s", sql);
    PyObject *bytes = answer ? PyUnicode_AsUTF8String(answer) : NULL;
    const char *json = bytes ? PyBytes_AsString(bytes) : NULL;
    if (json) tamis_reply_set(reply, json);
    else PyErr_Clear();
    Py_XDECREF(bytes);
    Py_XDECREF(answer);
    PyGILState_Release(lock);
    if (!json && err) err->status = TAMIS_SYSTEM;
    return json ? TAMIS_OK : TAMIS_SYSTEM;
}

/* An engine that is asked in SQL: dialect, what comes after FROM, a function from a statement to its rows as JSON, and the
 * version of the rows or None. */
static PyObject *source_sql(PyObject *module, PyObject *args)
{
    const char *dialect, *table, *version;
    PyObject *run;
    tamis_error err = {0};
    if (!PyArg_ParseTuple(args, "ssOz", &dialect, &table, &run, &version)) return NULL;
    rows *r = calloc(1, sizeof *r);
    if (!r) return PyErr_NoMemory();
    Py_INCREF(run), r->run = run;
    const tamis_sql how = {
        .size = sizeof how, .dialect = dialect, .table = table, .run = run_statement, .context = run, .rows_version = version};
    return source_capsule(module, tamis_source_sql(&r->source, &how, &err), r, &err);
}

const tamis_source *py_source(PyObject *capsule)
{
    if (capsule == Py_None) return NULL;
    const rows *r = PyCapsule_GetPointer(capsule, SOURCE);
    return r ? r->source : NULL;
}

/* ---- previews ---- */

static PyObject *preview(PyObject *module, PyObject *args)
{
    PyObject *capsule, *function, *made;
    const char *ledger, *new_account;
    int paid, no_advice;
    tamis_error err = {0};
    tamis_preview *preview = NULL;
    tamis_status status;
    py_watching w;
    if (!PyArg_ParseTuple(args, "OzpzpO", &capsule, &ledger, &paid, &new_account, &no_advice, &function)) return NULL;
    const tamis_plan *plan = py_plan(capsule);
    if (!plan) return NULL;
    const tamis_preview_options options = {.size = sizeof options,
                                           .ledger = ledger,
                                           .repeat = paid ? TAMIS_REPEAT_PAID : TAMIS_REPEAT_IF_SAME_VERSION,
                                           .new_account = new_account,
                                           .no_advice = no_advice,
                                           .watch = py_watch_of(&w, function)};
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_preview_make(&preview, plan, &options, &err);
    Py_END_ALLOW_THREADS;
    if (!preview) return py_fail_watched(module, &err, &w);
    py_watched(&w);
    PyObject *kept = PyCapsule_New(preview, PREVIEW, free_preview);
    if (!kept) return NULL;
    made = Py_BuildValue("(Nz)", kept, status == TAMIS_OK ? NULL : err.message);
    return made;
}

static PyObject *preview_text(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *what;
    tamis_error err = {0};
    char *text = NULL;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &what)) return NULL;
    const tamis_preview *p = PyCapsule_GetPointer(capsule, PREVIEW);
    if (!p) return NULL;
    const tamis_status status = strcmp(what, "json") == 0      ? tamis_preview_json(&text, p, &err)
                                : strcmp(what, "compare") == 0 ? tamis_preview_compare_json(&text, p, &err)
                                : strcmp(what, "all") == 0     ? tamis_preview_text(&text, p, TAMIS_DETAIL_ALL, &err)
                                                               : tamis_preview_text(&text, p, TAMIS_DETAIL_SHORT, &err);
    return py_take_text(module, status, text, &err);
}

/* ---- releases and estimates ---- */

/* "" or a name. */
static int engine_of(PyObject *module, tamis_engine *engine, const char *name)
{
    tamis_error err = {0};
    *engine = TAMIS_ENGINE_FITTING;
    if (!name || tamis_engine_of_name(engine, name, &err) == TAMIS_OK) return 0;
    py_fail(module, &err, NULL);
    return -1;
}

static PyObject *release(PyObject *module, PyObject *args)
{
    PyObject *capsule, *source, *function;
    const char *folder, *ledger, *version, *new_account, *sign, *engine;
    int repeat;
    unsigned threads;
    unsigned long long memory;
    tamis_error err = {0};
    tamis_release *made = NULL;
    tamis_status status;
    py_watching w;
    tamis_release_options options = {.size = sizeof options};
    if (!PyArg_ParseTuple(args, "OOzzizzzzIKO", &capsule, &source, &folder, &ledger, &repeat, &version, &new_account, &sign,
                          &engine, &threads, &memory, &function))
        return NULL;
    const tamis_plan *plan = py_plan(capsule);
    options.rows = plan ? py_source(source) : NULL;
    if (PyErr_Occurred() || engine_of(module, &options.engine, engine) != 0) return NULL;
    options.ledger = ledger;
    options.repeat = (tamis_repeat)repeat;
    options.rows_version = version;
    options.new_account = new_account;
    options.sign = sign;
    options.threads = threads;
    options.memory = memory;
    options.watch = py_watch_of(&w, function);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_release_new(&made, plan, folder, &options, &err);
    Py_END_ALLOW_THREADS;
    if (status != TAMIS_OK) return py_fail_watched(module, &err, &w);
    py_watched(&w);
    return PyCapsule_New(made, RELEASE, free_release);
}

static PyObject *release_text(PyObject *module, PyObject *args)
{
    static const struct {
        const char *name;
        tamis_status (*write)(char **text, const tamis_release *release, tamis_error *err);
    } texts[] = {{"json", tamis_release_json},
                 {"csv", tamis_release_csv},
                 {"text", tamis_release_text},
                 {"notice", tamis_release_notice_text},
                 {"remarks", tamis_release_remarks_text},
                 {"measurements", tamis_release_measurements_json},
                 {"certificate", tamis_release_certificate_json},
                 {"registry", tamis_release_registry_yaml},
                 {"report", tamis_release_report_html}};
    PyObject *capsule;
    const char *what;
    tamis_error err = {0};
    char *text = NULL;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &what)) return NULL;
    const tamis_release *r = PyCapsule_GetPointer(capsule, RELEASE);
    for (size_t i = 0; r && i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].name, what) == 0) {
            const tamis_status status = texts[i].write(&text, r, &err);
            return py_take_text(module, status, text, &err);
        }
    if (r) PyErr_SetString(PyExc_ValueError, "no such text");
    return NULL;
}

static PyObject *release_repeated(PyObject *module, PyObject *capsule)
{
    (void)module;
    const tamis_release *r = PyCapsule_GetPointer(capsule, RELEASE);
    return r ? PyBool_FromLong(tamis_release_is_repeated(r)) : NULL;
}

static PyObject *release_save(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *folder, *sign;
    tamis_error err = {0};
    if (!PyArg_ParseTuple(args, "Osz", &capsule, &folder, &sign)) return NULL;
    const tamis_release *r = PyCapsule_GetPointer(capsule, RELEASE);
    if (!r) return NULL;
    if (tamis_release_save(r, folder, sign, &err) != TAMIS_OK) return py_fail(module, &err, NULL);
    Py_RETURN_NONE;
}

static PyObject *estimate(PyObject *module, PyObject *args)
{
    PyObject *capsule, *source, *function;
    const char *engine;
    unsigned threads;
    unsigned long long memory;
    tamis_error err = {0};
    tamis_estimate *made = NULL;
    tamis_status status;
    py_watching w;
    tamis_estimate_options options = {.size = sizeof options};
    if (!PyArg_ParseTuple(args, "OOzIKO", &capsule, &source, &engine, &threads, &memory, &function)) return NULL;
    const tamis_plan *plan = py_plan(capsule);
    options.rows = plan ? py_source(source) : NULL;
    if (PyErr_Occurred() || engine_of(module, &options.engine, engine) != 0) return NULL;
    options.threads = threads;
    options.memory = memory;
    options.watch = py_watch_of(&w, function);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_estimate_new(&made, plan, &options, &err);
    Py_END_ALLOW_THREADS;
    if (status != TAMIS_OK) return py_fail_watched(module, &err, &w);
    py_watched(&w);
    return PyCapsule_New(made, ESTIMATE, free_estimate);
}

static PyObject *estimate_text(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *what;
    tamis_error err = {0};
    char *text = NULL;
    if (!PyArg_ParseTuple(args, "Os", &capsule, &what)) return NULL;
    const tamis_estimate *e = PyCapsule_GetPointer(capsule, ESTIMATE);
    if (!e) return NULL;
    const tamis_status status = strcmp(what, "json") == 0  ? tamis_estimate_json(&text, e, &err)
                                : strcmp(what, "csv") == 0 ? tamis_estimate_csv(&text, e, &err)
                                                           : tamis_estimate_text(&text, e, &err);
    return py_take_text(module, status, text, &err);
}

/* ---- results as a stream of one batch ---- */

typedef struct one_batch {
    struct ArrowSchema schema;
    struct ArrowArray array; /* released or handed out: its release is NULL */
} one_batch;

static int batch_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    one_batch *b = stream->private_data;
    if (!b->schema.release) return 22; /* EINVAL: it is asked for once */
    *out = b->schema;
    b->schema.release = NULL;
    return 0;
}

static int batch_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    one_batch *b = stream->private_data;
    *out = b->array;
    if (!b->array.release) *out = (struct ArrowArray){0};
    b->array.release = NULL;
    return 0;
}

static const char *batch_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static void release_batch(struct ArrowArrayStream *stream)
{
    one_batch *b = stream->private_data;
    if (b->schema.release) b->schema.release(&b->schema);
    if (b->array.release) b->array.release(&b->array);
    free(b);
    stream->release = NULL;
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release) stream->release(stream);
    free(stream);
}

static PyObject *arrow(PyObject *module, PyObject *capsule)
{
    tamis_error err = {0};
    one_batch *b = calloc(1, sizeof *b);
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    tamis_status status = TAMIS_SYSTEM;
    if (!b || !stream) PyErr_NoMemory();
    else if (PyCapsule_IsValid(capsule, RELEASE))
        status = tamis_release_arrow(&b->schema, &b->array, PyCapsule_GetPointer(capsule, RELEASE), &err);
    else if (PyCapsule_IsValid(capsule, ESTIMATE))
        status = tamis_estimate_arrow(&b->schema, &b->array, PyCapsule_GetPointer(capsule, ESTIMATE), &err);
    else PyErr_SetString(PyExc_TypeError, "not a release or an estimate");
    if (status != TAMIS_OK) {
        if (!PyErr_Occurred()) py_fail(module, &err, NULL);
        free(b);
        free(stream);
        return NULL;
    }
    *stream = (struct ArrowArrayStream){batch_schema, batch_next, batch_error, release_batch, b};
    PyObject *made = PyCapsule_New(stream, "arrow_array_stream", free_stream);
    if (!made) {
        stream->release(stream);
        free(stream);
    }
    return made;
}

/* A cell of a batch that the library made: large texts and doubles. */
static PyObject *cell_of(const struct ArrowArray *array, bool is_text, int64_t row)
{
    const uint8_t *valid = array->buffers[0];
    if (valid && !(valid[row / 8] >> row % 8 & 1)) Py_RETURN_NONE;
    if (!is_text) return PyFloat_FromDouble(((const double *)array->buffers[1])[row]);
    const int64_t *starts = array->buffers[1];
    return PyUnicode_DecodeUTF8((const char *)array->buffers[2] + starts[row], (Py_ssize_t)(starts[row + 1] - starts[row]),
                                "replace");
}

static PyObject *list_of(const struct ArrowArray *array, bool is_text)
{
    PyObject *list = PyList_New((Py_ssize_t)array->length);
    for (int64_t i = 0; list && i < array->length; i++) {
        PyObject *cell = cell_of(array, is_text, i);
        if (!cell || PyList_SetItem(list, (Py_ssize_t)i, cell) != 0) Py_CLEAR(list);
    }
    return list;
}

/* The same as a list of (name, list of values). */
static PyObject *columns_of(PyObject *module, PyObject *capsule)
{
    PyObject *stream_capsule = arrow(module, capsule), *list = NULL;
    if (!stream_capsule) return NULL;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(stream_capsule, "arrow_array_stream");
    const one_batch *b = stream->private_data;
    list = PyList_New(0);
    for (int64_t c = 0; list && c < b->array.n_children; c++) {
        const struct ArrowSchema *field = b->schema.children[c];
        PyObject *values = list_of(b->array.children[c], field->format[0] == 'U');
        PyObject *pair = values ? Py_BuildValue("(sN)", field->name, values) : NULL;
        if (!pair || PyList_Append(list, pair) != 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    Py_DECREF(stream_capsule);
    return list;
}

/* ---- verification ---- */

static PyObject *verified(PyObject *module, tamis_status status, int ok, char *json, const tamis_error *err)
{
    PyObject *text = py_take_text(module, status, json, err);
    return text ? Py_BuildValue("(NN)", PyBool_FromLong(ok), text) : NULL;
}

static PyObject *verify(PyObject *module, PyObject *args)
{
    const char *path, *key, *frame;
    tamis_error err = {0};
    char *json = NULL;
    int ok;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "szz", &path, &key, &frame)) return NULL;
    const tamis_verify_options options = {.size = sizeof options, .key = key, .frame = frame};
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_tally_is_certificate(path) ? tamis_tally_verify_json(&ok, &json, path, key, &err)
                                              : tamis_verify_json(&ok, &json, path, &options, &err);
    Py_END_ALLOW_THREADS;
    return verified(module, status, ok, json, &err);
}

static PyObject *verify_texts(PyObject *module, PyObject *args)
{
    PyObject *list;
    const char *key, *frame;
    tamis_error err = {0};
    char *json = NULL;
    int ok;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "Ozz", &list, &key, &frame)) return NULL;
    const Py_ssize_t count = PyList_Size(list);
    if (count < 0) return NULL;
    tamis_named_text *files = calloc((size_t)count + 1, sizeof *files);
    if (!files) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t length;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sy#", &files[i].name, &files[i].bytes, &length)) {
            free(files);
            return NULL;
        }
        files[i].length = (size_t)length;
    }
    const tamis_verify_options options = {.size = sizeof options, .key = key, .frame = frame};
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_verify_texts_json(&ok, &json, files, (size_t)count, &options, &err);
    Py_END_ALLOW_THREADS;
    free(files);
    return verified(module, status, ok, json, &err);
}

/* ---- ledgers: opened for each call, since another process may have written ---- */

static PyObject *ledger_text(PyObject *module, PyObject *args)
{
    const char *path, *what;
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    char *text = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "ss", &path, &what)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_ledger_look(&ledger, path, &err);
    if (status == TAMIS_OK)
        status = strcmp(what, "entries") == 0 ? tamis_ledger_entries_json(&text, ledger, &err)
                 : strcmp(what, "text") == 0  ? tamis_ledger_text(&text, ledger, NULL, &err)
                                              : tamis_ledger_json(&text, ledger, NULL, &err);
    tamis_ledger_free(ledger);
    Py_END_ALLOW_THREADS;
    return py_take_text(module, status, text, &err);
}

static PyObject *ledger_void(PyObject *module, PyObject *args)
{
    const char *path, *reason;
    long long entry;
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "sLs", &path, &entry, &reason)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_ledger_look(&ledger, path, &err); /* a ledger that does not exist is not made */
    tamis_ledger_free(ledger);
    if (status == TAMIS_OK) status = tamis_ledger_open(&ledger, path, &err);
    if (status == TAMIS_OK) {
        status = tamis_ledger_void(ledger, entry, reason, &err);
        tamis_ledger_free(ledger);
    }
    Py_END_ALLOW_THREADS;
    if (status != TAMIS_OK) return py_fail(module, &err, NULL);
    Py_RETURN_NONE;
}

static PyObject *ledger_raise(PyObject *module, PyObject *args)
{
    const char *path, *survey, *texts[3], *reason;
    tamis_number *numbers[3] = {NULL};
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    tamis_status status = TAMIS_OK;
    if (!PyArg_ParseTuple(args, "sszzzs", &path, &survey, &texts[0], &texts[1], &texts[2], &reason)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    for (size_t i = 0; i < 3 && status == TAMIS_OK; i++)
        if (texts[i]) status = tamis_number_read(&numbers[i], texts[i], &err);
    if (status == TAMIS_OK) status = tamis_ledger_look(&ledger, path, &err);
    tamis_ledger_free(ledger);
    ledger = NULL;
    if (status == TAMIS_OK) status = tamis_ledger_open(&ledger, path, &err);
    const tamis_coin budget = {numbers[0], numbers[1], numbers[2]};
    if (status == TAMIS_OK) status = tamis_ledger_raise(ledger, survey, &budget, reason, &err);
    tamis_ledger_free(ledger);
    for (size_t i = 0; i < 3; i++) tamis_number_free(numbers[i]);
    Py_END_ALLOW_THREADS;
    if (status != TAMIS_OK) return py_fail(module, &err, NULL);
    Py_RETURN_NONE;
}

static PyObject *ledger_verify(PyObject *module, PyObject *args)
{
    const char *path;
    PyObject *list;
    tamis_error err = {0};
    char *json = NULL;
    int ok;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "sO", &path, &list)) return NULL;
    const Py_ssize_t count = PyList_Size(list);
    if (count < 0) return NULL;
    const char **certificates = calloc((size_t)count + 1, sizeof *certificates);
    if (!certificates) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        certificates[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!certificates[i]) {
            free(certificates);
            return NULL;
        }
    }
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_ledger_verify_json(&ok, &json, path, certificates, (size_t)count, &err);
    Py_END_ALLOW_THREADS;
    free(certificates);
    return verified(module, status, ok, json, &err);
}

/* ---- the rest ---- */

/* The answer of a line has its own error. */
static PyObject *compute(PyObject *module, PyObject *args)
{
    const char *line;
    Py_ssize_t length;
    tamis_error err = {0};
    char *answer = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "s#", &line, &length)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_compute_line(&answer, line, (size_t)length, &err);
    Py_END_ALLOW_THREADS;
    return answer ? py_take_text(module, TAMIS_OK, answer, &err) : py_take_text(module, status, NULL, &err);
}

static PyObject *explain(PyObject *module, PyObject *args)
{
    const char *topic;
    tamis_error err = {0};
    char *text = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "z", &topic)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_explain_text(&text, topic, &err);
    Py_END_ALLOW_THREADS;
    return py_take_text(module, status, text, &err);
}

static PyObject *parts(PyObject *module, PyObject *args)
{
    tamis_error err = {0};
    char *json = NULL;
    (void)args;
    const tamis_status status = tamis_parts_json(&json, &err);
    return py_take_text(module, status, json, &err);
}

static PyObject *init_file(PyObject *module, PyObject *args)
{
    tamis_init init = {.size = sizeof(tamis_init)};
    tamis_error err = {0};
    char *yaml = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "sz", &init.file, &init.table)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_init_yaml(&yaml, &init, &err);
    Py_END_ALLOW_THREADS;
    return py_take_text(module, status, yaml, &err);
}

static PyObject *init_schema(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *caller;
    tamis_error err = {0};
    char *yaml = NULL;
    if (!PyArg_ParseTuple(args, "Oz", &capsule, &caller)) return NULL;
    if (PyCapsule_IsValid(capsule, "arrow_array_stream")) {
        struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
        struct ArrowSchema schema = {0};
        if (!stream->release || stream->get_schema(stream, &schema) != 0) {
            PyErr_SetString(PyExc_ValueError, "the stream is closed, or gives no schema");
            return NULL;
        }
        const tamis_status status = tamis_init_columns_yaml(&yaml, &schema, caller, &err);
        if (schema.release) schema.release(&schema);
        return py_take_text(module, status, yaml, &err);
    }
    const struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (!schema) return NULL;
    const tamis_status status = tamis_init_columns_yaml(&yaml, schema, caller, &err);
    return py_take_text(module, status, yaml, &err);
}

static PyObject *library_use(PyObject *module, PyObject *args)
{
    const char *name, *path;
    tamis_error err = {0};
    if (!PyArg_ParseTuple(args, "ss", &name, &path)) return NULL;
    if (tamis_library_use(name, path, &err) != TAMIS_OK) return py_fail(module, &err, NULL);
    Py_RETURN_NONE;
}

/* ---- the module ---- */

static PyMethodDef methods[] = {{"plan_read", plan_read, METH_VARARGS, NULL},
                                {"plan_parse", plan_parse, METH_VARARGS, NULL},
                                {"plan_text", plan_text, METH_VARARGS, NULL},
                                {"source_stream", source_stream, METH_O, NULL},
                                {"source_array", source_array, METH_VARARGS, NULL},
                                {"source_columns", source_columns, METH_VARARGS, NULL},
                                {"source_sql", source_sql, METH_VARARGS, NULL},
                                {"preview", preview, METH_VARARGS, NULL},
                                {"preview_text", preview_text, METH_VARARGS, NULL},
                                {"release", release, METH_VARARGS, NULL},
                                {"release_text", release_text, METH_VARARGS, NULL},
                                {"release_repeated", release_repeated, METH_O, NULL},
                                {"release_save", release_save, METH_VARARGS, NULL},
                                {"estimate", estimate, METH_VARARGS, NULL},
                                {"estimate_text", estimate_text, METH_VARARGS, NULL},
                                {"arrow", arrow, METH_O, NULL},
                                {"columns", columns_of, METH_O, NULL},
                                {"verify", verify, METH_VARARGS, NULL},
                                {"verify_texts", verify_texts, METH_VARARGS, NULL},
                                {"ledger_text", ledger_text, METH_VARARGS, NULL},
                                {"ledger_void", ledger_void, METH_VARARGS, NULL},
                                {"ledger_raise", ledger_raise, METH_VARARGS, NULL},
                                {"ledger_verify", ledger_verify, METH_VARARGS, NULL},
                                {"compute", compute, METH_VARARGS, NULL},
                                {"explain", explain, METH_VARARGS, NULL},
                                {"parts", parts, METH_NOARGS, NULL},
                                {"init_file", init_file, METH_VARARGS, NULL},
                                {"init_schema", init_schema, METH_VARARGS, NULL},
                                {"library_use", library_use, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static int fill_module(PyObject *module)
{
    module_state *state = state_of(module);
    state->failure = PyErr_NewException("tamis._tamis.Failure", NULL, NULL);
    if (!state->failure) return -1;
    Py_INCREF(state->failure);
    if (PyModule_AddObject(module, "Failure", state->failure) != 0) {
        Py_DECREF(state->failure);
        return -1;
    }
    if (PyModule_AddFunctions(module, py_beside) != 0) return -1;
    return PyModule_AddStringConstant(module, "version", tamis_version());
}

static int visit_module(PyObject *module, visitproc visit, void *arg)
{
    Py_VISIT(state_of(module)->failure);
    return 0;
}

static int clear_module(PyObject *module)
{
    Py_CLEAR(state_of(module)->failure);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_tamis",
                                        .m_size = sizeof(module_state),
                                        .m_methods = methods,
                                        .m_slots = slots,
                                        .m_traverse = visit_module,
                                        .m_clear = clear_module};

PyMODINIT_FUNC PyInit__tamis(void);
PyMODINIT_FUNC PyInit__tamis(void) { return PyModuleDef_Init(&definition); }
