/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spans/opened.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define HEADS ((size_t)PAIRING_OPEN)

_Static_assert((PAIRING_OPEN & (PAIRING_OPEN - 1)) == 0, "a key's place is cut out of its hash");

bool opened_init(struct pairing *pairing)
{
	pairing->open = calloc(PAIRING_OPEN, sizeof(*pairing->open));
	pairing->head = malloc(HEADS * sizeof(*pairing->head));
	if (!pairing->open || !pairing->head)
		return false;
	for (size_t i = 0; i < HEADS; i++)
		pairing->head[i] = NONE;
	for (uint32_t i = 0; i < PAIRING_OPEN; i++)
		pairing->open[i].next = i + 1 < PAIRING_OPEN ? i + 1 : NONE;
	pairing->oldest = pairing->youngest = NONE;
	return true;
}

void opened_fini(struct pairing *pairing)
{
	free(pairing->open);
	free(pairing->head);
}

static uint32_t *place_of(struct pairing *pairing, uint64_t key)
{
	return &pairing->head[(key ^ key >> 32) & (HEADS - 1)];
}

/* Out of its place, whose link to it is given, and out of the row by age. */
static void take_out(struct pairing *pairing, uint32_t *link)
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

	if (pairing->err || !pairing->opened)
		return NULL;
	series = pairing->open[pairing->oldest].series;
	link = place_of(pairing, pairing->open[pairing->oldest].key);
	while (*link != pairing->oldest)
		link = &pairing->open[*link].next;
	take_out(pairing, link);
	return series;
}

void opened_add(struct pairing *pairing, const struct pairing_open *open)
{
	uint32_t *link = place_of(pairing, open->key), index;
	struct series *dropped = pairing->free == NONE ? opened_drop(pairing) : NULL;

	if (dropped)
		dropped->dropped++;
	if (pairing->free == NONE)
		return;
	index = pairing->free;
	pairing->free = pairing->open[index].next;
	pairing->open[index] = *open;
	pairing->open[index].next = *link;
	pairing->open[index].older = pairing->youngest;
	pairing->open[index].younger = NONE;
	if (pairing->youngest == NONE)
		pairing->oldest = index;
	else
		pairing->open[pairing->youngest].younger = index;
	pairing->youngest = index;
	*link = index;
	pairing->opened++;
}

bool opened_take(struct pairing *pairing, uint64_t key, const struct series *series,
		 struct pairing_open *open)
{
	uint32_t *link = place_of(pairing, key);

	while (*link != NONE && (pairing->open[*link].key != key ||
				 pairing->open[*link].series != series))
		link = &pairing->open[*link].next;
	if (*link == NONE)
		return false;
	*open = pairing->open[*link];
	take_out(pairing, link);
	return true;
}
