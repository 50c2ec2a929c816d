/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex.c - the event trace buffer of ThreadX as a format of posixtrace convert. */
#include "convert/tracex/tracex.h"
#include "convert/tracex/tracex_sink.h"

extern const struct format format_tracex;

static bool detect(const struct fmt_head *head)
{
	return tracex_is(head->bytes, head->len) || tracex_is_text(head->bytes, head->len);
}

static const struct fmt_option options[] = {
	{ "no-meta", false, "without the events that keep the header and the objects" },
	{ "part", true, "N  of a file with several dumps: which one" },
	{ "spans", false, "add events that say how long threads ran and held mutexes" },
	{ "start", true, "TIME  of the first event" },
	{ "tick-hz", true, "N  ticks in a second" },
	{ "tick-ns", true, "N  nanoseconds of a tick; else 1" },
	{ "tick-modulus", true, "N  where the timer begins anew; else after its mask" },
	{ "tracex-fields", true, "len  write the length of the data before 12 bytes of it" },
	{ "tracex-names", true, "FILE  names of user events, as TraceX's own (.trxc)" },
	{ "tracex-user-ids", true, "1025  user events begin there, as in old firmware" },
	{ 0 },
};

const struct format format_tracex = {
	.name = "tracex",
	.summary = "trace buffer of ThreadX, for TraceX (.trx)",
	.suffix = "trx",
	.options = options,
	.detect = detect,
	.import = tracex_import,
	.output = FMT_TO_BYTES,
	.open = tracex_sink_open,
	.object = tracex_sink_object,
	.event = tracex_sink_event,
	.end = tracex_sink_end,
	.close = tracex_sink_close,
};
