/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/cursor/changed.h"

#include <string.h>
#include <unistd.h>

#include "log/read_scan.h"

const uint32_t changed_policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
				      POSIX_TRACE_LOOP };

uint8_t *changed_log(uint32_t policy, size_t *size)
{
	int fd = sample_file();
	uint8_t *bytes;

	/* A LOOP log overwrites its oldest events. The other logs have all events. */
	sample_make_frozen(fd, policy, policy == POSIX_TRACE_LOOP ? 8192 : 100000, 24,
			   CHANGED_EVENTS, 20);
	bytes = sample_bytes(fd, size);
	close(fd);
	return bytes;
}

unsigned changed_read(struct ptx_stored *stored)
{
	struct ptx_stored_event got;
	int64_t before = -1;
	unsigned n = 0;

	for (; ptx_stored_next(stored, &got); n++) {
		struct ptx_log_event want;
		uint8_t data[32];
		int64_t i = ((int64_t)got.record->time - SAMPLE_TIME(0)) / 1000;

		if (i <= before || i >= CHANGED_EVENTS)
			ck_abort_msg("event %lld after %lld", (long long)i, (long long)before);
		sample_event((uint64_t)i, 24, &want, data);
		if (got.record->len_flags != want.len_flags || got.record->type != want.type ||
		    got.tid != want.tid ||
		    memcmp(got.record + 1, data, ptx_record_len(want.len_flags)))
			ck_abort_msg("event %lld is not what it was", (long long)i);
		before = i;
	}
	return n;
}

/* Reads the log in every way, and reads the bytes of the events, too. */
static uint64_t touch(struct ptx_stored *stored)
{
	struct posix_trace_loginfo_np info;
	struct ptx_stored_event got;
	uint64_t sum = 0;

	ptx_stored_info(stored, &info);
	sum += ptx_stored_ledger(stored)->total.called;
	for (size_t i = 0; i < ptx_stored_ledger(stored)->threads; i++)
		sum += ptx_stored_ledger(stored)->thread[i].tid;
	for (unsigned type = 0; type <= PTX_TYPE_MAX; type++)
		sum += ptx_stored_name(stored, type) ? strlen(ptx_stored_name(stored, type)) : 0;
	for (int pass = 0; pass < 4; pass++) {
		for (unsigned n = 0; n < 2000 && ptx_stored_next(stored, &got); n++) {
			const uint8_t *data = (const uint8_t *)(got.record + 1);

			sum += got.tid + got.thread;
			for (size_t i = 0; i < ptx_record_len(got.record->len_flags); i++)
				sum += data[i];
		}
		if (pass == 0)
			ptx_stored_rewind(stored);
		else
			ptx_stored_seek(stored, pass == 1 ? SAMPLE_TIME(300) :
						pass == 2 ? INT64_MIN : INT64_MAX);
	}
	return sum;
}

void changed_use(int fd, bool events_are_known)
{
	struct posix_trace_check_np result;
	struct ptx_stored *stored;
	unsigned whole = 0, salvaged;
	int err, salvage;

	for (salvage = 0; salvage < 2; salvage++) {
		err = ptx_stored_open(fd, salvage, &stored);
		if (err) {
			if (err != EINVAL)
				ck_abort_msg("error %d", err);
			continue;
		}
		if (events_are_known) {
			salvaged = changed_read(stored);
			if (salvage && salvaged < whole)
				ck_abort_msg("salvage gives %u, reading %u", salvaged, whole);
			whole = salvaged;
			ptx_stored_rewind(stored);
		}
		touch(stored);
		ptx_stored_close(stored);
	}
	err = ptx_check_log(fd, NULL, NULL, &result);
	if (err && err != EINVAL)
		ck_abort_msg("error %d", err);
}

size_t changed_blocks(const uint8_t *bytes, size_t size, size_t *at, size_t max)
{
	const struct ptx_log_header *header = (const void *)bytes;
	struct ptx_log_block block;
	const char *why;
	size_t count = 0;

	for (size_t i = PTX_LOG_HEADER_BYTES; i + sizeof(block) < size && count < max; i += 8)
		if (ptx_log_decode_block(bytes + i, size - i, header->log_id, &block, &why) ==
		    PTX_LOG_GOOD)
			at[count++] = i;
	return count;
}
