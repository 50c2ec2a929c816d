/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Damaged logs: composed logs of fixed content, cut at 200 lengths, and with 2,000 bit flips that a
 * generator of fixed seed chooses. With any damage, the library does not crash, no read is endless,
 * no event is delivered that the log did not have, and every undamaged block is read.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "support/log.h"
#include "support/payload.h"
#include "support/random.h"

#define CUTS   200
#define FLIPS  2000
#define EVENTS 3500 /* more than eight blocks */
#define HEADER 4096 /* bytes before the first block */
#define LOOP_BYTES 60000

struct sample {
	unsigned char *bytes;
	size_t len;
	int begins; /* the number of the log's first event */
	size_t events;
};

/*
 * The library takes the UUID of a log from this function, so that a log has the same bytes in each
 * run.
 */
ssize_t getrandom(void *bytes, size_t len, unsigned flags)
{
	(void)flags;
	memset(bytes, 0x5a, len);
	return (ssize_t)len;
}

/*
 * Composes a finished log in the file. All its bytes follow from the arguments, except the bytes of
 * the header that name this process, the file, the boot and the time.
 */
static trace_event_id_t compose(int fd, int log_policy)
{
	const struct posix_trace_origin_np origin = {
		.pid = 4711, .host = "host", .clock = "monotonic", .clock_hz = 1000000000,
		.creation_ns = INT64_C(1700000000000000000), .resolution_ns = 1,
		.generation = "test_log_damage",
	};
	struct posix_trace_composer_np *composer;
	struct posix_trace_event_np event = { .time_ns = origin.creation_ns };
	trace_event_id_t id = 0;
	unsigned char data[400];
	uint64_t state = 1;
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setmaxdatasize(&attr, sizeof(data)));
	OK(posix_trace_attr_setlogfullpolicy(&attr, log_policy));
	OK(posix_trace_attr_setlogsize(&attr, log_policy == POSIX_TRACE_LOOP ? LOOP_BYTES :
									      4 << 20));
	OK(posix_trace_compose_np(fd, &attr, &origin, &composer));
	OK(posix_trace_attr_destroy(&attr));
	OK(posix_trace_compose_name_np(composer, "payload", &id));
	event.info.posix_event_id = id;
	event.info.posix_pid = event.tid = origin.pid;
	event.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	event.data = data;
	for (int i = 0; i < EVENTS; i++) {
		event.data_len = random_between(&state, PAYLOAD_MIN, 300);
		payload_make(data, event.data_len, 1, (uint64_t)i);
		event.time_ns += 1000;
		OK(posix_trace_compose_event_np(composer, &event));
	}
	OK(posix_trace_compose_finish_np(composer, NULL));
	return id;
}

/* A finished log with events of many lengths, numbered from 0; LOOP logs have wrapped. */
static struct sample sample_of(int log_policy)
{
	int fd = log_file();
	trace_event_id_t id = compose(fd, log_policy);
	struct sample sample;
	struct history *history;
	uint32_t who;
	uint64_t number;

	assert_log_whole(fd);
	history = log_history(fd);
	sample.events = history_count(history, id);
	for (size_t i = 0;; i++) {
		if (history->event[i].info.posix_event_id != id)
			continue;
		ck_assert_int_eq(payload_read(history->event[i].data, history->event[i].len, &who,
					      &number),
				 1);
		sample.begins = (int)number;
		break;
	}
	history_free(history);
	sample.bytes = log_bytes(fd, &sample.len);
	close(fd);
	return sample;
}

/* The events that one read of a damaged log delivered. */
struct harvest {
	int opened;
	size_t events; /* whole user events */
	int first, last;
	int gap; /* a gap was reported since the last user event, or since the beginning */
	uint64_t damaged; /* damaged parts, as reported by the reader that skips them */
	int begins; /* required number of the first event if no gap is before it; -1: any */
};

/*
 * Every user event must belong to the log. It must follow its predecessor, unless a gap is
 * reported.
 */
static void take(struct harvest *harvest, trace_event_id_t type, const void *data, size_t len,
		 int gap)
{
	int expected = harvest->events ? harvest->last + 1 : harvest->begins;
	uint64_t number;
	uint32_t who;

	harvest->gap |= gap;
	if (type < POSIX_TRACE_UNNAMED_USEREVENT)
		return;
	if (!payload_read(data, len, &who, &number))
		ck_abort_msg("an event was delivered that is not one of the log's");
	if (expected >= 0 && (int)number < expected)
		ck_abort_msg("event %d was delivered where %d was next", (int)number, expected);
	if (expected >= 0 && (int)number > expected && !harvest->gap)
		ck_abort_msg("events from %d to %d are missing without a gap", expected,
			     (int)number - 1);
	if (!harvest->events++)
		harvest->first = (int)number;
	harvest->last = (int)number;
	harvest->gap = 0;
}

/* Makes all queries of an opened log, so that damage of any part is found. */
static void ask(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	struct posix_trace_loginfo_np info;
	struct posix_trace_ledger_np line;
	struct posix_trace_thread_np thread;
	trace_event_id_t id;
	trace_attr_t attr;
	int end = 0;

	OK(posix_trace_get_status(trid, &status));
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_get_loginfo_np(trid, &info));
	OK(posix_trace_get_ledger_np(trid, &line));
	for (size_t i = 0; i < 100000 && !end; i++)
		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &line, &end));
	end = 0;
	for (int i = 0; i < 2000 && !end; i++) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (!end)
			OK(posix_trace_eventid_get_name(trid, id, name));
	}
	ck_assert_int_ne(end, 0);
}

/* Reads the file by posix_trace_open() and posix_trace_getnext_event(). */
static struct harvest read_plainly(int fd, int begins)
{
	struct harvest harvest = { .last = -1, .begins = begins };
	struct posix_trace_event_info info;
	unsigned char data[400];
	int unavailable = 0;
	trace_id_t trid;
	size_t len;
	int err = KEEPS_ERRNO(posix_trace_open(fd, &trid));

	if (err) {
		ck_assert_int_eq(err, EINVAL);
		return harvest;
	}
	harvest.opened = 1;
	for (size_t i = 0; i < 4 * EVENTS; i++) {
		OK(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
					     &unavailable));
		if (unavailable)
			break;
		take(&harvest, info.posix_event_id, data, len, 0);
	}
	ck_assert_int_ne(unavailable, 0);
	ask(trid);
	log_close(trid);
	return harvest;
}

/* Reads the file by posix_trace_open_np() and posix_trace_getnext_np(). */
static struct harvest salvage(int fd, int begins)
{
	struct harvest harvest = { .last = -1, .begins = begins };
	struct posix_trace_event_np event;
	struct timespec when = { 0, 0 };
	int unavailable = 0;
	trace_id_t trid;
	int err = KEEPS_ERRNO(posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid));

	if (err) {
		ck_assert_int_eq(err, EINVAL);
		return harvest;
	}
	harvest.opened = 1;
	for (size_t i = 0; i < 4 * EVENTS; i++) {
		OK(posix_trace_getnext_np(trid, &event, &unavailable));
		if (unavailable)
			break;
		take(&harvest, event.info.posix_event_id, event.data, event.data_len,
		     (event.flags & POSIX_TRACE_EVENT_GAP_NP) != 0);
		when = event.info.posix_timestamp;
	}
	ck_assert_int_ne(unavailable, 0);
	OK(posix_trace_get_damage_np(trid, &harvest.damaged));
	OK(posix_trace_seek_np(trid, &when));
	OK(posix_trace_getnext_np(trid, &event, &unavailable));
	OK(posix_trace_until_np(trid, &when));
	OK(posix_trace_seek_np(trid, &when));
	OK(posix_trace_getnext_np(trid, &event, &unavailable));
	ask(trid);
	log_close(trid);
	return harvest;
}

/* The checker reads everything and reports the offset of the first fault. */
struct faults {
	size_t n, bytes;
};

static void count_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct faults *faults = arg;

	faults->n++;
	ck_assert_ptr_nonnull(fault->reason);
	ck_assert_uint_gt(strlen(fault->reason), 5);
	ck_assert_uint_le(fault->offset, faults->bytes);
}

static struct posix_trace_check_np check(int fd, int *err)
{
	struct faults faults = { 0, (size_t)log_stat(fd).st_size };
	struct posix_trace_check_np result;

	memset(&result, 0, sizeof(result));
	*err = KEEPS_ERRNO(posix_trace_check_np(fd, count_fault, &faults, &result));
	if (*err)
		ck_assert_int_eq(*err, EINVAL);
	else
		ck_assert_uint_eq(result.faults, faults.n);
	return result;
}

/* Each run composes the same bytes, so that a failure can be repeated. */
START_TEST(a_log_has_the_same_blocks_in_each_run)
{
	static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP };

	for (int p = 0; p < 2; p++) {
		struct sample one = sample_of(policies[p]), two = sample_of(policies[p]);

		ck_assert_uint_eq(one.len, two.len);
		ck_assert_int_eq(memcmp(one.bytes + HEADER, two.bytes + HEADER, one.len - HEADER),
				 0);
		free(one.bytes);
		free(two.bytes);
	}
}
END_TEST

/* OPEN-02, OPEN-08, LOG-11, LOG-16 */
START_TEST(a_log_cut_anywhere_is_read_up_to_its_last_whole_block)
{
	static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL };

	for (int p = 0; p < 2; p++) {
		struct sample sample = sample_of(policies[p]);
		struct posix_trace_check_np result;
		struct harvest plain, saved;
		size_t cut[CUTS], most = 0;
		uint64_t state = 2;
		int fd, err;

		/* Increasing lengths. More bytes must never give fewer events. */
		for (int i = 0; i < CUTS; i++)
			cut[i] = random_between(&state, 0, sample.len - 1);
		for (int i = 1; i < CUTS; i++)
			for (int k = i; k > 0 && cut[k] < cut[k - 1]; k--) {
				size_t other = cut[k];

				cut[k] = cut[k - 1];
				cut[k - 1] = other;
			}
		for (int i = 0; i < CUTS; i++) {
			fd = log_file_of(sample.bytes, cut[i]);
			plain = read_plainly(fd, 0);
			saved = salvage(fd, 0);
			result = check(fd, &err);
			ck_assert_int_eq(plain.opened, saved.opened);
			if (plain.opened) {
				/*
				 * The reader delivers the events from the first on, without a gap,
				 * up to the last complete block.
				 */
				ck_assert_uint_eq(plain.events, saved.events);
				if (plain.events)
					ck_assert_int_eq(plain.first, 0);
				ck_assert_int_eq(plain.last, (int)plain.events - 1);
				ck_assert_int_eq(log_status(fd).posix_stream_flush_error, EIO);
				ck_assert_int_eq(log_info(fd).complete, 0);
				ck_assert_int_eq(err, 0);
				ck_assert_int_eq(result.complete, 0);
				ck_assert_uint_ge(result.events, plain.events);
				ck_assert_uint_ge(plain.events, most);
				most = plain.events;
			}
			close(fd);
		}
		ck_assert_uint_gt(most, EVENTS / 2);
		free(sample.bytes);
	}
}
END_TEST

/* OPEN-02, OPEN-08, LOG-13, LOG-16 */
START_TEST(a_loop_log_cut_anywhere_gives_only_its_own_events)
{
	struct sample sample = sample_of(POSIX_TRACE_LOOP);
	uint64_t state = 3;

	ck_assert_int_gt(sample.begins, 0);
	for (int i = 0; i < CUTS; i++) {
		size_t cut = random_between(&state, 0, sample.len - 1);
		int fd = log_file_of(sample.bytes, cut), err;
		struct harvest plain = read_plainly(fd, -1), saved = salvage(fd, -1);

		check(fd, &err);
		ck_assert_uint_ge(saved.events, plain.events);
		/*
		 * If the newest blocks are cut off, older blocks may count again, within the limit.
		 */
		if (plain.opened)
			ck_assert_uint_le(log_info(fd).event_bytes, LOOP_BYTES);
		close(fd);
	}
	free(sample.bytes);
}
END_TEST

static void flip_bits(int log_policy)
{
	struct sample sample = sample_of(log_policy);
	int begins = log_policy == POSIX_TRACE_LOOP ? -1 : 0;
	size_t opened = 0, all = 0, saved_events = 0, noticed = 0;
	int fd = log_file_of(sample.bytes, sample.len);
	uint64_t state = 4;

	for (int i = 0; i < FLIPS / 2; i++) {
		size_t at = random_between(&state, 0, sample.len - 1);
		unsigned char byte = sample.bytes[at] ^
				     (unsigned char)(1u << random_next(&state) % 8);
		struct posix_trace_check_np result;
		struct harvest plain, saved;
		int err;

		ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
		plain = read_plainly(fd, begins);
		saved = salvage(fd, begins);
		result = check(fd, &err);
		ck_assert_uint_ge(saved.events, plain.events);
		if (at < HEADER) /* only damage of the magic or the version makes the file no log */
			ck_assert_uint_eq(saved.events, at < 10 ? 0 : sample.events);
		if (saved.opened) {
			opened++;
			saved_events += saved.events;
			all += sample.events;
		}
		/*
		 * A reader of all events meets each fault that the check finds, even if no event is
		 * missing.
		 */
		if (plain.opened && saved.opened && result.complete)
			ck_assert_int_eq(saved.damaged != 0, result.faults != 0);
		/* An event may be missing only if a fault explains the loss. */
		if (err || result.faults)
			noticed++;
		else
			ck_assert_uint_eq(plain.events, sample.events);
		ck_assert_int_eq(pwrite(fd, &sample.bytes[at], 1, (off_t)at), 1);
	}
	assert_log_whole(fd);
	/*
	 * A changed bit costs at most one block, and a block here is at most an eighth of the log.
	 */
	ck_assert_uint_gt(opened, FLIPS / 2 / 100 * 98);
	ck_assert_uint_gt(saved_events, all / 10 * 8);
	/*
	 * Checksums cover every byte of a sequence. They do not cover unused bytes of a LOOP log.
	 */
	if (log_policy == POSIX_TRACE_LOOP)
		ck_assert_uint_gt(noticed, FLIPS / 2 / 10);
	else
		ck_assert_uint_eq(noticed, FLIPS / 2);
	close(fd);
	free(sample.bytes);
}

/* OPEN-08, LOG-11 */
START_TEST(no_flipped_bit_in_a_sequence_passes_and_what_is_whole_is_kept)
{
	flip_bits(POSIX_TRACE_APPEND);
}
END_TEST

/* OPEN-08, LOG-11 */
START_TEST(no_flipped_bit_in_a_loop_log_hides_an_event_and_what_is_whole_is_kept)
{
	flip_bits(POSIX_TRACE_LOOP);
}
END_TEST

/* OPEN-08: many flips together, in a log of every policy */
START_TEST(a_log_full_of_damage_gives_only_its_own_events)
{
	static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP,
					POSIX_TRACE_UNTIL_FULL };

	for (int p = 0; p < 3; p++) {
		struct sample sample = sample_of(policies[p]);
		uint64_t state = 5;

		for (int i = 0; i < 100; i++) {
			unsigned char *bytes = malloc(sample.len);
			size_t flips = random_between(&state, 2, 200);
			int fd, err;

			memcpy(bytes, sample.bytes, sample.len);
			for (size_t k = 0; k < flips; k++)
				bytes[random_between(&state, HEADER, sample.len - 1)] ^=
					(unsigned char)(1u << random_next(&state) % 8);
			fd = log_file_of(bytes, sample.len);
			read_plainly(fd, p == 1 ? -1 : 0);
			salvage(fd, p == 1 ? -1 : 0);
			check(fd, &err);
			close(fd);
			free(bytes);
		}
		free(sample.bytes);
	}
}
END_TEST

SUITE_MAIN("damaged logs", a_log_has_the_same_blocks_in_each_run,
	   a_log_cut_anywhere_is_read_up_to_its_last_whole_block,
	   a_loop_log_cut_anywhere_gives_only_its_own_events,
	   no_flipped_bit_in_a_sequence_passes_and_what_is_whole_is_kept,
	   no_flipped_bit_in_a_loop_log_hides_an_event_and_what_is_whole_is_kept,
	   a_log_full_of_damage_gives_only_its_own_events)
