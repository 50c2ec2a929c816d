/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.c - keeps the open spans in a pool. Each open span is in the chain of its hash value and
 * in a list by age. Both are linked by indices. All operations take constant time, except for the
 * search in a chain, and for the growth of the pool.
 */
#include "spans/opened.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

/*
 * Entry 0 is not used, so that the index 0 can mean "none". The pool is an array that grows.
 * Entries with an index below 'fresh' have been used, so the memory is proportional to the greatest
 * number of open spans so far.
 */
#define NONE  0
#define FIRST 1
#define HEADS 256 /* the first number of heads, which add_heads() doubles */

bool opened_init(struct pairing *pairing)
{
	pairing->most = PAIRING_OPEN;
	pairing->heads = HEADS;
	pairing->head = calloc(HEADS, sizeof(*pairing->head));
	pairing->fresh = FIRST;
	return pairing->head && vec_grow(&pairing->open, 0, FIRST);
}

void opened_fini(struct pairing *pairing)
{
	free(pairing->open);
	free(pairing->head);
}

/*
 * Returns the head of the chain of this key. The shift mixes the upper half of the key into the
 * lower half, which selects the chain.
 */
static uint32_t *place_of(struct pairing *pairing, uint64_t key)
{
	return &pairing->head[(key ^ key >> 32) & (pairing->heads - 1)];
}

/* Makes an entry the first of its chain, so that a search finds the youngest entry first. */
static void link_open(struct pairing *pairing, uint32_t index)
{
	uint32_t *link = place_of(pairing, pairing->open[index].key);

	pairing->open[index].next = *link;
	*link = index;
}

/*
 * Doubles the number of heads. Most traces have few open spans and keep few heads, which remain in
 * the processor's nearest cache. If memory is lacking, the number of heads does not change, and the
 * chains become longer.
 */
static void add_heads(struct pairing *pairing)
{
	uint32_t *head = calloc(2 * pairing->heads, sizeof(*head));

	if (!head)
		return;
	free(pairing->head);
	pairing->head = head;
	pairing->heads *= 2;
	for (uint32_t i = pairing->oldest; i != NONE; i = pairing->open[i].younger)
		link_open(pairing, i);
}

/* Removes the entry with the index *link from its chain and from the list by age. */
static void remove_open(struct pairing *pairing, uint32_t *link)
{
	uint32_t index = *link;
	struct pairing_open *open = &pairing->open[index];

	*link = open->next;
	if (open->older == NONE)
		pairing->oldest = open->younger;
	else
		pairing->open[open->older].younger = open->younger;
	if (open->younger == NONE)
		pairing->youngest = open->older;
	else
		pairing->open[open->younger].older = open->older;
	open->next = pairing->free;
	pairing->free = index;
	pairing->opened--;
}

struct series *opened_drop(struct pairing *pairing)
{
	struct series *series;
	uint32_t *link;

	/* If memory was lacking, there may be no pool. */
	if (pairing->err || !pairing->opened)
		return NULL;
	/* An entry has no link to the entry before it in its chain, so the chain is searched. */
	series = pairing->open[pairing->oldest].series;
	link = place_of(pairing, pairing->open[pairing->oldest].key);
	while (*link != pairing->oldest)
		link = &pairing->open[*link].next;
	remove_open(pairing, link);
	return series;
}

struct pairing_open *opened_add(struct pairing *pairing, uint64_t key)
{
	uint32_t index;
	/*
	 * A full pool drops its oldest entry, because the end of that span was probably lost or
	 * excluded by a filter.
	 */
	struct series *dropped = pairing->opened == pairing->most ? opened_drop(pairing) : NULL;

	if (dropped)
		dropped->dropped++;
	/* opened_drop() has made room, unless memory was lacking before. */
	if (pairing->opened == pairing->most || pairing->err)
		return NULL;
	if (pairing->free == NONE && !vec_grow(&pairing->open, pairing->fresh, 1)) {
		pairing->err = ENOMEM;
		return NULL;
	}
	if (pairing->opened == pairing->heads)
		add_heads(pairing);
	if (pairing->free != NONE) {
		index = pairing->free;
		pairing->free = pairing->open[index].next;
	} else {
		index = pairing->fresh++;
	}
	pairing->open[index].key = key;
	link_open(pairing, index);
	pairing->open[index].older = pairing->youngest;
	pairing->open[index].younger = NONE;
	if (pairing->youngest == NONE)
		pairing->oldest = index;
	else
		pairing->open[pairing->youngest].younger = index;
	pairing->youngest = index;
	pairing->opened++;
	return &pairing->open[index];
}

bool opened_take(struct pairing *pairing, uint64_t key, const struct series *series,
		 struct pairing_open *open)
{
	/*
	 * Keys are hashes. Two different keys of one series could have the same hash and would be
	 * confused, but with 64 bits this is very improbable.
	 */
	uint32_t *link = place_of(pairing, key);

	while (*link != NONE && (pairing->open[*link].key != key ||
				 pairing->open[*link].series != series))
		link = &pairing->open[*link].next;
	if (*link == NONE)
		return false;
	*open = pairing->open[*link];
	remove_open(pairing, link);
	return true;
}
