/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/calls.h"

void compare_set(const struct model_set *set, const void *data)
{
	trace_event_set_t given;

	memcpy(&given, data, sizeof(given));
	for (unsigned type = 1; type < MODEL_TYPES; type++) {
		int member = -1;

		if (posix_trace_eventset_ismember(type, &given, &member) == 0)
			FUZZ_MUST(!member == !set->member[type], "type %u in a set: %d", type,
				  member);
	}
}

static void compare(const struct model_item *item, const struct posix_trace_event_info *info,
		    const unsigned char *data, size_t len, size_t room)
{
	size_t due = item->len < room ? item->len : room;
	int truncation = item->len > room ? POSIX_TRACE_TRUNCATED_READ : /* TRUNC-03 */
			 item->truncated  ? POSIX_TRACE_TRUNCATED_RECORD :
					    POSIX_TRACE_NOT_TRUNCATED;

	FUZZ_MUST(info->posix_event_id == item->type, "an event of type %u, expected is %u",
		  (unsigned)info->posix_event_id, item->type);
	FUZZ_MUST(len == due, "%zu bytes of type %u, expected are %zu", len, item->type, due);
	FUZZ_MUST(info->posix_truncation_status == truncation, "truncation %d, expected is %d",
		  info->posix_truncation_status, truncation);
	FUZZ_MUST(info->posix_timestamp.tv_nsec >= 0 && info->posix_timestamp.tv_nsec < 1000000000,
		  "no time");
	FUZZ_MUST(info->posix_pid == item->pid, "an event of process %d, expected is %d",
		  (int)info->posix_pid, (int)item->pid);
	if (item->pid == getpid() || item->pid == 0)
		FUZZ_MUST(pthread_equal(info->posix_thread_id, item->pid ? pthread_self() : 0),
			  "another thread");
	if (item->type < POSIX_TRACE_UNNAMED_USEREVENT && item->type != POSIX_TRACE_STOP) {
		if (item->type == POSIX_TRACE_START && len == item->len)
			compare_set(&item->set[0], data);
		if (item->type == POSIX_TRACE_FILTER && len == item->len) {
			compare_set(&item->set[0], data);
			compare_set(&item->set[1], data + sizeof(trace_event_set_t));
		}
		return;
	}
	if (item->type == POSIX_TRACE_STOP && item->data[0] && len)
		FUZZ_MUST(data[0], "an automatic stop as one by call");
	else
		FUZZ_MUST(memcmp(data, item->data, due) == 0, "other data of type %u", item->type);
}

struct read got;

bool is_item(const struct model_item *item)
{
	return item->type == got.info.posix_event_id && item->len == got.len &&
	       (item->type < POSIX_TRACE_UNNAMED_USEREVENT ||
		memcmp(item->data, got.data, got.len) == 0);
}

bool get(unsigned s, size_t room)
{
	const unsigned char mark = 0xa5;

	memset(got.data, mark, sizeof(got.data));
	got.len = 4711;
	if (model[s].kind == MODEL_STORED)
		SAYS(0, posix_trace_getnext_event(trid[s], &got.info, got.data, room, &got.len,
						  &got.unavailable));
	else
		SAYS(0, posix_trace_trygetnext_event(trid[s], &got.info, got.data, room, &got.len,
						     &got.unavailable));
	for (size_t i = got.unavailable ? 0 : got.len; i < sizeof(got.data); i++) /* TRUNC-07 */
		FUZZ_MUST(got.data[i] == mark, "byte %zu was written, of %zu", i, got.len);
	if (!got.unavailable && model[s].kind == MODEL_STORED)
		model_count(&model[s].read, got.info.posix_event_id % MODEL_TYPES,
			    got.info.posix_pid, MODEL_COLUMN(reported), 1);
	return !got.unavailable;
}

static void count_told(struct model_stream *m)
{
	if (m->kind != MODEL_LIVE)
		return;
	model_count(&m->account, got.info.posix_event_id, 0, MODEL_COLUMN(called), 1);
	model_count(&m->account, got.info.posix_event_id, 0, MODEL_COLUMN(reported), 1);
}

/* SLOOP-05 to SLOOP-07; the marks obey the filter. */
void skip_overwritten(unsigned s, size_t room, bool overflow, bool resume)
{
	struct model_stream *m = &model[s];

	if (overflow) {
		FUZZ_MUST(got.info.posix_event_id == POSIX_TRACE_OVERFLOW && got.len == 0,
			  "no OVERFLOW but type %u", (unsigned)got.info.posix_event_id);
		count_told(m);
		FUZZ_MUST(get(s, room), "nothing behind OVERFLOW");
	}
	if (resume) {
		FUZZ_MUST(got.info.posix_event_id == POSIX_TRACE_RESUME && got.len == 0,
			  "no RESUME but type %u", (unsigned)got.info.posix_event_id);
		count_told(m);
		FUZZ_MUST(get(s, room), "nothing behind RESUME");
	}
	while (m->next < m->items && !is_item(&m->item[m->next])) {
		if (m->kind == MODEL_LIVE)
			model_overwritten(m);
		else
			m->next++;
	}
	FUZZ_MUST(m->next < m->items, "a remaining event was never recorded");
}

/* Waits for an event that does not appear, until a time in the past. */
static void wait_in_vain(unsigned s, size_t room)
{
	struct timespec gone;

	if (model[s].kind != MODEL_LIVE)
		return;
	clock_gettime(CLOCK_REALTIME, &gone);
	gone.tv_sec--;
	SAYS(ETIMEDOUT, posix_trace_timedgetnext_event(trid[s], &got.info, got.data, room, &got.len,
						       &got.unavailable, &gone));
}

/* Returns false at the end. */
static bool read_one(unsigned s, size_t room)
{
	struct model_stream *m = &model[s];

	if (!get(s, room)) {
		wait_in_vain(s, room);
		if (m->kind == MODEL_STORED)
			end_of_log(s);
		FUZZ_MUST(m->next == m->items && !m->overwritten, "nothing, but %zu are due",
			  m->items - m->next);
		return false;
	}
	if (m->kind == MODEL_STORED && !find_in_log(s))
		return true;
	if (m->overwritten && m->kind == MODEL_LIVE) {
		m->overwritten = false;
		skip_overwritten(s, room, !m->filter.member[POSIX_TRACE_OVERFLOW],
				 !m->filter.member[POSIX_TRACE_RESUME]);
	}
	if (m->kind == MODEL_STORED && m->next < m->items && m->item[m->next].gap)
		skip_overwritten(s, room, !m->item[m->next].silent_overflow,
				 !m->item[m->next].silent_resume);
	if (m->next == m->items && m->start_due && got.info.posix_event_id == POSIX_TRACE_START) {
		m->start_due = false; /* the START of its restart may be before an event */
		count_told(m);
		return true;
	}
	FUZZ_MUST(m->next < m->items, "type %u, but nothing is due",
		  (unsigned)got.info.posix_event_id);
	compare(&m->item[m->next], &got.info, got.data, got.len, room);
	if (m->kind == MODEL_LIVE)
		model_read(m);
	else
		m->next++;
	return true;
}

void read_some(unsigned s, unsigned most, size_t room)
{
	struct model_stream *m = &model[s];
	bool all = m->auto_stopped || m->overwritten; /* the specification does not say when space
						       * is free again */

	if (m->kind != MODEL_LIVE && m->kind != MODEL_STORED) {
		SAYS(EINVAL, posix_trace_trygetnext_event(trid[s], &got.info, got.data, room,
							  &got.len, &got.unavailable));
		return;
	}
	if (m->kind == MODEL_STORED)
		SAYS(EINVAL, posix_trace_trygetnext_event(trid[s], &got.info, got.data, room,
							  &got.len, &got.unavailable));
	if (all || m->uncertain)
		room = sizeof(got.data);
	while (all || most--)
		if (!read_one(s, room)) {
			if (m->kind == MODEL_LIVE)
				model_emptied(m);
			return;
		}
}
