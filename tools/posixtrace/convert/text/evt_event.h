/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt_event.h - a line of an event list that is an event, behind its first word.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_EVT_EVENT_H
#define POSIXTRACE_CONVERT_TEXT_EVT_EVENT_H

#include "convert/format.h"
#include "convert/text/evt_cursor.h"

/*
 * Each member at most once; id, time and data must be there. data has room for half as many bytes
 * as the line has; event points to it. NULL: that was it; else what is wrong.
 */
const char *evt_event(struct cursor *cursor, unsigned char *data, struct fmt_event *event,
		      uint64_t *id);

#endif
