/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_format.c - the table entry of the format "rkh": the framed byte stream of the RKH framework.
 */
#include "convert/rkh/rkh_sink.h"
#include "convert/rkh/rkh_source.h"

extern const struct format format_rkh;

static bool detect_rkh(const struct fmt_head *head)
{
	return rkh_is(head->bytes, head->len);
}

static const struct option_row option_rows[] = {
	{ "account", FMT_OPTION, NULL,
		"write counts of events and losses; from the dialect ptx: report missing counts" },
	{ "baud", FMT_SOURCE_OPTION, "N", "bits per second of a serial line" },
	{ "cfg", FMT_SOURCE_OPTION, "KEY=N,...", "sizes and flags until the stream sends its own" },
	{ "dialect", FMT_SOURCE_OPTION, "NAME",
		"read the stream as rkh3, rkh2 or ptx; do not detect the dialect",
		OPTION_CHOICE, "rkh3 rkh2 ptx" },
	{ "filter", FMT_SOURCE_OPTION, "RULE,...",
		"pass or drop all, GROUP, GROUP.*, GROUP.NAME, ao=NAME, sig=NAME" },
	{ "max-frame", FMT_SOURCE_OPTION, "N", "bytes of the longest frame; the default is 1024" },
	{ "no-context", FMT_SINK_OPTION, NULL, "write no processes, threads and addresses" },
	{ "schemas", FMT_SINK_OPTION, NULL,
		"write the schemas of the data, which only posixtrace reads" },
	OPTION_END
};

const struct format format_rkh = {
	.name = "rkh",
	.summary = "framed event stream of RKH",
	.suffix = "rkh",
	.options = option_rows,
	.detect = detect_rkh,
	.import = rkh_import,
	.output = FMT_TO_BYTES,
	.open = rkh_sink_open,
	.begin = rkh_sink_begin,
	.event = rkh_sink_event,
	.lost = rkh_sink_lost,
	.idle = rkh_sink_idle,
	.end = rkh_sink_end,
	.close = rkh_sink_close,
};
