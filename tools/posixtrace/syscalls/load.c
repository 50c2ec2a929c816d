/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * load.c - creates the maps, loads and attaches the programs, and reads their records.
 *
 * Nothing is pinned in the kernel: maps, programs and events exist only as long as a process has
 * their descriptors. So if a recorder is killed, none of them remains.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/perf.h"
#include "base/procfile.h"
#include "syscalls/apart.h"
#include "syscalls/layout.h"
#include "syscalls/program.h"

/*
 * The ring has room for about 100000 calls. On a busy machine, several thousand calls arrive in the
 * 10 ms between two readings.
 */
#define RING_BYTES  (UINT32_C(16) << 20)
#define OPEN_MOST   65536 /* greatest number of threads that are in a call at one time */

/*
 * The programs in the order in which they are attached: the program of exits before the program of
 * entries.
 */
enum { NEW, EXEC, DEAD, EXIT, ENTER };

static const char *const events[SYSCALLS_PROGRAMS] = {
	[NEW] = "task/task_newtask", [EXEC] = "sched/sched_process_exec",
	[DEAD] = "sched/sched_process_exit", [EXIT] = "raw_syscalls/sys_exit",
	[ENTER] = "raw_syscalls/sys_enter",
};

/* glibc has no function for this call. */
int syscalls_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* ------------------------------------------------------------------ tracefs */

bool syscalls_read_event(const char *event, const char *file, char *text, size_t bytes)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	bool is_refused = false;
	char path[128];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s", folders[i], event, file);
		if (procfile_read(path, text, bytes))
			return true;
		is_refused |= errno == EACCES || errno == EPERM;
	}
	/*
	 * If one folder is forbidden and the other does not exist, the lack of permission is the
	 * reason that helps the user.
	 */
	if (is_refused)
		errno = EACCES;
	return false;
}

/*
 * Returns the offset of a field in the kernel's records of an event, or -1 if they lack the field.
 */
static int offset_of(const char *event, const char *field)
{
	char text[PROCFILE_BYTES], wanted[64];
	const char *found;
	int offset;

	if (!syscalls_read_event(event, "format", text, sizeof(text)))
		return -1;
	snprintf(wanted, sizeof(wanted), " %s;\toffset:", field);
	found = strstr(text, wanted);
	if (!found) {
		snprintf(wanted, sizeof(wanted), " %s[6];\toffset:", field);
		found = strstr(text, wanted);
	}
	if (!found)
		return -1;
	offset = atoi(strstr(found, "offset:") + strlen("offset:"));
	return offset > 0 && offset < 4096 ? offset : -1;
}

/*
 * Reads the offsets of all fields. Returns false if the kernel lacks a field that is needed. The
 * field "status" is checked by prepare_maps().
 */
static bool find_fields(struct program_fields *fields)
{
	*fields = (struct program_fields){
		.number = offset_of(events[ENTER], "id"),
		.args = offset_of(events[ENTER], "args"),
		.result = offset_of(events[EXIT], "ret"),
		.new_pid = offset_of(events[NEW], "pid"),
		.new_flags = offset_of(events[NEW], "clone_flags"),
		.path = offset_of(events[EXEC], "filename"),
		.group_dead = offset_of(events[DEAD], "group_dead"),
		.status = layout_status(),
	};
	return fields->number >= 0 && fields->args >= 0 && fields->result >= 0 &&
	       fields->new_pid >= 0 && fields->new_flags >= 0 && fields->path >= 0;
}

/* ------------------------------------------------------------------ maps and programs */

/*
 * Returns the descriptor of a new map, or -1. "most" is the greatest number of elements, or the
 * number of bytes of a ring.
 */
static int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t most)
{
	union bpf_attr attr = { .map_type = type, .key_size = key, .value_size = value,
				.max_entries = most };

	return syscalls_bpf(BPF_MAP_CREATE, &attr);
}

/*
 * Makes all maps. Returns false and sets errno if a map cannot be made. syscalls_end() closes the
 * other maps. The kernel allocates hash maps in advance, so the programs need no memory later.
 */
static bool make_maps(struct syscalls *syscalls)
{
	int *map = syscalls->map;

	map[SYSCALLS_MAP_PLAN] = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct syscalls_plan),
					  SYSCALLS_PLANS);
	map[SYSCALLS_MAP_TRACED] = make_map(BPF_MAP_TYPE_HASH, 4, 4, SYSCALLS_TRACED_MOST);
	map[SYSCALLS_MAP_OPEN] = make_map(BPF_MAP_TYPE_HASH, 4, sizeof(struct program_open),
					  OPEN_MOST);
	map[SYSCALLS_MAP_SCRATCH] = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, PROGRAM_SCRATCH, 1);
	map[SYSCALLS_MAP_LOST] = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, SYSCALLS_LOSSES);
	map[SYSCALLS_MAP_RING] = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES);
	for (size_t i = 0; i < SYSCALLS_MAPS; i++)
		if (map[i] < 0)
			return false;
	return true;
}

/* Stores a value under a key of 4 bytes. *value must have the size of the map's values. */
static bool set_element(int map, uint32_t key, const void *value)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map, .key = (uintptr_t)&key,
				.value = (uintptr_t)value, .flags = BPF_ANY };

	return syscalls_bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0;
}

/*
 * Loads a program. Only programs under the GPL may use the functions of the kernel that copy
 * memory. The license of this project permits the use under the GPL.
 */
int syscalls_load(const struct program *program, enum bpf_prog_type type, unsigned attach)
{
	union bpf_attr attr = {
		.prog_type = type, .expected_attach_type = attach,
		.insns = (uintptr_t)program->insn, .insn_cnt = (uint32_t)program->count,
		.license = (uintptr_t)"GPL",
		.prog_name = "posixtrace",
	};
	int fd = syscalls_bpf(BPF_PROG_LOAD, &attr);

	/* Prints the verifier's messages, for developers who change the programs. */
	if (fd < 0 && getenv("POSIXTRACE_BPF_LOG")) {
		static char all[1 << 20];

		attr.log_level = 1;
		attr.log_buf = (uintptr_t)all;
		attr.log_size = sizeof(all);
		syscalls_bpf(BPF_PROG_LOAD, &attr);
		fputs(all, stderr);
	}
	return fd;
}

/*
 * Returns whether a program must be attached. The programs of calls slow down the whole machine, so
 * they are left out if no calls are wanted.
 */
static bool is_wanted(int which, unsigned scope)
{
	return (which != ENTER && which != EXIT) || (scope & SYSCALLS_CALLS);
}

static bool load_programs(struct syscalls *syscalls, const struct program_fields *fields,
			  unsigned scope)
{
	static struct program program;
	const int *map = syscalls->map;

	for (int i = 0; i < SYSCALLS_PROGRAMS; i++) {
		if (!is_wanted(i, scope))
			continue;
		switch (i) {
		case NEW:
			program_new(&program, map, fields, scope & SYSCALLS_FOLLOW);
			break;
		case EXEC:
			program_exec(&program, map, fields);
			break;
		case DEAD:
			program_dead(&program, map, fields, scope & SYSCALLS_ENDS);
			break;
		case EXIT:
			program_exit(&program, map, fields);
			break;
		case ENTER:
			program_enter(&program, map, fields);
			break;
		}
		syscalls->program[i] = syscalls_load(&program, BPF_PROG_TYPE_TRACEPOINT, 0);
		if (syscalls->program[i] < 0)
			return false;
	}
	return true;
}

/* Returns the kernel's reason for this error number. */
const struct syscalls_why *syscalls_reason(int err)
{
	static const struct syscalls_why permission = {
		SYSCALLS_PERMISSION,
		"no permission to load programs into the kernel (CAP_BPF and CAP_PERFMON, as root "
		"has)"
	}, none = {
		SYSCALLS_OTHER_KERNEL, "this kernel has no BPF"
	}, descriptors = {
		SYSCALLS_DESCRIPTORS, "too few descriptors; see ulimit -n"
	}, memory = {
		SYSCALLS_MEMORY, "out of memory"
	}, refused = {
		SYSCALLS_OTHER_KERNEL, "this kernel does not accept the programs"
	};

	switch (err) {
	case EPERM:
	case EACCES:
		return &permission;
	case ENOSYS:
		return &none;
	case EMFILE:
		return &descriptors;
	case ENOMEM:
		return &memory;
	}
	return &refused;
}

/* Returns the reason why the kernel's description of an event could not be read, by errno. */
static const struct syscalls_why *fields_reason(void)
{
	static const struct syscalls_why permission = {
		SYSCALLS_PERMISSION, "no permission to read the kernel's events (tracefs)"
	}, none = {
		SYSCALLS_MOUNT_TRACEFS,
		"the kernel's events are not there (tracefs is not mounted?)"
	};

	if (errno == EMFILE || errno == ENOMEM)
		return syscalls_reason(errno);
	return errno == EACCES ? &permission : &none;
}

/* Returns the reason why perf_event_open(2) failed. */
static const struct syscalls_why *event_reason(int err)
{
	static const struct syscalls_why permission = {
		SYSCALLS_PERMISSION,
		"no permission for perf_event_open(2) (CAP_PERFMON, as root has)"
	}, none = {
		SYSCALLS_OTHER_KERNEL, "this kernel has no perf_event_open(2)"
	}, refused = {
		SYSCALLS_OTHER_KERNEL,
		"this kernel does not open its events by perf_event_open(2)"
	};

	switch (err) {
	case EPERM:
	case EACCES:
		return &permission;
	case ENOSYS:
		return &none;
	case EMFILE:
	case ENOMEM:
		return syscalls_reason(err);
	}
	return &refused;
}

/*
 * Opens the event to which a program is attached. Each program needs only one event of any CPU,
 * because the program then runs on all CPUs. Returns NULL or the reason for a failure.
 */
static const struct syscalls_why *open_event(struct syscalls *syscalls, int which)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
					.sample_period = 1 };
	char text[32];

	if (!syscalls_read_event(events[which], "id", text, sizeof(text)))
		return fields_reason();
	attr.config = strtoull(text, NULL, 10);
	syscalls->event[which] = perf_open(&attr, -1, sched_getcpu());
	return syscalls->event[which] < 0 ? event_reason(errno) : NULL;
}

/*
 * Attaches the programs. The program of exits is attached before the program of entries. So when
 * the first entry of a call is recorded, its exit will be recorded, too. Returns NULL or the reason
 * for a failure.
 */
static const struct syscalls_why *attach_programs(struct syscalls *syscalls, unsigned scope)
{
	const struct syscalls_why *why = NULL;

	for (int i = 0; !why && i < SYSCALLS_PROGRAMS; i++) {
		if (!is_wanted(i, scope))
			continue;
		why = open_event(syscalls, i);
		if (!why && (ioctl(syscalls->event[i], PERF_EVENT_IOC_SET_BPF,
				   syscalls->program[i]) ||
			     ioctl(syscalls->event[i], PERF_EVENT_IOC_ENABLE, 0)))
			why = syscalls_reason(errno);
	}
	return why;
}

/*
 * Maps the ring: a page with the reader's place, a page with the writer's place, and the data
 * twice. So a record that begins at the end of the data is nevertheless in one piece.
 */
static bool map_ring(struct syscalls *syscalls)
{
	int fd = syscalls->map[SYSCALLS_MAP_RING];
	void *memory;

	syscalls->page = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, syscalls->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	syscalls->consumer = memory;
	memory = mmap(NULL, syscalls->page + 2 * (size_t)RING_BYTES, PROT_READ, MAP_SHARED, fd,
		      (off_t)syscalls->page);
	if (memory == MAP_FAILED)
		return false;
	syscalls->producer = memory;
	return true;
}

/* ------------------------------------------------------------------ beginning and end */

/* Sets all descriptors to -1, so that syscalls_end() can be called at any time. */
static void forget_all(struct syscalls *syscalls)
{
	memset(syscalls, 0, sizeof(*syscalls));
	memset(syscalls->map, -1, sizeof(syscalls->map));
	memset(syscalls->program, -1, sizeof(syscalls->program));
	memset(syscalls->event, -1, sizeof(syscalls->event));
}

/*
 * Returns the reason why processes cannot be recognized here, or NULL. The programs compare the
 * numbers that processes have in the first PID namespace, whose inode is constant. In another
 * namespace, for example in a container, this process sees other numbers. If /proc is not mounted,
 * the namespace cannot be recognized, and the result is NULL.
 */
static const struct syscalls_why *space_reason(void)
{
	static const struct syscalls_why other = {
		SYSCALLS_FIRST_SPACE,
		"in a PID namespace, such as that of a container, processes have other numbers "
		"than in the kernel's records"
	};
	const uint64_t space = procfile_space("self");

	return space && space != PROCFILE_FIRST_SPACE ? &other : NULL;
}

/*
 * Reads the offsets of the fields, and makes the maps. Returns NULL, or the reason why that is
 * impossible. syscalls_end() frees everything that was made.
 */
static const struct syscalls_why *prepare_maps(struct syscalls *syscalls,
					       struct program_fields *fields)
{
	static const struct syscalls_why unknown = {
		SYSCALLS_OTHER_KERNEL, "it is unknown where this kernel marks 32-bit calls"
	};

	forget_all(syscalls);
	if (space_reason())
		return space_reason();
	if (!find_fields(fields))
		return fields_reason();
	if (fields->status < 0)
		return &unknown;
	return make_maps(syscalls) ? NULL : syscalls_reason(errno);
}

const struct syscalls_why *syscalls_begin(struct syscalls *syscalls,
					  const struct syscalls_plan *plan, pid_t pid,
					  unsigned scope)
{
	const uint32_t yes = 1;
	struct program_fields fields;
	const struct syscalls_why *why = prepare_maps(syscalls, &fields);

	if (why)
		return why;
	for (uint32_t i = 0; i < SYSCALLS_PLANS && scope & SYSCALLS_CALLS; i++)
		if (!set_element(syscalls->map[SYSCALLS_MAP_PLAN], i, &plan[i]))
			return syscalls_reason(errno);
	if (!set_element(syscalls->map[SYSCALLS_MAP_TRACED], (uint32_t)pid, &yes) ||
	    !map_ring(syscalls) || !load_programs(syscalls, &fields, scope))
		return syscalls_reason(errno);
	why = attach_programs(syscalls, scope);
	syscalls->is_active = !why;
	return why;
}

const struct syscalls_why *syscalls_refusal(void)
{
	struct program_fields fields;
	struct syscalls syscalls;
	const struct syscalls_why *why = prepare_maps(&syscalls, &fields);

	if (!why && !load_programs(&syscalls, &fields, SYSCALLS_FOLLOW | SYSCALLS_CALLS))
		why = syscalls_reason(errno);
	for (int i = 0; !why && i < SYSCALLS_PROGRAMS; i++)
		why = open_event(&syscalls, i);
	syscalls_end(&syscalls);
	return why;
}

bool syscalls_follows(const struct syscalls *syscalls, pid_t pid)
{
	uint32_t key = (uint32_t)pid, value;
	union bpf_attr attr = { .map_fd = (uint32_t)syscalls->map[SYSCALLS_MAP_TRACED],
				.key = (uintptr_t)&key, .value = (uintptr_t)&value };

	return syscalls->is_active && syscalls_bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0;
}

pid_t syscalls_next(const struct syscalls *syscalls, pid_t pid)
{
	uint32_t key = (uint32_t)pid, next;
	union bpf_attr attr = { .map_fd = (uint32_t)syscalls->map[SYSCALLS_MAP_TRACED],
				.key = pid ? (uintptr_t)&key : 0, .next_key = (uintptr_t)&next };

	return syscalls->is_active && syscalls_bpf(BPF_MAP_GET_NEXT_KEY, &attr) == 0 ? (pid_t)next :
										       0;
}

void syscalls_stop(struct syscalls *syscalls)
{
	uint32_t pid;
	union bpf_attr first = { .map_fd = (uint32_t)syscalls->map[SYSCALLS_MAP_TRACED],
				 .next_key = (uintptr_t)&pid };
	union bpf_attr gone = { .map_fd = (uint32_t)syscalls->map[SYSCALLS_MAP_TRACED],
				.key = (uintptr_t)&pid };

	/* The programs record only processes that are in this map, so it is emptied first. */
	for (int i = 0; syscalls->is_active && i < SYSCALLS_TRACED_MOST &&
	     !syscalls_bpf(BPF_MAP_GET_NEXT_KEY, &first); i++)
		syscalls_bpf(BPF_MAP_DELETE_ELEM, &gone);
	for (int i = SYSCALLS_PROGRAMS - 1; syscalls->is_active && i >= 0; i--)
		if (syscalls->event[i] >= 0)
			ioctl(syscalls->event[i], PERF_EVENT_IOC_DISABLE, 0);
}

void syscalls_end(struct syscalls *syscalls)
{
	if (syscalls->is_active)
		apart_close(syscalls->event, SYSCALLS_PROGRAMS);
	else
		apart_close_here(syscalls->event, SYSCALLS_PROGRAMS);
	apart_close_here(syscalls->program, SYSCALLS_PROGRAMS);
	if (syscalls->producer)
		munmap(syscalls->producer, syscalls->page + 2 * (size_t)RING_BYTES);
	if (syscalls->consumer)
		munmap(syscalls->consumer, syscalls->page);
	apart_close_here(syscalls->map, SYSCALLS_MAPS);
	forget_all(syscalls);
}

/* ------------------------------------------------------------------ records */

uint64_t syscalls_lost(const struct syscalls *syscalls, enum syscalls_losses which)
{
	uint32_t key = which;
	uint64_t lost = 0;
	union bpf_attr attr = { .map_fd = (uint32_t)syscalls->map[SYSCALLS_MAP_LOST],
				.key = (uintptr_t)&key, .value = (uintptr_t)&lost };

	return syscalls->is_active && syscalls_bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0 ? lost : 0;
}

/*
 * Reads up to the writer's place. The lower 30 bits of a record's header are its length. The
 * highest bit is set while the kernel writes the record, and the next bit if the record was
 * discarded.
 */
void syscalls_look(struct syscalls *syscalls,
		   void (*take)(void *arg, const struct syscalls_record *record,
				const unsigned char *piece, size_t bytes),
		   void *arg)
{
	unsigned long at, end;

	if (!syscalls->is_active)
		return;
	at = *(unsigned long *)(void *)syscalls->consumer;
	end = __atomic_load_n((unsigned long *)(void *)syscalls->producer, __ATOMIC_ACQUIRE);
	while (at < end) {
		const unsigned char *place = syscalls->producer + syscalls->page +
					     (at & (RING_BYTES - 1));
		uint32_t head = __atomic_load_n((const uint32_t *)(const void *)place,
						__ATOMIC_ACQUIRE);
		uint32_t bytes = head & 0x3fffffff;
		struct syscalls_record record;

		if (head >> 31)
			break;
		if (!(head >> 30 & 1) && bytes >= sizeof(record) && bytes <= RING_BYTES) {
			memcpy(&record, place + 8, sizeof(record));
			take(arg, &record, place + 8 + sizeof(record), bytes - sizeof(record));
		}
		at += (8 + bytes + 7) & ~7ul;
		__atomic_store_n((unsigned long *)(void *)syscalls->consumer, at,
				 __ATOMIC_RELEASE);
	}
}
