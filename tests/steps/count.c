/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count.c - compares the events read from a stream with those of the target.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "steps.h"

#define WAIT_MOST_S 60
#define HELD_BACK_MOST_MS 20000
#define SPAN_MOST_NS UINT64_C(3600000000000)

void complain(const char *format, ...)
{
	va_list list;

	if (share->complaint[0])
		return;
	va_start(list, format);
	vsnprintf(share->complaint, sizeof(share->complaint), format, list);
	va_end(list);
}

/* Checks the duration in front of the other data. Returns false if the event lacks a part of it. */
static bool check_span(const unsigned char *data, size_t len)
{
	uint64_t span;

	if (len < sizeof(span))
		return false;
	memcpy(&span, data, sizeof(span));
	if (span == 0 || span > SPAN_MOST_NS)
		complain("an event has a duration of %" PRIu64 " ns", span);
	return true;
}

static void check_event(struct count *count, const struct posix_trace_event_info *info,
			const unsigned char *data, size_t len)
{
	unsigned type = account_type(info->posix_event_id);
	enum maker maker = type < MAIN_TYPES ? MAIN : (enum maker)(type - MAIN_TYPES + 1);
	unsigned char expected[8192];
	uint32_t head[2];

	count->read_all++;
	if (type == TYPES)
		return;
	count->read[type]++;
	if (maker == MAIN && info->posix_pid != count->pid)
		return; /* a child completed the same call */
	if (len > count->max_data ||
	    (info->posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD &&
	     len != count->max_data))
		complain("an event has %zu bytes of at most %zu", len, count->max_data);
	if (maker == MAIN && count->since) {
		if (!check_span(data, len))
			return;
		data += sizeof(uint64_t);
		len -= sizeof(uint64_t);
	}
	if (len < sizeof(head))
		return;
	memcpy(head, data, sizeof(head));
	target_payload(expected, len, maker, head[1]);
	if (head[0] != (uint32_t)maker || target_type(maker, head[1]) != type ||
	    memcmp(data, expected, len) != 0)
		complain("an event of maker %u, number %u, is not whole", (unsigned)maker, head[1]);
	if (head[1] < count->next[maker])
		complain("an event of maker %u, number %u, comes after number %" PRIu64, maker,
			 head[1], count->next[maker]);
	if (head[1] >= atomic_load(&share->number[maker]))
		complain("an event of maker %u, number %u, was never made", maker, head[1]);
	if (count->next[maker] == 0)
		count->first[maker] = head[1];
	else if (head[1] != count->next[maker])
		count->hole[maker] = true;
	count->next[maker] = (uint64_t)head[1] + 1;
}

static bool take(struct count *count, bool wait)
{
	struct posix_trace_event_info info;
	unsigned char data[8192];
	struct timespec until;
	size_t len;
	int none, err;

	if (wait) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += WAIT_MOST_S;
		err = posix_trace_timedgetnext_event(count->trid, &info, data, sizeof(data), &len,
						     &none, &until);
	} else if (count->stored) {
		err = posix_trace_getnext_event(count->trid, &info, data, sizeof(data), &len,
						&none);
	} else {
		err = posix_trace_trygetnext_event(count->trid, &info, data, sizeof(data), &len,
						   &none);
	}
	if (err) {
		complain("reading: %s", strerror(err));
		return false;
	}
	if (none)
		return false;
	check_event(count, &info, data, len);
	return true;
}

bool count_read(struct count *count)
{
	return take(count, false);
}

bool count_wait(struct count *count)
{
	return take(count, true);
}

/*
 * A writer that died or was stopped inside its window holds back younger events: until its death is
 * known, or for a fifth of a second.
 */
static bool is_held_back(struct count *count)
{
	struct posix_trace_ledger_np total;

	return !count->stored && !share->complaint[0] &&
	       posix_trace_get_ledger_np(count->trid, &total) == 0 && total.unread;
}

void count_close(struct count *count)
{
	const struct timespec nap = { 0, 1000000 };
	unsigned naps = 0;

	do {
		while (count_read(count))
			;
	} while (is_held_back(count) && naps++ < HELD_BACK_MOST_MS && nanosleep(&nap, NULL) == 0);
	account_close(count);
}

static void tell(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	complain("the log, at %" PRIu64 ": %s", fault->offset, fault->reason);
}

void count_log(struct count *count)
{
	struct posix_trace_check_np result;
	int err = posix_trace_check_np(count->fd, tell, NULL, &result);

	if (err || !result.complete) {
		complain("the log is %s", err ? strerror(err) : "not complete");
		return;
	}
	err = posix_trace_open(count->fd, &count->trid);
	if (err) {
		complain("opening the log: %s", strerror(err));
		return;
	}
	count->stored = true;
	count_close(count);
	posix_trace_close(count->trid);
}
