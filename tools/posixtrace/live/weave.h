/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave.h - makes a copy of a log with the kernel's events. weave.c copies the log, and
 * weave_events.c adds the events.
 */
#ifndef POSIXTRACE_LIVE_WEAVE_H
#define POSIXTRACE_LIVE_WEAVE_H

#include <trace_np.h>

#include "live/kernel.h"

/* The event types that the kernel's records become. */
enum { WEAVE_IN, WEAVE_OUT, WEAVE_EXIT, WEAVE_GAP, WEAVE_WAKE, WEAVE_SAMPLE, WEAVE_STACK,
       WEAVE_FAULT, WEAVE_CLOCK, WEAVE_STATE, WEAVE_OPEN, WEAVE_CALL, WEAVE_TYPES };

/*
 * The stacks of one type: whether its events have copies of stacks, and whether the events get a
 * field with the number of the stack.
 */
enum weave_stacked { WEAVE_NO_STACK, WEAVE_NO_FIELD, WEAVE_STACKED };

/*
 * The state of one copy. "reader" returns the records that have not become events yet.
 * kernel_weave() closes the log "from". The last call of the composer frees "to", even if that call
 * fails.
 *
 * "err" is the first error of the new log, which is then abandoned. The records are read to the
 * end nevertheless: they are counted, and they change the states of threads and processes, which
 * the next logs need. So the functions that append to the new log do nothing after an error, and
 * return 0.
 */
struct weave {
	struct kernel *kernel;
	struct kernel_period *period;
	/*
	 * a sorted copy of kernel.maps, with the process numbers that the events have; kernel.maps
	 * owns the paths
	 */
	struct kernel_maps notes;
	struct kernel_meanwhile meanwhile;
	int64_t served_ns;  /* when meanwhile was called last: a time of until_now_ns() */
	trace_id_t from;
	struct posix_trace_composer_np *to; /* NULL: none */
	int err;
	uint64_t put[KERNEL_GROUPS]; /* the kernel's events so far, without states and stacks */
	enum kernel_group group;     /* of the present record */
	/* kernel_id has an element for each kernel.type */
	trace_event_id_t id[WEAVE_TYPES], *kernel_id;
	trace_event_id_t *probe_id; /* an element for each kernel.plan.traps->type */
	struct posix_trace_thread_np *thread; /* the threads of the old log, sorted */
	size_t threads;
	unsigned char *stacked; /* the enum weave_stacked of a type, indexed by the type's id */
	size_t types;      /* length of the array "stacked" */
	struct stack_unwinder *unwinder;
	struct kernel_reader reader;
	struct examination *examination; /* in weave_calls.c; NULL: no system calls */
	struct weave_jit *jit;
	struct weave_maps *maps;
	struct posix_trace_mapping_np *mapping; /* of the old log */
	size_t mappings;
	struct posix_trace_mapping_np *module; /* "mapping", and those that the kernel reported */
	size_t modules;
	bool runs;         /* the stream runs */
	bool is_ending;    /* the recorder has stopped the stream for ever, at end_ns */
	int64_t begin_ns;  /* of the log */
	int64_t end_ns;
	bool has_clock;
	bool has_lost;     /* events of the kernel are lost */
	trace_event_id_t lost_call; /* the type for which lost system calls count */
};

/* These functions append to the new log. */
int weave_compose(struct weave *weave, const struct posix_trace_event_np *event);
int weave_compose_mapping(struct weave *weave, const struct posix_trace_mapping_np *mapping);
/*
 * Stores the number of a type in *id, and adds the type if the log lacks it. If the log already has
 * the type with another schema, or if the text "schema" is not valid, the type keeps the schema
 * that it has.
 */
int weave_compose_type(struct weave *weave, const char *name, const char *schema,
		       trace_event_id_t *id);

/*
 * Adds the names and schemas of the event types. Returns 0 or an error number, as weave_record()
 * does.
 */
int weave_types(struct weave *weave);

/*
 * Appends the events of a record, if the stream runs. The caller must pass each record once, in
 * order of time.
 */
int weave_record(struct weave *weave, const struct kernel_item *item);

/*
 * Appends the states that threads had at the end of the log before. The function must be called
 * before the first record, if the stream runs.
 */
int weave_states(struct weave *weave);

/* Calls the function of the caller of kernel_weave(), if it is time. */
void weave_serve(struct weave *weave);

/* Appends an event of the kernel. The record has the process and the thread of the event. */
int weave_put(struct weave *weave, trace_event_id_t id, const struct kernel_record *record,
	      uint64_t address, const void *data, size_t len);

/*
 * In weave_calls.c: finds out which system calls become events, and adds their types. The function
 * must be called before the events are copied. It reads the old log, and rewinds the log. The
 * caller must call weave_calls_end() in any case.
 */
int weave_calls_types(struct weave *weave);
/*
 * Examines a record of a system call. Such a record may also report the begin of a process. The
 * caller must pass each such record once, also while the stream does not run.
 */
void weave_calls_note(struct weave *weave, const struct kernel_item *item);
/* Appends the event of the record that was examined last, if this record becomes an event. */
int weave_call(struct weave *weave, const struct kernel_item *item);
/*
 * Keeps the states of the processes for the next log. The function must be called after the last
 * record.
 */
void weave_calls_complete(struct weave *weave);
void weave_calls_end(struct weave *weave);

/*
 * In weave_traps.c: adds the files whose functions uprobes have recorded, for each process in which
 * the old log does not have them.
 */
int weave_traps_mappings(struct weave *weave);
/*
 * The shim finds no identity for a file without a build-id. If uprobes have recorded functions of
 * the file, this function gives the mapping the identity of the file, so that readers find the
 * names of the functions.
 */
void weave_traps_identify(const struct weave *weave, struct posix_trace_mapping_np *mapping);
/* Adds the event types of the probes. */
int weave_traps_types(struct weave *weave);
/* Appends the event of a probe. */
int weave_traps_put(struct weave *weave, const struct kernel_item *item);

/*
 * Appends the event cpu.stack of a stack, unless the log already has this stack. "event" has the
 * time, the process and the thread.
 */
int weave_stack(struct weave *weave, uint32_t number, const struct posix_trace_event_np *event);

/*
 * In weave_stacks.c: copies an event of the old log. If its type has stacks, the function unwinds
 * the copy of the stack behind the event's data. The number of the stack then replaces this copy,
 * and becomes the first field.
 */
int weave_stacked(struct weave *weave, const struct posix_trace_event_np *event);
/*
 * Notes whether events of the type have stacks. If they have, and the schema has room for one more
 * field, stores in "schema" the schema that these events get.
 */
int weave_stacked_type(struct weave *weave, trace_event_id_t id, const char *name,
		       char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1]);

/*
 * In weave_jit.c: finds out whether an address of a process, or an address of a stack, is in a
 * function that the process compiled while it ran. If it is, adds the function to the lists of the
 * log. is_exact has the same meaning as for symbols_at(). weave_jit_end() must be called in any
 * case.
 */
int weave_jit_begin(struct weave *weave);
int weave_jit_address(struct weave *weave, pid_t pid, uint64_t address, int64_t time_ns,
		      bool is_exact);
int weave_jit_stack(struct weave *weave, uint32_t number, pid_t pid, int64_t time_ns);
void weave_jit_end(struct weave *weave);

/*
 * In weave_maps.c: reads the mappings of the old log, and ends each of them at the execve(2) that
 * the kernel has reported. Returns 0 or an error number. weave_maps_end() must be called in any
 * case.
 */
int weave_maps_begin(struct weave *weave);
/* Adds the mappings that a process has at a time and that only the kernel has reported. */
int weave_maps_process(struct weave *weave, pid_t pid, int64_t time_ns);
/* Fills the array "module". */
int weave_maps_modules(struct weave *weave);
void weave_maps_end(struct weave *weave);

/* Compares two threads, for qsort() and bsearch(). */
int weave_by_thread(const void *a, const void *b);

#endif
