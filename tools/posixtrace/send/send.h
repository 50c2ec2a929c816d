/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* send.h - a running process as the source of a conversion. */
#ifndef POSIXTRACE_SEND_SEND_H
#define POSIXTRACE_SEND_SEND_H

#include "convert/through.h"

struct send_plan {
	pid_t pid;           /* 0: a trace is sent */
	size_t stream_size;  /* bytes; 0: the default */
	int64_t duration_ns; /* 0: no limit */
	bool inherit;
};

/*
 * send_plan has the options for send_process_format, which is a source without an entry in the
 * table of formats.
 */
extern struct send_plan send_plan;
extern const struct format send_process_format;

#endif
