/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/model.h - a model of streams as the specification describes them, in the simplest form: a
 * list of the items that will be read, a status, a filter. It is independent of the implementation.
 *
 * Where the specification leaves a choice (how many events fit, when space is free again), the
 * caller enters the observed result into the model, and the model gives the consequences.
 */
#ifndef PTX_TESTS_FUZZ_MODEL_H
#define PTX_TESTS_FUZZ_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define MODEL_TYPES   80   /* greater than each event type in use */
#define MODEL_ITEMS  30000 /* in a stream's list; an input makes no more */
#define MODEL_DATA    64   /* maximum of bytes of a user event */
#define MODEL_THREADS 256  /* entry 0 for no process, and one for each process */

enum model_kind { MODEL_NONE, MODEL_LIVE, MODEL_LOGGED, MODEL_STORED };

struct model_set {
	bool member[MODEL_TYPES];
};

struct model_item {
	unsigned type;
	size_t len;
	unsigned char data[MODEL_DATA]; /* of a user event; the int of a STOP */
	struct model_set set[2];        /* of START and FILTER */
	bool truncated;
	pid_t pid;                      /* SYSEV-05; 0: made by the system */
	bool own;                       /* synthetic: it counts when it is reported, not when it
					 * occurs (CH-31) */
	bool floats;                    /* a START that may also be before its predecessor */
	bool gap;                       /* from here on some may be overwritten without a report */
	bool silent_overflow, silent_resume;
};

/*
 * called = reported + unread + lost: in total, for each type, and for each process, which has one
 * thread.
 */
struct model_account {
	struct posix_trace_ledger_np total, type[MODEL_TYPES], process[MODEL_THREADS];
	pid_t pid[MODEL_THREADS];
	size_t processes;
};

struct model_stream {
	enum model_kind kind;
	int policy, log_policy;
	size_t max_data;
	bool inherited;
	bool running;
	bool auto_stopped; /* full, and it will restart automatically, */
	bool held;         /* unless a call stopped it meanwhile */
	bool start_due;    /* it has restarted: a START is before the next event */
	bool overwritten;  /* LOOP: some items from next on are overwritten */
	bool full_known;   /* full_status is known */
	bool full;
	bool overrun_known, overrun;
	struct model_set filter;
	struct model_item *item;
	size_t items, next; /* next: the first item that was not read; with log: not flushed */
	struct model_account account;

	/*
	 * Members for streams with log. Flushed events count as reported until the log reports
	 * their loss.
	 */
	bool uncertain;
	bool log_fills;           /* it is small */
	bool log_full, log_stop;  /* UNTIL_FULL: the log has ended, and with a STOP */
	uint64_t log_lost;        /* losses that the log's status has reported so far */
	uint64_t lost_before;     /* losses of the log at the time of the last clear */
	bool flooded;             /* FLUSH: events came so fast that the stream may have been
				   * full */
	int full_step;            /* of a log that was flooded: the expected mark of the gap */
	bool may_skip;            /* and the lost events are not known */
	struct model_account read; /* of the log, counted from its beginning */
};

void model_create(struct model_stream *stream, enum model_kind kind, int policy, size_t max_data);
void model_free(struct model_stream *stream);

void model_start(struct model_stream *stream);
void model_stop(struct model_stream *stream);
void model_clear(struct model_stream *stream);
void model_set_filter(struct model_stream *stream, const struct model_set *set, int how);
/* Adds both marks of a flush by call. log_ended: model_log_ended() follows. */
void model_flush(struct model_stream *stream, bool log_ended);
/* model_finish() adds the events of a shutdown to the log; model_rewind() begins to read it. */
void model_finish(struct model_stream *stream);
void model_rewind(struct model_stream *stream);

/* Returns false if the stream does not record the event. */
bool model_event(struct model_stream *stream, unsigned type, const void *data, size_t len,
		 pid_t pid);

/* Returns whether the stream has restarted automatically and has not reported it yet. */
bool model_start_is_due(const struct model_stream *stream);

/*
 * UNTIL_FULL: the stream has stopped automatically, and the last event was lost. LOOP: it has
 * overwritten events.
 */
void model_filled(struct model_stream *stream);

/* The first unread item is delivered, or overwritten. */
void model_read(struct model_stream *stream);
void model_overwritten(struct model_stream *stream);

/* No unread item remains. */
void model_emptied(struct model_stream *stream);

/* A log of policy UNTIL_FULL is full, and the stream is stopped. */
void model_log_ended(struct model_stream *stream);

/* Adds count events to the column at an offset in a line. A negative count removes events. */
#define MODEL_COLUMN(name) offsetof(struct posix_trace_ledger_np, name)
#define MODEL_LOST(cause)  MODEL_COLUMN(lost[POSIX_TRACE_LOST_##cause##_NP])
void model_count(struct model_account *account, unsigned type, pid_t pid, size_t column, int count);

#endif
