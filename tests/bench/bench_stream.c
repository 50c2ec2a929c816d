/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "bench_stream.h"

trace_event_id_t bench_type(const char *name)
{
	trace_event_id_t id;
	int err = posix_trace_eventid_open(name, &id);

	if (err)
		bench_die("posix_trace_eventid_open", err);
	return id;
}

static trace_id_t create_stream(int policy, size_t size_bytes, size_t data_bytes, int level,
				int log_fd)
{
	trace_attr_t attr;
	trace_id_t trid;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, size_bytes);
	if (data_bytes)
		posix_trace_attr_setmaxdatasize(&attr, data_bytes);
	posix_trace_attr_setstreamfullpolicy(&attr, policy);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	err = level ? posix_trace_attr_setlogcompression_np(&attr, level) : 0;
	if (err)
		bench_die("a compressed log", err);
	err = log_fd < 0 ? posix_trace_create(0, &attr, &trid) :
			   posix_trace_create_withlog(0, &attr, log_fd, &trid);
	posix_trace_attr_destroy(&attr);
	if (err)
		bench_die("creating a stream", err);
	return trid;
}

trace_id_t bench_stream(int policy, size_t size_bytes, int log_fd)
{
	return create_stream(policy, size_bytes, 0, 0, log_fd);
}

trace_id_t bench_stream_of(int policy, size_t size_bytes, size_t data_bytes, int log_fd)
{
	return create_stream(policy, size_bytes, data_bytes, 0, log_fd);
}

trace_id_t bench_stream_compressed(int policy, size_t size_bytes, int level, int log_fd)
{
	return create_stream(policy, size_bytes, 0, level, log_fd);
}

uint64_t bench_lost(const struct posix_trace_ledger_np *ledger)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		sum += ledger->lost[cause];
	return sum;
}

static bool closes(const struct posix_trace_ledger_np *ledger, const char *what)
{
	uint64_t sum = ledger->reported + ledger->unread + bench_lost(ledger);

	if (sum != ledger->called)
		fprintf(stderr, "%s: called %" PRIu64 ", accounted for %" PRIu64 "\n", what,
			ledger->called, sum);
	return sum == ledger->called;
}

bool bench_law(trace_id_t trid, trace_event_id_t type, uint64_t called)
{
	struct posix_trace_ledger_np total, line;
	bool law;
	int err = posix_trace_get_ledger_np(trid, &total);

	if (!err)
		err = posix_trace_get_ledger_type_np(trid, type, &line);
	if (err)
		bench_die("reading the ledger", err);
	law = closes(&total, "total");
	law &= closes(&line, "type");
	if (line.called != called) {
		fprintf(stderr, "the loop counted %" PRIu64 ", the ledger %" PRIu64 "\n", called,
			line.called);
		law = false;
	}
	return law;
}
