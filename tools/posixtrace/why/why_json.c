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

/*
 * Unlike the text output, the JSON object has all parts and causes, so that a program can choose
 * among them.
 */
void why_json(struct json *json, const struct why *why, const struct window *window,
	      const struct division *division, const struct why_causes *causes)
{
	const struct why_node *root = &division->node[0];
	uint64_t ns, periods;
	const char *client;
	int32_t fd;
	bool is_estimate;

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
	json_bool(json, "cut", division->is_cut);
	json_end_object(json);
}
