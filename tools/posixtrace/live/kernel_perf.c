/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_perf.c - reads the kernel's records of switches and samples by perf_event_open(2).
 *
 * The kernel writes into one memory for each CPU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/perf.h"
#include "base/procfile.h"
#include "base/vec.h"
#include "live/kernel_copies.h"
#include "live/kernel_frames.h"
#include "live/kernel_part.h"
#include "../../../lib/preload/stack_copy.h" /* the limits of a copy */

/*
 * Pages of memory for each CPU. Every user may lock this number of pages (perf_event_mlock_kb is
 * 516). If other programs of the user have locked some of these pages, the recorder tries fewer
 * pages.
 */
#define DATA_PAGES 128
#define COPY_PAGES 1024 /* with copies of stacks, which unprivileged users seldom get */
/*
 * The number of page faults that a sample of them represents. A sample costs about as much as a
 * page fault, so all samples cost at most some percent of the time that the faults need.
 */
#define FAULT_PERIOD 64
#define FORMAT_LOST  (UINT64_C(1) << 4) /* PERF_FORMAT_LOST, which headers before Linux 6.0 lack */

/* ------------------------------------------------------------------ beginning */

/*
 * The events of a thread. EVENT_SWITCH is a dummy, to which the kernel adds records of switches; it
 * is not opened if only samples are wanted.
 */
enum event { EVENT_SWITCH, EVENT_SAMPLE, EVENT_FAULT };

/*
 * Returns the attributes of an event. The kernel's own code is excluded, because an unprivileged
 * user may not observe it. Only samples of the CPU include it, if the kernel permits this. If
 * "starts" is true, counting begins at execve().
 *
 * Page faults are sampled with a fixed period. If the kernel chose the period for a wanted rate,
 * the period in a sample would differ from the number of faults since the sample before. After a
 * time without faults, the period may be ten times that number. PERF_SAMPLE_PERIOD is not
 * requested, because with it and a fixed period the kernel makes a sample at each fault.
 */
static struct perf_event_attr attr_of(const struct kernel *kernel, enum event event, bool starts)
{
	static const uint64_t config[] = {
		[EVENT_SWITCH] = PERF_COUNT_SW_DUMMY, [EVENT_SAMPLE] = PERF_COUNT_SW_CPU_CLOCK,
		[EVENT_FAULT] = PERF_COUNT_SW_PAGE_FAULTS,
	};
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = config[event],
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		/* If the program waits before its execve(), it is recorded from there on. */
		.sample_id_all = 1, .inherit = 1, .disabled = starts, .enable_on_exec = starts,
		.exclude_kernel = 1, .exclude_hv = 1, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.read_format = kernel->counts_lost ? FORMAT_LOST : 0,
	};

	if (event == EVENT_SAMPLE)
		kernel_maps_request(&attr);
	if (event == EVENT_SWITCH) {
		attr.context_switch = kernel->switches;
		/* The ends of threads; if there are samples, EVENT_SAMPLE reports these ends. */
		attr.task = kernel->switches && !kernel->plan.sample_hz;
	} else {
		attr.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN;
		attr.exclude_callchain_kernel = 1;
		attr.freq = event == EVENT_SAMPLE;
		if (event == EVENT_SAMPLE)
			attr.sample_freq = kernel->plan.sample_hz;
		else
			attr.sample_period = FAULT_PERIOD;
		attr.sample_max_stack = STACK_FRAMES;
	}
	if (event == EVENT_SAMPLE && kernel->frames)
		attr.exclude_kernel = attr.exclude_callchain_kernel = 0;
	/*
	 * The fields of a copy of the stack follow the other fields. Samples of page faults have no
	 * copy.
	 */
	if (event == EVENT_SAMPLE && kernel->period.copies) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = kernel_copies_registers();
		attr.sample_stack_user = kernel->plan.stack.bytes ?
			(uint32_t)(kernel->plan.stack.bytes & ~(size_t)7) : SHIM_STACK_BYTES;
	}
	return attr;
}

/* Maps the memory of a CPU. Returns false, with errno, if the kernel refuses it. */
static bool map_memory(const struct kernel *kernel, struct kernel_cpu *cpu)
{
	cpu->memory = perf_map(cpu->fd, kernel->period.copies ? COPY_PAGES : DATA_PAGES);
	return cpu->memory;
}

/*
 * Opens an event whose records the kernel writes into the memory of the given CPU. Returns 0 or an
 * error number.
 */
static int open_more(struct kernel *kernel, const struct perf_event_attr *attr, pid_t tid,
		     const struct kernel_cpu *cpu)
{
	int fd = perf_open(attr, tid, cpu->cpu);

	/* If the thread has ended meanwhile, this is no error. */
	if (fd < 0)
		return errno == ESRCH ? 0 : errno;
	if (!vec_grow(&kernel->more, kernel->mores, 1)) {
		close(fd);
		return ENOMEM;
	}
	kernel->more[kernel->mores++] = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->fd) ? errno : 0;
}

/*
 * Opens the events of one thread on all CPUs. The first event of the first thread gets memory, and
 * all other events share this memory. Each event of a thread costs time at each switch to and from
 * the thread, so EVENT_SWITCH is opened only if it is needed. Returns 0 or an error number. After
 * an error, kernel_fini() closes the events that were opened.
 */
static int open_thread(struct kernel *kernel, pid_t tid, bool starts)
{
	const bool samples = kernel->plan.sample_hz;
	struct perf_event_attr attr[3];
	/* Threads move between CPUs, so an event for each CPU is necessary. */
	int configured = (int)sysconf(_SC_NPROCESSORS_CONF), err = 0;
	size_t attrs = 0, first;

	if (kernel->switches || !samples)
		attr[attrs++] = attr_of(kernel, EVENT_SWITCH, starts);
	if (samples) {
		attr[attrs++] = attr_of(kernel, EVENT_SAMPLE, starts);
		attr[attrs++] = attr_of(kernel, EVENT_FAULT, starts);
	}
	first = kernel->cpus == 0; /* the number of events that get memory */
	for (int number = 0; first && number < configured; number++) {
		struct kernel_cpu cpu = { .cpu = number };

		cpu.fd = perf_open(&attr[0], tid, number);
		/* A CPU that is off has no device. */
		if (cpu.fd < 0 && errno == ENODEV)
			continue;
		if (cpu.fd < 0)
			return errno;
		if (!vec_grow(&kernel->cpu, kernel->cpus, 1)) {
			close(cpu.fd);
			return ENOMEM;
		}
		if (!map_memory(kernel, &cpu)) {
			err = errno;
			close(cpu.fd);
			return err;
		}
		kernel->cpu[kernel->cpus++] = cpu;
	}
	for (size_t i = 0; !err && i < kernel->cpus; i++)
		for (size_t event = first; !err && event < attrs; event++)
			err = open_more(kernel, &attr[event], tid, &kernel->cpu[i]);
	return err;
}

/*
 * Opens the events of all threads of a running process. Returns 0 or an error number. A thread that
 * begins during the walk is usually recorded, too: a thread whose events are open has started it,
 * or the walk finds it later in the folder.
 */
static int open_process(struct kernel *kernel, pid_t pid)
{
	DIR *threads = procfile_threads(pid);
	int err = 0;
	pid_t tid;

	/*
	 * Threads that these threads start later are recorded, too, because of the attribute
	 * inherit.
	 */
	if (!threads)
		return errno;
	while (!err && (tid = procfile_next_thread(threads)))
		err = open_thread(kernel, tid, false);
	procfile_end_threads(threads);
	return err;
}

/*
 * Opens samples of all CPUs. Such samples are taken of all threads that run there, and
 * take_sample() drops the samples of other processes. If an event belongs to a thread, the kernel
 * programs the timer of the CPU whenever the thread gets or leaves a CPU. This takes several
 * microseconds in a virtual machine. An event of a CPU has no such cost. Returns 0 or an error
 * number; an unprivileged user usually gets an error.
 */
static int open_cpus(struct kernel *kernel)
{
	struct perf_event_attr samples = attr_of(kernel, EVENT_SAMPLE, false);
	struct perf_event_attr faults = attr_of(kernel, EVENT_FAULT, false);
	int configured = (int)sysconf(_SC_NPROCESSORS_CONF), err = 0;

	samples.inherit = faults.inherit = 0;
	samples.exclude_idle = 1;
	for (int number = 0; !err && number < configured; number++) {
		struct kernel_cpu cpu = { .cpu = number, .fd = perf_open(&samples, -1, number) };

		/* A CPU that is off has no device. */
		if (cpu.fd < 0 && errno == ENODEV)
			continue;
		if (cpu.fd < 0)
			return errno;
		if (!map_memory(kernel, &cpu)) {
			err = errno;
			close(cpu.fd);
			return err;
		}
		if (!vec_grow(&kernel->cpu, kernel->cpus, 1)) {
			perf_unmap(cpu.memory);
			close(cpu.fd);
			return ENOMEM;
		}
		kernel->cpu[kernel->cpus++] = cpu;
		err = open_more(kernel, &faults, -1, &cpu);
	}
	return err;
}

/* Returns whether the kernel counts the lost records of each event; Linux does from 6.0 on. */
static bool can_count_lost(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.disabled = 1, .exclude_kernel = 1, .read_format = FORMAT_LOST,
	};

	return !perf_try(&attr, 0);
}

/*
 * Makes the descriptor that is readable when the memory of a CPU is half full. The kernel reports
 * this for each event of the memory whose attributes request no other report. The events are
 * edge-triggered, because a descriptor remains readable when its thread has ended. Without memory,
 * or with too few descriptors, there is no such descriptor.
 */
static void watch_memory(struct kernel *kernel)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	kernel->wake = epoll_create1(EPOLL_CLOEXEC);
	kernel->has_wake = kernel->wake >= 0;
	for (size_t i = 0; kernel->has_wake && i < kernel->cpus; i++)
		if (epoll_ctl(kernel->wake, EPOLL_CTL_ADD, kernel->cpu[i].fd, &event)) {
			close(kernel->wake);
			kernel->has_wake = false;
		}
}

int kernel_perf_begin(struct kernel *kernel, bool switches, pid_t pid, bool starts)
{
	int err;

	kernel->switches = switches;
	kernel->counts_lost = can_count_lost();
	/*
	 * Samples of whole CPUs are possible only with the kernel's tracing, which shows which
	 * threads are recorded.
	 */
	if (kernel->trace && !switches) {
		if (!open_cpus(kernel)) {
			watch_memory(kernel);
			return 0;
		}
		kernel_perf_fini(kernel);
	}
	err = starts ? open_thread(kernel, pid, true) : open_process(kernel, pid);
	if (!err)
		watch_memory(kernel);
	return err;
}

/* ------------------------------------------------------------------ records */

/* The fields that sample_id_all adds at the end of each record that is not a sample. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, spare;
};

/* The first fields of a sample; the addresses of its stack follow. */
struct sample {
	uint32_t pid, tid;
	uint64_t time, address; /* address: 0 for a sample of the CPU */
	uint32_t cpu, spare;
	uint64_t count;
};

/*
 * Keeps a page fault with the data of an event cpu.fault. "instruction" is the first address of the
 * stack.
 */
static void keep_fault(struct kernel *kernel, struct kernel_record record,
		       const struct sample *sample, uint64_t instruction)
{
	struct kernel_event event = { .address = instruction, .type = KERNEL_TYPE_FAULT };
	unsigned char data[sizeof(sample->cpu) + 2 * sizeof(uint64_t)];
	const uint64_t faults = FAULT_PERIOD;

	event.bytes = sizeof(data);
	memcpy(data, &sample->cpu, sizeof(sample->cpu));
	memcpy(data + sizeof(sample->cpu), &sample->address, sizeof(sample->address));
	memcpy(data + sizeof(sample->cpu) + sizeof(sample->address), &faults, sizeof(faults));
	kernel_add_event(kernel, record, sample->time, event, data);
}

/*
 * Returns whether a sample may belong to the log. With the kernel's tracing there are samples of
 * all processes. A process is recorded if its first thread is recorded. If the record of the first
 * thread's start was lost, the function looks at the thread of the sample instead.
 */
static bool is_wanted(const struct kernel *kernel, const struct sample *sample)
{
	if (!kernel->trace)
		return true;
	if (kernel->plan.alone && sample->pid != (uint32_t)kernel->pid)
		return false;
	return kernel_is_recorded(kernel, (pid_t)sample->pid) ||
	       kernel_is_recorded(kernel, (pid_t)sample->tid);
}

/* Keeps a sample of the CPU, with the copy of the stack if the record has one behind its fields. */
static void add_sample(struct kernel *kernel, struct kernel_record record,
		       const struct sample *sample, const unsigned char *rest, size_t bytes)
{
	uint32_t index;

	if (kernel->period.copies &&
	    kernel_copies_keep(kernel->period.copies, rest, bytes, record.other, &index)) {
		record.kind = KERNEL_COPY;
		record.other = index;
	}
	kernel_add_monotonic(kernel, record, sample->time);
}

/*
 * Reads a sample of the CPU or of page faults. Both have the same fields and share the memory. Only
 * a page fault has an address of data.
 */
static void take_sample(struct kernel *kernel, const unsigned char *data, size_t bytes)
{
	struct kernel_record record = { .kind = KERNEL_SAMPLE };
	const uint64_t *chain = (const uint64_t *)(const void *)(data + sizeof(struct sample));
	struct sample sample;
	size_t used;

	if (bytes < sizeof(sample))
		return;
	memcpy(&sample, data, sizeof(sample));
	if (sample.count > (bytes - sizeof(sample)) / sizeof(uint64_t) || !sample.pid ||
	    !sample.tid)
		return;
	/*
	 * Samples of other processes are dropped here, so no stack is kept for them, and they never
	 * count as lost.
	 */
	if (!is_wanted(kernel, &sample))
		return;
	used = sizeof(sample) + (size_t)sample.count * sizeof(uint64_t);
	record.pid = (pid_t)sample.pid;
	record.tid = (pid_t)sample.tid;
	record.cpu = (uint16_t)sample.cpu;
	/* Only samples of the CPU may have functions of the kernel. */
	record.other = kernel_frames_keep(sample.address ? NULL : kernel->frames,
					  &kernel->period.raw, &kernel->period.stacks, chain,
					  sample.count);
	if (record.other == STACK_NONE)
		kernel->period.lost_memory++;
	else if (sample.address)
		keep_fault(kernel, record, &sample,
			   stack_store_top(&kernel->period.stacks, record.other));
	else
		add_sample(kernel, record, &sample, data + used, bytes - used);
}

/*
 * Notes the record of a mapping, a fork or an execve(). Like samples, such records may be of
 * processes that are not recorded.
 */
static void take_map(struct kernel *kernel, const struct perf_event_header *header, size_t bytes,
		     uint64_t ns)
{
	const pid_t pid = kernel_maps_process(header, bytes);

	if (!pid || (kernel->trace && !kernel_is_recorded(kernel, pid)))
		return;
	if (kernel->has_inner_ids)
		kernel_note_task(kernel, pid, NULL);
	kernel_maps_take(&kernel->maps, header, bytes, kernel_monotonic_time(kernel, ns));
}

/*
 * Reads one record. Records of other kinds than those below are ignored. A record that is too short
 * for its kind is ignored.
 */
static void take_record(void *arg, const struct perf_event_header *header)
{
	struct kernel *kernel = arg;
	const unsigned char *data = (const unsigned char *)(header + 1);
	const size_t bytes = header->size - sizeof(*header);
	struct kernel_record record = { .kind = KERNEL_IN };
	struct trailer trailer;
	uint64_t count;

	if (bytes < sizeof(trailer))
		return;
	if (header->type == PERF_RECORD_SAMPLE) {
		take_sample(kernel, data, bytes);
		return;
	}
	memcpy(&trailer, data + bytes - sizeof(trailer), sizeof(trailer));
	record.pid = (pid_t)trailer.pid;
	record.tid = (pid_t)trailer.tid;
	record.cpu = (uint16_t)trailer.cpu;
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		if (header->misc & PERF_RECORD_MISC_SWITCH_OUT)
			record.kind = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ?
				      KERNEL_PREEMPTED : KERNEL_OUT;
		break;
	case PERF_RECORD_EXIT:
		if (!kernel->switches)
			return;
		record.kind = KERNEL_EXIT;
		break;
	case PERF_RECORD_LOST:
		/*
		 * The number of lost records follows an identifier of the event. The kernel writes
		 * this record when there is room again, perhaps in a later period. So
		 * kernel_perf_lost() uses the counts of the events instead, if the kernel has them.
		 */
		memcpy(&count, data + sizeof(uint64_t), sizeof(count));
		if (!kernel->counts_lost)
			kernel->period.lost_full += count;
		return;
	default:
		take_map(kernel, header, bytes - sizeof(trailer), trailer.time);
		return;
	}
	/* The numbers of the idle thread and of threads that have ended are not positive. */
	if (record.pid > 0 && record.tid > 0)
		kernel_add_monotonic(kernel, record, trailer.time);
}

void kernel_perf_mark(struct kernel *kernel)
{
	struct epoll_event event[16];

	/*
	 * The reports are removed before the records are read, so that a later report is kept. If
	 * there are more of them, they lead to another look.
	 */
	if (kernel->has_wake)
		epoll_wait(kernel->wake, event, 16, 0);
	for (size_t i = 0; i < kernel->cpus; i++)
		kernel->cpu[i].head = perf_head(kernel->cpu[i].memory);
}

void kernel_perf_look(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->cpus; i++)
		perf_read(kernel->cpu[i].memory, kernel->cpu[i].head, take_record, kernel);
}

/* Returns the number of records that an event has lost, with those of inherited events. */
static uint64_t lost_of(int fd)
{
	struct {
		uint64_t value, lost;
	} count;

	return read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count) ? count.lost : 0;
}

uint64_t kernel_perf_lost(const struct kernel *kernel)
{
	uint64_t lost = 0;

	for (size_t i = 0; kernel->counts_lost && i < kernel->cpus; i++)
		lost += lost_of(kernel->cpu[i].fd);
	for (size_t i = 0; kernel->counts_lost && i < kernel->mores; i++)
		lost += lost_of(kernel->more[i]);
	return lost;
}

/* The descriptors remain open, because the memory is read once more. */
void kernel_perf_stop(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->cpus; i++)
		ioctl(kernel->cpu[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (size_t i = 0; i < kernel->mores; i++)
		ioctl(kernel->more[i], PERF_EVENT_IOC_DISABLE, 0);
}

void kernel_perf_fini(struct kernel *kernel)
{
	if (kernel->has_wake)
		close(kernel->wake);
	kernel->has_wake = false;
	for (size_t i = 0; i < kernel->mores; i++)
		close(kernel->more[i]);
	for (size_t i = 0; i < kernel->cpus; i++) {
		perf_unmap(kernel->cpu[i].memory);
		close(kernel->cpu[i].fd);
	}
	free(kernel->more);
	free(kernel->cpu);
	kernel->more = NULL;
	kernel->cpu = NULL;
	kernel->mores = kernel->cpus = 0;
}
