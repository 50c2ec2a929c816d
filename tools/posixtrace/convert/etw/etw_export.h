/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_export.h - the state of an export to a log of ETW. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_EXPORT_H
#define POSIXTRACE_CONVERT_ETW_ETW_EXPORT_H

#include "convert/etw/etw_sink.h"
#include "convert/etw/etw_write.h"

/* The class and type of an event type in ETW. */
struct etw_class {
	uint32_t id;
	unsigned type, level;
	unsigned char guid[ETW_GUID_BYTES];
};

struct etw_sink {
	struct fmt_flow *flow;
	const struct fmt_output *output;
	struct fmt_facts facts;
	char session[TRACE_NAME_MAX + 1];
	bool plain, filetime;
	struct out spool;       /* the events, each behind a struct spooled */
	uint64_t events;
	int64_t first_ns, last_ns;
	void *wide;             /* a tree of the threads that wide_id() has numbered */
	uint32_t wide_threads;
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];
	struct etw_writer writer;
	uint64_t piece_at;      /* offset in the spool, while it is read */
	size_t piece_len, piece_used;
	unsigned char piece[65536];

	/* the log was imported from ETW, so the sink writes its original records */
	bool rewrite;
	unsigned char *log_record;
	size_t log_record_bytes;
	uint64_t foreign;
};

struct spooled {
	int64_t time_ns;
	uint64_t thread, address;
	uint64_t len;
	uint32_t type;          /* index of the type */
	uint32_t pid, tid;
	int32_t truncation;
};

/*
 * Returns the classes of all event types, in the order of the types' indexes. Returns NULL if
 * memory is lacking. The caller frees the array.
 */
struct etw_class *etw_classes(const struct fmt_flow *flow);

/*
 * These functions write the records about the log itself. etw_registry_begin() writes the records
 * before the events, etw_registry_end() the records behind them.
 */
int etw_registry_begin(struct etw_sink *sink, const struct etw_class *classes, int64_t stamp);
int etw_registry_end(struct etw_sink *sink, const struct fmt_end *end, int64_t stamp);

/*
 * Returns whether the sink writes the original records of a log that was imported from ETW. This is
 * so if the first event has the header of that log; the function then uses this header.
 */
bool etw_rewrite_wants(struct etw_sink *sink, const struct fmt_event *event);
int etw_rewrite_event(struct etw_sink *sink, const struct fmt_event *event);
int etw_rewrite_end(struct etw_sink *sink);

#endif
