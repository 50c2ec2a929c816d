/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_states.c - a table of the threads of a recording with their states. */
#include "live/kernel_states.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/vec.h"

static bool is_thread(const void *array, uint32_t index, const void *key)
{
	return ((const struct kernel_state *)array)[index].tid == *(const pid_t *)key;
}

static uint32_t state_index(const struct kernel_states *states, pid_t tid)
{
	return table_find(&states->of_tid, hash_number(HASH_BEGIN, (unsigned)tid), is_thread,
			  states->state, &tid);
}

enum kernel_condition kernel_states_get(const struct kernel_states *states, pid_t tid)
{
	const uint32_t index = state_index(states, tid);

	return index == TABLE_NONE ? KERNEL_CONDITION_OVER :
				     (enum kernel_condition)states->state[index].condition;
}

void kernel_states_set(struct kernel_states *states, const struct kernel_state *state)
{
	const uint32_t index = state_index(states, state->tid);

	if (index != TABLE_NONE)
		states->state[index] = *state;
	else if (state->condition != KERNEL_CONDITION_OVER &&
		 states->states < TABLE_NONE - 1 &&
		 vec_grow(&states->state, states->states, 1) &&
		 table_add(&states->of_tid, hash_number(HASH_BEGIN, (unsigned)state->tid),
			   (uint32_t)states->states))
		states->state[states->states++] = *state;
}

/* kill() also accepts the number of a thread. An error other than ESRCH shows that it exists. */
uint8_t kernel_absences(pid_t tid, uint8_t absences)
{
	if (!kill(tid, 0) || errno != ESRCH)
		return 0;
	return absences < KERNEL_ABSENCES ? (uint8_t)(absences + 1) : KERNEL_ABSENCES;
}

void kernel_states_clean(struct kernel_states *states)
{
	struct kernel_states kept = { .states = 0 };

	for (size_t i = 0; i < states->states; i++) {
		struct kernel_state *state = &states->state[i];

		state->absences = kernel_absences(state->tid, state->absences);
		if (state->absences < KERNEL_ABSENCES)
			kernel_states_set(&kept, state);
	}
	kernel_states_fini(states);
	*states = kept;
}

void kernel_states_fini(struct kernel_states *states)
{
	free(states->state);
	table_fini(&states->of_tid);
	*states = (struct kernel_states){ .states = 0 };
}
