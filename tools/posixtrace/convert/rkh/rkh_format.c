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

static const struct fmt_option options[] = {
	{ "account", false, "write (or, of ptx, expect) counts of events and losses" },
	{ "baud", true, "N  bits per second of a serial line" },
	{ "cfg", true, "KEY=N,...  sizes and flags before the stream's own tell them" },
	{ "dialect", true, "NAME  rkh3, rkh2 or ptx, whatever the stream tells" },
	{ "filter", true,
	  "RULE,...  pass or drop all, GROUP, GROUP.*, GROUP.NAME, ao=NAME, sig=NAME" },
	{ "max-frame", true, "N  bytes of the longest frame; else 1024" },
	{ "no-context", false, "write no processes, threads and addresses" },
	{ "schemas", false, "write what the data means, for our own reader" },
	{ 0 },
};

const struct format format_rkh = {
	.name = "rkh",
	.summary = "framed event stream of RKH",
	.suffix = "rkh",
	.options = options,
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
