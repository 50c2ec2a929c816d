/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan.h - a trace read once before it is converted, for sinks that scan: see plan.h.
 */
#ifndef POSIXTRACE_CONVERT_SCAN_H
#define POSIXTRACE_CONVERT_SCAN_H

#include "convert/flow.h"
#include "convert/plan.h"

/*
 * Reads the flow's input to its end and makes the plan; the input is then at its beginning again.
 * Nothing is said of what is wrong with it: that is for the second time. False: the plan is not to
 * be used, and plan_fini() ends it nevertheless. An input that can be read only once is left alone,
 * *kept is then false.
 */
bool scan(const struct fmt_flow *like, struct plan *plan, bool *kept);

/* convert/scan_names.c: what processes and threads are called. */
struct scan_names;

struct scan_names *scan_names_new(void);
void scan_names_free(struct scan_names *names);
int scan_names_event(struct scan_names *names, const struct fmt_event *event);
int scan_names_thread(struct scan_names *names, const struct fmt_thread *thread);

/* At the end, while the logs are open that know objects and mappings. */
int scan_names_tell(const struct scan_names *names, const struct fmt_flow *flow, struct plan *plan);

#endif
