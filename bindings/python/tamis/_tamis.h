/* What the two files of the extension share: failures, watching, capsules. */
#ifndef TAMIS_PYTHON_H
#define TAMIS_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <tamis/experimental.h>
#include <tamis/tamis.h>

/* Raises Failure(status, json, exception): what tamis_error_json writes, and the exception that a signal handler or a progress
 * function raised while the library worked, or None. Gives NULL. */
PyObject *py_fail(PyObject *module, const tamis_error *err, PyObject *exception);

/* A text that the library gave, which is freed; or the failure. */
PyObject *py_take_text(PyObject *module, tamis_status status, char *text, const tamis_error *err);

typedef struct py_watching {
    PyObject *function;  /* called with the share done, or None, and the rows; NULL: nobody */
    PyObject *exception; /* what a signal handler or the function raised */
} py_watching;

/* The watch of a call, which is asked in the thread that made it; `function` is None or what is called. After a call that
 * succeeded an exception is dropped (py_watched): what was asked for is there. */
tamis_watch py_watch_of(py_watching *w, PyObject *function);
PyObject *py_fail_watched(PyObject *module, const tamis_error *err, py_watching *w);
void py_watched(py_watching *w);

/* The plan of a capsule; NULL with an exception if it is none. */
const tamis_plan *py_plan(PyObject *capsule);

/* The rows of a capsule; NULL without an exception for None. */
const tamis_source *py_source(PyObject *capsule);

/* What the library does beside releases: noise, samples, quantiles of a file, randomized response, studies. Ends with an empty
 * row. */
extern PyMethodDef py_beside[];

#endif
