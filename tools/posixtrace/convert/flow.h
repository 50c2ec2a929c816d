/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flow.h - the state of one conversion, behind the fmt_ functions.
 *
 * The commands that convert, the files that define the fmt_ functions, and the formats that need
 * the state itself, such as log and sqlite, include this header. All other formats include only
 * format.h. One thread runs a conversion: two threads must not call these functions at the same
 * time for the same flow.
 */
#ifndef POSIXTRACE_CONVERT_FLOW_H
#define POSIXTRACE_CONVERT_FLOW_H

#include <termios.h>

#include "base/meter.h"
#include "base/table.h"
#include "convert/format.h"

#define FMT_HEAD_BYTES  65536
#define FMT_FAULTS_SAID 5 /* messages of one code; further faults are only counted */

struct plan;
struct choice;
struct descriptors;
struct logfile;
struct wanted;
struct merge;

struct fmt_given { /* an option of the command line */
	const char *name;
	const char *value;
};

struct fmt_fault_count {
	char code[16];
	uint64_t count;
};

struct fmt_input {
	const char *name;
	int fd;
	/* signalfd for the signals that end the input; -1: signals end the process */
	int signals;
	/*
	 * input_open() has opened a file by its name; false for standard input and for an endpoint
	 */
	bool is_named;
	bool is_line;          /* the input is a serial line */
	struct termios line;   /* the settings that this line had before the conversion */
	bool is_read;          /* fmt_read() was called */
	bool ended;
	size_t head_len, head_at;
	uint64_t at;           /* bytes that fmt_read() has returned or skipped */
	/* the file has no hole between "at" and data_until; fmt_read() skips holes */
	uint64_t data_until;
	uint64_t hole_bytes;   /* fmt_read() skips longer holes */
	/* the next of several logs that are converted together; NULL: this log is the last */
	struct fmt_input *next;
	unsigned char head[FMT_HEAD_BYTES];
};

struct fmt_flow {
	const struct format *from, *to;
	struct fmt_input *input;
	const struct fmt_output *output;
	void *context;         /* the context of the sink */
	int status;            /* the worst exit status so far */
	bool begun;            /* begin() was called: the sink accepts types */
	bool stopped;          /* the sink or the choice has failed */
	int64_t seek_ns;       /* set by choice_begin(): the source may omit earlier events */
	/* set by choice_begin(): the source may omit later events; INT64_MAX: no limit */
	int64_t until_ns;
	/* the source uses until_ns and ends when no wanted event can follow */
	bool knows_until;
	uint64_t events;
	/* unwanted events whose call stacks the sink needs; "events" counts them, too */
	uint64_t stacks;
	uint64_t read;         /* all events that the source has passed */
	struct wanted *wanted; /* NULL: all events are wanted */
	struct choice *choice; /* applies wanted to one reading of the source */
	/* the sink also gets unwanted events; is_wanted describes the current event */
	bool sees_unwanted;
	bool is_wanted;
	bool is_metered;       /* the progress is shown on a terminal */
	struct meter meter;
	bool lost;             /* the source reported lost events */
	const trace_id_t *objects; /* the opened logs, which have names of objects */
	size_t object_logs;
	/* the logs of "objects", with their types; NULL: the source is not a log */
	struct logfile *const *logs;
	struct descriptors *descriptors; /* names of descriptors if the input is one log, or NULL */
	unsigned sources;      /* number of inputs; more than 1 only for logs */
	const struct merge *clocks; /* has the values of --clock-error; NULL: none */
	/* for a sink that scans: the plan of the first reading; NULL: there was no first reading */
	struct plan *plan;

	struct fmt_type **type;
	size_t types;
	bool too_many_types;
	size_t schemas;
	struct table table;    /* finds types by name */

	const struct fmt_given *given;
	size_t givens;
	struct fmt_fault_count *fault;
	size_t faults;
};

/*
 * flow_init() makes a flow from one format to another, without an input. flow_fini() ends the line
 * of progress and frees the types and the counts of faults. The caller must close source and sink
 * before flow_fini().
 */
void flow_init(struct fmt_flow *flow, const struct format *from, const struct format *to);
void flow_fini(struct fmt_flow *flow);

/*
 * Handles the result of a sink's function: 0, an error number, or -1 if the sink has printed the
 * error. Prints the message for an error number, unless the flow had already stopped. Returns true
 * if the conversion can continue.
 */
bool flow_answer(struct fmt_flow *flow, int err);

/* Prints for each code the number of faults that fmt_fault() has only counted. */
void flow_say_faults(struct fmt_flow *flow);

/*
 * Returns the type with this name and schema, for a source of several logs. If two logs describe
 * types of the same name differently, each description becomes a separate type, and the types
 * differ in the member "variant".
 */
const struct fmt_type *flow_type_described(struct fmt_flow *flow, const struct fmt_type *what);

/*
 * In pair.c: if the names of a new type and of an existing type are a pair, flow_pair() marks them
 * as begin and end of a span. flow_find() returns a type of that name with any id, or NULL.
 */
void flow_pair(struct fmt_flow *flow, struct fmt_type *type);
struct fmt_type *flow_find(const struct fmt_flow *flow, const char *name, size_t len);

/*
 * Opens a file, standard input ("-") or an endpoint of endpoint.h. Returns TOOL_OK or prints the
 * error and returns another status.
 */
int input_open(struct fmt_input *input, const char *path);
/*
 * Reads the first bytes of the input into *head, to recognize the format. fmt_read() returns them
 * again. Returns TOOL_OK, or prints the error and returns TOOL_FAILURE.
 */
int input_peek(struct fmt_input *input, struct fmt_head *head);
void input_close(struct fmt_input *input);

/*
 * input_keep() prepares this input and the inputs linked behind it for a second reading. If an
 * input cannot seek, the function copies it to a temporary file. It returns 0 or an error number.
 * For a terminal it reads nothing and returns ENOTTY. After another error, a part of an input may
 * be lost. input_again() then moves all these inputs back to their beginnings, and returns 0 or an
 * error number.
 */
int input_keep(struct fmt_input *input);
int input_again(struct fmt_input *input);

/*
 * After this call, SIGINT, SIGTERM and SIGHUP end the input instead of the process, so that the
 * sink can complete its output. The function is for inputs without an end, such as a serial line.
 */
void input_end_at_signals(struct fmt_input *input);

/* convert/serial.c: restores the settings that the serial line had before the conversion. */
void input_leave_line(struct fmt_input *input);

#endif
