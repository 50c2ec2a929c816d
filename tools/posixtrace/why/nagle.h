/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nagle.h - reads that waited because TCP held back data that was already written.
 *
 * By Nagle's algorithm, TCP sends a second small write only after the peer has acknowledged the
 * first one. The peer delays this acknowledgement, on Linux by 40 ms, because it has nothing to
 * send. If a program makes two small writes before it reads, the second one is therefore delayed,
 * and the read waits, unless TCP_NODELAY is set.
 */
#ifndef POSIXTRACE_WHY_NAGLE_H
#define POSIXTRACE_WHY_NAGLE_H

#include "why/classify.h"
#include "why/history.h"

/*
 * Follows the sockets of TCP, in the order of the log. Sets call->is_small if the call is a read
 * that returned data after two or more small writes over a connection without TCP_NODELAY and
 * TCP_CORK. A connection whose socket was made before the log began is not followed.
 */
void nagle_note(struct history *history, const struct plan *plan, const struct log_type *type,
		const struct posix_trace_event_np *event, pid_t pid, struct call *call);

/* How TCP delayed the data for whose answer a thread waited. */
struct nagle_delay {
	int64_t until_ns;   /* when the peer received the data, or the end of the wait */
	bool is_measured;   /* the log has the peer's read */
};

/*
 * Returns true if TCP probably delayed the data. 'read' is the read that returned the answer.
 * 'call' is the wait: the read, or a poll before it. 'answer' is the peer's write; NULL: the peer
 * was not recorded. Then only the duration of the wait is evidence.
 */
bool nagle_delayed(const struct history *history, const struct call *call, const struct call *read,
		   const struct call *answer, struct nagle_delay *delay);

/* Frees the memory. */
void nagle_fini(struct history *history);

#endif
