/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format_tally.h"

void ptx_log_tally_init(struct ptx_log_tally *tally)
{
	memset(tally, 0, sizeof(*tally));
}

void ptx_log_tally_fini(struct ptx_log_tally *tally)
{
	free(tally->thread);
	free(tally->hash);
	ptx_log_tally_init(tally);
}

static size_t first_place(const struct ptx_log_tally *tally, const struct ptx_log_source *who)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t mix = (who->thread ^ (uintptr_t)tally) * odd;

	/* Where the tally lies is a secret that keeps a hostile log from colliding on purpose. */
	mix = (mix ^ mix >> 32 ^ who->tid ^ (uint64_t)who->pid << 32 ^ (uintptr_t)tally) * odd;
	return (size_t)(mix ^ mix >> 32) & (tally->hash_size - 1);
}

static struct ptx_log_count *find(const struct ptx_log_tally *tally,
				  const struct ptx_log_source *who, size_t *place)
{
	size_t i;

	for (i = first_place(tally, who); tally->hash[i]; i = (i + 1) & (tally->hash_size - 1)) {
		struct ptx_log_count *count = &tally->thread[tally->hash[i] - 1];

		if (count->who.pid == who->pid && count->who.tid == who->tid &&
		    count->who.thread == who->thread)
			return count;
	}
	*place = i;
	return NULL;
}

/* Keeps the table at most half full. */
static bool grow(struct ptx_log_tally *tally)
{
	size_t size = tally->hash_size ? 2 * tally->hash_size : 64, place = 0;
	struct ptx_log_count *thread;
	uint32_t *hash;

	if (size > UINT32_MAX)
		return false;
	thread = realloc(tally->thread, size / 2 * sizeof(*thread));
	if (!thread)
		return false;
	tally->thread = thread;
	hash = calloc(size, sizeof(*hash));
	if (!hash)
		return false;
	free(tally->hash);
	tally->hash = hash;
	tally->hash_size = size;
	for (size_t i = 0; i < tally->threads; i++) {
		find(tally, &thread[i].who, &place);
		hash[place] = (uint32_t)i + 1;
	}
	return true;
}

void ptx_log_tally_thread(struct ptx_log_tally *tally, const struct ptx_log_source *who,
			  uint64_t events)
{
	struct ptx_log_count *count = NULL;
	int saved = errno;
	size_t place = 0;

	if (tally->hash_size)
		count = find(tally, who, &place);
	if (!count) {
		if (2 * tally->threads >= tally->hash_size) {
			if (!grow(tally)) {
				tally->nobody += events;
				errno = saved;
				return;
			}
			find(tally, who, &place);
		}
		count = &tally->thread[tally->threads++];
		count->who = *who;
		count->events = 0;
		tally->hash[place] = (uint32_t)tally->threads;
	}
	count->events += events;
}

void ptx_log_tally_records(struct ptx_log_tally *tally, const void *records, size_t bytes,
			   const struct ptx_log_source *table)
{
	const uint8_t *at = records, *end = at + bytes;
	uint32_t source = UINT32_MAX;
	uint64_t run = 0;

	while (at < end) {
		const struct ptx_record *record = (const void *)at;

		if (record->source != source) {
			if (run)
				ptx_log_tally_thread(tally, &table[source], run);
			source = record->source;
			run = 0;
		}
		run++;
		tally->events++;
		tally->type[record->type]++;
		at += ptx_record_size(ptx_record_len(record->len_flags));
	}
	if (run)
		ptx_log_tally_thread(tally, &table[source], run);
}

static void move(struct ptx_ledger_line *line, uint64_t events, enum ptx_lost cause)
{
	line->reported -= events;
	line->lost[cause] += events;
}

void ptx_log_tally_move(const struct ptx_log_tally *tally, struct ptx_ledger *ledger,
			enum ptx_lost cause)
{
	move(&ledger->total, tally->events, cause);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		move(&ledger->type[type], tally->type[type], cause);
	for (size_t i = 0; i < tally->threads; i++) {
		const struct ptx_log_source *who = &tally->thread[i].who;

		move(ptx_ledger_thread(ledger, who->pid, who->tid, who->thread),
		     tally->thread[i].events, cause);
	}
	if (tally->nobody)
		move(ptx_ledger_thread(ledger, 0, 0, 0), tally->nobody, cause);
}

int ptx_log_tally_report(const struct ptx_log_tally *tally, struct ptx_ledger *ledger)
{
	struct ptx_ledger_thread *thread = calloc(tally->threads + 1, sizeof(*thread));

	if (!thread)
		return ENOMEM;
	ptx_ledger_fini(ledger);
	ledger->total.called = ledger->total.reported = tally->events;
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		ledger->type[type].called = ledger->type[type].reported = tally->type[type];
	for (size_t i = 0; i < tally->threads; i++) {
		thread[i].pid = tally->thread[i].who.pid;
		thread[i].tid = tally->thread[i].who.tid;
		thread[i].thread = tally->thread[i].who.thread;
		thread[i].line.called = thread[i].line.reported = tally->thread[i].events;
	}
	ledger->thread = thread;
	ledger->room = tally->threads + 1;
	ledger->threads = tally->threads;
	if (tally->nobody) {
		struct ptx_ledger_line *line = ptx_ledger_thread(ledger, 0, 0, 0);

		line->called += tally->nobody;
		line->reported += tally->nobody;
	}
	return 0;
}
