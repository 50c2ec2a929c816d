/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.h - the events of a conversion for spans/pairing.h, which knows those of logs.
 */
#ifndef POSIXTRACE_CONVERT_PAIRED_H
#define POSIXTRACE_CONVERT_PAIRED_H

#include "convert/format.h"
#include "spans/pairing.h"

struct paired {
	struct fmt_flow *flow;
	/* A flow that has read the same input before and so has its types; NULL: none. */
	const struct fmt_flow *before;
	struct pairing pairing;
	struct log_type **type;        /* by index: as pairing.h wants it */
	size_t types;
};

/* 0 or ENOMEM. */
int paired_init(struct paired *paired, struct fmt_flow *flow,
		void (*take)(void *arg, const struct span *span,
			     const struct posix_trace_event_np *end),
		void *arg);
void paired_fini(struct paired *paired);

/* NULL: no memory. */
struct log_type *paired_type(struct paired *paired, const struct fmt_type *from);

/* The event as a log has it. */
void paired_event(const struct fmt_event *from, const struct log_type *type,
		  struct posix_trace_event_np *event);

/* by_name_find: whether there is such a type, here or in the flow before. */
bool paired_find(void *paired, const char *name, size_t len);

#endif
