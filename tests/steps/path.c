/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * path.c - the tested paths through posix_trace_event(). If the member `since` of a path is true,
 * the function is posix_trace_event_since_np(). The streams have chunks of 2 KiB, the smallest for
 * their events.
 */
#include "steps.h"

#define LOOP  { .policy = POSIX_TRACE_LOOP, .max_data = 64 }
#define UNTIL { .policy = POSIX_TRACE_UNTIL_FULL, .max_data = 64 }
#define FLUSH { .policy = POSIX_TRACE_FLUSH, .max_data = 64, .log = true }

#define HEIR  { .policy = POSIX_TRACE_UNTIL_FULL, .max_data = 64, .inherited = true }
#define LOOP_HEIR { .policy = POSIX_TRACE_LOOP, .max_data = 4000, .inherited = true }

const struct path paths[] = {
	{ "loop", { LOOP }, .bytes = 8, .prepare = 5 },
	{ "until full", { UNTIL }, .bytes = 8, .prepare = 5 },
	{ "flush", { FLUSH }, .bytes = 8, .prepare = 5 },
	{ "0 bytes", { UNTIL }, .bytes = 8, .prepare = 5, .call_bytes = CALL_BYTES(0) },
	{ "33 bytes", { UNTIL }, .bytes = 33, .prepare = 5 },
	{ "truncated", { UNTIL }, .bytes = 8, .prepare = 5, .call_bytes = CALL_BYTES(200) },
	{ "filtered", { { .policy = POSIX_TRACE_UNTIL_FULL, .max_data = 64, .filtered = true } },
	  .bytes = 8, .prepare = 5 },
	{ "several streams", { LOOP, UNTIL, FLUSH }, .bytes = 8, .prepare = 5 },
	{ "inherited", { HEIR }, .bytes = 8, .prepare = 5 },
	{ "heirs", { HEIR, UNTIL, LOOP_HEIR }, .bytes = 33, .prepare = 5 },
	{ "heir's chunk", { HEIR }, .bytes = 8, .prepare = 5, .longest = true },
	{ "heir's first", { HEIR }, .bytes = 8 },
	{ "family", { HEIR, LOOP_HEIR }, .bytes = 8, .prepare = 5, .sibling = true },
	{ "family's chunk", { HEIR }, .bytes = 8, .prepare = 5, .longest = true, .sibling = true },
	{ "log of its own", { { 0 } }, .bytes = 8, .prepare = 5, .own_log = true },
	{ "own log's chunk", { { 0 } }, .bytes = 8, .prepare = 4000, .longest = true,
	  .own_log = true },
	{ "own stream", { LOOP }, .bytes = 8, .prepare = 5, .own = true },
	{ "own streams", { LOOP, UNTIL, FLUSH }, .bytes = 8, .prepare = 5, .own = true },
	{ "own heir", { HEIR }, .bytes = 8, .own = true },
	{ "own chunk", { UNTIL }, .bytes = 8, .prepare = 5, .longest = true, .own = true },
	{ "own overwriting", { LOOP }, .bytes = 8, .prepare = 4000, .longest = true,
	  .stranger = true, .own = true },
	{ "own first event", { UNTIL }, .bytes = 8, .own = true },
	{ "own is full", { UNTIL }, .bytes = 8, .until_full = true, .prepare = 5, .own = true },
	{ "own reader sleeps", { UNTIL }, .bytes = 8, .prepare = 5, .waiter = true, .own = true },
	{ "stopped", { UNTIL }, .bytes = 8, .prepare = 5, .held = HELD_STOPPED },
	{ "not started", { UNTIL }, .bytes = 8, .prepare = 5, .held = HELD_STOPPED,
	  .held_first = true },
	{ "first, stopped", { UNTIL }, .bytes = 8, .held = HELD_STOPPED, .held_first = true },
	{ "several stopped", { LOOP, UNTIL, FLUSH }, .bytes = 8, .prepare = 5,
	  .held = HELD_STOPPED },
	{ "own stopped", { UNTIL }, .bytes = 8, .prepare = 5, .held = HELD_STOPPED, .own = true },
	{ "filtered out", { LOOP }, .bytes = 8, .prepare = 5, .held = HELD_FILTERED },
	{ "own filtered out", { LOOP }, .bytes = 8, .prepare = 5, .held = HELD_FILTERED,
	  .own = true },
	{ "a reader sleeps", { UNTIL }, .bytes = 8, .prepare = 5, .waiter = true },
	{ "since", { LOOP }, .bytes = 12, .prepare = 5, .since = true },
	{ "since flush", { FLUSH }, .bytes = 8, .prepare = 5, .since = true },
	{ "since several", { LOOP, UNTIL, HEIR }, .bytes = 12, .prepare = 5, .since = true },
	{ "since next chunk", { UNTIL }, .bytes = 12, .prepare = 5, .longest = true,
	  .since = true },
	{ "next chunk", { UNTIL }, .bytes = 8, .prepare = 5, .longest = true },
	{ "overwriting", { LOOP }, .bytes = 8, .prepare = 4000, .longest = true, .stranger = true },
	{ "first event", { UNTIL }, .bytes = 8 },
	{ "becomes full", { UNTIL }, .bytes = 8, .until_full = true },
	{ "is full", { UNTIL }, .bytes = 8, .until_full = true, .prepare = 5 },
};
const unsigned path_count = sizeof(paths) / sizeof(paths[0]);
