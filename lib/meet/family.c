/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/family.c - determines which streams of an arena trace this process, and how a program that
 * this process executes finds the arena again.
 *
 * A stream traces this process if this process has inherited the stream, or if the facts in the
 * stream's attachment name this process as the target. The inherited streams are noted in two
 * places. The variable `self` is private memory, which a child of fork() inherits. The table of
 * members in the control page remains after execve(). `self` also has the generation of each
 * inherited stream, so that a later stream at the same place is not mistaken for it.
 *
 * Every process of the arena may write to the control page. The worst effect of a hostile process
 * is that this process records into other regions of the same arena. Loops are bounded by
 * PTX_STREAMS and PTX_MEMBERS.
 */
#include "meet/family.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "arena/descriptors.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/proc.h"
#include "base/quiet.h"

/* Bounds the number of ancestors that are examined, because /proc may change meanwhile. */
#define FIND_ANCESTORS   32
#define NOT_KNOWN        UINT64_MAX
/* flag in a member's pid: the other words of the member are not valid */
#define BEING_WRITTEN    (UINT64_C(1) << 32)

/* The identity of this process and what it inherited, in memory that a child inherits. */
static ptx_start_data struct {
	/* In a child, this is the parent's id until ptx_family_keep() or ptx_family_begin(). */
	uint32_t pid;
	/*
	 * As in struct ptx_identity. 0: the value was not requested from the kernel yet; NOT_KNOWN:
	 * the kernel did not return the value. All threads get the same values.
	 */
	_Atomic uint64_t inode, start;
	/*
	 * when this process began to run its program, CLOCK_REALTIME in ns; 0: before it was traced
	 */
	int64_t since_ns;
	int guard;      /* a second descriptor of the arena, see guard_locks(); 0: none */
	/*
	 * 2 * inode of the arena, + 1 if the arena's descriptor stays open at execve(). While a
	 * thread changes FD_CLOEXEC of the descriptor, the value is the number of this attempt,
	 * with the bit ATTEMPT.
	 */
	_Atomic uint64_t cloexec_state;
	/*
	 * The generation of the inherited stream at each place; 0: none. If the word of the place
	 * has another generation, the place now belongs to a later stream, which this process did
	 * not inherit.
	 */
	uint64_t generation[PTX_STREAMS];
} self;

/*
 * Stores a value from the kernel. If the kernel did not return a value, `value` is 0, and NOT_KNOWN
 * is stored, so that the system call is not repeated at each event.
 */
static void store_answer(_Atomic uint64_t *known, uint64_t value)
{
	atomic_store_explicit(known, value ? value : NOT_KNOWN, memory_order_relaxed);
}

/* Returns the stored value, or 0 if the value is not known. */
static uint64_t load_answer(const _Atomic uint64_t *known)
{
	uint64_t value = atomic_load_explicit(known, memory_order_relaxed);

	return value == NOT_KNOWN ? 0 : value;
}

/*
 * The start time needs several system calls, so the function reads it only if the kernel does not
 * return an inode for the process.
 */
void ptx_family_identify_self(void)
{
	struct ptx_identity identity;

	/*
	 * The caller may be a child of vfork() in the memory of this process. Then ptx_proc_own()
	 * is the child's id, so the stored id is used.
	 */
	const uint32_t pid = self.pid ? self.pid : ptx_proc_own();

	if (atomic_load_explicit(&self.inode, memory_order_relaxed) != 0 || ptx_is_quiet())
		return;
	/* There was no free descriptor. The next call asks the kernel again. */
	if (!ptx_identity_self(pid, &identity))
		return;
	/*
	 * Such a child can get the inode of this process, and not its start time. Nothing is
	 * stored, so that this process asks for the start time itself.
	 */
	if (!identity.inode && !identity.start && pid != ptx_proc_own())
		return;
	store_answer(&self.inode, identity.inode);
	if (!identity.inode)
		store_answer(&self.start, identity.start);
}

/*
 * Returns whether this process has the identity `other`. Makes only the system calls that are
 * necessary, and none if the process is quiet. The result is PTX_SAME_UNKNOWN if the values of this
 * process are not known. The function stores no start time before the kernel has answered about the
 * inode. A child of vfork() in the memory of this process stores no start time, because /proc/self
 * has that of the child.
 */
static enum ptx_same compare_self(const struct ptx_identity *other)
{
	struct ptx_identity own = { 0 };

	ptx_family_identify_self();
	own.inode = load_answer(&self.inode);
	/* If both inodes are known, they decide. Otherwise the start times are compared. */
	if (own.inode == 0 || other->inode == 0) {
		if (atomic_load_explicit(&self.start, memory_order_relaxed) == 0 &&
		    atomic_load_explicit(&self.inode, memory_order_relaxed) != 0 &&
		    !ptx_is_quiet() && ptx_proc_own() == self.pid)
			store_answer(&self.start, ptx_identity_start(PTX_PROC_SELF));
		own.start = load_answer(&self.start);
	}
	return ptx_identity_compare(&own, other);
}

/*
 * Returns whether the facts name this process as the target. The facts of a stream that a process
 * has created for itself have no identity. Such a stream ends when the process executes a program,
 * so the result for it is PTX_OTHER. Another creator may replace the facts meanwhile. So the caller
 * loads the word of the place again afterwards.
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
 * Trace points call this function. So the inherited generation is compared first, because this
 * needs no system call.
 *
 * A signal handler may call fork() inside this function. The child then continues here with the
 * identity that ptx_family_keep() has reset, and the comparison with it says nothing about the
 * child. So the child, which has another id, begins again.
 */
enum ptx_same ptx_family_traces_self(unsigned bit, uint64_t generation)
{
	enum ptx_same same;
	uint32_t pid;

	do {
		pid = self.pid;
		atomic_signal_fence(memory_order_seq_cst);
		same = self.generation[bit] == generation ?
			       PTX_SAME :
			       is_target(&ptx_own_control.attachment[bit]);
		atomic_signal_fence(memory_order_seq_cst);
	} while (self.pid != pid);
	return same;
}

/*
 * Returns the places of the streams that children of the process `pid` inherit, one bit for each,
 * and stores their generations. Such a stream is ATTACHED and has the attribute inherited. The
 * process `pid` is the target of the stream, or has inherited it; `more` has the bits of the
 * streams that `pid` has inherited. The generations of other places are unchanged.
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
 * Returns the member with this process id, or NULL. A member that is being written has the flag
 * BEING_WRITTEN and is not found.
 */
static struct ptx_member *member_of(struct ptx_control *control, uint32_t pid)
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].pid, memory_order_acquire) == pid)
			return &control->member[i];
	return NULL;
}

/* Other processes change the table, so the result may be out of date immediately. */
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
 * Returns true only if the kernel reports that the process is dead. A quiet process makes no system
 * call. If members are in different pid namespaces, the id may belong to another process. So the
 * result is false in a quiet process, and if the members have different namespaces.
 */
static bool is_dead(const struct ptx_control *control, uint32_t pid)
{
	return !ptx_is_quiet() && !atomic_load_explicit(&control->mixed, memory_order_relaxed) &&
	       ptx_life_by_kill(pid) == PTX_DEAD;
}

/* Called by writers that search for rings of dead processes (ring/reap.c). */
bool ptx_family_is_dead(uint32_t pid)
{
	return is_dead(&ptx_own_control, pid);
}

/*
 * Stores which program the member runs. If `parent` is a process id, the member runs the program of
 * this parent. If `parent` is 0, the member runs another program, which begins now. since_ns is
 * stored first. So an observer that loads `parent` (acquire) then loads the time that belongs to
 * it.
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
 * Adds the process to the table of members. The function uses a free entry, the entry that has its
 * process id already, or an entry whose process is dead according to is_free(). If there is no such
 * entry, it returns false. The process is then traced only until it executes a program.
 *
 * A process that removes a stream changes the word of the place and then clears the bit in all
 * members. This process stores its bits and then loads the words. All these accesses are
 * sequentially consistent, so at least one of the two processes sees the stores of the other
 * process, and no bit remains set after its stream was removed.
 *
 * If the process is killed in this function, the entry keeps the process id with the flag
 * BEING_WRITTEN, and member_of() does not find the entry. When the table is full, another process
 * finds that the process of this entry is dead, and reuses the entry.
 */
static bool family_enrol(struct ptx_control *control, uint32_t pid, uint32_t parent, uint64_t bits,
			 const uint64_t *generation,
			 bool (*is_free)(const struct ptx_control *control, uint32_t pid))
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++) {
		struct ptx_member *member = &control->member[i];
		uint64_t old = atomic_load_explicit(&member->pid, memory_order_relaxed);
		/* The lower 32 bits are the process id, even if the entry has BEING_WRITTEN. */
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
		/* If a place belongs to another stream by now, its bit must not remain set. */
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
 * Entries of dead members are used only if the table is full, because the search needs a system
 * call for each member.
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
 * If this process has created streams, it has locks on the arena's file. These locks must be
 * released when the process executes another program. The kernel releases them if execve() closes
 * any descriptor of the file. The arena's descriptor may stay open at execve(), so this function
 * makes a second descriptor with FD_CLOEXEC, which execve() closes. The second descriptor is never
 * closed earlier, because closing it would release the locks (arena/DESIGN 5, L2).
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
 * Called in a child. A child does not inherit record locks, so the close of its copy of the second
 * descriptor releases no lock. The descriptor is closed only if it still belongs to the arena,
 * since its number may belong to another file by now. A child that may share the parent's table of
 * descriptors closes nothing.
 */
static void drop_guard(const struct ptx_arena *arena)
{
	struct stat guarded;

	if (ptx_descriptors_are_own() && self.guard > 0 && fstat(self.guard, &guarded) == 0 &&
	    guarded.st_dev == arena->device && guarded.st_ino == arena->inode)
		close(self.guard);
	self.guard = 0;
}

/*
 * Called before the child's first event, possibly in a signal handler. `self` still describes the
 * parent. The child has another inode and another start time, so both are forgotten here, and the
 * child requests its own values from the kernel when it needs them.
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
	 * A child that inherits no stream makes an arena of its own. So does a child without a
	 * descriptor of the arena, because it could not map the regions of later streams.
	 */
	if (!bits || arena->fd < 0)
		return false;
	self.pid = pid;
	/*
	 * If getppid() returns 0, the parent is in another pid namespace, so the ids of the
	 * members cannot be compared.
	 */
	if (!ptx_is_quiet() && getppid() == 0)
		atomic_store_explicit(&arena->control->mixed, 1, memory_order_relaxed);
	/*
	 * The claims of the parent are not claims of the child, because the child does not have the
	 * locks.
	 */
	atomic_store_explicit(&arena->claims, 0, memory_order_relaxed);
	family_enter(arena->control, self.pid, parent, bits, generation);
	ptx_family_update_cloexec(); /* the parent may not have done this yet */
	return true;
}

/* The time was stored when the process was set up, before its first event. */
int64_t ptx_family_since(void)
{
	return self.since_ns;
}

void ptx_family_begin(void)
{
	self.pid = ptx_proc_own();
}

/*
 * This process was traced in these streams before it executed this program, so it may have left
 * rings in them. Called before the process has an event.
 */
static void note_former(uint64_t bits)
{
	atomic_fetch_or_explicit(&ptx_private.fresh, bits, memory_order_relaxed);
	atomic_fetch_or_explicit(&ptx_private.former, bits, memory_order_relaxed);
}

bool ptx_family_may_have_former(void)
{
	siginfo_t info;
	int saved = errno;
	bool is_alone;

	if (ptx_is_quiet() || atomic_load_explicit(&ptx_own_control.mixed, memory_order_relaxed))
		return false;
	/*
	 * A child of vfork() in the memory of this program would ask for its own children. The C
	 * library's waitid() is a cancellation point.
	 */
	is_alone = (uint32_t)syscall(SYS_getpid) == self.pid &&
		   syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL,
			   NULL) != 0 &&
		   errno == ECHILD;
	errno = saved;
	return is_alone;
}

/*
 * The time is stored even if it is unknown whether this process is the target. Observers use this
 * time only to distinguish the programs of a process. Without the time an observer would attribute
 * addresses of this program to the former program.
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
		note_former(UINT64_C(1) << bit);
		any = true;
	}
	return any;
}

/*
 * Returns true if the process with the number `number` in /proc began before the member was added
 * to the table. Otherwise the member is a former process with the same process id. Start times have
 * a resolution of one clock tick.
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
 * Replaces a process by its parent. The process has two ids, which differ if /proc belongs to
 * another pid namespace: *number is its number in /proc, and *pid is its id in its own namespace,
 * as in the table of members. Returns false if /proc does not show the parent.
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
 * Returns false if the process with this number in /proc is certainly in another pid namespace than
 * `space`. The member with the same id is then another process.
 */
static bool may_be_in(uint32_t number, uint32_t space)
{
	const uint32_t actual = space ? ptx_proc_space(number) : 0;

	return actual == 0 || actual == space;
}

/*
 * The function is needed in two cases: a member of the family has closed the arena's descriptor
 * before it executed this program, or ancestors have ended. If members are in different pid
 * namespaces, equal ids do not show that a process is a member.
 */
bool ptx_family_rejoin(struct ptx_control *control, uint32_t space)
{
	uint32_t number = PTX_PROC_SELF, pid = ptx_proc_own();

	if (atomic_load_explicit(&control->mixed, memory_order_relaxed))
		return false;
	for (int i = 0; i <= FIND_ANCESTORS; i++) {
		const struct ptx_member *member = member_of(control, pid);

		if (member && is_old_enough(member, number) && may_be_in(number, space))
			return ptx_family_join(control);
		if (!step_to_parent(&number, &pid))
			return false;
	}
	return false;
}

/*
 * Returns the places of the streams that this process inherits from `ancestor`. If there are any,
 * adds this process to the table of members.
 */
static uint64_t inherit_from(struct ptx_control *control, uint32_t pid, uint32_t ancestor)
{
	uint64_t bits = family_inheritable(control, ancestor, bits_of(control, ancestor),
					   self.generation);

	if (bits)
		family_enter(control, pid, 0, bits, self.generation);
	return bits;
}

/*
 * The program is traced in three cases: its process is in the table of members, the facts of a
 * stream name the process as the target, or an inherited stream traces an ancestor. `control`
 * belongs to a sealed arena of this version, but its content may be hostile.
 */
bool ptx_family_join(struct ptx_control *control)
{
	const uint32_t pid = ptx_proc_own();
	uint32_t number = PTX_PROC_SELF, ancestor = pid;
	uint64_t bits = bits_of(control, pid);
	bool targeted;
	pid_t parent;

	self.pid = pid;
	targeted = ptx_family_store_executed(control);
	if (bits) {
		/* The process became a member before execve(), and runs another program now. */
		store_program(member_of(control, pid), 0);
		note_former(bits);
		family_inheritable(control, 0, bits, self.generation);
		return true;
	}
	if (targeted)
		return true;
	/*
	 * The usual case: the parent is a member, and has made this process by vfork() or
	 * posix_spawn(). If getppid() returns an id, the parent is in this process's namespace of
	 * process ids, and has the same id in the table. This test needs no file of /proc.
	 */
	parent = getppid();
	if (parent > 0 && inherit_from(control, pid, (uint32_t)parent))
		return true;
	/*
	 * If /proc does not show an ancestor, the program is not traced. As in ptx_family_keep(),
	 * the result 0 means that the parent is in another pid namespace.
	 */
	for (int i = 0; i < FIND_ANCESTORS && step_to_parent(&number, &ancestor); i++)
		if (inherit_from(control, pid, ancestor)) {
			if (parent == 0)
				atomic_store_explicit(&control->mixed, 1, memory_order_relaxed);
			return true;
		}
	return false;
}

/* The kinds of files that an inherited descriptor may have. */
enum arena_kind { NO_ARENA, FOREIGN_ARENA, OUR_ARENA };

/*
 * Maps the control page of a sealed file over that of this process, and joins the family if the
 * file is an arena in which this program is traced. Otherwise the function removes the mapping. The
 * result FOREIGN_ARENA means another arena of this version. Nothing is mapped at another address
 * for the examination: each mapping, and the first access to it, would cost microseconds at the
 * start of every program.
 *
 * If a signal handler records an event meanwhile, the handler sets up the process. The control page
 * is then the one that the handler has mapped, so this function does not remove it.
 */
static enum arena_kind join_arena(int fd)
{
	enum arena_kind kind = NO_ARENA;

	if (!ptx_control_map(fd))
		return NO_ARENA;
	if (ptx_arena_is_own_head(ptx_own_control.magic, ptx_own_control.version))
		kind = ptx_family_join(&ptx_own_control) ? OUR_ARENA : FOREIGN_ARENA;
	if (kind != OUR_ARENA && ptx_process_is_child())
		ptx_control_unmap();
	return kind;
}

/*
 * Returns the kind of file that a descriptor has. The descriptor may belong to any file. The file
 * is mapped only if it is sealed like an arena, because then no process can truncate it, and an
 * access does not raise SIGBUS. If may_join is false, the file is not mapped, and the result is not
 * OUR_ARENA.
 */
static enum arena_kind examine_descriptor(int fd, bool may_join)
{
	struct stat file;

	if (fstat(fd, &file) != 0 || !ptx_arena_is_sealed(fd, (uint64_t)file.st_size))
		return NO_ARENA;
	if (may_join)
		return join_arena(fd);
	return ptx_arena_is_ours(fd) ? FOREIGN_ARENA : NO_ARENA;
}

/*
 * Keeps the first arena in which this program is traced, and closes other arenas of this version,
 * because an open descriptor keeps the memory of a family that has ended. Descriptors of other
 * files belong to the program and stay open. A program with more rights than its caller (AT_SECURE)
 * does not use an inherited arena, since the caller could read the events that the program records.
 */
int ptx_family_find(void)
{
	const bool is_secure = getauxval(AT_SECURE);
	int found = -1;

	for (int fd = PTX_ARENA_FD_MIN; fd < PTX_OTHER_FD_MIN; fd++) {
		enum arena_kind kind;

		if (fcntl(fd, F_GETFD) < 0) {
			if (fd == PTX_ARENA_FD_MIN)
				/*
				 * the usual case: no descriptor has the first number, so the
				 * program has inherited no arena
				 */
				break;
			continue;
		}
		kind = examine_descriptor(fd, found < 0 && !is_secure);
		if (kind == OUR_ARENA)
			found = fd;
		else if (kind == FOREIGN_ARENA)
			close(fd); /* this program does not use it */
	}
	return found;
}

/*
 * A flag in self.cloexec_state: the other bits are the number of an attempt in progress. No inode
 * has this bit.
 */
#define ATTEMPT (UINT64_C(1) << 63)

/*
 * Returns the value that self.cloexec_state should have now. The inode is part of the value,
 * because another arena has another descriptor.
 */
static uint64_t wanted_cloexec_state(void)
{
	uint64_t generation[PTX_STREAMS] = { 0 };
	uint64_t bits = family_inheritable(&ptx_own_control, self.pid,
					   inherited_before(&ptx_own_control), generation);

	return (uint64_t)ptx_arena_self.inode << 1 | (bits != 0);
}

/*
 * Sets or clears FD_CLOEXEC of the arena's descriptor. As long as executed programs can inherit a
 * stream, the descriptor stays open for them. Other threads may attach streams or call this
 * function at the same time. So after fcntl() a thread checks whether another thread has begun an
 * attempt, and whether the streams have changed. In both cases it repeats the work. errno is
 * unchanged.
 */
void ptx_family_update_cloexec(void)
{
	static ptx_start_data _Atomic uint64_t attempts;
	uint64_t wanted = wanted_cloexec_state(), attempt;
	int fd, saved = errno;
	bool has_claims = atomic_load_explicit(&ptx_arena_self.claims, memory_order_relaxed) != 0;

	/*
	 * The usual case in a child: this process has no claims, and FD_CLOEXEC is right already.
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
		 * If there is no descriptor, or the system refuses fcntl(), the loop ends. An
		 * executed program then finds the arena by links (rendezvous.h). self.cloexec_state
		 * keeps the attempt, so the next call tries again.
		 */
		if (fd < 0 || fcntl(fd, F_SETFD, wanted & 1 ? 0 : FD_CLOEXEC) != 0)
			break;
	} while (!atomic_compare_exchange_strong_explicit(&self.cloexec_state, &attempt, wanted,
							  memory_order_seq_cst,
							  memory_order_relaxed) ||
		 wanted_cloexec_state() != wanted);
	errno = saved;
}
