/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* span.c - spans as context managers, and functions that are traced as spans. */
#include "bindings/python/module.h"

typedef struct {
	PyObject_HEAD
	trace_event_id_t begin, end;
} Span;

/* A function that is traced as a span. */
typedef struct {
	PyObject_HEAD
	vectorcallfunc call;
	PyObject *function, *dict, *weak;
	Span *span;
} Traced;

static PyObject *span_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "name", "level", NULL };
	char begin[TRACE_EVENT_NAME_MAX + 1], end[TRACE_EVENT_NAME_MAX + 1], level[24] = "";
	char describe[2][TRACE_EVENT_NAME_MAX + 40];
	const char *name;
	int at = 0;
	Span *span;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|i", names, &name, &at))
		return NULL;
	if (strlen(name) > TRACE_EVENT_NAME_MAX - 6)
		return PyErr_Format(PyExc_ValueError, "the name is too long: %s", name);
	if (at)
		snprintf(level, sizeof(level), ";@level %d", at);
	snprintf(begin, sizeof(begin), "%.*s.begin", TRACE_EVENT_NAME_MAX - 6, name);
	snprintf(end, sizeof(end), "%.*s.end", TRACE_EVENT_NAME_MAX - 6, name);
	snprintf(describe[0], sizeof(describe[0]), "@begin %.57s%s", name, level);
	snprintf(describe[1], sizeof(describe[1]), "@end %.57s%s", name, level);
	span = (Span *)type->tp_alloc(type, 0);
	if (span && ptx_open_type(begin, describe[0], &span->begin) &&
	    ptx_open_type(end, describe[1], &span->end))
		return (PyObject *)span;
	Py_XDECREF(span);
	return NULL;
}

static PyObject *span_enter(PyObject *self, PyObject *none)
{
	(void)none;
	if (IS_ACTIVE())
		posix_trace_event(((Span *)self)->begin, NULL, 0);
	Py_INCREF(self);
	return self;
}

/* Returns False, so that the interpreter raises an exception of the block again. */
static PyObject *span_exit(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	(void)args;
	(void)nargs;
	if (IS_ACTIVE())
		posix_trace_event(((Span *)self)->end, NULL, 0);
	Py_RETURN_FALSE;
}

static PyObject *traced_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	const Traced *traced = (const Traced *)self;
	PyObject *result;

	if (!IS_ACTIVE())
		return PyObject_Vectorcall(traced->function, args, nargsf, names);
	posix_trace_event(traced->span->begin, NULL, 0);
	result = PyObject_Vectorcall(traced->function, args, nargsf, names);
	posix_trace_event(traced->span->end, NULL, 0);
	return result;
}

static int traced_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(((Traced *)self)->function);
	Py_VISIT(((Traced *)self)->dict);
	Py_VISIT(((Traced *)self)->span);
	return 0;
}

static int traced_clear(PyObject *self)
{
	Py_CLEAR(((Traced *)self)->function);
	Py_CLEAR(((Traced *)self)->dict);
	Py_CLEAR(((Traced *)self)->span);
	return 0;
}

static void traced_dealloc(PyObject *self)
{
	PyObject_GC_UnTrack(self);
	if (((Traced *)self)->weak)
		PyObject_ClearWeakRefs(self);
	traced_clear(self);
	Py_TYPE(self)->tp_free(self);
}

/* Binds a traced function to an object, as for a method. */
static PyObject *traced_get(PyObject *self, PyObject *object, PyObject *type)
{
	(void)type;
	if (!object || object == Py_None) {
		Py_INCREF(self);
		return self;
	}
	return PyMethod_New(self, object);
}

/* For pickle and copy: the function has a name in its module, as any function. */
static PyObject *traced_reduce(PyObject *self, PyObject *none)
{
	PyObject *name = PyObject_GetAttrString(self, "__qualname__");

	(void)none;
	if (!name && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Format(PyExc_TypeError, "cannot pickle a traced %s, which has no name",
			     Py_TYPE(((Traced *)self)->function)->tp_name);
	return name;
}

static PyMethodDef traced_methods[] = {
	{ "__reduce__", traced_reduce, METH_NOARGS, "The name of the function, for pickle." },
	{ NULL, NULL, 0, NULL }
};

static PyGetSetDef traced_getset[] = {
	{ "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

PyTypeObject ptx_traced_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace.TracedFunction",
	.tp_basicsize = sizeof(Traced),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
	.tp_doc = "A function that is traced as a span.",
	.tp_call = PyVectorcall_Call,
	.tp_vectorcall_offset = offsetof(Traced, call),
	.tp_traverse = traced_traverse,
	.tp_clear = traced_clear,
	.tp_dealloc = traced_dealloc,
	.tp_descr_get = traced_get,
	.tp_methods = traced_methods,
	.tp_getset = traced_getset,
	.tp_dictoffset = offsetof(Traced, dict),
	.tp_weaklistoffset = offsetof(Traced, weak),
};

/* span(function), as a decorator: returns a TracedFunction. */
static PyObject *span_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	PyObject *function;
	Traced *traced;

	(void)keywords;
	if (!PyArg_ParseTuple(args, "O", &function))
		return NULL;
	if (!PyCallable_Check(function))
		return PyErr_Format(PyExc_TypeError, "a span decorates a function");
	traced = (Traced *)ptx_traced_type.tp_alloc(&ptx_traced_type, 0);
	if (!traced)
		return NULL;
	Py_INCREF(function);
	Py_INCREF(self);
	traced->call = traced_call;
	traced->function = function;
	traced->span = (Span *)self;
	return (PyObject *)traced;
}

static PyMethodDef span_methods[] = {
	{ "__enter__", span_enter, METH_NOARGS, "Records the begin." },
	{ "__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL, "Records the end." },
	{ NULL, NULL, 0, NULL }
};

PyTypeObject ptx_span_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace._Span",
	.tp_basicsize = sizeof(Span),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.tp_doc = "A kind of span: a context manager and a decorator.",
	.tp_new = span_new,
	.tp_call = span_call,
	.tp_methods = span_methods,
};

