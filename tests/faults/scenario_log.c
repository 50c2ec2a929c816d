/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls with logs as programs make them: written with a stream, read, composed. */
#include <errno.h>
#include <string.h>

#include "faults/fault.h"
#include "faults/play.h"

int read_log(int fd, trace_event_id_t id, struct posix_trace_ledger_np *ledger)
{
	struct posix_trace_event_info info;
	int unavailable = 0, before = -1, number;
	unsigned char data[DATA];
	int found = 0;
	trace_id_t trid;
	size_t len;

	if (STEP(posix_trace_open(fd, &trid)))
		return 0;
	for (int n = 0; n < 3 * EVENTS && !unavailable; n++) {
		errno = 4711;
		if (posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
					      &unavailable)) {
			wrong("an event of the log cannot be read");
			break;
		}
		if (unavailable || info.posix_event_id != id)
			continue;
		memcpy(&number, data, sizeof(number));
		if (number <= before)
			wrong("in the log: event %d after %d", number, before);
		before = number;
		found++;
	}
	memset(ledger, 0, sizeof(*ledger));
	STEP(posix_trace_get_ledger_type_np(trid, id, ledger));
	STEP(posix_trace_close(trid));
	return found;
}

/*
 * Events that a flush could not write remained in the stream, and events that cannot be read now
 * can be read later. So each event is in the log, except those that a thread lost because it had no
 * memory for its first event.
 */
static void read_whole_log(int fd, trace_event_id_t id, uint64_t due)
{
	struct posix_trace_ledger_np ledger;
	int found = read_log(fd, id, &ledger);

	if ((uint64_t)found != due) {
		fault_disarm();
		found = read_log(fd, id, &ledger);
	}
	if (ledger.called != due || ledger.reported != (uint64_t)found ||
	    found + ledger.lost[POSIX_TRACE_LOST_NO_MEMORY_NP] != due)
		wrong("%d of %llu events are in the log, its account has %llu", found,
		      (unsigned long long)due, (unsigned long long)ledger.reported);
}

static void play_log(int policy, int log_policy)
{
	struct posix_trace_ledger_np ledger;
	struct traced traced;

	if (!begin(&traced, policy, log_policy, true, EVENTS / 3))
		return;
	if (policy != POSIX_TRACE_FLUSH)
		account(traced.trid, traced.id, traced.called);
	STEP(posix_trace_stop(traced.trid));
	if (STEP(posix_trace_shutdown(traced.trid)))
		read_log(file, traced.id, &ledger);
	else
		read_whole_log(file, traced.id, traced.called);
}

void play_log_append(void)
{
	play_log(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND);
}

void play_log_loop(void)
{
	play_log(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP);
}

void play_log_flusher(void)
{
	play_log(POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL);
}

static void tell_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	wrong("the log at %llu: %s", (unsigned long long)fault->offset, fault->reason);
}

void play_compose(void)
{
	struct posix_trace_event_np event = {
		.info = { .posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED },
		.data = "data", .data_len = 4,
	};
	struct posix_trace_composer_np *composer;
	struct posix_trace_check_np check;
	trace_event_id_t id = 0;

	if (STEP(posix_trace_compose_np(an_empty_file(), NULL, NULL, &composer)))
		return;
	if (STEP(posix_trace_compose_name_np(composer, "composed", &id)) == 0) {
		event.info.posix_event_id = id;
		STEP(posix_trace_compose_schema_np(composer, id, "u32 a"));
		STEP(posix_trace_compose_event_np(composer, &event));
		STEP(posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_DAMAGED_NP, 1, id,
						 NULL));
	}
	if (STEP(posix_trace_compose_finish_np(composer, NULL)) == 0 &&
	    STEP(posix_trace_check_np(file, NULL, NULL, &check)) == 0 && check.faults)
		posix_trace_check_np(file, tell_fault, NULL, &check);
}
