/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lost.c - adds up losses from the ledger of a log and from the shim's own counts. A damaged ledger
 * may have any numbers, so a sum that overflows becomes UINT64_MAX.
 */
#include "spans/lost.h"

#include <errno.h>
#include <stdlib.h>

#include "log/losses.h"
#include "spans/roles.h"

/* Returns the sum, or UINT64_MAX if it overflows. */
static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int lost_take(struct lost *lost, const struct logfile *log)
{
	unsigned kinds = 0;
	int err = shimloss_read(&lost->shim, log);

	if (err)
		return err;
	lost->types = log->types;
	/* one element more, so that the size is never 0 */
	lost->type = calloc(log->types + 1, sizeof(*lost->type));
	if (!lost->type)
		return ENOMEM;
	for (size_t i = 0; i < log->types; i++) {
		if (log->list[i]->chosen)
			kinds |= shimloss_kinds(log->list[i]->name);
		lost->type[i] = losses_of_type(log->trid, log->list[i]->id);
		if (log->list[i]->chosen)
			lost->total = add_saturated(lost->total, lost->type[i]);
	}
	lost->of_no_type = losses_of_type(log->trid, 0);
	lost->total = add_saturated(lost->total, lost->of_no_type);
	lost->untraced = shimloss_of(&lost->shim, kinds);
	return 0;
}

void lost_fini(struct lost *lost)
{
	free(lost->type);
	lost->type = NULL;
	lost->types = 0;
}

uint64_t lost_untraced(const struct lost *lost, const struct logfile *log, size_t index)
{
	return shimloss_of(&lost->shim, shimloss_kinds(log->list[index]->name));
}

uint64_t lost_of_series(const struct lost *lost, struct pairing *pairing, const struct logfile *log,
			const struct series *series)
{
	uint64_t count = lost->of_no_type;
	unsigned kinds = 0;

	/* If an event type has several roles in the series, its lost events are added only once. */
	for (size_t i = 0; i < log->types && i < lost->types; i++)
		for (const struct role *role = roles_of(pairing, log->list[i]); role;
		     role = role->next)
			if (role->series == series->of) {
				count = add_saturated(count, lost->type[i]);
				kinds |= shimloss_kinds(log->list[i]->name);
				break;
			}
	return add_saturated(count, shimloss_of(&lost->shim, kinds));
}
