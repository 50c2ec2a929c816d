/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count.c - what was read of a stream, against what the target did and what the ledger says.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "steps.h"

#define COLUMNS (sizeof(struct posix_trace_ledger_np) / sizeof(uint64_t))
#define WAIT_MOST_S 60
#define HELD_BACK_MOST_MS 20000

char complaint[400];

void complain(const char *format, ...)
{
	va_list list;

	if (complaint[0])
		return;
	va_start(list, format);
	vsnprintf(complaint, sizeof(complaint), format, list);
	va_end(list);
}

static int maker_of(trace_event_id_t id)
{
	for (int i = 0; i < MAIN_TYPES; i++)
		if (id == share->main_type[i])
			return MAIN;
	for (int i = HANDLER; i < MAKERS; i++)
		if (id == share->maker_type[i])
			return i;
	return MAKERS;
}

static void check_event(struct count *count, const struct posix_trace_event_info *info,
			const unsigned char *data, size_t len)
{
	int maker = maker_of(info->posix_event_id);
	unsigned char expected[8192];
	uint32_t head[2];

	count->read_all++;
	if (maker == MAKERS)
		return;
	count->read[maker]++;
	if (maker == MAIN && info->posix_pid != count->pid)
		return; /* a child ended the same call */
	if (len > count->max_data ||
	    (info->posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD && len != count->max_data))
		complain("an event has %zu bytes of at most %zu", len, count->max_data);
	if (len < sizeof(head))
		return;
	memcpy(head, data, sizeof(head));
	target_payload(expected, len, (enum maker)maker, head[1]);
	if (head[0] != (uint32_t)maker || memcmp(data, expected, len) != 0)
		complain("an event of maker %d, number %u, is not whole", maker, head[1]);
	if (head[1] < count->next[maker])
		complain("an event of maker %d, number %u, comes after number %" PRIu64, maker,
			 head[1], count->next[maker]);
	if (head[1] >= atomic_load(&share->made[maker]))
		complain("an event of maker %d, number %u, was never made", maker, head[1]);
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
		err = posix_trace_getnext_event(count->trid, &info, data, sizeof(data), &len, &none);
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

static uint64_t lost(const struct posix_trace_ledger_np *line)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		sum += line->lost[cause];
	return sum;
}

static void check_line(const char *what, uint64_t which, const struct posix_trace_ledger_np *line)
{
	if (line->called != line->reported + line->unread + lost(line))
		complain("%s %" PRIu64 ": called %" PRIu64 ", reported %" PRIu64 ", unread %" PRIu64
			 ", lost %" PRIu64, what, which, line->called, line->reported, line->unread,
			 lost(line));
	if (line->unread)
		complain("%s %" PRIu64 ": unread %" PRIu64 " when all was read", what, which,
			 line->unread);
	if (line->lost[POSIX_TRACE_LOST_DAMAGED_NP])
		complain("%s %" PRIu64 ": damaged %" PRIu64, what, which,
			 line->lost[POSIX_TRACE_LOST_DAMAGED_NP]);
}

static void add(struct posix_trace_ledger_np *sum, const struct posix_trace_ledger_np *line)
{
	uint64_t column[COLUMNS], other[COLUMNS];

	memcpy(column, sum, sizeof(column));
	memcpy(other, line, sizeof(other));
	for (size_t i = 0; i < COLUMNS; i++)
		column[i] += other[i];
	memcpy(sum, column, sizeof(column));
}

static void compare(const char *what, const struct posix_trace_ledger_np *total,
		    const struct posix_trace_ledger_np *sum)
{
	uint64_t expected[COLUMNS], column[COLUMNS];

	memcpy(expected, total, sizeof(expected));
	memcpy(column, sum, sizeof(column));
	for (size_t i = 0; i < COLUMNS; i++)
		if (expected[i] != column[i])
			complain("column %zu: total %" PRIu64 ", sum over %s %" PRIu64, i,
				 expected[i], what, column[i]);
}

static void check_types(struct count *count, const struct posix_trace_ledger_np *total)
{
	struct posix_trace_ledger_np line, sum, of[MAKERS + 1];
	trace_event_id_t id;
	int end, err;

	memset(&sum, 0, sizeof(sum));
	memset(of, 0, sizeof(of));
	posix_trace_eventtypelist_rewind(count->trid);
	while ((err = posix_trace_eventtypelist_getnext_id(count->trid, &id, &end)) == 0 && !end) {
		err = posix_trace_get_ledger_type_np(count->trid, id, &line);
		if (err)
			break;
		check_line("type", id, &line);
		add(&sum, &line);
		add(&of[maker_of(id)], &line);
	}
	if (err)
		complain("the ledger of a type: %s", strerror(err));
	compare("types", total, &sum);
	for (int maker = 0; maker < MAKERS; maker++) {
		if (of[maker].called < count->low[maker] || of[maker].called > count->high[maker])
			complain("maker %d: called %" PRIu64 ", made %" PRIu64 " to %" PRIu64, maker,
				 of[maker].called, count->low[maker], count->high[maker]);
		if (of[maker].reported != count->read[maker])
			complain("maker %d: reported %" PRIu64 ", read %" PRIu64, maker,
				 of[maker].reported, count->read[maker]);
	}
}

static void check_threads(struct count *count, const struct posix_trace_ledger_np *total)
{
	struct posix_trace_ledger_np line, sum;
	struct posix_trace_thread_np thread;
	int end, err;

	memset(&sum, 0, sizeof(sum));
	for (size_t i = 0;; i++) {
		err = posix_trace_get_ledger_thread_np(count->trid, i, &thread, &line, &end);
		if (err || end)
			break;
		check_line("thread", (uint64_t)thread.tid, &line);
		add(&sum, &line);
	}
	if (err)
		complain("the ledger of a thread: %s", strerror(err));
	compare("threads", total, &sum);
}

static void check_ledger(struct count *count)
{
	struct posix_trace_ledger_np total;
	int err = posix_trace_get_ledger_np(count->trid, &total);

	if (err) {
		complain("the ledger: %s", strerror(err));
		return;
	}
	check_line("total", 0, &total);
	if (total.reported != count->read_all)
		complain("reported %" PRIu64 ", read %" PRIu64, total.reported, count->read_all);
	check_types(count, &total);
	check_threads(count, &total);
	if (!count->may_lose && lost(&total))
		complain("lost %" PRIu64 " where nothing need be", lost(&total));
	for (int maker = 0; maker < MAKERS && count->whole_suffix; maker++)
		if (count->hole[maker])
			complain("what is left of a LOOP stream has a hole of maker %d", maker);
}

/*
 * A writer that is gone within its window, or was led there and stopped, holds back what is younger:
 * until its death is known, or for a fifth of a second.
 */
static bool is_held_back(struct count *count)
{
	struct posix_trace_ledger_np total;

	return !count->stored && !complaint[0] &&
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
	check_ledger(count);
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
