/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto.h - writes a trace of Perfetto: a sequence of TracePackets (perfetto.dev,
 * protos/perfetto/trace/trace_packet.proto). The constants are field numbers of its messages.
 *
 * Switches of threads, wake-ups and CPU samples are not written as events of threads. Switches and
 * wake-ups become events of the kernel's tracing, from which readers compute the states of threads
 * (perfetto_sched.c). CPU samples become samples with call stacks (perfetto_stack.c).
 *
 * Functions that return int return 0 or an error number, unless their comments state otherwise.
 *
 * Times are measured by CLOCK_REALTIME. Each thread, each process and the losses of each cause have
 * a track. Spans of a thread that cross other spans are on further tracks, which are children of
 * the thread's track. Spans with a key are on tracks of their process. A reader sorts packets by
 * time. Packets with equal times remain in the order of the file; spans/lanes.h relies on this.
 */
#ifndef POSIXTRACE_CONVERT_VIEWER_PERFETTO_H
#define POSIXTRACE_CONVERT_VIEWER_PERFETTO_H

#include "base/nameset.h"
#include "base/proto.h"
#include "convert/format.h"
#include "convert/threads.h"
#include "log/stacks.h"
#include "why/classify.h"
#include "why/ender.h"
#include "why/links.h"

enum { /* Trace, TracePacket */
	TRACE_PACKET = 1,
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
};

enum { /* TrackEvent */
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	/* EVENT_FLOW and EVENT_FLOW_END are the old numbers, which all readers support */
	EVENT_FLOW = 36,
	EVENT_FLOW_END = 42,
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_CALLSTACK_IID = 56,
	TYPE_SLICE_BEGIN = 1,
	TYPE_SLICE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

enum { /* DebugAnnotation */
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,
	ANNOTATION_ARRAY = 12,
};

#define SEQUENCE_ID          1
#define CLOCK_ID_REALTIME    1
#define CLOCK_ID_BOOTTIME    6
#define STATE_CLEARED        1
#define NEEDS_STATE          2

/*
 * Names that every trace has, interned in the first packet. They are names of annotations. Names of
 * events are interned separately, so the identifiers of event types (index + 1) may be equal to
 * these.
 */
enum perfetto_name { NAME_NONE, NAME_DATA, NAME_HEX, NAME_ADDRESS, NAME_TRUNCATED, NAME_LATE,
		     NAME_AFTER_DAMAGE, NAME_CPU, NAME_THREAD, NAME_TID, NAMES };

/* The annotation of an integer field: all its bytes except the length and the value. */
#define PERFETTO_HEAD 16
struct perfetto_integer {
	uint8_t head[PERFETTO_HEAD];
	uint8_t len;           /* length of "head" */
	uint8_t size;          /* size of the field in the data */
	bool is_signed;
};

struct perfetto_kind {
	const struct fmt_type *type;
	char *name;            /* the name as plain UTF-8 */
	/* an element for each field; NULL: some field is not a plain integer */
	struct perfetto_integer *integer;
	size_t integers;       /* bytes of all these fields in the data */
	const char *span;      /* the name of the last span that the type began */
	char *span_name;       /* this name as plain UTF-8 */
	size_t span_len;
	/* The track of the last span with a key that the type began or ended; 0: none. */
	uint64_t track;
	uint32_t track_pid;
	unsigned track_lane, track_series;
	bool has_counters;     /* a field is a counter */
	/* the type's name was interned, and the fields' names with numbers from field_iid on */
	bool is_interned;
	uint64_t field_iid;
	/* the type as a type of a log, and its plan of the command why; NULL: no schema */
	struct log_type *as;
	struct plan plan;
	int stack;             /* index of the field with the number of a call stack, or -1 */
	bool is_stack;         /* the events are stacks */
};

/*
 * Numbers of CPUs must be below this limit. If an event of the kernel has another number, readers
 * refuse the whole trace.
 */
#define PERFETTO_CPUS 1024

/*
 * A CPU whose switches are written. Only switches of recorded threads are known. While no recorded
 * thread has the CPU or waits for it, the CPU is written as idle.
 */
struct perfetto_cpu {
	uint32_t now;          /* the thread that has the CPU, by the last switch; 0: none */
	/* the recorded thread that lost the CPU to "now" and waits; 0: none */
	uint32_t waiter;
};

/*
 * Room for a NUL and 16 bytes of a thread's name, each of which may become PLAIN_FACTOR bytes. The
 * kernel's names have at most 15 bytes.
 */
#define PERFETTO_COMM 65

/*
 * A switch that is not written yet: a recorded thread left a CPU. The next event shows whether
 * another recorded thread got this CPU.
 */
struct perfetto_out {
	bool is_held, is_preempted;
	uint32_t cpu, tid, next_pid, next_tid;
	uint64_t state;
	int64_t time_ns;
	char next[PERFETTO_COMM]; /* the name of the next thread */
};

struct perfetto_sched {
	struct perfetto_cpu *cpu;
	size_t cpus;
	struct perfetto_out out;
	/* threads whose names were written; with tid 0: processes that have another name */
	struct threads people;
	bool has_clock;        /* the snapshot for the clock of the kernel's events was written */
};

/* The call stacks of the logs, and the parts of them that were interned. */
struct perfetto_stacks {
	struct stacks *of;     /* the stacks of each log */
	size_t sources;
	/* interned texts, mappings, frames and stacks as text; the identifier is the index + 1 */
	struct nameset interned;
	uint64_t overflow;     /* number of identifiers since the set is full */
	struct perfetto_change {
		uint32_t pid;
		int64_t time_ns;
	/* the times at which a process maps or unmaps files, sorted by process and time */
	} *change;
	size_t changes;
};

/*
 * The flows: from the thread that held a lock to the thread that waited for it, and from a write to
 * the read that waited for it. Waits for locks are kept until the end (links.h). A search for the
 * partner of a call examines a limited number of later calls. So a call that moves data is kept
 * until this number of later calls is known.
 */
struct perfetto_flows {
	struct links links;
	struct call *call;     /* the member "thread" of a call is the Linux thread number */
	uint32_t *pid;         /* the process of each call, at the call's index */
	size_t calls, done;    /* "done" calls: their partner was searched */
	uint64_t flows;
};

struct perfetto {
	struct fmt_flow *flow;
	struct out *out;
	struct proto packet;
	uint64_t next_iid;     /* the next identifier for the name of an annotation */
	struct threads threads;
	/* the tracks of spans and counters that have been described; the handle is the uuid */
	struct threads lanes;
	struct thread *last;   /* the thread of the last event */
	struct fmt_facts facts;
	bool has_losses[POSIX_TRACE_LOST_CAUSES_NP], counted[POSIX_TRACE_LOST_CAUSES_NP];
	struct perfetto_kind *kind; /* one element for each type, at the type's index */
	size_t kinds;
	struct perfetto_sched sched;
	struct perfetto_stacks stacks;
	struct perfetto_flows flows;
	int64_t last_ns;
};

#define PERFETTO_PIECE 64 /* room for an annotation with a number, or for the head of a message */

/*
 * Like proto_put_length(), for an annotation with a number, which always has less than 128 bytes.
 */
static inline void perfetto_put_short(uint8_t *p, size_t len)
{
	uint32_t x = (uint32_t)len | 0x808080;

	memcpy(p, &x, 4); /* little endian */
}

/*
 * Writes an annotation with an interned name and a number. "field" is the member of DebugAnnotation
 * for the number. There must be room for PERFETTO_PIECE bytes. Returns the end of the annotation.
 */
static inline uint8_t *perfetto_put_annotation(uint8_t *to, uint64_t iid, unsigned field,
					       uint64_t number)
{
	uint8_t *begin = to = proto_put_tag(to, EVENT_ANNOTATION << 3 | 2) + 4;

	to = proto_put_varint(proto_put_tag(to, ANNOTATION_NAME_IID << 3), iid);
	to = proto_put_varint(proto_put_tag(to, field << 3), number);
	perfetto_put_short(begin - 4, (size_t)(to - begin));
	return to;
}

/*
 * perfetto_begin() begins a packet and returns the value for perfetto_end(). perfetto_end() ends
 * and writes the packet, and returns 0 or an error number.
 */
size_t perfetto_begin(struct perfetto *perfetto, int64_t time_ns);
int perfetto_end(struct perfetto *perfetto, size_t packet);

/* Like perfetto_begin(), but the packet has no time. */
size_t perfetto_begin_untimed(struct perfetto *perfetto);

/*
 * Writes a ClockSnapshot with the clock of the events. "equal" is the identifier of another clock,
 * which the snapshot declares equal to this clock. If "equal" is 0, the clock of the events becomes
 * the primary clock of the trace, so that the reader shows times without conversion. Returns 0 or
 * an error number.
 */
int perfetto_snapshot(struct perfetto *perfetto, int64_t time_ns, unsigned equal);

/* Begins a TrackEvent in the packet. Returns the value by which proto_end() ends the TrackEvent. */
size_t perfetto_begin_event(struct perfetto *perfetto, uint64_t type, uint64_t track);

/*
 * Adds an annotation with an interned name to the current event. The function is inline, because
 * "name" and "field" are constants, so that only the value must be encoded at run time.
 */
static inline void perfetto_annotate(struct proto *p, enum perfetto_name name, unsigned field,
				     uint64_t number)
{
	uint8_t *to = proto_room(p, PERFETTO_PIECE);

	if (to)
		p->used = (size_t)(perfetto_put_annotation(to, name, field, number) - p->bytes);
}

/*
 * In perfetto_annotate.c: adds an annotation with any name. "field" is the member of
 * DebugAnnotation for the value. An empty text adds nothing.
 */
void perfetto_annotate_text(struct proto *p, const char *name, const char *text);
void perfetto_annotate_number(struct proto *p, const char *name, unsigned field, uint64_t number);

/*
 * Adds annotations for the parts of an event that its fields lack: data that the fields do not
 * describe, address, truncation, flags, processor, and the thread of a span with a key.
 */
void perfetto_annotations(struct proto *p, const struct perfetto_kind *kind,
			  const struct fmt_event *event);

/* In perfetto_fields.c: adds an annotation for each field of the event's data. */
void perfetto_fields(struct perfetto *perfetto, const struct fmt_event *event);

/* Returns the value of a field, or 0 if the event lacks it or "field" is negative. */
uint64_t perfetto_field(const struct perfetto *perfetto, const struct fmt_event *event, int field);

/*
 * Prepares the annotations of a type. The member field_iid of *kind must be set before. If all
 * fields of the type are integers whose values have no names, perfetto_fields() later writes them
 * in a faster way. Returns 0 or ENOMEM.
 */
int perfetto_prepare(struct perfetto_kind *kind);

/*
 * perfetto_track() finds the track of the event's thread, and perfetto_span_track() the track of
 * its span. The functions first write the description of a new track. They return 0 or an error
 * number.
 */
int perfetto_track(struct perfetto *perfetto, const struct fmt_event *event, uint64_t *track);
int perfetto_span_track(struct perfetto *perfetto, const struct fmt_event *event, uint64_t *track);

/* Returns the number of the track of a thread that has a system number. */
uint64_t perfetto_thread_uuid(uint32_t pid, uint32_t tid);

/* Names the track of a thread, or of a process if "tid" and "thread" are 0. */
int perfetto_name_track(struct perfetto *perfetto, const struct fmt_thread *thread);

/*
 * The numbers (uuids) of the tracks of the stream and of losses. The bytes of these numbers are
 * ASCII text. The numbers of all other tracks are hashes.
 */
#define PERFETTO_TRACK_STREAM UINT64_C(0x706f73697874)
#define PERFETTO_TRACK_LOSSES UINT64_C(0x6c6f73736573)

/*
 * Begins a packet with a TrackDescriptor. If "pid" is not 0, the track is a child of the track of
 * this process. perfetto_end_track() ends the packet and writes it. It returns 0 or an error
 * number.
 */
size_t perfetto_begin_track(struct perfetto *perfetto, uint64_t uuid, uint32_t pid, size_t *packet);
int perfetto_end_track(struct perfetto *perfetto, size_t track, size_t packet);
#define PERFETTO_TRACK_NAME 2 /* a field of TrackDescriptor */

/*
 * In perfetto_counter.c: writes the values of the counters of an event. The type of the event must
 * have fields. The caller must have described the track of the event's thread. Returns 0 or an
 * error number.
 */
int perfetto_counters(struct perfetto *perfetto, const struct fmt_event *event);

/*
 * Returns the number of the track of a counter. The counter is a field of a type in a process;
 * "type" and "field" are indices.
 */
uint64_t perfetto_counter_uuid(uint32_t pid, size_t type, unsigned field);

/*
 * In perfetto_sched.c: perfetto_sched_takes() returns whether the events of a type are switches,
 * wake-ups or ends of threads, by the plan of the type. perfetto_sched_event() writes such an
 * event. If *is_shown becomes false, the caller must also write the event as an event of its
 * thread. perfetto_sched_end() writes a switch that is still held back. perfetto_sched_event() and
 * perfetto_sched_end() return 0 or an error number. perfetto_sched_named() notes that the trace has
 * a name for a process.
 */
bool perfetto_sched_takes(const struct plan *plan);
int perfetto_sched_event(struct perfetto *perfetto, const struct fmt_event *event, bool *is_shown);
int perfetto_sched_end(struct perfetto *perfetto);
void perfetto_sched_named(struct perfetto *perfetto, uint32_t pid);
void perfetto_sched_fini(struct perfetto_sched *sched);

/*
 * In perfetto_stack.c: perfetto_stack_keep() keeps a stack for later events. perfetto_sample()
 * writes a CPU sample. perfetto_stack() finds the stack of an event, stores it in *found, interns
 * it, and stores its identifier in *iid, or 0 if the event has no stack. All return 0 or an error
 * number.
 */
int perfetto_stack_keep(struct perfetto *perfetto, const struct fmt_event *event);
int perfetto_sample(struct perfetto *perfetto, const struct fmt_event *event);
int perfetto_stack(struct perfetto *perfetto, const struct fmt_event *event,
		   struct stacks_found *found, uint64_t *iid);
void perfetto_stacks_fini(struct perfetto_stacks *stacks);

/*
 * In perfetto_mapped.c: perfetto_mapped_read() reads the times at which processes map or unmap
 * files. Returns 0 or an error number. perfetto_mapped_changes() returns a number. If the number is
 * equal for two times of a process, the process had the same files mapped at both times and between
 * them.
 */
int perfetto_mapped_read(struct perfetto *perfetto);
size_t perfetto_mapped_changes(const struct perfetto_stacks *stacks, uint32_t pid, int64_t time_ns);

/*
 * In perfetto_stack.c: adds an annotation with the functions of the innermost frames of a stack,
 * one in a line, the innermost first.
 */
void perfetto_stack_annotate(struct perfetto *perfetto, const struct fmt_event *event,
			     const struct stacks_found *found);

/*
 * In perfetto_flow.c: perfetto_flow_event() notes a call that has waited, or for which another call
 * may have waited. perfetto_flow_end() writes the flows that are not written yet. They return 0 or
 * an error number.
 */
int perfetto_flow_event(struct perfetto *perfetto, const struct fmt_event *event);
int perfetto_flow_end(struct perfetto *perfetto);
void perfetto_flows_fini(struct perfetto_flows *flows);

/*
 * In perfetto_track.c: describes a track that has only a name, for the stream or for losses.
 * Returns 0 or an error number of the output.
 */
int perfetto_plain_track(struct perfetto *perfetto, uint64_t uuid, const char *name);

#endif
