/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_json.c - an answer as a JSON object. Durations are nanoseconds, times are strings of them.
 *
 * Times are strings because they exceed 2^53, up to which a reader that uses double is exact.
 * Programs rely on the names of the keys: a change of one breaks them.
 */
#include <string.h>

#include "base/jsontext.h"
#include "why/why.h"

static void put_string(struct out *out, const char *key, const char *text)
{
	out_printf(out, "\"%s\":", key);
	json_string(out, text, strlen(text));
}

/* A part of a thread that caused a wait has a percentage of the root, not of its parent. */
static void put_share(struct out *out, uint64_t ns, uint64_t whole)
{
	out_printf(out, ",\"ns\":%llu,\"percent\":%.3f", (unsigned long long)ns,
		   whole ? 100.0 * (double)ns / (double)whole : 0.0);
}

static void put_thread(struct out *out, const struct why *why, uint32_t thread)
{
	const struct history_thread *of = &why->history.thread[thread];

	out_printf(out, ",\"pid\":%d,\"tid\":%d,", (int)of->pid, (int)of->tid);
	put_string(out, "name", of->name);
}

/* Prints a node and all below it. The recursion ends at WHY_DEPTH threads, each with a part. */
static void put_part(struct out *out, const struct why *why, const struct division *division,
		     uint32_t index)
{
	const struct why_node *node = &division->node[index];

	out_str(out, "{\"kind\":\"");
	out_str(out, division_kind_name(node->kind));
	out_str(out, "\",");
	put_string(out, "what", node->label ? node->label : "");
	put_share(out, node->ns, division->node[0].ns);
	put_thread(out, why, node->thread);
	out_printf(out, ",\"count\":%llu,\"longest_ns\":%llu,\"longest_at\":\"%lld\","
		   "\"bytes\":%llu,\"guess\":%s,\"parts\":[", (unsigned long long)node->count,
		   (unsigned long long)node->longest_ns, (long long)node->longest_at_ns,
		   (unsigned long long)node->bytes, node->is_guess ? "true" : "false");
	for (uint32_t at = node->child; at; at = division->node[at].sibling) {
		put_part(out, why, division, at);
		if (division->node[at].sibling)
			out_char(out, ',');
	}
	out_str(out, "]}");
}

/* Unlike the text this has all parts and causes, so that a program can choose. */
void why_json(struct out *out, const struct why *why, const struct window *window,
	      const struct division *division, const struct why_causes *causes, bool is_first)
{
	const struct why_node *root = &division->node[0];

	if (!is_first)
		out_char(out, ',');
	out_char(out, '{');
	put_string(out, "span", window->name ? window->name : "");
	put_thread(out, why, window->thread);
	out_printf(out, ",\"begin\":\"%lld\",\"end\":\"%lld\"", (long long)window->from_ns,
		   (long long)window->to_ns);
	put_share(out, root->ns, root->ns);
	out_str(out, ",\"causes\":[");
	for (size_t i = 0; i < causes->count; i++) {
		const struct why_cause *cause = &causes->cause[i];

		out_str(out, i ? ",{\"kind\":\"" : "{\"kind\":\"");
		out_str(out, division_kind_name(cause->kind));
		out_str(out, "\",");
		put_string(out, "what", cause->label);
		put_share(out, cause->ns, root->ns);
		put_thread(out, why, cause->thread);
		out_char(out, '}');
	}
	out_str(out, "],\"parts\":[");
	for (uint32_t at = root->child; at; at = division->node[at].sibling) {
		put_part(out, why, division, at);
		if (division->node[at].sibling)
			out_char(out, ',');
	}
	out_printf(out, "],\"cut\":%s}", division->is_cut ? "true" : "false");
}
