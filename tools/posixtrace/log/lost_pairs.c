/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lost_pairs.c - copies losses in pairs of a type and a thread.
 *
 * A ledger has losses by type and losses by thread, but the composer takes the number of losses for
 * each pair of a type and a thread. So copy_cause() must find a table of types and threads whose
 * sums by row and by column are the numbers in the ledger. Each such table results in the same
 * ledger. copy_cause() fills the table from its first row and column on (the north-west corner
 * rule), which needs linear time. In a damaged ledger the sum by type may differ from the sum by
 * thread. The losses that remain are then copied without a type or without a thread.
 */
#include "log/lost_pairs.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A position in the losses of one cause by type, or by thread. "left" is the number of those losses
 * of the present type or thread that have not been copied yet. Behind the last type or thread, left
 * remains 0.
 */
struct source {
	trace_id_t log;
	int cause;
	uint64_t left;
	trace_event_id_t id;
	struct posix_trace_thread_np thread;
	size_t index;
	bool ended;
};

/* If all losses of the present type are copied, continues with the next type that has losses. */
static int next_type(struct source *source)
{
	struct posix_trace_ledger_np ledger;

	while (!source->left && !source->ended) {
		int end = 0;
		int err = posix_trace_eventtypelist_getnext_id(source->log, &source->id, &end);

		if (err)
			return err;
		source->ended = end != 0;
		if (!end && !posix_trace_get_ledger_type_np(source->log, source->id, &ledger))
			source->left = ledger.lost[source->cause];
	}
	return 0;
}

/*
 * If all losses of the present thread are copied, continues with the next thread that has losses.
 */
static int next_thread(struct source *source)
{
	struct posix_trace_ledger_np ledger;

	while (!source->left && !source->ended) {
		int end = 0;
		int err = posix_trace_get_ledger_thread_np(source->log, source->index++,
							   &source->thread, &ledger, &end);

		if (err)
			return err;
		source->ended = end != 0;
		source->left = end ? 0 : ledger.lost[source->cause];
	}
	return 0;
}

/* Copies the losses of one cause. */
static int copy_cause(struct posix_trace_composer_np *to, trace_id_t from, int cause,
		      uint64_t left)
{
	struct source type = { .log = from, .cause = cause }, thread = type;
	int err = posix_trace_eventtypelist_rewind(from);

	while (!err && left) {
		uint64_t events = left;

		err = next_type(&type);
		if (!err)
			err = next_thread(&thread);
		if (err)
			break;
		if (type.left && type.left < events)
			events = type.left;
		if (thread.left && thread.left < events)
			events = thread.left;
		err = posix_trace_compose_lost_np(to, cause, events, type.left ? type.id : 0,
						  thread.left ? &thread.thread : NULL);
		left -= events;
		type.left -= type.left ? events : 0;
		thread.left -= thread.left ? events : 0;
	}
	return err;
}

int lost_pairs(struct posix_trace_composer_np *to, trace_id_t from)
{
	struct posix_trace_ledger_np ledger;
	int err = posix_trace_get_ledger_np(from, &ledger);

	for (int i = 0; !err && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		err = copy_cause(to, from, i, ledger.lost[i]);
	return err ? err : posix_trace_compose_lost_np(to, POSIX_TRACE_UNATTRIBUTED_NP,
						       ledger.unattributed, 0, NULL);
}
