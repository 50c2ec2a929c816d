/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evt_event.c - reads a line that begins with "evt" and makes an event of it. */
#include "convert/text/evt_event.h"

#include "base/text.h"

/*
 * Reads pairs of hexadecimal digits, or "-" for no data. The function stops at any other character.
 * evt_event() then checks that a blank, a tab or the end of the line follows.
 */
static bool read_data(struct cursor *cursor, unsigned char *data, struct fmt_event *event)
{
	const char *begin = cursor->p;

	if (cursor_take(cursor, "-"))
		return true;
	for (; cursor->end - cursor->p >= 2; cursor->p += 2) {
		unsigned high = text_digit(cursor->p[0]);
		unsigned low = text_digit(cursor->p[1]);

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

/*
 * Reads the value of one member. Returns false if the value is missing or too large for its
 * variable.
 */
static bool read_member(struct cursor *cursor, enum member which, unsigned char *data,
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
		return read_data(cursor, data, event);
	}
}

/* Members may be in any order. A mask has the members that were read. */
const char *evt_event(struct cursor *cursor, unsigned char *data, struct fmt_event *event,
		      uint64_t *id)
{
	unsigned seen = 0, needed = 1u << MEMBER_ID | 1u << MEMBER_TIME | 1u << MEMBER_DATA;

	while (!cursor_at_end(cursor)) {
		enum member which = MEMBER_ID;

		while (which <= MEMBER_DATA && !cursor_take(cursor, members[which]))
			which++;
		if (which > MEMBER_DATA || seen & 1u << which)
			return "an unknown member, or the same member twice";
		seen |= 1u << which;
		if (!read_member(cursor, which, data, event, id) ||
		    (cursor->p < cursor->end && *cursor->p != ' ' && *cursor->p != '\t'))
			return "a member has no valid value";
	}
	return (seen & needed) == needed ? NULL : "an event needs at least id, time and data";
}
