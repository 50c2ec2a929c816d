/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_compress.c: compressed logs are read, resumed, checked and damaged like other logs,
 * and a process without libzstd refuses them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/zstd.h"
#include "log/read_scan.h"
#include "log/write_encode.h"
#include "unit/log/heir.h"

#define EVENTS 20000u
#define EVERY  1500u

bool __wrap_ptx_zstd_load(void);
bool __real_ptx_zstd_load(void);

static bool zstd_is_missing;

/* If a test requests it, the library behaves as on a machine without libzstd. */
bool __wrap_ptx_zstd_load(void)
{
	return !zstd_is_missing && __real_ptx_zstd_load();
}

static void compress_logs(void)
{
	setenv("PTX_LEVEL", "1", 1);
}

static const struct ptx_log_header *header_of(const uint8_t *bytes)
{
	return (const void *)bytes;
}

/* Calls `fn` for each block of a sequence. */
static void each_block(int fd, void (*fn)(const struct ptx_log_found *found, void *arg), void *arg)
{
	struct ptx_log_window window;
	struct ptx_log_found found;
	struct ptx_log_header header;
	uint64_t at = PTX_LOG_HEADER_BYTES;
	const char *why;

	ck_assert_int_eq(ptx_log_window_open(&window, fd), 0);
	memcpy(&header, ptx_log_window_at(&window, 0, sizeof(header)), sizeof(header));
	while (ptx_log_find(&window, at, UINT64_MAX, header.log_id, &found, &why) == PTX_LOG_GOOD) {
		fn(&found, arg);
		at = found.end;
	}
	ptx_log_window_close(&window);
}

struct census {
	unsigned blocks[PTX_LOG_TYPES], compressed[PTX_LOG_TYPES];
};

static void count_block(const struct ptx_log_found *found, void *arg)
{
	struct census *census = arg;

	census->blocks[found->block.type]++;
	census->compressed[found->block.type] += found->form.frame_bytes > 0;
}

static size_t size_with(const char *level, uint32_t policy, struct census *census)
{
	int fd = sample_file();
	struct ptx_log_header header;
	struct ptx_stored *stored;
	uint8_t *bytes;
	size_t size;

	setenv("PTX_LEVEL", level, 1);
	sample_make(fd, policy, 4 << 20, 24, EVENTS, EVERY);
	sample_prove(fd);
	ck_assert_uint_eq(sample_read_file(fd, 0, 24), EVENTS);
	stored = sample_open(fd, false);
	ck_assert_int_eq(ptx_stored_facts(stored)->attr.log_compression,
			 policy == POSIX_TRACE_LOOP ? 0 : atoi(level));
	ptx_stored_seek(stored, SAMPLE_TIME(EVENTS / 2));
	ck_assert_uint_eq(sample_read(stored, EVENTS / 2, 24), EVENTS / 2);
	ptx_stored_close(stored);
	bytes = sample_bytes(fd, &size);
	memcpy(&header, header_of(bytes), sizeof(header));
	ck_assert_uint_eq(header.version_minor, policy == POSIX_TRACE_LOOP ? 2 : 3);
	ck_assert_uint_eq(header.flags_incompatible,
			  policy == POSIX_TRACE_LOOP ? 0 : PTX_LOG_COMPRESSED_LOG);
	memset(census, 0, sizeof(*census));
	each_block(fd, count_block, census);
	free(bytes);
	close(fd);
	return size;
}

START_TEST(each_block_is_compressed_for_itself)
{
	static const char *const levels[] = { "-20", "-1", "1", "19" };
	struct census census, none;
	int fd = sample_file();
	size_t size, plain;

	unsetenv("PTX_LEVEL");
	sample_make(fd, POSIX_TRACE_APPEND, 0, 24, EVENTS, EVERY);
	memset(&none, 0, sizeof(none));
	each_block(fd, count_block, &none);
	free(sample_bytes(fd, &plain));
	for (unsigned i = 0; i < 4; i++) {
		size = size_with(levels[i], i % 2 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_APPEND,
				 &census);
		ck_assert_uint_lt(size, plain);
		/* both logs have the same blocks, in the same numbers */
		ck_assert_mem_eq(census.blocks, none.blocks, sizeof(census.blocks));
		ck_assert_uint_gt(census.compressed[PTX_LOG_DATA], 10);
		ck_assert_uint_eq(census.compressed[PTX_LOG_DATA], census.blocks[PTX_LOG_DATA]);
		ck_assert_uint_gt(census.compressed[PTX_LOG_NAMES], 0);
		ck_assert_uint_eq(census.compressed[PTX_LOG_END], 0);
		ck_assert_uint_eq(none.compressed[PTX_LOG_DATA], 0);
	}
	/* Slots have a fixed size. */
	size_with("3", POSIX_TRACE_LOOP, &census);
	close(fd);
}
END_TEST

/* Appends events with random data, whose blocks do not become smaller by compression. */
START_TEST(a_block_that_does_not_get_shorter_is_stored_as_it_is)
{
	int fd = sample_file();
	uint8_t data[4096];
	struct census census = { .blocks = { 0 } };
	struct ptx_log_event event;
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	unsigned n = 0;

	compress_logs();
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, sizeof(data)), 0);
	for (unsigned i = 0; i < 50; i++) {
		sample_event(i, 0, &event, data);
		ck_assert_int_eq(getrandom(data, sizeof(data), 0), sizeof(data));
		event.data = data;
		event.len_flags = sizeof(data);
		while (ptx_log_append(sample.log, &event) == PTX_LOG_APPEND_WRITE_FIRST)
			sample_write(&sample);
	}
	sample_write(&sample);
	sample.ledger.total.called = sample.ledger.total.reported = 50;
	ck_assert_int_eq(sample_end(&sample), 0);
	each_block(fd, count_block, &census);
	ck_assert_uint_eq(census.compressed[PTX_LOG_DATA], 0);
	stored = sample_open(fd, false);
	while (ptx_stored_next(stored, &got))
		ck_assert_uint_eq(ptx_record_len(got.record->len_flags), (n++, sizeof(data)));
	ck_assert_uint_eq(n, 50);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* EXIT-01 */
START_TEST(a_resumed_log_stays_compressed)
{
	struct census census = { .blocks = { 0 } };
	struct sample sample;
	int fd;

	compress_logs();
	fd = heir_killed(POSIX_TRACE_APPEND, 500);
	unsetenv("PTX_LEVEL"); /* the heir gets the level from the file */
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	ck_assert_uint_eq(sample.events, 500);
	heir_go_on_to(&sample, fd, 900);
	each_block(fd, count_block, &census);
	ck_assert_uint_eq(census.compressed[PTX_LOG_DATA], census.blocks[PTX_LOG_DATA]);
	close(fd);
}
END_TEST

static void remember_reason(void *arg, const struct posix_trace_fault_np *fault)
{
	char *reason = arg;

	if (!*reason)
		snprintf(reason, 200, "%llu %s", (unsigned long long)fault->offset, fault->reason);
}

/* Returns the first fault of a log as "OFFSET REASON", or "" if there is none. */
static const char *reason_of(int fd)
{
	static char reason[200];
	struct posix_trace_check_np result;

	reason[0] = '\0';
	ptx_check_log(fd, remember_reason, reason, &result);
	return reason;
}

/* Without libzstd a compressed log cannot be read, and it never appears to be damaged. */
START_TEST(without_libzstd_a_compressed_log_is_refused_and_left_alone)
{
	int fd, whole = sample_file();
	struct ptx_stored *stored;
	uint8_t *before, *after;
	struct sample sample;
	size_t was, is;

	compress_logs();
	fd = heir_killed(POSIX_TRACE_APPEND, 500);
	sample_make(whole, POSIX_TRACE_APPEND, 0, 24, EVENTS, EVERY);
	before = sample_bytes(fd, &was);
	zstd_is_missing = true;
	ck_assert_int_eq(ptx_stored_open(whole, false, &stored), ENOTSUP);
	ck_assert_int_eq(ptx_stored_open(whole, true, &stored), ENOTSUP);
	ck_assert_ptr_eq(strstr(reason_of(whole), ptx_zstd_why_missing()), reason_of(whole) + 2);
	/* If the guardian regarded the blocks as damaged, it would truncate the log. */
	ck_assert_int_eq(heir_resume(&sample, fd), ENOTSUP);
	after = sample_bytes(fd, &is);
	ck_assert_uint_eq(was, is);
	ck_assert_mem_eq(before, after, was);
	/* A new log is made without compression. */
	close(fd);
	fd = sample_file();
	sample_make(fd, POSIX_TRACE_APPEND, 0, 24, EVENTS, EVERY);
	sample_prove(fd);
	ck_assert_uint_eq(sample_read_file(fd, 0, 24), EVENTS);
	free(before);
	free(after);
	close(fd);
	close(whole);
}
END_TEST

START_TEST(an_unknown_incompatible_flag_is_refused)
{
	int fd = sample_file();
	struct ptx_log_header header;
	struct ptx_stored *stored;

	compress_logs();
	sample_make(fd, POSIX_TRACE_APPEND, 0, 24, 100, 50);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
	header.flags_incompatible |= 1;
	ptx_log_seal_header(&header);
	ck_assert_int_eq(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	ck_assert_int_eq(ptx_stored_open(fd, false, &stored), EINVAL);
	ck_assert_str_eq(reason_of(fd), "0 the log uses a feature that this version does not know");
	close(fd);
}
END_TEST

/* A block's header, its additional part for compression, and the bytes behind it in the file. */
struct forged {
	struct ptx_log_block block;
	struct ptx_log_compressed more;
	uint8_t payload[65536];
};

static void whole_most(struct forged *f)
{
	f->more.whole_bytes = UINT32_MAX & ~7u;
}

static void whole_more(struct forged *f)
{
	f->more.whole_bytes += 8;
}

static void whole_less(struct forged *f)
{
	f->more.whole_bytes -= 8;
}

static void whole_none(struct forged *f)
{
	f->more.whole_bytes = 0;
}

static void whole_odd(struct forged *f)
{
	f->more.whole_bytes += 4;
}

static void frame_most(struct forged *f)
{
	f->more.frame_bytes = UINT32_MAX;
}

static void frame_none(struct forged *f)
{
	f->more.frame_bytes = 0;
}

static void frame_less(struct forged *f)
{
	f->more.frame_bytes -= 8;
}

static void frame_other(struct forged *f)
{
	memset(f->payload, 0x5a, f->more.frame_bytes);
}

static void frame_shorter(struct forged *f)
{
	/* The last byte of the frame counts as padding now. */
	f->more.frame_bytes -= 1;
	f->payload[f->more.frame_bytes] = 0;
}

static void padding_used(struct forged *f)
{
	f->payload[f->block.payload_bytes - 1] = 1;
}

static void flag_missing(struct forged *f)
{
	f->block.flags = 0;
}

static void records_more(struct forged *f)
{
	f->block.record_bytes = UINT32_MAX & ~7u;
}

static void records_other(struct forged *f)
{
	f->block.records++;
}

/* Each forgery changes the first compressed DATA block. The check must report this reason. */
static const struct {
	void (*forge)(struct forged *f);
	const char *reason;
	bool has_padding; /* needs a block with padding */
} forgeries[] = {
	{ whole_most, "the length of a compressed block's payload is impossible", false },
	{ whole_more, "a block cannot be decompressed", false },
	{ whole_less, "a block cannot be decompressed", false },
	{ whole_none, "a block cannot be decompressed", false },
	{ whole_odd, "the length of a compressed block's payload is impossible", false },
	{ frame_most, "the compressed length of a block is impossible", false },
	{ frame_none, "the compressed length of a block is impossible", false },
	{ frame_less, "the compressed length of a block is impossible", false },
	{ frame_other, "a block cannot be decompressed", false },
	{ frame_shorter, "a block cannot be decompressed", true },
	{ padding_used, "a block's padding is not zero", true },
	{ flag_missing, "", false },
	{ records_more, "the length of a block's records is impossible", false },
	{ records_other, "an event runs past its block", false },
};

static void find_compressed(const struct ptx_log_found *found, void *arg)
{
	struct ptx_log_found *want = arg;

	if (!want->offset && found->block.type == PTX_LOG_DATA && found->form.frame_bytes &&
	    (found->form.stored_bytes > found->form.frame_bytes + 1 || !want->end))
		*want = *found;
}

/* The checksums of the block are right, so only the checks of the values can find the forgery. */
START_TEST(a_forged_block_is_refused_with_a_reason)
{
	struct ptx_log_found want = { .end = forgeries[_i].has_padding };
	static struct forged forged;
	struct ptx_stored *stored;
	int fd = sample_file();
	char reason[200];
	uint64_t events;
	size_t bytes;

	compress_logs();
	sample_make(fd, POSIX_TRACE_APPEND, 0, 24, EVENTS, EVERY);
	each_block(fd, find_compressed, &want);
	ck_assert_uint_ge(want.offset, PTX_LOG_HEADER_BYTES);
	bytes = PTX_LOG_COMPRESSED_HEADER + want.form.stored_bytes;
	ck_assert_int_eq(pread(fd, &forged, bytes, (off_t)want.offset), (ssize_t)bytes);
	forgeries[_i].forge(&forged);
	ptx_log_seal_longer_block(&forged.block, PTX_LOG_COMPRESSED_HEADER,
				  want.form.stored_bytes);
	ck_assert_int_eq(pwrite(fd, &forged, bytes, (off_t)want.offset), (ssize_t)bytes);
	snprintf(reason, sizeof(reason), "%llu %s", (unsigned long long)want.offset,
		 forgeries[_i].reason);
	if (*forgeries[_i].reason)
		ck_assert_str_eq(reason_of(fd), reason);
	else
		ck_assert_str_ne(reason_of(fd), "");
	/* Salvage reads everything else. */
	stored = sample_open(fd, true);
	for (events = 0; ptx_stored_next(stored, &(struct ptx_stored_event){ .gap = false });)
		events++;
	ck_assert_uint_eq(events, EVENTS - want.block.records);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* A block may be compressed only if the header says so: older readers rely on the header. */
START_TEST(a_compressed_block_needs_the_flag_of_the_header)
{
	int fd = sample_file();
	struct ptx_log_header header;

	compress_logs();
	sample_make(fd, POSIX_TRACE_APPEND, 0, 24, 100, 50);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
	header.flags_incompatible = 0;
	ptx_log_seal_header(&header);
	ck_assert_int_eq(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	ck_assert_ptr_nonnull(
		strstr(reason_of(fd), "a block is compressed, but the header does not say so"));
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log compress", &tc);

	/* Without libzstd in the build there is nothing to test. */
	if (!__real_ptx_zstd_load())
		return suite;
	tcase_add_test(tc, each_block_is_compressed_for_itself);
	tcase_add_test(tc, a_block_that_does_not_get_shorter_is_stored_as_it_is);
	tcase_add_test(tc, a_resumed_log_stays_compressed);
	tcase_add_test(tc, without_libzstd_a_compressed_log_is_refused_and_left_alone);
	tcase_add_test(tc, an_unknown_incompatible_flag_is_refused);
	tcase_add_loop_test(tc, a_forged_block_is_refused_with_a_reason, 0,
			    sizeof(forgeries) / sizeof(forgeries[0]));
	tcase_add_test(tc, a_compressed_block_needs_the_flag_of_the_header);
	return suite;
}

SUITE_MAIN_OF(build)
