/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/: each byte of a small log is changed in turn. A check and a reader agree on whether the
 * log is damaged, and neither misses a changed byte of the header or of a valid block.
 *
 * Each run changes the same bytes of the same logs: the logs of golden/, and a log with the frozen
 * origin.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cursor/stored_private.h"
#include "unit/log/hex.h"
#include "unit/log/sample.h"

/* Between blocks, only every 67th byte is changed, because these bytes are alike. */
#define STRIDE ((size_t)67)

struct subject {
	const char *name;
	uint8_t *bytes;
	bool *counts; /* for each byte: whether it belongs to the header or to a valid block */
	size_t size;
	int fd;
};

struct judgement {
	bool opened;
	bool damaged;
};

static void note_block(struct subject *subject, struct ptx_stored *stored, uint64_t at)
{
	struct ptx_log_found found;
	const char *why;

	ck_assert_int_eq(ptx_log_find(&stored->window, at, UINT64_MAX, stored->header.log_id,
				      &found, &why), PTX_LOG_GOOD);
	memset(subject->counts + at, true, (size_t)(found.end - at));
}

/* Notes the valid blocks. In slots, only the blocks that the reader delivers count. */
static void note_blocks(struct subject *subject, struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t slots = ptx_stored_is_sequence(stored) ? UINT64_MAX : h->slots_offset;
	uint64_t tail = stored->tops ? stored->top[0].offset : stored->tail;
	uint64_t at = PTX_LOG_HEADER_BYTES;
	struct ptx_log_found found;

	memset(subject->counts, true, PTX_LOG_HEADER_BYTES);
	for (; ptx_log_resync(&stored->window, at, UINT64_MAX, h->log_id, &found); at = found.end)
		if (found.offset < slots || (stored->complete && found.offset >= tail))
			note_block(subject, stored, found.offset);
	for (size_t i = 0; i < stored->slots; i++)
		note_block(subject, stored, stored->slot[i].offset);
}

static void begin(struct subject *subject, int fd, const char *name)
{
	struct ptx_stored *stored = sample_open(fd, true);

	subject->name = name;
	subject->fd = fd;
	subject->bytes = sample_bytes(fd, &subject->size);
	subject->counts = calloc(subject->size, sizeof(*subject->counts));
	ck_assert_ptr_nonnull(subject->counts);
	ck_assert_uint_eq(sample_faults(fd, true), 0);
	note_blocks(subject, stored);
	ptx_stored_close(stored);
}

static void end(struct subject *subject)
{
	free(subject->counts);
	free(subject->bytes);
	close(subject->fd);
}

static struct judgement judge_by_check(const struct subject *subject)
{
	struct posix_trace_check_np result;
	int err = ptx_check_log(subject->fd, NULL, NULL, &result);

	ck_assert(err == 0 || err == EINVAL);
	return (struct judgement){ !err, err || result.faults };
}

/* Reads all events, as a program with the library does. */
static struct judgement judge_by_reading(const struct subject *subject)
{
	struct judgement judgement = { true, false };
	struct posix_trace_loginfo_np info;
	struct ptx_stored_event event;
	struct ptx_stored *stored;
	uint64_t events = 0;

	if (ptx_stored_open(subject->fd, true, &stored))
		return (struct judgement){ false, true };
	while (ptx_stored_next(stored, &event))
		events++;
	ptx_stored_info(stored, &info);
	judgement.damaged = !info.complete || ptx_stored_damaged_parts(stored) ||
			    events != ptx_stored_ledger(stored)->total.reported;
	ptx_stored_close(stored);
	return judgement;
}

static void try_byte(const struct subject *subject, size_t at, uint8_t byte)
{
	struct judgement checked, read;

	if (byte == subject->bytes[at])
		return;
	ck_assert_int_eq(pwrite(subject->fd, &byte, 1, (off_t)at), 1);
	checked = judge_by_check(subject);
	read = judge_by_reading(subject);
	ck_assert_int_eq(pwrite(subject->fd, &subject->bytes[at], 1, (off_t)at), 1);
	if (checked.opened != read.opened || checked.damaged != read.damaged)
		ck_abort_msg("%s: byte %zu, from %02x to %02x: a check says %s, a reader %s",
			     subject->name, at, subject->bytes[at], byte,
			     checked.damaged ? "damaged" : "sound",
			     read.damaged ? "damaged" : "sound");
	if (subject->counts[at] && !checked.damaged)
		ck_abort_msg("%s: byte %zu, from %02x to %02x: it is called sound",
			     subject->name, at, subject->bytes[at], byte);
}

static void try_all(const struct subject *subject)
{
	for (size_t at = 0; at < subject->size; at++) {
		const uint8_t byte = subject->bytes[at];

		if (!subject->counts[at] && at % STRIDE)
			continue;
		try_byte(subject, at, byte ^ 1);
		try_byte(subject, at, byte ^ 0x80);
		try_byte(subject, at, 0);
		try_byte(subject, at, 0xff);
	}
}

/* LOG-11, OPEN-08 */
START_TEST(each_byte_of_a_completed_log)
{
	static const char *const names[] = { "golden/1.2/append.hex", "golden/1.2/until_full.hex",
					     "golden/1.2/loop.hex" };
	struct subject subject;
	size_t size;
	uint8_t *bytes = hex_read(names[_i], &size);

	begin(&subject, sample_file_of(bytes, size), names[_i]);
	free(bytes);
	try_all(&subject);
	end(&subject);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor every byte", &tc);

	tcase_set_timeout(tc, 1800);
	tcase_add_loop_test(tc, each_byte_of_a_completed_log, 0, 3);
	return suite;
}

SUITE_MAIN_OF(build)
