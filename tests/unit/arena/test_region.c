/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for a stream: present and zero at creation, or ENOMEM; never a SIGBUS later. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena/arena.h"
#include "meet/process.h"
#include "support/support.h"

#define PAGE 4096u

static void setup(void)
{
	ptx_process_init();
	ck_assert_int_ge(ptx_arena_fd(&ptx_arena_self), 0);
}

static struct ptx_geometry plan(size_t stream_size)
{
	struct ptx_geometry geometry;

	OK(ptx_ring_plan(stream_size, 64, PTX_RINGS_FEW, &geometry));
	return geometry;
}

static int create_region(const struct ptx_geometry *geometry, void **memory, uint64_t *offset)
{
	int err = ptx_region_place(&ptx_arena_self, geometry, offset);

	return err ? err : ptx_region_create(&ptx_arena_self, geometry, memory, offset);
}

static void destroy_region(const struct ptx_geometry *geometry, void *memory, uint64_t offset,
			   bool in_use)
{
	struct ptx_rings rings = { .region = memory, .geometry = *geometry };

	ptx_region_destroy(&ptx_arena_self, &rings, offset, in_use);
}

static unsigned pages_present(void *memory, size_t bytes)
{
	unsigned char present[16384];
	unsigned n = 0;

	ck_assert_uint_le(bytes / PAGE, sizeof present);
	OK(mincore(memory, bytes, present));
	for (size_t i = 0; i < bytes / PAGE; i++)
		n += present[i] & 1;
	return n;
}

static bool is_present(void *memory, size_t at, size_t bytes)
{
	size_t begin = at / PAGE * PAGE, end = (at + bytes + PAGE - 1) / PAGE * PAGE;

	return pages_present((char *)memory + begin, end - begin) == (end - begin) / PAGE;
}

START_TEST(a_region_is_present_and_zero_and_its_rest_is_address_space)
{
	struct ptx_geometry geometry = plan(8192);
	uint64_t offset;
	void *memory;

	setup();
	OK(create_region(&geometry, &memory, &offset));
	ck_assert_uint_ne(offset, 0);
	ck_assert(ptx_ring_first_tables(&geometry, is_present, memory));
	ck_assert(is_present(memory, geometry.chunks_at, geometry.present * geometry.chunk_bytes));
	ck_assert_uint_eq(pages_present((char *)memory + geometry.bytes_first,
					geometry.bytes - geometry.bytes_first), 0);
	for (size_t i = 0; i < geometry.bytes_first; i += 8)
		if (*(uint64_t *)(void *)((char *)memory + i))
			ck_abort_msg("not zero at %zu", i);
	destroy_region(&geometry, memory, offset, false);
}
END_TEST

START_TEST(regions_have_places_of_their_own_in_the_arena_and_none_is_used_twice)
{
	struct ptx_geometry geometry = plan(8192);
	uint64_t offset[4];
	void *memory[4];

	setup();
	for (int i = 0; i < 4; i++) {
		OK(create_region(&geometry, &memory[i], &offset[i]));
		memset(memory[i], 0x11 * (i + 1), geometry.bytes_first);
		if (i)
			ck_assert_uint_ge(offset[i], offset[i - 1] + geometry.bytes);
		if (i % 2)
			destroy_region(&geometry, memory[i], offset[i], false);
	}
	for (int i = 0; i < 4; i += 2) {
		ck_assert_uint_eq(*(unsigned char *)memory[i], 0x11 * (i + 1));
		destroy_region(&geometry, memory[i], offset[i], false);
	}
}
END_TEST

START_TEST(the_file_has_what_is_written_and_nothing_after_the_end_of_the_region)
{
	struct ptx_geometry geometry = plan(8192);
	uint64_t offset, word = 77, got = 0;
	void *memory;

	setup();
	OK(create_region(&geometry, &memory, &offset));
	memcpy(memory, &word, sizeof word);
	ck_assert_int_eq(pread(ptx_arena_fd(&ptx_arena_self), &got, sizeof got, (off_t)offset),
			 sizeof got);
	ck_assert_uint_eq(got, 77);
	destroy_region(&geometry, memory, offset, false);
	ck_assert_int_eq(pread(ptx_arena_fd(&ptx_arena_self), &got, sizeof got, (off_t)offset),
			 sizeof got);
	ck_assert_uint_eq(got, 0);
}
END_TEST

/* CREATE-15 */
START_TEST(more_than_there_is_is_refused_at_once)
{
	struct ptx_geometry geometry;
	uint64_t offset;
	void *memory;

	setup();
	geometry = plan((size_t)1 << 42);
	FAILS(ENOMEM, create_region(&geometry, &memory, &offset));
	/* a smaller request succeeds */
	geometry = plan(8192);
	OK(create_region(&geometry, &memory, &offset));
	destroy_region(&geometry, memory, offset, false);
}
END_TEST

START_TEST(memory_is_backed_by_page_wherever_it_begins)
{
	struct ptx_geometry geometry = plan(8192);
	uint64_t offset;
	char *memory;

	setup();
	OK(create_region(&geometry, (void **)&memory, &offset));
	memory += geometry.bytes_first;
	ck_assert(KEEPS_ERRNO(ptx_region_back(memory + PAGE + 100, 2 * PAGE)));
	ck_assert_uint_eq(pages_present(memory, PAGE), 0);
	ck_assert_uint_eq(pages_present(memory + PAGE, 3 * PAGE), 3);
	ck_assert_uint_eq(pages_present(memory + 4 * PAGE, PAGE), 0);
	destroy_region(&geometry, memory - geometry.bytes_first, offset, false);
}
END_TEST

START_TEST(memory_that_cannot_be_made_present_is_reported)
{
	void *memory = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	munmap(memory, PAGE);
	ck_assert(!KEEPS_ERRNO(ptx_region_back(memory, PAGE)));
}
END_TEST

/* A writer that is still inside a trace point writes into memory that no stream uses. */
START_TEST(a_region_destroyed_in_use_can_still_be_written_to)
{
	struct ptx_geometry geometry = plan(8192);
	uint64_t offset, got = 0;
	volatile uint64_t *memory;

	setup();
	OK(create_region(&geometry, (void **)&memory, &offset));
	memory[0] = 5;
	destroy_region(&geometry, (void *)memory, offset, true);
	ck_assert_uint_eq(memory[0], 0);
	memory[0] = 6;
	memory[geometry.bytes / 8 - 1] = 6;
	ck_assert_int_eq(pread(ptx_arena_fd(&ptx_arena_self), &got, sizeof got, (off_t)offset),
			 sizeof got);
	ck_assert_uint_eq(got, 0);
	munmap((void *)memory, geometry.bytes);
}
END_TEST

/* Daemons close every descriptor. Another file may then have the number. */
START_TEST(without_the_arenas_descriptor_a_region_is_memory_of_its_own)
{
	struct ptx_geometry geometry = plan(8192);
	int fd, other = -1;
	uint64_t offset;
	char *memory;

	setup();
	fd = ptx_arena_fd(&ptx_arena_self);
	close(fd);
	/* A trace point calls this function, so the program's errno must not change. */
	ck_assert_int_eq(KEEPS_ERRNO(ptx_arena_fd(&ptx_arena_self)), -1);
	ck_assert(!KEEPS_ERRNO(ptx_arena_is_shareable(&ptx_arena_self)));
	if (_i) {
		other = open("/dev/null", O_RDWR | O_CLOEXEC);
		ck_assert_int_eq(dup2(other, fd), fd);
		ck_assert_int_eq(ptx_arena_fd(&ptx_arena_self), -1);
	}
	ck_assert_int_eq(create_region(&geometry, (void **)&memory, &offset), 0);
	ck_assert_uint_eq(offset, 0);
	ck_assert(ptx_ring_first_tables(&geometry, is_present, memory));
	memory[geometry.bytes - 1] = 1;
	destroy_region(&geometry, memory, offset, false);
	if (_i) {
		close(fd);
		close(other);
	}
}
END_TEST

START_TEST(the_arena_cannot_be_truncated)
{
	int fd;

	setup();
	fd = ptx_arena_fd(&ptx_arena_self);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_uint_eq(ptx_own_control.magic, PTX_ARENA_MAGIC);
	ck_assert_uint_eq(ptx_own_control.pid, getpid());
}
END_TEST

/* FORK-02, FORK-09, FORK-10: any kind of fork, even without fork handlers */
START_TEST(a_child_starts_as_a_process_that_never_traced_and_gets_an_arena)
{
	int status;
	pid_t child;

	setup();
	atomic_store(&ptx_private.handle[1], (struct ptx_stream *)&status);
	ck_assert_uint_eq(ptx_names_open(ptx_arena_self.names, "mine"), PTX_TYPE_FIRST_USER);
	ck_assert(!ptx_process_is_child());
	child = fork();
	if (child == 0) {
		uint64_t parents = ptx_arena_self.inode;

		if (!ptx_process_is_child() || atomic_load(&ptx_private.handle[1]))
			_exit(1);
		ptx_process_child();
		if (ptx_process_is_child() || ptx_own_control.pid != (uint32_t)getpid())
			_exit(2);
		if (ptx_arena_fd(&ptx_arena_self) < 0 || ptx_arena_self.inode == parents)
			_exit(3);
		_exit(ptx_names_open(ptx_arena_self.names, "mine") == PTX_TYPE_FIRST_USER ? 0 : 4);
	}
	wait_well(child);
	ck_assert_uint_eq(ptx_own_control.pid, getpid());
	ck_assert_ptr_eq(atomic_load(&ptx_private.handle[1]), &status);
}
END_TEST

SUITE_NEEDS("populate");

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("arena: regions", &tc);

	tcase_add_test(tc, a_region_is_present_and_zero_and_its_rest_is_address_space);
	tcase_add_test(tc, regions_have_places_of_their_own_in_the_arena_and_none_is_used_twice);
	tcase_add_test(tc, the_file_has_what_is_written_and_nothing_after_the_end_of_the_region);
	tcase_add_test(tc, more_than_there_is_is_refused_at_once);
	tcase_add_test(tc, memory_is_backed_by_page_wherever_it_begins);
	tcase_add_test(tc, memory_that_cannot_be_made_present_is_reported);
	tcase_add_test(tc, a_region_destroyed_in_use_can_still_be_written_to);
	tcase_add_loop_test(tc, without_the_arenas_descriptor_a_region_is_memory_of_its_own, 0, 2);
	tcase_add_test(tc, the_arena_cannot_be_truncated);
	tcase_add_test(tc, a_child_starts_as_a_process_that_never_traced_and_gets_an_arena);
	return s;
}

SUITE_MAIN_OF(suite)
