/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt.h - the two sides of the format "evt": events as text, a line each, that people write.
 *
 *	order le
 *	name 0x010 "disk.read"
 *	evt id=0x010 pid=7 tid=8 addr=0x4005d0 time=1.500000000 data=00ff
 *
 * order is that of the numbers in the data, and little-endian if it is not given; a name holds for
 * the events behind it. What is left out is 0.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_EVT_H
#define POSIXTRACE_CONVERT_TEXT_EVT_H

#include "convert/format.h"

bool evt_detect(const struct fmt_head *head);
int evt_import(struct fmt_flow *flow, struct fmt_input *input);

/* What an event type is called that has no name: "evt_" and its number. */
#define EVT_NAMELESS       "evt_%03x"
#define EVT_NAMELESS_BYTES 24

#endif
