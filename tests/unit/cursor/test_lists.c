/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/: hostile schemas and objects in logs, with right checksums. A text that is invalid,
 * unterminated or too long damages only itself, and the check reports it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/write_encode.h"
#include "record/schema.h"
#include "unit/log/sample.h"

#define GOOD "u32 n; @level 2"

static const struct ptx_object lock = { .kind = POSIX_TRACE_OBJECT_MUTEX_NP, .pid = 500,
					.pointer = 0x1000, .time_ns = 1, .name = "lock" };

/*
 * Makes a log whose writer was killed, with a good schema of type 64 and an object. Appends another
 * block to it.
 */
static int a_log_and(enum ptx_log_type type, uint32_t records, const void *payload, size_t bytes)
{
	int fd = sample_file(), longer;
	struct ptx_log_block *block;
	struct sample sample;
	uint8_t *log, *whole;
	size_t size;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 12), 0);
	ck_assert_int_eq(ptx_log_schema(sample.log, 64, GOOD), 0);
	ck_assert_int_eq(ptx_log_object(sample.log, &lock), 0);
	sample_add(&sample, 5);
	sample_write(&sample);
	sample_die(&sample);
	log = sample_bytes(fd, &size);
	close(fd);
	whole = calloc(1, size + sizeof(*block) + bytes);
	memcpy(whole, log, size);
	/* This process is the writer and lives, so the header gets the id of another boot. */
	((struct ptx_log_header *)(void *)whole)->boot_id[0] ^= 0xff;
	ptx_log_seal_header((struct ptx_log_header *)(void *)whole);
	block = (struct ptx_log_block *)(void *)(whole + size);
	block->type = (uint16_t)type;
	block->log_id = ((struct ptx_log_header *)(void *)whole)->log_id;
	block->number = type != PTX_LOG_MAPPINGS; /* the log has a schema for its type already, or
						   * none */
	block->first_record = 5;
	block->records = records;
	memcpy(block + 1, payload, bytes);
	ptx_log_seal_block(block, bytes);
	longer = sample_file_of(whole, size + sizeof(*block) + bytes);
	free(whole);
	free(log);
	return longer;
}

/* Returns the text of the first fault. */
static void keep_first(void *arg, const struct posix_trace_fault_np *fault)
{
	char *reason = arg;

	if (!*reason)
		snprintf(reason, 200, "%s", fault->reason);
}

static void assert_first_fault(int fd, const char *part)
{
	struct posix_trace_check_np result;
	char reason[200] = "";

	ck_assert_int_eq(posix_trace_check_np(fd, keep_first, reason, &result), 0);
	ck_assert_msg(result.faults > 0 && strstr(reason, part), "\"%s\" is not in \"%s\"", part,
		      reason);
}

/* Opens the log and checks that the blocks before the bad block, and the events, can be read. */
static struct ptx_stored *open_and_find_the_good(int fd)
{
	struct ptx_stored *stored = sample_open(fd, true);
	const struct ptx_object *object;
	struct ptx_stored_event got;
	unsigned events = 0;
	size_t count;

	ck_assert_str_eq(ptx_stored_schema(stored, 64), GOOD);
	object = ptx_stored_objects(stored, &count);
	object = ptx_objects_find(object, count, 500, 0x1000, 10);
	ck_assert(object && !strcmp(object->name, "lock"));
	while (ptx_stored_next(stored, &got))
		events++;
	ck_assert_uint_eq(events, 5);
	return stored;
}

struct entry {
	struct ptx_log_schema head;
	char text[120];
};

static const struct {
	uint32_t type, bytes;
	const char *text; /* the text, in 120 bytes; the rest is filled with x */
	const char *fault;
} entries[] = {
	{ 65, 5, "u8 a", NULL },
	{ 65, 121, "u8 a", "runs past its block" },
	{ 65, UINT32_MAX, "u8 a", "runs past its block" },
	{ 65, UINT32_MAX - 7, "u8 a", "runs past its block" },
	{ 0, 5, "u8 a", "out of range" },
	{ 1024, 5, "u8 a", "out of range" },
	{ UINT32_MAX, 5, "u8 a", "out of range" },
	{ 65, 100, "u8 a", "its end is not where it should be" },
	{ 65, 4, "u8 a", "its end is not where it should be" },
	{ 65, 0, "u8 a", "its end is not where it should be" },
	{ 65, 1, "", "its end is not where it should be" },
	{ 65, 5, "u9 a", "this is not a type" },
	{ 65, 5, "\x1b[1m", "this is not a type" },
	{ 65, 3, "@k", "this is not an attribute" },
};

START_TEST(a_schema_that_is_none_leaves_its_type_opaque)
{
	const uint32_t bytes = entries[_i].bytes;
	struct ptx_stored *stored;
	struct entry entry = { .head = { entries[_i].type, bytes } };
	size_t payload = sizeof(entry.head) + (bytes < 120 ? (bytes + 7u) & ~7u : 120);
	int fd;

	memset(entry.text, 'x', sizeof(entry.text));
	memcpy(entry.text, entries[_i].text, strlen(entries[_i].text) + 1);
	if (bytes == 100) /* without end */
		entry.text[4] = 'x';
	fd = a_log_and(PTX_LOG_SCHEMAS, 1, &entry, payload);
	stored = open_and_find_the_good(fd);
	if (!entries[_i].fault) {
		ck_assert_str_eq(ptx_stored_schema(stored, 65), "u8 a");
		ck_assert_uint_eq(sample_faults(fd, true), 0);
	} else {
		const char *text = ptx_stored_schema(stored, 65);
		struct posix_trace_schema_np schema;

		ck_assert(!text || ptx_schema_parse(text, &schema));
		assert_first_fault(fd, entries[_i].fault);
	}
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

START_TEST(a_schema_of_a_megabyte_is_not_read)
{
	const uint32_t bytes = 1 << 20;
	struct ptx_log_schema *entry = calloc(1, sizeof(*entry) + bytes + 24);
	struct ptx_log_schema *next =
		(struct ptx_log_schema *)(void *)((char *)(entry + 1) + bytes);
	struct ptx_stored *stored;
	int fd;

	entry->type = 65;
	entry->bytes = bytes;
	memset(entry + 1, ' ', bytes - 1);
	memcpy(entry + 1, "u8 a", 4);
	next->type = 66; /* the blocks behind it are valid */
	next->bytes = 5;
	strcpy((char *)(next + 1), "u8 b");
	fd = a_log_and(PTX_LOG_SCHEMAS, 2, entry, sizeof(*entry) + bytes + 16);
	stored = open_and_find_the_good(fd);
	ck_assert_ptr_null(ptx_stored_schema(stored, 65));
	ck_assert_str_eq(ptx_stored_schema(stored, 66), "u8 b");
	assert_first_fault(fd, "event type 65 has no good schema: it is too long");
	ptx_stored_close(stored);
	close(fd);
	free(entry);
}
END_TEST

START_TEST(the_first_of_two_schemas_of_a_type_counts)
{
	struct entry entry = { .head = { 64, 5 }, .text = "u8 a" };
	int fd = a_log_and(PTX_LOG_SCHEMAS, 1, &entry, sizeof(entry.head) + 8);

	ptx_stored_close(open_and_find_the_good(fd));
	close(fd);
}
END_TEST

START_TEST(objects_that_are_none_do_not_count)
{
	struct ptx_object object = lock;
	struct ptx_stored *stored;
	size_t count;
	int fd;

	object.pointer = 0x2000;
	if (_i == 0)
		memset(object.name, 'x', sizeof(object.name));
	fd = a_log_and(PTX_LOG_OBJECTS, _i == 0 ? 1 : (uint32_t)(_i == 1 ? 2 : UINT32_MAX), &object,
		       sizeof(object));
	stored = open_and_find_the_good(fd);
	ptx_stored_objects(stored, &count);
	ck_assert_uint_eq(count, 1);
	assert_first_fault(fd, _i == 0 ? "has no end" : "another length");
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

START_TEST(some_of_very_many_objects_are_kept)
{
	enum { MANY = 100000 };
	struct ptx_object *object = calloc(MANY, sizeof(*object));
	struct ptx_stored *stored;
	size_t count;
	int fd;

	for (unsigned i = 0; i < MANY; i++) {
		object[i] = lock;
		object[i].time_ns = 1000 + i; /* the maximum number of names of one object */
	}
	fd = a_log_and(PTX_LOG_OBJECTS, MANY, object, MANY * sizeof(*object));
	stored = open_and_find_the_good(fd);
	ptx_stored_objects(stored, &count);
	ck_assert_uint_eq(count, PTX_LOG_OBJECTS_MAX);
	ck_assert_uint_eq(sample_faults(fd, true), 0);
	ptx_stored_close(stored);
	close(fd);
	free(object);
}
END_TEST

struct mapped {
	struct ptx_log_mapping head;
	char path[24];
};

static const struct mapped good = { .head = { .kind = PTX_MAPPING_FILE, .pid = 500, .start = 0x1000,
					      .end = 0x2000, .time_ns = 1, .path_bytes = 5 },
				    .path = "/bin" };

static const struct {
	uint32_t kind, build_id_bytes, path_bytes;
	uint64_t end;
	const char *fault;
} mapped[] = {
	{ 1, 20, 5, 0x2000, NULL },
	{ 1, 32, 5, UINT64_MAX, NULL },
	{ 2, UINT32_MAX, 0, 0x2000, NULL },
	{ 3, 0, 0, 0, NULL },
	{ 4, 99, 5, 0, NULL },
	{ 1, 33, 5, 0x2000, "its build-id is too long" },
	{ 1, UINT32_MAX, 5, 0x2000, "its build-id is too long" },
	{ 1, 20, 0, 0x2000, "its path has an impossible length" },
	{ 1, 20, 4, 0x2000, "the end of its path is not where it should be" },
	{ 1, 20, 6, 0x2000, "the end of its path is not where it should be" },
	{ 1, 20, 25, 0x2000, "a mapping runs past its block" },
	{ 1, 20, UINT32_MAX, 0x2000, "a mapping runs past its block" },
	{ 1, 20, UINT32_MAX - 7, 0x2000, "a mapping runs past its block" },
	{ 1, 20, 5, 0x1000, "it ends before it starts" },
	{ 2, 0, 0, 0, "it ends before it starts" },
};

START_TEST(a_mapping_that_is_none_does_not_count)
{
	const uint32_t path = mapped[_i].path_bytes;
	struct ptx_stored *stored;
	struct mapped entry = good;
	bool is_file = mapped[_i].kind == PTX_MAPPING_FILE && !mapped[_i].fault;
	int fd;

	entry.head.kind = mapped[_i].kind;
	entry.head.build_id_bytes = mapped[_i].build_id_bytes;
	entry.head.path_bytes = path;
	entry.head.end = mapped[_i].end;
	fd = a_log_and(PTX_LOG_MAPPINGS, 1, &entry,
		       sizeof(entry.head) + (path < 24 ? (path + 7u) & ~7u : 24));
	stored = open_and_find_the_good(fd);
	ck_assert_int_eq(ptx_mappings_find(ptx_stored_mappings(stored), 500, 0x1fff, 10) != NULL,
			 is_file);
	if (mapped[_i].fault)
		assert_first_fault(fd, mapped[_i].fault);
	else
		ck_assert_uint_eq(sample_faults(fd, true), 0);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/*
 * The maximum number of mappings, all of one process and never unloaded. All have the same time, so
 * that the reader compares all of them.
 */
START_TEST(some_of_very_many_mappings_are_kept)
{
	enum { MANY = 100000 };
	struct ptx_log_mapping *entry = calloc(MANY, sizeof(*entry));
	struct ptx_stored *stored;
	int fd;

	for (unsigned i = 0; i < MANY; i++) {
		entry[i].kind = PTX_MAPPING_CHILD;
		entry[i].pid = 500;
		entry[i].file_offset = 500; /* the process is its own parent */
	}
	fd = a_log_and(PTX_LOG_MAPPINGS, MANY, entry, MANY * sizeof(*entry));
	stored = open_and_find_the_good(fd);
	ck_assert_uint_eq(ptx_stored_mappings(stored)->count, PTX_MAPPINGS_MAX);
	ck_assert_ptr_null(ptx_mappings_find(ptx_stored_mappings(stored), 500, 1, 10));
	ck_assert_uint_eq(sample_faults(fd, true), 0);
	ptx_stored_close(stored);
	close(fd);
	free(entry);
}
END_TEST

/*
 * Each byte of the lists is changed in turn, without a new checksum. The reader does not crash, and
 * the check finds the change.
 */
START_TEST(damage_is_seen_and_takes_its_block_alone)
{
	struct entry entry = { .head = { 65, 5 }, .text = "u8 a" };
	const size_t bytes = sizeof(struct ptx_log_block) + sizeof(entry.head) + 8;
	int fd = a_log_and(PTX_LOG_SCHEMAS, 1, &entry, sizeof(entry.head) + 8), damaged;
	size_t size;
	uint8_t *log = sample_bytes(fd, &size);

	close(fd);
	for (size_t i = size - bytes; i < size; i++) {
		log[i] ^= 0x41;
		damaged = sample_file_of(log, size);
		ptx_stored_close(open_and_find_the_good(damaged));
		/* A block without its magic counts as the place where the writer stopped. */
		if (i >= size - bytes + 4)
			ck_assert_uint_gt(sample_faults(damaged, false), 0);
		close(damaged);
		log[i] ^= 0x41;
	}
	free(log);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("cursor: what logs say", &tc);

	tcase_add_loop_test(tc, a_schema_that_is_none_leaves_its_type_opaque, 0,
			    sizeof(entries) / sizeof(entries[0]));
	tcase_add_test(tc, a_schema_of_a_megabyte_is_not_read);
	tcase_add_test(tc, the_first_of_two_schemas_of_a_type_counts);
	tcase_add_loop_test(tc, objects_that_are_none_do_not_count, 0, 3);
	tcase_add_test(tc, some_of_very_many_objects_are_kept);
	tcase_add_loop_test(tc, a_mapping_that_is_none_does_not_count, 0,
			    sizeof(mapped) / sizeof(mapped[0]));
	tcase_add_test(tc, some_of_very_many_mappings_are_kept);
	tcase_add_test(tc, damage_is_seen_and_takes_its_block_alone);
	return s;
}

SUITE_MAIN_OF(suite)
