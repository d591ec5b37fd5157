/* What the library does beside releases, for Python: noise, samples, quantiles of a file, randomized response, tallies, studies.
 *
 * These take many options, which come as a dict: texts, whole numbers, yes or no, lists of texts. Exact numbers are texts too. */
#include "_tamis.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

#define NUMBERS 16 /* of one call, lists aside */
#define LISTS 2

/* A dict, and what was made of its values, which lives until `clear`. The first thing that is wrong is an exception of Python, or
 * `status` with `err`. */
typedef struct asked {
    PyObject *given;
    tamis_number *numbers[NUMBERS];
    size_t number_count;
    tamis_number **lists[LISTS];
    size_t list_counts[LISTS], list_count;
    const char **texts;
    tamis_status status;
    tamis_error err;
} asked;

static void clear(asked *a)
{
    for (size_t i = 0; i < a->number_count; i++) tamis_number_free(a->numbers[i]);
    for (size_t l = 0; l < a->list_count; l++) {
        for (size_t i = 0; i < a->list_counts[l]; i++) tamis_number_free(a->lists[l][i]);
        free(a->lists[l]);
    }
    free(a->texts);
}

/* Whether something is wrong: then it is raised, and everything is freed. */
static bool unusable(asked *a, PyObject *module)
{
    if (!PyErr_Occurred() && a->status == TAMIS_OK) return false;
    if (!PyErr_Occurred()) py_fail(module, &a->err, NULL);
    clear(a);
    return true;
}

/* NULL for None and for what was not given. */
static PyObject *item(const asked *a, const char *key)
{
    PyObject *found = PyDict_GetItemString(a->given, key);
    return found == Py_None ? NULL : found;
}

static const char *text_in(PyObject *object, const char *key)
{
    Py_ssize_t length;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
    if (text && strlen(text) == (size_t)length) return text;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: expected a text", key);
    return NULL;
}

static const char *text_of(const asked *a, const char *key)
{
    PyObject *found = item(a, key);
    return found ? text_in(found, key) : NULL;
}

static int64_t whole_of(const asked *a, const char *key)
{
    PyObject *found = item(a, key);
    const long long value = found ? PyLong_AsLongLong(found) : 0;
    if (found && value < 0 && !PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s: must not be negative", key);
    return PyErr_Occurred() ? 0 : value;
}

static int yes(const asked *a, const char *key)
{
    PyObject *found = item(a, key);
    return found ? PyObject_IsTrue(found) == 1 : 0;
}

/* The library's message, which begins with the option. */
static void name_option(asked *a, const char *key)
{
    char said[TAMIS_ERROR_SIZE];
    memcpy(said, a->err.message, sizeof said);
    snprintf(a->err.message, sizeof a->err.message, "%s: %.*s", key, (int)(sizeof said / 2), said);
    a->err.item_count = 0;
}

static bool read_number(asked *a, tamis_number **number, PyObject *object, const char *key)
{
    const char *text = a->status == TAMIS_OK ? text_in(object, key) : NULL;
    if (!text) return false;
    a->status = tamis_number_read(number, text, &a->err);
    if (a->status != TAMIS_OK) name_option(a, key);
    return a->status == TAMIS_OK;
}

static const tamis_number *number_of(asked *a, const char *key)
{
    PyObject *found = item(a, key);
    if (!found || a->number_count == NUMBERS || !read_number(a, &a->numbers[a->number_count], found, key)) return NULL;
    return a->numbers[a->number_count++];
}

/* How long a list is; 0 if it is not there or none. */
static size_t length_of(PyObject *list, const char *key)
{
    if (list && !PyList_Check(list)) PyErr_Format(PyExc_TypeError, "%s: expected a list", key);
    return list && PyList_Check(list) ? (size_t)PyList_Size(list) : 0;
}

static const tamis_number *const *numbers_of(size_t *count, asked *a, const char *key)
{
    PyObject *list = item(a, key);
    const size_t length = length_of(list, key), l = a->list_count;
    *count = 0;
    if (length == 0 || l == LISTS) return NULL;
    a->lists[l] = calloc(length, sizeof **a->lists);
    if (!a->lists[l]) {
        PyErr_NoMemory();
        return NULL;
    }
    a->list_count++;
    for (size_t i = 0; i < length && read_number(a, &a->lists[l][i], PyList_GetItem(list, (Py_ssize_t)i), key); i++)
        *count = a->list_counts[l] = i + 1;
    return (const tamis_number *const *)a->lists[l];
}

/* One list of texts per call. */
static const char *const *texts_of(size_t *count, asked *a, const char *key)
{
    PyObject *list = item(a, key);
    const size_t length = length_of(list, key);
    *count = 0;
    if (length == 0) return NULL;
    a->texts = calloc(length, sizeof *a->texts);
    if (!a->texts) PyErr_NoMemory();
    for (size_t i = 0; a->texts && i < length && (a->texts[i] = text_in(PyList_GetItem(list, (Py_ssize_t)i), key)); i++)
        *count = i + 1;
    return a->texts;
}

static tamis_engine engine_in(asked *a)
{
    const char *name = text_of(a, "engine");
    tamis_engine engine = TAMIS_ENGINE_FITTING;
    if (name && a->status == TAMIS_OK) a->status = tamis_engine_of_name(&engine, name, &a->err);
    return engine;
}

static PyObject *bound(tamis_bound b) { return Py_BuildValue("(dd)", b.lower, b.upper); }

/* ---- noise ---- */

#define PIECE 65536 /* numbers between two looks at signals */

/* Fills a buffer of 64-bit integers. */
static PyObject *noise(PyObject *module, PyObject *args)
{
    const char *law;
    PyObject *target;
    Py_buffer buffer;
    asked a = {0};
    tamis_noise *source = NULL;
    tamis_rng *rng = NULL;
    if (!PyArg_ParseTuple(args, "sO!O", &law, &PyDict_Type, &a.given, &target)) return NULL;
    const tamis_number *scale = number_of(&a, "scale");
    if (unusable(&a, module)) return NULL;
    if (PyObject_GetBuffer(target, &buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) {
        clear(&a);
        return NULL;
    }
    tamis_status status = (strcmp(law, "laplace") == 0    ? tamis_noise_laplace_new
                           : strcmp(law, "gaussian") == 0 ? tamis_noise_gaussian_new
                                                          : tamis_noise_normal_new)(&source, scale, &a.err);
    if (status == TAMIS_OK) status = tamis_rng_new(&rng, &a.err);
    const size_t count = (size_t)buffer.len / sizeof(int64_t);
    for (size_t done = 0; done < count && status == TAMIS_OK && PyErr_CheckSignals() == 0;) {
        const size_t piece = count - done < PIECE ? count - done : PIECE;
        Py_BEGIN_ALLOW_THREADS;
        status = tamis_noise_draw((int64_t *)buffer.buf + done, piece, source, rng, &a.err);
        Py_END_ALLOW_THREADS;
        done += piece;
    }
    tamis_rng_free(rng);
    tamis_noise_free(source);
    clear(&a);
    PyBuffer_Release(&buffer);
    if (PyErr_Occurred()) return NULL;
    if (status != TAMIS_OK) return py_fail(module, &a.err, NULL);
    Py_RETURN_NONE;
}

/* ---- samples ---- */

static PyObject *draw(PyObject *module, PyObject *args)
{
    const char *frame, *out;
    PyObject *function;
    asked a = {0};
    tamis_frame_sample sample;
    py_watching w;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "ssO!O", &frame, &out, &PyDict_Type, &a.given, &function)) return NULL;
    tamis_frame_design design = {.sample = whole_of(&a, "sample"),
                                 .rate = number_of(&a, "rate"),
                                 .probability = text_of(&a, "probability"),
                                 .size = text_of(&a, "size"),
                                 .strata = text_of(&a, "strata"),
                                 .allocation = text_of(&a, "allocation"),
                                 .cluster = text_of(&a, "cluster"),
                                 .within = whole_of(&a, "within"),
                                 .within_column = text_of(&a, "within_column"),
                                 .within_systematic = whole_of(&a, "within_systematic") != 0,
                                 .within_rate = number_of(&a, "within_rate")};
    const char *method = text_of(&a, "method");
    if (a.status == TAMIS_OK) a.status = tamis_method_of_name(&design.method, method, &a.err);
    if (a.status == TAMIS_OK) a.status = tamis_frame_design_check(&design, &a.err);
    if (unusable(&a, module)) return NULL;
    const tamis_stream to = {.path = out};
    const tamis_watch watch = py_watch_of(&w, function);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_frame_draw(&sample, frame, &design, &to, &watch, &a.err);
    Py_END_ALLOW_THREADS;
    clear(&a);
    if (status != TAMIS_OK) return py_fail_watched(module, &a.err, &w);
    py_watched(&w);
    return Py_BuildValue("(LLLLL)", (long long)sample.population, (long long)sample.sample, (long long)sample.strata,
                         (long long)sample.clusters, (long long)sample.clusters_drawn);
}

/* ---- quantiles of a file ---- */

static tamis_quantile_setup setup_of(asked *a)
{
    const char *method = text_of(a, "method");
    tamis_quantile_setup what = {.from = number_of(a, "from"),
                                 .to = number_of(a, "to"),
                                 .step = number_of(a, "step"),
                                 .epsilon = number_of(a, "epsilon"),
                                 .delta = number_of(a, "delta"),
                                 .rho = number_of(a, "rho"),
                                 .log_unit = number_of(a, "log_unit"),
                                 .bins = whole_of(a, "bins"),
                                 .complete = yes(a, "complete"),
                                 .add_remove = yes(a, "add_remove")};
    what.at = numbers_of(&what.at_count, a, "at");
    if (method && a->status == TAMIS_OK) a->status = tamis_quantile_method_of_name(&what.method, method, &a->err);
    return what;
}

/* (JSON, text) */
static PyObject *quantile_of_file(PyObject *module, PyObject *args)
{
    PyObject *function;
    asked a = {0};
    tamis_statistic *made = NULL;
    char *json = NULL, *text = NULL;
    py_watching w;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "O!O", &PyDict_Type, &a.given, &function)) return NULL;
    const tamis_file_quantile question = {.file = text_of(&a, "file"),
                                          .column = text_of(&a, "column"),
                                          .weight = text_of(&a, "weight"),
                                          .max_weight = number_of(&a, "max_weight"),
                                          .what = setup_of(&a),
                                          .budget = number_of(&a, "budget"),
                                          .budget_delta = number_of(&a, "budget_delta"),
                                          .again = yes(&a, "again"),
                                          .engine = engine_in(&a),
                                          .watch = py_watch_of(&w, function)};
    if (unusable(&a, module)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_statistic_quantile(&made, &question, &a.err);
    if (status == TAMIS_OK) status = tamis_statistic_json(&json, made, &a.err);
    if (status == TAMIS_OK) status = tamis_statistic_text(&text, made, &a.err);
    tamis_statistic_free(made);
    Py_END_ALLOW_THREADS;
    clear(&a);
    PyObject *both = status == TAMIS_OK ? Py_BuildValue("(ss)", json, text) : py_fail_watched(module, &a.err, &w);
    if (status == TAMIS_OK) py_watched(&w);
    tamis_free(json);
    tamis_free(text);
    return both;
}

/* ---- randomized response ---- */

static tamis_status randomizer_of(tamis_randomizer **randomizer, asked *a)
{
    const tamis_number *lie = number_of(a, "lie"), *lie_zero = number_of(a, "lie_zero");
    *randomizer = NULL;
    if (a->status == TAMIS_OK && !PyErr_Occurred()) a->status = tamis_randomizer_new(randomizer, lie, lie_zero, &a->err);
    return a->status;
}

/* Replaces the bits of a buffer of 64-bit words by their reports. */
static PyObject *randomize_bits(PyObject *module, PyObject *args)
{
    PyObject *target;
    Py_buffer buffer;
    asked a = {0};
    tamis_randomizer *randomizer;
    tamis_rng *rng = NULL;
    if (!PyArg_ParseTuple(args, "O!O", &PyDict_Type, &a.given, &target)) return NULL;
    (void)randomizer_of(&randomizer, &a);
    if (unusable(&a, module)) return NULL;
    clear(&a);
    if (PyObject_GetBuffer(target, &buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) {
        tamis_randomizer_free(randomizer);
        return NULL;
    }
    tamis_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_rng_new(&rng, &a.err);
    if (status == TAMIS_OK) status = tamis_randomize_bits(buffer.buf, (size_t)buffer.len / 8, randomizer, rng, &a.err);
    if (status != TAMIS_OK) memset(buffer.buf, 0, (size_t)buffer.len);
    tamis_rng_free(rng);
    Py_END_ALLOW_THREADS;
    tamis_randomizer_free(randomizer);
    PyBuffer_Release(&buffer);
    if (status != TAMIS_OK) return py_fail(module, &a.err, NULL);
    Py_RETURN_NONE;
}

/* A permanent flip of one bit. */
static PyObject *randomize_again(PyObject *module, PyObject *args)
{
    const char *secret, *question, *answer;
    Py_ssize_t length;
    int bit, report = 0;
    asked a = {0};
    tamis_randomizer *randomizer;
    if (!PyArg_ParseTuple(args, "O!py#ss", &PyDict_Type, &a.given, &bit, &secret, &length, &question, &answer)) return NULL;
    if (length != TAMIS_SECRET) return PyErr_Format(PyExc_ValueError, "secret: expected %d bytes", TAMIS_SECRET);
    if (randomizer_of(&randomizer, &a) == TAMIS_OK && randomizer)
        a.status = tamis_randomize_again(&report, bit, randomizer, (const uint8_t *)secret, question, answer, &a.err);
    tamis_randomizer_free(randomizer);
    if (unusable(&a, module)) return NULL;
    clear(&a);
    return PyBool_FromLong(report);
}

/* The local epsilon of `alone` bits and `one_hot` columns. */
static PyObject *randomize_local(PyObject *module, PyObject *args)
{
    Py_ssize_t alone, one_hot;
    asked a = {0};
    tamis_bound local = {0};
    tamis_randomizer *randomizer;
    if (!PyArg_ParseTuple(args, "O!nn", &PyDict_Type, &a.given, &alone, &one_hot)) return NULL;
    if (alone < 0 || one_hot < 0) return PyErr_Format(PyExc_ValueError, "alone, one_hot: must not be negative");
    if (randomizer_of(&randomizer, &a) == TAMIS_OK && randomizer)
        a.status = tamis_randomizer_local(&local, randomizer, (size_t)alone, (size_t)one_hot, &a.err);
    tamis_randomizer_free(randomizer);
    if (unusable(&a, module)) return NULL;
    clear(&a);
    return bound(local);
}

/* Columns with their lists of values, as pairs. */
static bool categories_of(tamis_collection *collection, tamis_categories **made, const char ***values, const asked *a)
{
    PyObject *list = item(a, "categories");
    const size_t count = length_of(list, "categories");
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const char *column;
        PyObject *own;
        if (!PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)i), "sO!", &column, &PyList_Type, &own)) return false;
        total += (size_t)PyList_Size(own);
    }
    *made = calloc(count + 1, sizeof **made);
    *values = calloc(total + 1, sizeof **values);
    if (!*made || !*values) {
        PyErr_NoMemory();
        return false;
    }
    const char **at = *values;
    for (size_t i = 0; i < count; i++) {
        PyObject *own;
        if (!PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)i), "sO", &(*made)[i].column, &own)) return false;
        (*made)[i].values = at;
        (*made)[i].count = (size_t)PyList_Size(own);
        for (size_t v = 0; v < (*made)[i].count; v++)
            if (!(*at++ = text_in(PyList_GetItem(own, (Py_ssize_t)v), "categories"))) return false;
    }
    collection->categories = *made;
    collection->categories_count = count;
    return true;
}

static void wipe(uint8_t *bytes, size_t count)
{
    for (volatile uint8_t *at = bytes; count-- > 0;) *at++ = 0;
}

static PyObject *randomize_file(PyObject *module, PyObject *args)
{
    PyObject *function;
    asked a = {0};
    tamis_categories *categories = NULL;
    const char **values = NULL;
    uint8_t secret[TAMIS_SECRET];
    tamis_rng *rng = NULL;
    tamis_randomized facts;
    py_watching w;
    tamis_status status = TAMIS_OK;
    if (!PyArg_ParseTuple(args, "O!O", &PyDict_Type, &a.given, &function)) return NULL;
    tamis_collection collection = {.lie = number_of(&a, "lie"),
                                   .lie_zero = number_of(&a, "lie_zero"),
                                   .id = text_of(&a, "id"),
                                   .missing_bit = yes(&a, "missing_bit"),
                                   .packed = yes(&a, "packed")};
    collection.columns = texts_of(&collection.column_count, &a, "columns");
    const char *memo = text_of(&a, "memo");
    const tamis_stream in = {.path = text_of(&a, "answers")}, out = {.path = text_of(&a, "out")};
    const tamis_watch watch = py_watch_of(&w, function);
    if (!PyErr_Occurred()) categories_of(&collection, &categories, &values, &a);
    if (!unusable(&a, module)) {
        Py_BEGIN_ALLOW_THREADS;
        status = tamis_rng_new(&rng, &a.err);
        if (status == TAMIS_OK && memo) status = tamis_secret_file(secret, memo, rng, &a.err);
        if (memo) collection.secret = secret;
        if (status == TAMIS_OK) status = tamis_randomize_file(&facts, &out, &in, &collection, rng, &watch, &a.err);
        tamis_rng_free(rng);
        wipe(secret, sizeof secret);
        Py_END_ALLOW_THREADS;
        clear(&a);
        if (status != TAMIS_OK) py_fail_watched(module, &a.err, &w);
    }
    free(categories);
    free(values);
    if (PyErr_Occurred()) return NULL;
    py_watched(&w);
    return Py_BuildValue("(KnnN)", (unsigned long long)facts.reports, (Py_ssize_t)facts.bits, (Py_ssize_t)facts.left_out,
                         bound(facts.local));
}

/* ---- tallies ---- */

#define TALLY "tamis.tally"

static void free_tally(PyObject *capsule) { tamis_tally_free(PyCapsule_GetPointer(capsule, TALLY)); }

static PyObject *tally_new(PyObject *module, PyObject *given)
{
    asked a = {.given = given};
    tamis_tally *tally = NULL;
    if (!PyDict_Check(given)) return PyErr_Format(PyExc_TypeError, "expected a dict");
    const tamis_tally_terms terms = {.size = sizeof terms,
                                     .lie = number_of(&a, "lie"),
                                     .lie_zero = number_of(&a, "lie_zero"),
                                     .id = text_of(&a, "id"),
                                     .once = yes(&a, "once"),
                                     .weight = text_of(&a, "weight"),
                                     .keep = yes(&a, "keep"),
                                     .table = yes(&a, "table")};
    if (a.status == TAMIS_OK && !PyErr_Occurred()) a.status = tamis_tally_new(&tally, &terms, &a.err);
    if (unusable(&a, module)) return NULL;
    clear(&a);
    PyObject *capsule = PyCapsule_New(tally, TALLY, free_tally);
    if (!capsule) tamis_tally_free(tally);
    return capsule;
}

static PyObject *tally_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *function;
    const char *path;
    tamis_error err = {0};
    py_watching w;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "OsO", &capsule, &path, &function)) return NULL;
    tamis_tally *tally = PyCapsule_GetPointer(capsule, TALLY);
    if (!tally) return NULL;
    const tamis_watch watch = py_watch_of(&w, function);
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_tally_add(tally, path, &watch, &err);
    Py_END_ALLOW_THREADS;
    if (status != TAMIS_OK) return py_fail_watched(module, &err, &w);
    py_watched(&w);
    Py_RETURN_NONE;
}

/* Rows of the caller, or files or a server that an engine counts. */
static PyObject *tally_add_source(PyObject *module, PyObject *args)
{
    PyObject *capsule, *rows, *function;
    asked a = {0};
    py_watching w;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "OOO!O", &capsule, &rows, &PyDict_Type, &a.given, &function)) return NULL;
    tamis_tally *tally = PyCapsule_GetPointer(capsule, TALLY);
    if (!tally) return NULL;
    tamis_tally_source source = {.size = sizeof source,
                                 .engine = engine_in(&a),
                                 .connection = text_of(&a, "connection"),
                                 .table = text_of(&a, "table"),
                                 .rows = py_source(rows),
                                 .columns = text_of(&a, "columns")};
    source.files = texts_of(&source.file_count, &a, "files");
    const tamis_watch watch = py_watch_of(&w, function);
    if (unusable(&a, module)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_tally_add_source(tally, &source, &watch, &a.err);
    Py_END_ALLOW_THREADS;
    clear(&a);
    if (status != TAMIS_OK) return py_fail_watched(module, &a.err, &w);
    py_watched(&w);
    Py_RETURN_NONE;
}

/* (reports, repeated) */
static PyObject *tally_counts(PyObject *module, PyObject *capsule)
{
    (void)module;
    const tamis_tally *tally = PyCapsule_GetPointer(capsule, TALLY);
    return tally ? Py_BuildValue("(LL)", (long long)tamis_tally_reports(tally), (long long)tamis_tally_repeated(tally)) : NULL;
}

static tamis_tally_question question_of(asked *a)
{
    return (tamis_tally_question){.size = sizeof(tamis_tally_question),
                                  .confidence = number_of(a, "confidence"),
                                  .population = whole_of(a, "population"),
                                  .categories = text_of(a, "categories"),
                                  .delta = number_of(a, "delta"),
                                  .promised = whole_of(a, "promised")};
}

static PyObject *tally_text(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *form;
    asked a = {0};
    char *text = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "OsO!", &capsule, &form, &PyDict_Type, &a.given)) return NULL;
    const tamis_tally *tally = PyCapsule_GetPointer(capsule, TALLY);
    if (!tally) return NULL;
    const tamis_tally_question question = question_of(&a);
    if (unusable(&a, module)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = strcmp(form, "json") == 0  ? tamis_tally_json(&text, tally, &question, &a.err)
             : strcmp(form, "csv") == 0 ? tamis_tally_csv(&text, tally, &question, &a.err)
                                        : tamis_tally_text(&text, tally, &question, &a.err);
    Py_END_ALLOW_THREADS;
    clear(&a);
    return py_take_text(module, status, text, &a.err);
}

/* Charges, writes, and gives the results as JSON. */
static PyObject *tally_publish(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    asked a = {0};
    char *text = NULL;
    tamis_status status;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyDict_Type, &a.given)) return NULL;
    const tamis_tally *tally = PyCapsule_GetPointer(capsule, TALLY);
    if (!tally) return NULL;
    const tamis_tally_question question = question_of(&a);
    const tamis_tally_publication publication = {.size = sizeof publication,
                                                 .form = TAMIS_TALLY_JSON,
                                                 .folder = text_of(&a, "folder"),
                                                 .sign = text_of(&a, "sign"),
                                                 .save = text_of(&a, "save"),
                                                 .shuffle = text_of(&a, "shuffle"),
                                                 .ledger = text_of(&a, "ledger"),
                                                 .survey = text_of(&a, "survey"),
                                                 .budget = number_of(&a, "budget"),
                                                 .repeat = (tamis_tally_repeat)whole_of(&a, "repeat")};
    if (unusable(&a, module)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = tamis_tally_publish(&text, tally, &question, &publication, &a.err);
    Py_END_ALLOW_THREADS;
    clear(&a);
    return py_take_text(module, status, text, &a.err);
}

static PyObject *tally_write(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    const char *what, *path;
    tamis_error err = {0};
    tamis_status status;
    if (!PyArg_ParseTuple(args, "Oss", &capsule, &what, &path)) return NULL;
    const tamis_tally *tally = PyCapsule_GetPointer(capsule, TALLY);
    if (!tally) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = strcmp(what, "shuffle") == 0 ? tamis_tally_shuffle(tally, path, &err) : tamis_tally_save(tally, path, &err);
    Py_END_ALLOW_THREADS;
    if (status != TAMIS_OK) return py_fail(module, &err, NULL);
    Py_RETURN_NONE;
}

/* ---- studies ---- */

static tamis_study_population population_of(asked *a)
{
    return (tamis_study_population){.values = text_of(a, "values"),
                                    .column = text_of(a, "column"),
                                    .size = whole_of(a, "population"),
                                    .from = number_of(a, "from"),
                                    .to = number_of(a, "to"),
                                    .sd = number_of(a, "sd")};
}

typedef struct study_call {
    asked a;
    const tamis_plan *plan, *drawn_by;
    tamis_study_options options;
    tamis_study *made;
} study_call;

/* Each reads its options, which fails before the lock of the interpreter is given up, and then works. */

static tamis_study_question question_about(asked *a)
{
    const char *name = text_of(a, "statistic");
    tamis_study_question q = {.size = sizeof q,
                              .population = population_of(a),
                              .statistic = !name || strcmp(name, "mean") == 0 ? TAMIS_STUDY_MEAN
                                           : strcmp(name, "total") == 0       ? TAMIS_STUDY_TOTAL
                                           : strcmp(name, "median") == 0      ? TAMIS_STUDY_MEDIAN
                                                                              : TAMIS_STUDY_QUANTILE,
                              .eps = number_of(a, "epsilon"),
                              .delta = number_of(a, "delta"),
                              .mechanism = text_of(a, "mechanism"),
                              .groups = whole_of(a, "groups"),
                              .step = number_of(a, "step"),
                              .rate = number_of(a, "rate")};
    q.at = numbers_of(&q.at_count, a, "at");
    return q;
}

#define USABLE(c) ((c)->a.status == TAMIS_OK && !PyErr_Occurred())
#define WORK(c, expression) \
    do { \
        if (USABLE(c)) { \
            Py_BEGIN_ALLOW_THREADS; \
            (c)->a.status = (expression); \
            Py_END_ALLOW_THREADS; \
        } \
    } while (0)

static void study_gain(study_call *c)
{
    const tamis_study_question q = question_about(&c->a);
    WORK(c, tamis_study_gain(&c->made, &q, &c->options, &c->a.err));
}

static void study_rate(study_call *c)
{
    const tamis_study_question q = question_about(&c->a);
    WORK(c, tamis_study_best_rate(&c->made, &q, &c->options, &c->a.err));
}

static void study_allocation(study_call *c)
{
    const tamis_study_strata strata = {.size = sizeof strata,
                                       .path = text_of(&c->a, "strata"),
                                       .sample = whole_of(&c->a, "sample"),
                                       .least = whole_of(&c->a, "least"),
                                       .eps = number_of(&c->a, "epsilon")};
    WORK(c, tamis_study_allocation(&c->made, &strata, &c->options, &c->a.err));
}

static void study_epsilon(study_call *c)
{
    tamis_study_errors errors = {.size = sizeof errors, .share = number_of(&c->a, "error")};
    errors.list = texts_of(&errors.count, &c->a, "errors");
    WORK(c, tamis_study_epsilon(&c->made, c->plan, &errors, &c->options, &c->a.err));
}

static tamis_study_samples samples_of(study_call *c)
{
    return (tamis_study_samples){.size = sizeof(tamis_study_samples),
                                 .population = text_of(&c->a, "population"),
                                 .sizes = text_of(&c->a, "size"),
                                 .response = text_of(&c->a, "response"),
                                 .drawn_by = c->drawn_by};
}

static void study_plan(study_call *c)
{
    const tamis_study_samples samples = samples_of(c);
    WORK(c, tamis_study_plan(&c->made, c->plan, &samples, &c->options, &c->a.err));
}

static void study_coverage(study_call *c)
{
    const tamis_study_samples samples = samples_of(c);
    WORK(c, tamis_study_coverage(&c->made, c->plan, &samples, &c->options, &c->a.err));
}

static void study_bounds(study_call *c)
{
    const tamis_study_ranges ranges = {.size = sizeof ranges,
                                       .population = text_of(&c->a, "population"),
                                       .column = text_of(&c->a, "column")};
    WORK(c, tamis_study_bounds(&c->made, c->plan, &ranges, &c->options, &c->a.err));
}

static void study_quantile(study_call *c)
{
    const tamis_study_quantiles q = {.size = sizeof q,
                                     .population = {.values = text_of(&c->a, "values"), .column = text_of(&c->a, "column")},
                                     .rows = whole_of(&c->a, "rows"),
                                     .what = setup_of(&c->a)};
    WORK(c, tamis_study_quantile(&c->made, &q, &c->options, &c->a.err));
}

static void study_figure(study_call *c)
{
    const int64_t number = whole_of(&c->a, "number");
    WORK(c, tamis_study_figure(&c->made, number > TAMIS_STUDY_FIGURES ? 0 : (int)number, &c->options, &c->a.err));
}

static void study_table(study_call *c) { WORK(c, tamis_study_table(&c->made, &c->options, &c->a.err)); }

static const struct {
    const char *name;
    bool of_plan;
    void (*make)(study_call *call);
} studies[] = {{"gain", false, study_gain},      {"rate", false, study_rate},         {"allocation", false, study_allocation},
               {"epsilon", true, study_epsilon}, {"plan", true, study_plan},          {"coverage", true, study_coverage},
               {"bounds", true, study_bounds},   {"quantile", false, study_quantile}, {"figure", false, study_figure},
               {"table", false, study_table}};

/* (text, JSON, CSV or None, SVG or None) */
static PyObject *study(PyObject *module, PyObject *args)
{
    const char *kind;
    PyObject *plan, *drawn_by, *function, *made = NULL;
    study_call c = {0};
    py_watching w;
    size_t which = 0;
    if (!PyArg_ParseTuple(args, "sO!OOO", &kind, &PyDict_Type, &c.a.given, &plan, &drawn_by, &function)) return NULL;
    while (which < sizeof studies / sizeof *studies && strcmp(studies[which].name, kind) != 0) which++;
    if (which == sizeof studies / sizeof *studies) return PyErr_Format(PyExc_ValueError, "there is no such study");
    if (studies[which].of_plan && !(c.plan = py_plan(plan))) return NULL;
    if (drawn_by != Py_None && !(c.drawn_by = py_plan(drawn_by))) return NULL;
    c.options = (tamis_study_options){.size = sizeof c.options,
                                      .seed = (uint64_t)whole_of(&c.a, "seed"),
                                      .runs = whole_of(&c.a, "runs"),
                                      .threads = (unsigned)whole_of(&c.a, "threads"),
                                      .watch = py_watch_of(&w, function)};
    studies[which].make(&c);
    if (!PyErr_Occurred() && c.a.status != TAMIS_OK) py_fail_watched(module, &c.a.err, &w);
    else if (!PyErr_Occurred())
        made = Py_BuildValue("(sszz)", tamis_study_as(c.made, TAMIS_STUDY_TEXT), tamis_study_as(c.made, TAMIS_STUDY_JSON),
                             tamis_study_as(c.made, TAMIS_STUDY_CSV), tamis_study_as(c.made, TAMIS_STUDY_SVG));
    if (made) py_watched(&w);
    tamis_study_free(c.made);
    clear(&c.a);
    return made;
}

PyMethodDef py_beside[] = {{"noise", noise, METH_VARARGS, NULL},
                           {"draw", draw, METH_VARARGS, NULL},
                           {"quantile_of_file", quantile_of_file, METH_VARARGS, NULL},
                           {"randomize_bits", randomize_bits, METH_VARARGS, NULL},
                           {"randomize_again", randomize_again, METH_VARARGS, NULL},
                           {"randomize_local", randomize_local, METH_VARARGS, NULL},
                           {"randomize_file", randomize_file, METH_VARARGS, NULL},
                           {"tally_new", tally_new, METH_O, NULL},
                           {"tally_add", tally_add, METH_VARARGS, NULL},
                           {"tally_add_source", tally_add_source, METH_VARARGS, NULL},
                           {"tally_counts", tally_counts, METH_O, NULL},
                           {"tally_text", tally_text, METH_VARARGS, NULL},
                           {"tally_publish", tally_publish, METH_VARARGS, NULL},
                           {"tally_write", tally_write, METH_VARARGS, NULL},
                           {"study", study, METH_VARARGS, NULL},
                           {NULL, NULL, 0, NULL}};
