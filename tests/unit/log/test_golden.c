/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* golden/: the written log equals the text, byte for byte, and it can be read. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/schema.h"
#include "unit/log/hex.h"
#include "unit/log/sample.h"

#define SCHEMA "u32 n{0=none, 1=one}; bytes rest; @level 3; @begin work; @key n"

static const char *const versions[] = { "1.0", "1.1", "1.2" };
static const char *const names[] = { "append", "until_full", "loop" };

static void begin(struct sample *sample, int fd, uint32_t policy, uint64_t log_size)
{
	struct ptx_log_facts facts;

	sample_facts(&facts, policy, log_size, 12);
	sample_begin_frozen(sample, fd, &facts);
}

static void put_one(struct sample *sample, const struct ptx_log_event *event)
{
	struct ptx_ledger_line *thread =
		ptx_ledger_thread(&sample->ledger, event->pid, event->tid, event->thread);

	ck_assert_int_eq(ptx_log_append_last(sample->log, event), PTX_LOG_APPEND_DONE);
	thread->called++;
	thread->reported++;
	sample->ledger.total.called++;
	sample->ledger.total.reported++;
	sample->ledger.type[event->type].called++;
	sample->ledger.type[event->type].reported++;
}

static void describe(struct sample *sample)
{
	static const struct ptx_object object = { .kind = POSIX_TRACE_OBJECT_MUTEX_NP, .pid = 500,
						  .pointer = 0x7f0000001000,
						  .time_ns = SAMPLE_TIME(3), .name = "pool lock" };

	ck_assert_int_eq(ptx_log_schema(sample->log, 64, SCHEMA), 0);
	ck_assert_int_eq(ptx_log_object(sample->log, &object), 0);
}

static const struct ptx_mapping program = { .kind = PTX_MAPPING_FILE, .pid = 500, .start = 0x401000,
					    .end = 0x402345, .offset = 0x1000, .base = 0x400000,
					    .from_ns = SAMPLE_TIME(1), .id_bytes = 20,
					    .id = "0123456789abcdefghi", .path = "/bin/sample" };
static const struct ptx_mapping plugin = { .kind = PTX_MAPPING_FILE, .pid = 500,
					   .start = 0x7f0000002000, .end = 0x7f0000004000,
					   .base = 0x7f0000002000, .from_ns = SAMPLE_TIME(2),
					   .path = "/lib/plugin.so" };
static const struct ptx_mapping unloaded = { .kind = PTX_MAPPING_GONE, .pid = 500,
					     .start = 0x7f0000002000, .end = 0x7f0000004000,
					     .from_ns = SAMPLE_TIME(9) };
static const struct ptx_mapping descent = { .kind = PTX_MAPPING_CHILD, .pid = 600, .parent = 500,
					    .from_ns = SAMPLE_TIME(8) };

static void map(struct sample *sample)
{
	ck_assert_int_eq(ptx_log_mapping(sample->log, &program), 0);
	ck_assert_int_eq(ptx_log_mapping(sample->log, &plugin), 0);
}

static void map_more(struct sample *sample)
{
	ck_assert_int_eq(ptx_log_mapping(sample->log, &unloaded), 0);
	ck_assert_int_eq(ptx_log_mapping(sample->log, &descent), 0);
}

static void assert_mapped(const struct ptx_stored *stored)
{
	const struct ptx_mappings *list = ptx_stored_mappings(stored);
	const struct ptx_mapping *found;

	ck_assert_uint_eq(list->count, 3);
	found = ptx_mappings_find(list, 600, 0x401234, SAMPLE_TIME(20));
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->path, "/bin/sample");
	ck_assert_mem_eq(found->id, program.id, 20);
	ck_assert_uint_eq(found->base, 0x400000);
	found = ptx_mappings_find(list, 500, 0x7f0000003fff, SAMPLE_TIME(9) - 1);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found->path, "/lib/plugin.so");
	ck_assert_ptr_null(ptx_mappings_find(list, 500, 0x7f0000003fff, SAMPLE_TIME(9)));
}

static void describe_more(struct sample *sample)
{
	static const struct ptx_object child = {
		.kind = PTX_OBJECT_CHILD, .pid = 600, .pointer = 500, .time_ns = SAMPLE_TIME(8)
	};

	ck_assert_int_eq(ptx_log_schema(sample->log, 65, "u8 x"), 0);
	ck_assert_int_eq(ptx_log_object(sample->log, &child), 0);
}

/* Writes the log append.hex to `fd`. */
static void write_append(int fd)
{
	struct ptx_log_event late = { .len_flags = 3 | PTX_RECORD_LATE, .type = 63, .pid = 500,
				      .tid = 777, .thread = UINT64_C(0x7f0000000309),
				      .address = 0x401234, .time_ns = SAMPLE_TIME(2) + 500,
				      .data = "abc" };
	struct ptx_log_event bare = late, again = late;
	struct sample sample;

	bare.len_flags = 0;
	bare.time_ns = SAMPLE_TIME(6) + 500;
	again.len_flags = 3;
	again.time_ns = SAMPLE_TIME(10);

	begin(&sample, fd, POSIX_TRACE_APPEND, 0);
	sample_add(&sample, 5);
	sample_write(&sample);
	describe(&sample);
	map(&sample);
	ck_assert_int_eq(ptx_log_name(sample.log, 63, "posix_trace_unnamed_userevent"), 0);
	sample_add(&sample, 2);
	put_one(&sample, &late);
	sample_write(&sample);
	put_one(&sample, &bare); /* a packed block would be as long */
	sample_write(&sample);
	describe_more(&sample);
	map_more(&sample);
	sample_add(&sample, 3);
	put_one(&sample, &again);
	again.time_ns += 5;
	put_one(&sample, &again);
	sample.status.stream_overrun = POSIX_TRACE_OVERRUN;
	sample.ledger.total.called += 4;
	sample.ledger.total.lost[PTX_LOST_STREAM_FULL] += 4;
	sample.ledger.type[64].called += 4;
	sample.ledger.type[64].lost[PTX_LOST_STREAM_FULL] += 4;
	ptx_ledger_thread(&sample.ledger, 500, 501, UINT64_C(0x7f00000001f5))->called += 4;
	ptx_ledger_thread(&sample.ledger, 500, 501, UINT64_C(0x7f00000001f5))
		->lost[PTX_LOST_STREAM_FULL] += 4;
	ck_assert_int_eq(sample_end(&sample), 0);
}

static void write_until_full(int fd)
{
	static const int automatic = 1;
	struct ptx_log_event stop = { .len_flags = sizeof(automatic), .type = POSIX_TRACE_STOP,
				      .time_ns = SAMPLE_TIME(100), .data = &automatic };
	struct sample sample;
	int err;

	begin(&sample, fd, POSIX_TRACE_UNTIL_FULL, 400);
	ck_assert_int_eq(ptx_log_name(sample.log, POSIX_TRACE_STOP, "posix_trace_stop"), 0);
	map(&sample);
	map_more(&sample);
	ck_assert_int_eq(sample_put(&sample, 100, &err), PTX_LOG_APPEND_FULL);
	put_one(&sample, &stop);
	sample_write(&sample);
	ck_assert_int_eq(sample_end(&sample), 0);
}

static void write_loop(int fd)
{
	struct sample sample;

	begin(&sample, fd, POSIX_TRACE_LOOP, 800);
	for (int i = 0; i < 40; i++) {
		sample_add(&sample, 1);
		if (i == 3) {
			describe(&sample);
			map(&sample);
		}
		if (i == 20) {
			describe_more(&sample);
			map_more(&sample);
		}
		if (i % 2 == 0)
			sample_write(&sample);
	}
	ck_assert_int_eq(sample_end(&sample), 0);
}

static void (*const writers[])(int fd) = { write_append, write_until_full, write_loop };

static void keep(const char *name, const uint8_t *bytes, size_t size)
{
	const char *folder = getenv("PTX_GOLDEN");
	char path[300];
	FILE *file;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s.log", folder, name);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* The format does not change by accident. LOG-12 */
START_TEST(written_logs_equal_their_texts)
{
	int fd = sample_file();
	size_t size, want_size;
	uint8_t *bytes, *want;
	char path[60];

	writers[_i](fd);
	sample_prove(fd);
	bytes = sample_bytes(fd, &size);
	keep(names[_i], bytes, size);
	snprintf(path, sizeof(path), "golden/1.2/%s.hex", names[_i]);
	want = hex_read(path, &want_size);
	for (size_t i = 0; i < size && i < want_size; i++)
		if (bytes[i] != want[i])
			ck_abort_msg("%s: offset %zu is %02x, should be %02x", path, i, bytes[i],
				     want[i]);
	ck_assert_uint_eq(size, want_size);
	free(want);
	free(bytes);
	close(fd);
}
END_TEST

/* Old logs remain readable. */
START_TEST(the_logs_of_all_versions_are_read)
{
	static const unsigned events[] = { 14, 12, 0 };
	const int log = _i % 3, minor = _i / 3;
	const bool described = minor > 0 && log != 1;
	struct posix_trace_schema_np schema;
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	const struct ptx_object *object;
	size_t objects;
	unsigned n = 0, late = 0, truncated = 0;
	size_t size;
	char path[60];
	uint8_t *bytes;
	int fd;

	snprintf(path, sizeof(path), "golden/%s/%s.hex", versions[minor], names[log]);
	bytes = hex_read(path, &size);
	fd = sample_file_of(bytes, size);
	sample_prove(fd);
	stored = sample_open(fd, false);
	ck_assert_str_eq(ptx_stored_name(stored, 64), "sample 0");
	ck_assert_str_eq(ptx_stored_facts(stored)->attr.name, "sample");
	object = ptx_stored_objects(stored, &objects);
	ck_assert_uint_eq(objects, described ? 2 : 0);
	ck_assert_int_eq(ptx_stored_schema(stored, 64) != NULL, described);
	if (described) {
		ck_assert_str_eq(ptx_stored_schema(stored, 64), SCHEMA);
		ck_assert_ptr_null(ptx_schema_parse(ptx_stored_schema(stored, 64), &schema));
		object = ptx_objects_find(object, objects, 600, 0x7f0000001000, SAMPLE_TIME(10));
		ck_assert_ptr_nonnull(object);
		ck_assert_str_eq(object->name, "pool lock");
	}
	if (minor < 2)
		ck_assert_uint_eq(ptx_stored_mappings(stored)->count, 0);
	else
		assert_mapped(stored);
	for (; ptx_stored_next(stored, &got); n++) {
		late += !!(got.record->len_flags & PTX_RECORD_LATE);
		truncated += !!(got.record->len_flags & PTX_RECORD_TRUNCATED);
	}
	if (events[log])
		ck_assert_uint_eq(n, events[log]);
	else
		ck_assert_uint_eq(n + ptx_stored_ledger(stored)->total
					      .lost[PTX_LOST_LOG_OVERWRITTEN], 40);
	ck_assert_uint_eq(late, log == 0);
	if (log == 0) {
		ck_assert_uint_eq(truncated, 1);
		ck_assert_uint_eq(ptx_stored_ledger(stored)->type[64].lost[PTX_LOST_STREAM_FULL],
				  4);
		ck_assert_int_eq(ptx_stored_status(stored)->stream_overrun, POSIX_TRACE_OVERRUN);
	} else {
		ck_assert_int_eq(ptx_stored_status(stored)->log_full, POSIX_TRACE_FULL);
	}
	ptx_stored_close(stored);
	close(fd);
	free(bytes);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log golden", &tc);

	tcase_add_loop_test(tc, written_logs_equal_their_texts, 0, 3);
	tcase_add_loop_test(tc, the_logs_of_all_versions_are_read, 0, 9);
	return suite;
}

SUITE_MAIN_OF(build)
