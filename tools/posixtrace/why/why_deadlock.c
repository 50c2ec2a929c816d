/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_deadlock.c - deadlocks as text and JSON: which lock each thread holds, where it acquired the
 * lock, and what it waits for. The text also has the processes whose threads are all idle.
 *
 * Names of threads and locks come from the log, so text is written through text_safe() only.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "symbols/symbols.h"
#include "why/circles.h"
#include "why/stuck.h"
#include "why/why.h"

#define DEADLOCKS 16 /* the most that are printed */
#define MEMBERS   12 /* the most threads of one deadlock that are printed */
#define PLACE     200

/* Returns the call in which a member of a circle is blocked. */
static const struct call *call_of(const struct history *history, uint32_t thread)
{
	return &history->call[history->stuck[thread].open - 1];
}

/* Writes what a member waits for. */
static void wanted_text(const struct history *history, uint32_t thread, char *text, size_t size)
{
	const struct call *call = call_of(history, thread);
	const uint32_t others = history->stuck[thread].others;
	char names[100];

	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
		stuck_lock_text(history, thread, call->key, text, size);
		break;
	case CAUSE_JOIN:
		snprintf(text, size, "the end of thread %d", (int)call->awaited);
		break;
	case CAUSE_CHILD:
		snprintf(text, size, "the end of process %d", (int)call->awaited);
		break;
	case CAUSE_COND:
	case CAUSE_SEM:
	case CAUSE_BARRIER:
		stuck_wakeup_text(history, call, text, size);
		break;
	default:
		circles_processes(others ? history->text[others - 1] : "", names, sizeof(names));
		snprintf(text, size, "data in a pipe into which only process%s %s could write",
			 strchr(names, ' ') ? "es" : "", names);
	}
}

/* Writes the place of an address, as of the thread's last event. */
static void place_text(const struct why *why, uint32_t thread, uint64_t address, char *text,
		       size_t size)
{
	const struct history_thread *of = &why->history.thread[thread];

	symbols_place(why->log.trid, of->pid, address, of->last_ns, false, text, size);
}

/*
 * Returns the address of the call by which a thread acquired a lock; 0: unknown. An event
 * lock.waiting of the thread has this address. If the thread had to wait when it acquired the lock,
 * the event of this wait has the address, too.
 */
static uint64_t taken_at(const struct history *history, uint32_t thread, uint64_t lock)
{
	const struct history_thread *of = &history->thread[thread];
	const struct stuck *stuck = &history->stuck[thread];

	for (unsigned i = stuck->waits_ns ? stuck->helds : 0; i-- > 0;)
		if (stuck->held[i].lock == lock)
			return stuck->held[i].address;
	for (size_t i = of->piece + of->pieces; i-- > of->piece;) {
		const struct call *call = &history->call[history->piece[i].call];

		if (call->cause == CAUSE_LOCK && call->key == lock &&
		    !call->is_open && !call->error)
			return call->address;
	}
	return 0;
}

/*
 * A member of a circle in words. In make_role(), 'before' is the member that waits for this member.
 */
struct role {
	char thread[160], waits[STUCK_TEXT], waits_at[PLACE], last[PLACE + 100], holds[PLACE],
	     holds_at[PLACE];
};

static void make_role(const struct why *why, uint32_t thread, uint32_t before, pid_t pid,
		      struct role *role)
{
	const struct history *history = &why->history;
	const struct call *call = call_of(history, thread), *other = call_of(history, before);

	memset(role, 0, sizeof(*role));
	division_thread_text(history, thread, pid, role->thread, sizeof(role->thread));
	wanted_text(history, thread, role->waits, sizeof(role->waits));
	place_text(why, thread, call->address, role->waits_at, sizeof(role->waits_at));
	stuck_last_text(history, call, role->last, sizeof(role->last));
	if (other->cause != CAUSE_LOCK || circles_owner(history, other) != thread)
		return;
	wanted_text(history, before, role->holds, sizeof(role->holds));
	place_text(why, thread, taken_at(history, thread, other->key), role->holds_at,
		   sizeof(role->holds_at));
}

static void put_safe(struct out *out, const char *before, const char *text)
{
	out_str(out, before);
	text_safe(out, text, strlen(text));
}

/* Returns how many of these members, from the first on, wait like the member of the role. */
static unsigned same_waits(const struct why *why, const uint32_t *member, unsigned count,
			   pid_t pid, const struct role *role)
{
	unsigned same = 0;

	while (same < count) {
		struct role other;

		make_role(why, member[same], member[same], pid, &other);
		if (strcmp(other.waits, role->waits) || strcmp(other.waits_at, role->waits_at) ||
		    strcmp(other.last, role->last))
			break;
		same++;
	}
	return same;
}

/* Prints one deadlock, or one idle process, in one line. */
static void put_circle(struct out *out, const struct why *why, const uint32_t *member,
		       unsigned count)
{
	const struct history *history = &why->history;
	const pid_t pid = history->thread[member[0]].pid;
	const enum circles_state state = circles_state(history, member[0]);
	unsigned i, printed = 0, same;

	out_str(out, state == CIRCLES_CERTAIN ? "Deadlock: " :
		     state == CIRCLES_IDLE ? "All threads wait: " : "Possible deadlock: ");
	for (i = 0; i < count && printed < MEMBERS; i++, printed++) {
		struct role role;

		make_role(why, member[i], member[(i + count - 1) % count], pid, &role);
		put_safe(out, i ? "; " : "", role.thread);
		if (*role.holds) {
			put_safe(out, " holds ", role.holds);
			if (*role.holds_at)
				put_safe(out, ", acquired in ", role.holds_at);
			out_str(out, ", and");
		}
		put_safe(out, " waits for ", count == 1 && *role.holds ? "the same lock" :
			 role.waits);
		if (*role.waits_at)
			put_safe(out, " in ", role.waits_at);
		if (*role.last) {
			put_safe(out, " (", role.last);
			out_char(out, ')');
		}
		same = state == CIRCLES_IDLE ?
		       same_waits(why, member + i + 1, count - i - 1, pid, &role) : 0;
		if (same)
			out_printf(out, ", and so do%s %u more thread%s", same == 1 ? "es" : "",
				   same, text_plural(same));
		i += same;
	}
	if (i < count)
		out_printf(out, "; and %u more threads wait", count - i);
	if (state == CIRCLES_IDLE)
		out_str(out, ". No thread is known to hold what they wait for: the process is "
			"idle, or a wake-up is missing");
	else if (state != CIRCLES_CERTAIN)
		put_safe(out, ". It is not certain: ", circles_doubt(history, member, count));
	out_str(out, ".\n");
}

void why_text_deadlocks(struct out *out, const struct why *why)
{
	uint32_t member[CIRCLES_MOST];
	unsigned found = 0, count;

	for (uint32_t i = 0; i < why->history.stucks && found < DEADLOCKS; i++) {
		count = circles_members(&why->history, i, member);
		if (count)
			put_circle(out, why, member, count);
		found += count != 0;
	}
}

/* Each member waits for the next one, the last one for the first. Unknown places are empty. */
void why_json_deadlocks(struct json *json, const struct why *why)
{
	uint32_t member[CIRCLES_MOST];
	bool is_certain;

	json_array(json, "deadlocks");
	for (uint32_t first = 0; first < why->history.stucks; first++) {
		const unsigned count = circles_members(&why->history, first, member);

		if (!count || circles_state(&why->history, first) == CIRCLES_IDLE)
			continue;
		is_certain = circles_state(&why->history, first) == CIRCLES_CERTAIN;
		json_object(json, NULL);
		json_bool(json, "certain", is_certain);
		json_string_member(json, "doubt", is_certain ? "" :
				   circles_doubt(&why->history, member, count));
		json_array(json, "threads");
		for (unsigned i = 0; i < count; i++) {
			const struct history_thread *thread = &why->history.thread[member[i]];
			struct role role;

			make_role(why, member[i], member[(i + count - 1) % count], 0, &role);
			json_object(json, NULL);
			json_signed(json, "pid", thread->pid);
			json_signed(json, "tid", thread->tid);
			json_string_member(json, "name", thread->name);
			json_string_member(json, "holds", role.holds);
			json_string_member(json, "acquired_in", role.holds_at);
			json_string_member(json, "waits_for", role.waits);
			json_string_member(json, "waits_in", role.waits_at);
			why_json_time(json, "since", "since_ns",
				      call_of(&why->history, member[i])->begin_ns);
			json_end_object(json);
		}
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}
