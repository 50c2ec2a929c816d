/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena/places.h"

#include <unistd.h>

#include "meet/process.h"

int to_child[2], to_parent[2];

void places_begin(void)
{
	ptx_process_init();
	ck_assert_int_ge(ptx_arena_fd(ARENA), 0);
	ck_assert_int_eq(pipe(to_child), 0);
	ck_assert_int_eq(pipe(to_parent), 0);
}

void places_end(void)
{
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		close(to_parent[i]);
	}
}

void tell(int *pipe_of)
{
	if (write(pipe_of[1], "", 1) != 1)
		_exit(9);
}

void hear(int *pipe_of)
{
	char c;

	if (read(pipe_of[0], &c, 1) != 1)
		_exit(9);
}

pid_t other_process(void (*life)(void))
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		atomic_store(&ARENA->claims, 0);
		life();
		_exit(0);
	}
	return child;
}

unsigned streams(void)
{
	return (unsigned)(atomic_load(&ptx_own_control.word) & 0xff);
}

enum ptx_attachment_state state_of(unsigned bit)
{
	return ptx_attachment_state(atomic_load(&ptx_own_control.attachment[bit].word));
}

unsigned attach_one(void)
{
	uint64_t generation;
	unsigned bit;

	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ptx_attachment_place(ARENA, bit, 0, &(struct ptx_geometry){ .asked = 0 }, 0);
	ptx_attachment_publish(ARENA, bit, generation);
	return bit;
}

void attach(void)
{
	attach_one();
}
