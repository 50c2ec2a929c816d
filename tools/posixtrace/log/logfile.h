/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * logfile.h - a log that a command reads, and the names of its event types.
 *
 * Standard input and files that cannot seek are copied to a temporary file first. The functions
 * print errors on standard error and return an exit status, except where they return an error
 * number.
 *
 * One thread uses a logfile. Other threads may read its types while that thread creates none.
 */
#ifndef POSIXTRACE_LOG_LOGFILE_H
#define POSIXTRACE_LOG_LOGFILE_H

#include <stdbool.h>
#include <trace_np.h>

struct descriptors;

struct log_type {
	trace_event_id_t id;
	bool listed;            /* the log lists it; only a damaged log has other types */
	bool chosen;            /* the result of choose(), or true if choose is NULL */
	size_t index;           /* in logfile.list; 0 if not listed */
	size_t name_len;
	size_t shown_len;
	/* NULL: the log has no schema for the type, or an invalid schema. */
	struct posix_trace_schema_np *schema;
	struct textplan *plan;  /* fields_text() uses it; NULL: not all fields are integers */
	char *schema_text;      /* the schema in the log, valid or not; NULL: none */
	bool has_labels;        /* a field's values may have labels, see fields.h */
	char *shown;            /* the name with unsafe characters escaped */
	char name[TRACE_EVENT_NAME_MAX + 1];
};

struct logfile {
	const char *path;       /* as given on the command line; "standard input" for "-" */
	int fd;
	trace_id_t trid;
	bool whole;             /* posix_trace_open() accepts the log */
	struct posix_trace_loginfo_np info;
	bool has_objects;       /* the log has names of objects in memory */
	struct descriptors *descriptors; /* names of file descriptors, or NULL: descriptors.h */
	bool by_shim;           /* the shim of the traced program created the stream */
	struct log_type **by_id; /* NULL for an id that has no type yet */
	size_t ids;
	struct log_type **list; /* the listed types in the log's order */
	size_t types;
	bool (*choose)(const struct log_type *type); /* sets chosen; may be NULL */
};

/* Opens the descriptor only, for commands that do not read events. */
int logfile_open_fd(struct logfile *log, const char *path);

/*
 * Opens the log and its types. A damaged or incomplete log is opened with salvage, and a message
 * reports that. The status is then TOOL_OK, too, and whole or info.complete is false. If the status
 * is not TOOL_OK, nothing is open. choose may be NULL.
 */
int logfile_open(struct logfile *log, const char *path,
		 bool (*choose)(const struct log_type *type));
/*
 * Does the same for an open file that can seek. The log owns the descriptor from then on, also
 * after an error.
 */
int logfile_open_given(struct logfile *log, int fd, const char *name);
/*
 * Restricts the reading to the events in these times, both included. The reader may return further
 * events near them, so the caller must check. INT64_MIN and INT64_MAX: no bound. Returns 0 or an
 * error number.
 */
int logfile_window(const struct logfile *log, int64_t begin_ns, int64_t end_ns);

/*
 * Returns true if the log is damaged or was never completed. It considers the damage that was found
 * when the log was opened, and while it was read since the last seek.
 */
bool logfile_is_damaged(const struct logfile *log);
/*
 * Does the same for a separate reader of the log. It does not consider what was found when the log
 * was opened.
 */
bool logfile_reader_is_damaged(trace_id_t trid);

/* Returns the number of events that the log's writer has counted, or 0 if the log is incomplete. */
uint64_t logfile_events(const struct logfile *log);

/* Returns true if the log has no events after end_ns. */
static inline bool logfile_ends_before(const struct logfile *log, int64_t end_ns)
{
	return log->info.last_ns <= end_ns;
}

/* Frees the types, for a stream that is no log and is shut down by its creator. */
void logfile_free_types(struct logfile *log);

/* Frees the types and closes the stream and the descriptor. */
void logfile_close(struct logfile *log);

/*
 * Returns the type of an event, never NULL. An id without a name gets the name event#ID; an id out
 * of range shares one type. It may create a type, so that only one thread may call it.
 */
const struct log_type *logfile_type(struct logfile *log, trace_event_id_t id);

/* Prints one fault as "posixtrace: LOG:OFFSET: REASON". */
void logfile_say_fault(const struct logfile *log, const struct posix_trace_fault_np *fault);

/*
 * Checks the whole log and prints its faults, at most limit of them and the number of the others.
 * Returns TOOL_OK, TOOL_DAMAGED or TOOL_FAILURE.
 */
int logfile_say_faults(const struct logfile *log, uint64_t limit);

/*
 * Returns the name of the foreign trace format of a file, or NULL. main.c sets this pointer,
 * because the folder with the formats may use this one, but not the reverse.
 */
extern const char *(*logfile_foreign_format)(int fd);

/*
 * Prints the reason why the library does not open the log; err is the library's error. Returns
 * TOOL_FAILURE.
 */
int logfile_say_why(const struct logfile *log, int err);

#endif
