/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reader.c - the types Log and Stream, and the objects of the events that they return. */
#include "bindings/python/module.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* The name and the schema of an event type in the reader's stream or log. */
struct type {
	PyObject *name;                       /* NULL: not read yet */
	struct posix_trace_schema_np *schema; /* NULL: the type has none, or none yet */
};

#define TYPES 1024

typedef struct {
	PyObject_HEAD
	trace_id_t trid;
	int fd;
	pid_t owner; /* the process that made the reader: its children do not control its stream */
	bool is_log; /* an opened log, not an active stream */
	struct type type[TYPES];
} Reader;

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

PyTypeObject ptx_record_type;

/* A process may load the module several times, but the type can be initialized only once. */
bool ptx_record_ready(void)
{
	return ptx_record_type.tp_name ||
	       PyStructSequence_InitType2(&ptx_record_type, &record_desc) >= 0;
}

/*
 * Returns the name and the schema of an event type. Reads each of them only once, because they do
 * not change; but the schema for a stream is read again at each event until the type has one.
 * Raises an exception and returns NULL if there is no memory.
 */
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

/* Returns the fields as a dictionary. The value of an array is a list. */
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
				Py_XDECREF(list); /* the dictionary holds the list */
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
	PyObject *record = type ? PyStructSequence_New(&ptx_record_type) : NULL;
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

/*
 * Makes a reader. If `path` is not NULL, opens this file. Raises an exception and returns NULL if
 * that fails.
 */
static Reader *reader_new(PyTypeObject *type, const char *path, int flags, bool is_log)
{
	Reader *reader = (Reader *)type->tp_alloc(type, 0);

	if (!reader)
		return NULL;
	reader->is_log = is_log;
	reader->owner = getpid();
	reader->fd = path ? open(path, flags | O_CLOEXEC, 0666) : -1;
	if (path && reader->fd < 0) {
		ptx_fail(errno, path);
		Py_CLEAR(reader);
	}
	return reader;
}

/*
 * Raises OSError for a file that cannot be opened as a log. For a file that is no log, the message
 * is the reason, because that of EINVAL says nothing about the file. Returns NULL.
 */
static PyObject *fail_log(int err, int fd, const char *path)
{
	const char *reason = posix_trace_open_fault_np(fd);
	PyObject *args;

	if (!reason)
		return ptx_fail(err, path);
	args = Py_BuildValue("isN", err, reason, PyUnicode_DecodeFSDefault(path));
	if (args)
		PyErr_SetObject(PyExc_OSError, args);
	Py_XDECREF(args);
	return NULL;
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
			fail_log(err, reader->fd, PyBytes_AS_STRING(path));
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
		return ptx_fail(err, NULL);
	if (none)
		return NULL;
	return record_object(reader, &event.info, event.time_ns, event.tid, event.data,
			     event.data_len);
}

static PyObject *log_iter(PyObject *self)
{
	int err = posix_trace_rewind(((Reader *)self)->trid);

	if (err)
		return ptx_fail(err, NULL);
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

PyTypeObject ptx_log_type = {
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
	static char *names[] = { "path", "pid", "inherited", NULL };
	PyObject *given = Py_None, *path = NULL;
	Reader *reader;
	trace_attr_t attr;
	int pid = 0, is_inherited = false, err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Oi$p", names, &given, &pid,
					 &is_inherited))
		return NULL;
	if (given != Py_None && !PyUnicode_FSConverter(given, &path))
		return NULL;
	reader = reader_new(type, path ? PyBytes_AS_STRING(path) : NULL,
			    O_RDWR | O_CREAT | O_TRUNC, false);
	if (reader) {
		err = posix_trace_attr_init(&attr);
		if (!err && path)
			err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
		/* Room for some 100,000 events until the library writes them to the log. */
		if (!err && path)
			err = posix_trace_attr_setstreamsize(&attr, 4 << 20);
		if (!err && is_inherited)
			err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
		if (!err)
			err = path ? posix_trace_create_withlog(pid, &attr, reader->fd,
								&reader->trid) :
				     posix_trace_create(pid, &attr, &reader->trid);
		posix_trace_attr_destroy(&attr);
		if (err) {
			reader->trid = 0;
			ptx_fail(err, path ? PyBytes_AS_STRING(path) : NULL);
			Py_CLEAR(reader);
		}
	}
	Py_XDECREF(path);
	return (PyObject *)reader;
}

/* Calls a function of the library for a stream while the interpreter's lock is released. */
static PyObject *stream_do(PyObject *self, int (*function)(trace_id_t))
{
	int err;

	Py_BEGIN_ALLOW_THREADS
	err = function(((Reader *)self)->trid);
	Py_END_ALLOW_THREADS
	return ptx_answer(err, NULL);
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

/*
 * A child of fork() may leave the `with` block in which its parent made the stream. In the child
 * the call succeeds, and the parent's stream continues.
 */
static PyObject *stream_shutdown(PyObject *self, PyObject *none)
{
	Reader *reader = (Reader *)self;
	const trace_id_t trid = reader->trid;
	int err = 0;

	(void)none;
	reader->trid = 0;
	if (trid && reader->owner == getpid()) {
		Py_BEGIN_ALLOW_THREADS
		err = posix_trace_shutdown(trid);
		Py_END_ALLOW_THREADS
	}
	reader_end(reader);
	return ptx_answer(err, NULL);
}

static PyObject *stream_level(PyObject *self, PyObject *args)
{
	int level;

	if (!PyArg_ParseTuple(args, "i", &level))
		return NULL;
	return ptx_answer(posix_trace_set_level_np(((Reader *)self)->trid, level), NULL);
}

static PyObject *stream_exclude(PyObject *self, PyObject *args)
{
	const char *list;

	if (!PyArg_ParseTuple(args, "s", &list))
		return NULL;
	return ptx_answer(posix_trace_set_filter_names_np(((Reader *)self)->trid, list,
							  POSIX_TRACE_SET_EVENTSET), list);
}

/* The longest time of read() in seconds, three years: a time_t of 32 bits can express its end. */
#define TIMEOUT_MAX 1e8

/*
 * read(timeout) returns the next event of a stream without a log, or None if none comes within the
 * time in seconds. The data of the event are cut to 4096 bytes. A signal whose handler raises no
 * exception does not end the wait.
 */
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
	/* A NaN is no time, like a negative number. */
	if (!(timeout > 0))
		timeout = 0;
	if (timeout > TIMEOUT_MAX)
		timeout = TIMEOUT_MAX;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)timeout;
	until.tv_nsec += (long)((timeout - (double)(time_t)timeout) * 1e9);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	do {
		Py_BEGIN_ALLOW_THREADS
		if (timeout > 0)
			err = posix_trace_timedgetnext_event(reader->trid, &info, data,
							     sizeof(data), &len, &none, &until);
		else
			err = posix_trace_trygetnext_event(reader->trid, &info, data, sizeof(data),
							   &len, &none);
		Py_END_ALLOW_THREADS
		if (err == EINTR && PyErr_CheckSignals())
			return NULL;
	} while (err == EINTR);
	if (err == ETIMEDOUT || (!err && none))
		Py_RETURN_NONE;
	if (err)
		return ptx_fail(err, NULL);
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

PyTypeObject ptx_stream_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "posixtrace._Stream",
	.tp_basicsize = sizeof(Reader),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.tp_doc = "An active stream.",
	.tp_new = stream_new,
	.tp_dealloc = reader_dealloc,
	.tp_methods = stream_methods,
};

