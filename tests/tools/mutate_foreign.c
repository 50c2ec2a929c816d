/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracex.h"
#include "mutate.h"

static void tell(void *arg, enum finding_kind kind, uint64_t offset, const char *code,
		 const char *text)
{
	(void)arg, (void)kind;
	mutate_sum += offset + strlen(text) + (code ? strlen(code) : 0);
}

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "mutate: %s\n", what);
	abort();
}

static void add(const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		mutate_sum = mutate_sum * 31 + bytes[i];
}

static void read_tracex(const struct tracex *dump)
{
	unsigned char piece[TRACEX_SLOT_BYTES_MAX];
	struct tracex_entry entry;
	struct tracex_slot slot;
	struct tracex_walk walk;
	struct tracex_ref *refs;
	uint64_t events = 0, ticks = 0;
	size_t count;

	add(piece, tracex_put_header(dump, piece));
	for (size_t i = 0; i < dump->slots; i++) {
		tracex_slot(dump, i, &slot);
		add(slot.name, slot.name_len);
		add(piece, tracex_put_slot(dump, i, piece));
	}
	must(!tracex_refs(dump, &refs, &count), "no memory");
	tracex_walk(dump, &walk);
	while (tracex_next(&walk, &entry)) {
		const struct tracex_ref *ref = tracex_find(refs, count, entry.context);

		must(entry.ticks >= ticks, "time goes backward");
		must(!ref || ref->slot < dump->slots, "a slot that is not there");
		ticks = entry.ticks;
		add(piece, tracex_put_entry(dump, entry.index, piece));
		events++;
	}
	must(events == dump->events, "other events than were counted");
	free(refs);
}

static void decode_tracex(const unsigned char *bytes, size_t size, struct findings *findings)
{
	struct tracex_options options = { .part = 1 };
	struct tracex dump;
	unsigned char *text = NULL;

	if (tracex_is_text(bytes, size)) {
		if (tracex_text(bytes, size, &text, &size, findings))
			return;
		bytes = text;
	}
	while (options.part < 4 && !tracex_open(&dump, bytes, size, &options, findings)) {
		read_tracex(&dump);
		options.part++;
	}
	free(text);
}

void mutate_decode(const unsigned char *bytes, size_t size)
{
	struct findings findings = { .tell = tell };

	decode_tracex(bytes, size, &findings);
}
