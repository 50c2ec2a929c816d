/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scan.h - reads a trace once before it is converted, for sinks that need the plan of plan.h. */
#ifndef POSIXTRACE_CONVERT_SCAN_H
#define POSIXTRACE_CONVERT_SCAN_H

#include "convert/flow.h"
#include "convert/plan.h"

/*
 * Reads the flow's input to its end, makes the plan and sets the input back to its beginning.
 * Faults of the input are not printed, because the second reading prints them. Returns 0, or an
 * error number if the plan cannot be used. The caller must call plan_fini() in both cases. *again
 * becomes true if the whole input can still be read, for example after ENOTTY, because nothing was
 * read. Otherwise a part of the input is lost, and *again becomes false.
 */
int scan(const struct fmt_flow *like, struct plan *plan, bool *again);

/*
 * In scan_facts.c: scan_time() adds the time of an event to the facts of the plan.
 * scan_facts_lost() adds a loss, and scan_facts_end() adds the facts of the end. The sink
 * format_scan_facts calls all three for a whole reading. The context of this sink is the plan, so
 * the sink has no function open(), which every other sink must have.
 */
void scan_time(struct plan *plan, int64_t time_ns);
int scan_facts_lost(struct plan *plan, const struct fmt_lost *lost);
void scan_facts_end(struct plan *plan, const struct fmt_end *end);
extern const struct format format_scan_facts;

/* In scan_names.c: the names of processes and threads. */
struct scan_names;

/*
 * scan_names_new() returns NULL if memory is lacking; scan_names_free() accepts NULL.
 * scan_names_event() notes the process and thread of an event, and the program's name if the event
 * reports it. scan_names_thread() notes a name from the source. Both return 0 or ENOMEM, and drop
 * the names of threads beyond the limit of threads.h.
 */
struct scan_names *scan_names_new(void);
void scan_names_free(struct scan_names *names);
int scan_names_event(struct scan_names *names, const struct fmt_event *event);
int scan_names_thread(struct scan_names *names, const struct fmt_thread *thread);

/*
 * Adds the names to the plan. The logs must still be open, because some names come from their
 * objects and mappings. Returns 0 or ENOMEM.
 */
int scan_names_report(const struct scan_names *names, const struct fmt_flow *flow,
		      struct plan *plan);

#endif
