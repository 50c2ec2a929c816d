/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt.h - the format "evt": events as lines of text, which people can write by hand, for example as
 * inputs of tests.
 *
 * 	order le
 * 	name 0x010 "disk.read"
 * 	evt id=0x010 pid=7 tid=8 addr=0x4005d0 time=1.500000000 data=00ff
 *
 * The line "order" is the byte order of numbers in the data. Without this line the numbers are
 * little-endian. A name applies to the events after its line. The members id, time and data are
 * required. Any other member that is missing is 0. A line that begins with # is a comment.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_EVT_H
#define POSIXTRACE_CONVERT_TEXT_EVT_H

#include "convert/format.h"

/* The members "detect" and "import" of the format. A line with a fault is reported and skipped. */
bool evt_detect(const struct fmt_head *head);
int evt_import(struct fmt_flow *flow, struct fmt_input *input);

/* The name of an event type without a name: "evt_" and its number. */
#define EVT_NAMELESS       "evt_%03x"
#define EVT_NAMELESS_BYTES 24

#endif
