/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lost_pairs.c - losses by type and by thread, as pairs of both.
 *
 * A ledger has losses by type and losses by thread. The composer needs them by pairs of a type and
 * a thread. Any table with the same sums gives the same ledger. This one is filled from its first
 * row and column on (the north-west corner rule), in linear time. In a damaged ledger the sums may
 * differ; the rest then has no type or no thread.
 */
#include "log/lost_pairs.h"

#include <stdbool.h>
#include <stdint.h>

/* The next loss of one cause by type, or by thread. left is 0 after the last one. */
struct source {
	trace_id_t log;
	int cause;
	uint64_t left;
	trace_event_id_t id;
	struct posix_trace_thread_np thread;
	size_t index;
	bool ended;
};

/* Goes on to the next type with a loss when all losses of the present one are used up. */
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

/* Does the same for threads. */
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
