/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* _posixtrace.c - the module: its errors, its functions and its types. */
#include "bindings/python/module.h"

PyObject *ptx_fail(int err, const char *what)
{
	errno = err;
	return PyErr_SetFromErrnoWithFilename(PyExc_OSError, what);
}

PyObject *ptx_answer(int err, const char *what)
{
	if (err)
		return ptx_fail(err, what);
	Py_RETURN_NONE;
}

bool ptx_open_type(const char *name, const char *schema, trace_event_id_t *id)
{
	int err = posix_trace_eventid_open(name, id);

	if (!err && *schema && *id != POSIX_TRACE_UNNAMED_USEREVENT)
		err = posix_trace_eventid_describe_np(*id, schema);
	/*
	 * For these error numbers, the system's messages speak of files. So the exceptions have
	 * messages of their own.
	 */
	if (err == ENAMETOOLONG)
		PyErr_Format(PyExc_ValueError, "the name of the event type %s is too long", name);
	else if (err == EEXIST)
		PyErr_Format(PyExc_ValueError, "the event type %s has another schema", name);
	else if (err == EINVAL)
		PyErr_Format(PyExc_ValueError, "this is not a schema: %s", schema);
	else if (err)
		ptx_fail(err, name);
	return !err;
}

static PyObject *is_active(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	return PyBool_FromLong(*posix_trace_active_np);
}

static PyMethodDef functions[] = {
	{ "is_active", is_active, METH_NOARGS, "Whether a stream traces this process." },
	{ "_end_calls", ptx_end_calls, METH_NOARGS, "Ends the function spans of this thread." },
	{ "_profile_thread", ptx_profile_thread, METH_VARARGS, "Function spans of this thread." },
	{ "_hide_file", ptx_hide_file, METH_O, "Records no functions of this co_filename." },
	{ "_on_start", (PyCFunction)(void (*)(void))ptx_on_start, METH_FASTCALL, NULL },
	{ "_on_end", (PyCFunction)(void (*)(void))ptx_on_end, METH_FASTCALL, NULL },
	{ NULL, NULL, 0, NULL }
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "_posixtrace", "The part of posixtrace that is in C.", -1, functions,
	NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__posixtrace(void);

PyMODINIT_FUNC PyInit__posixtrace(void)
{
	static const struct {
		const char *name;
		PyTypeObject *type;
	} types[] = {
		{ "Event", &ptx_event_type }, { "_Span", &ptx_span_type },
		{ "TracedFunction", &ptx_traced_type }, { "_Log", &ptx_log_type },
		{ "_Stream", &ptx_stream_type },
	};
	PyObject *made = PyModule_Create(&module);

	if (!made || !ptx_record_ready())
		return NULL;
	Py_INCREF(&ptx_record_type);
	if (PyModule_AddObject(made, "Record", (PyObject *)&ptx_record_type) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (PyType_Ready(types[i].type) < 0)
			return NULL;
		Py_INCREF(types[i].type);
		if (PyModule_AddObject(made, types[i].name, (PyObject *)types[i].type) < 0)
			return NULL;
	}
	return made;
}
