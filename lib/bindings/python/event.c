/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* event.c - event types: a call packs the arguments by the schema and records an event. */
#include "bindings/python/module.h"

typedef struct {
	PyObject_HEAD
	vectorcallfunc call;
	trace_event_id_t id;
	bool is_known; /* the arguments of a call were those of the schema */
	struct posix_trace_schema_np schema;
} Event;

/* The arguments of a call, and the objects that hold their bytes until the event is recorded. */
struct arguments {
	struct posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
	PyObject *held[2 * POSIX_TRACE_FIELDS_MAX_NP];
	size_t holds;
};

/*
 * Stores the value of an integer field and returns true. Raises an exception and returns false if
 * the value is no integer, or if 64 bits are not enough (OverflowError).
 */
static bool integer_of(PyObject *value, uint64_t *number)
{
	PyObject *integer = PyNumber_Index(value);

	if (!integer)
		return false;
	*number = (uint64_t)PyLong_AsLongLong(integer);
	if (*number == UINT64_MAX && PyErr_Occurred() &&
	    PyErr_ExceptionMatches(PyExc_OverflowError)) {
		PyErr_Clear();
		*number = PyLong_AsUnsignedLongLong(integer);
	}
	Py_DECREF(integer);
	return !PyErr_Occurred();
}

/*
 * Encodes a str that has surrogates, which UTF-8 does not have. os.listdir() and sys.argv have
 * such strings for names that are not UTF-8: the event has the bytes of the name. Other surrogates
 * become escapes. Returns NULL and raises an exception if there is no memory.
 */
static PyObject *encode_surrogates(PyObject *value)
{
	PyObject *bytes;

	PyErr_Clear();
	bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
	if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
		PyErr_Clear();
		bytes = PyUnicode_AsEncodedString(value, "utf-8", "backslashreplace");
	}
	return bytes;
}

/* Copies the first `bytes` bytes of a buffer, in the order of C. Its items may have gaps. */
static void copy_items(char *to, size_t bytes, Py_buffer *view)
{
	Py_ssize_t index[PyBUF_MAX_NDIM] = { 0 };
	const size_t item = (size_t)view->itemsize;

	if (PyBuffer_IsContiguous(view, 'C')) {
		memcpy(to, view->buf, bytes);
		return;
	}
	for (size_t done = 0; done < bytes; done += item) {
		memcpy(to + done, PyBuffer_GetPointer(view, index),
		       item < bytes - done ? item : bytes - done);
		/* In the order of C, the last index changes from each item to the next. */
		for (int i = view->ndim - 1; i >= 0 && ++index[i] == view->shape[i]; i--)
			index[i] = 0;
	}
}

/*
 * Returns the first bytes of an object with the interface of buffers, at most as many as an event
 * has room for, because the buffer may be large. *len becomes the length of the whole buffer.
 * Returns NULL and raises an exception after an error.
 */
static PyObject *begin_of_buffer(PyObject *value, size_t *len)
{
	PyObject *bytes;
	Py_buffer view;

	if (PyObject_GetBuffer(value, &view, PyBUF_FULL_RO))
		return NULL;
	*len = (size_t)view.len;
	bytes = PyBytes_FromStringAndSize(NULL, view.len < POSIX_TRACE_FIELDS_BYTES_NP ?
							view.len : POSIX_TRACE_FIELDS_BYTES_NP);
	if (bytes)
		copy_items(PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes), &view);
	PyBuffer_Release(&view);
	return bytes;
}

/*
 * Stores the bytes of an object with the interface of buffers, such as bytes, a memoryview or an
 * array. If `takes_bytes` is false, the object may also be a str, whose UTF-8 form is stored, or
 * None, which is an empty text, like a null pointer of C. Raises TypeError and returns false for
 * any other object. If arg->len becomes greater than POSIX_TRACE_FIELDS_BYTES_NP, only that many
 * bytes at arg->data are certain to exist.
 */
static bool text_of(PyObject *value, struct posix_trace_arg_np *arg, bool takes_bytes,
		    struct arguments *arguments)
{
	Py_ssize_t len;

	if (PyUnicode_Check(value) && !takes_bytes) {
		/*
		 * Python would make the UTF-8 form of the whole string and keep it. A string of
		 * ASCII has this form already.
		 */
		if (PyUnicode_GetLength(value) > POSIX_TRACE_FIELDS_BYTES_NP &&
		    !PyUnicode_IS_ASCII(value)) {
			value = PyUnicode_Substring(value, 0, POSIX_TRACE_FIELDS_BYTES_NP);
			if (!value)
				return false;
			arguments->held[arguments->holds++] = value;
		}
		arg->data = PyUnicode_AsUTF8AndSize(value, &len);
		arg->len = (size_t)len;
		if (arg->data || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
			return arg->data;
		value = encode_surrogates(value);
		if (!value)
			return false;
		arguments->held[arguments->holds++] = value;
	} else if (value == Py_None && !takes_bytes) {
		return true;
	} else if (!PyBytes_Check(value) && PyObject_CheckBuffer(value)) {
		/* A copy: the buffer may consist of several parts. */
		value = begin_of_buffer(value, &arg->len);
		if (!value)
			return false;
		arguments->held[arguments->holds++] = value;
		arg->data = PyBytes_AS_STRING(value);
		return true;
	}
	if (PyBytes_Check(value)) {
		arg->data = PyBytes_AS_STRING(value);
		arg->len = (size_t)PyBytes_GET_SIZE(value);
		return true;
	}
	PyErr_Format(PyExc_TypeError, "this must be %s, not %s", takes_bytes ? "bytes" : "str",
		     Py_TYPE(value)->tp_name);
	return false;
}

/*
 * Converts a value to an argument of posix_trace_fields_pack_np(). Raises an exception and returns
 * false if the field cannot have this value.
 */
static bool argument_of(const struct posix_trace_field_np *field, PyObject *value,
			struct posix_trace_arg_np *arg, struct arguments *arguments)
{
	memset(arg, 0, sizeof(*arg));
	arg->type = field->type;
	/* The caller passes the elements of an array as bytes. */
	if (field->is_array || (field->room && field->type == POSIX_TRACE_TYPE_BYTES_NP)) {
		const size_t size = (size_t)field->size * field->count;

		if (!text_of(value, arg, true, arguments))
			return false;
		if (arg->len != size) {
			PyErr_Format(PyExc_ValueError, "the field %s has %zu bytes", field->name,
				     size);
			return false;
		}
		arg->type = POSIX_TRACE_TYPE_BYTES_NP;
		arg->room = (unsigned)size;
		return true;
	}
	switch (field->form) {
	case POSIX_TRACE_FORM_FLOAT_NP:
		arg->f64 = PyFloat_AsDouble(value);
		return arg->f64 != -1.0 || !PyErr_Occurred();
	case POSIX_TRACE_FORM_BYTES_NP:
		arg->room = field->room;
		return text_of(value, arg, field->type == POSIX_TRACE_TYPE_BYTES_NP, arguments);
	default:
		if (field->type == POSIX_TRACE_TYPE_BOOL_NP) {
			const int truth = PyObject_IsTrue(value);

			arg->u64 = truth > 0;
			return truth >= 0;
		}
		if (field->type == POSIX_TRACE_TYPE_CHAR_NP && PyUnicode_Check(value) &&
		    PyUnicode_GET_LENGTH(value) == 1) {
			arg->u64 = PyUnicode_READ_CHAR(value, 0);
			if (arg->u64 > 0xff)
				PyErr_Format(PyExc_ValueError, "the field %s has one byte",
					     field->name);
			return arg->u64 <= 0xff;
		}
		return integer_of(value, &arg->u64);
	}
}

/*
 * Puts the name of the field before the text of a TypeError or OverflowError of argument_of(). An
 * exception with a traceback is from a method of the program, such as __index__(), and remains.
 */
static void name_field(const char *name)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	if (traceback || (type != PyExc_TypeError && type != PyExc_OverflowError)) {
		PyErr_Restore(type, value, traceback);
		return;
	}
	PyErr_Format(type, "the field %s: %S", name, value);
	Py_DECREF(type);
	Py_XDECREF(value);
}

/*
 * Converts the arguments of a call to those of the fields. Raises an exception and returns false if
 * they are not the fields of the event.
 */
static bool arguments_of(const Event *event, PyObject *const *args, size_t nargs, PyObject *names,
			 struct arguments *arguments)
{
	const struct posix_trace_schema_np *schema = &event->schema;
	size_t count = nargs;

	for (size_t i = 0; i < nargs && nargs <= schema->fields; i++)
		if (!argument_of(&schema->field[i], args[i], &arguments->arg[i], arguments)) {
			name_field(schema->field[i].name);
			return false;
		}
	/* Keyword arguments follow the positional arguments, in any order. */
	for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
		size_t field = nargs;

		while (name && field < schema->fields && strcmp(name, schema->field[field].name))
			field++;
		if (!name || field >= schema->fields) {
			PyErr_Format(PyExc_TypeError, "the event has no field %s",
				     name ? name : "?");
			return false;
		}
		if (!argument_of(&schema->field[field], args[nargs + (size_t)i],
				 &arguments->arg[field], arguments)) {
			name_field(schema->field[field].name);
			return false;
		}
		count++;
	}
	if (count != schema->fields)
		PyErr_Format(PyExc_TypeError, "the event has %u fields, not %zu", schema->fields,
			     count);
	return count == schema->fields;
}

/* Records an event with the arguments as its fields. */
static PyObject *event_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	Event *event = (Event *)self;
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
	struct arguments arguments;
	bool is_good;

	/* The first call shows wrong arguments, whether or not the process is traced then. */
	if (!IS_ACTIVE() && event->is_known)
		Py_RETURN_NONE;
	arguments.holds = 0;
	is_good = arguments_of(event, args, (size_t)PyVectorcall_NARGS(nargsf), names, &arguments);
	event->is_known = is_good;
	if (is_good)
		posix_trace_event(event->id, payload,
				  posix_trace_fields_pack_np(payload, sizeof(payload),
							     arguments.arg,
							     event->schema.fields));
	while (arguments.holds)
		Py_DECREF(arguments.held[--arguments.holds]);
	if (!is_good)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "name", "schema", NULL };
	const char *name, *schema = "", *why;
	Event *event;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|s", names, &name, &schema))
		return NULL;
	event = (Event *)type->tp_alloc(type, 0);
	if (!event)
		return NULL;
	event->call = event_call;
	/* The events would lack the fields for which event_call() has no room. */
	why = posix_trace_schema_fault_np(schema, POSIX_TRACE_FIELDS_BYTES_NP);
	if (why) {
		Py_DECREF(event);
		return PyErr_Format(PyExc_ValueError, "the schema of %s cannot be recorded: %s: %s",
				    name, why, schema);
	}
	if (*schema)
		posix_trace_schema_parse_np(schema, &event->schema);
	if (!ptx_open_type(name, schema, &event->id)) {
		Py_DECREF(event);
		return NULL;
	}
	return (PyObject *)event;
}

PyTypeObject ptx_event_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace.Event",
	.tp_basicsize = sizeof(Event),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.tp_doc = "Event(name, schema=''): an event type; a call records an event with its fields.",
	.tp_new = event_new,
	.tp_call = PyVectorcall_Call,
	.tp_vectorcall_offset = offsetof(Event, call),
};

