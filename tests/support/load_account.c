/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/load_account.h"

#include <string.h>
#include <unistd.h>

#include "support/payload.h"
#include "support/stream.h"

#define SLOP_NS 1000000 /* tolerance for the conversion between the clocks */
#define TYPES   1024

typedef unsigned long long llu;

void account_init(struct account *account, int policy, const struct maker *maker, int makers)
{
	memset(account, 0, sizeof(*account));
	account->policy = policy;
	account->maker = maker;
	account->makers = makers;
	for (int i = 0; i < makers; i++)
		account->next_epoch[i] = 1; /* the epoch that the first START begins */
}

/* Adds a system event to the account. A system event that reports a gap begins a new epoch. */
static void enter_mark(struct account *account, const struct posix_trace_event_info *info)
{
	switch (info->posix_event_id) {
	case POSIX_TRACE_START:
		if (account->running)
			ck_abort_msg("a START while running");
		account->running = 1;
		account->epoch++;
		break;
	case POSIX_TRACE_STOP:
		if (!account->running)
			ck_abort_msg("a STOP while stopped");
		account->running = 0;
		break;
	case POSIX_TRACE_OVERFLOW:
		if (account->marks)
			ck_abort_msg("two OVERFLOWs without a RESUME");
		if (account->policy == POSIX_TRACE_UNTIL_FULL)
			ck_abort_msg("an OVERFLOW with UNTIL_FULL");
		account->running = account->policy == POSIX_TRACE_LOOP;
		account->marks = 1;
		account->epoch++;
		break;
	case POSIX_TRACE_RESUME:
		if (!account->marks)
			ck_abort_msg("a RESUME without an OVERFLOW");
		account->marks = 0;
		account->epoch++;
		break;
	case POSIX_TRACE_FLUSH_START:
	case POSIX_TRACE_FLUSH_STOP:
		break;
	default:
		ck_abort_msg("an event of type %u", info->posix_event_id);
	}
}

static void enter_event(struct account *account, const struct posix_trace_event_info *info,
			const void *data, size_t len)
{
	int64_t time = nanoseconds(&info->posix_timestamp);
	const struct maker *maker;
	uint64_t sequence;
	uint32_t who;

	if (!payload_read(data, len, &who, &sequence) || who >= (uint32_t)account->makers)
		ck_abort_msg("a torn event of type %u", info->posix_event_id);
	maker = &account->maker[who];
	if (info->posix_event_id != maker->type)
		ck_abort_msg("maker %u's event has type %u", who, info->posix_event_id);
	if (!pthread_equal(info->posix_thread_id, maker->thread) || info->posix_pid != getpid())
		ck_abort_msg("maker %u's event names another thread", who);
	if (!account->running || account->marks)
		ck_abort_msg("an event where the stream says that there is none");
	if (sequence < account->next[who])
		ck_abort_msg("maker %u's event %llu comes after %llu", who, (llu)sequence,
			     (llu)account->next[who] - 1);
	if (sequence > account->next[who] && account->epoch == account->next_epoch[who])
		ck_abort_msg("maker %u's events %llu to %llu are missing without a report",
			     who, (llu)account->next[who], (llu)sequence - 1);
	if (time < account->last_time)
		ck_abort_msg("maker %u's event %llu is %lld ns older than the event before it", who,
			     (llu)sequence, (long long)(account->last_time - time));
	if (!account->first_time)
		account->first_time = time;
	if (!account->read[who])
		account->first[who] = sequence;
	account->last_time = time;
	account->read[who]++;
	account->next[who] = sequence + 1;
	account->next_epoch[who] = account->epoch;
}

int account_read_one(struct account *account, trace_id_t trid, account_call *call)
{
	struct posix_trace_event_info info;
	unsigned char data[2 * sizeof(trace_event_set_t)];
	int unavailable, err;
	size_t len;

	err = call(trid, &info, data, sizeof(data), &len, &unavailable);
	if (err)
		ck_abort_msg("reading failed with error %d", err);
	if (unavailable)
		return 0;
	if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		enter_mark(account, &info);
	else
		enter_event(account, &info, data, len);
	return 1;
}

static uint64_t sum_of(const struct posix_trace_ledger_np *line)
{
	uint64_t sum = line->reported + line->unread;

	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		sum += line->lost[i];
	return sum;
}

/* Asserts that called = reported + unread + lost in the line, that no event is unread, and that all
 * losses have the only cause that is possible with the stream's policy. */
static void assert_line(const struct account *account, const char *what, unsigned int which,
			const struct posix_trace_ledger_np *line)
{
	int cause = account->policy == POSIX_TRACE_LOOP ? POSIX_TRACE_LOST_OVERWRITTEN_NP
							: POSIX_TRACE_LOST_STREAM_FULL_NP;

	if (line->called != sum_of(line))
		ck_abort_msg("%s %u: called %llu, accounted for %llu", what, which,
			     (llu)line->called, (llu)sum_of(line));
	if (line->unread)
		ck_abort_msg("%s %u: %llu unread after all was read", what, which,
			     (llu)line->unread);
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (line->lost[i] && i != cause)
			ck_abort_msg("%s %u: %llu lost by '%s'", what, which, (llu)line->lost[i],
				     posix_trace_lost_name_np(i));
}

static void assert_made_and_read(const char *what, unsigned int which,
				 const struct posix_trace_ledger_np *line, uint64_t made,
				 uint64_t read)
{
	if (line->called != made || line->reported != read)
		ck_abort_msg("%s %u: the ledger has %llu called and %llu reported, "
			     "%llu were made and %llu read", what, which, (llu)line->called,
			     (llu)line->reported, (llu)made, (llu)read);
}

static void assert_types(const struct account *account, trace_id_t trid, uint64_t called)
{
	uint64_t sum = 0;

	for (trace_event_id_t id = 1; id < TYPES; id++) {
		struct posix_trace_ledger_np line;
		uint64_t made = 0, read = 0;
		int err = posix_trace_get_ledger_type_np(trid, id, &line);

		if (err == EINVAL)
			continue; /* the stream has no such type */
		ck_assert_int_eq(err, 0);
		assert_line(account, "type", id, &line);
		sum += line.called;
		for (int i = 0; i < account->makers; i++) {
			made += account->maker[i].type == id ? account->maker[i].made : 0;
			read += account->maker[i].type == id ? account->read[i] : 0;
		}
		if (id >= POSIX_TRACE_UNNAMED_USEREVENT)
			assert_made_and_read("type", id, &line, made, read);
	}
	ck_assert_uint_eq(sum, called);
}

static void assert_threads(const struct account *account, trace_id_t trid, uint64_t called)
{
	struct posix_trace_ledger_np by_thread[ACCOUNT_MAKERS / 2];
	uint64_t sum = 0;

	memset(by_thread, 0, sizeof(by_thread));
	for (size_t index = 0;; index++) {
		struct posix_trace_ledger_np line;
		struct posix_trace_thread_np thread;
		int unavailable;

		OK(posix_trace_get_ledger_thread_np(trid, index, &thread, &line, &unavailable));
		if (unavailable)
			break;
		assert_line(account, "thread", (unsigned int)thread.tid, &line);
		sum += line.called;
		for (int i = 0; i < account->makers; i += 2) {
			if (thread.tid != account->maker[i].tid)
				continue;
			ck_assert_int_eq(thread.pid, getpid());
			ck_assert(pthread_equal(thread.thread, account->maker[i].thread));
			by_thread[i / 2].called += line.called;
			by_thread[i / 2].reported += line.reported;
		}
	}
	for (int i = 0; i < account->makers; i += 2)
		assert_made_and_read("thread", (unsigned int)account->maker[i].tid,
				     &by_thread[i / 2],
				     account->maker[i].made + account->maker[i + 1].made,
				     account->read[i] + account->read[i + 1]);
	ck_assert_uint_eq(sum, called);
}

void account_assert_closed(const struct account *account, trace_id_t trid)
{
	struct posix_trace_ledger_np total;

	OK(posix_trace_get_ledger_np(trid, &total));
	assert_line(account, "total", 0, &total);
	assert_types(account, trid, total.called);
	assert_threads(account, trid, total.called);
}

void account_assert_suffix(const struct account *account)
{
	for (int i = 0; i < account->makers; i++) {
		const struct maker *maker = &account->maker[i];
		uint64_t lost = account->read[i] ? account->first[i] : maker->made;

		if (account->read[i] &&
		    (account->next[i] != maker->made ||
		     account->read[i] != maker->made - account->first[i]))
			ck_abort_msg("maker %d's events read are not its last ones", i);
		if (lost && maker->before[lost - 1] > account->first_time + SLOP_NS)
			ck_abort_msg("maker %d's event %llu is lost, %lld ns younger than the "
				     "oldest one read", i, (llu)lost - 1,
				     (long long)(maker->before[lost - 1] - account->first_time));
	}
}
