/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * logfile.h - a log that a command reads, and the names of its event types.
 *
 * An input on which lseek() is impossible, such as a pipe, is first copied to a
 * temporary file. The functions that return an exit status print errors on standard
 * error.
 *
 * One thread uses a logfile. Other threads may read its types while this thread does not create a
 * type.
 */
#ifndef POSIXTRACE_LOG_LOGFILE_H
#define POSIXTRACE_LOG_LOGFILE_H

#include <stdbool.h>
#include <trace_np.h>

struct descriptors;

struct log_type {
	trace_event_id_t id;
	/* the log lists the type; only a damaged log has events of other types */
	bool listed;
	bool chosen;            /* the result of choose(), or true if choose is NULL */
	/*
	 * dump and report hide the events of this type by default; other commands need these events
	 */
	bool is_hidden;
	size_t index;           /* index in logfile.list; 0 if the type is not listed */
	size_t name_len;
	size_t shown_len;
	/* the parsed schema; NULL: the log has no schema for the type, or an invalid one */
	struct posix_trace_schema_np *schema;
	struct fieldplan *plan;  /* fields_text() uses the plan; NULL: the type has none */
	struct fieldplan *json_plan; /* the plan of fields_json(); NULL: none */
	char *schema_text;      /* the schema in the log, valid or not; NULL: none */
	bool has_labels;        /* values of a field may have labels (fields.h) */
	char *shown;            /* the name with unsafe characters escaped, for put_pieces() */
	/* a comma and members of JSON that all events of the type have: event, level, span */
	char *members;
	size_t members_len;
	char name[TRACE_EVENT_NAME_MAX + 1];
};

struct logfile {
	const char *path;       /* as given on the command line; "standard input" for "-" */
	int fd;
	/* Why the log could not be opened. EINVAL: the file is no log. */
	int err;
	trace_id_t trid;
	bool whole;             /* posix_trace_open() accepts the log without salvage */
	struct posix_trace_loginfo_np info;
	bool has_objects;       /* the log has names of objects in memory */
	struct descriptors *descriptors; /* names of file descriptors; may be NULL */
	bool is_fetched;        /* logfile_source has opened the log */
	bool by_shim;           /* the shim of the traced program created the stream */
	struct log_type **by_id; /* all types by id; NULL for an id that has no type yet */
	size_t ids;
	struct log_type **list; /* the types that the log lists, in its order */
	size_t types;
	bool (*choose)(const struct log_type *type); /* sets chosen; may be NULL */
};

/*
 * The functions for logs that are in a database and not in files (choose/at.h). open() returns
 * false if the path names a file. Otherwise it stores a status of the tool in *status. If the
 * status is TOOL_OK, it also stores the descriptor of a temporary log in log->fd. After the
 * temporary log was opened, opened() corrects the facts of the log. logfile_source is NULL if all
 * logs are in files.
 */
struct logfile_source {
	bool (*open)(struct logfile *log, const char *path, int *status);
	void (*opened)(struct logfile *log);
};

extern const struct logfile_source *logfile_source;

/* A log that was made of several files. A path means this log if its pointer is equal to "name". */
struct logfile_joined {
	const char *name; /* NULL: there is none */
	int fd;
};

extern struct logfile_joined logfile_joined;

/*
 * Opens only the file and stores its descriptor, for commands that do not read events. Returns an
 * exit status.
 */
int logfile_open_fd(struct logfile *log, const char *path);

enum logfile_kind {
	LOGFILE_READABLE, /* a log, which may be damaged or incomplete */
	LOGFILE_REFUSED,  /* a log of another version or machine, or one with a damaged header */
	LOGFILE_NO_LOG,
	LOGFILE_UNKNOWN   /* the file cannot be read */
};

/*
 * Examines the file of a path and returns its kind. For LOGFILE_REFUSED and LOGFILE_UNKNOWN, "why"
 * becomes the reason, otherwise an empty text. The function prints nothing and does not wait for a
 * guardian.
 */
#define LOGFILE_WHY_BYTES 160
enum logfile_kind logfile_kind(const char *path, char why[LOGFILE_WHY_BYTES]);

/* Returns whether the file is of the kind LOGFILE_READABLE or LOGFILE_REFUSED. */
bool logfile_is_log(const char *path);

/*
 * Opens the log and creates the types that it lists. If the log is damaged or incomplete, the
 * function prints that, but returns TOOL_OK, and whole or info.complete is false. If the status is
 * not TOOL_OK, nothing is open. "choose" may be NULL.
 */
int logfile_open(struct logfile *log, const char *path,
		 bool (*choose)(const struct log_type *type));
/*
 * Opens a log as logfile_open() does, but from an open descriptor on which lseek() works. The
 * function closes the descriptor after an error; otherwise logfile_close() closes it.
 */
int logfile_open_given(struct logfile *log, int fd, const char *name);
/*
 * Opens the stream of the open file as posix_trace_open() does. If this waits for a guardian for
 * longer than a second, a user at a terminal gets a message. Returns 0 or an error number.
 */
int logfile_open_strict(const struct logfile *log, trace_id_t *trid);
/*
 * Flags of posix_trace_open_np() for a further reader of a log. The library does not wait for a
 * guardian, because logfile_open_strict() has already waited.
 */
#define LOGFILE_REOPEN (POSIX_TRACE_OPEN_SALVAGE_NP | POSIX_TRACE_OPEN_NOWAIT_NP)
/*
 * Makes the library skip events before begin_ns and stop behind end_ns. The library may still
 * return events shortly before or after these times, so the caller must check each event. INT64_MIN
 * and INT64_MAX mean that there is no bound. Returns 0 or an error number.
 */
int logfile_window(const struct logfile *log, int64_t begin_ns, int64_t end_ns);

/*
 * Returns true if the log is damaged or was never completed. The function considers the damage that
 * was found when the log was opened, the damage that the reading has found since the last seek, and
 * the events that the ledger counts as damaged.
 */
bool logfile_is_damaged(const struct logfile *log);
/*
 * Returns true if a separate reader of the log has found damage. Damage that was found when the log
 * was opened does not count here.
 */
bool logfile_reader_is_damaged(trace_id_t trid);

/*
 * Returns the number of events that the log has, as its writer has counted them. Returns 0 if the
 * log is incomplete.
 */
uint64_t logfile_events(const struct logfile *log);

/* Returns true if the log's last event is not after end_ns. */
static inline bool logfile_ends_before(const struct logfile *log, int64_t end_ns)
{
	return log->info.last_ns <= end_ns;
}

/*
 * Frees only the types. The function is for a stream that is not a log, because its creator shuts
 * the stream down itself.
 */
void logfile_free_types(struct logfile *log);

/* Frees the types and closes the stream and the descriptor. */
void logfile_close(struct logfile *log);

/* Returns whether dump and report hide the events of the type with this name by default. */
bool logfile_hides(const char *name);

/* Creates the type of an id that has none. Only logfile_type() calls it. */
const struct log_type *logfile_new_type(struct logfile *log, trace_event_id_t id);

/*
 * Returns the type of an event, never NULL. If the log has no name for the id, the type has the
 * name event#ID. All ids out of range share one type. The function may create a type, so only one
 * thread may call it.
 */
static inline const struct log_type *logfile_type(struct logfile *log, trace_event_id_t id)
{
	return __builtin_expect(id < log->ids && log->by_id[id] != NULL, 1)
		       ? log->by_id[id]
		       : logfile_new_type(log, id);
}

/* Prints one fault as "posixtrace: LOG:OFFSET: REASON". */
void logfile_say_fault(const struct logfile *log, const struct posix_trace_fault_np *fault);

/*
 * Checks the whole log and prints at most limit of its faults, and then the number of further
 * faults. Returns TOOL_OK, TOOL_DAMAGED or TOOL_FAILURE.
 */
int logfile_say_faults(const struct logfile *log, uint64_t limit);

/*
 * Returns the name of the foreign trace format of a file, or NULL. main.c sets this pointer,
 * because files of the folder convert may include files of this folder, but not the reverse.
 */
extern const char *(*logfile_foreign_format)(int fd);

/*
 * Returns the end of the sentence "this is not a trace log, but" for a file that no command reads
 * as a trace, or NULL. main.c sets this pointer, too.
 */
extern const char *(*logfile_unread_format)(int fd);

/*
 * Prints the reason why the library does not open the log; err is the library's error. Returns
 * TOOL_FAILURE.
 */
int logfile_say_why(const struct logfile *log, int err);

#endif
