/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex.c - the event trace buffer of ThreadX as a format of posixtrace convert. The import reads
 * a dump of target memory. The export writes a dump that TraceX opens.
 */
#include "convert/tracex/tracex.h"
#include "convert/tracex/tracex_sink.h"

extern const struct format format_tracex;

/*
 * A dump is recognized by the four letters of its id, in either byte order, or as a text that
 * describes a dump.
 */
static bool tracex_detect(const struct fmt_head *head)
{
	return tracex_is(head->bytes, head->len) || tracex_is_text(head->bytes, head->len);
}

static const struct option_row option_rows[] = {
	{ "no-meta", FMT_SOURCE_OPTION, NULL,
		"leave out the events that store the header and the objects" },
	{ "part", FMT_SOURCE_OPTION, "N", "read dump N of a file with several dumps" },
	{ "spans", FMT_SOURCE_OPTION, NULL,
		"add events for the time that threads ran and held mutexes" },
	{ "start", FMT_SOURCE_OPTION, "TIME", "the time of the first event" },
	{ "tick-hz", FMT_SOURCE_OPTION, "N", "ticks in a second" },
	{ "tick-ns", FMT_SOURCE_OPTION, "N", "nanoseconds of a tick; the default is 1" },
	{ "tick-modulus", FMT_SOURCE_OPTION, "N",
		"the number of ticks after which the timer begins anew; the default is the timer "
		"mask + 1" },
	{ "tracex-fields", FMT_SINK_OPTION, "len",
		"write the length of the data before 12 bytes of it", OPTION_CHOICE, "len" },
	{ "tracex-names", FMT_SOURCE_OPTION, "FILE",
		"names of user events, as TraceX's own (.trxc)", OPTION_FILE },
	{ "tracex-user-ids", FMT_SOURCE_OPTION, "1025",
		"the first id of user events, as in old firmware; the default is 4096" },
	OPTION_END
};

const struct format format_tracex = {
	.name = "tracex",
	.summary = "trace buffer of ThreadX, for TraceX (.trx)",
	.suffix = "trx",
	.options = option_rows,
	.detect = tracex_detect,
	.import = tracex_import,
	.output = FMT_TO_BYTES,
	.open = tracex_sink_open,
	.object = tracex_sink_object,
	.event = tracex_sink_event,
	.end = tracex_sink_end,
	.close = tracex_sink_close,
};
