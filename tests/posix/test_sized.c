/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_sized_np(3): programs that were compiled with a shorter or a longer version of a structure.
 * Each call is made as by three programs: an older one, which has the members of the first version,
 * one of this version, and a newer one, which has more members.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/composer.h"
#include "support/ledger.h"
#include "support/log.h"

#define FILL  0xa5
#define NEWER 40 /* additional bytes of a newer structure */
#define THROUGH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* A structure of the program, between bytes that the library must not change. */
struct room {
	unsigned char bytes[8192];
	size_t size;
};

static void *make_room(struct room *room, size_t size)
{
	ck_assert_uint_le(size, sizeof(room->bytes));
	memset(room->bytes, FILL, sizeof(room->bytes));
	room->size = size;
	return room->bytes;
}

/*
 * The members that both sides have equal those of `known`, the other members are 0, and the rest of
 * the room is unchanged.
 */
static void assert_stored(const struct room *room, const void *known, size_t own)
{
	ck_assert_mem_eq(room->bytes, known, room->size < own ? room->size : own);
	for (size_t i = own; i < room->size; i++)
		ck_assert_uint_eq(room->bytes[i], 0);
	for (size_t i = room->size; i < sizeof(room->bytes); i++)
		ck_assert_uint_eq(room->bytes[i], FILL);
}

static void assert_untouched(const struct room *room)
{
	for (size_t i = 0; i < sizeof(room->bytes); i++)
		ck_assert_uint_eq(room->bytes[i], FILL);
}

/*
 * CALL, a call with `to` and `size`, stores a structure. For each size from that of the first
 * version on, the structure must equal the one that the plain call stored in `known`.
 */
#define STORES(type, last, known, call) \
	do { \
		const size_t sizes[] = { THROUGH(type, last), sizeof(type), \
					 sizeof(type) + NEWER }; \
		struct room room; \
		for (size_t i_ = 0; i_ < 3; i_++) { \
			const size_t size = sizes[i_]; \
			type *to = make_room(&room, size); \
			OK(call); \
			assert_stored(&room, &(known), sizeof(type)); \
		} \
		{ \
			const size_t size = sizes[0] - 1; \
			type *to = make_room(&room, size); \
			FAILS(EINVAL, call); \
			assert_untouched(&room); \
		} \
	} while (0)

static int log_with_events(void)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND);
	trace_event_id_t id = type_of("a");

	for (int i = 0; i < 5; i++)
		trace_number(id, i);
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &fd, "lock"));
	shut(trid);
	return fd;
}

START_TEST(lines_of_the_ledger_have_any_size)
{
	int fd = log_with_events(), end;
	trace_id_t trid = log_open(fd);
	struct posix_trace_ledger_np total, line;
	struct posix_trace_thread_np thread;

	OK(posix_trace_get_ledger_np(trid, &total));
	ck_assert_uint_ge(total.called, 5);
	STORES(struct posix_trace_ledger_np, lost[9], total,
	       posix_trace_get_ledger_sized_np(trid, to, size));
	OK(posix_trace_get_ledger_type_np(trid, POSIX_TRACE_START, &line));
	ck_assert_uint_eq(line.called, 1);
	STORES(struct posix_trace_ledger_np, lost[9], line,
	       posix_trace_get_ledger_type_sized_np(trid, POSIX_TRACE_START, to, size));
	memset(&thread, 0, sizeof(thread));
	OK(posix_trace_get_ledger_thread_np(trid, 0, &thread, &line, &end));
	STORES(struct posix_trace_ledger_np, lost[9], line,
	       posix_trace_get_ledger_thread_sized_np(trid, 0, &thread, sizeof(thread), to, size,
						      &end));
	STORES(struct posix_trace_thread_np, tid, thread,
	       posix_trace_get_ledger_thread_sized_np(trid, 0, to, size, &line, sizeof(line),
						      &end));
	log_close(trid);
	close(fd);
}
END_TEST

static void skip(trace_id_t trid, int events)
{
	struct posix_trace_event_np event;
	int end;

	for (int i = 0; i < events; i++)
		OK(posix_trace_getnext_np(trid, &event, &end));
}

START_TEST(events_of_a_log_have_any_size)
{
	int fd = log_with_events(), end;
	trace_id_t trid = log_open(fd);
	struct posix_trace_event_np event;
	struct posix_trace_loginfo_np info;
	int n = 0;

	for (;; n++) {
		OK(posix_trace_rewind(trid));
		skip(trid, n);
		OK(posix_trace_getnext_np(trid, &event, &end));
		if (end)
			break;
		STORES(struct posix_trace_event_np, time_ns, event,
		       (posix_trace_rewind(trid), skip(trid, n),
			posix_trace_getnext_sized_np(trid, to, size, &end)));
	}
	ck_assert_int_ge(n, 6);
	OK(posix_trace_get_loginfo_np(trid, &info));
	ck_assert_int_eq(info.complete, 1);
	STORES(struct posix_trace_loginfo_np, last_ns, info,
	       posix_trace_get_loginfo_sized_np(trid, to, size));
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(objects_and_mappings_have_any_size)
{
	int fd = log_with_events(), end;
	trace_id_t trid = log_open(fd);
	struct posix_trace_object_np object;
	struct posix_trace_mapping_np mapping;

	OK(posix_trace_object_getnext_np(trid, &object, &end));
	ck_assert_str_eq(object.name, "lock");
	STORES(struct posix_trace_object_np, time_ns, object,
	       (posix_trace_object_rewind_np(trid),
		posix_trace_object_getnext_sized_np(trid, to, size, &end)));
	STORES(struct posix_trace_object_np, time_ns, object,
	       posix_trace_object_find_sized_np(trid, object.pid, object.pointer, INT64_MAX, to,
						size));
	OK(posix_trace_mapping_getnext_np(trid, &mapping, &end));
	STORES(struct posix_trace_mapping_np, parent, mapping,
	       (posix_trace_mapping_rewind_np(trid),
		posix_trace_mapping_getnext_sized_np(trid, to, size, &end)));
	STORES(struct posix_trace_mapping_np, parent, mapping,
	       posix_trace_mapping_find_sized_np(trid, mapping.pid, mapping.start, mapping.from_ns,
						 to, size));
	log_close(trid);
	close(fd);
}
END_TEST

/*
 * The library passes to the visitor structures of the size that the program gave, or longer ones.
 */
struct visited {
	size_t own, size;
	unsigned calls;
};

static void see_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct visited *visited = arg;
	const unsigned char *byte = (const void *)fault;

	visited->calls++;
	ck_assert_ptr_nonnull(fault->reason);
	for (size_t i = visited->own; i < visited->size; i++)
		ck_assert_uint_eq(byte[i], 0);
}

START_TEST(results_and_faults_of_a_check_have_any_size)
{
	struct visited visited = { .own = sizeof(struct posix_trace_fault_np) };
	int fd = log_with_events();
	struct posix_trace_check_np result;

	ck_assert_int_eq(ftruncate(fd, lseek(fd, 0, SEEK_END) - 8), 0);
	OK(posix_trace_check_np(fd, see_fault, &visited, &result));
	ck_assert_uint_ge(visited.calls, 1);
	STORES(struct posix_trace_check_np, bytes, result,
	       posix_trace_check_sized_np(fd, NULL, NULL, visited.own, to, size));
	visited.calls = 0;
	visited.size = visited.own + NEWER;
	OK(posix_trace_check_sized_np(fd, see_fault, &visited, visited.size, &result,
				      sizeof(result)));
	ck_assert_uint_eq(visited.calls, result.faults);
	FAILS(EINVAL, posix_trace_check_sized_np(fd, see_fault, &visited, visited.own - 1, &result,
						 sizeof(result)));
	close(fd);
}
END_TEST

static void see_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct visited *visited = arg;
	const unsigned char *byte = (const void *)stream;

	visited->calls++;
	ck_assert_int_eq(stream->pid, getpid());
	for (size_t i = visited->own; i < visited->size; i++)
		ck_assert_uint_eq(byte[i], 0);
}

START_TEST(observed_streams_have_any_size)
{
	const size_t own = sizeof(struct posix_trace_stream_np),
		     fault = sizeof(struct posix_trace_fault_np);
	const size_t sizes[] = { THROUGH(struct posix_trace_stream_np, recorded), own,
				 own + NEWER };
	trace_id_t trid = STREAM();
	int fd = log_file();

	for (int i = 0; i < 3; i++) {
		struct visited visited = { .own = own, .size = sizes[i] };

		OK(posix_trace_observe_sized_np(0, see_stream, &visited, sizes[i]));
		ck_assert_uint_eq(visited.calls, 1);
		/* The error is that the file is no backing file, not the size. */
		FAILS(EINVAL, posix_trace_observe_file_sized_np(fd, see_stream, NULL, &visited,
							     sizes[i], fault));
	}
	FAILS(EINVAL, posix_trace_observe_sized_np(0, see_stream, NULL, sizes[0] - 1));
	shut(trid);
	close(fd);
}
END_TEST

/*
 * A structure that a newer program passes: the structure `known`, followed by bytes of this value.
 */
static void *newer(struct room *room, const void *known, size_t own, size_t size,
		   unsigned char value)
{
	make_room(room, size);
	memset(room->bytes, value, size);
	memcpy(room->bytes, known, size < own ? size : own);
	return room->bytes;
}

/*
 * CALL, with `from` and `size`, accepts a structure of each size. It refuses a structure with a
 * member that the library does not have, if the member is not 0.
 */
#define LOADS(type, last, known, call) \
	do { \
		const size_t sizes[] = { THROUGH(type, last), sizeof(type), \
					 sizeof(type) + NEWER }; \
		struct room room; \
		for (size_t i_ = 0; i_ < 3; i_++) { \
			const size_t size = sizes[i_]; \
			const type *from = newer(&room, &(known), sizeof(type), size, 0); \
			OK(call); \
		} \
		for (size_t i_ = 0; i_ < 2; i_++) { \
			const size_t size = i_ ? sizes[2] : sizes[0] - 1; \
			const type *from = newer(&room, &(known), sizeof(type), size, 1); \
			FAILS(i_ ? ENOTSUP : EINVAL, call); \
		} \
	} while (0)

static int compose_and_drop(int fd, const struct posix_trace_origin_np *origin, size_t size)
{
	composer_t *composer;
	int err = posix_trace_compose_sized_np(fd, NULL, origin, size, &composer);

	if (!err)
		posix_trace_compose_abandon_np(composer);
	close(fd);
	return err;
}

START_TEST(structures_for_a_composed_log_have_any_size)
{
	const struct posix_trace_origin_np origin = { .pid = 7, .clock = "sundial", .clock_hz = 1 };
	const struct posix_trace_thread_np thread = { .pid = 7, .tid = 8 };
	const struct posix_trace_object_np object = { .kind = POSIX_TRACE_OBJECT_MUTEX_NP,
						      .pid = 7 };
	const struct posix_trace_mapping_np mapping = { .until_ns = INT64_MAX, .pid = 7,
							.parent = 6 };
	int fd = log_file(), end;
	composer_t *composer;
	trace_event_id_t id;
	struct posix_trace_event_np event;
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;

	LOADS(struct posix_trace_origin_np, clock_hz, origin,
	      compose_and_drop(log_file(), from, size));
	composer = compose(fd, NULL);
	id = name_of(composer, "hour");
	event = event_of(id, 6, "x");
	LOADS(struct posix_trace_event_np, time_ns, event,
	      posix_trace_compose_event_sized_np(composer, from, size));
	LOADS(struct posix_trace_thread_np, tid, thread,
	      posix_trace_compose_lost_sized_np(composer, POSIX_TRACE_LOST_NESTING_NP, 1, id, from,
						size));
	LOADS(struct posix_trace_object_np, time_ns, object,
	      posix_trace_compose_object_sized_np(composer, from, size));
	LOADS(struct posix_trace_mapping_np, parent, mapping,
	      posix_trace_compose_mapping_sized_np(composer, from, size));
	finish(composer, fd);
	trid = log_open(fd);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.reported, 3);
	ck_assert_uint_eq(ledger.lost[POSIX_TRACE_LOST_NESTING_NP], 3);
	/* An older program has no member for data, so the event has no data. */
	OK(posix_trace_getnext_np(trid, &event, &end));
	ck_assert_uint_eq(event.data_len, 0);
	OK(posix_trace_getnext_np(trid, &event, &end));
	ck_assert_uint_eq(event.data_len, 1);
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(values_and_schemas_have_any_size)
{
	static const unsigned char payload[] = { 1, 0, 0, 0, 'a', 'b', 0 };
	const size_t own = sizeof(struct posix_trace_schema_np);
	const size_t first = THROUGH(struct posix_trace_schema_np, text);
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	struct posix_trace_schema_np schema, *longer = malloc(own + NEWER);
	struct room room;
	const size_t sizes[] = { THROUGH(struct posix_trace_value_np, u64), sizeof(value),
				 sizeof(value) + NEWER };

	ck_assert_ptr_nonnull(longer);
	memset(longer, FILL, own + NEWER);
	/*
	 * The struct of the first version ended with its text. The library writes nothing behind
	 * this end.
	 */
	FAILS(EINVAL, posix_trace_schema_parse_sized_np("u32 n; str s", longer, first - 1));
	OK(posix_trace_schema_parse_sized_np("u32 n; str s", longer, first));
	for (size_t i = first; i < own + NEWER; i++)
		ck_assert_uint_eq(((unsigned char *)longer)[i], FILL);
	OK(posix_trace_schema_parse_sized_np("u32 n; str s", longer, own + NEWER));
	for (size_t i = own; i < own + NEWER; i++)
		ck_assert_uint_eq(((unsigned char *)longer)[i], 0);
	OK(posix_trace_schema_parse_np("u32 n; str s", &schema));
	for (size_t i = 0; i < 3; i++) {
		struct posix_trace_value_np *to = make_room(&room, sizes[i]);

		posix_trace_values_begin_np(&values, longer, payload, sizeof(payload), 0);
		ck_assert_int_eq(posix_trace_field_next_sized_np(&values, to, sizes[i]), 1);
		memset(&value, 0, sizeof(value));
		ck_assert_int_eq(posix_trace_field_get_np(longer, 0, 0, payload, sizeof(payload), 0,
							  &value), 1);
		ck_assert_uint_eq(value.u64, 1);
		assert_stored(&room, &value, sizeof(value));
		to = make_room(&room, sizes[i]);
		ck_assert_int_eq(posix_trace_field_get_sized_np(longer, 0, 0, payload,
								sizeof(payload), 0, to, sizes[i]),
				 1);
		assert_stored(&room, &value, sizeof(value));
	}
	ck_assert_int_eq(posix_trace_field_next_sized_np(&values, &value, sizes[0] - 1), 0);
	ck_assert_int_eq(posix_trace_field_next_np(&values, &value), 1);
	ck_assert_mem_eq(value.data, "ab", 2);
	free(longer);
}
END_TEST

START_TEST(arguments_of_fields_have_any_size)
{
	const struct posix_trace_arg_np arg[] = { POSIX_TRACE_U16_NP(513), POSIX_TRACE_STR_NP("ab"),
						  POSIX_TRACE_F64_NP(0.5) };
	const size_t own = sizeof(arg[0]), older = offsetof(struct posix_trace_arg_np, len);
	unsigned char payload[64], due[64], bytes[3 * (sizeof(arg[0]) + NEWER)];
	size_t len = posix_trace_fields_pack_np(due, sizeof(due), arg, 3);

	ck_assert_uint_eq(len, 2 + 3 + 8);
	for (size_t size = older; size <= own + NEWER; size += 8) {
		memset(bytes, 0, sizeof(bytes));
		for (size_t i = 0; i < 3; i++)
			memcpy(bytes + i * size, &arg[i], size < own ? size : own);
		ck_assert_uint_eq(posix_trace_fields_pack_sized_np(payload, sizeof(payload),
								   (const void *)bytes, 3, size),
				  len);
		ck_assert_mem_eq(payload, due, len);
	}
	ck_assert_uint_eq(posix_trace_fields_pack_sized_np(payload, sizeof(payload), arg, 3,
							   older - 1), 0);
}
END_TEST

SUITE_MAIN("trace_sized_np", lines_of_the_ledger_have_any_size, events_of_a_log_have_any_size,
	   objects_and_mappings_have_any_size, results_and_faults_of_a_check_have_any_size,
	   observed_streams_have_any_size, structures_for_a_composed_log_have_any_size,
	   values_and_schemas_have_any_size, arguments_of_fields_have_any_size)
