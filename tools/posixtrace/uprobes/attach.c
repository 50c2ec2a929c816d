/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.c - loads the BPF programs, and attaches them to the places.
 *
 * There are two ways to attach a program. A link of the kind uprobe_multi has all places of a file.
 * Such a link is made and removed in one step, independent of the number of places. Kernels before
 * 6.6 need an event and a link for each place, and so two descriptors.
 */
#include "uprobes/uprobes.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/perf.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/vec.h"
#include "syscalls/apart.h"
#include "uprobes/arrive.h"

#if defined __x86_64__

/* The following definitions are from the headers of Linux 6.6. */
#define TRACE_UPROBE_MULTI 48 /* enum bpf_attach_type */
struct multi_attr {
	uint32_t program, target, attach, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, multi_flags, pid, unused; /* pid 0: all processes */
};

/*
 * Returns whether the kernel supports links of many places. Some kernels without such links
 * nevertheless accept a program with the attach type of such links. So the function tries to make a
 * link with a path that is not a file. A kernel that supports such links refuses this link because
 * of the path, before it checks anything else.
 */
static bool has_multi_links(int program)
{
	const uint64_t offset = 0;
	struct multi_attr attr = {
		.program = (uint32_t)program, .attach = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)"/", .offsets = (uintptr_t)&offset, .count = 1,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBADF;
}

/*
 * Loads a program for one of the two ways to attach. The first program that is loaded determines
 * the way for all programs. Returns the descriptor, or -1.
 */
static int load_either(struct uprobes *uprobes, const struct program *program, bool is_first)
{
	int fd = -1;

	if (is_first || uprobes->is_multi)
		fd = syscalls_load(program, BPF_PROG_TYPE_KPROBE, TRACE_UPROBE_MULTI);
	if (is_first) {
		uprobes->is_multi = fd >= 0 && has_multi_links(fd);
		if (fd >= 0 && !uprobes->is_multi)
			close(fd);
	}
	if (!uprobes->is_multi)
		fd = -1;
	return fd >= 0 || uprobes->is_multi ? fd : syscalls_load(program, BPF_PROG_TYPE_KPROBE, 0);
}

/*
 * Loads the program for places without values. POSIXTRACE_KERNEL=perf selects the older way, as it
 * does for the records of the scheduler. Returns NULL, or the kernel's reason for a failure.
 */
static const struct syscalls_why *load_uprobe(struct uprobes *uprobes)
{
	const char *way = getenv("POSIXTRACE_KERNEL");
	static struct program program;

	arrive_plain(&program, uprobes->syscalls->map);
	uprobes->program = load_either(uprobes, &program, !way || strcmp(way, "perf") != 0);
	return uprobes->program < 0 ? syscalls_reason(errno) : NULL;
}

/*
 * Stores the values of all places, and loads the program for places with values. Returns NULL, or
 * the reason for a failure.
 */
static const struct syscalls_why *load_valued(struct uprobes *uprobes,
					      const struct uprobes_place *place, size_t count)
{
	union bpf_attr make = { .map_type = BPF_MAP_TYPE_HASH, .key_size = 4,
				.value_size = sizeof(struct uprobes_values) };
	static struct program program;

	for (size_t i = 0; i < count; i++)
		make.max_entries += place[i].values != NULL;
	if (!make.max_entries)
		return NULL;
	uprobes->values = syscalls_bpf(BPF_MAP_CREATE, &make);
	for (size_t i = 0; i < count && uprobes->values >= 0; i++) {
		const uint32_t number = (uint32_t)(uprobes->first + i);
		union bpf_attr store = { .map_fd = (uint32_t)uprobes->values,
					 .key = (uintptr_t)&number,
					 .value = (uintptr_t)place[i].values };

		if (place[i].values && syscalls_bpf(BPF_MAP_UPDATE_ELEM, &store))
			return syscalls_reason(errno);
	}
	if (uprobes->values >= 0) {
		arrive_valued(&program, uprobes->syscalls->map, uprobes->values);
		uprobes->valued = load_either(uprobes, &program, false);
	}
	return uprobes->valued < 0 ? syscalls_reason(errno) : NULL;
}

/* Keeps a descriptor until the end. If memory is lacking, closes it and returns false. */
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

/* Returns the number that the kernel passes to the program when a thread arrives at the place. */
static uint64_t cookie_of(const struct uprobes_place *place, size_t index)
{
	return index | (uint64_t)(place->is_go ? ARRIVE_GO : 0) << 32;
}

/* Returns the reason why the kernel refused a place. */
static const struct syscalls_why *place_reason(int err)
{
	static const struct syscalls_why refused = {
		SYSCALLS_OTHER_KERNEL, "this kernel accepts no breakpoint there"
	};

	switch (err) {
	case EPERM:
	case EACCES:
	case ENOSYS:
	case EMFILE:
	case ENOMEM:
		return syscalls_reason(err);
	}
	return &refused;
}

/* The places of one file, in the form that the kernel requires. */
struct batch {
	const char *path;
	uint64_t *offset, *semaphore, *cookie;
	size_t count;
	int program;
	bool has_semaphores;
};

/*
 * Attaches "count" places, beginning with the place "first", by one link. Returns 0 or an error
 * number.
 */
static int link_places(struct uprobes *uprobes, const struct batch *batch, size_t first,
		       size_t count)
{
	struct multi_attr attr = {
		.program = (uint32_t)batch->program, .attach = TRACE_UPROBE_MULTI,
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
 * Attaches places by links. The kernel refuses a whole link if it has a single bad place. In that
 * case each half of the places gets a link of its own, and so on, until each bad place is alone and
 * left out. Returns 0, or an error number if no place was accepted or if a resource is lacking.
 */
static int attach_multi(struct uprobes *uprobes, const struct batch *batch, size_t first,
			size_t count)
{
	int err = link_places(uprobes, batch, first, count), other;

	if (!err || err == ENOMEM || err == EMFILE)
		return err;
	if (count == 1) {
		uprobes->refusals++;
		uprobes->refused = place_reason(err)->text;
		return err;
	}
	err = attach_multi(uprobes, batch, first, count / 2);
	if (err == ENOMEM || err == EMFILE)
		return err;
	other = attach_multi(uprobes, batch, first + count / 2, count - count / 2);
	if (other == ENOMEM || other == EMFILE)
		return other;
	return err && other ? err : 0;
}

/*
 * Returns the type of the events for places. The kernel chooses this number. Returns -1 if there is
 * none.
 */
static int event_type(void)
{
	char text[32];

	return procfile_read("/sys/bus/event_source/devices/uprobe/type", text, sizeof(text)) ?
	       atoi(text) : -1;
}

/* Attaches a place by an event of its own. One event of any CPU is enough for all CPUs. */
static int attach_place(struct uprobes *uprobes, const struct batch *batch, size_t index, int type)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)type, .size = sizeof(attr), .sample_period = 1,
		.config = batch->semaphore[index] << 32,
		.config1 = (uintptr_t)batch->path, .config2 = batch->offset[index],
	};
	union bpf_attr link = { .link_create = { .prog_fd = (uint32_t)batch->program,
						 .attach_type = BPF_PERF_EVENT } };
	int fd = perf_open(&attr, -1, sched_getcpu());

	if (fd < 0 || !keep_descriptor(uprobes, fd))
		return errno;
	link.link_create.target_fd = (uint32_t)fd;
	link.link_create.perf_event.bpf_cookie = batch->cookie[index];
	fd = syscalls_bpf(BPF_LINK_CREATE, &link);
	return fd >= 0 && keep_descriptor(uprobes, fd) ? 0 : errno;
}

/*
 * Attaches each place by an event of its own. The function first raises the limit of descriptors as
 * far as this process may. Returns 0, or an error number if the kernel accepted no place or if a
 * resource is lacking.
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
		uprobes->refused = place_reason(err)->text;
	}
	return err == EMFILE || err == ENOMEM || !good ? last : 0;
}

/*
 * Attaches places of one file: the places with values if has_values is true, otherwise the places
 * without values. "first" is the number of the first place in the records. Returns 0 or an error
 * number.
 */
static int attach_file(struct uprobes *uprobes, const char *path, const struct uprobes_place *place,
		       size_t count, size_t first, bool has_values)
{
	struct batch batch = { .path = path,
			       .program = has_values ? uprobes->valued : uprobes->program };
	uint64_t *memory = calloc(count, 3 * sizeof(*memory));
	int err;

	if (!memory)
		return ENOMEM;
	batch.offset = memory;
	batch.semaphore = memory + count;
	batch.cookie = memory + 2 * count;
	for (size_t i = 0; i < count; i++) {
		if ((place[i].values != NULL) != has_values)
			continue;
		batch.offset[batch.count] = place[i].offset;
		batch.semaphore[batch.count] = place[i].semaphore;
		batch.has_semaphores |= place[i].semaphore != 0;
		batch.cookie[batch.count++] = cookie_of(&place[i], first + i);
	}
	err = !batch.count ? 0 : uprobes->is_multi ?
	      attach_multi(uprobes, &batch, 0, batch.count) : attach_events(uprobes, &batch);
	free(memory);
	return err;
}

/*
 * Attaches the two groups of places of one file. If the kernel refuses all places of a group,
 * prints the reason and continues without the group, because the places of the other files can
 * still be recorded. *accepted becomes true if the kernel has accepted places. Returns 0, or an
 * error number if a resource is lacking, which the later files would lack, too.
 */
static int attach_groups(struct uprobes *uprobes, const char *path,
			 const struct uprobes_place *place, size_t count, size_t first,
			 bool *accepted)
{
	int err = 0;

	for (int has_values = 0; has_values < 2; has_values++) {
		const size_t before = uprobes->refusals, fds = uprobes->fds;

		err = attach_file(uprobes, path, place, count, first, has_values);
		if (err == ENOMEM || err == EMFILE)
			return err;
		if (!err) {
			*accepted |= uprobes->fds > fds;
			continue;
		}
		say("%s: the kernel refuses all %zu breakpoints of %s: %s; they are left out", path,
		    uprobes->refusals - before, has_values ? "functions and probes with values" :
		    "functions without values", place_reason(err)->text);
		/* The caller counts only the places of groups that the kernel has accepted. */
		uprobes->refusals = before;
		uprobes->last_error = err;
	}
	return 0;
}

const struct syscalls_why *uprobes_begin(struct uprobes *uprobes, struct syscalls *syscalls,
					 const char *const *path,
					 const struct uprobes_place *place, size_t count,
					 size_t first)
{
	bool accepted = false;
	const struct syscalls_why *why;
	int err = 0;

	*uprobes = (struct uprobes){ .syscalls = syscalls, .first = first, .program = -1,
				     .valued = -1, .values = -1 };
	why = load_uprobe(uprobes);
	if (!why)
		why = load_valued(uprobes, place, count);
	/*
	 * Files were planned one after the other, so the places of a file are adjacent in the
	 * array.
	 */
	for (size_t i = 0, behind; i < count && !why && !err; i = behind) {
		const char *of = path[place[i].file];

		for (behind = i + 1; behind < count && place[behind].file == place[i].file;)
			behind++;
		err = attach_groups(uprobes, of, place + i, behind - i, first + i, &accepted);
	}
	if (!why && !err && !accepted)
		err = uprobes->last_error;
	return err ? place_reason(err) : why;
}

const struct syscalls_why *uprobes_refusal(void)
{
	static const struct syscalls_why none = {
		SYSCALLS_OTHER_KERNEL, "this kernel has no uprobes"
	};
	struct uprobes uprobes;
	struct syscalls syscalls;
	const struct syscalls_why *why =
		syscalls_begin(&syscalls, NULL, getpid(), SYSCALLS_OF_PROCESS);

	uprobes = (struct uprobes){ .syscalls = &syscalls, .program = -1, .valued = -1,
				    .values = -1 };
	if (!why)
		why = load_uprobe(&uprobes);
	if (!why && !uprobes.is_multi && event_type() < 0)
		why = &none;
	uprobes_end(&uprobes);
	syscalls_end(&syscalls);
	return why;
}

#else

const struct syscalls_why *uprobes_refusal(void)
{
	static const struct syscalls_why processor = {
		SYSCALLS_OTHER_PROCESSOR, "uprobes are not supported on this processor"
	};

	return &processor;
}

const struct syscalls_why *uprobes_begin(struct uprobes *uprobes, struct syscalls *syscalls,
					 const char *const *path,
					 const struct uprobes_place *place, size_t count,
					 size_t first)
{
	(void)path, (void)place, (void)count, (void)first;
	*uprobes = (struct uprobes){ .syscalls = syscalls, .program = -1, .valued = -1,
				     .values = -1 };
	return uprobes_refusal();
}

#endif

/*
 * The function itself removes a link of many places. The removal of the event of a single place
 * needs some 10 ms, so another process removes these events. Until then the only effect of the
 * breakpoints is that processes which arrive at them are slower.
 */
void uprobes_end(struct uprobes *uprobes)
{
	if (uprobes->fds && !uprobes->is_multi)
		apart_close(uprobes->fd, uprobes->fds);
	else
		while (uprobes->fds)
			close(uprobes->fd[--uprobes->fds]);
	uprobes->fds = 0;
	free(uprobes->fd);
	uprobes->fd = NULL;
	if (!uprobes->syscalls)
		return;
	if (uprobes->program >= 0)
		close(uprobes->program);
	if (uprobes->valued >= 0)
		close(uprobes->valued);
	if (uprobes->values >= 0)
		close(uprobes->values);
	uprobes->program = uprobes->valued = uprobes->values = -1;
}
