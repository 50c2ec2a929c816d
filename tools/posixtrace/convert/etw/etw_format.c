/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_format.c - the table entry of the format "etw": logs of Event Tracing for Windows. */
#include "convert/etw/etw.h"
#include "convert/etw/etw_sink.h"

extern const struct format format_etw;

/*
 * etw_is() needs the first record of the file. This record is in the head, which has at least 4 KiB
 * unless the whole input is shorter.
 */
static bool detect_etw(const struct fmt_head *head)
{
	return etw_is(head->bytes, head->len);
}

static const struct option_row option_rows[] = {
	{ "etw-clock", FMT_OPTION, "N",
		"the clock of the times; read: 1 performance counter, 2 system time, 3 cycles; "
		"write: filetime" },
	{ "etw-freq", FMT_SOURCE_OPTION, "N",
		"ticks of the clock in a second, instead of the log's number" },
	{ "etw-payload", FMT_SOURCE_OPTION, NULL,
		"the data without the headers of the records, not decoded" },
	{ "etw-plain", FMT_SINK_OPTION, NULL,
		"write the data alone, without truncation status and address" },
	{ "etw-raw", FMT_SOURCE_OPTION, NULL, "the data is the whole record, not decoded" },
	{ "etw-resync", FMT_SOURCE_OPTION, NULL,
		"if a buffer gives no size, assume the size of the others" },
	{ "join", FMT_SOURCE_OPTION, NULL,
		"append the data of extension records to the event before them" },
	{ "level", FMT_SOURCE_OPTION, "N", "only events of levels 0 to N" },
	{ "no-meta", FMT_SOURCE_OPTION, NULL,
		"omit the event of the log's header, and the records behind decoded fields" },
	{ "spans", FMT_SOURCE_OPTION, NULL,
		"add an event for each span, with its duration and CPU cost" },
	OPTION_END
};

const struct format format_etw = {
	.name = "etw",
	.summary = "log of Event Tracing for Windows (.etl)",
	.suffix = "etl",
	.options = option_rows,
	.detect = detect_etw,
	.import = etw_import,
	.output = FMT_TO_FILE,
	.open = etw_sink_open,
	.begin = etw_sink_begin,
	.event = etw_sink_event,
	.lost = etw_sink_lost,
	.end = etw_sink_end,
	.close = etw_sink_close,
};
