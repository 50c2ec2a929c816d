/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.c - the BPF program of the places, and the links between the two.
 *
 * There are two ways to attach. A link of the kind uprobe_multi has all places of a file; it is
 * made and removed in one step, however many they are. Kernels before 6.6 need an event and a link
 * for each place, which are two descriptors.
 */
#include "uprobes/uprobes.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/vec.h"
#include "syscalls/assemble.h"

#if defined __x86_64__

/* From the headers of Linux 6.6. */
#define TRACE_UPROBE_MULTI 48 /* enum bpf_attach_type */
struct multi_attr {
	uint32_t program, target, attach, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, multi_flags, pid, unused;
};

/* Offsets in struct pt_regs. */
enum { REG_R14 = 8, REG_RAX = 80, REG_RIP = 128, REG_FLAGS = 144, REG_RSP = 152 };

/* The upper half of a cookie. The lower half is the index of the place. */
#define COOKIE_GO 1

/* Places on the stack of the program. The record needs a multiple of 8. */
enum {
	AT_TID = -4, AT_PID = -8, AT_ZERO = -12,
	AT_RECORD = -16 - (int)sizeof(struct syscalls_record)
};

/* The place on the stack of a member of the record, by its offset there. */
static int member_at(size_t offset)
{
	return AT_RECORD + (int)offset;
}

/* Stores a register of the thread in a member of the record. */
static void copy_register(struct program *p, int reg, size_t member)
{
	load_memory(p, BPF_DW, BPF_REG_1, BPF_REG_6, reg);
	store_register(p, BPF_DW, BPF_REG_10, member_at(member), BPF_REG_1);
}

/* Copies memory at the address in register 3. If it cannot be read, the kernel stores zeros. */
static void copy_memory(struct program *p, size_t member, int bytes)
{
	move_register(p, BPF_REG_1, BPF_REG_10);
	add_number(p, BPF_REG_1, member_at(member));
	move_number(p, BPF_REG_2, bytes);
	call_function(p, BPF_FUNC_probe_read_user);
}

/*
 * Makes the program. The record is composed on the stack: these programs can be preempted, so the
 * memory of a CPU that the programs of system calls use could be overwritten.
 */
static void make_program(struct program *p, const int *map)
{
	const size_t args = offsetof(struct syscalls_record, arg);
	size_t is_traced, is_c, is_kept;

	p->count = 0;
	move_register(p, BPF_REG_6, BPF_REG_1);
	call_function(p, BPF_FUNC_get_current_pid_tgid);
	store_register(p, BPF_W, BPF_REG_10, AT_TID, BPF_REG_0);
	program_put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	store_register(p, BPF_W, BPF_REG_10, AT_PID, BPF_REG_0);
	look_up(p, map[SYSCALLS_MAP_TRACED], AT_PID);
	is_traced = jump_if(p, BPF_JNE, BPF_REG_0, 0);
	leave_program(p);
	jump_lands(p, is_traced);

	call_function(p, BPF_FUNC_ktime_get_ns);
	store_register(p, BPF_DW, BPF_REG_10,
		       member_at(offsetof(struct syscalls_record, time_ns)), BPF_REG_0);
	for (size_t at = offsetof(struct syscalls_record, begin_ns);
	     at < sizeof(struct syscalls_record); at += 8)
		store_number(p, BPF_DW, BPF_REG_10, member_at(at), 0);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_PID);
	store_register(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, pid)),
		       BPF_REG_1);
	load_memory(p, BPF_W, BPF_REG_1, BPF_REG_10, AT_TID);
	store_register(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, tid)),
		       BPF_REG_1);
	store_number(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, kind)),
		     SYSCALLS_TRAP);
	copy_register(p, REG_RIP, offsetof(struct syscalls_record, begin_ns));
	copy_register(p, REG_RSP, offsetof(struct syscalls_record, result));
	copy_register(p, REG_FLAGS, args + 3 * 8);
	copy_register(p, REG_RAX, args + 1 * 8);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_6, REG_RSP);
	copy_memory(p, args + 2 * 8, 8);

	move_register(p, BPF_REG_1, BPF_REG_6);
	call_function(p, BPF_FUNC_get_attach_cookie);
	store_register(p, BPF_W, BPF_REG_10, member_at(offsetof(struct syscalls_record, number)),
		       BPF_REG_0);
	program_put(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	is_c = jump_if(p, BPF_JNE, BPF_REG_0, COOKIE_GO);
	/* A goroutine begins with the bounds of its stack: the low one, then the high one. */
	copy_register(p, REG_R14, args);
	load_memory(p, BPF_DW, BPF_REG_3, BPF_REG_6, REG_R14);
	copy_memory(p, args + 4 * 8, 16);
	jump_lands(p, is_c);

	load_map(p, BPF_REG_1, map[SYSCALLS_MAP_RING]);
	move_register(p, BPF_REG_2, BPF_REG_10);
	add_number(p, BPF_REG_2, AT_RECORD);
	move_number(p, BPF_REG_3, (int)sizeof(struct syscalls_record));
	move_number(p, BPF_REG_4, 0);
	call_function(p, BPF_FUNC_ringbuf_output);
	is_kept = jump_if(p, BPF_JEQ, BPF_REG_0, 0);
	count_lost(p, map, AT_ZERO, SYSCALLS_LOST_TRAPS);
	jump_lands(p, is_kept);
	leave_program(p);
}

/*
 * Loads the program for either way. POSIXTRACE_KERNEL=perf chooses the older one, as it does for
 * the records of the scheduler. Kernels that lack the newer way refuse the program with its attach
 * type. Returns the kernel's reason, or NULL.
 */
static const char *load_uprobe(struct uprobes *uprobes)
{
	const char *way = getenv("POSIXTRACE_KERNEL");
	static struct program program;
	bool has_multi = !way || strcmp(way, "perf") != 0;

	make_program(&program, uprobes->syscalls->map);
	uprobes->program = has_multi ? syscalls_load(&program, BPF_PROG_TYPE_KPROBE,
						     TRACE_UPROBE_MULTI) : -1;
	uprobes->is_multi = uprobes->program >= 0;
	if (!uprobes->is_multi)
		uprobes->program = syscalls_load(&program, BPF_PROG_TYPE_KPROBE, 0);
	return uprobes->program < 0 ? syscalls_reason(errno) : NULL;
}

/* Keeps a descriptor until the end. Without memory it is closed. */
static bool keep_descriptor(struct uprobes *uprobes, int fd)
{
	if (vec_grow(&uprobes->fd, uprobes->fds, 1)) {
		uprobes->fd[uprobes->fds++] = fd;
		return true;
	}
	close(fd);
	errno = ENOMEM;
	return false;
}

/* The kernel passes this number to the program at each arrival of a thread. */
static uint64_t cookie_of(const struct uprobes_place *place, size_t index)
{
	return index | (uint64_t)(place->is_go ? COOKIE_GO : 0) << 32;
}

/* The places of one file, as the kernel wants them. */
struct batch {
	const char *path;
	uint64_t *offset, *semaphore, *cookie;
	size_t count;
	bool has_semaphores;
};

/* Attaches places from first on by one link. Returns 0 or an error number. */
static int link_places(struct uprobes *uprobes, const struct batch *batch, size_t first,
		       size_t count)
{
	struct multi_attr attr = {
		.program = (uint32_t)uprobes->program, .attach = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)batch->path, .offsets = (uintptr_t)(batch->offset + first),
		.cookies = (uintptr_t)(batch->cookie + first), .count = (uint32_t)count,
	};
	int fd;

	if (batch->has_semaphores)
		attr.semaphores = (uintptr_t)(batch->semaphore + first);
	fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd >= 0 && keep_descriptor(uprobes, fd) ? 0 : errno;
}

/*
 * The kernel refuses a link with one bad place altogether. So the halves are tried, until the bad
 * places are alone. Returns 0, or the error number if no place was accepted.
 */
static int attach_multi(struct uprobes *uprobes, const struct batch *batch, size_t first,
			size_t count)
{
	int err = link_places(uprobes, batch, first, count), other;

	if (!err || err == ENOMEM || err == EMFILE)
		return err;
	if (count == 1) {
		uprobes->refusals++;
		uprobes->refused = syscalls_reason(err);
		return err;
	}
	err = attach_multi(uprobes, batch, first, count / 2);
	other = attach_multi(uprobes, batch, first + count / 2, count - count / 2);
	return err && other ? err : 0;
}

/* Returns the type of events for places, which the kernel chooses; -1: there is none. */
static int event_type(void)
{
	char text[32];

	return procfile_read("/sys/bus/event_source/devices/uprobe/type", text, sizeof(text)) ?
	       atoi(text) : -1;
}

/* Attaches a place by an event of its own. One event of any CPU is enough for all of them. */
static int attach_place(struct uprobes *uprobes, const struct batch *batch, size_t index, int type)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)type, .size = sizeof(attr), .sample_period = 1,
		.config = batch->semaphore[index] << 32,
		.config1 = (uintptr_t)batch->path, .config2 = batch->offset[index],
	};
	union bpf_attr link = { .link_create = { .prog_fd = (uint32_t)uprobes->program,
						 .attach_type = BPF_PERF_EVENT } };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || !keep_descriptor(uprobes, fd))
		return errno;
	link.link_create.target_fd = (uint32_t)fd;
	link.link_create.perf_event.bpf_cookie = batch->cookie[index];
	fd = syscalls_bpf(BPF_LINK_CREATE, &link);
	return fd >= 0 && keep_descriptor(uprobes, fd) ? 0 : errno;
}

/*
 * Attaches each place by an event of its own. The limit of descriptors is raised for them, as far
 * as this process may. Returns 0, or an error number if no place was accepted.
 */
static int attach_events(struct uprobes *uprobes, const struct batch *batch)
{
	struct rlimit limit;
	int type = event_type(), err = 0, last = 0;
	size_t good = 0;

	if (type < 0)
		return ENOSYS;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (size_t i = 0; i < batch->count && err != EMFILE && err != ENOMEM; i++) {
		err = attach_place(uprobes, batch, i, type);
		good += !err;
		if (!err)
			continue;
		last = err;
		uprobes->refusals++;
		uprobes->refused = syscalls_reason(err);
	}
	return err == EMFILE || err == ENOMEM || !good ? last : 0;
}

/* Attaches the places of one file. Returns 0 or an error number. */
static int attach_file(struct uprobes *uprobes, const char *path, uint32_t file,
		       const struct uprobes_place *place, size_t count)
{
	struct batch batch = { .path = path };
	uint64_t *memory = calloc(count, 3 * sizeof(*memory));
	int err;

	if (!memory)
		return ENOMEM;
	batch.offset = memory;
	batch.semaphore = memory + count;
	batch.cookie = memory + 2 * count;
	for (size_t i = 0; i < count; i++) {
		if (place[i].file != file)
			continue;
		batch.offset[batch.count] = place[i].offset;
		batch.semaphore[batch.count] = place[i].semaphore;
		batch.has_semaphores |= place[i].semaphore != 0;
		batch.cookie[batch.count++] = cookie_of(&place[i], i);
	}
	err = !batch.count ? 0 : uprobes->is_multi ?
	      attach_multi(uprobes, &batch, 0, batch.count) : attach_events(uprobes, &batch);
	free(memory);
	return err;
}

const char *uprobes_begin(struct uprobes *uprobes, struct syscalls *syscalls,
			  const char *const *path, const struct uprobes_place *place, size_t count)
{
	const char *why;
	uint32_t files = 0;
	int err = 0;

	*uprobes = (struct uprobes){ .syscalls = syscalls, .program = -1 };
	why = load_uprobe(uprobes);
	for (size_t i = 0; i < count; i++)
		files = place[i].file >= files ? place[i].file + 1 : files;
	for (uint32_t i = 0; i < files && !why && !err; i++)
		err = attach_file(uprobes, path[i], i, place, count);
	return err ? syscalls_reason(err) : why;
}

const char *uprobes_refusal(void)
{
	struct uprobes uprobes;
	struct syscalls syscalls;
	const char *why = syscalls_begin(&syscalls, NULL, getpid(), SYSCALLS_OF_PROCESS);

	uprobes = (struct uprobes){ .syscalls = &syscalls, .program = -1 };
	if (!why)
		why = load_uprobe(&uprobes);
	if (!why && !uprobes.is_multi && event_type() < 0)
		why = "this kernel has no uprobes";
	uprobes_end(&uprobes);
	syscalls_end(&syscalls);
	return why;
}

#else

const char *uprobes_refusal(void)
{
	return "uprobes are not supported on this processor";
}

const char *uprobes_begin(struct uprobes *uprobes, struct syscalls *syscalls,
			  const char *const *path, const struct uprobes_place *place, size_t count)
{
	(void)path, (void)place, (void)count;
	*uprobes = (struct uprobes){ .syscalls = syscalls, .program = -1 };
	return uprobes_refusal();
}

#endif

/* The events are closed after their links, which were opened later. */
void uprobes_end(struct uprobes *uprobes)
{
	while (uprobes->fds)
		close(uprobes->fd[--uprobes->fds]);
	free(uprobes->fd);
	uprobes->fd = NULL;
	if (uprobes->syscalls && uprobes->program >= 0)
		close(uprobes->program);
	uprobes->program = -1;
}
