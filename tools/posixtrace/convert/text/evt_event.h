/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evt_event.h - reads the members of an event from a line of the format evt. */
#ifndef POSIXTRACE_CONVERT_TEXT_EVT_EVENT_H
#define POSIXTRACE_CONVERT_TEXT_EVT_EVENT_H

#include "convert/format.h"
#include "convert/text/evt_cursor.h"

/*
 * Reads the rest of the line after "evt ". Each member may occur once; "id", "time" and "data" are
 * required. The parameter "data" must have room for half as many bytes as the line has. The
 * function does not set event->data. Before the call, the caller sets event->data_len and all
 * optional members to 0. Returns NULL, or the reason why the line is not an event.
 */
const char *evt_event(struct cursor *cursor, unsigned char *data, struct fmt_event *event,
		      uint64_t *id);

#endif
