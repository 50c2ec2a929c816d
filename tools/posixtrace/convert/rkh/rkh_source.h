/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_source.h - the state and functions that the files of the source "rkh" share. */
#ifndef POSIXTRACE_CONVERT_RKH_RKH_SOURCE_H
#define POSIXTRACE_CONVERT_RKH_RKH_SOURCE_H

#include "convert/format.h"
#include "convert/rkh/rkh.h"

/* Missing frames that were not passed as losses yet. */
struct rkh_missing {
	uint64_t frames, damaged;
	bool has_interval;
	int64_t begin_ns, end_ns;
};

/* The counts of the stream since its configuration. */
struct rkh_account {
	bool any, last;      /* any: some account has arrived; last: the last account has arrived */
	uint64_t received;   /* events */
	uint64_t lost;       /* events that were sent and did not arrive */
	uint64_t sent;       /* number of sent events in the latest account */
	uint64_t at_sender[POSIX_TRACE_LOST_CAUSES_NP]; /* lost before they were sent */
};

/* A schema that arrives in pieces. */
struct rkh_schema_text {
	uint32_t number, total;
	size_t len;
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
};

struct rkh_source {
	struct fmt_flow *flow;
	struct rkh_decoder decoder;
	struct rkh_names *names;
	struct rkh_filter *filter; /* NULL: all records are wanted */
	bool lines;          /* the sink receives the listing and no events */
	struct rkh_text text;
	bool begun, stopped, too_many;

	const struct fmt_type *type[256]; /* the type of each id; NULL: not made yet */

	/*
	 * The clock of the stream: the sum of the overflows of its counter, and the ticks of the
	 * last frame.
	 */
	uint64_t turns, ticks;
	int64_t time_ns;     /* time of the last event */

	/* A configuration and a gap that are held back until the next frame. */
	bool has_config;
	unsigned char config[RKH_TCFG_BYTES];
	bool has_gap;
	uint64_t gap_frames, gap_damaged;
	struct rkh_missing missing;
	struct rkh_account account;
	bool wants_accounts; /* --account: the sender sends accounts */

	/* Only in the dialect of posixtrace: the epoch and the context of the following events. */
	int64_t epoch_ns;
	uint32_t pid, tid;
	uint64_t thread, address;
	unsigned char *data; /* room for a frame */
	struct rkh_schema_text schema;
};

/* The member "import" of the format. Returns a status of the tool after it printed an error. */
int rkh_import(struct fmt_flow *flow, struct fmt_input *input);

/* Opens the decoder as the options require. Returns TOOL_OK, or another status after a message. */
int rkh_source_open(struct rkh_source *source);

/* Passes an event. If a gap is held back, passes the gap before the event. */
bool rkh_source_event(struct rkh_source *source, struct fmt_event *event);

/*
 * "err" is a result of rkh_names_set(). After an error, the function reports once that a name was
 * not kept.
 */
void rkh_source_named(struct rkh_source *source, int err);

/*
 * In rkh_ledger.c. Each function returns false if the sink has stopped. rkh_ledger_gap() notes a
 * gap that ends at an event of the time end_ns. rkh_ledger_end() is called at the end of a stream.
 * If the frame is an account, rkh_ledger_account() applies the account and sets *is_one to true,
 * otherwise to false. "name" is the name of the frame's type (NULL: unknown). The items of the
 * frame begin at the offset "at".
 */
bool rkh_ledger_gap(struct rkh_source *source, uint64_t frames, uint64_t damaged, int64_t end_ns);
bool rkh_ledger_end(struct rkh_source *source);
bool rkh_ledger_account(struct rkh_source *source, const struct rkh_frame *frame, size_t at,
			const char *name, bool *is_one);

/* In rkh_schema.c: returns whether the frame is a piece of a schema. If so, keeps the piece. */
bool rkh_source_schema(struct rkh_source *source, const struct rkh_frame *frame, size_t at,
		       const char *name);

/* Handles the frame of a user event in the dialect of posixtrace. */
bool rkh_ptx_frame(struct rkh_source *source, const struct rkh_frame *frame);

/* Returns the time of a frame in the dialect of posixtrace. */
int64_t rkh_ptx_time(const struct rkh_source *source, const struct rkh_frame *frame);

#endif
