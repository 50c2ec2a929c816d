/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw.h"
#include "convert/rkh/rkh.h"
#include "convert/tracex/tracex.h"
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

struct memory {
	const unsigned char *bytes;
	size_t size;
};

static int64_t read_memory(void *arg, uint64_t at, void *to, size_t len)
{
	const struct memory *memory = arg;
	size_t rest = at < memory->size ? memory->size - (size_t)at : 0;

	if (len > rest)
		len = rest;
	if (len)
		memcpy(to, memory->bytes + at, len);
	return (int64_t)len;
}

static void read_etw(const struct etw_file *file, struct findings *findings)
{
	struct etw_walk *walk;
	struct etw_record record, before = { 0 };
	char name[ETW_NAME_BYTES], names[2][256];
	uint64_t events = 0, cost;
	int more;

	etw_log_names(&file->log, names[0], names[1], sizeof(names[0]), findings);
	mutate_sum += strlen(names[0]) + strlen(names[1]);
	if (etw_walk_begin(file, &walk))
		return;
	while ((more = etw_walk_next(walk, &record)) > 0) {
		must(!events || record.stamp >= before.stamp, "a stamp goes backward");
		must(record.header <= record.size, "a payload that is not there");
		add(record.bytes, record.size);
		etw_name(&record, name);
		mutate_sum += (uint64_t)etw_time_ns(&file->log, record.stamp) + strlen(name);
		if (events && etw_cpu_cost(&file->log, &before, &record, &cost))
			mutate_sum += cost;
		before = record;
		events++;
	}
	must(more || events == file->events, "other events than were counted");
	etw_walk_end(walk);
}

static void decode_etw(const unsigned char *bytes, size_t size, struct findings *findings)
{
	struct memory memory = { bytes, size };
	struct etw_input input = { .read = read_memory, .arg = &memory, .size = size };

	for (int resync = 0; resync < 2; resync++) {
		struct etw_options options = { .resync = resync };
		struct etw_file file;

		if (etw_open(&file, &input, &options, findings))
			continue;
		read_etw(&file, findings);
		etw_close(&file);
	}
}

struct rkh_reading {
	struct rkh_decoder decoder;
	struct rkh_names *names;
	struct rkh_text text;
	uint64_t frames;
};

static bool read_frame(void *arg, const struct rkh_frame *frame)
{
	struct rkh_reading *reading = arg;

	must(frame->used <= frame->len, "arguments that are not there");
	must(!rkh_names_read(reading->names, &reading->decoder.config, frame), "no memory");
	rkh_list_frame(&reading->text, frame, &reading->decoder, reading->names);
	add((const unsigned char *)reading->text.bytes, reading->text.len);
	reading->frames++;
	return true;
}

static void read_trouble(void *arg, const struct rkh_trouble *trouble)
{
	struct rkh_reading *reading = arg;

	rkh_list_trouble(&reading->text, trouble);
	add((const unsigned char *)reading->text.bytes, reading->text.len);
}

static void decode_rkh(const unsigned char *bytes, size_t size)
{
	for (int dialect = RKH_DIALECT_3; dialect <= RKH_DIALECT_PTX; dialect++) {
		struct rkh_reading reading = { .names = rkh_names_new() };
		struct rkh_decoder *decoder = &reading.decoder;
		const struct rkh_counts *counts = &decoder->counts;

		must(reading.names && !rkh_open(decoder, dialect == RKH_DIALECT_2 ? 16 : 1024),
		     "no memory");
		decoder->dialect = (enum rkh_dialect)dialect;
		decoder->fixed = dialect;
		decoder->listener =
			(struct rkh_listener){ read_trouble, read_frame, &reading };
		for (size_t at = 0; at < size; at += 7)
			rkh_feed(decoder, bytes + at, size - at < 7 ? size - at : 7);
		rkh_end(decoder);
		must(counts->good == reading.frames, "other frames than were counted");
		must(counts->frames == counts->good + counts->of[RKH_DUPLICATE] +
		     counts->of[RKH_CHECKSUM] + counts->of[RKH_SHORT] + counts->of[RKH_ABORT] +
		     counts->of[RKH_BAD_ESCAPE] + counts->of[RKH_OVERLONG],
		     "a frame that is neither good nor bad");
		rkh_close(decoder);
		rkh_names_free(reading.names);
		free(reading.text.bytes);
	}
}

void mutate_decode(const unsigned char *bytes, size_t size)
{
	struct findings findings = { .report = tell };

	decode_tracex(bytes, size, &findings);
	decode_etw(bytes, size, &findings);
	decode_rkh(bytes, size);
}
