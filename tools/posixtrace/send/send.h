/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* send.h - a running process as a source of a conversion. */
#ifndef POSIXTRACE_SEND_SEND_H
#define POSIXTRACE_SEND_SEND_H

#include "convert/through.h"

struct send_plan {
	pid_t pid;
	size_t stream_size;
	int64_t duration_ns; /* 0: no end */
	bool inherit;
};

/* The plan that send_process_format, a source that no name tells, follows. */
extern struct send_plan send_plan;
extern const struct format send_process_format;

#endif
