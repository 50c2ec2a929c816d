/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/family.c - which streams of an arena are this process's own, and how a program that it
 * executes finds the arena again.
 *
 * The answer is in two places. The variable `self` is private memory, which a child of fork()
 * inherits. The table of members in the control page remains after execve(). This file trusts
 * neither place alone: a stream is this process's own only if the word of its place has the
 * generation that this process inherited, or if its facts name this process.
 *
 * Every process of the arena may write to the control page. A hostile process can at most make this
 * process record into other regions of the same arena. Loops are bounded by PTX_STREAMS and
 * PTX_MEMBERS.
 */
#include "meet/family.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/quiet.h"

/* A bound for the walk through /proc, which changes during the walk. */
#define FIND_ANCESTORS   32
#define NOT_KNOWN        UINT64_MAX
#define BEING_WRITTEN    (UINT64_C(1) << 32) /* in a member's pid: its other words are not valid */

/* The identity of this process and what it inherited, in memory that a child inherits. */
static struct {
	/* In a child, this is the parent's id until ptx_family_keep() or ptx_family_begin(). */
	uint32_t pid;
	/*
	 * Members of struct ptx_identity. 0: the process has not asked the kernel yet; NOT_KNOWN:
	 * the kernel did not return the value. All threads find the same values.
	 */
	_Atomic uint64_t inode, start;
	/*
	 * When this process began to run its program, CLOCK_REALTIME. 0: it began before it was
	 * traced.
	 */
	int64_t since_ns;
	int guard;      /* a second descriptor of the arena, 0: none */
	/*
	 * 2 * the inode of the arena, + 1 if the arena's descriptor stays open at execve(). While a
	 * thread sets the descriptor, the number of its attempt is here (ATTEMPT).
	 */
	_Atomic uint64_t cloexec_state;
	/*
	 * The generation that this process inherited at each place; 0: none. A word with another
	 * generation is a later stream, which this process did not inherit.
	 */
	uint64_t generation[PTX_STREAMS];
} self;

/*
 * Remembers an answer of the kernel. 0 means that the kernel did not return an answer. It is stored
 * as NOT_KNOWN, so that the question is not repeated at each event.
 */
static void store_answer(_Atomic uint64_t *known, uint64_t value)
{
	atomic_store_explicit(known, value ? value : NOT_KNOWN, memory_order_relaxed);
}

/* Returns the remembered answer, or 0 if it is not known or the kernel was not asked. */
static uint64_t load_answer(const _Atomic uint64_t *known)
{
	uint64_t value = atomic_load_explicit(known, memory_order_relaxed);

	return value == NOT_KNOWN ? 0 : value;
}

/*
 * This function is called at the start, because a seccomp filter may forbid its system calls later.
 * Reading the start time needs more calls, so it is done only if the kernel has no inode for the
 * process.
 */
void ptx_family_identify_self(void)
{
	struct ptx_identity identity;

	ptx_identity_self(&identity);
	store_answer(&self.inode, identity.inode);
	if (!identity.inode)
		store_answer(&self.start, identity.start);
}

/*
 * Returns whether this process has the identity. It makes only the system calls that the answer
 * needs, and none if it is quiet; then the result may be PTX_SAME_UNKNOWN.
 */
static enum ptx_same compare_self(const struct ptx_identity *other)
{
	struct ptx_identity own = { 0 };

	if (atomic_load_explicit(&self.inode, memory_order_relaxed) == 0 && !ptx_is_quiet())
		ptx_family_identify_self();
	own.inode = load_answer(&self.inode);
	/* If both inodes are known, they decide. Otherwise the start times are compared. */
	if (own.inode == 0 || other->inode == 0) {
		if (atomic_load_explicit(&self.start, memory_order_relaxed) == 0 && !ptx_is_quiet())
			store_answer(&self.start, ptx_identity_start(PTX_PROC_SELF));
		own.start = load_answer(&self.start);
	}
	return ptx_identity_compare(&own, other);
}

/*
 * Returns whether the facts name this process as the target. If a process made a stream for itself,
 * the facts have no identity, because such a stream ends when the process executes a program.
 * Another creator may replace the facts meanwhile. The caller notices this when it loads the word
 * of the place again.
 */
static enum ptx_same is_target(const struct ptx_attachment *attachment)
{
	const struct ptx_identity target = {
		.inode = atomic_load_explicit(&attachment->target_inode, memory_order_relaxed),
		.start = atomic_load_explicit(&attachment->target_start, memory_order_relaxed),
	};

	if (atomic_load_explicit(&attachment->target, memory_order_relaxed) != self.pid ||
	    (target.inode == 0 && target.start == 0))
		return PTX_OTHER;
	return compare_self(&target);
}

/*
 * The inherited generation is compared first, because this needs no system call and trace points
 * call this function.
 */
enum ptx_same ptx_family_traces_self(unsigned bit, uint64_t generation)
{
	if (self.generation[bit] == generation)
		return PTX_SAME;
	return is_target(&ptx_own_control.attachment[bit]);
}

/*
 * Returns the bits of the places whose streams are inherited by children of process pid, and stores
 * their generations. Such a stream is ATTACHED and has the attribute inherited. It either traces
 * pid itself, or pid has inherited it: then its bit is set in `more`. The generations of other
 * places are unchanged.
 */
static uint64_t family_inheritable(const struct ptx_control *control, uint32_t pid, uint64_t more,
				   uint64_t *generation)
{
	uint64_t bits = 0;

	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		const struct ptx_attachment *attachment = &control->attachment[bit];
		uint64_t word = atomic_load_explicit(&attachment->word, memory_order_acquire);

		if (ptx_attachment_state(word) != PTX_ATTACHMENT_ATTACHED ||
		    !atomic_load_explicit(&attachment->inherited, memory_order_relaxed) ||
		    (atomic_load_explicit(&attachment->target, memory_order_relaxed) != pid &&
		     !(more >> bit & 1)))
			continue;
		/* The values belong to this stream only if its word has not changed meanwhile. */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&attachment->word, memory_order_relaxed) != word)
			continue;
		bits |= UINT64_C(1) << bit;
		generation[bit] = ptx_attachment_generation(word);
	}
	return bits;
}

/*
 * Returns the entry of the process, NULL if it has none. An entry that is being written has a bit
 * above the 32 bits of an id and is never found.
 */
static struct ptx_member *member_of(struct ptx_control *control, uint32_t pid)
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].pid, memory_order_acquire) == pid)
			return &control->member[i];
	return NULL;
}

/* Other processes change the table, so the answer may be out of date immediately. */
bool ptx_family_has(struct ptx_control *control, uint32_t pid)
{
	return member_of(control, pid);
}

/* Returns the places that the process has inherited according to the table. */
static uint64_t bits_of(struct ptx_control *control, uint32_t pid)
{
	const struct ptx_member *member = member_of(control, pid);

	return member ? atomic_load_explicit(&member->bits, memory_order_relaxed) : 0;
}

/*
 * Returns true only if the kernel reports that the process is dead. A quiet process does not ask
 * the kernel, and if members are in different name spaces of process ids, an id may mean another
 * process. In both cases no process counts as dead.
 */
static bool is_dead(const struct ptx_control *control, uint32_t pid)
{
	return !ptx_is_quiet() && !atomic_load_explicit(&control->mixed, memory_order_relaxed) &&
	       ptx_life_by_kill(pid) == PTX_DEAD;
}

/* Called by writers that look for rings of dead processes (ring/reap.c). */
bool ptx_family_is_dead(uint32_t pid)
{
	return is_dead(&ptx_own_control, pid);
}

/*
 * Records which program the member runs. If `parent` is not 0, it is the program of the process
 * `parent`. If `parent` is 0, the member begins to run another program now. since_ns is stored
 * first: an observer that loads `parent` (acquire) sees the time that belongs to it.
 */
static void store_program(struct ptx_member *member, uint32_t parent)
{
	if (!member)
		return;
	self.since_ns = ptx_clock_realtime();
	atomic_store_explicit(&member->since_ns, self.since_ns, memory_order_relaxed);
	atomic_store_explicit(&member->parent, parent, memory_order_release);
}

/*
 * Enters the process in the table: in a free entry, in its own entry, or in one whose process is
 * dead according to is_free(). Returns false if there is no such entry. The process is then traced
 * only until it executes a program.
 *
 * A process that removes a stream changes the word of the place and then clears the members' bits.
 * This process stores its bits and then loads the words. Both are sequentially consistent, so at
 * least one of the two processes sees the stores of the other, and no bit remains set after its
 * stream is removed.
 *
 * If the process is killed in between, the entry keeps its id with BEING_WRITTEN. No process finds
 * the entry. When the table is full, another process reuses the entry, since its process is dead.
 */
static bool family_enrol(struct ptx_control *control, uint32_t pid, uint32_t parent, uint64_t bits,
			 const uint64_t *generation,
			 bool (*is_free)(const struct ptx_control *control, uint32_t pid))
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++) {
		struct ptx_member *member = &control->member[i];
		uint64_t old = atomic_load_explicit(&member->pid, memory_order_relaxed);
		/* The lower half is the id, also of an entry that is being written. */
		bool is_taken = old && (uint32_t)old != pid &&
				(!is_free || !is_free(control, (uint32_t)old));

		if (is_taken || !atomic_compare_exchange_strong_explicit(&member->pid, &old,
									 pid | BEING_WRITTEN,
									 memory_order_acq_rel,
									 memory_order_relaxed))
			continue;
		/*
		 * Because of the fence, an observer sees either all values of the previous member
		 * or all values of this member (update_member() in modules/mapped.c).
		 */
		atomic_thread_fence(memory_order_release);
		store_program(member, parent);
		atomic_store_explicit(&member->bits, bits, memory_order_seq_cst);
		atomic_store_explicit(&member->pid, pid, memory_order_release);
		/*
		 * A place may have another stream by now, and the bit would then mean
		 * that stream.
		 */
		for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
			if ((bits >> bit & 1) &&
			    atomic_load_explicit(&control->attachment[bit].word,
						 memory_order_seq_cst) !=
				    ptx_attachment_make(generation[bit], PTX_ATTACHMENT_ATTACHED))
				atomic_fetch_and_explicit(&member->bits, ~(UINT64_C(1) << bit),
							  memory_order_relaxed);
		return true;
	}
	return false;
}

/*
 * The function looks for dead members only if the table is full, because it needs a system call for
 * each member.
 */
static void family_enter(struct ptx_control *control, uint32_t pid, uint32_t parent, uint64_t bits,
			 const uint64_t *generation)
{
	if (!family_enrol(control, pid, parent, bits, generation, NULL))
		family_enrol(control, pid, parent, bits, generation, is_dead);
}

/*
 * Returns the places of the streams that this process has inherited and that still exist. In a
 * child that is not set up yet, it returns the places of the parent. `self` has the generations of
 * these streams.
 */
static uint64_t inherited_before(const struct ptx_control *control)
{
	uint64_t bits = 0;

	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		uint64_t word = atomic_load_explicit(&control->attachment[bit].word,
						     memory_order_relaxed);

		if (self.generation[bit] && self.generation[bit] == ptx_attachment_generation(word))
			bits |= UINT64_C(1) << bit;
	}
	return bits;
}

/*
 * This process may have locks as the creator of streams. These locks must be released when the
 * process executes another program. The kernel releases them if execve() closes any descriptor of
 * the file. The arena's own descriptor may stay open, so there is a second descriptor with
 * FD_CLOEXEC, which execve() closes. The second descriptor is never closed earlier, because closing
 * it would release the locks (arena/DESIGN 5, L2).
 */
static void guard_locks(int fd)
{
	struct stat file, guarded;

	/*
	 * The program may have closed the second descriptor, and its number may belong to another
	 * file.
	 */
	if (fstat(fd, &file) == 0 &&
	    (self.guard <= 0 || fstat(self.guard, &guarded) != 0 || guarded.st_dev != file.st_dev ||
	     guarded.st_ino != file.st_ino))
		self.guard = fcntl(fd, F_DUPFD_CLOEXEC, PTX_OTHER_FD_MIN);
}

/*
 * Called in a child. The child has none of its parent's locks, so closing its copy of the second
 * descriptor releases no lock. The descriptor is closed only if it still leads to the arena, since
 * the program may have another file under its number by now.
 */
static void drop_guard(const struct ptx_arena *arena)
{
	struct stat guarded;

	if (self.guard > 0 && fstat(self.guard, &guarded) == 0 && guarded.st_dev == arena->device &&
	    guarded.st_ino == arena->inode)
		close(self.guard);
	self.guard = 0;
}

/*
 * Called before the child's first event, possibly in a signal handler. `self` still describes the
 * parent. The child's inode and start time differ from those of its parent, so the child asks the
 * kernel again when it needs them.
 */
bool ptx_family_keep(struct ptx_arena *arena, uint32_t pid)
{
	uint64_t generation[PTX_STREAMS] = { 0 };
	const uint32_t parent = self.pid;
	uint64_t bits = family_inheritable(arena->control, parent, inherited_before(arena->control),
					   generation);

	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		self.generation[bit] = generation[bit];
	atomic_store_explicit(&self.inode, 0, memory_order_relaxed);
	atomic_store_explicit(&self.start, 0, memory_order_relaxed);
	self.since_ns = 0;
	drop_guard(arena);
	/*
	 * A child that inherits no stream makes an arena of its own. A child without a descriptor
	 * of the arena makes one, too, because it could not map regions that are attached later.
	 */
	if (!bits || arena->fd < 0)
		return false;
	self.pid = pid;
	/*
	 * If getppid() returns 0, the parent is in a name space of process ids that this process
	 * does not see. So the ids of members are not comparable.
	 */
	if (!ptx_is_quiet() && getppid() == 0)
		atomic_store_explicit(&arena->control->mixed, 1, memory_order_relaxed);
	/* The claims are those of the parent, and the child does not have their locks. */
	atomic_store_explicit(&arena->claims, 0, memory_order_relaxed);
	family_enter(arena->control, self.pid, parent, bits, generation);
	ptx_family_update_cloexec(); /* the parent may not have done this yet */
	return true;
}

/* The time is in nanoseconds. It is stored when the process is set up, before its first event. */
int64_t ptx_family_since(void)
{
	return self.since_ns;
}

void ptx_family_begin(void)
{
	self.pid = ptx_proc_own();
}

/*
 * The time is stored even if it is unknown whether this process is the target. This time only lets
 * an observer distinguish programs. Without it an observer would attribute this program's addresses
 * to the former program.
 */
bool ptx_family_store_executed(struct ptx_control *control)
{
	bool any = false;

	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_attachment *attachment = &control->attachment[bit];

		if (ptx_attachment_state(atomic_load_explicit(&attachment->word,
							      memory_order_acquire)) !=
			    PTX_ATTACHMENT_ATTACHED ||
		    is_target(attachment) == PTX_OTHER)
			continue;
		self.since_ns = ptx_clock_realtime();
		atomic_store_explicit(&attachment->executed_ns, self.since_ns,
				      memory_order_relaxed);
		any = true;
	}
	return any;
}

/*
 * Returns whether a process began before the member with its id was entered. Otherwise that member
 * is a former process with this id. A start time has a resolution of a clock tick. `number` is the
 * process's number in /proc.
 */
static bool is_old_enough(const struct ptx_member *member, uint32_t number)
{
	const int64_t tick_ns = ptx_proc_tick_ns();
	struct timespec up;
	struct ptx_proc process;
	int64_t start_ns;

	if (ptx_proc_read(number, &process) != 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0)
		return false;
	start_ns = ptx_clock_realtime() - (int64_t)up.tv_sec * PTX_NS_PER_S - up.tv_nsec +
		   (int64_t)process.start * tick_ns;
	return start_ns <= atomic_load_explicit(&member->since_ns, memory_order_relaxed) + tick_ns;
}

/*
 * Replaces a process by its parent. Two ids are needed: `*number` is the process's number in /proc,
 * which gives the parent, and `*pid` is the process's id in its own name space, which the table
 * has. Returns false if /proc does not show the parent.
 */
static bool step_to_parent(uint32_t *number, uint32_t *pid)
{
	struct ptx_proc_ids ids;
	struct ptx_proc process;

	if (ptx_proc_read(*number, &process) != 0 || process.parent == 0 ||
	    ptx_proc_ids(process.parent, &ids) != 0)
		return false;
	*number = process.parent;
	*pid = ids.inner;
	return true;
}

/*
 * A member of the family may have closed the arena's descriptor before it executed this program,
 * and its ancestors may have ended. If members are in different name spaces of process ids, an id
 * is no evidence.
 */
bool ptx_family_rejoin(struct ptx_control *control)
{
	uint32_t number = PTX_PROC_SELF, pid = ptx_proc_own();

	if (atomic_load_explicit(&control->mixed, memory_order_relaxed))
		return false;
	for (int i = 0; i <= FIND_ANCESTORS; i++) {
		const struct ptx_member *member = member_of(control, pid);

		if (member && is_old_enough(member, number))
			return ptx_family_join(control);
		if (!step_to_parent(&number, &pid))
			return false;
	}
	return false;
}

/*
 * The program is traced in three cases: its process was entered in the table before execve(), the
 * facts of a stream name the process, or an ancestor is traced into an inherited stream. `control`
 * belongs to a sealed arena of this version, but its content may be hostile.
 */
bool ptx_family_join(struct ptx_control *control)
{
	const uint32_t pid = ptx_proc_own();
	uint32_t number = PTX_PROC_SELF, ancestor = pid;
	uint64_t bits = bits_of(control, pid);
	bool targeted;

	self.pid = pid;
	targeted = ptx_family_store_executed(control);
	if (bits) {
		/*
		 * The entry exists already, so the process got it before execve(), and it runs
		 * another program now.
		 */
		store_program(member_of(control, pid), 0);
		family_inheritable(control, 0, bits, self.generation);
		return true;
	}
	if (targeted)
		return true;
	/* If /proc does not show an ancestor, the program is not traced. */
	for (int i = 0; i < FIND_ANCESTORS && step_to_parent(&number, &ancestor); i++) {
		bits = family_inheritable(control, ancestor, bits_of(control, ancestor),
					  self.generation);
		if (!bits)
			continue;
		family_enter(control, pid, 0, bits, self.generation);
		return true;
	}
	return false;
}

/* The result for a descriptor that the program inherited. */
enum arena_kind { NO_ARENA, FOREIGN_ARENA, OUR_ARENA };

/*
 * A descriptor may be any file of the program. So it is mapped only if it is sealed like an arena:
 * no process can then truncate it, and an access raises no SIGBUS. A program with more rights than
 * its caller (AT_SECURE) uses no inherited arena, since the caller could read the events that the
 * program records.
 */
static enum arena_kind examine_descriptor(int fd)
{
	struct ptx_control *control;
	struct stat file;
	enum arena_kind kind = NO_ARENA;

	if (fstat(fd, &file) != 0 || !ptx_arena_is_sealed(fd, (uint64_t)file.st_size))
		return NO_ARENA;
	control = mmap(NULL, sizeof(union ptx_control_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);
	if (control == MAP_FAILED)
		return NO_ARENA;
	if (control->magic == PTX_ARENA_MAGIC && control->version == PTX_ARENA_VERSION)
		kind = !getauxval(AT_SECURE) && ptx_family_join(control) ? OUR_ARENA
									 : FOREIGN_ARENA;
	munmap(control, sizeof(union ptx_control_page));
	return kind;
}

/*
 * Keeps the first arena in which this program is traced, and closes the others. If they stayed
 * open, the memory of families that have ended would stay in use. Descriptors of other files belong
 * to the program and are not touched.
 */
int ptx_family_find(void)
{
	int found = -1;

	for (int fd = PTX_ARENA_FD_MIN; fd < PTX_OTHER_FD_MIN; fd++) {
		enum arena_kind kind;

		if (fcntl(fd, F_GETFD) < 0) {
			if (fd == PTX_ARENA_FD_MIN)
				/*
				 * no descriptor has this number: the program has inherited no
				 * arena, as nearly always
				 */
				break;
			continue;
		}
		kind = examine_descriptor(fd);
		if (kind == OUR_ARENA && found < 0)
			found = fd;
		else if (kind != NO_ARENA)
			close(fd); /* this program does not use it */
	}
	return found;
}

/*
 * This bit in self.cloexec_state means that the rest is the number of an attempt in progress. No
 * inode is so large.
 */
#define ATTEMPT (UINT64_C(1) << 63)

/*
 * Returns the value of self.cloexec_state that fits the descriptor at this moment. The inode is
 * part of the value, because another arena has another descriptor.
 */
static uint64_t wanted_cloexec_state(void)
{
	uint64_t generation[PTX_STREAMS] = { 0 };
	uint64_t bits = family_inheritable(&ptx_own_control, self.pid,
					   inherited_before(&ptx_own_control), generation);

	return (uint64_t)ptx_arena_self.inode << 1 | (bits != 0);
}

/*
 * Sets or clears FD_CLOEXEC of the arena's descriptor: as long as programs that are executed can
 * inherit a stream, the descriptor stays open for them. Another thread may attach a stream or set
 * the descriptor at any time. After its fcntl() a thread checks whether another thread has begun an
 * attempt, and whether the state of the streams has changed. In both cases it does the work again.
 * Async-signal-safe; errno is unchanged.
 */
void ptx_family_update_cloexec(void)
{
	static _Atomic uint64_t attempts;
	uint64_t wanted = wanted_cloexec_state(), attempt;
	int fd, saved = errno;
	bool has_claims = atomic_load_explicit(&ptx_arena_self.claims, memory_order_relaxed) != 0;

	/*
	 * If this process has no claims and the descriptor is set already, nothing is to be done.
	 * This is the usual case in a child.
	 */
	if (ptx_is_quiet() ||
	    (!has_claims &&
	     atomic_load_explicit(&self.cloexec_state, memory_order_relaxed) == wanted))
		return;
	do {
		wanted = wanted_cloexec_state();
		attempt = ATTEMPT | atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed);
		atomic_store_explicit(&self.cloexec_state, attempt, memory_order_seq_cst);
		fd = ptx_arena_fd(&ptx_arena_self);
		if (fd >= 0 && wanted & 1 && has_claims)
			guard_locks(fd);
		/*
		 * Without a descriptor there is nothing to leave open. If fcntl() is refused, the
		 * descriptor is not left open as needed, and a program that is executed finds the
		 * arena by links instead. self.cloexec_state keeps the attempt, so the next call
		 * tries again.
		 */
		if (fd < 0 || fcntl(fd, F_SETFD, wanted & 1 ? 0 : FD_CLOEXEC) != 0)
			break;
	} while (!atomic_compare_exchange_strong_explicit(&self.cloexec_state, &attempt, wanted,
							  memory_order_seq_cst,
							  memory_order_relaxed) ||
		 wanted_cloexec_state() != wanted);
	errno = saved;
}
