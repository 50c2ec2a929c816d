/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_source.h - an import of RKH's byte stream under way: what its files share. */
#ifndef POSIXTRACE_CONVERT_RKH_RKH_SOURCE_H
#define POSIXTRACE_CONVERT_RKH_RKH_SOURCE_H

#include "convert/format.h"
#include "convert/rkh/rkh.h"

/* Frames that are missing and not told yet. */
struct rkh_missing {
	uint64_t frames, damaged;
	bool has_interval;
	int64_t begin_ns, end_ns;
};

/* Of the stream so far: since its configuration. */
struct rkh_account {
	bool any, last;      /* there was one, the last of all */
	uint64_t received;   /* events */
	uint64_t lost;       /* of those that were sent */
	uint64_t sent;       /* as the last account says */
	uint64_t at_sender[POSIX_TRACE_LOST_CAUSES_NP]; /* were lost before */
};

/* A schema that comes in pieces. */
struct rkh_schema_text {
	uint32_t number, total;
	size_t len;
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
};

struct rkh_source {
	struct fmt_flow *flow;
	struct rkh_decoder decoder;
	struct rkh_names *names;
	struct rkh_filter *filter; /* NULL: all are wanted */
	bool lines;          /* the sink wants the listing, and nothing else */
	struct rkh_text text;
	bool begun, stopped, too_many;

	const struct fmt_type *type[256]; /* by id; NULL: not yet, or it got another name */

	/* The clock: what ticks went around, in ticks, and where they stand. */
	uint64_t turns, ticks;
	int64_t time_ns;     /* of the last event */

	/* What waits for the frame after it. */
	bool has_config;
	unsigned char config[RKH_TCFG_BYTES];
	bool has_gap;
	uint64_t gap_frames, gap_damaged;
	struct rkh_missing missing;
	struct rkh_account account;
	bool wants_accounts; /* the sender is one that sends them */

	/* Our own dialect: what its records say of the events behind them. */
	int64_t epoch_ns;
	uint32_t pid;
	uint64_t thread, address;
	unsigned char *data; /* room for a frame */
	struct rkh_schema_text schema;
};

int rkh_import(struct fmt_flow *flow, struct fmt_input *input);

/* The decoder, opened as the options say; else it has said why not. */
int rkh_source_open(struct rkh_source *source);

/* An event of a type that has this number in event lists; a gap that waits is told before it. */
bool rkh_source_event(struct rkh_source *source, const struct fmt_event *event);

/* A name that there is no room for is told once. */
void rkh_source_named(struct rkh_source *source, int err);

/*
 * rkh_ledger.c. Each false: stop. A gap before an event of that time; the end of a stream; and a
 * frame of an event whose type has that name (NULL: not known) and whose items stand at at: is it
 * an account?
 */
bool rkh_ledger_gap(struct rkh_source *source, uint64_t frames, uint64_t damaged, int64_t end_ns);
bool rkh_ledger_end(struct rkh_source *source);
bool rkh_ledger_account(struct rkh_source *source, const struct rkh_frame *frame, size_t at,
			const char *name, bool *is_one);

/* rkh_schema.c: whether that is a piece of a schema; then it has been taken. */
bool rkh_source_schema(struct rkh_source *source, const struct rkh_frame *frame, size_t at,
		       const char *name);

/* A frame of a user event in our own dialect. */
bool rkh_ptx_frame(struct rkh_source *source, const struct rkh_frame *frame);

/* The time of a frame in our own dialect. */
int64_t rkh_ptx_time(const struct rkh_source *source, const struct rkh_frame *frame);

#endif
