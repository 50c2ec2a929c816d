/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * _posixtrace.c - the part of the Python module posixtrace that is in C: what runs for each event.
 * posixtrace.py has the documentation of the classes and the rest.
 *
 * Errors   a call that fails raises OSError with the error number, or TypeError. Nothing is raised
 *          while the process is not traced, because the arguments are not looked at.
 * Threads  functions that wait release the interpreter's lock.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <fcntl.h>
#include <stdbool.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define IS_ACTIVE() (__builtin_expect(*posix_trace_active_np, 0))

/* Raises OSError for an error number. Always returns NULL. */
static PyObject *fail(int err, const char *what)
{
	errno = err;
	return PyErr_SetFromErrnoWithFilename(PyExc_OSError, what);
}

/* ------------------------------------------------------------------ events */

typedef struct {
	PyObject_HEAD
	vectorcallfunc call;
	trace_event_id_t id;
	struct posix_trace_schema_np schema;
} Event;

/* The value of an integer field. Numbers out of the range of 64 bits raise OverflowError. */
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

/* A str, or bytes that are taken as they are. */
static bool text_of(PyObject *value, struct posix_trace_arg_np *arg, bool takes_bytes)
{
	Py_ssize_t len;

	if (PyUnicode_Check(value) && !takes_bytes) {
		arg->data = PyUnicode_AsUTF8AndSize(value, &len);
		arg->len = (size_t)len;
		return arg->data;
	}
	if (PyBytes_Check(value)) {
		arg->data = PyBytes_AS_STRING(value);
		arg->len = (size_t)PyBytes_GET_SIZE(value);
		return true;
	}
	PyErr_Format(PyExc_TypeError, "a field of this type needs %s, not %s",
		     takes_bytes ? "bytes" : "str", Py_TYPE(value)->tp_name);
	return false;
}

/* Makes an argument of the packer. Returns false with an exception. */
static bool argument_of(const struct posix_trace_field_np *field, PyObject *value,
			struct posix_trace_arg_np *arg)
{
	memset(arg, 0, sizeof(*arg));
	arg->type = field->type;
	/* The elements of an array, as bytes. */
	if (field->is_array || (field->room && field->type == POSIX_TRACE_TYPE_BYTES_NP)) {
		const size_t size = (size_t)field->size * field->count;

		if (!text_of(value, arg, true))
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
		return text_of(value, arg, field->type == POSIX_TRACE_TYPE_BYTES_NP);
	default:
		if (field->type == POSIX_TRACE_TYPE_BOOL_NP) {
			const int truth = PyObject_IsTrue(value);

			arg->u64 = truth > 0;
			return truth >= 0;
		}
		if (field->type == POSIX_TRACE_TYPE_CHAR_NP && PyUnicode_Check(value) &&
		    PyUnicode_GET_LENGTH(value) == 1) {
			arg->u64 = (unsigned char)PyUnicode_READ_CHAR(value, 0);
			return true;
		}
		return integer_of(value, &arg->u64);
	}
}

/* Records an event with the arguments as its fields. */
static PyObject *event_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	const Event *event = (const Event *)self;
	const size_t nargs = (size_t)PyVectorcall_NARGS(nargsf);
	struct posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
	size_t count = nargs;

	if (!IS_ACTIVE())
		Py_RETURN_NONE;
	if (nargs > event->schema.fields)
		return PyErr_Format(PyExc_TypeError, "the event has %u fields, not %zu",
				    event->schema.fields, nargs);
	for (size_t i = 0; i < nargs; i++)
		if (!argument_of(&event->schema.field[i], args[i], &arg[i]))
			return NULL;
	/* Fields by name, which follow those by position in any order. */
	for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
		const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
		size_t field = nargs;

		while (name && field < event->schema.fields &&
		       strcmp(name, event->schema.field[field].name))
			field++;
		if (!name || field == event->schema.fields)
			return PyErr_Format(PyExc_TypeError, "the event has no field %s",
					    name ? name : "?");
		if (!argument_of(&event->schema.field[field], args[nargs + (size_t)i], &arg[field]))
			return NULL;
		count++;
	}
	if (count != event->schema.fields)
		return PyErr_Format(PyExc_TypeError, "the event has %u fields, not %zu",
				    event->schema.fields, count);
	posix_trace_event(event->id, payload,
			  posix_trace_fields_pack_np(payload, sizeof(payload), arg, count));
	Py_RETURN_NONE;
}

/* Registers a type with a schema. Returns false with an exception. */
static bool open_type(const char *name, const char *schema, trace_event_id_t *id)
{
	int err = posix_trace_eventid_open(name, id);

	if (!err && *schema && *id != POSIX_TRACE_UNNAMED_USEREVENT)
		err = posix_trace_eventid_describe_np(*id, schema);
	if (err)
		fail(err, name);
	return !err;
}

static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "name", "schema", NULL };
	const char *name, *schema = "";
	Event *event;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|s", names, &name, &schema))
		return NULL;
	event = (Event *)type->tp_alloc(type, 0);
	if (!event)
		return NULL;
	event->call = event_call;
	if (*schema && posix_trace_schema_parse_np(schema, &event->schema)) {
		Py_DECREF(event);
		return PyErr_Format(PyExc_ValueError, "this is not a schema: %s", schema);
	}
	if (!open_type(name, schema, &event->id)) {
		Py_DECREF(event);
		return NULL;
	}
	return (PyObject *)event;
}

static PyTypeObject EventType = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace.Event",
	.tp_basicsize = sizeof(Event),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.tp_doc = "Event(name, schema=''): an event type; a call records an event with its fields.",
	.tp_new = event_new,
	.tp_call = PyVectorcall_Call,
	.tp_vectorcall_offset = offsetof(Event, call),
};

/* ------------------------------------------------------------------ spans */

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
	if (span && open_type(begin, describe[0], &span->begin) &&
	    open_type(end, describe[1], &span->end))
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

/* Exceptions go on. */
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

/* A method of an object. */
static PyObject *traced_get(PyObject *self, PyObject *object, PyObject *type)
{
	(void)type;
	if (!object || object == Py_None) {
		Py_INCREF(self);
		return self;
	}
	return PyMethod_New(self, object);
}

static PyGetSetDef traced_getset[] = {
	{ "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL }
};

static PyTypeObject TracedType = {
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
	.tp_getset = traced_getset,
	.tp_dictoffset = offsetof(Traced, dict),
	.tp_weaklistoffset = offsetof(Traced, weak),
};

/* span(function): a decorator. */
static PyObject *span_call(PyObject *self, PyObject *args, PyObject *keywords)
{
	PyObject *function;
	Traced *traced;

	(void)keywords;
	if (!PyArg_ParseTuple(args, "O", &function))
		return NULL;
	if (!PyCallable_Check(function))
		return PyErr_Format(PyExc_TypeError, "a span decorates a function");
	traced = (Traced *)TracedType.tp_alloc(&TracedType, 0);
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

static PyTypeObject SpanType = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace._Span",
	.tp_basicsize = sizeof(Span),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.tp_doc = "A kind of span: a context manager and a decorator.",
	.tp_new = span_new,
	.tp_call = span_call,
	.tp_methods = span_methods,
};

/* ------------------------------------------------------------------ reading */

/* What a reader knows of an event type. */
struct type {
	PyObject *name;                       /* NULL: not looked up */
	struct posix_trace_schema_np *schema; /* NULL: none */
};

#define TYPES 1024

typedef struct {
	PyObject_HEAD
	trace_id_t trid;
	int fd;
	bool is_log; /* an opened log, not an active stream */
	struct type type[TYPES];
} Reader;

static PyTypeObject RecordType;

static PyStructSequence_Field record_fields[] = {
	{ "name", "the event type" },
	{ "time_ns", "CLOCK_REALTIME in nanoseconds" },
	{ "pid", "the process" },
	{ "tid", "the thread of Linux; None for an active stream" },
	{ "fields", "the fields that the schema describes, a dictionary" },
	{ "message", "the message of an event that has a format, or None" },
	{ "data", "the data as bytes" },
	{ "address", "the address of the trace point" },
	{ NULL, NULL }
};

static PyStructSequence_Desc record_desc = {
	"posixtrace.Record", "An event that was read.", record_fields, 8
};

/* Looks the type up once; its name and its schema do not change. Returns NULL with an exception. */
static struct type *type_of(Reader *reader, trace_event_id_t id)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "", text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct type *type = &reader->type[id < TYPES ? id : 0];

	/* A stream may get the schema of a type after its first event. */
	if (type->name && (type->schema || reader->is_log))
		return type;
	if (!type->name) {
		posix_trace_eventid_get_name(reader->trid, id, name);
		type->name = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name),
						  "backslashreplace");
		if (!type->name)
			return NULL;
	}
	if (!posix_trace_eventid_get_schema_np(reader->trid, id, text, sizeof(text))) {
		type->schema = PyMem_Malloc(sizeof(*type->schema));
		if (type->schema && posix_trace_schema_parse_np(text, type->schema)) {
			PyMem_Free(type->schema);
			type->schema = NULL;
		}
	}
	return type;
}

static PyObject *value_object(const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		return PyLong_FromLongLong(value->s64);
	case POSIX_TRACE_FORM_FLOAT_NP:
		return PyFloat_FromDouble(value->f64);
	case POSIX_TRACE_FORM_BYTES_NP:
		return value->field->type == POSIX_TRACE_TYPE_STR_NP ?
			       PyUnicode_DecodeUTF8(value->data, (Py_ssize_t)value->len,
						    "backslashreplace") :
			       PyBytes_FromStringAndSize(value->data, (Py_ssize_t)value->len);
	default:
		if (value->field->type == POSIX_TRACE_TYPE_BOOL_NP)
			return PyBool_FromLong(value->u64 != 0);
		if (value->field->type == POSIX_TRACE_TYPE_CHAR_NP)
			return PyUnicode_FromOrdinal((int)(value->u64 & 0xff));
		return PyLong_FromUnsignedLongLong(value->u64);
	}
}

/* The fields as a dictionary; an array is a list. */
static PyObject *fields_object(const struct posix_trace_schema_np *schema, const void *data,
			       size_t len)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	PyObject *fields = PyDict_New(), *list = NULL;
	bool is_good = fields;

	if (!schema)
		return fields;
	posix_trace_values_begin_np(&values, schema, data, len, 0);
	while (is_good && posix_trace_field_next_np(&values, &value)) {
		PyObject *object = value_object(&value);

		if (object && value.field->is_array) {
			if (value.index == 0) {
				list = PyList_New(0);
				is_good = list && !PyDict_SetItemString(fields, value.field->name,
									list);
				Py_XDECREF(list); /* the dictionary holds it */
			}
			is_good = is_good && !PyList_Append(list, object);
		} else {
			is_good = object && !PyDict_SetItemString(fields, value.field->name,
								  object);
		}
		Py_XDECREF(object);
	}
	if (!is_good)
		Py_CLEAR(fields);
	return fields;
}

static PyObject *message_object(const struct posix_trace_schema_np *schema, const void *data,
				size_t len)
{
	char text[4096];
	size_t size;

	if (!schema || !schema->format)
		Py_RETURN_NONE;
	size = posix_trace_message_print_np(schema, data, len, 0, text, sizeof(text));
	if (size >= sizeof(text))
		size = sizeof(text) - 1;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "backslashreplace");
}

static PyObject *record_object(Reader *reader, const struct posix_trace_event_info *info,
			       int64_t time_ns, pid_t tid, const void *data, size_t len)
{
	const struct type *type = type_of(reader, info->posix_event_id);
	PyObject *record = type ? PyStructSequence_New(&RecordType) : NULL;
	PyObject *item[8];

	if (!record)
		return NULL;
	Py_INCREF(type->name);
	item[0] = type->name;
	item[1] = PyLong_FromLongLong(time_ns);
	item[2] = PyLong_FromLong(info->posix_pid);
	item[3] = reader->is_log ? PyLong_FromLong(tid) : Py_NewRef(Py_None);
	item[4] = fields_object(type->schema, data, len);
	item[5] = message_object(type->schema, data, len);
	item[6] = PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
	item[7] = PyLong_FromVoidPtr(info->posix_prog_address);
	for (int i = 0; i < 8; i++)
		PyStructSequence_SET_ITEM(record, i, item[i]);
	for (int i = 0; i < 8; i++)
		if (!item[i])
			Py_CLEAR(record);
	return record;
}

static void reader_end(Reader *reader)
{
	if (reader->trid) {
		if (reader->is_log)
			posix_trace_close(reader->trid);
		else
			posix_trace_shutdown(reader->trid);
		reader->trid = 0;
	}
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
}

static void reader_dealloc(PyObject *self)
{
	Reader *reader = (Reader *)self;

	reader_end(reader);
	for (size_t i = 0; i < TYPES; i++) {
		Py_XDECREF(reader->type[i].name);
		PyMem_Free(reader->type[i].schema);
	}
	Py_TYPE(self)->tp_free(self);
}

/* Returns a reader with an open file, or NULL with an exception. path NULL: without a file. */
static Reader *reader_new(PyTypeObject *type, const char *path, int flags, bool is_log)
{
	Reader *reader = (Reader *)type->tp_alloc(type, 0);

	if (!reader)
		return NULL;
	reader->is_log = is_log;
	reader->fd = path ? open(path, flags | O_CLOEXEC, 0666) : -1;
	if (path && reader->fd < 0) {
		fail(errno, path);
		Py_CLEAR(reader);
	}
	return reader;
}

static PyObject *log_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "path", NULL };
	PyObject *path;
	Reader *reader;
	int err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&", names, PyUnicode_FSConverter, &path))
		return NULL;
	reader = reader_new(type, PyBytes_AS_STRING(path), O_RDONLY, true);
	if (reader) {
		err = posix_trace_open_np(reader->fd, POSIX_TRACE_OPEN_SALVAGE_NP, &reader->trid);
		if (err) {
			fail(err, PyBytes_AS_STRING(path));
			Py_CLEAR(reader);
		}
	}
	Py_DECREF(path);
	return (PyObject *)reader;
}

static PyObject *log_next(PyObject *self)
{
	Reader *reader = (Reader *)self;
	struct posix_trace_event_np event;
	int none = 0, err;

	err = reader->trid ? posix_trace_getnext_np(reader->trid, &event, &none) : EBADF;
	if (err)
		return fail(err, NULL);
	if (none)
		return NULL;
	return record_object(reader, &event.info, event.time_ns, event.tid, event.data,
			     event.data_len);
}

static PyObject *log_iter(PyObject *self)
{
	int err = posix_trace_rewind(((Reader *)self)->trid);

	if (err)
		return fail(err, NULL);
	Py_INCREF(self);
	return self;
}

static PyObject *reader_close(PyObject *self, PyObject *none)
{
	(void)none;
	reader_end((Reader *)self);
	Py_RETURN_NONE;
}

static PyMethodDef log_methods[] = {
	{ "close", reader_close, METH_NOARGS, "Closes the log." },
	{ NULL, NULL, 0, NULL }
};

static PyTypeObject LogType = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace._Log",
	.tp_basicsize = sizeof(Reader),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.tp_doc = "A log, an iterator of its events from the first on.",
	.tp_new = log_new,
	.tp_dealloc = reader_dealloc,
	.tp_iter = log_iter,
	.tp_iternext = log_next,
	.tp_methods = log_methods,
};

/* ------------------------------------------------------------------ streams */

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "path", "pid", NULL };
	PyObject *given = Py_None, *path = NULL;
	Reader *reader;
	trace_attr_t attr;
	int pid = 0, err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Oi", names, &given, &pid))
		return NULL;
	if (given != Py_None && !PyUnicode_FSConverter(given, &path))
		return NULL;
	reader = reader_new(type, path ? PyBytes_AS_STRING(path) : NULL,
			    O_RDWR | O_CREAT | O_TRUNC, false);
	if (reader) {
		err = posix_trace_attr_init(&attr);
		if (!err && path)
			err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
		if (!err)
			err = path ? posix_trace_create_withlog(pid, &attr, reader->fd,
								&reader->trid) :
				     posix_trace_create(pid, &attr, &reader->trid);
		posix_trace_attr_destroy(&attr);
		if (err) {
			reader->trid = 0;
			fail(err, path ? PyBytes_AS_STRING(path) : NULL);
			Py_CLEAR(reader);
		}
	}
	Py_XDECREF(path);
	return (PyObject *)reader;
}

/* Calls a function of a stream without the interpreter's lock. */
static PyObject *stream_do(PyObject *self, int (*function)(trace_id_t))
{
	int err;

	Py_BEGIN_ALLOW_THREADS
	err = function(((Reader *)self)->trid);
	Py_END_ALLOW_THREADS
	if (err)
		return fail(err, NULL);
	Py_RETURN_NONE;
}

#define STREAM_METHOD(name) \
	static PyObject *stream_##name(PyObject *self, PyObject *none) \
	{ \
		(void)none; \
		return stream_do(self, posix_trace_##name); \
	}
STREAM_METHOD(start)
STREAM_METHOD(stop)
STREAM_METHOD(flush)
STREAM_METHOD(clear)

static PyObject *stream_shutdown(PyObject *self, PyObject *none)
{
	Reader *reader = (Reader *)self;
	const trace_id_t trid = reader->trid;
	int err = 0;

	(void)none;
	reader->trid = 0;
	if (trid) {
		Py_BEGIN_ALLOW_THREADS
		err = posix_trace_shutdown(trid);
		Py_END_ALLOW_THREADS
	}
	reader_end(reader);
	if (err)
		return fail(err, NULL);
	Py_RETURN_NONE;
}

static PyObject *stream_level(PyObject *self, PyObject *args)
{
	int level, err;

	if (!PyArg_ParseTuple(args, "i", &level))
		return NULL;
	err = posix_trace_set_level_np(((Reader *)self)->trid, level);
	if (err)
		return fail(err, NULL);
	Py_RETURN_NONE;
}

static PyObject *stream_exclude(PyObject *self, PyObject *args)
{
	const char *list;
	int err;

	if (!PyArg_ParseTuple(args, "s", &list))
		return NULL;
	err = posix_trace_set_filter_names_np(((Reader *)self)->trid, list,
					      POSIX_TRACE_SET_EVENTSET);
	if (err)
		return fail(err, list);
	Py_RETURN_NONE;
}

/* read(timeout): the next event of a stream without a log, or None. */
static PyObject *stream_read(PyObject *self, PyObject *args)
{
	Reader *reader = (Reader *)self;
	struct posix_trace_event_info info;
	char data[4096];
	struct timespec until;
	double timeout = 0;
	size_t len = 0;
	int none = 0, err;

	if (!PyArg_ParseTuple(args, "|d", &timeout))
		return NULL;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)timeout;
	until.tv_nsec += (long)((timeout - (double)(time_t)timeout) * 1e9);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	Py_BEGIN_ALLOW_THREADS
	if (timeout > 0)
		err = posix_trace_timedgetnext_event(reader->trid, &info, data, sizeof(data), &len,
						     &none, &until);
	else
		err = posix_trace_trygetnext_event(reader->trid, &info, data, sizeof(data), &len,
						   &none);
	Py_END_ALLOW_THREADS
	if (err == ETIMEDOUT || (!err && none))
		Py_RETURN_NONE;
	if (err)
		return fail(err, NULL);
	return record_object(reader, &info, (int64_t)info.posix_timestamp.tv_sec * 1000000000 +
						    info.posix_timestamp.tv_nsec, 0, data, len);
}

static PyMethodDef stream_methods[] = {
	{ "start", stream_start, METH_NOARGS, "Starts the stream." },
	{ "stop", stream_stop, METH_NOARGS, "Stops the stream." },
	{ "flush", stream_flush, METH_NOARGS, "Writes the events to the log." },
	{ "clear", stream_clear, METH_NOARGS, "Discards the events." },
	{ "shutdown", stream_shutdown, METH_NOARGS, "Ends the stream and completes its log." },
	{ "level", stream_level, METH_VARARGS, "Excludes event types of a greater level, 1 to 5." },
	{ "exclude", stream_exclude, METH_VARARGS, "Excludes the event types of a list." },
	{ "read", stream_read, METH_VARARGS, "The next event, or None after a time in seconds." },
	{ NULL, NULL, 0, NULL }
};

static PyTypeObject StreamType = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace._Stream",
	.tp_basicsize = sizeof(Reader),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.tp_doc = "An active stream.",
	.tp_new = stream_new,
	.tp_dealloc = reader_dealloc,
	.tp_methods = stream_methods,
};

/* ------------------------------------------------------------------ function spans */

static trace_event_id_t call_begin, call_end;
/* Begins without an end. A function that was running when the hook was set has no begin. */
static __thread unsigned depth;

static bool open_calls(void)
{
	return call_begin || (open_type("python.begin",
					"str function;str file;u32 line;@begin python",
					&call_begin) &&
			      open_type("python.end", "@end python", &call_end));
}

/* Records that a function begins. The names are those of its code. */
static void begin_code(PyCodeObject *code)
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

	/* Names with lone surrogates have no UTF-8; the event then has empty ones. */
	if (!name || !file)
		PyErr_Clear();
	depth++;
	posix_trace_event(call_begin, payload,
			  posix_trace_fields_pack_np(payload, sizeof(payload), arg, 3));
}

/* Records that a function ends. */
static void end_code(void)
{
	if (depth) {
		depth--;
		posix_trace_event(call_end, NULL, 0);
	}
}

/* For PyEval_SetProfile(): calls of functions that are written in Python. */
static int on_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
	PyCodeObject *code;

	(void)self;
	(void)arg;
	if (what == PyTrace_RETURN) {
		end_code();
	} else if (what == PyTrace_CALL && IS_ACTIVE()) {
		code = PyFrame_GetCode(frame);
		begin_code(code);
		Py_DECREF(code);
	}
	return 0;
}

static PyObject *profile_thread(PyObject *self, PyObject *args)
{
	int on;

	if (!PyArg_ParseTuple(args, "p", &on) || !open_calls())
		return NULL;
	depth = 0;
	PyEval_SetProfile(on ? on_profile : NULL, on ? self : NULL);
	Py_RETURN_NONE;
}

/* For sys.monitoring of Python 3.12: on_start(code, offset). */
static PyObject *on_start(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	(void)self;
	if (IS_ACTIVE() && nargs > 0 && PyCode_Check(args[0]) && open_calls())
		begin_code((PyCodeObject *)args[0]);
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

/* on_return(code, offset, value), and when a function is left by an exception or yields. */
static PyObject *on_end(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
	(void)self;
	(void)args;
	(void)nargs;
	end_code();
	Py_RETURN_NONE;
}

static PyObject *is_active(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	return PyBool_FromLong(*posix_trace_active_np);
}

static PyMethodDef functions[] = {
	{ "is_active", is_active, METH_NOARGS, "Whether a stream traces this process." },
	{ "_profile_thread", profile_thread, METH_VARARGS, "Function spans of this thread." },
	{ "_on_start", (PyCFunction)(void (*)(void))on_start, METH_FASTCALL, NULL },
	{ "_on_end", (PyCFunction)(void (*)(void))on_end, METH_FASTCALL, NULL },
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
		{ "Event", &EventType }, { "_Span", &SpanType }, { "TracedFunction", &TracedType },
		{ "_Log", &LogType }, { "_Stream", &StreamType },
	};
	PyObject *made = PyModule_Create(&module);

	if (!made || (!RecordType.tp_name &&
		      PyStructSequence_InitType2(&RecordType, &record_desc) < 0))
		return NULL;
	Py_INCREF(&RecordType);
	if (PyModule_AddObject(made, "Record", (PyObject *)&RecordType) < 0)
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
