/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_np.h - what libposixtrace offers beyond POSIX. Every name ends in _np or _NP.
 *
 * Conventions are those of <trace.h>: 0 or an error number, errno untouched, thread-safe.
 * Sizes are bytes, counts are events, times are CLOCK_REALTIME in nanoseconds unless a
 * comment says otherwise. The manual page is trace_np(3).
 */
#ifndef _TRACE_NP_H
#define _TRACE_NP_H

#include <stdint.h>
#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As sysconf(), but with our answers for _SC_TRACE, _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT,
 * _SC_TRACE_LOG, _SC_TRACE_EVENT_NAME_MAX, _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX and
 * _SC_TRACE_USER_EVENT_MAX, for which a C library can only say "no". For any other name it is
 * sysconf(), errno included.
 */
long posix_trace_sysconf_np(int name);

/*
 * Before a program gives up system calls: seccomp, prctl(PR_SET_TSC). PROCESS: all that the library
 * needs is taken now; from then on recording events makes no system call in this process and in
 * children that it forks, and what would need one is counted as lost. ALL: the same, and the
 * library's own threads end, for a limit that all threads get; logs of the process's own streams
 * are completed when it ends. THREAD: the calling thread records no more events, which are counted
 * as lost, and reads no clock for them; NOT takes that back. Always keeps errno.
 */
#define POSIX_TRACE_CONFINE_NOT_NP     0
#define POSIX_TRACE_CONFINE_PROCESS_NP 1
#define POSIX_TRACE_CONFINE_THREAD_NP  2
#define POSIX_TRACE_CONFINE_ALL_NP     3

/* EINVAL: what is none of these. */
int posix_trace_confine_np(int what);

/*
 * A trace point for code that runs billions of times and is seldom traced: posix_trace_event(),
 * reached only while this process is traced. Otherwise it costs a load and a branch, no call, and
 * the arguments are not evaluated. Async-signal-safe as posix_trace_event() is.
 */
#define posix_trace_point_np(event_id, data, len) \
	((void)(*posix_trace_active_np ? (posix_trace_event((event_id), (data), (len)), 0) : 0))

/*
 * posix_trace_event() on behalf of other code: address becomes the event's posix_prog_address. For
 * wrappers, which trace their callers, and for interpreters. Async-signal-safe as that is.
 */
void posix_trace_event_at_np(trace_event_id_t event_id, const void *data, size_t len,
			     const void *address);

/*
 * Not 0 while some stream is attached to this process, or to one from which it inherits streams.
 * The pointer never changes.
 */
extern const volatile unsigned char *const posix_trace_active_np;

/*
 * The loss ledger. Events are counted exactly and every one is in exactly one column:
 *
 *	called = reported + unread + lost[0] + ... + lost[POSIX_TRACE_LOST_CAUSES_NP - 1]
 *
 * called    events generated while the stream was running, or suspended because it was full,
 *           and not filtered out; system events of the stream included
 * reported  handed to a reader, or, for a stream with log, written to the log
 * unread    still in the stream
 */
#define POSIX_TRACE_LOST_OVERWRITTEN_NP     0 /* LOOP stream: overwritten before being read */
#define POSIX_TRACE_LOST_STREAM_FULL_NP     1 /* UNTIL_FULL, FLUSH: generated while full */
#define POSIX_TRACE_LOST_LOG_FULL_NP        2 /* UNTIL_FULL log: discarded at flush */
#define POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP 3 /* LOOP log: overwritten in the log */
#define POSIX_TRACE_LOST_FLUSH_ERROR_NP     4 /* could not be written to the log */
#define POSIX_TRACE_LOST_NO_MEMORY_NP       5 /* the system had no memory for the event */
#define POSIX_TRACE_LOST_NO_SLOT_NP         6 /* too many threads, or one that must read no clock */
#define POSIX_TRACE_LOST_NESTING_NP         7 /* signal handlers nested too deep in trace points */
#define POSIX_TRACE_LOST_CLEARED_NP         8 /* removed by posix_trace_clear() */
#define POSIX_TRACE_LOST_DAMAGED_NP         9 /* unreadable in memory or in a damaged log */
#define POSIX_TRACE_LOST_CAUSES_NP          10

struct posix_trace_ledger_np {
	uint64_t called;
	uint64_t reported;
	uint64_t unread;
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];
};

struct posix_trace_thread_np {
	pid_t pid;            /* 0: events of no thread, or of threads no longer told apart */
	pid_t tid;            /* Linux thread id */
	pthread_t thread;
};

/*
 * The ledger of an active stream or of an opened log: its total, one event type's line, one
 * thread's line. For a log, "reported" are the events that the log holds; the account is the one
 * its writer closed. Threads are numbered from 0; past the last one *unavailable is set to
 * non-zero and 0 is returned, as posix_trace_eventtypelist_getnext_id() does.
 * EINVAL: no such stream, a null pointer, an event type without a name.
 */
int posix_trace_get_ledger_np(trace_id_t trid, struct posix_trace_ledger_np *ledger);
int posix_trace_get_ledger_type_np(trace_id_t trid, trace_event_id_t event_id,
				   struct posix_trace_ledger_np *ledger);
int posix_trace_get_ledger_thread_np(trace_id_t trid, size_t index,
				     struct posix_trace_thread_np *thread,
				     struct posix_trace_ledger_np *ledger, int *unavailable);

/* The English name of a loss cause, such as "stream full"; NULL past the last one. */
const char *posix_trace_lost_name_np(int cause);

/*
 * One event of an opened log, with what struct posix_trace_event_info has no room for.
 * data points into the library's buffer and is valid until the next call on that identifier.
 */
#define POSIX_TRACE_EVENT_LATE_NP 1u /* its writer was held up; it stands after younger events */
#define POSIX_TRACE_EVENT_GAP_NP  2u /* a damaged part of the log was skipped before it */
#define POSIX_TRACE_EVENT_BLOCK_NP 4u /* the first of one of the log's blocks; not behind a seek */

struct posix_trace_event_np {
	struct posix_trace_event_info info;
	pid_t tid;            /* Linux thread id, 0 = none */
	unsigned flags;       /* POSIX_TRACE_EVENT_*_NP */
	int64_t time_ns;      /* info.posix_timestamp as one number */
	const void *data;
	size_t data_len;
};

/*
 * The next event of an opened log, without copying its data; the same position as
 * posix_trace_getnext_event(). At the end: 0 and *unavailable non-zero.
 * EINVAL: not an opened log, or a null pointer.
 */
int posix_trace_getnext_np(trace_id_t trid, struct posix_trace_event_np *event,
			   int *unavailable);

/*
 * How many damaged parts of an opened log were met since its position was moved to a time or to the
 * beginning: of events, which are missing, and of what is there to recover them, names and index.
 * When the end was reached from the beginning, every checksum was looked at. A reader that opened
 * the log without POSIX_TRACE_OPEN_SALVAGE_NP stops at the first missing event. EINVAL: not an
 * opened log, null pointer.
 */
int posix_trace_get_damage_np(trace_id_t trid, uint64_t *parts);

/*
 * Moves the position of an opened log to its first event not older than *when, by the log's
 * index. A time past the last event moves to the end. EINVAL: not an opened log, bad time.
 */
int posix_trace_seek_np(trace_id_t trid, const struct timespec *when);

/*
 * From now on, events of an opened log that are younger than *when are not wanted: by the log's
 * index, parts that have no others may be passed over, and the end is where no others follow,
 * although events may stand behind younger ones. Younger ones that stand beside wanted ones still
 * come. The position stays. A null pointer: all are wanted again. EINVAL: not an opened log, bad
 * time.
 */
int posix_trace_until_np(trace_id_t trid, const struct timespec *when);

/*
 * Opens a log as posix_trace_open() does, but reads on after damaged parts and accepts a log
 * that its writer never completed, or is still writing, or whose header is damaged: every whole
 * block is delivered. Of a damaged header, attributes are told as far as they can be true.
 * flags: POSIX_TRACE_OPEN_SALVAGE_NP, or 0 for posix_trace_open().
 */
#define POSIX_TRACE_OPEN_SALVAGE_NP 1u
int posix_trace_open_np(int file_desc, unsigned flags, trace_id_t *trid);

/* What an opened log says of itself. */
struct posix_trace_loginfo_np {
	int complete;           /* its writer closed it */
	int log_full_policy;
	unsigned format_major;
	unsigned format_minor;
	pid_t pid;              /* the traced process */
	char host[64];
	char clock[32];         /* what stamped the events: "tsc" or "monotonic" */
	uint64_t file_bytes;
	uint64_t event_bytes;   /* what log-max-size counts */
	uint64_t blocks;
	int64_t first_ns;       /* time of the oldest block's first event, 0 = no events */
	int64_t last_ns;
	uint64_t clock_hz;      /* nominal frequency of the clock, 0 = not known */
};
int posix_trace_get_loginfo_np(trace_id_t trid, struct posix_trace_loginfo_np *info);

/*
 * Proves a log: every checksum, every length, the counts of every block against its events, and
 * the ledger's equation in total, by type and by thread. Each fault is handed to report (may be
 * NULL) as it is found, with the file offset where it stands and a sentence that says what is
 * wrong. Returns 0 when the whole file was read, whatever was found; EINVAL when it is no log.
 */
struct posix_trace_fault_np {
	uint64_t offset;        /* in the file */
	uint64_t bytes;         /* how many are affected, 0 = not known */
	const char *reason;     /* English; valid during the call */
};
struct posix_trace_check_np {
	int complete;
	uint64_t faults;
	uint64_t blocks;
	uint64_t events;        /* found in whole blocks */
	uint64_t bytes;         /* of the file */
	struct posix_trace_ledger_np ledger;
};
int posix_trace_check_np(int file_desc,
			 void (*report)(void *arg, const struct posix_trace_fault_np *fault),
			 void *arg, struct posix_trace_check_np *result);

/*
 * Active streams, seen without taking part in them: nobody is stopped, and nothing is read away.
 * Counts grow while one looks: taken together they are exact only while nobody traces.
 */
#define POSIX_TRACE_EVERY_PROCESS_NP ((pid_t)-1)
#define POSIX_TRACE_THIS_PROCESS_NP  ((pid_t)-2)
#define POSIX_TRACE_CREATOR_GONE_NP  ((pid_t)-1)

struct posix_trace_stream_np {
	pid_t pid;              /* the process that is traced */
	/* it has ended, or cannot be seen; who inherited the stream goes on */
	int ended;
	int waiting;            /* it does not use this library yet */
	pid_t creator;          /* 0: not in this name space; POSIX_TRACE_CREATOR_GONE_NP */
	const pid_t *member;    /* who inherited the stream, as far as the caller may see them */
	size_t members;

	char name[TRACE_NAME_MAX + 1];
	int64_t creation_ns;
	int inheritance;
	int stream_full_policy;
	int log_full_policy;    /* 0: it has no log */
	size_t stream_size;
	size_t max_data_size;

	int stream_status;      /* as in struct posix_trace_status_info */
	int stream_full_status;
	int stream_overrun_status;
	unsigned chunks;        /* equal parts of its memory; it is full when all are taken */
	unsigned chunks_taken;
	uint64_t recorded;      /* events that were written into it, read or not */
	/*
	 * What could not be, or was overwritten there; what befell later is known to the creator
	 * alone.
	 */
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];

	trace_event_set_t filter;
	const char *const *event_name; /* by event type, null without one */
	unsigned event_names;   /* entries of it */

	const struct posix_trace_source_np *source; /* for posix_trace_snapshot_np() */
};

/*
 * Hands each stream of process pid to visit, those that it inherited too; 0 is the calling process,
 * POSIX_TRACE_EVERY_PROCESS_NP all that the caller may look at. POSIX_TRACE_THIS_PROCESS_NP is the
 * calling process too, but who else takes part in its streams is not looked for: that takes a look
 * at every process of the system, this at none; an inherited stream's process then seems to have
 * ended. *stream and what it points to are valid during the call. ESRCH: no such process. EPERM:
 * its files may not be looked at.
 * EINVAL: visit is a null pointer. ENOMEM, EMFILE, ENFILE.
 */
int posix_trace_look_np(pid_t pid,
			void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
			void *arg);

/*
 * Composing a log: of events that this library did not trace, those of another tracer or of another
 * log. What is written is a log like any other, complete and with its ledger.
 *
 * A composer belongs to one thread at a time. Events stand in the log in the order in which they
 * are handed over; their times may fall, and may be any. Calls write to the file: they are not
 * async-signal-safe, and take as long as the file does.
 */
struct posix_trace_composer_np;

struct posix_trace_origin_np {
	pid_t pid;              /* the traced process, 0 = none */
	char host[64];          /* its machine; empty: this one */
	char clock[32];         /* what stamped the events, any word; empty: "unknown" */
	uint64_t clock_hz;      /* its nominal frequency, 0 = not known */
	/* of the stream, unless the attributes were got from a stream or log */
	int64_t creation_ns;
	int64_t resolution_ns;  /* of the clock; 0: that of the attributes */
	/* what made the trace; empty: that of the attributes */
	char generation[TRACE_NAME_MAX + 1];
};

/*
 * Begins a log in file_desc, as posix_trace_create_withlog() would; the descriptor stays the
 * caller's. attr has name, sizes and policies; NULL: the defaults, and a log that grows as it must
 * (APPEND). Of an APPEND log the maximum data size bounds an event's data; of the other two, the
 * maximum log size bounds the file.
 * EBADF: not writable. EINVAL: a null pointer, bad attributes, or a file that the log's full policy
 * cannot work with. ENOMEM, and what writing to the file says.
 */
int posix_trace_compose_np(int file_desc, const trace_attr_t *attr,
			   const struct posix_trace_origin_np *origin,
			   struct posix_trace_composer_np **composer);

/*
 * Names an event type. With *id 0 the type of that name is found, or made with the next number from
 * 64 on, and *id set; else the name is for that number, 1 to 1023. The nine names that the standard
 * has are there from the beginning, and bound to their numbers.
 * ENAMETOOLONG: more than TRACE_EVENT_NAME_MAX bytes. ENOSPC: *id is 0, and a process can have
 * TRACE_USER_EVENT_MAX names, but has these. EEXIST: the number has another name. EINVAL.
 */
int posix_trace_compose_name_np(struct posix_trace_composer_np *composer, const char *name,
				trace_event_id_t *id);

/*
 * Appends an event: of info, all but posix_timestamp, for which there is time_ns; of flags
 * POSIX_TRACE_EVENT_LATE_NP.
 * EINVAL: an event type without a name, a null pointer, no truncation status. EMSGSIZE: more data
 * than the maximum data size. ENOSPC: an UNTIL_FULL log is full. Or what writing says; the event is
 * then not in the log, and may be handed over again.
 */
int posix_trace_compose_event_np(struct posix_trace_composer_np *composer,
				 const struct posix_trace_event_np *event);

/*
 * Counts events that are not there, in the ledger: why, how many, and of what. An event type of 0
 * is counted as POSIX_TRACE_UNNAMED_USER_EVENT, a thread of NULL as no thread. EINVAL.
 */
int posix_trace_compose_lost_np(struct posix_trace_composer_np *composer, int cause, uint64_t count,
				trace_event_id_t event_id,
				const struct posix_trace_thread_np *thread);

/*
 * Completes the log and frees the composer, whatever it returns. The log tells status as its
 * stream's last; NULL: suspended, and with an overrun if any event was lost.
 */
int posix_trace_compose_finish_np(struct posix_trace_composer_np *composer,
				  const struct posix_trace_status_info *status);

/* Frees the composer; the log is left as if its writer had been killed. */
void posix_trace_compose_drop_np(struct posix_trace_composer_np *composer);

/*
 * Payloads that explain themselves. A schema is a text beside the name of an event type: the fields
 * of its payload in their order, packed without padding, in the byte order of the machine that
 * wrote them, and what the type means. Items are separated by semicolons, blanks are free:
 *
 *	TYPE NAME                   a field; NAME is a letter or _, then letters, digits, _; at most
 *	                            63
 *	TYPE NAME{0=read,1=write}   with names for values; numbers as in C
 *	TYPE NAME{|1=read,2=write}  with names for bits
 *	@level N                    1 critical, 2 error, 3 warning, 4 information, 5 verbose
 *	@begin SPAN, @end SPAN      the event begins or ends a span of time of that name
 *	@key NAME[,NAME]            fields that pair a begin with its end; without, the thread pairs
 *	                            them
 *
 * Types: u8 u16 u32 u64 s8 s16 s32 s64; x8 x16 x32 x64, shown in hexadecimal; f32 f64; bool (1
 * byte); char (1 byte); ptr (8 bytes) and ptr32 (4 bytes), looked up among the objects below; ns
 * (u64, a duration); time (s64, CLOCK_REALTIME in nanoseconds); errno (s32); str (bytes up to a NUL
 * or to the payload's end); bytes (a u32 that counts, then the bytes). TYPE[N] is an array of a
 * type of constant size; str[N] is text in N bytes, ended by a NUL if shorter; bytes[N] is N bytes.
 *
 * A payload that is shorter than its schema lacks the fields at the end; one that is longer has
 * bytes that nobody explains. Neither is an error.
 */
#define POSIX_TRACE_SCHEMA_MAX_NP      1023 /* bytes of the text */
#define POSIX_TRACE_FIELDS_MAX_NP      32
#define POSIX_TRACE_FIELD_NAME_MAX_NP  63   /* bytes of the name of a field, a value or a span */
#define POSIX_TRACE_ELEMENTS_MAX_NP    65535
#define POSIX_TRACE_VALUE_NAMES_MAX_NP 128  /* of all fields of a schema */
#define POSIX_TRACE_KEYS_MAX_NP        4

/*
 * Describes an event type of the calling process, for all its streams and their logs, also those
 * that exist. The first description stays: the same once more is 0. In every thread and before
 * main; not in signal handlers.
 * EINVAL: no named type that the process opened, or not a schema. EEXIST: it has another one.
 * ENOSPC: the descriptions of the process fill their memory (400 KiB). ENOMEM: it has none.
 */
int posix_trace_eventid_describe_np(trace_event_id_t event_id, const char *schema);

/*
 * The schema of an event type of an active stream or an opened log, with its NUL in size bytes.
 * What a log or another process says may be no schema: see posix_trace_schema_parse_np(). EINVAL:
 * no such stream, no such type, a null pointer. ENOENT: the type has none. ERANGE: size is too
 * small; POSIX_TRACE_SCHEMA_MAX_NP + 1 always is enough.
 */
int posix_trace_eventid_get_schema_np(trace_id_t trid, trace_event_id_t event_id, char *schema,
				      size_t size);

enum posix_trace_type_np {
	POSIX_TRACE_TYPE_U8_NP = 1,
	POSIX_TRACE_TYPE_U16_NP,
	POSIX_TRACE_TYPE_U32_NP,
	POSIX_TRACE_TYPE_U64_NP,
	POSIX_TRACE_TYPE_S8_NP,
	POSIX_TRACE_TYPE_S16_NP,
	POSIX_TRACE_TYPE_S32_NP,
	POSIX_TRACE_TYPE_S64_NP,
	POSIX_TRACE_TYPE_X8_NP,
	POSIX_TRACE_TYPE_X16_NP,
	POSIX_TRACE_TYPE_X32_NP,
	POSIX_TRACE_TYPE_X64_NP,
	POSIX_TRACE_TYPE_F32_NP,
	POSIX_TRACE_TYPE_F64_NP,
	POSIX_TRACE_TYPE_BOOL_NP,
	POSIX_TRACE_TYPE_CHAR_NP,
	POSIX_TRACE_TYPE_PTR_NP,
	POSIX_TRACE_TYPE_NS_NP,
	POSIX_TRACE_TYPE_TIME_NP,
	POSIX_TRACE_TYPE_ERRNO_NP,
	POSIX_TRACE_TYPE_STR_NP,
	POSIX_TRACE_TYPE_BYTES_NP,
	POSIX_TRACE_TYPE_PTR32_NP
};

/* Which member of a value a type fills. */
enum posix_trace_form_np {
	POSIX_TRACE_FORM_UNSIGNED_NP = 1, /* u64 */
	POSIX_TRACE_FORM_SIGNED_NP,       /* s64 */
	POSIX_TRACE_FORM_FLOAT_NP,        /* f64 */
	POSIX_TRACE_FORM_BYTES_NP         /* data and len */
};

enum posix_trace_role_np { POSIX_TRACE_POINT_NP, POSIX_TRACE_BEGIN_NP, POSIX_TRACE_END_NP };

struct posix_trace_value_name_np {
	uint64_t value;         /* of a signed type: as two's complement in 64 bits */
	const char *name;
};

#define POSIX_TRACE_OFFSET_VARIES_NP ((size_t)-1)

struct posix_trace_field_np {
	const char *name;
	enum posix_trace_type_np type;
	enum posix_trace_form_np form;
	unsigned size;          /* of an element, as far as it is constant: 4 of bytes, 0 of str */
	unsigned count;         /* of values: elements of an array, else 1 */
	int is_array;           /* TYPE[N], even if N is 1; not str[N] and bytes[N] */
	unsigned room;          /* N of str[N] and bytes[N], else 0 */
	/* in the payload; POSIX_TRACE_OFFSET_VARIES_NP behind str and bytes */
	size_t offset;
	int is_key;
	int has_bits;           /* value_name are of bits */
	unsigned value_names;
	const struct posix_trace_value_name_np *value_name;
};

/* A schema ready for use, in the caller's memory; it points into itself, so it cannot be copied. */
struct posix_trace_schema_np {
	unsigned fields;
	struct posix_trace_field_np field[POSIX_TRACE_FIELDS_MAX_NP];
	int level;              /* 0: none */
	enum posix_trace_role_np role;
	const char *span;       /* NULL: a point */
	unsigned keys;
	unsigned key[POSIX_TRACE_KEYS_MAX_NP]; /* fields by number */
	/* What the rest points to. */
	unsigned value_names;
	struct posix_trace_value_name_np value_name[POSIX_TRACE_VALUE_NAMES_MAX_NP];
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
};

/*
 * Makes schema from text, or says EINVAL: what the text is not, *schema is not to be used. Checks
 * everything, so that any bytes up to a NUL may be given. Async-signal-safe.
 */
int posix_trace_schema_parse_np(const char *text, struct posix_trace_schema_np *schema);

#define POSIX_TRACE_VALUE_CUT_NP 1u /* the payload ended within this bytes, bytes[N] or str[N] */

struct posix_trace_value_np {
	const struct posix_trace_field_np *field;
	unsigned index;         /* in an array */
	unsigned flags;         /* POSIX_TRACE_VALUE_*_NP */
	__extension__ union {
		uint64_t u64;   /* bool is 0 or 1 */
		int64_t s64;
		double f64;
	};
	const void *data;       /* in the payload; of str without its NUL */
	size_t len;
};

/*
 * The values of a payload, one by one; an array has one for each element. Nothing outside data and
 * len is read. Async-signal-safe.
 */
struct posix_trace_values_np {
	const struct posix_trace_schema_np *schema;
	/* what follows the last value: after all, what no field explains */
	const unsigned char *data;
	size_t len;
	unsigned field;
	unsigned index;
	unsigned flags;
};

#define POSIX_TRACE_VALUES_SWAPPED_NP 1u /* the payload has the other byte order */

void posix_trace_values_begin_np(struct posix_trace_values_np *values,
				 const struct posix_trace_schema_np *schema, const void *data,
				 size_t len, unsigned flags);

/* 1 and the next value, 0 behind the last. */
int posix_trace_field_next_np(struct posix_trace_values_np *values,
			      struct posix_trace_value_np *value);

/* 1 and one value of a payload, field and index by number; 0: the payload does not have it. */
int posix_trace_field_get_np(const struct posix_trace_schema_np *schema, unsigned field,
			     unsigned index, const void *data, size_t len, unsigned flags,
			     struct posix_trace_value_np *value);

/* The name that the schema has for the value as a whole, or NULL. */
const char *posix_trace_value_name_np(const struct posix_trace_value_np *value);

/* "u32" and the like; NULL: no type. */
const char *posix_trace_type_name_np(enum posix_trace_type_np type);

/*
 * Typed payloads. posix_trace_fields_np() makes a payload of its arguments, of which there is one
 * for each field of the event type's schema, and records it by one posix_trace_event(); a
 * statement. Nothing is evaluated while the process is not traced. It takes no memory but a
 * kilobyte of the stack and is async-signal-safe. Strings and bytes are cut to what is left of that
 * kilobyte; the fields behind them are there.
 *
 *	posix_trace_fields_np(id, POSIX_TRACE_S32_NP(fd), POSIX_TRACE_STR_NP(path));
 */
#define POSIX_TRACE_FIELDS_BYTES_NP 1024

struct posix_trace_arg_np {
	unsigned type;          /* enum posix_trace_type_np */
	unsigned room;          /* of str[N] and bytes[N], else 0 */
	uint64_t u64;
	double f64;
	const void *data;
	size_t len;
};

#define POSIX_TRACE_U8_NP(v)    { POSIX_TRACE_TYPE_U8_NP, 0, (uint8_t)(v), 0, 0, 0 }
#define POSIX_TRACE_U16_NP(v)   { POSIX_TRACE_TYPE_U16_NP, 0, (uint16_t)(v), 0, 0, 0 }
#define POSIX_TRACE_U32_NP(v)   { POSIX_TRACE_TYPE_U32_NP, 0, (uint32_t)(v), 0, 0, 0 }
#define POSIX_TRACE_U64_NP(v)   { POSIX_TRACE_TYPE_U64_NP, 0, (uint64_t)(v), 0, 0, 0 }
#define POSIX_TRACE_S8_NP(v)    { POSIX_TRACE_TYPE_S8_NP, 0, (uint8_t)(v), 0, 0, 0 }
#define POSIX_TRACE_S16_NP(v)   { POSIX_TRACE_TYPE_S16_NP, 0, (uint16_t)(v), 0, 0, 0 }
#define POSIX_TRACE_S32_NP(v)   { POSIX_TRACE_TYPE_S32_NP, 0, (uint32_t)(v), 0, 0, 0 }
#define POSIX_TRACE_S64_NP(v)   { POSIX_TRACE_TYPE_S64_NP, 0, (uint64_t)(v), 0, 0, 0 }
#define POSIX_TRACE_X8_NP(v)    { POSIX_TRACE_TYPE_X8_NP, 0, (uint8_t)(v), 0, 0, 0 }
#define POSIX_TRACE_X16_NP(v)   { POSIX_TRACE_TYPE_X16_NP, 0, (uint16_t)(v), 0, 0, 0 }
#define POSIX_TRACE_X32_NP(v)   { POSIX_TRACE_TYPE_X32_NP, 0, (uint32_t)(v), 0, 0, 0 }
#define POSIX_TRACE_X64_NP(v)   { POSIX_TRACE_TYPE_X64_NP, 0, (uint64_t)(v), 0, 0, 0 }
#define POSIX_TRACE_F32_NP(v)   { POSIX_TRACE_TYPE_F32_NP, 0, 0, (double)(v), 0, 0 }
#define POSIX_TRACE_F64_NP(v)   { POSIX_TRACE_TYPE_F64_NP, 0, 0, (double)(v), 0, 0 }
#define POSIX_TRACE_BOOL_NP(v)  { POSIX_TRACE_TYPE_BOOL_NP, 0, (v) ? 1u : 0u, 0, 0, 0 }
#define POSIX_TRACE_CHAR_NP(v)  { POSIX_TRACE_TYPE_CHAR_NP, 0, (uint8_t)(v), 0, 0, 0 }
#define POSIX_TRACE_PTR_NP(v)   { POSIX_TRACE_TYPE_PTR_NP, 0, (uint64_t)(uintptr_t)(v), 0, 0, 0 }
#define POSIX_TRACE_NS_NP(v)    { POSIX_TRACE_TYPE_NS_NP, 0, (uint64_t)(v), 0, 0, 0 }
#define POSIX_TRACE_TIME_NP(v)  { POSIX_TRACE_TYPE_TIME_NP, 0, (uint64_t)(v), 0, 0, 0 }
#define POSIX_TRACE_ERRNO_NP(v) { POSIX_TRACE_TYPE_ERRNO_NP, 0, (uint32_t)(v), 0, 0, 0 }
/* A string; NULL is one too, the empty one. */
#define POSIX_TRACE_STR_NP(s)        { POSIX_TRACE_TYPE_STR_NP, 0, 0, 0, (s), 0 }
#define POSIX_TRACE_BYTES_NP(p, n)   { POSIX_TRACE_TYPE_BYTES_NP, 0, 0, 0, (p), (size_t)(n) }
/*
 * str[N]: a string, cut or filled to n bytes. bytes[N], or an array of any other type: n bytes as
 * they are.
 */
#define POSIX_TRACE_STR_N_NP(s, n)   { POSIX_TRACE_TYPE_STR_NP, (unsigned)(n), 0, 0, (s), 0 }
#define POSIX_TRACE_BYTES_N_NP(p, n) { POSIX_TRACE_TYPE_BYTES_NP, (unsigned)(n), 0, 0, (p), 0 }

#if defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 199901L
#define posix_trace_fields_np(event_id, ...) \
	do { \
		if (*posix_trace_active_np) { \
			const struct posix_trace_arg_np posix_trace_arg_[] = { __VA_ARGS__ }; \
			unsigned char posix_trace_payload_[POSIX_TRACE_FIELDS_BYTES_NP]; \
			posix_trace_event((event_id), posix_trace_payload_, \
				posix_trace_fields_pack_np(posix_trace_payload_, \
					sizeof posix_trace_payload_, posix_trace_arg_, \
					sizeof posix_trace_arg_ / sizeof posix_trace_arg_[0])); \
		} \
	} while (0)
#endif

/* The payload of args in room bytes; how long it is. What does not fit at all is left out, from the
 * first field on that does not. Async-signal-safe. */
size_t posix_trace_fields_pack_np(void *payload, size_t room, const struct posix_trace_arg_np *arg,
				  size_t args);

/*
 * What things in the memory of the calling process are called: with the name, a field of type ptr
 * can be shown as what it points to. A name holds from now on, until another is given to the same
 * pointer, or none (name is a null pointer or empty). Longer names are cut. A child that was forked
 * has the names of its parent. Async-signal-safe; before main too.
 * EINVAL: kind is none of these. ENOSPC: there were 4096 names. ENOMEM: the process has no memory
 * for them.
 */
#define POSIX_TRACE_OBJECT_THREAD_NP    1
#define POSIX_TRACE_OBJECT_MUTEX_NP     2
#define POSIX_TRACE_OBJECT_RWLOCK_NP    3
#define POSIX_TRACE_OBJECT_COND_NP      4
#define POSIX_TRACE_OBJECT_SEMAPHORE_NP 5
#define POSIX_TRACE_OBJECT_BARRIER_NP   6
#define POSIX_TRACE_OBJECT_QUEUE_NP     7
#define POSIX_TRACE_OBJECT_FILE_NP      8
#define POSIX_TRACE_OBJECT_SOCKET_NP    9
#define POSIX_TRACE_OBJECT_BUFFER_NP    10
#define POSIX_TRACE_OBJECT_TIMER_NP     11
#define POSIX_TRACE_OBJECT_OTHER_NP     12

#define POSIX_TRACE_OBJECT_NAME_MAX_NP  47

int posix_trace_object_np(int kind, const void *pointer, const char *name);

/*
 * Not a thing: process pid was forked by the process whose number is in pointer, and has its
 * things.
 */
#define POSIX_TRACE_OBJECT_CHILD_NP     0x8000

struct posix_trace_object_np {
	int kind;               /* POSIX_TRACE_OBJECT_*_NP; of later versions also others */
	pid_t pid;
	uint64_t pointer;
	int64_t time_ns;        /* since when */
	char name[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1]; /* empty: no longer called anything */
};

/*
 * The next of the names that an active stream's processes gave, or that an opened log holds; in a
 * stream there may be more later. At the end: 0 and *unavailable non-zero.
 * EINVAL: no such stream, or a null pointer.
 */
int posix_trace_object_getnext_np(trace_id_t trid, struct posix_trace_object_np *object,
				  int *unavailable);
int posix_trace_object_rewind_np(trace_id_t trid);

/*
 * What pointer was called in process pid at a time (CLOCK_REALTIME, nanoseconds).
 * ENOENT: nothing. EINVAL: no such stream, a null pointer. ENOMEM.
 */
int posix_trace_object_find_np(trace_id_t trid, pid_t pid, uint64_t pointer, int64_t time_ns,
			       struct posix_trace_object_np *object);

/*
 * Which file was mapped executable where in a traced process, and from when until when: with it the
 * program address of an event is one in a file. A log says it of its processes as far as whoever
 * wrote it could see.
 */
#define POSIX_TRACE_BUILD_ID_MAX_NP 32

struct posix_trace_mapping_np {
	int64_t from_ns;        /* it was seen to be there from then on, */
	int64_t until_ns;       /* and not from here on; INT64_MAX: to the end */
	uint64_t start, end;    /* addresses; the end is not part of it */
	uint64_t offset;        /* in the file, of start */
	/* an address less this is one in the file, as its symbols have it */
	uint64_t base;
	pid_t pid;
	/* not 0: no file, but pid is a child of it and has what it had then */
	pid_t parent;
	uint32_t build_id_len;  /* 0: unknown */
	unsigned char build_id[POSIX_TRACE_BUILD_ID_MAX_NP];
	const char *path;       /* as it was then; the library's, until the log is closed */
};

/*
 * The next of those that an opened log holds, by process and time. At the end: 0 and *unavailable
 * non-zero. EINVAL: no opened log, or a null pointer.
 */
int posix_trace_mapping_getnext_np(trace_id_t trid, struct posix_trace_mapping_np *mapping,
				   int *unavailable);
int posix_trace_mapping_rewind_np(trace_id_t trid);

/*
 * The file at an address of process pid when it was time_ns, as an event tells it; a child has what
 * its parent had. ENOENT: it is not known. EINVAL: as above.
 */
int posix_trace_mapping_find_np(trace_id_t trid, pid_t pid, uint64_t address, int64_t time_ns,
				struct posix_trace_mapping_np *mapping);

/*
 * Says which files this process has mapped, for the logs of others who trace it: to be called
 * before dlclose() and after dlopen(). It is said anyway when a program starts and when it ends,
 * and who traces looks a few times a second. Nothing is done while nobody traces. From any thread,
 * not in a signal handler.
 * ENOSPC: there was no room for all of it.
 */
int posix_trace_mapping_tell_np(void);

/* "mutex" and the like; "object" for what this version does not know. */
const char *posix_trace_object_kind_name_np(int kind);

/*
 * A level for an active stream: event types that were described with a greater level (@level) are
 * put into its filter, those with another are taken out, and those without are left as they are; a
 * type that is described later is treated likewise then. max_level 0 takes out all with a level,
 * and is the end of it. So is posix_trace_set_filter() with POSIX_TRACE_SET_EVENTSET.
 * A change of the filter by this call is an event POSIX_TRACE_FILTER; one by a later description is
 * not. EINVAL: no such stream, max_level is not 0 to 5, or a null pointer.
 */
int posix_trace_set_level_np(trace_id_t trid, int max_level);
int posix_trace_get_level_np(trace_id_t trid, int *max_level);

/*
 * From a visit: writes a log of the stream as it is at this moment to file_desc, which stays open
 * and is the log from its beginning on, and complete. Nobody is stopped or kept waiting, and
 * nothing is read away: the log has what its creator could still read. Its account is of these
 * events and of those that were lost before; what was read before is in neither. ESRCH: the stream
 * is gone. EAGAIN: it is overwritten faster than it can be copied. EINVAL: a null pointer, or not
 * from a visit. EBADF: not open for writing. EIO: its memory cannot be read. ENOMEM, and what
 * writing the log may fail with.
 */
int posix_trace_snapshot_np(const struct posix_trace_stream_np *stream, int file_desc);

/*
 * To a composed log: what the data of an event type means, and what a thing is called. The type has
 * a name already; EEXIST: it means something else. EINVAL, ENOMEM.
 */
int posix_trace_compose_schema_np(struct posix_trace_composer_np *composer,
				  trace_event_id_t event_id, const char *schema);
int posix_trace_compose_object_np(struct posix_trace_composer_np *composer,
				  const struct posix_trace_object_np *object);

/*
 * The black box: a stream whose memory lies in a file, from which `posixtrace recover` makes a log
 * when its process is gone, however that ended. path names a new file, which posix_trace_create()
 * makes, for its owner alone, and allocates; it is locked (flock) while the stream lives, and
 * stays. A null pointer or an empty path: no file. Streams of other processes, and inherited ones,
 * cannot have one: ENOTSUP at their creation, which with a file also fails as open() with O_CREAT |
 * O_EXCL and posix_fallocate() do. EINVAL: bad attributes. ENAMETOOLONG: more than
 * POSIX_TRACE_BACKING_MAX_NP bytes.
 */
#define POSIX_TRACE_BACKING_MAX_NP 183

int posix_trace_attr_setbacking_np(trace_attr_t *attr, const char *path);

/* Into POSIX_TRACE_BACKING_MAX_NP + 1 bytes; empty: no file. */
int posix_trace_attr_getbacking_np(const trace_attr_t *attr, char *path);

/*
 * Hands the stream of a backing file to visit, as posix_trace_look_np() does those of processes; of
 * a core dump (ELF, of this kind of machine) the streams that the process had mapped. What is wrong
 * with the file is handed to report, which may be a null pointer, with the offset where it stands;
 * posix_trace_snapshot_np() reports, too. EINVAL: no backing file, or visit is a null pointer.
 * ENOMEM.
 */
int posix_trace_look_file_np(int file_desc,
			     void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
			     void (*report)(void *arg, const struct posix_trace_fault_np *fault),
			     void *arg);

#ifdef __cplusplus
}
#endif

/* Events of typed items, TRACE_USER_BEGIN_NP() and the others. */
#include <trace_user_np.h>

#endif
