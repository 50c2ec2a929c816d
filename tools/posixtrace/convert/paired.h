/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.h - adapts the events and types of a conversion to spans/pairing.h, which works on events
 * and types of logs.
 */
#ifndef POSIXTRACE_CONVERT_PAIRED_H
#define POSIXTRACE_CONVERT_PAIRED_H

#include "convert/format.h"
#include "spans/pairing.h"

struct paired {
	struct fmt_flow *flow;
	/* NULL, or a flow that has read the same input before, so that it has all types */
	const struct fmt_flow *before;
	struct pairing pairing;
	struct log_type **type;        /* one element for each fmt_type, at its index */
	size_t types;
};

/*
 * Makes an empty pairing for the events of the flow. take() will receive each span with the event
 * that ends it. Returns 0 or ENOMEM.
 */
int paired_init(struct paired *paired, struct fmt_flow *flow,
		void (*take)(void *arg, const struct span *span,
			     const struct posix_trace_event_np *end),
		void *arg);
void paired_fini(struct paired *paired);

/*
 * Makes a struct log_type, which the caller frees, for a type of the flow. The member "index" is 0
 * and the caller may use it. Returns NULL if memory is lacking.
 */
struct log_type *paired_new(const struct fmt_type *from);

/*
 * Returns the struct log_type of a type. The first call for a type makes it. Returns NULL if memory
 * is lacking.
 */
struct log_type *paired_type(struct paired *paired, const struct fmt_type *from);

/*
 * Fills *event as an event of a log. The data is not copied, so *event points to the data of *from.
 */
void paired_event(const struct fmt_event *from, const struct log_type *type,
		  struct posix_trace_event_np *event);

/*
 * A function of the type by_name_find. Returns whether this flow, or the flow before, has a type
 * with this name, and the rule of spans/by_name.h applies to this type.
 */
bool paired_find(void *paired, const char *name, size_t len);

#endif
