/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_json.c - an answer as a JSON object. Durations are numbers of nanoseconds, and times are
 * strings that contain such numbers.
 *
 * Times are strings because they exceed 2^53, and many programs read numbers as double. Such a
 * program would not read them exactly. The names of keys must not change, because programs rely on
 * them. So each time also has the name that it had before the rule "NAME_ns".
 */
#include <string.h>

#include "base/json.h"
#include "base/real.h"
#include "why/groups.h"
#include "why/why.h"

/*
 * Writes a time and its percentage. Each percentage is relative to the root's time and not to the
 * parent's time, also for the parts of a thread that caused a wait.
 */
static void put_share(struct json *json, uint64_t ns, uint64_t whole)
{
	json_unsigned(json, "ns", ns);
	json_real(json, "percent", "%.3f", whole ? 100.0 * (double)ns / (double)whole : 0.0);
}

static void put_thread(struct json *json, const struct why *why, uint32_t thread)
{
	const struct history_thread *of = &why->history.thread[thread];

	json_signed(json, "pid", of->pid);
	json_signed(json, "tid", of->tid);
	json_string_member(json, "name", of->name);
}

#define HOLDERS 64 /* the most threads that put_holders() writes */

/*
 * Writes the threads that held the lock of a part, if the chain of causes ends there because no
 * single one of them is the cause.
 */
static void put_holders(struct json *json, const struct why *why, const struct division *division,
			uint32_t index)
{
	const struct why_holder *holder[HOLDERS];
	uint64_t holds;
	const size_t count = division_holders(division, index, holder, HOLDERS, &holds);

	if (!division->node[index].is_end)
		return;
	json_array(json, "holders");
	for (size_t i = 0; i < count && i < HOLDERS; i++) {
		json_object(json, NULL);
		put_thread(json, why, holder[i]->thread);
		json_unsigned(json, "ns", holder[i]->ns);
		json_unsigned(json, "holds", holder[i]->count);
		json_end_object(json);
	}
	json_end_array(json);
	json_bool(json, "more_holders", count > HOLDERS || division->node[index].has_more);
}

static void put_parts(struct json *json, const struct why *why, const struct division *division,
		      uint32_t parent);

/*
 * Prints a node and all nodes below it. The recursion is bounded because the tree has at most
 * WHY_DEPTH threads one below the other.
 */
static void put_part(struct json *json, const struct why *why, const struct division *division,
		     uint32_t index)
{
	const struct why_node *node = &division->node[index];

	json_object(json, NULL);
	json_string_member(json, "kind", division_kind_name(node->kind));
	json_string_member(json, "what", node->label ? node->label : "");
	put_share(json, node->ns, division->node[0].ns);
	put_thread(json, why, node->thread);
	json_unsigned(json, "count", node->count);
	json_unsigned(json, "calls", node->calls);
	json_unsigned(json, "longest_ns", node->longest_ns);
	why_json_time(json, "longest_at", "longest_at_ns", node->longest_at_ns);
	json_unsigned(json, "bytes", node->bytes);
	json_bool(json, "guess", node->is_guess);
	put_holders(json, why, division, index);
	put_parts(json, why, division, index);
	json_end_object(json);
}

/* Prints the children of a node. */
static void put_parts(struct json *json, const struct why *why, const struct division *division,
		      uint32_t parent)
{
	json_array(json, "parts");
	for (uint32_t at = division->node[parent].child; at; at = division->node[at].sibling)
		put_part(json, why, division, at);
	json_end_array(json);
}

/* Writes the pool whose workers were all busy, if there is one. */
static void put_pool(struct json *json, const struct why *why, const struct groups *groups)
{
	uint32_t worker[POOLS_WORKERS];
	size_t count;

	if (groups->worker == HISTORY_NONE)
		return;
	count = pools_workers(&why->history, groups->worker, worker, POOLS_WORKERS);
	json_object(json, "pool");
	json_unsigned(json, "ns", groups->busy.all_ns);
	json_unsigned(json, "busy_ns", groups->busy.all_ns - groups->busy.idle_ns);
	json_array(json, "threads");
	for (size_t i = 0; i < count; i++) {
		json_object(json, NULL);
		put_thread(json, why, worker[i]);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_rhythms(struct json *json, const struct why *why, const struct groups *groups)
{
	json_array(json, "rhythms");
	for (size_t i = 0; i < groups->rhythms; i++) {
		const struct rhythm *rhythm = &groups->rhythm[i].rhythm;

		json_object(json, NULL);
		put_thread(json, why, groups->rhythm[i].thread);
		json_bool(json, "timer", rhythm->is_timer);
		json_unsigned(json, "asked_ns", real_unsigned(rhythm->asked_ns));
		json_bool(json, "estimate", rhythm->is_estimate);
		json_unsigned(json, "period_ns", real_unsigned(rhythm->period_ns));
		json_unsigned(json, "rounds", rhythm->rounds);
		json_end_object(json);
	}
	json_end_array(json);
}

/*
 * Unlike the text output, the JSON object has all parts and causes, so that a program can choose
 * among them.
 */
int why_json(struct json *json, const struct why *why, const struct window *window,
	     const struct division *division, const struct why_causes *causes)
{
	const struct why_node *root = &division->node[0];
	uint64_t ns, periods;
	const char *client;
	struct groups groups;
	int32_t fd;
	bool is_estimate;
	const int err = groups_find(&groups, why, window, division, causes);

	if (err)
		return err;
	json_object(json, NULL);
	json_string_member(json, "span", window->name ? window->name : "");
	if (window->kind == WINDOW_UPSTREAM)
		json_string_member(json, "upstream",
				   window->text ? why->history.text[window->text - 1] : "");
	if (window->kind == WINDOW_UPSTREAM && window->end != ANSWER_READ)
		json_string_member(json, "unanswered", window->end == ANSWER_BROKEN ? "broken" :
				   window->end == ANSWER_CLOSED ? "closed" : "log end");
	client = why_client(why, window, &fd);
	if (fd >= 0) {
		json_string_member(json, "client", client);
		json_signed(json, "client_fd", fd);
	}
	put_thread(json, why, window->thread);
	why_json_time(json, "begin", "begin_ns", window->from_ns);
	why_json_time(json, "end", "end_ns", window->to_ns);
	put_share(json, root->ns, root->ns);
	why_limit(why, window, &ns, &periods, &is_estimate);
	json_unsigned(json, "throttled_ns", ns);
	json_unsigned(json, "throttled_periods", periods);
	json_array(json, "causes");
	for (size_t i = 0; i < causes->count; i++) {
		const struct why_cause *cause = &causes->cause[i];

		json_object(json, NULL);
		json_string_member(json, "kind", division_kind_name(cause->kind));
		json_string_member(json, "what", cause->label);
		put_share(json, cause->ns, root->ns);
		put_thread(json, why, cause->thread);
		json_end_object(json);
	}
	json_end_array(json);
	put_parts(json, why, division, 0);
	put_pool(json, why, &groups);
	put_rhythms(json, why, &groups);
	json_bool(json, "cut", division->is_cut);
	json_end_object(json);
	return 0;
}
