/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz/kept.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static void note(struct kept *kept, const struct posix_trace_event_np *from)
{
	struct kept_event *to = &kept->event[kept->n++];

	to->time_ns = from->time_ns;
	to->type = from->info.posix_event_id;
	to->len = (unsigned)from->data_len;
	to->pid = from->info.posix_pid;
	to->tid = from->tid;
	for (size_t i = 0; i < from->data_len; i++)
		to->data = 31 * to->data + ((const unsigned char *)from->data)[i];
}

bool kept_open(int fd, unsigned flags, struct kept *kept)
{
	struct posix_trace_event_np event;
	int unavailable;
	trace_id_t trid;

	kept->event = calloc(KEPT_MAX, sizeof(*kept->event));
	FUZZ_MUST(kept->event, "no memory");
	if (posix_trace_open_np(fd, flags, &trid))
		return false;
	while (kept->n < KEPT_MAX) {
		FUZZ_MUST(posix_trace_getnext_np(trid, &event, &unavailable) == 0, "no getnext_np");
		if (unavailable)
			break;
		note(kept, &event);
	}
	FUZZ_MUST(posix_trace_close(trid) == 0, "not closed");
	return true;
}

static bool stands_at(const struct kept *before, size_t from, const struct kept *after)
{
	for (size_t i = from; i < before->n; i++)
		if (i - from >= after->n || memcmp(&before->event[i], &after->event[i - from],
						   sizeof(struct kept_event)) != 0)
			return false;
	return true;
}

size_t kept_compare(const struct kept *before, const struct kept *after, bool oldest_may_go)
{
	size_t gone = 0;

	if (before->n == KEPT_MAX)
		return 0;
	while (oldest_may_go && gone < before->n && !stands_at(before, gone, after))
		gone++;
	for (size_t i = gone; i < before->n; i++)
		FUZZ_MUST(i - gone < after->n && memcmp(&before->event[i], &after->event[i - gone],
							sizeof(struct kept_event)) == 0,
			  "of %zu events number %zu is not there, of %zu", before->n, i, after->n);
	return gone;
}
