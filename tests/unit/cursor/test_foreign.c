/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Logs of other machines, other versions and other limits. Their checksums are right; only their
 * contents differ from those of this machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/write_encode.h"
#include "support/log.h"

/* Makes a log with one event of a type whose name has the maximum length. */
static int log_with_name(char letter)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = { 0 };
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND);

	memset(name, letter, TRACE_EVENT_NAME_MAX);
	trace_number(type_of(name), 1);
	shut(trid);
	return fd;
}

static void say_version_2(struct ptx_log_header *header)
{
	header->version_major = 2;
}

static void say_other_byte_order(struct ptx_log_header *header)
{
	header->byte_order = __builtin_bswap64(header->byte_order);
}

static void say_32_bits(struct ptx_log_header *header)
{
	header->word_bytes = 4;
}

static void say_small_threads(struct ptx_log_header *header)
{
	header->pthread_bytes = 4;
}

static void say_small_sets(struct ptx_log_header *header)
{
	header->event_set_bytes = 72;
}

static void say_large_records(struct ptx_log_header *header)
{
	header->record_bytes = 32;
}

static void say_large_blocks(struct ptx_log_header *header)
{
	header->block_bytes += 8;
}

static void say_incompatible(struct ptx_log_header *header)
{
	header->flags_incompatible = 1;
}

static void (*const foreign[])(struct ptx_log_header *) = {
	say_version_2,	  say_other_byte_order, say_32_bits,	  say_small_threads,
	say_small_sets,	  say_large_records,	say_large_blocks, say_incompatible,
};
#define FOREIGN ((int)(sizeof(foreign) / sizeof(foreign[0])))

static void change_header(int fd, void (*change)(struct ptx_log_header *))
{
	struct ptx_log_header header;

	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), (ssize_t)sizeof(header));
	change(&header);
	ptx_log_seal_header(&header);
	ck_assert_int_eq(pwrite(fd, &header, sizeof(header), 0), (ssize_t)sizeof(header));
}

/* OPEN-03, GEN-09 */
START_TEST(a_log_of_another_machine_or_version_is_refused)
{
	int fd = log_with_name('q');
	trace_id_t trid = 4711;

	change_header(fd, foreign[_i]);
	FAILS(EINVAL, posix_trace_open(fd, &trid));
	ck_assert_uint_eq(trid, 4711);
	close(fd);
}
END_TEST

static void say_a_little_younger(struct ptx_log_header *header)
{
	header->version_minor++;
	header->flags_compatible = 1;
}

static void say_nothing(struct ptx_log_header *header)
{
	(void)header;
}

/*
 * OPEN-03: a log of the other byte order. It also proves that the test above computes the checksum
 * of a changed header correctly
 */
START_TEST(a_log_of_a_later_minor_version_is_read)
{
	int fd = log_with_name('q');

	change_header(fd, say_nothing);
	log_close(log_open(fd));
	change_header(fd, say_a_little_younger);
	log_close(log_open(fd));
	close(fd);
}
END_TEST

/*
 * Lengthens the names that begin with `letter`, in the bytes of a complete log that is a sequence.
 */
static int fill_names(unsigned char *bytes, size_t len, char letter)
{
	size_t at = PTX_LOG_HEADER_BYTES;
	int filled = 0;

	while (at + sizeof(struct ptx_log_block) <= len) {
		struct ptx_log_block *block = (struct ptx_log_block *)(void *)(bytes + at);
		struct ptx_log_name *entry = (struct ptx_log_name *)(void *)(bytes + at +
									     block->header_bytes);

		ck_assert_uint_eq(block->magic, PTX_LOG_BLOCK_MAGIC);
		if (block->type == PTX_LOG_NAMES) {
			for (uint32_t i = 0; i < block->records; i++) {
				if (entry[i].name[0] != letter)
					continue;
				memset(entry[i].name, letter, sizeof(entry[i].name));
				filled++;
			}
			ptx_log_seal_block(block, block->payload_bytes);
		}
		at += block->header_bytes + block->payload_bytes;
	}
	ck_assert_uint_eq(at, len);
	return filled;
}

/* NAMEOF-06, LOG-11: a name that fills its field has no terminating NUL */
START_TEST(a_longer_name_than_ours_overflows_nothing)
{
	int fd = log_with_name('q'), changed;
	trace_event_id_t id;
	unsigned char *bytes;
	size_t len;
	trace_id_t trid;

	bytes = log_bytes(fd, &len);
	ck_assert_int_ge(fill_names(bytes, len, 'q'), 1);
	changed = log_file_of(bytes, len);
	free(bytes);
	/* The library refuses the log, or truncates the name. */
	if (posix_trace_open(changed, &trid) == 0) {
		for (id = 1; id <= 1023; id++) {
			char name[TRACE_EVENT_NAME_MAX + 2];

			memset(name, 0x5a, sizeof(name));
			if (posix_trace_eventid_get_name(trid, id, name) == 0)
				ck_assert_uint_le(strnlen(name, sizeof(name)),
						  TRACE_EVENT_NAME_MAX);
			ck_assert_int_eq(name[TRACE_EVENT_NAME_MAX + 1], 0x5a);
		}
		log_close(trid);
	}
	close(changed);
	close(fd);
}
END_TEST

static Suite *foreign_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor: foreign logs", &tc);

	tcase_add_loop_test(tc, a_log_of_another_machine_or_version_is_refused, 0, FOREIGN);
	tcase_add_test(tc, a_log_of_a_later_minor_version_is_read);
	tcase_add_test(tc, a_longer_name_than_ours_overflows_nothing);
	return suite;
}

SUITE_MAIN_OF(foreign_suite)
