/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flow.h - a conversion under way: what is behind the fmt_ functions. For convert.c, the files that
 * have those functions, and sources that prove nesting; other formats see format.h alone.
 */
#ifndef POSIXTRACE_CONVERT_FLOW_H
#define POSIXTRACE_CONVERT_FLOW_H

#include <termios.h>

#include "base/meter.h"
#include "base/table.h"
#include "convert/format.h"

#define FMT_HEAD_BYTES  65536
#define FMT_FAULTS_SAID 5 /* of a code; the others are counted */

struct plan;
struct choice;
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
	int signals;           /* signalfd: signals that end the input; -1: they end us */
	bool is_named;         /* we opened it */
	bool is_line;          /* a serial line that was as line says */
	struct termios line;
	bool is_read;          /* fmt_read() was called */
	bool ended;
	size_t head_len, head_at;
	uint64_t at;           /* bytes that fmt_read() handed out */
	uint64_t data_until;   /* the file has no hole that is passed over from at to here */
	uint64_t hole_bytes;   /* longer ones are */
	struct fmt_input *next; /* of several logs that are converted as one; NULL: the last one */
	unsigned char head[FMT_HEAD_BYTES];
};

struct fmt_flow {
	const struct format *from, *to;
	struct fmt_input *input;
	const struct fmt_output *output;
	void *context;         /* the sink's */
	int status;            /* the worst so far */
	bool begun;            /* the sink knows the facts, and so types */
	bool stopped;          /* the sink cannot go on */
	int64_t seek_ns;       /* a sink sets it as it begins: earlier events may be left out */
	int64_t until_ns;      /* likewise: nothing behind that need come; INT64_MAX: all */
	bool knows_until;      /* the source keeps to it: it ends where nothing else follows */
	uint64_t events;
	uint64_t read;         /* events that came, wanted or not */
	struct wanted *wanted; /* NULL: all events are */
	struct choice *choice; /* by it, while the source is read */
	bool sees_unwanted;    /* the sink gets the other events too, and asks is_wanted */
	bool is_wanted;
	bool is_metered;       /* how far it is is shown on a terminal */
	struct meter meter;
	bool lost;             /* the source told of lost events */
	const trace_id_t *objects; /* the logs that know them */
	size_t object_logs;
	unsigned sources;      /* how many logs the input is */
	const struct merge *clocks; /* has what --clock-error said; NULL: nothing */
	struct plan *plan;     /* of a sink that scans; NULL: the input was not read before */

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

void flow_init(struct fmt_flow *flow, const struct format *from, const struct format *to);
void flow_fini(struct fmt_flow *flow);

/* Keeps the sink's answer: false when it was no success; then it has been said. */
bool flow_answer(struct fmt_flow *flow, int err);

/* Says how many faults of each code were not said in full. */
void flow_say_faults(struct fmt_flow *flow);

/* The type for a source to change what it finds out later. */
struct fmt_type *flow_type_at(struct fmt_flow *flow, size_t index);

/*
 * The type of that name and description, for a source of several logs: if two of them describe a
 * type differently, each has its own.
 */
const struct fmt_type *flow_type_described(struct fmt_flow *flow, const struct fmt_type *what);

/* convert/pair.c: the partners of a new type by their names, and their spans. */
void flow_pair(struct fmt_flow *flow, struct fmt_type *type);
struct fmt_type *flow_find(const struct fmt_flow *flow, const char *name, size_t len);

/* TOOL_OK, or it has said why not. */
int input_open(struct fmt_input *input, const char *path);
/* Reads the head to tell formats apart by. */
int input_peek(struct fmt_input *input, struct fmt_head *head);
void input_close(struct fmt_input *input);

/*
 * Whether the inputs, this one and those behind it, can be read twice. What is no file is read to
 * its end first, into a temporary file; a serial line is left alone. input_again(): they are at
 * their beginnings again.
 */
bool input_keep(struct fmt_input *input);
bool input_again(struct fmt_input *input);

/*
 * From now on SIGINT, SIGTERM and SIGHUP are the input's end: for sources that have none by
 * themselves.
 */
void input_end_at_signals(struct fmt_input *input);

/* convert/serial.c: the line as it was. */
void input_leave_line(struct fmt_input *input);

#endif
