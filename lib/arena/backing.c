/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/io.h"
#include "base/quiet.h"

#define BACKING_OPEN 0x80000000u
#define LATE_MS      100 /* for who is in the middle of extending a stream that is gone */

/* Never freed: who is late in a trace point may still look. */
static struct backing {
	_Atomic(unsigned char *) region; /* NULL: none */
	size_t bytes;
	int fd;
	/* BACKING_OPEN and the threads that extend it; who makes it 0 closes fd */
	_Atomic unsigned held;
	uint64_t device, inode;
	struct ptx_control *control;
	struct ptx_lists *lists;
} backings[PTX_STREAMS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *map(int fd, size_t bytes, uint64_t offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

/* A file that is larger than the limit would raise SIGXFSZ. */
static int allocate(int fd, const struct ptx_geometry *geometry)
{
	uint64_t bytes = PTX_REGIONS_AT + geometry->bytes;
	struct rlimit limit;
	int err;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
		return EFBIG;
	err = ptx_io_truncate(fd, bytes);
	if (err)
		return err;
	do
		err = posix_fallocate(fd, 0, (off_t)(PTX_REGIONS_AT + geometry->bytes_first));
	while (err == EINTR);
	return err;
}

static int map_file(struct backing *backing, const struct ptx_geometry *geometry, void **memory)
{
	struct stat file;

	if (fstat(backing->fd, &file) != 0)
		return errno;
	backing->device = file.st_dev;
	backing->inode = file.st_ino;
	backing->bytes = geometry->bytes;
	backing->control = map(backing->fd, sizeof(union ptx_control_page), 0);
	backing->lists = map(backing->fd, PTX_LISTS_BYTES, PTX_NAMES_AT);
	*memory = map(backing->fd, geometry->bytes, PTX_REGIONS_AT);
	if (backing->control && backing->lists && *memory &&
	    ptx_region_back(*memory, geometry->bytes_first))
		return 0;
	unmap(*memory, geometry->bytes);
	unmap(backing->lists, PTX_LISTS_BYTES);
	unmap(backing->control, sizeof(union ptx_control_page));
	return ENOMEM;
}

/* Who extends the file that this place had before needs its descriptor yet. */
static bool wait_until_free(const struct backing *backing)
{
	for (int ms = 0; atomic_load_explicit(&backing->held, memory_order_acquire); ms++) {
		if (ms == LATE_MS)
			return false;
		usleep(1000);
	}
	return true;
}

int ptx_backing_create(unsigned bit, const char *path, const struct ptx_geometry *geometry,
		       void **memory)
{
	struct backing *backing = &backings[bit];
	int err, fd;

	if (!wait_until_free(backing))
		return EAGAIN;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return errno;
	backing->fd = ptx_io_move_up(fd, PTX_OTHER_FD_MIN);
	err = flock(backing->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
	if (err == ENOLCK || err == EOPNOTSUPP || err == ENOSYS)
		err = 0; /* a file system without: nobody can tell then that it is in use */
	if (!err)
		err = allocate(backing->fd, geometry);
	if (!err)
		err = map_file(backing, geometry, memory);
	if (err) {
		unlink(path);
		close(backing->fd);
		return err;
	}
	atomic_store_explicit(&backing->held, BACKING_OPEN, memory_order_release);
	atomic_store_explicit(&backing->region, *memory, memory_order_release);
	return 0;
}

/* The program may have closed it, and the number may be another file's by now. */
static bool has_file(const struct backing *backing)
{
	struct stat file;

	return fstat(backing->fd, &file) == 0 && file.st_dev == backing->device &&
	       file.st_ino == backing->inode;
}

static bool hold(struct backing *backing)
{
	unsigned held = atomic_load_explicit(&backing->held, memory_order_relaxed);

	while (held & BACKING_OPEN)
		if (atomic_compare_exchange_weak_explicit(&backing->held, &held, held + 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
	return false;
}

static void let_go(struct backing *backing, unsigned mine)
{
	unsigned held = atomic_load_explicit(&backing->held, memory_order_relaxed);
	const int fd = backing->fd; /* whoever comes when we have let go has another */
	const bool is_ours = has_file(backing);

	do {
		if (held < mine)
			return; /* a child, forked in the middle: it has let go already */
	} while (!atomic_compare_exchange_weak_explicit(
		&backing->held, &held, held - mine, memory_order_acq_rel, memory_order_relaxed));
	if (held == mine && is_ours)
		close(fd);
}

void ptx_backing_withdraw(unsigned bit, const char *path)
{
	const struct backing *backing = &backings[bit];
	struct stat file;

	if (lstat(path, &file) == 0 && file.st_dev == backing->device &&
	    file.st_ino == backing->inode)
		unlink(path);
	ptx_backing_leave(bit);
}

static void copy_lists(struct backing *backing)
{
	if (!ptx_arena_self.lists)
		return;
	/* Who adds something and who makes a backing: one sees the other. */
	atomic_thread_fence(memory_order_seq_cst);
	ptx_names_copy(&backing->lists->names, &ptx_arena_self.lists->names);
	ptx_schemas_copy(&backing->lists->schemas, &ptx_arena_self.lists->schemas);
}

void ptx_backing_publish(unsigned bit, const struct ptx_arena *arena,
			 const struct ptx_attachment *attachment)
{
	struct backing *backing = &backings[bit];
	struct ptx_attachment *to = &backing->control->attachment[0];

	memcpy(to, attachment, sizeof *to);
	to->offset = PTX_REGIONS_AT;
	atomic_store_explicit(&backing->control->clock,
			      atomic_load_explicit(&arena->control->clock, memory_order_relaxed),
			      memory_order_relaxed);
	ptx_arena_begin(backing->control, arena->control->pid, PTX_ARENA_TAKEN);
	pthread_mutex_lock(&lock);
	copy_lists(backing);
	pthread_mutex_unlock(&lock);
	atomic_store_explicit(&to->word, ptx_attachment_make(1, PTX_ATTACHMENT_ATTACHED),
			      memory_order_release);
}

void ptx_backing_leave(unsigned bit)
{
	struct backing *backing = &backings[bit];

	pthread_mutex_lock(&lock);
	if (atomic_exchange_explicit(&backing->region, NULL, memory_order_acq_rel)) {
		unmap(backing->lists, PTX_LISTS_BYTES);
		unmap(backing->control, sizeof(union ptx_control_page));
		let_go(backing, BACKING_OPEN);
	}
	pthread_mutex_unlock(&lock);
}

/* A file system without fallocate() gets zeros written, which the C library does. */
static bool allocate_more(int fd, uint64_t at, size_t bytes)
{
	return fallocate(fd, 0, (off_t)at, (off_t)bytes) == 0 ||
	       (errno == EOPNOTSUPP && posix_fallocate(fd, (off_t)at, (off_t)bytes) == 0);
}

static bool extend(void *memory, size_t bytes)
{
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		struct backing *backing = &backings[i];
		unsigned char *region =
			atomic_load_explicit(&backing->region, memory_order_acquire);
		size_t at = (size_t)((unsigned char *)memory - region);
		bool done;

		if (!region || (unsigned char *)memory < region || at >= backing->bytes ||
		    !hold(backing))
			continue;
		/* Held, it stays; it may have been replaced before. */
		done = atomic_load_explicit(&backing->region, memory_order_acquire) == region &&
		       has_file(backing) &&
		       allocate_more(backing->fd, PTX_REGIONS_AT + at, bytes) &&
		       ptx_region_back(memory, bytes);
		let_go(backing, 1);
		if (done)
			return true;
	}
	return false;
}

/* A handler that left by siglongjmp() would hold the file for good: none comes in between. */
bool ptx_backing_extend(void *memory, size_t bytes)
{
	sigset_t all, old;
	int saved = errno;
	bool done;

	/* Memory that the file has not is SIGBUS, and a confined process may not ask for it. */
	if (ptx_is_quiet())
		return false;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	done = extend(memory, bytes);
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return done;
}

void ptx_backing_copy_lists(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		if (!atomic_load_explicit(&backings[i].region, memory_order_acquire))
			continue;
		pthread_mutex_lock(&lock);
		if (atomic_load_explicit(&backings[i].region, memory_order_relaxed))
			copy_lists(&backings[i]);
		pthread_mutex_unlock(&lock);
	}
}

/* The mappings stay where they are: a frame that the fork interrupted may still write there. */
void ptx_backing_child(void)
{
	pthread_mutex_init(&lock, NULL);
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		if (atomic_exchange_explicit(&backings[i].region, NULL, memory_order_relaxed) &&
		    has_file(&backings[i]))
			close(backings[i].fd);
		/* by this process */
		atomic_store_explicit(&backings[i].held, 0, memory_order_relaxed);
	}
}
