/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/model.h - what the specification says of streams, as plainly as it can be written: a list of
 * what is to be read, a status, a filter. It knows nothing of how the library does it.
 *
 * Where the specification leaves a choice (how many events fit, when room is free again), the model
 * is told what was seen, and only says what then must follow.
 */
#ifndef PTX_TESTS_FUZZ_MODEL_H
#define PTX_TESTS_FUZZ_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define MODEL_TYPES   80   /* event types that take part are below it */
#define MODEL_ITEMS  30000 /* of a stream's list; an input makes no more */
#define MODEL_DATA    64   /* bytes of a user event, at most */
#define MODEL_THREADS 256  /* nobody, and one of each process */

enum model_kind { MODEL_NONE, MODEL_LIVE, MODEL_LOGGED, MODEL_STORED };

struct model_set {
	bool member[MODEL_TYPES];
};

struct model_item {
	unsigned type;
	size_t len;
	unsigned char data[MODEL_DATA]; /* of a user event; an int of a STOP */
	struct model_set set[2];        /* of START and FILTER */
	bool truncated;
	pid_t pid;                      /* SYSEV-05; 0: the system's own */
	bool own;                       /* told, not stored: it counts when it was told (CH-31) */
	bool floats;                    /* a START, perhaps before what stands before it */
	bool gap;                       /* from here on some may be overwritten, but not told so */
	bool silent_overflow, silent_resume;
};

/*
 * Called = reported + unread + lost, of all, of each type and of each process, which has one
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
	bool auto_stopped; /* full, and it will start again by itself, */
	bool held;         /* but not if stopped by call meanwhile */
	bool start_due;    /* it has: a START stands before the next event */
	bool overwritten;  /* LOOP: from next on some items are gone */
	bool full_known;   /* full_status can be told */
	bool full;
	bool overrun_known, overrun;
	struct model_set filter;
	struct model_item *item;
	size_t items, next; /* next: the first one that was not read; with log: flushed */
	struct model_account account;

	/* With log. What was flushed counts as reported, until the log tells what became of it. */
	bool uncertain;
	bool log_fills;           /* it is small */
	bool log_full, log_stop;  /* UNTIL_FULL: it has ended, and with a STOP */
	uint64_t log_lost;        /* that the log's status told by now */
	uint64_t lost_before;     /* and what it had lost when it was cleared */
	bool flooded;             /* FLUSH: so many came fast that it may have been full */
	int full_step;            /* of the log: where it tells that, */
	bool may_skip;            /* and what was lost is not known */
	struct model_account read; /* of the log, from its beginning */
};

void model_create(struct model_stream *stream, enum model_kind kind, int policy, size_t max_data);
void model_free(struct model_stream *stream);

void model_start(struct model_stream *stream);
void model_stop(struct model_stream *stream);
void model_clear(struct model_stream *stream);
void model_set_filter(struct model_stream *stream, const struct model_set *set, int how);
/* Both marks of a flush by call; log_ended: model_log_ended() follows. */
void model_flush(struct model_stream *stream, bool log_ended);
/* What shutdown adds to the log, and that it is read from its beginning. */
void model_finish(struct model_stream *stream);
void model_rewind(struct model_stream *stream);

/* false: the stream does not record it. */
bool model_event(struct model_stream *stream, unsigned type, const void *data, size_t len,
		 pid_t pid);

/* It goes on by itself, and that is not told yet. */
bool model_start_is_due(const struct model_stream *stream);

/* UNTIL_FULL: it has stopped by itself, the last event was lost. LOOP: it has gone round. */
void model_filled(struct model_stream *stream);

/* The first one that was not read is delivered, or overwritten. */
void model_read(struct model_stream *stream);
void model_overwritten(struct model_stream *stream);

/* There is nothing more to be read. */
void model_emptied(struct model_stream *stream);

/* A log of policy UNTIL_FULL takes no more, and the stream is stopped. */
void model_log_ended(struct model_stream *stream);

/* One event more in a column, that is at an offset in a line; a negative count takes it back. */
#define MODEL_COLUMN(name) offsetof(struct posix_trace_ledger_np, name)
#define MODEL_LOST(cause)  MODEL_COLUMN(lost[POSIX_TRACE_LOST_##cause##_NP])
void model_count(struct model_account *account, unsigned type, pid_t pid, size_t column, int count);

#endif
