/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/said.h"

void assert_schema(trace_id_t trid, trace_event_id_t id, const char *expected)
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	OK(posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text)));
	ck_assert_str_eq(text, expected);
}

const char *called(trace_id_t trid, pid_t pid, const void *pointer, int64_t time_ns)
{
	static struct posix_trace_object_np object;
	int err = posix_trace_object_find_np(trid, pid, (uintptr_t)pointer, time_ns, &object);

	if (err == ENOENT)
		return "-";
	ck_assert_int_eq(err, 0);
	return object.name;
}

unsigned count_objects(trace_id_t trid)
{
	struct posix_trace_object_np object;
	int unavailable;
	unsigned n = 0;

	OK(posix_trace_object_rewind_np(trid));
	for (;; n++) {
		OK(posix_trace_object_getnext_np(trid, &object, &unavailable));
		if (unavailable)
			return n;
	}
}
