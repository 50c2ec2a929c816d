/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/backing.c - streams whose region is in a file (DESIGN 7).
 *
 * A full disk must not raise SIGBUS in a trace point. So space in the file is allocated before it
 * is used. A trace point may extend a file while the controller shuts the stream down, so the users
 * of the descriptor are counted (member `held`). The mutex `lock` protects only the copying of the
 * lists, which trace points do not use. The parameter `bit` is the number of the stream's place in
 * the arena of this process.
 */
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
#include "arena/descriptors.h"
#include "base/compiler.h"
#include "base/io.h"
#include "base/quiet.h"

#define BACKING_OPEN 0x80000000u
#define LATE_MS      100 /* how long a creation waits for a thread that extends the old file */

/*
 * There is one structure for each place. It is static, because a trace point may still read it
 * after the end of the stream.
 */
static struct backing {
	_Atomic(unsigned char *) region; /* NULL: none */
	size_t bytes;
	int fd;
	/*
	 * The flag BACKING_OPEN while the stream lives, plus the number of threads that extend the
	 * file. The thread that makes `held` 0 closes the descriptor `fd`.
	 */
	_Atomic unsigned held;
	uint64_t device, inode;
	struct ptx_control *control;
	struct ptx_lists *lists;
} backings[PTX_STREAMS];

/*
 * Becomes true before the first region of a backing file is stored, and remains true. So a program
 * without backing files does not search all places each time it adds a type or a schema.
 */
static ptx_start_data atomic_bool has_any;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Maps a part of the file. Returns NULL after an error. Because of MAP_SHARED the file has
 * everything that was stored in the mapping, even if the process is killed.
 */
static void *backing_map(int fd, size_t bytes, uint64_t offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static void backing_unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

/*
 * Sets the size of the file, and allocates the part that the stream's size requires. If the size
 * exceeded RLIMIT_FSIZE, the kernel would raise SIGXFSZ, so the size is compared with this limit
 * first. A signal handler of the program may interrupt posix_fallocate(), so the call is repeated
 * after EINTR. Returns 0 or an error number.
 */
static int backing_allocate(int fd, const struct ptx_geometry *geometry)
{
	uint64_t bytes = PTX_REGIONS_AT + geometry->bytes;
	struct rlimit limit;
	int err;

	/* Avoids SIGXFSZ. If the file exceeds another limit, the calls below return an error. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
		return EFBIG;
	/* The file is sparse and gets its full size now, so all offsets of the region are valid. */
	err = ptx_io_truncate(fd, bytes);
	if (err)
		return err;
	do
		err = posix_fallocate(fd, 0, (off_t)(PTX_REGIONS_AT + geometry->bytes_first));
	while (err == EINTR);
	return err;
}

/*
 * Maps the parts of the file: control page, lists and region. After an error no part is mapped.
 * Returns 0 or an error number.
 */
static int map_file(struct backing *backing, const struct ptx_geometry *geometry, void **memory)
{
	struct stat file;

	if (fstat(backing->fd, &file) != 0)
		return errno;
	/* has_file() compares this identity later. */
	backing->device = file.st_dev;
	backing->inode = file.st_ino;
	backing->bytes = geometry->bytes;
	backing->control = backing_map(backing->fd, sizeof(union ptx_control_page), 0);
	backing->lists = backing_map(backing->fd, PTX_LISTS_BYTES, PTX_NAMES_AT);
	*memory = backing_map(backing->fd, geometry->bytes, PTX_REGIONS_AT);
	/* The first chunks are made present as well, so the first events need no page fault. */
	if (backing->control && backing->lists && *memory &&
	    ptx_region_back(*memory, geometry->bytes_first))
		return 0;
	/* backing_unmap() accepts a part that could not be mapped. */
	backing_unmap(*memory, geometry->bytes);
	/* backing->region is not stored yet, so no other thread uses the parts. */
	backing_unmap(backing->lists, PTX_LISTS_BYTES);
	backing_unmap(backing->control, sizeof(union ptx_control_page));
	return ENOMEM;
}

/*
 * Waits for a thread that extends the previous file of this place and still needs its descriptor.
 * The wait is bounded, since that thread may be stopped. Returns false if the thread still needs
 * the descriptor afterwards.
 */
static bool wait_until_free(const struct backing *backing)
{
	for (int ms = 0; atomic_load_explicit(&backing->held, memory_order_acquire); ms++) {
		/* The caller gets EAGAIN, and the stream is not created. */
		if (ms == LATE_MS)
			return false;
		usleep(1000);
	}
	return true;
}

/*
 * Because of O_EXCL and O_NOFOLLOW, the file is new. So no other process has it open, and the path
 * does not lead through a symbolic link to a file of another user. The lock of the file shows a
 * recovering process that the stream still lives. backing_extend() finds a file by the member
 * `region` and then uses the descriptor. So the descriptor is stored before `region`.
 */
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
	/* The descriptor gets a high number, which programs do not expect for their own files. */
	backing->fd = ptx_io_move_up(fd, PTX_OTHER_FD_MIN);
	/* The file is new, so no other process has the lock. */
	err = flock(backing->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
	if (err == ENOLCK || err == EOPNOTSUPP || err == ENOSYS)
		/* without locks a recovering process cannot find out that the stream still lives */
		err = 0;
	if (!err)
		err = backing_allocate(backing->fd, geometry);
	if (!err)
		err = map_file(backing, geometry, memory);
	/* If the creation has failed, neither the file nor the descriptor remains. */
	if (err) {
		unlink(path);
		close(backing->fd);
		return err;
	}
	atomic_store_explicit(&backing->held, BACKING_OPEN, memory_order_release);
	atomic_store_explicit(&has_any, true, memory_order_relaxed);
	atomic_store_explicit(&backing->region, *memory, memory_order_release);
	return 0;
}

/*
 * Returns true if the descriptor still belongs to the backing file. The program may have closed the
 * descriptor, and its number may belong to another file.
 */
static bool has_file(const struct backing *backing)
{
	struct stat file;

	return fstat(backing->fd, &file) == 0 && file.st_dev == backing->device &&
	       file.st_ino == backing->inode;
}

/*
 * Counts this thread as a user of the descriptor, so that the descriptor stays open. Returns false
 * if the stream has been shut down.
 */
static bool backing_hold(struct backing *backing)
{
	unsigned held = atomic_load_explicit(&backing->held, memory_order_relaxed);

	/* The exchange may be weak, because the loop repeats it. */
	while (held & BACKING_OPEN)
		if (atomic_compare_exchange_weak_explicit(&backing->held, &held, held + 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
	return false;
}

/*
 * Subtracts `uses` from the member `held`: the value 1 ends a use of the file, and BACKING_OPEN
 * ends the stream. The caller that makes `held` 0 closes the descriptor. The function reads `fd`
 * and compares the file before the exchange, because after the exchange the place may have a new
 * file.
 */
static void release_uses(struct backing *backing, unsigned uses)
{
	unsigned held = atomic_load_explicit(&backing->held, memory_order_relaxed);
	const int fd = backing->fd;
	const bool is_ours = has_file(backing);

	do {
		if (held < uses)
			/*
			 * this is a child that was forked meanwhile: ptx_backing_child() has set
			 * `held` to 0
			 */
			return;
	} while (!atomic_compare_exchange_weak_explicit(
		&backing->held, &held, held - uses, memory_order_acq_rel, memory_order_relaxed));
	/* A descriptor whose number belongs to another file by now must not be closed. */
	if (held == uses && is_ours)
		close(fd);
}

/*
 * The file at the path is removed only if it is still the backing file, because the program may
 * have replaced it.
 */
void ptx_backing_withdraw(unsigned bit, const char *path)
{
	const struct backing *backing = &backings[bit];
	struct stat file;

	if (lstat(path, &file) == 0 && file.st_dev == backing->device &&
	    file.st_ino == backing->inode)
		unlink(path);
	ptx_backing_end(bit);
}

/* Copies new names and schemas of the process into the file. The caller holds `lock`. */
static void copy_lists(struct backing *backing)
{
	if (!ptx_arena_self.lists)
		return;
	/*
	 * One thread may add a name while another thread makes a backing file. The fences make sure
	 * that at least one of the two threads sees the store of the other thread, and copies the
	 * name into the file.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	ptx_names_copy(&backing->lists->names, &ptx_arena_self.lists->names);
	ptx_schemas_copy(&backing->lists->schemas, &ptx_arena_self.lists->schemas);
}

/*
 * The release store of the word is the last step, so a recovering process that finds the state
 * ATTACHED also finds all facts and the lists. In the file the stream has place 0, and its region
 * has a constant offset. In the process's arena, the place and the offset may be others.
 */
void ptx_backing_publish(unsigned bit, const struct ptx_arena *arena,
			 const struct ptx_attachment *attachment)
{
	struct backing *backing = &backings[bit];
	struct ptx_attachment *to = &backing->control->attachment[0];

	/* Copies the facts from the process's arena. Offset and word get their own values below. */
	memcpy(to, attachment, sizeof *to);
	/* In the file the region is directly behind the lists. */
	to->offset = PTX_REGIONS_AT;
	atomic_store_explicit(&backing->control->clock,
			      atomic_load_explicit(&arena->control->clock, memory_order_relaxed),
			      memory_order_relaxed);
	ptx_arena_begin(backing->control, arena->control->pid, PTX_ARENA_CHOSEN);
	pthread_mutex_lock(&lock);
	/*
	 * Copies the names that were added before. ptx_backing_copy_lists() copies names that are
	 * added later.
	 */
	copy_lists(backing);
	pthread_mutex_unlock(&lock);
	atomic_store_explicit(&to->word, ptx_attachment_make(1, PTX_ATTACHMENT_ATTACHED),
			      memory_order_release);
}

/* Because of the exchange, only one caller ends the stream. */
void ptx_backing_end(unsigned bit)
{
	struct backing *backing = &backings[bit];

	pthread_mutex_lock(&lock);
	if (atomic_exchange_explicit(&backing->region, NULL, memory_order_acq_rel)) {
		backing_unmap(backing->lists, PTX_LISTS_BYTES);
		backing_unmap(backing->control, sizeof(union ptx_control_page));
		release_uses(backing, BACKING_OPEN);
	}
	pthread_mutex_unlock(&lock);
}

/*
 * Allocates space in the file. If the file system has no fallocate(), posix_fallocate() writes
 * zeros, which allocates space, too. Returns false if there is no space.
 */
static bool allocate_more(int fd, uint64_t at, size_t bytes)
{
	/* EINTR cannot occur: all signals are blocked. */
	return fallocate(fd, 0, (off_t)at, (off_t)bytes) == 0 ||
	       (errno == EOPNOTSUPP && posix_fallocate(fd, (off_t)at, (off_t)bytes) == 0);
}

/*
 * Finds the backing file whose region contains this address, counts this thread as a user of its
 * descriptor, and allocates the space. Returns false if there is no such file, or if there is no
 * space.
 */
static bool backing_extend(void *memory, size_t bytes)
{
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		struct backing *backing = &backings[i];
		unsigned char *region =
			atomic_load_explicit(&backing->region, memory_order_acquire);
		size_t at = (size_t)((unsigned char *)memory - region);
		bool done;

		if (!region || (unsigned char *)memory < region || at >= backing->bytes ||
		    !backing_hold(backing))
			continue;
		/*
		 * From backing_hold() on the descriptor stays open. But the place may have got
		 * another file before that call, so `region` is compared again.
		 */
		done = atomic_load_explicit(&backing->region, memory_order_acquire) == region &&
		       has_file(backing) &&
		       allocate_more(backing->fd, PTX_REGIONS_AT + at, bytes) &&
		       ptx_region_back(memory, bytes);
		release_uses(backing, 1);
		if (done)
			return true;
	}
	return false;
}

/*
 * Signals are blocked, because a signal handler that leaves by siglongjmp() would prevent
 * release_uses(), and the descriptor would never be closed. The signal mask and errno of the thread
 * are restored.
 */
bool ptx_backing_extend(void *memory, size_t bytes)
{
	sigset_t all, old;
	int saved = errno;
	bool done;

	/*
	 * A quiet process makes no system calls, so it cannot allocate space. Without space an
	 * access would raise SIGBUS.
	 */
	if (ptx_is_quiet())
		return false;
	/*
	 * sigprocmask() is async-signal-safe and, like pthread_sigmask(), changes only the mask of
	 * this thread.
	 */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	done = backing_extend(memory, bytes);
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return done;
}

/*
 * The fence pairs with the fence in copy_lists(). If this thread sees neither `has_any` nor the
 * region of a new backing file, the thread that makes the file sees the new name and copies it.
 */
bool ptx_backing_has_any(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&has_any, memory_order_relaxed);
}

void ptx_backing_copy_lists(void)
{
	if (!ptx_backing_has_any())
		return;
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		/* The lock is acquired only if the place has a file. */
		if (!atomic_load_explicit(&backings[i].region, memory_order_acquire))
			continue;
		pthread_mutex_lock(&lock);
		if (atomic_load_explicit(&backings[i].region, memory_order_relaxed))
			copy_lists(&backings[i]);
		pthread_mutex_unlock(&lock);
	}
}

/*
 * The mappings are not unmapped: fork() may have been called in a signal handler, and the
 * interrupted trace point still writes to the mapping. The mutex is initialized again, because a
 * thread of the parent may have held it at the fork.
 */
void ptx_backing_child(void)
{
	pthread_mutex_init(&lock, NULL);
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		if (atomic_exchange_explicit(&backings[i].region, NULL, memory_order_relaxed) &&
		    ptx_descriptors_are_own() && has_file(&backings[i]))
			/*
			 * Closes the child's copy of the descriptor. The parent keeps the lock of
			 * flock(), because its own descriptor stays open (arena/DESIGN 7).
			 */
			close(backings[i].fd);
		/* No thread of the child extends the file. */
		atomic_store_explicit(&backings[i].held, 0, memory_order_relaxed);
	}
}
