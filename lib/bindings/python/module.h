/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module.h - the declarations that the C files of the Python module share. The C files have the
 * code that runs for each event. posixtrace.py has the other code, and the documentation of the
 * classes.
 *
 * Errors   an error of the library raises OSError with the error number; a wrong argument raises
 *          TypeError, ValueError or OverflowError. While the process is not traced, the call of an
 *          event raises nothing, because it does not examine its arguments.
 * Threads  the methods start, stop, flush, clear, shutdown and read of a stream, which may wait,
 *          release the interpreter's lock. All other functions hold it.
 */
#ifndef PTX_BINDINGS_PYTHON_MODULE_H
#define PTX_BINDINGS_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <trace_np.h>

#pragma GCC visibility push(hidden)

#define IS_ACTIVE() (__builtin_expect(*posix_trace_active_np, 0))

/* The types of event.c, span.c and reader.c. PyInit__posixtrace() calls PyType_Ready() for each. */
extern PyTypeObject ptx_event_type, ptx_span_type, ptx_traced_type, ptx_log_type, ptx_stream_type;

/*
 * The type of the events that a program reads (reader.c). ptx_record_ready() initializes the type,
 * or raises an exception and returns false.
 */
extern PyTypeObject ptx_record_type;
bool ptx_record_ready(void);

/*
 * Raises OSError for an error number and returns NULL. `what` is the name of a file or of an event
 * type, or NULL.
 */
PyObject *ptx_fail(int err, const char *what);

/* Returns None if `err` is 0. Otherwise raises OSError and returns NULL. */
PyObject *ptx_answer(int err, const char *what);

/*
 * Registers an event type. If `schema` is not empty, also describes the type. Raises ValueError, or
 * OSError if a resource is missing, and returns false if that fails.
 */
bool ptx_open_type(const char *name, const char *schema, trace_event_id_t *id);

/*
 * Spans of functions (hook.c). ptx_profile_thread() sets or removes the profile hook of the calling
 * thread, and ptx_end_calls() ends its spans. ptx_on_start() and ptx_on_end() are the callbacks for
 * sys.monitoring of Python 3.12.
 */
PyObject *ptx_hide_file(PyObject *self, PyObject *file);
PyObject *ptx_end_calls(PyObject *self, PyObject *none);
PyObject *ptx_profile_thread(PyObject *self, PyObject *args);
PyObject *ptx_on_start(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *ptx_on_end(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

#pragma GCC visibility pop

#endif
