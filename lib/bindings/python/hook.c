/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hook.c - records calls of functions that are written in Python. */
#include "bindings/python/module.h"

static trace_event_id_t call_begin, call_end;
/*
 * The number of functions with a recorded begin and no recorded end. A function that was already
 * running when the hook was set has no recorded begin. When it ends, `depth` is 0, and end_code()
 * records nothing.
 */
static __thread unsigned depth;

/*
 * The co_filename of the functions of posixtrace.py, which are not recorded: some of them are
 * called before the hook ends, and return after that. All code objects of a file share this string.
 */
static PyObject *own_file;

static bool is_own(const PyCodeObject *code)
{
	return code->co_filename == own_file;
}

static bool open_calls(void)
{
	return call_begin || (ptx_open_type("python.begin",
					"str function;str file;u32 line;@begin python",
					&call_begin) &&
			      ptx_open_type("python.end", "@end python", &call_end));
}

/* Records that a function begins. `code` has the names of the function and of its file. */
static void begin_code(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	const char *name = PyUnicode_AsUTF8(code->co_qualname);
#else
	const char *name = PyUnicode_AsUTF8(code->co_name);
#endif
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	const struct posix_trace_arg_np arg[] = {
		POSIX_TRACE_STR_NP(name), POSIX_TRACE_STR_NP(file),
		POSIX_TRACE_U32_NP(code->co_firstlineno)
	};
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];

	/* A name with lone surrogates has no UTF-8 form, so the event has an empty name. */
	if (!name || !file)
		PyErr_Clear();
	depth++;
	posix_trace_event(call_begin, payload,
			  posix_trace_fields_pack_np(payload, sizeof(payload), arg, 3));
}

/* Records that a function ends. */
static void end_code(const PyCodeObject *code)
{
	if (depth && !is_own(code)) {
		depth--;
		posix_trace_event(call_end, NULL, 0);
	}
}

/*
 * The callback of PyEval_SetProfile(): records calls of functions that are written in Python.
 * Returns 0, so that the program continues.
 */
static int on_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	PyCodeObject *code;

	(void)self;
	(void)arg;
	if (what != PyTrace_RETURN && (what != PyTrace_CALL || !IS_ACTIVE()))
		return 0;
	code = PyFrame_GetCode(frame);
	if (what == PyTrace_RETURN)
		end_code(code);
	else if (!is_own(code))
		begin_code(code);
	Py_DECREF(code);
	return 0;
}

PyObject *ptx_hide_file(PyObject *self, PyObject *file)
{
	(void)self;
	Py_INCREF(file);
	Py_XDECREF(own_file);
	own_file = file;
	Py_RETURN_NONE;
}

/* Records the ends of the functions that run in this thread, since the hook will not see them. */
PyObject *ptx_end_calls(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	for (; depth; depth--)
		posix_trace_event(call_end, NULL, 0);
	Py_RETURN_NONE;
}

PyObject *ptx_profile_thread(PyObject *self, PyObject *args)
{
	int on;

	if (!PyArg_ParseTuple(args, "p", &on) || !open_calls())
		return NULL;
	PyEval_SetProfile(on ? on_profile : NULL, on ? self : NULL);
	return ptx_end_calls(NULL, NULL);
}

/* For sys.monitoring of Python 3.12. The arguments are `code` and an offset. */
PyObject *ptx_on_start(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	(void)self;
	if (IS_ACTIVE() && nargs > 0 && PyCode_Check(args[0]) && open_calls() &&
	    !is_own((PyCodeObject *)args[0]))
		begin_code((PyCodeObject *)args[0]);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

/* For sys.monitoring: a function returns, yields, or is left by an exception. */
PyObject *ptx_on_end(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	(void)self;
	if (nargs > 0 && PyCode_Check(args[0]))
		end_code((PyCodeObject *)args[0]);
	Py_RETURN_NONE;
}

