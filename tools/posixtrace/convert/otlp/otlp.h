/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp.h - makes traces and logs of OpenTelemetry from the events of a conversion: the messages
 * TracesData and LogsData of opentelemetry-proto. The constants below are the numbers of their
 * fields.
 *
 * A span becomes a Span, and each event without a span becomes a LogRecord. The parent of a span,
 * and the trace of every record, depend on spans that end later. So each record is first stored as
 * an entry in a temporary file. The body of a record is the part of its message that is known at
 * its event. Bodies are stored in another temporary file. At the end, otlp_tree() walks the entries
 * backwards, from the last end to the first, and finds parents and traces. otlp_write() then reads
 * the entries forwards and passes complete requests to emit().
 *
 * 	otlp_events.c      an event as the body of a record
 * 	otlp_context.c     identifiers: of fields such as trace_id, or computed from the log's facts
 * 	otlp_entries.c     the temporary files
 * 	otlp_tree.c        parents and traces
 * 	otlp_resource.c    the processes
 * 	otlp_batch.c       requests
 * 	otlp_json.c        a request as JSON
 * 	otlp_files.c       the sink "otlp": a folder of files
 *
 * Memory    bounded: the entries are in files; the open spans of the backward walk, threads and
 *           processes have limits.
 * Errors    the functions return 0 or an error number, unless stated otherwise.
 */
#ifndef POSIXTRACE_CONVERT_OTLP_OTLP_H
#define POSIXTRACE_CONVERT_OTLP_OTLP_H

#include "base/nameset.h"
#include "base/proto.h"
#include "convert/flow.h"
#include "convert/threads.h"

enum { /* TracesData, ResourceSpans and ScopeSpans; LogsData and its parts have equal numbers */
	DATA_RESOURCES = 1,
	RESOURCES_RESOURCE = 1,
	RESOURCES_SCOPES = 2,
	SCOPES_SCOPE = 1,
	SCOPES_RECORDS = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
};

enum { /* Span, Span.Link, Status */
	SPAN_TRACE_ID = 1,
	SPAN_SPAN_ID = 2,
	SPAN_PARENT_ID = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	SPAN_DROPPED_ATTRIBUTES = 10,
	SPAN_LINKS = 13,
	SPAN_STATUS = 15,
	SPAN_FLAGS = 16,
	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,
	STATUS_MESSAGE = 2,
	STATUS_CODE = 3,
	KIND_INTERNAL = 1,
	KIND_CLIENT = 3,
	CODE_ERROR = 2,
};

enum { /* LogRecord */
	LOG_TIME = 1,
	LOG_SEVERITY = 2,
	LOG_SEVERITY_TEXT = 3,
	LOG_BODY = 5,
	LOG_ATTRIBUTES = 6,
	LOG_DROPPED_ATTRIBUTES = 7,
	LOG_FLAGS = 8,
	LOG_TRACE_ID = 9,
	LOG_SPAN_ID = 10,
	LOG_EVENT_NAME = 12,
	SEVERITY_DEBUG = 5,
	SEVERITY_INFO = 9,
	SEVERITY_WARN = 13,
	SEVERITY_ERROR = 17,
	SEVERITY_FATAL = 21,
};

enum { /* KeyValue, AnyValue, ArrayValue */
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
	VALUE_BOOL = 2,
	VALUE_INT = 3,
	VALUE_DOUBLE = 4,
	VALUE_ARRAY = 5,
	VALUE_BYTES = 7,
	ARRAY_VALUES = 1,
};

/* Bits of the members "flags". The lowest 8 bits are the flags of a traceparent. */
#define FLAG_KNOWS_REMOTE 0x100u /* bit 9 is valid: whether the parent is in another process */
#define FLAG_REMOTE       0x200u

#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES  8

enum otlp_signal { OTLP_TRACES, OTLP_LOGS, OTLP_SIGNALS };

/* Identifiers of W3C Trace Context. An identifier of all zeros means none. */
struct otlp_context {
	uint8_t trace[TRACE_ID_BYTES];
	uint8_t span[SPAN_ID_BYTES];
	uint8_t parent[SPAN_ID_BYTES];
	uint32_t flags;
};

/* A record in the temporary file of entries. The entries are in the order of their ends. */
struct otlp_entry {
	struct otlp_context context;
	/* identifiers of the enclosing span, if that span belongs to another trace */
	uint8_t link_trace[TRACE_ID_BYTES];
	uint8_t link_span[SPAN_ID_BYTES];
	uint8_t own[SPAN_ID_BYTES]; /* for a Span: an identifier that no other span has */
	int64_t begin_ns, end_ns;  /* for a LogRecord both are its time */
	uint64_t begin, end;       /* numbers of the two events, which order equal times */
	/* a hash of the thread; 0: the record does not nest in a thread */
	uint64_t thread;
	uint32_t lane;
	uint32_t resource;
	uint32_t scope;
	uint32_t signal;
	/* places in the file of bodies; first_at and first_len: the attributes of the beginning */
	uint64_t body_at, first_at;
	uint32_t body_len, first_len;
};

/* The facts about the event that begins a span. They are kept until the span ends. */
struct otlp_begin {
	uint64_t at;             /* offset of its attributes in the file of bodies */
	uint32_t len;
	uint32_t type;           /* index of the event's type */
	uint32_t tid;
	uint32_t missing;        /* fields that its data lacks */
	uint64_t number;
	struct otlp_context context;
};

struct otlp_type {               /* one element for each event type, at the type's index */
	char *name;              /* the name as UTF-8 */
	uint32_t scope;          /* index in scopes */
	int trace, span, parent, traceparent; /* indices of fields; -1: the type has none */
	bool is_client;
};

struct otlp_resource {
	uint32_t pid;
	unsigned source;
};

struct otlp {
	struct fmt_flow *flow;
	struct fmt_facts facts;
	/*
	 * Receives a request: the message, and the number of its records. Returns 0, an error
	 * number, or -1 after it printed an error.
	 */
	int (*emit)(void *arg, enum otlp_signal signal, const struct proto *request,
		    uint64_t records);
	void *arg;
	/*
	 * Members for the command ship. If "host" is not NULL, it replaces the name of the host in
	 * the log. emit() gets only records whose number within the signal is at least "skip".
	 * otlp_write() counts all records in "seen". If has_uids is true, each LogRecord gets an
	 * identifier.
	 */
	const char *host;
	uint64_t skip[OTLP_SIGNALS];
	uint64_t seen[OTLP_SIGNALS];
	bool has_uids;
	struct otlp_type *type;
	size_t types;
	struct nameset scopes;
	struct threads names;         /* names of processes and threads; mark: index in texts + 1 */
	struct nameset texts;
	struct threads processes;     /* mark: index in resource + 1; tid: source + 1 */
	struct otlp_resource *resource;
	size_t resources;
	uint64_t *seed;               /* seeds of identifiers, by source */
	struct proto body;            /* the body of the present record */
	struct out *bodies;           /* the temporary files */
	uint64_t bodies_used;
	int entries_fd, begins_fd;
	struct otlp_entry *entry;     /* a block of entries */
	uint64_t entries, number;     /* "number" is the number of the current event */
	uint64_t *ids;                /* identifiers of spans that end at ids_ns */
	size_t ids_count;
	int64_t ids_ns, last_ns;
	bool counted[POSIX_TRACE_LOST_CAUSES_NP];
};

#define OTLP_BLOCK 1024 /* the number of entries in memory */

/* ------------------------------------------------------------------ the life of a conversion */

/*
 * Begins the conversion. Returns 0, ENOMEM, or -1 after a message. The caller must call otlp_fini()
 * even after a failure.
 */
int otlp_init(struct otlp *otlp, struct fmt_flow *flow);
void otlp_fini(struct otlp *otlp);

/* Each of these functions is for the member of struct format with the same name. */
int otlp_begin(struct otlp *otlp, const struct fmt_facts *facts);
int otlp_type(struct otlp *otlp, const struct fmt_type *type);
int otlp_thread(struct otlp *otlp, const struct fmt_thread *thread);
int otlp_event(struct otlp *otlp, const struct fmt_event *event);
int otlp_lost(struct otlp *otlp, const struct fmt_lost *lost);
/*
 * Writes the members that every LogRecord has. A "severity" of 0 and a "level" of NULL mean
 * unknown.
 */
void otlp_log_begin(struct proto *p, int64_t time_ns, unsigned severity, const char *level,
		    const char *name);
/* Adds the losses and the account, finds parents and traces, then passes all requests to emit(). */
int otlp_end(struct otlp *otlp, const struct fmt_end *end);

/* The steps of otlp_end(). */
int otlp_account(struct otlp *otlp, const struct fmt_end *end);
int otlp_tree(struct otlp *otlp);
int otlp_write(struct otlp *otlp);

/* ------------------------------------------------------------------ otlp_entries.c */

/* Stores an entry, and the contents of otlp->body as its body. Afterwards otlp->body is empty. */
int otlp_add(struct otlp *otlp, struct otlp_entry *entry);
/*
 * Stores the contents of otlp->body as the attributes of the event that begins the span with this
 * id.
 */
int otlp_keep_begin(struct otlp *otlp, uint64_t id, struct otlp_begin *begin);
int otlp_get_begin(struct otlp *otlp, uint64_t id, struct otlp_begin *begin);
/*
 * Calls visit() for each entry, forwards or backwards. In the backward direction, visit() may
 * change the entries, and the function stores them.
 */
int otlp_visit(struct otlp *otlp, bool backwards,
	       int (*visit)(void *arg, struct otlp_entry *entry), void *arg);

/* ------------------------------------------------------------------ otlp_attributes.c */

/*
 * These functions append a KeyValue to p. "field" is the number of the field "attributes" in the
 * message in p.
 */
void otlp_text(struct proto *p, unsigned field, const char *key, const void *text, size_t len);
void otlp_string(struct proto *p, unsigned field, const char *key, const char *text);
void otlp_number(struct proto *p, unsigned field, const char *key, int64_t number);
void otlp_unsigned(struct proto *p, unsigned field, const char *key, uint64_t number);
void otlp_bool(struct proto *p, unsigned field, const char *key, bool value);
void otlp_bytes(struct proto *p, unsigned field, const char *key, const void *bytes, size_t len);

/*
 * Appends the attributes of an event: its thread, its fields, and the rest. If the event ends a
 * span that another event began, "besides" and begin_tid are the type and the thread of the
 * beginning. Otherwise "besides" is NULL.
 */
void otlp_attributes(struct otlp *otlp, unsigned field, const struct fmt_event *event,
		     const struct fmt_type *besides, uint32_t begin_tid);
/* Returns the number of fields that the data of a truncated event lacks. */
unsigned otlp_missing(const struct fmt_event *event);

/* ------------------------------------------------------------------ otlp_context.c */

static inline bool otlp_has(const uint8_t *id, size_t bytes)
{
	uint8_t any = 0;

	for (size_t i = 0; i < bytes; i++)
		any |= id[i];
	return any != 0;
}

/* Finds the fields of the type that have identifiers. */
void otlp_context_fields(struct otlp_type *type, const struct posix_trace_schema_np *schema);
/* Adds to *context those identifiers of the event that *context lacks. */
void otlp_context_read(const struct otlp_type *type, const struct fmt_event *event,
		       struct otlp_context *context);
/* Computes an identifier of the span that no other span has. */
int otlp_context_span(struct otlp *otlp, const struct fmt_event *event, uint8_t *id);
/* Computes the identifier of a trace from the identifier of the outermost span of the trace. */
void otlp_context_trace(uint8_t *trace, const uint8_t *span);
/* Sets the seeds of the identifiers. */
int otlp_context_begin(struct otlp *otlp);

/* ------------------------------------------------------------------ otlp_resource.c */

/*
 * Finds or makes the resource of a process. If "source" is flow->sources, the resource describes
 * all logs together and has no facts of a single log.
 */
int otlp_resource(struct otlp *otlp, uint32_t pid, unsigned source, uint32_t *index);
/* Writes the Resource message. */
void otlp_resource_put(struct otlp *otlp, struct proto *p, uint32_t index);
/*
 * Returns the index of an event type's scope in otlp->scopes, or TABLE_NONE if memory is lacking.
 */
uint32_t otlp_scope(struct otlp *otlp, const char *type);
/* Writes the InstrumentationScope message. */
void otlp_scope_put(const struct otlp *otlp, struct proto *p, uint32_t index);
/*
 * Returns the name of the thread with this tid or handle, or of the process if both are 0. Returns
 * NULL if it has no name.
 */
const char *otlp_name(struct otlp *otlp, uint32_t pid, uint32_t tid, uint64_t handle);

#endif
