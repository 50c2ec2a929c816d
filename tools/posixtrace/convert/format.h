/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * format.h - what "posixtrace convert" is made of: sources, sinks, and what flows between them.
 *
 * A format is one file here and one line in list.h. It may be a source, a sink or both. A source
 * reads its input and calls the fmt_ functions in this order:
 *
 *	fmt_begin	once
 *	fmt_type, fmt_thread, fmt_object, fmt_event, fmt_lost, fmt_note	in any order, any number
 *	fmt_finish	once
 *
 * and the sink's functions of the same names are called for what it has one for, begin first.
 * Everything that flows is valid during the call alone, but for types: those live as long as the
 * flow.
 *
 * Errors    input is hostile until checked. A source says what is wrong with fmt_fault(), which
 *           names the file, the offset and the code of the format's specification, and goes on
 *           where something can be kept. It never trusts a length for an allocation.
 * Stopping  fmt_event() and its like answer false when the sink cannot go on: the source then
 *           returns at once; it has been said why.
 * Memory    constant, whatever the input's size.
 * Times     nanoseconds of CLOCK_REALTIME, signed: years 1677 to 2262.
 */
#ifndef POSIXTRACE_CONVERT_FORMAT_H
#define POSIXTRACE_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#include "base/out.h"
#include "base/tool.h"

struct fmt_flow;
struct fmt_input;

/* ------------------------------------------------------------------ what flows */

/* What is known before the first event. Zero and empty mean not known, unless a comment says so. */
struct fmt_facts {
	char name[TRACE_NAME_MAX + 1];       /* of the stream */
	char generation[TRACE_NAME_MAX + 1]; /* what made the trace */
	char host[64];
	char clock[32];         /* what stamped the events: "tsc" ... */
	uint64_t clock_hz;
	uint32_t pid;           /* the traced process */
	int64_t resolution_ns;
	int64_t creation_ns;    /* of the stream, if has_creation */
	bool has_creation;
	bool relative;          /* times count from the first event or from boot, not from 1970 */
	bool has_attr;
	trace_attr_t attr;      /* name, policies and sizes, as posix_trace_get_attr() tells them */
	bool has_span;          /* the two below hold */
	int64_t first_ns, last_ns;
	bool big_endian;        /* the order of numbers in the data */
	bool has_events;
	uint64_t events;        /* how many there will be */
	uint64_t data_max;      /* the most data bytes of an event, if known */
	/* Since the sink scans and the input was read once before: */
	bool has_scan;
	int64_t least_ns, greatest_ns; /* of all times and begins of spans; 0 without events */
	uint64_t gaps;          /* calls of fmt_lost() with an interval that will come */
	uint64_t lost;          /* events lost in all, but for cleared ones */
	uint64_t gaps_of[POSIX_TRACE_LOST_CAUSES_NP]; /* both by cause */
	uint64_t lost_of[POSIX_TRACE_LOST_CAUSES_NP];
};

/* An event type. A sink may keep what it knows of it in an array by index. */
enum fmt_phase {
	FMT_MARK,
	FMT_BEGIN, /* begins a span; the next END of the same span on its thread ends it */
	FMT_END
};

struct fmt_type {
	size_t index;           /* 0, 1, 2 ... in order of appearance */
	unsigned id;            /* 1 to 1023: as logs number it; 0: the source has no such number */
	uint64_t number;        /* what the source calls it: for listings, 0 = nothing */
	size_t name_len;
	const char *name;       /* any bytes but NUL; a NUL behind it */
	const char *schema;     /* the text that describes the data; NULL: none */
	/*
	 * The same ready for use; NULL: none, or that is no schema. A sink's; sources leave it
	 * alone.
	 */
	const struct posix_trace_schema_np *fields;
	int level;              /* 1 critical ... 5 verbose; -1 unknown */
	enum fmt_phase phase;
	const char *span;       /* of BEGIN and END: what begins and ends */
	unsigned variant;       /* of types of one name that several logs describe differently */
};

/*
 * A span that an event is a part of, as spans/pairing.h has it; only for sinks that scan. On a lane
 * no two spans cross. Without a key a span is of the event's thread, and lane 0 is the thread's
 * own; with one it is of the process, and the spans of one name have lanes of their own, on which
 * they do not even nest.
 */
struct fmt_span {
	enum fmt_part {
		FMT_OPENS,      /* the event begins it */
		FMT_CLOSES,     /* the event ends it */
		FMT_WHOLE       /* the event says how long it took, and stands where it ended */
	} part;
	const char *name;
	unsigned series;        /* a number for the name */
	bool keyed;
	unsigned lane;
	uint64_t id;            /* the same for both of its events, and of no other span */
	uint64_t number;        /* of this event: id is that of the begin; in the order of events */
	int64_t begin_ns, end_ns;
};

struct fmt_event {
	const struct fmt_type *type;
	int64_t time_ns;
	uint32_t pid, tid;      /* 0: none */
	uint64_t thread;        /* pthread_t, or what the source has for it; 0: none */
	uint64_t address;       /* of the trace point in the program; 0: none */
	int32_t cpu;            /* -1: unknown */
	int truncation;         /* POSIX_TRACE_NOT_TRUNCATED ... */
	unsigned flags;         /* POSIX_TRACE_EVENT_*_NP */
	const void *data;
	size_t data_len;
	unsigned source;        /* which of several logs: 0 is the first */
	const struct fmt_span *span; /* NULL: no part of one. A source leaves it alone */
};

/* The name of a thread, or with tid and thread 0 of a process. */
struct fmt_thread {
	uint32_t pid, tid;
	uint64_t thread;
	const char *name;
	size_t name_len;
};

/* Something that events point to: a mutex, a queue, a file. */
struct fmt_object {
	const char *kind;       /* "mutex", "queue" ...: posix_trace_object_kind_name_np() */
	int number;             /* of the kind, POSIX_TRACE_OBJECT_*_NP; 0: kind tells it */
	uint32_t pid;           /* 0: of all */
	uint64_t pointer;       /* what events call it */
	const char *name;
	size_t name_len;
	uint64_t parameter[2];  /* by kind */
	bool has_since;
	int64_t since_ns;       /* it is called so from then on; with an empty name no longer */
};

/* Events that are missing here. A source whose ledger comes with fmt_finish() tells no counts. */
struct fmt_lost {
	int cause;              /* POSIX_TRACE_LOST_*_NP */
	bool counted;
	uint64_t count;         /* if counted */
	bool has_interval;      /* they were lost between these two times */
	int64_t begin_ns, end_ns;
	const struct fmt_type *type; /* NULL: unknown */
	uint32_t pid, tid;      /* 0: unknown */
	uint64_t thread;
	unsigned source;        /* as of an event */
};

struct fmt_type_line {
	const struct fmt_type *type;
	struct posix_trace_ledger_np ledger;
};

struct fmt_thread_line {
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np ledger;
};

/* What is known after the last event. */
struct fmt_end {
	bool complete;          /* the input is whole */
	bool has_status;
	struct posix_trace_status_info status;
	bool has_ledger;        /* false: what fmt_lost() counted is all that is known */
	struct posix_trace_ledger_np ledger;
	const struct fmt_type_line *type;
	size_t types;
	const struct fmt_thread_line *thread;
	size_t threads;
};

/* ------------------------------------------------------------------ a format */

struct fmt_option {
	const char *name;       /* --NAME and -O NAME */
	bool has_value;
	const char *help;       /* "N  what it does"; the value's name first */
};

/* The beginning of an input, to tell formats apart by. */
struct fmt_head {
	const unsigned char *bytes;
	size_t len;
	bool whole;             /* there is nothing behind it */
	uint64_t file_bytes;    /* UINT64_MAX: a pipe */
};

enum fmt_output_kind {
	FMT_TO_BYTES,           /* anything that can be written to; out and fd */
	FMT_TO_FILE,            /* a file that can seek; fd and path */
	FMT_TO_FOLDER           /* a new folder; path */
};

struct fmt_output {
	struct out *out;        /* buffered; a sink uses this or fd */
	int fd;
	const char *path;       /* where to write: not always the name that the user gave */
	const char *shown;      /* that name, for messages */
	bool is_file;           /* a new file: further files of the sink may stand beside it */
	bool force;             /* the sink may replace files that exist, further ones included */
};

struct format {
	const char *name;
	const char *summary;
	const char *suffix;     /* "json": of file names, to choose a sink by; NULL: none */
	const struct fmt_option *options; /* ended by one without a name; NULL: none */

	/* As a source. detect may be NULL: only --from names it. */
	bool (*detect)(const struct fmt_head *head);
	/*
	 * TOOL_OK also for damaged input of which something was kept: fmt_fault() remembers that.
	 */
	int (*import)(struct fmt_flow *flow, struct fmt_input *input);

	/*
	 * As a sink. open makes the context; it is required, the others may be NULL. Each returns
	 * 0, an error number, which convert prints with the output's name, or -1 if it has printed
	 * the error itself.
	 */
	enum fmt_output_kind output;
	int (*open)(struct fmt_flow *flow, const struct fmt_output *output, void **context);
	int (*begin)(void *context, const struct fmt_facts *facts);
	int (*type)(void *context, const struct fmt_type *type);
	int (*thread)(void *context, const struct fmt_thread *thread);
	int (*object)(void *context, const struct fmt_object *object);
	int (*event)(void *context, const struct fmt_event *event);
	int (*lost)(void *context, const struct fmt_lost *lost);
	int (*note)(void *context, const char *text);
	/*
	 * A line of the source's own listing; a source asks fmt_wants_lines() before it makes one.
	 */
	int (*line)(void *context, const char *line, size_t len);
	/* A live source has nothing more for now: what was buffered goes out. */
	int (*idle)(void *context);
	int (*end)(void *context, const struct fmt_end *end);
	/* Frees the context, after end or after a failure. */
	void (*close)(void *context);
	bool scans;             /* wants has_scan and events' spans: the input is read twice */
};

/* ------------------------------------------------------------------ for sources */

/* Each false: stop. */
bool fmt_begin(struct fmt_flow *flow, const struct fmt_facts *facts);
bool fmt_event(struct fmt_flow *flow, const struct fmt_event *event);
bool fmt_thread(struct fmt_flow *flow, const struct fmt_thread *thread);
bool fmt_object(struct fmt_flow *flow, const struct fmt_object *object);
bool fmt_lost(struct fmt_flow *flow, const struct fmt_lost *lost);
bool fmt_note(struct fmt_flow *flow, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool fmt_line(struct fmt_flow *flow, const char *line, size_t len);
bool fmt_wants_lines(const struct fmt_flow *flow);
/* Whether the flow goes into the format of that name. */
bool fmt_sink_is(const struct fmt_flow *flow, const char *name);
bool fmt_idle(struct fmt_flow *flow);
bool fmt_finish(struct fmt_flow *flow, const struct fmt_end *end);

/*
 * The type of that name and id, made if it is new, and then told to the sink as what says. Only
 * name, name_len (0: name's length), id, number, schema, level, phase, span and variant are looked
 * at, and copied. Types of id 0 are one where the names are; the ids of the system events are kept
 * by their names too. Never NULL: past 65535 types it is the unnamed one.
 */
const struct fmt_type *fmt_type(struct fmt_flow *flow, const struct fmt_type *what);

/* The same for a source that has names only. */
const struct fmt_type *fmt_type_named(struct fmt_flow *flow, const char *name);

/* How many types there are, and each by its index. */
size_t fmt_types(const struct fmt_flow *flow);
const struct fmt_type *fmt_type_at(const struct fmt_flow *flow, size_t index);

/*
 * For sinks: how many events are missing there. A source that counts its losses at the end says it
 * as well, if there is one gap only that they can be in. False: it is not known.
 */
bool fmt_lost_count(const struct fmt_facts *facts, const struct fmt_lost *lost, uint64_t *count);

/* For sinks: the name of one of several logs. NULL: the input is one alone. */
const char *fmt_source_name(const struct fmt_flow *flow, unsigned source);

/*
 * For sinks: what pointer was called in process pid at that time, if the source knows; else false.
 */
bool fmt_object_name(struct fmt_flow *flow, uint32_t pid, uint64_t pointer, int64_t time_ns,
		     char name[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1]);

enum fmt_verdict {
	FMT_NOTICE,  /* something to know */
	FMT_WARN,    /* something is odd; everything is kept */
	FMT_DAMAGED, /* something is missing: exit status 3 */
	FMT_REFUSE   /* nothing can be kept: exit status 1 */
};

#define FMT_NO_OFFSET UINT64_MAX

/*
 * posixtrace: FILE:OFFSET: CODE: TEXT. Of each code (may be NULL) the first few are said in full,
 * the others are counted. Returns what import returns after it: TOOL_FAILURE for REFUSE.
 */
int fmt_fault(struct fmt_flow *flow, enum fmt_verdict verdict, uint64_t offset, const char *code,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Whether anything was DAMAGED so far. */
bool fmt_is_damaged(const struct fmt_flow *flow);

/* ------------------------------------------------------------------ the input */

const char *fmt_input_name(const struct fmt_input *input);

/* The next bytes, from the beginning of the input on. 0 at the end; -1 has been said. */
ssize_t fmt_read(struct fmt_flow *flow, struct fmt_input *input, void *buffer, size_t len);

/*
 * fmt_read() passes over a hole of a sparse file that is longer than this, and says so: nothing was
 * written to it, and a file of terabytes would take days to read. Shorter ones are read as zeros.
 */
#define FMT_HOLE_BYTES (UINT64_C(1) << 20)
void fmt_hole(struct fmt_input *input, uint64_t bytes);

/* As many as len unless the input ends. */
ssize_t fmt_read_all(struct fmt_flow *flow, struct fmt_input *input, void *buffer, size_t len);

/*
 * The whole input as a file, for pread(); a pipe is copied to a temporary one. Not after
 * fmt_read(). -1 has been said. The descriptor stays the input's. size may be NULL.
 */
int fmt_file(struct fmt_flow *flow, struct fmt_input *input, uint64_t *size);

/*
 * Of an input that is a serial line: all bytes as they come, at the speed of --baud, which is an
 * option of the source. Other inputs are left alone. False: it has said why not, and the source
 * fails.
 */
bool fmt_serial(struct fmt_flow *flow, struct fmt_input *input);

/* ------------------------------------------------------------------ options */

/* The option's value, "" for one without; NULL when it was not given. The last one counts. */
const char *fmt_option(const struct fmt_flow *flow, const char *name);

/* Of an option that may be repeated: the values in their order; NULL past the last. */
const char *fmt_option_at(const struct fmt_flow *flow, const char *name, size_t index);

static inline bool fmt_flag(const struct fmt_flow *flow, const char *name)
{
	return fmt_option(flow, name) != NULL;
}

/* True with *number unchanged when it was not given. False: no number from min to max; it has been
 * said, and the source or sink fails. */
bool fmt_option_number(struct fmt_flow *flow, const char *name, uint64_t min, uint64_t max,
		       uint64_t *number);

/* The same for a time, as --begin of dump takes it. */
bool fmt_option_time(struct fmt_flow *flow, const char *name, int64_t *time_ns);

/* ------------------------------------------------------------------ the table */

extern const struct format *const formats[];
extern const size_t formats_count;

/* Why this build of posixtrace has no such format; NULL: no build has one. */
const char *fmt_left_out(const char *name);

const struct format *fmt_by_name(const char *name);

/* The format that the beginning of an input is of; NULL: none that can be read. */
const struct format *fmt_detect(const struct fmt_head *head);

/* The name of the format that a file has, unless it is a log or of no known format: then NULL. */
const char *fmt_foreign_name(int fd);

#endif
