/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/model.h - what the specification says of streams, as plainly as it can be written: a list of
 * what is to be read, a status, a filter. It knows nothing of how the library does it.
 *
 * Where the specification leaves a choice (how many events fit, when room is free again), the model is
 * told what was seen, and only says what then must follow.
 */
#ifndef PTX_TESTS_FUZZ_MODEL_H
#define PTX_TESTS_FUZZ_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#define MODEL_TYPES   80   /* event types that take part are below it */
#define MODEL_ITEMS  30000 /* of a stream's list; an input makes no more */
#define MODEL_DATA    64   /* bytes of a user event, at most */

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
	pid_t pid;                      /* of a user event */
};

struct model_stream {
	enum model_kind kind;
	int policy, log_policy;
	size_t max_data;
	bool inherited;
	bool running;
	bool auto_stopped; /* full, and it will start again by itself */
	bool start_due;    /* it has: a START stands before the next event */
	bool overwritten;  /* LOOP: from next on some items are gone */
	bool full_known;   /* full_status can be told */
	bool full;
	bool overrun_known, overrun;
	struct model_set filter;
	struct model_item *item;
	size_t items, next; /* next: the first one that was not read */
};

void model_create(struct model_stream *stream, enum model_kind kind, int policy, size_t max_data);
void model_free(struct model_stream *stream);

void model_start(struct model_stream *stream);
void model_stop(struct model_stream *stream);
void model_clear(struct model_stream *stream);
void model_set_filter(struct model_stream *stream, const struct model_set *set, int how);
/* Both marks of a flush by call. */
void model_flush(struct model_stream *stream);
/* What shutdown adds to the log. */
void model_finish(struct model_stream *stream);

/* false: the stream does not record it. */
bool model_event(struct model_stream *stream, unsigned type, const void *data, size_t len, pid_t pid);

/* UNTIL_FULL: it has stopped by itself, the last event was lost. LOOP: it has gone round. */
void model_filled(struct model_stream *stream);

/* There is nothing more to be read. */
void model_emptied(struct model_stream *stream);

#endif
