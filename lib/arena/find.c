/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/family.h"
#include "arena/holders.h"
#include "arena/notice.h"
#include "arena/rendezvous.h"
#include "base/futex.h"
#include "base/io.h"

#define SETTING_UP_NAP_NS 1000000
#define SETTING_UP_NAPS   50
#define SETTLING_NAPS     1000 /* it is at it, unless somebody has stopped it there */

static struct ptx_arena *others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_arena(const struct ptx_arena *arena)
{
	return arena->control->magic == PTX_ARENA_MAGIC &&
	       arena->control->version == PTX_ARENA_VERSION;
}

static void free_arena(struct ptx_arena *arena)
{
	if (arena->control)
		munmap(arena->control, sizeof(union ptx_control_page));
	if (arena->lists)
		munmap(arena->lists, PTX_LISTS_BYTES);
	if (arena->fd >= 0)
		close(arena->fd);
	free(arena);
}

static void *map(int fd, size_t bytes, uint64_t offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool map_arena(struct ptx_arena *arena)
{
	arena->control = map(arena->fd, sizeof(union ptx_control_page), 0);
	ptx_arena_know_lists(arena, map(arena->fd, PTX_LISTS_BYTES, PTX_NAMES_AT));
	return arena->control && arena->lists;
}

static struct ptx_arena *new_arena(int fd)
{
	struct ptx_arena *arena = calloc(1, sizeof *arena);
	struct stat file;

	if (!arena) {
		close(fd);
		return NULL;
	}
	arena->fd = fd;
	if (fstat(fd, &file) == 0) {
		arena->device = file.st_dev;
		arena->inode = file.st_ino;
		arena->bytes = (uint64_t)file.st_size;
	}
	return arena;
}

struct ptx_arena *ptx_arena_open(int fd)
{
	struct ptx_arena *arena = new_arena(fd);

	if (!arena)
		return NULL;
	if (ptx_arena_is_sealed(fd, arena->bytes) && map_arena(arena) && is_arena(arena))
		return arena;
	free_arena(arena);
	return NULL;
}

/* Under lock. */
static struct ptx_arena *known(const struct stat *file)
{
	if (ptx_arena_self.fd >= 0 && file->st_dev == ptx_arena_self.device &&
	    file->st_ino == ptx_arena_self.inode)
		return &ptx_arena_self;
	for (struct ptx_arena *arena = others; arena; arena = arena->next)
		if (file->st_dev == arena->device && file->st_ino == arena->inode)
			return arena;
	return NULL;
}

/* NULL: the file is no arena. */
static struct ptx_arena *open_arena(int file)
{
	char path[40];
	int fd;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? NULL : ptx_arena_open(ptx_io_move_up(fd, PTX_OTHER_FD_MIN));
}

/*
 * The arena behind path, opened if it is not open yet; under lock. The descriptor that holds the file
 * fast meanwhile has no part in locks.
 */
static struct ptx_arena *arena_at(const char *path)
{
	int file = open(path, O_PATH | O_CLOEXEC);
	struct ptx_arena *arena = NULL;
	struct stat st;

	if (file < 0)
		return NULL;
	if (fstat(file, &st) == 0 && S_ISREG(st.st_mode)) {
		arena = known(&st);
		if (!arena) {
			arena = open_arena(file);
			if (arena) {
				arena->next = others;
				others = arena;
			}
		}
	}
	close(file);
	return arena;
}

enum match { NOT_ITS, NOT_YET, ITS };

/* One that it holds open may also wait for it, or be one that it has left. */
static enum match match(const struct ptx_arena *arena, uint32_t pid)
{
	if (arena->control->pid != pid)
		return ptx_family_has(arena->control, pid) ? ITS : NOT_ITS;
	switch (atomic_load_explicit(&arena->control->owner, memory_order_acquire)) {
	case PTX_ARENA_TAKEN:
		return ITS;
	case PTX_ARENA_SETTLING:
		return NOT_YET;
	default:
		return NOT_ITS;
	}
}

/*
 * Under lock. A process may hold its parent's arena, while it has not set up its own: EAGAIN. It is at
 * it: EINPROGRESS, and *result is what it will have unless it finds another. ENXIO: it does not know
 * this library.
 */
static int look_through(pid_t pid, uint32_t inner_pid, struct ptx_arena **result)
{
	char files[PTX_HOLDER_PATH], path[sizeof files + sizeof(struct dirent)];
	struct dirent *entry;
	DIR *folder;
	int err = ENXIO;

	ptx_holders_files((uint32_t)pid, files, sizeof files);
	folder = opendir(files);
	if (!folder)
		return errno == EACCES || errno == EPERM ? EPERM : errno == ENOENT ? ESRCH : errno;
	while (err && (entry = readdir(folder))) {
		struct ptx_arena *arena;

		if (entry->d_name[0] == '.' || !ptx_holders_is_candidate(dirfd(folder), entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s", files, entry->d_name);
		arena = arena_at(path);
		if (!arena)
			continue;
		switch (match(arena, inner_pid)) {
		case ITS:
			*result = arena;
			err = 0;
			break;
		case NOT_YET:
			*result = arena;
			err = EINPROGRESS;
			break;
		case NOT_ITS:
			err = err == ENXIO ? EAGAIN : err;
		}
	}
	closedir(folder);
	return err;
}

/*
 * Under lock. The same, but waits until the process has settled. One that does not, since it was stopped
 * in the middle of it, is made to keep what it has.
 */
static int search(pid_t pid, uint32_t inner_pid, struct ptx_arena **result)
{
	_Atomic uint32_t never = 0;
	uint32_t settling = PTX_ARENA_SETTLING;
	int err = look_through(pid, inner_pid, result);

	for (int i = 0; err == EINPROGRESS && i < SETTLING_NAPS; i++) {
		ptx_futex_nap(&never, 0, SETTING_UP_NAP_NS);
		err = look_through(pid, inner_pid, result);
	}
	if (err != EINPROGRESS)
		return err;
	return atomic_compare_exchange_strong_explicit(&(*result)->control->owner, &settling,
						       PTX_ARENA_TAKEN, memory_order_acq_rel,
						       memory_order_acquire) ||
			       settling == PTX_ARENA_TAKEN ?
		       0 :
		       EAGAIN;
}

/* What another who traces the process has left for it; under lock. */
static struct ptx_arena *arena_left(const struct ptx_rendezvous_target *whom)
{
	char path[PTX_RENDEZVOUS_PATH];
	struct ptx_rendezvous walk;
	struct ptx_arena *arena = NULL;

	ptx_rendezvous_begin_for(&walk, whom);
	while (!arena && ptx_rendezvous_next_path(&walk, path)) {
		arena = arena_at(path);
		if (arena && arena->control->pid != whom->pid &&
		    !ptx_family_has(arena->control, whom->pid))
			arena = NULL;
	}
	ptx_rendezvous_end(&walk);
	return arena;
}

/* An arena for a process that has none; under lock. */
static struct ptx_arena *make_waiting(uint32_t inner_pid)
{
	uint64_t bytes;
	int fd = ptx_arena_file(&bytes);
	struct ptx_arena *arena = fd < 0 ? NULL : new_arena(fd);

	if (!arena)
		return NULL;
	if (!map_arena(arena)) {
		free_arena(arena);
		return NULL;
	}
	ptx_arena_begin(arena->control, inner_pid, PTX_ARENA_WAITS);
	arena->next = others;
	others = arena;
	return arena;
}

static void sweep(void)
{
	for (struct ptx_arena **link = &others; *link;) {
		struct ptx_arena *arena = *link;

		if (arena->users) {
			link = &arena->next;
			continue;
		}
		*link = arena->next;
		free_arena(arena);
	}
}

/*
 * It has no arena, and perhaps makes one at this moment, process.c has the other half; and perhaps
 * somebody else makes one for it too, whose link was there first. Whoever found nothing before there was
 * a link looks once more: what is to be seen now may have been made before the process could see that.
 * Under lock.
 */
static int make_or_search(pid_t pid, const struct ptx_rendezvous_target *whom,
			  struct ptx_target *target)
{
	struct ptx_arena *waiting = NULL, *other = arena_left(whom);

	if (!other) {
		other = waiting = make_waiting(target->pid);
		if (!waiting)
			return ENOMEM;
		if (!ptx_rendezvous_leave_first(whom, waiting->fd)) {
			other = arena_left(whom);
			if (!other) {
				other = waiting;
				ptx_rendezvous_leave(whom, waiting->fd, false);
			}
		}
	}
	target->arena = other;
	if (search(pid, target->pid, &other) == 0 && other != target->arena) {
		if (target->arena == waiting)
			ptx_rendezvous_remove(whom, false);
		target->arena = other;
	}
	return 0;
}

/* Also one that has ended is a process until somebody has waited for it. */
static bool exists(int process)
{
	return syscall(SYS_pidfd_send_signal, process, 0, NULL, 0) == 0 || errno != ESRCH;
}

/* Under lock. */
static int find_arena(pid_t pid, const struct ptx_rendezvous_target *whom, struct ptx_target *target)
{
	_Atomic uint32_t never = 0;
	int err = search(pid, target->pid, &target->arena);

	for (int i = 0; err == EAGAIN && i < SETTING_UP_NAPS; i++) {
		ptx_futex_nap(&never, 0, SETTING_UP_NAP_NS);
		err = search(pid, target->pid, &target->arena);
	}
	return err == ENXIO || err == EAGAIN ? make_or_search(pid, whom, target) : err;
}

static int find_other(pid_t pid, struct ptx_target *target)
{
	int err, process = (int)syscall(SYS_pidfd_open, pid, 0); /* refuses a thread that is no process */
	struct ptx_rendezvous_target whom;
	struct ptx_io_process facts;
	struct stat owner;
	char path[40];

	if (process < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : ESRCH;
	target->pid = ptx_holders_inner_pid((uint32_t)pid);
	target->same_ids = target->pid == (uint32_t)pid;
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	pthread_mutex_lock(&lock);
	err = stat(path, &owner) == 0 && ptx_io_process((uint32_t)pid, &facts) ? 0 : ESRCH;
	if (!err) {
		target->start = facts.start;
		whom = (struct ptx_rendezvous_target){ owner.st_uid, target->pid, target->start };
		err = find_arena(pid, &whom, target);
	}
	if (!err && !exists(process)) {
		ptx_rendezvous_remove(&whom, false);
		err = ESRCH;
	}
	if (!err) {
		target->notice = ptx_notice_leave(target->arena, &whom, target->inherited);
		if (target->arena != &ptx_arena_self)
			target->arena->users++;
	}
	sweep();
	pthread_mutex_unlock(&lock);
	close(process);
	return err;
}

/* For the children that close the descriptor by which they would find it. */
static struct ptx_notice *leave_for_children(uint32_t pid)
{
	struct ptx_rendezvous_target whom = { .uid = geteuid(), .pid = pid };

	return ptx_io_process_start(pid, &whom.start) ?
		       ptx_notice_leave(&ptx_arena_self, &whom, true) : NULL;
}

int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target)
{
	if (pid < 0)
		return ESRCH;
	*target = (struct ptx_target){ .inherited = inherited };
	if (pid != 0 && pid != getpid())
		return find_other(pid, target);
	target->arena = &ptx_arena_self;
	target->pid = (uint32_t)getpid();
	target->same_ids = true; /* and no start: nobody else has this arena under this id */
	if (inherited)
		target->notice = leave_for_children(target->pid);
	return 0;
}

void ptx_target_release(struct ptx_target *target)
{
	ptx_notice_take_back(target->notice, target->inherited);
	if (target->arena == &ptx_arena_self)
		return;
	pthread_mutex_lock(&lock);
	target->arena->users--;
	sweep();
	pthread_mutex_unlock(&lock);
}

/* A file that is not this process's own arena, nor one that it uses: closing those would give up locks. */
static bool peek_at(int file, const struct stat *st,
		    void (*look)(void *arg, const struct ptx_arena *arena), void *arg)
{
	struct ptx_arena arena = { .device = st->st_dev, .inode = st->st_ino,
				   .bytes = (uint64_t)st->st_size };
	char path[40];
	bool is_arena;

	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	arena.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (arena.fd < 0)
		return false;
	is_arena = ptx_arena_is_sealed(arena.fd, arena.bytes);
	if (is_arena)
		look(arg, &arena);
	close(arena.fd);
	return is_arena;
}

/* Under lock. What path leads to is held fast by a descriptor that has no part in locks. */
static bool peek(const char *path, void (*look)(void *arg, const struct ptx_arena *arena), void *arg)
{
	int file = open(path, O_PATH | O_CLOEXEC);
	const struct ptx_arena *arena;
	struct stat st;
	bool done = false;

	if (file < 0)
		return false;
	if (fstat(file, &st) == 0 && S_ISREG(st.st_mode)) {
		arena = known(&st);
		if (arena)
			look(arg, arena);
		done = arena || peek_at(file, &st, look, arg);
	}
	close(file);
	return done;
}

bool ptx_target_peek(const char *path, void (*look)(void *arg, const struct ptx_arena *arena),
		     void *arg)
{
	int saved = errno;
	bool done;

	pthread_mutex_lock(&lock);
	done = peek(path, look, arg);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return done;
}

void ptx_target_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	ptx_notice_after_fork();
	for (struct ptx_arena *arena = others; arena; arena = arena->next) {
		if (ptx_arena_fd(arena) >= 0)
			close(arena->fd);
		arena->fd = -1;
	}
	others = NULL; /* the mappings stay: a frame of a call may still look at them */
}
