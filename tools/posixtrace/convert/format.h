/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * format.h - the interface of "posixtrace convert" for formats: sources, sinks, and the facts and
 * events that a source passes to a sink.
 *
 * A format has its source files in this folder or in a folder below it, and one line in list.h. It
 * may be a source, a sink or both. A source reads its input and calls the fmt_ functions in this
 * order:
 *
 * 	fmt_begin	once
 * 	fmt_type, fmt_thread, fmt_object, fmt_event, fmt_lost, fmt_note
 * 			in any order, each any number of times
 * 	fmt_finish	once
 *
 * Each of these functions calls the sink's function of the same name, if the sink has it, except
 * that fmt_event() passes unselected events to "unwanted" and fmt_finish() calls the sink's "end".
 * The first function that is called after the sink's "open" is "begin". If
 * a source calls fmt_type() before fmt_begin(), the sink gets these types after its "begin". All
 * arguments are valid during the call only, except types, which exist as long as the flow.
 *
 * Errors    Input is hostile until checked. A source reports a fault by fmt_fault() with the offset
 *           and the code of the format's specification. It continues if a part can be kept. It
 *           never allocates a size that only the input gives.
 * Stopping  fmt_event() and the other functions return false if the sink has failed. The error has
 *           been printed, and the source must return immediately.
 * Memory    Constant, for an input of any size.
 * Times     Nanoseconds of CLOCK_REALTIME, signed: years 1677 to 2262.
 * Threads   One thread runs a conversion. No function here may be called at the same time for the
 *           same flow or input.
 */
#ifndef POSIXTRACE_CONVERT_FORMAT_H
#define POSIXTRACE_CONVERT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#include "base/option.h"
#include "base/out.h"
#include "base/tool.h"

struct fmt_flow;
struct fmt_input;

/* ------------------------------------------------------------------ events and facts */

/*
 * The facts that a source has before the first event. A member that is zero or empty is not known,
 * unless its comment states otherwise.
 */
struct fmt_facts {
	char name[TRACE_NAME_MAX + 1];       /* name of the stream */
	char generation[TRACE_NAME_MAX + 1]; /* the program or system that made the trace */
	char host[64];
	char clock[32];         /* the clock of the events: "tsc" ... */
	uint64_t clock_hz;
	uint32_t pid;           /* the traced process */
	int64_t resolution_ns;
	int64_t creation_ns;    /* creation of the stream, if has_creation */
	bool has_creation;
	bool relative;          /* times count from the first event or from boot, not from 1970 */
	bool has_attr;
	trace_attr_t attr;      /* name, policies and sizes, as from posix_trace_get_attr() */
	bool has_span;          /* first_ns and last_ns are known */
	int64_t first_ns, last_ns;
	bool big_endian;        /* the order of numbers in the data */
	bool has_events;
	uint64_t events;        /* number of events to come */
	uint64_t data_max;      /* greatest number of data bytes of an event, if known */
	/*
	 * The members below are set only for a sink that scans (enum fmt_scans), because they need
	 * a first reading.
	 */
	bool has_scan;
	/*
	 * the least and the greatest time of all events and begins of spans; 0 if there are no
	 * events
	 */
	int64_t least_ns, greatest_ns;
	/* number of later calls of fmt_lost() with an interval */
	uint64_t gaps;
	uint64_t lost;          /* events lost in total, except cleared events */
	uint64_t gaps_of[POSIX_TRACE_LOST_CAUSES_NP]; /* the members "gaps" and "lost" by cause */
	uint64_t lost_of[POSIX_TRACE_LOST_CAUSES_NP];
};

/* Whether the events of a type begin or end spans. */
enum fmt_phase {
	FMT_MARK,
	FMT_BEGIN, /* begins a span; an event of phase FMT_END with the same span name ends it */
	FMT_END
};

/* An event type. A sink may keep its own data for types in an array by index. */
struct fmt_type {
	size_t index;           /* 0, 1, 2 ... in order of appearance */
	/* 1 to 1023: the type's number in a log; 0: the source has no such number */
	unsigned id;
	uint64_t number;        /* the source's own number, for listings; 0: none */
	size_t name_len;
	const char *name;       /* any bytes but NUL; a NUL follows them */
	const char *schema;     /* the text that describes the data; NULL: none */
	/*
	 * The parsed schema, or NULL if there is no text or the text is not a schema. The flow sets
	 * this member for the sinks; a source does not set it.
	 */
	const struct posix_trace_schema_np *fields;
	int level;              /* 1 critical ... 5 verbose; -1 unknown */
	enum fmt_phase phase;
	const char *span;       /* for FMT_BEGIN and FMT_END: the name of the span */
	unsigned variant;       /* distinguishes types of one name that logs describe differently */
};

/*
 * The span of an event, by the rules of spans/pairing.h. Only sinks with FMT_SCANS_SPANS get spans.
 * Spans of one lane do not cross. A span without a key belongs to the event's thread, and lane 0 is
 * the lane of the thread's own calls. A span with a key belongs to the process. For spans with a
 * key, each name has separate lanes, and the spans of one of these lanes do not overlap.
 */
struct fmt_span {
	enum fmt_part {
		FMT_OPENS,      /* the event begins the span */
		FMT_CLOSES,     /* the event ends the span */
		FMT_WHOLE       /* the event has a duration, and its time is the end of the span */
	} part;
	const char *name;
	unsigned series;        /* a number for the name */
	bool keyed;
	unsigned lane;
	uint64_t id;            /* number of the span, equal in both of its events */
	/*
	 * the number of this event, which grows from event to event; "id" is the "number" of the
	 * begin
	 */
	uint64_t number;
	int64_t begin_ns, end_ns;
};

struct fmt_event {
	const struct fmt_type *type;
	int64_t time_ns;
	uint32_t pid, tid;      /* 0: none */
	uint64_t thread;        /* pthread_t, or the source's own identifier; 0: none */
	uint64_t address;       /* address of the trace point in the program; 0: none */
	int32_t cpu;            /* -1: unknown */
	int truncation;         /* POSIX_TRACE_NOT_TRUNCATED ... */
	unsigned flags;         /* POSIX_TRACE_EVENT_*_NP */
	const void *data;
	size_t data_len;
	unsigned source;        /* the number of the log, from 0, if the input is several logs */
	const struct fmt_span *span; /* NULL: the event belongs to no span. A source sets NULL */
};

/* The name of a thread; or the name of a process, if "tid" and "thread" are 0. */
struct fmt_thread {
	uint32_t pid, tid;
	uint64_t thread;
	const char *name;
	size_t name_len;
};

/* An object that events point to: a mutex, a queue, a file. */
struct fmt_object {
	const char *kind;       /* "mutex", "queue" ...: posix_trace_object_kind_name_np() */
	int number;             /* POSIX_TRACE_OBJECT_*_NP; 0: only the name of the kind is known */
	uint32_t pid;           /* 0: of all processes */
	uint64_t pointer;       /* the value in events */
	const char *name;
	size_t name_len;
	uint64_t parameter[2];  /* the meaning depends on the kind */
	bool has_since;
	/* the time from which the name is valid; an empty name ends the previous name */
	int64_t since_ns;
};

/*
 * A gap: events are missing at this place of the trace. A source that has a ledger sets no counts
 * here.
 */
struct fmt_lost {
	int cause;              /* POSIX_TRACE_LOST_*_NP */
	bool counted;
	uint64_t count;         /* if counted */
	bool has_interval;      /* the events were lost from begin_ns to end_ns */
	int64_t begin_ns, end_ns;
	const struct fmt_type *type; /* NULL: unknown */
	uint32_t pid, tid;      /* 0: unknown */
	uint64_t thread;
	unsigned source;        /* the number of the log, as in struct fmt_event */
};

struct fmt_type_line {
	const struct fmt_type *type;
	struct posix_trace_ledger_np ledger;
	/* events that "reported" includes, but that cannot be read, because the input is damaged */
	uint64_t unreadable;
};

struct fmt_thread_line {
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np ledger;
};

/* The facts that a source has after the last event. */
struct fmt_end {
	bool complete;          /* the input is whole */
	bool has_status;
	struct posix_trace_status_info status;
	bool has_ledger;        /* false: only the counts of fmt_lost() are known */
	struct posix_trace_ledger_np ledger;
	uint64_t unreadable;    /* the sum of all types, and events whose type is not known */
	const struct fmt_type_line *type;
	size_t types;
	const struct fmt_thread_line *thread;
	size_t threads;
};

/* ------------------------------------------------------------------ a format */

/*
 * The member "value" of each row in a format's table of options. The user writes an option as
 * --NAME or -O NAME, and the format reads it with fmt_option() by this name.
 */
enum {
	FMT_OPTION = 2048,      /* an option of the format both as a source and as a sink */
	FMT_SOURCE_OPTION,
	FMT_SINK_OPTION
};

/* The beginning of an input, from which detect() recognizes its format. */
struct fmt_head {
	const unsigned char *bytes;
	size_t len;
	bool whole;             /* the input has no more bytes */
	uint64_t file_bytes;    /* UINT64_MAX: a pipe */
};

enum fmt_output_kind {
	/* any output to which bytes can be written; the sink uses "out" or "fd" */
	FMT_TO_BYTES,
	FMT_TO_FILE,            /* a file that can seek; the sink uses "fd" or "path" */
	FMT_TO_FOLDER           /* a new folder; the sink uses "path" */
};

struct fmt_output {
	struct out *out;        /* buffered; a sink uses either "out" or "fd" */
	int fd;
	const char *path;       /* the name to which the sink writes, perhaps of a temporary file */
	const char *shown;      /* the name that the user gave, for messages */
	/* the output is a new file, so the sink may make further files next to it */
	bool is_file;
	/* the sink may replace existing files, also by further files that it makes */
	bool force;
};

/* The results of a first reading of the input that a sink needs. */
enum fmt_scans {
	FMT_SCANS_NOTHING,      /* the input is read once */
	FMT_SCANS_FACTS,        /* the facts of has_scan */
	FMT_SCANS_SPANS         /* the facts, the spans of events, and the names of threads */
};

struct format {
	const char *name;
	const char *summary;
	const char *suffix;     /* "json": file names that select this sink; NULL: none */
	const struct option_row *options; /* rows with FMT_OPTION and so on; NULL: none */

	/*
	 * The functions of the format as a source. If "detect" is NULL, only --from selects the
	 * format.
	 */
	bool (*detect)(const struct fmt_head *head);
	/*
	 * If a part of a damaged input was kept, the result is TOOL_OK. The damage is not lost,
	 * because fmt_fault() has recorded it.
	 */
	int (*import)(struct fmt_flow *flow, struct fmt_input *input);

	/*
	 * The functions of the format as a sink. open() makes the context. open() and event() are
	 * required, and all other functions may be NULL. Each function except close() and takes()
	 * returns 0, an error number, or -1. The conversion prints the message for an error number,
	 * with the output's name. -1 means that the sink has printed the error itself.
	 */
	enum fmt_output_kind output;
	int (*open)(struct fmt_flow *flow, const struct fmt_output *output, void **context);
	int (*begin)(void *context, const struct fmt_facts *facts);
	int (*type)(void *context, const struct fmt_type *type);
	int (*thread)(void *context, const struct fmt_thread *thread);
	int (*object)(void *context, const struct fmt_object *object);
	int (*event)(void *context, const struct fmt_event *event);
	/*
	 * Receives each event that is not selected, for a sink that finds spans itself. Such an
	 * event may report a loss, at which the sink must end the open spans.
	 */
	int (*unwanted)(void *context, const struct fmt_event *event);
	int (*lost)(void *context, const struct fmt_lost *lost);
	int (*note)(void *context, const char *text);
	/*
	 * Receives a line of the source's own listing. A source makes lines only if
	 * fmt_wants_lines() returns true.
	 */
	int (*line)(void *context, const char *line, size_t len);
	/*
	 * Called when a live source has no more input for now. The sink writes its buffered data.
	 */
	int (*idle)(void *context);
	int (*end)(void *context, const struct fmt_end *end);
	/* Frees the context, after end() or after a failure. */
	void (*close)(void *context);
	enum fmt_scans scans;
	/* the member of the same name of struct lanes (spans/lanes.h) */
	bool nests_calls;
	/*
	 * Returns whether the sink shows the events of a type in another way than as spans,
	 * although the type begins or ends spans. If "takes" is NULL, there are no such types.
	 */
	bool (*takes)(const struct fmt_type *type);
};

/* ------------------------------------------------------------------ for sources */

/*
 * The functions up to fmt_finish() call the sink, except fmt_wants_lines(), fmt_source_is() and
 * fmt_sink_is(). Each function that calls the sink returns false if the source must stop.
 */
bool fmt_begin(struct fmt_flow *flow, const struct fmt_facts *facts);
/* sets event->span during the call */
bool fmt_event(struct fmt_flow *flow, struct fmt_event *event);
bool fmt_thread(struct fmt_flow *flow, const struct fmt_thread *thread);
bool fmt_object(struct fmt_flow *flow, const struct fmt_object *object);
bool fmt_lost(struct fmt_flow *flow, const struct fmt_lost *lost);
bool fmt_note(struct fmt_flow *flow, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool fmt_line(struct fmt_flow *flow, const char *line, size_t len);
/* Returns whether the sink wants lines of the source's own listing. */
bool fmt_wants_lines(const struct fmt_flow *flow);
/* Returns whether the source, or the sink, is the format of that name. */
bool fmt_source_is(const struct fmt_flow *flow, const char *name);
bool fmt_sink_is(const struct fmt_flow *flow, const char *name);
bool fmt_idle(struct fmt_flow *flow);
bool fmt_finish(struct fmt_flow *flow, const struct fmt_end *end);

/*
 * Returns the type with this name, id and variant. If it does not exist, the function makes it from
 * *what and passes it to the sink. Only these members of *what are used and copied: name, name_len
 * (0: the length of name), id, number, schema, level, phase, span and variant. A type of id 0 is
 * identified by its name. If a predefined type has this name, the type gets the predefined id.
 * Never returns NULL. After 65534 types it returns the unnamed type. If memory is lacking, it stops
 * the flow and returns a type with an empty name.
 */
const struct fmt_type *fmt_type(struct fmt_flow *flow, const struct fmt_type *what);

/* Like fmt_type(), for a source that has only names. */
const struct fmt_type *fmt_type_named(struct fmt_flow *flow, const char *name);

/* fmt_types() returns the number of types, and fmt_type_at() a type by its index. */
size_t fmt_types(const struct fmt_flow *flow);
const struct fmt_type *fmt_type_at(const struct fmt_flow *flow, size_t index);

/*
 * Sinks call this function. Stores in *count the number of events that are missing in this gap.
 * Some sources count their losses only at the end. Then the number is known only if the trace has a
 * single gap of that cause. Returns false if the number is not known.
 */
bool fmt_lost_count(const struct fmt_facts *facts, const struct fmt_lost *lost, uint64_t *count);

struct stacks_found;

/*
 * For sinks: returns the name of the function of one frame of a stack, in this process at this
 * time. The name comes from the mappings of the first log that has the frame's address. Returns
 * NULL if no log has it. The name is valid until the next call.
 */
const char *fmt_function(const struct fmt_flow *flow, uint32_t pid,
			 const struct stacks_found *stack, size_t index, int64_t time_ns);

/* The function and file of one frame of a stack. The texts are valid until the next call. */
struct fmt_frame {
	const char *function;   /* the name as from fmt_function(); NULL: unknown */
	const char *file;       /* the source file; NULL: unknown */
	unsigned line;          /* 0: unknown */
	bool is_mapped;         /* "mapping" has the file that was mapped at the address */
	struct posix_trace_mapping_np mapping;
};

/*
 * For sinks: fills *frame by the rules of fmt_function(). If no log has the address, all members
 * are empty.
 */
void fmt_frame(const struct fmt_flow *flow, uint32_t pid, const struct stacks_found *stack,
	       size_t index, int64_t time_ns, struct fmt_frame *frame);

/* For sinks: returns the name of one of several logs, or NULL if the input is a single log. */
const char *fmt_source_name(const struct fmt_flow *flow, unsigned source);

/*
 * For sinks: stores the name of the object at that pointer in the process "pid" at that time.
 * Returns false if the source does not have the name.
 */
bool fmt_object_name(struct fmt_flow *flow, uint32_t pid, uint64_t pointer, int64_t time_ns,
		     char name[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1]);

/*
 * Returns whether values of the field may have names. If not, a sink need not call fmt_value_name()
 * for them.
 */
bool fmt_may_have_name(const struct posix_trace_field_np *field);

/* The size of the memory for the name of a value, with its NUL. A longer name is shortened. */
#define FMT_NAME_BYTES (POSIX_TRACE_OBJECT_NAME_MAX_NP + POSIX_TRACE_LABEL_MAX_NP + 2)

/*
 * For sinks: stores the name of a value of the event: the name of the object at a pointer, the path
 * or peer of a file descriptor, or the label from the library. Returns false if the value has no
 * name.
 */
bool fmt_value_name(struct fmt_flow *flow, const struct fmt_event *event,
		    const struct posix_trace_value_np *value, char name[FMT_NAME_BYTES]);

enum fmt_verdict {
	FMT_NOTICE,  /* information */
	FMT_WARN,    /* unusual; all of the input is kept */
	FMT_DAMAGED, /* a part is missing; exit status 3 */
	FMT_REFUSE   /* no part can be kept; exit status 1 */
};

#define FMT_NO_OFFSET UINT64_MAX

/*
 * Prints "posixtrace: FILE:OFFSET: CODE: TEXT". A refusal is always printed. For all other faults,
 * the first of each code are printed, and further faults are only counted. "code" may be NULL.
 * Returns the exit status for the verdict. After FMT_REFUSE, import() must return this status,
 * TOOL_FAILURE.
 */
int fmt_fault(struct fmt_flow *flow, enum fmt_verdict verdict, uint64_t offset, const char *code,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Returns whether FMT_DAMAGED is the worst verdict so far. */
bool fmt_is_damaged(const struct fmt_flow *flow);

/* ------------------------------------------------------------------ the input */

/* Returns the name of the input for messages. It is valid as long as the input. */
const char *fmt_input_name(const struct fmt_input *input);

/*
 * Reads the next bytes of the input. Returns their number, 0 at the end, or -1 after it printed an
 * error.
 */
ssize_t fmt_read(struct fmt_flow *flow, struct fmt_input *input, void *buffer, size_t len);

/*
 * fmt_read() skips a hole of a sparse file that is longer than FMT_HOLE_BYTES, and reports it as
 * damage. A hole has no data, and to read a hole of terabytes would need days. fmt_read() reads a
 * shorter hole as zeros. fmt_hole() sets another limit.
 */
#define FMT_HOLE_BYTES (UINT64_C(1) << 20)
void fmt_hole(struct fmt_input *input, uint64_t bytes);

/* Like fmt_read(), but returns fewer than "len" bytes only at the end of the input. */
ssize_t fmt_read_all(struct fmt_flow *flow, struct fmt_input *input, void *buffer, size_t len);

/*
 * Returns a descriptor of the whole input, for pread(). A pipe is copied to a temporary file. The
 * caller must not have called fmt_read() before. Returns -1 after it printed an error. The
 * descriptor belongs to the input, which closes it. *size becomes the size of the input; "size" may
 * be NULL.
 */
int fmt_file(struct fmt_flow *flow, struct fmt_input *input, uint64_t *size);

/*
 * Prepares an input that is a serial line. Afterwards read() returns all bytes as they arrive, at
 * the speed of the source's option --baud. Other inputs do not change. Returns false after it
 * printed an error; the source must then fail.
 */
bool fmt_serial(struct fmt_flow *flow, struct fmt_input *input);

/* ------------------------------------------------------------------ options */

/*
 * Returns the value of an option, or "" if the option has no value. Returns NULL if the option was
 * not given. If it was given several times, returns the last value.
 */
const char *fmt_option(const struct fmt_flow *flow, const char *name);

/*
 * Returns the value of an option that may be repeated, by its index in the order of the command
 * line. Returns NULL behind the last value.
 */
const char *fmt_option_at(const struct fmt_flow *flow, const char *name, size_t index);

static inline bool fmt_flag(const struct fmt_flow *flow, const char *name)
{
	return fmt_option(flow, name) != NULL;
}

/*
 * Reads the number of an option. If the option was not given, *number remains unchanged. Returns
 * false after it printed an error, if the value is not a number from "min" to "max".
 */
bool fmt_option_number(struct fmt_flow *flow, const char *name, uint64_t min, uint64_t max,
		       uint64_t *number);

/* Like fmt_option_number(), for a time in the form that --begin of dump accepts. */
bool fmt_option_time(struct fmt_flow *flow, const char *name, int64_t *time_ns);

/*
 * Prints that the value of the option is wrong. "accepted" describes the valid values, such as
 * "len". Returns false.
 */
bool fmt_option_wrong(struct fmt_flow *flow, const char *name, const char *accepted);

/* ------------------------------------------------------------------ the table */

extern const struct format *const formats[];
extern const size_t formats_count;

/*
 * Returns the reason why this build of posixtrace does not have the format. Returns NULL if this
 * build has it, or if no build has a format of this name.
 */
const char *fmt_left_out(const char *name);

/* Returns the format with this name, or NULL if this build does not have it. */
const struct format *fmt_by_name(const char *name);

/* Returns the format that recognizes the beginning of an input, or NULL if no format does. */
const struct format *fmt_detect(const struct fmt_head *head);

/*
 * Returns the name of the format of a file. Returns NULL if the file is a log or if its format is
 * unknown.
 */
const char *fmt_foreign_name(int fd);

/*
 * Reads the beginning of a file. The bytes are valid until the next call. Returns false if the file
 * cannot be read.
 */
bool fmt_read_head(int fd, struct fmt_head *head);

/*
 * Recognizes inputs that no format of this list reads, such as a JSON trace of Chrome. Returns the
 * end of the sentence "this is not a trace log, but", or NULL. fmt_unread_file() examines a file or
 * a folder. Both are for messages only.
 */
const char *fmt_unread(const struct fmt_head *head);
const char *fmt_unread_file(int fd);

#endif
