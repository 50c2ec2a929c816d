/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_question.c - the first line of an answer: whose time it explains, and for how long.
 */
#include "why/page.h"

#include <string.h>

#include "base/brief.h"
#include "base/errnames.h"
#include "base/text.h"
#include "why/served.h"

/*
 * Writes the name of the upstream for whose answer the server waited, and the connection. An
 * address in a log may have any characters.
 */
static void put_upstream(const struct page *page, const struct window *window)
{
	const char *text = window->text ? page->why->history.text[window->text - 1] : "";

	out_str(page->out, " for the answer of ");
	if (*text)
		text_name(page->out, text, strlen(text));
	else
		out_str(page->out, "another server");
	out_printf(page->out, " on descriptor %d", (int)window->fd);
	if (window->end == ANSWER_READ)
		return;
	out_str(page->out, ", which did not come: ");
	if (window->end == ANSWER_BROKEN && window->error && errno_name(window->error))
		out_printf(page->out, "the connection broke (%s)", errno_name(window->error));
	else if (window->end == ANSWER_BROKEN)
		out_str(page->out, "the other side closed the connection");
	else if (window->end == ANSWER_CLOSED)
		out_str(page->out, "the thread gave up and closed the connection");
	else
		out_str(page->out, "the log ends before it");
}

/*
 * Finds the client for whose request the thread worked in the window. A turn begins with a wait for
 * input, so its request cannot have been read before.
 */
static struct served_client client_of(const struct why *why, const struct window *window)
{
	if (window->kind == WINDOW_THREAD || window->kind == WINDOW_UPSTREAM)
		return (struct served_client){ .fd = -1 };
	if (window->kind == WINDOW_SERVED)
		return (struct served_client){ window->text, window->fd };
	return served_client(&why->history, window->thread, window->from_ns, window->to_ns,
			     window->kind == WINDOW_SPAN);
}

const char *why_client(const struct why *why, const struct window *window, int32_t *fd)
{
	const struct served_client client = client_of(why, window);

	*fd = client.fd;
	return client.text ? why->history.text[client.text - 1] : "";
}

/*
 * Writes the address of a client. Programs that accept connections without asking for the address
 * leave it unknown: the descriptor identifies the client then.
 */
static void put_client(struct out *out, const char *address, int32_t fd)
{
	if (*address)
		page_label(out, address);
	else
		out_printf(out, "on descriptor %d", (int)fd);
}

/*
 * Writes the first line: the thread and its time, and whose requests or which client waited for it.
 */
void page_question(const struct page *page, const struct window *window)
{
	const bool is_turn = window->kind == WINDOW_TURN || window->kind == WINDOW_BUSY;
	char text[BRIEF_BYTES], when[WHEN_BYTES];
	int32_t fd;
	const char *client = why_client(page->why, window, &fd);

	if (is_turn) {
		/*
		 * If neither number shows that input was waiting, perhaps no request arrived
		 * meanwhile, or the log ends there.
		 */
		out_str(page->out, window->ready || window->parts > 1 ? "Requests waited: " :
			"Requests would have waited: ");
	} else if (window->kind == WINDOW_UPSTREAM) {
		out_str(page->out, "Requests waited: ");
	} else if (window->kind == WINDOW_SERVED && fd >= 0) {
		out_str(page->out, "The client ");
		put_client(page->out, client, fd);
		out_str(page->out, " waited for its answer: ");
	} else if (window->kind == WINDOW_SERVED) {
		out_str(page->out, "A client waited for its answer: ");
	} else if (window->name) {
		out_str(page->out, "The span ");
		text_name(page->out, window->name, strlen(window->name));
		out_str(page->out, " of ");
	}
	page_thread(page, window->thread, 0);
	out_printf(page->out, " %s %s", is_turn ? "was busy for" :
		   window->kind == WINDOW_UPSTREAM ? "waited" : "took",
		   brief_ns(text, (double)window_ns(window)));
	if (window->kind == WINDOW_UPSTREAM)
		put_upstream(page, window);
	else if (window->kind == WINDOW_SERVED)
		out_str(page->out, " for its request");
	else if (fd >= 0) {
		out_str(page->out, is_turn ? ", most of it for the request of the client " :
			", most of it for the client ");
		put_client(page->out, client, fd);
	}
	out_printf(page->out, ", from %s",
		   when_string(when, window->from_ns, page->why->form));
	if (window->ready)
		out_printf(page->out, "; then input was ready on %llu descriptor%s",
			   (unsigned long long)window->ready, text_plural(window->ready));
	out_str(page->out, ".\n");
}
