/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.c - the format "log": logs of libposixtrace (lib/log/FORMAT). A conversion from log to log
 * copies the selected events, or merges several logs. Log files begin with "PXTRLOG1".
 */
#include "convert/log/log.h"

extern const struct format format_log;

const struct format format_log = {
	.name = "log",
	.summary = "log of libposixtrace",
	.suffix = "ptl",
	.detect = log_detect,
	.import = log_import,
	/* the writer of a log may have to seek, for example with policy LOOP */
	.output = FMT_TO_FILE,
	.open = log_sink_open,
	.begin = log_sink_begin,
	.type = log_sink_type,
	.object = log_sink_object,
	.event = log_sink_event,
	.lost = log_sink_lost,
	.end = log_sink_end,
	.close = log_sink_close,
};
