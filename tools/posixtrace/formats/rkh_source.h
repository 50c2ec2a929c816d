/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_source.h - an import of RKH's byte stream under way: what its files share. */
#ifndef POSIXTRACE_FORMATS_RKH_SOURCE_H
#define POSIXTRACE_FORMATS_RKH_SOURCE_H

#include "formats/format.h"
#include "formats/rkh.h"

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
	uint64_t missing, damaged;

	/* Our own dialect: what its records say of the events behind them. */
	int64_t epoch_ns;
	uint32_t pid;
	uint64_t thread, address;
	unsigned char *data; /* room for a frame */
};

int rkh_import(struct fmt_flow *flow, struct fmt_input *input);

/* The decoder, opened as the options say; else it has said why not. */
int rkh_source_open(struct rkh_source *source);

/* An event of a type that has this number in event lists; a gap that waits is told before it. */
bool rkh_source_event(struct rkh_source *source, const struct fmt_event *event);

/* A name that there is no room for is told once. */
void rkh_source_named(struct rkh_source *source, int err);

/* A frame of a user event in our own dialect. */
bool rkh_ptx_frame(struct rkh_source *source, const struct rkh_frame *frame);

/* The time of a frame in our own dialect. */
int64_t rkh_ptx_time(const struct rkh_source *source, const struct rkh_frame *frame);

#endif
