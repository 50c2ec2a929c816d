/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convert/text/evt_event.h"

static bool data_of(struct cursor *cursor, unsigned char *data, struct fmt_event *event)
{
	const char *begin = cursor->p;

	if (cursor_take(cursor, "-"))
		return true;
	for (; cursor->end - cursor->p >= 2; cursor->p += 2) {
		unsigned high = cursor_digit_value(cursor->p[0]);
		unsigned low = cursor_digit_value(cursor->p[1]);

		if (high > 15 || low > 15)
			break;
		data[event->data_len++] = (unsigned char)(high << 4 | low);
	}
	return cursor->p > begin;
}

enum member {
	MEMBER_ID, MEMBER_PID, MEMBER_TID, MEMBER_ADDR, MEMBER_TIME, MEMBER_TRUNC, MEMBER_DATA
};

static const char *const members[] = { "id=", "pid=", "tid=", "addr=", "time=", "trunc=", "data=" };

static bool member(struct cursor *cursor, enum member which, unsigned char *data,
		   struct fmt_event *event, uint64_t *id)
{
	uint64_t value = 0;
	bool good;

	switch (which) {
	case MEMBER_ID:
		return cursor_hexadecimal(cursor, UINT32_MAX, id);
	case MEMBER_PID:
		good = cursor_digits(cursor, 10, &value) && value <= INT32_MAX;
		event->pid = (uint32_t)value;
		return good;
	case MEMBER_TID:
		return cursor_digits(cursor, 10, &event->thread);
	case MEMBER_ADDR:
		return cursor_hexadecimal(cursor, UINT64_MAX, &event->address);
	case MEMBER_TIME:
		return cursor_seconds(cursor, &event->time_ns);
	case MEMBER_TRUNC:
		good = cursor_digits(cursor, 10, &value) && value <= POSIX_TRACE_TRUNCATED_READ;
		event->truncation = (int)value;
		return good;
	default:
		return data_of(cursor, data, event);
	}
}

const char *evt_event(struct cursor *cursor, unsigned char *data, struct fmt_event *event,
		      uint64_t *id)
{
	unsigned seen = 0, needed = 1u << MEMBER_ID | 1u << MEMBER_TIME | 1u << MEMBER_DATA;

	while (!cursor_at_end(cursor)) {
		enum member which = MEMBER_ID;

		while (which <= MEMBER_DATA && !cursor_take(cursor, members[which]))
			which++;
		if (which > MEMBER_DATA || seen & 1u << which)
			return "a member that no event has, or a second one";
		seen |= 1u << which;
		if (!member(cursor, which, data, event, id) ||
		    (cursor->p < cursor->end && *cursor->p != ' ' && *cursor->p != '\t'))
			return "a member without a value that it can have";
	}
	return (seen & needed) == needed ? NULL : "an event has at least id, time and data";
}
