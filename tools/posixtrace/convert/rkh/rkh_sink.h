/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_sink.h - the state and functions that the files of the sink "rkh" share. */
#ifndef POSIXTRACE_CONVERT_RKH_RKH_SINK_H
#define POSIXTRACE_CONVERT_RKH_RKH_SINK_H

#include "convert/format.h"

struct rkh_writer {
	struct out *out;
	unsigned char sum, number;
	/*
	 * number of bytes of this frame, and of the longest frame so far; both without escape bytes
	 */
	size_t len, longest;
};

/*
 * These functions write a frame. rkh_write_begin() writes the id, the next sequence number and the
 * time. rkh_write_bytes() writes bytes, rkh_write_number() a number of 1 to 8 bytes in little
 * endian, and rkh_write_item() an item, which begins with its type. rkh_write_end() writes the
 * checksum and the flag. Bytes that could be mistaken for a flag are escaped. out.h has the
 * handling of errors.
 */
void rkh_write_begin(struct rkh_writer *writer, unsigned id, uint32_t ticks);
void rkh_write_bytes(struct rkh_writer *writer, const void *bytes, size_t len);
void rkh_write_number(struct rkh_writer *writer, uint64_t value, unsigned bytes);
void rkh_write_item(struct rkh_writer *writer, unsigned type, uint64_t value);
void rkh_write_end(struct rkh_writer *writer);

/*
 * The type of an account, which is an event. Its items are: whether the account is the last, the
 * number of events that were sent before the account, and the losses at the sender by cause.
 */
#define RKH_ACCOUNT       "posixtrace.account"
#define RKH_ACCOUNT_LAST  1u

/* The type of the events that have the schemas of other types (rkh_schema.c). */
#define RKH_SCHEMA        "posixtrace.schema"

struct rkh_sink {
	struct fmt_flow *flow;
	struct rkh_writer writer;
	bool has_context;          /* true: the sink writes contexts */
	/* readers have the present context, or no context was needed yet */
	bool is_context_known;
	bool *named;               /* for each type: whether readers have the name */
	uint32_t *numbers;
	size_t types, used;
	bool schemas;              /* true: the sink writes schemas */
	bool has_schema;           /* the type RKH_SCHEMA has a number */
	bool is_schema_named;      /* readers have the name of RKH_SCHEMA */
	uint32_t schema;
	bool has_epoch;
	int64_t epoch_ns, last_ns;
	uint32_t pid, tid;
	uint64_t thread, address;
	/* The contents of the accounts, and the time of the last account. */
	bool accounts;
	bool account_named;
	uint32_t account;          /* the number of the type RKH_ACCOUNT */
	/* number of events sent so far, and number of events sent before the last account */
	uint64_t events, accounted;
	int64_t accounted_ns; /* time by CLOCK_MONOTONIC */
	bool has_lost;
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];
};

/* Sends the name of a type with that number. */
void rkh_sink_name(struct rkh_sink *sink, uint32_t number, const char *name, size_t len,
		   uint32_t ticks);

/* Begins the frame of an event. The caller then writes the items and ends the frame. */
void rkh_sink_begin_event(struct rkh_sink *sink, uint32_t number, uint32_t ticks);

/* Sends the schema of the type with that number. */
void rkh_sink_schema(struct rkh_sink *sink, uint32_t number, const char *schema, uint32_t ticks);

/*
 * Sends an account if it is due, or if "last" is true. After an account the sink sends names,
 * schemas, epoch and context again before the next events, for readers that connected late.
 */
void rkh_sink_account(struct rkh_sink *sink, bool last);

/*
 * The functions of struct format for the sink: rkh_sink_open() is the member open, and so on. One
 * thread calls them.
 */
int rkh_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context);
int rkh_sink_begin(void *context, const struct fmt_facts *facts);
int rkh_sink_event(void *context, const struct fmt_event *event);
int rkh_sink_lost(void *context, const struct fmt_lost *lost);
int rkh_sink_idle(void *context);
int rkh_sink_end(void *context, const struct fmt_end *end);
void rkh_sink_close(void *context);

#endif
