/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Observation of arenas that the library did not write: every number in them may have any value. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trace_np.h>

#include "arena/attachment.h"
#include "meet/process.h"
#include "observe/look.h"
#include "support/memory_file.h"
#include "support/random.h"
#include "support/support.h"

static struct forged {
	int fd;
	uint64_t bytes;
	struct ptx_control *control;
	struct ptx_names *names;
	char path[40];
} forged;

static struct ptx_look *look;

static uint64_t state = 88172645463325252u;

static void *map(size_t bytes, uint64_t offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, forged.fd,
			    (off_t)offset);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

/* Makes a valid arena of this process, which a test damages. */
static void setup(void)
{
	ptx_process_init();
	forged.fd = ptx_arena_file(&forged.bytes);
	ck_assert_int_ge(forged.fd, 0);
	forged.control = map(sizeof(union ptx_control_page), 0);
	forged.names = map(PTX_LISTS_BYTES, PTX_NAMES_AT);
	ptx_arena_begin(forged.control, (uint32_t)getpid(), PTX_ARENA_CHOSEN);
	snprintf(forged.path, sizeof forged.path, "/proc/self/fd/%d", forged.fd);
	look = ptx_look_new();
	ck_assert_ptr_nonnull(look);
}

static void teardown(void)
{
	munmap(forged.control, sizeof(union ptx_control_page));
	munmap(forged.names, PTX_LISTS_BYTES);
	close(forged.fd);
	free(look);
}

/* Makes a stream at the place `bit`. Its facts are valid, and its region is a hole of the file. */
static struct ptx_attachment *attach(unsigned bit, uint64_t offset)
{
	struct ptx_attachment *attachment = &forged.control->attachment[bit];

	attachment->offset = offset;
	attachment->stream_size = 65536;
	attachment->rings = PTX_RINGS_FEW;
	attachment->max_data_size = 100;
	attachment->target = (uint32_t)getpid();
	strcpy(attachment->name, "forged");
	atomic_store(&attachment->word, ptx_attachment_make(1, PTX_ATTACHMENT_ATTACHED));
	return attachment;
}

/* The reported values may be nonsense, but are within bounds. */
static void check_bounds(void)
{
	ck_assert_uint_le(look->streams, PTX_STREAMS);
	for (unsigned i = 0; i < look->streams; i++) {
		const struct ptx_look_stream *stream = &look->stream[i];
		uint64_t end;

		ck_assert_uint_lt(stream->bit, PTX_STREAMS);
		ck_assert(!__builtin_add_overflow(stream->attachment.offset,
						  stream->geometry.bytes, &end));
		ck_assert_uint_le(end, forged.bytes);
		ck_assert_uint_le(stream->chunks, stream->geometry.chunks_max);
		ck_assert_uint_le(stream->free_chunks, stream->chunks);
	}
}

/*
 * Other observers open and close arenas all the time. Between the list of openers and the look, the
 * number of a descriptor may change from one arena to another.
 */
START_TEST(a_descriptor_that_belongs_to_another_arena_by_now_is_refused)
{
	struct ptx_opener opener = { .pid = (uint32_t)getpid() };
	struct stat st;

	setup();
	OK(stat(forged.path, &st));
	opener.device = st.st_dev;
	opener.inode = st.st_ino;
	attach(0, 65536);
	ck_assert_int_eq(ptx_look_at(look, forged.path, &opener), 0);
	opener.inode++;
	ck_assert_int_eq(ptx_look_at(look, forged.path, &opener), ENOENT);
	ck_assert_uint_eq(look->streams, 0);
	opener.inode--;
	opener.device++;
	ck_assert_int_eq(ptx_look_at(look, forged.path, &opener), ENOENT);
	teardown();
}
END_TEST

START_TEST(a_file_that_is_no_arena_is_refused)
{
	int plain = memory_file("posix-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[40];

	setup();
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	ck_assert_uint_eq(look->streams, 0);
	ck_assert_int_ge(plain, 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", plain);
	ck_assert_int_ne(ptx_look_at(look, path, NULL), 0); /* empty */
	OK(ftruncate(plain, (off_t)forged.bytes));
	ck_assert_int_eq(write(plain, forged.control, PTX_PAGE), PTX_PAGE);
	ck_assert_int_ne(ptx_look_at(look, path, NULL), 0); /* the file could be cut */
	close(plain);
	ck_assert_int_ne(ptx_look_at(look, path, NULL), 0);
	ck_assert_int_ne(ptx_look_at(look, "/dev/null", NULL), 0);
	ck_assert_int_ne(ptx_look_at(look, "/proc/self/fd", NULL), 0);
	ck_assert_int_ne(ptx_look_at(look, "/proc/self/exe", NULL), 0);
	forged.control->version++;
	ck_assert_int_ne(ptx_look_at(look, forged.path, NULL), 0);
	forged.control->version--;
	forged.control->magic++;
	ck_assert_int_ne(ptx_look_at(look, forged.path, NULL), 0);
	teardown();
}
END_TEST

START_TEST(freed_memory_is_seen_empty_and_stays_absent)
{
	struct stat before, after;

	setup();
	attach(5, PTX_REGIONS_AT);
	/* The observer reads the pages of the names, too. */
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	OK(fstat(forged.fd, &before));
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	ck_assert_uint_eq(look->streams, 1);
	ck_assert_uint_eq(look->stream[0].bit, 5);
	ck_assert_uint_eq(look->stream[0].creator, PTX_CREATOR_GONE);
	ck_assert_uint_eq(look->stream[0].chunks, 0);
	ck_assert_uint_eq(look->stream[0].recorded, 0);
	OK(fstat(forged.fd, &after));
	ck_assert_int_eq(before.st_blocks, after.st_blocks);
	teardown();
}
END_TEST

START_TEST(a_region_that_cannot_be_there_is_not_looked_at)
{
	const uint64_t offsets[] = { 0, 1, PTX_PAGE, PTX_REGIONS_AT - PTX_PAGE, PTX_REGIONS_AT + 8,
				     UINT64_MAX, UINT64_MAX & ~(uint64_t)4095,
				     INT64_MAX & ~(uint64_t)4095 };
	const uint64_t sizes[] = { UINT64_MAX, INT64_MAX, SIZE_MAX >> 17, UINT64_C(1) << 46,
				   UINT64_C(1) << 45 };
	struct ptx_attachment *attachment;

	setup();
	for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
		attach(0, offsets[i]);
		ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
		ck_assert_uint_eq(look->streams, 0);
	}
	attach(0, forged.bytes - PTX_PAGE);
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	ck_assert_uint_eq(look->streams, 0);
	attachment = attach(0, PTX_REGIONS_AT);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		attachment->stream_size = sizes[i];
		ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
		ck_assert_uint_eq(look->streams, 0);
	}
	attachment->stream_size = 65536;
	attachment->rings = PTX_RINGS_FEW;
	attachment->max_data_size = UINT64_MAX;
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	ck_assert_uint_eq(look->streams, 0);
	attachment->max_data_size = 0;
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	ck_assert_uint_eq(look->streams, 1);
	teardown();
}
END_TEST

START_TEST(counts_and_links_are_bounded)
{
	struct ptx_geometry geometry;
	struct ptx_region *region;
	struct ptx_ring *ring;

	setup();
	attach(0, PTX_REGIONS_AT);
	OK(ptx_ring_plan(65536, 100, PTX_RINGS_FEW, &geometry));
	region = map(geometry.bytes_first, PTX_REGIONS_AT);
	ring = (struct ptx_ring *)(void *)((char *)region + geometry.rings_at);
	atomic_store(&region->rings, UINT32_MAX);
	atomic_store(&region->chunks, UINT32_MAX);
	atomic_store(&region->free_chunks, UINT32_MAX);
	for (uint32_t i = 0; i < PTX_RINGS_FEW; i++) {
		atomic_store(&ring[i].published, 1);
		atomic_store(&ring[i].current, ptx_link((uint32_t)random_word(&state), 0));
	}
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	check_bounds();
	ck_assert_uint_eq(look->stream[0].recorded, PTX_RINGS_FEW);
	/*
	 * With another generation, the chunk no longer belongs to the ring, however often the
	 * observer reads the word.
	 */
	for (uint32_t i = 0; i < PTX_RINGS_FEW; i++)
		atomic_store(&ring[i].current, ptx_link(i % geometry.chunks, 7));
	ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
	ck_assert_uint_eq(look->stream[0].recorded, PTX_RINGS_FEW);
	munmap(region, geometry.bytes_first);
	teardown();
}
END_TEST

static void scribble(void *memory, size_t bytes)
{
	uint64_t *word = memory;

	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = random_word(&state) >> (random_word(&state) % 64);
}

/* Most words become random. Words that lead to further words are valid in some of the runs. */
static void scribble_over_all(void)
{
	struct ptx_geometry geometry;
	void *region;

	scribble(forged.control->attachment, sizeof *forged.control -
						     offsetof(struct ptx_control, attachment));
	scribble(forged.names, sizeof *forged.names);
	for (unsigned bit = 0; bit < PTX_STREAMS; bit += 1 + (unsigned)(random_word(&state) % 16)) {
		struct ptx_attachment *attachment = attach(bit, PTX_REGIONS_AT);

		memset(attachment->name, 0xff, sizeof attachment->name);
		if (random_word(&state) % 2)
			attachment->stream_size = random_word(&state) >> (random_word(&state) % 64);
		if (random_word(&state) % 2)
			attachment->max_data_size =
				random_word(&state) >> (random_word(&state) % 64);
	}
	OK(ptx_ring_plan(65536, 100, PTX_RINGS_FEW, &geometry));
	region = map(geometry.bytes_first, PTX_REGIONS_AT);
	scribble(region, geometry.bytes_first);
	munmap(region, geometry.bytes_first);
}

static void check_told(void *arg, const struct posix_trace_stream_np *stream)
{
	++*(unsigned *)arg;
	ck_assert_uint_lt(strnlen(stream->name, sizeof stream->name), sizeof stream->name);
	ck_assert_uint_le(stream->chunks_taken, stream->chunks);
	/*
	 * If another process of the host observes at the same moment, it opens the forged file,
	 * too, and the random words may name it as a member. But each process is a member only
	 * once.
	 */
	for (size_t i = 0; i < stream->members; i++) {
		ck_assert_int_ne(stream->member[i], stream->pid);
		ck_assert_int_gt(stream->member[i], i ? stream->member[i - 1] : 0);
	}
	ck_assert_uint_eq(stream->event_names, PTX_TYPE_MAX);
	for (unsigned type = 0; type < stream->event_names; type++)
		if (stream->event_name[type])
			ck_assert_uint_lt(strnlen(stream->event_name[type], PTX_TYPE_NAME_BYTES),
					  PTX_TYPE_NAME_BYTES);
}

START_TEST(random_words_are_reported_within_bounds)
{
	unsigned told = 0;

	setup();
	for (int i = 0; i < 300; i++) {
		scribble_over_all();
		ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
		check_bounds();
		if (i % 10 == 0)
			OK(posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, check_told, &told));
	}
	ck_assert_uint_gt(told, 0);
	teardown();
}
END_TEST

static pid_t holder;
static unsigned late_seen;

/* Ends the process that has the next arena open. */
static void end_holder(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	if (holder) {
		OK(kill(holder, SIGKILL));
		ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
		holder = 0;
	}
	if (!strcmp(stream->name, "late")) {
		late_seen++;
		ck_assert_int_eq(stream->pid, getpid());
		ck_assert_uint_eq(stream->members, 0);
	}
}

/*
 * The observer makes the list of openers before it calls the visitor, in the order of the files'
 * inodes. So a process that the visitor ends is still in the list for a later file, but its id is
 * no longer known. The unused entries of the table of members do not belong to it.
 */
START_TEST(an_opener_that_has_ended_is_no_member)
{
	struct ptx_control *first, *late;
	struct stat a, b;
	int fd;

	setup();
	strcpy(attach(0, PTX_REGIONS_AT)->name, "first");
	first = forged.control;
	fd = forged.fd;
	OK(fstat(fd, &a));
	munmap(forged.names, PTX_LISTS_BYTES);
	free(look);
	setup();
	strcpy(attach(0, PTX_REGIONS_AT)->name, "second");
	OK(fstat(forged.fd, &b));
	late = a.st_ino < b.st_ino ? forged.control : first;
	strcpy(late->attachment[0].name, "late");
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		atomic_store(&late->member[i].bits, UINT64_MAX);
	holder = fork();
	ck_assert_int_ge(holder, 0);
	if (holder == 0)
		for (;;)
			pause();
	OK(posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, end_holder, NULL));
	ck_assert_int_eq(holder, 0);
	ck_assert_uint_eq(late_seen, 1);
	munmap(first, sizeof(union ptx_control_page));
	close(fd);
	teardown();
}
END_TEST

static _Atomic bool enough;

static void *scribble_on(void *arg)
{
	while (!atomic_load(&enough))
		scribble_over_all();
	return arg;
}

START_TEST(words_that_change_meanwhile_do_no_harm)
{
	pthread_t thread;

	setup();
	scribble_over_all();
	OK(pthread_create(&thread, NULL, scribble_on, NULL));
	for (int i = 0; i < 300; i++) {
		ck_assert_int_eq(ptx_look_at(look, forged.path, NULL), 0);
		check_bounds();
	}
	atomic_store(&enough, true);
	OK(pthread_join(thread, NULL));
	teardown();
}
END_TEST

/*
 * When a process closes a file, the kernel releases all record locks of the process on this file.
 */
START_TEST(an_arena_of_ones_own_is_not_opened_again)
{
	struct flock lock;
	unsigned bit;
	uint64_t generation;
	char path[40];
	int status;

	setup();
	OK(ptx_attachment_claim(&ptx_arena_self, &bit, &generation));
	snprintf(path, sizeof path, "/proc/self/fd/%d", ptx_arena_fd(&ptx_arena_self));
	ck_assert_int_eq(ptx_look_at(look, path, NULL), 0);
	lock = ptx_attachment_lock(bit, F_WRLCK);
	if (fork() == 0) {
		int fd = ptx_arena_fd(&ptx_arena_self);

		_exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK &&
		      lock.l_pid == getppid() ? 0 : 1);
	}
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, 0);
	ptx_attachment_retract(&ptx_arena_self, bit, generation);
	teardown();
}
END_TEST

SUITE_MAIN("arena: look", a_file_that_is_no_arena_is_refused,
	   a_descriptor_that_belongs_to_another_arena_by_now_is_refused,
	   freed_memory_is_seen_empty_and_stays_absent,
	   a_region_that_cannot_be_there_is_not_looked_at, counts_and_links_are_bounded,
	   random_words_are_reported_within_bounds, an_opener_that_has_ended_is_no_member,
	   words_that_change_meanwhile_do_no_harm, an_arena_of_ones_own_is_not_opened_again)
