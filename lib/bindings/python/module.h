/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module.h - what the files of the Python module share. The C files have the code that runs for
 * each event. posixtrace.py has the rest, and the documentation of the classes.
 *
 * Errors   a call that fails raises OSError with the error number, or TypeError. While the process
 *          is not traced, no exception is raised, because the arguments are not examined.
 * Threads  functions that wait release the interpreter's lock. All others hold it.
 */
#ifndef PTX_BINDINGS_PYTHON_MODULE_H
#define PTX_BINDINGS_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <trace_np.h>

#pragma GCC visibility push(hidden)

#define IS_ACTIVE() (__builtin_expect(*posix_trace_active_np, 0))

/* event.c, span.c and reader.c. PyInit__posixtrace() makes them ready. */
extern PyTypeObject ptx_event_type, ptx_span_type, ptx_traced_type, ptx_log_type, ptx_stream_type;

/*
 * The type of the events that a program reads (reader.c). ptx_record_ready() returns false with an
 * exception.
 */
extern PyTypeObject ptx_record_type;
bool ptx_record_ready(void);

/* Raises OSError for an error number. `what` is the file or the name, or NULL. Returns NULL. */
PyObject *ptx_fail(int err, const char *what);

/* Returns None, or raises OSError unless the error number is 0. */
PyObject *ptx_answer(int err, const char *what);

/* Registers an event type with a schema, which may be empty. Returns false with an exception. */
bool ptx_open_type(const char *name, const char *schema, trace_event_id_t *id);

/*
 * hook.c, spans of functions: for PyEval_SetProfile() of each thread, and for the callbacks of
 * sys.monitoring of Python 3.12.
 */
PyObject *ptx_profile_thread(PyObject *self, PyObject *args);
PyObject *ptx_on_start(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *ptx_on_end(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

#pragma GCC visibility pop

#endif
