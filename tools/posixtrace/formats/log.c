/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* formats/log.c - the logs of libposixtrace. */
#include "formats/log.h"

extern const struct format format_log;

const struct format format_log = {
	.name = "log",
	.summary = "log of libposixtrace",
	.suffix = "ptl",
	.detect = log_detect,
	.import = log_import,
};
