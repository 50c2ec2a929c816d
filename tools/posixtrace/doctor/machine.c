/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* machine.c - the requirements of tracing that concern the machine and this user. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "base/perf.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/text.h"
#include "doctor/doctor.h"
#include "live/capture.h"
#include "live/kernel_frames.h"
#include "live/kernel_instance.h"
#include "live/process.h"
#include "syscalls/syscalls.h"
#include "uprobes/uprobes.h"
#include "live/preload.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif

#define EVENTS         1000
#define FILE_BYTES     ((rlim_t)64 << 20) /* has room for a stream and a small log */
#define CLOCK_SOURCE   "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define MOUNT_TRACEFS  "as root: mount -t tracefs nodev /sys/kernel/tracing"
#define MOUNT_SYSFS    "as root: mount -t sysfs nodev /sys; " \
		       "mount -t tracefs nodev /sys/kernel/tracing"
#define MORE_FILES     "ulimit -n 1024"
#define OUTSIDE        "record it from outside of the container"

/*
 * Returns the number in a file, such as a setting of the kernel. Returns the last argument if the
 * file has no number.
 */
static long machine_setting(const char *path, long otherwise)
{
	char text[32], *end;
	long number;

	if (!procfile_read(path, text, sizeof(text)))
		return otherwise;
	number = strtol(text, &end, 10);
	return end == text ? otherwise : number;
}

/* Returns whether a capability is in effect for this process. It does not need /proc. */
static bool has_capability(unsigned bit)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, data) == 0 && data[bit / 32].effective >> bit % 32 & 1;
}

/* Reports the version of the kernel and the machine, which a bug report should have. */
static void examine_kernel(doctor_report *report)
{
	struct utsname name;

	if (uname(&name) != 0)
		doctor_say(report, "kernel", DOCTOR_UNKNOWN, NULL, "%s", strerror(errno));
	else
		doctor_say(report, "kernel", DOCTOR_WORKS, NULL, "%s %s, %s", name.sysname,
			   name.release, name.machine);
}

/*
 * Records events of this process into a log in memory. The stream has the size of those that record
 * and attach create. Returns 0 or an error number.
 */
static int machine_record(int fd)
{
	trace_event_id_t type;
	trace_attr_t attr;
	trace_id_t trid;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return err;
	err = posix_trace_attr_setstreamsize(&attr, CAPTURE_STREAM_SIZE);
	if (!err)
		err = posix_trace_create_withlog(0, &attr, fd, &trid);
	posix_trace_attr_destroy(&attr);
	if (err)
		return err;
	err = posix_trace_eventid_open("doctor", &type);
	if (!err)
		err = posix_trace_start(trid);
	for (int i = 0; !err && i < EVENTS; i++)
		posix_trace_event(type, &i, sizeof(i));
	/*
	 * The first error is returned, because it is the cause. The result of the shutdown would
	 * hide it.
	 */
	if (err)
		posix_trace_shutdown(trid);
	else
		err = posix_trace_shutdown(trid);
	return err;
}

/* Reads the log and counts its user events. Returns 0 or an error number. */
static int machine_count(int fd, unsigned *events, struct posix_trace_loginfo_np *info)
{
	struct posix_trace_event_info event;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int err, unavailable, data;
	trace_id_t trid;
	size_t bytes;

	*events = 0;
	err = posix_trace_open(fd, &trid);
	if (err)
		return err;
	while (!(err = posix_trace_getnext_event(trid, &event, &data, sizeof(data), &bytes,
						 &unavailable)) && !unavailable)
		*events += posix_trace_eventid_get_name(trid, event.posix_event_id, name) == 0 &&
			   !strcmp(name, "doctor");
	if (!err)
		err = posix_trace_get_loginfo_np(trid, info);
	posix_trace_close(trid);
	return err;
}

/* Reports the clock of events, and the frequency of the processor's counter. */
static void report_clock(doctor_report *report, const struct posix_trace_loginfo_np *info)
{
	const bool is_counter = strcmp(info->clock, "monotonic") != 0;
	const char *advice = access(CLOCK_SOURCE, R_OK) == 0 ?
		"events cost some 20 ns more; see clocksource in the kernel's log, and "
		"POSIXTRACE_CLOCK in posixtrace(7)" :
		"events cost some 20 ns more; the library reads " CLOCK_SOURCE ", so mount /sys";

	doctor_say(report, "clock", is_counter ? DOCTOR_WORKS : DOCTOR_LIMITED,
		   is_counter ? NULL : advice,
		   is_counter ? "%s, %.2f GHz" :
		   "%s: the processor's counter is not used",
		   info->clock, (double)info->clock_hz / 1e9);
}

/* Returns the advice, or the one for a lack of descriptors if the error is such a lack. */
static const char *advice_unless_files(int err, const char *advice)
{
	if (err == ENFILE)
		return "as root: raise the limit of the system, sysctl fs.file-max";
	return err == EMFILE ? MORE_FILES : advice;
}

/* Tests the recording: writes events of this process into a log, and reads the log. */
static void examine_recording(doctor_report *report)
{
	struct posix_trace_loginfo_np info = { 0 };
	int fd = memory_file("doctor");
	unsigned events = 0;
	int err = fd < 0 ? errno : machine_record(fd);

	if (!err && lseek(fd, 0, SEEK_SET) != 0)
		err = errno;
	if (!err)
		err = machine_count(fd, &events, &info);
	if (fd >= 0)
		close(fd);
	if (err)
		doctor_say(report, "recording", DOCTOR_FAILS,
			   advice_unless_files(err, "a container or a limit of memory, file sizes "
						    "or processes may be the reason"),
			   "a stream with a log of this process: %s", say_strerror(err));
	else
		doctor_say(report, "recording", events == EVENTS ? DOCTOR_WORKS : DOCTOR_FAILS,
			   events == EVENTS ? NULL :
			   "this is a fault of posixtrace: please report it, with this output",
			   "%d events recorded, %u read from the log", EVENTS, events);
	if (!err)
		report_clock(report, &info);
}

/*
 * Examines membarrier(2), by which the reader of a stream makes sure that no older event can
 * follow.
 */
static void examine_barrier(doctor_report *report)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (commands > 0 && commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED)
		doctor_say(report, "membarrier", DOCTOR_WORKS, NULL,
			   "readers deliver events in their order");
	else
		doctor_say(report, "membarrier", DOCTOR_LIMITED,
			   "permit membarrier(2) in the filter of system calls",
			   "%s: the events of the last 2 ms may be delivered out of order",
			   commands < 0 ? strerror(errno) : "not supported");
}

/*
 * Returns whether the library continues without fallocate(2) after this error. The memory is then
 * made when a thread first uses it.
 */
static bool is_refusal(int err)
{
	return err == EPERM || err == EACCES || err == ENOSYS || err == EOPNOTSUPP;
}

/* Examines shared memory, and whether it can be made present before a thread uses it. */
static void examine_memory(doctor_report *report)
{
	const size_t bytes = 1 << 20;
	int fd = memory_file("doctor");
	const int refused = fd >= 0 && fallocate(fd, 0, 0, (off_t)bytes) ? errno : 0;
	void *map = MAP_FAILED;
	bool populates;

	if (fd >= 0 && (!refused || (is_refusal(refused) && !ftruncate(fd, (off_t)bytes))))
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		doctor_say(report, "shared memory", DOCTOR_FAILS,
			   advice_unless_files(errno, "permit memfd_create(2), and look at the "
						      "limits of memory and file sizes"),
			   "1 MiB cannot be allocated: %s", say_strerror(errno));
	} else if (refused) {
		doctor_say(report, "shared memory", DOCTOR_LIMITED,
			   "permit fallocate(2) in the filter of system calls",
			   "cannot be reserved (fallocate: %s): a traced process gets SIGBUS if "
			   "the machine has no more memory", say_strerror(refused));
		munmap(map, bytes);
	} else {
		/*
		 * Kernels before 5.14 refuse this call with EINVAL, and a filter may refuse it.
		 * Each page is then made when a thread first uses it.
		 */
		populates = madvise(map, bytes, MADV_POPULATE_WRITE) == 0;
		doctor_say(report, "shared memory", populates ? DOCTOR_WORKS : DOCTOR_LIMITED,
			   populates ? NULL : errno == EINVAL ? "Linux 5.14 and later can do this" :
			   "permit madvise(2) in the filter of system calls",
			   populates ? "can be made present in advance%s%s" :
			   "cannot be made present in advance (%s%s): some trace points take "
			   "longer",
			   populates || errno == EINVAL ? "" : "madvise: ",
			   populates ? "" : errno == EINVAL ? "an old kernel" : strerror(errno));
		munmap(map, bytes);
	}
	if (fd >= 0)
		close(fd);
}

/*
 * Examines the folder by which processes find each other. The library creates this folder when it
 * creates the first stream, which examine_recording() has done. So if the folder does not exist
 * now, the library cannot create it.
 */
static void examine_folder(doctor_report *report)
{
	const char *wish = getenv("POSIXTRACE_RUNTIME_DIR");
	char path[2][PATH_MAX];
	struct stat st;

	snprintf(path[0], sizeof(path[0]), "/run/user/%u/posixtrace", (unsigned)geteuid());
	snprintf(path[1], sizeof(path[1]), "/tmp/.posixtrace-%u", (unsigned)geteuid());
	if (wish)
		snprintf(path[0], sizeof(path[0]), "%s", wish);
	/* If the variable is set, the library uses only the folder that it names. */
	for (int i = 0; i < (wish ? 1 : 2); i++) {
		if (lstat(path[i], &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) &&
		    access(path[i], W_OK | X_OK) == 0)
			doctor_say(report, "runtime folder", DOCTOR_WORKS, NULL, "%s", path[i]);
		else
			doctor_say(report, "runtime folder", DOCTOR_LIMITED,
				   "make it a folder that only you can read and write",
				   "%s is %s: the processes of this user cannot find each other",
				   path[i], S_ISDIR(st.st_mode) ? "not private" : "no folder");
		return;
	}
	doctor_say(report, "runtime folder", DOCTOR_LIMITED,
		   "set POSIXTRACE_RUNTIME_DIR to a path in a folder that you can write",
		   "%s cannot be created: the processes of this user cannot find each other",
		   path[wish ? 0 : 1]);
}

/*
 * Examines whether the library that the command record loads can be found. The search prints
 * messages that are meant for record. So the function suppresses these messages, and gives its own
 * advice instead.
 */
static void examine_preload(doctor_report *report)
{
#ifdef __GLIBC__
	const char *advice = "install posixtrace, or set POSIXTRACE_PRELOAD";
#else
	const char *advice = "the library needs glibc: build posixtrace with glibc";
#endif
	const char *path;

	say_nothing(true);
	path = preload_find();
	say_nothing(false);
	if (path)
		doctor_say(report, "preload library", DOCTOR_WORKS, NULL, "%s", path);
	else
		doctor_say(report, "preload library", DOCTOR_LIMITED,
			   advice, "not found: record sees only programs that use libposixtrace");
}

/*
 * Examines the mount of /proc. If /proc/mounts has several lines for /proc, the last line is valid.
 */
static void examine_proc(doctor_report *report)
{
	char line[1024], kind[64], options[512], self[32];
	FILE *file = fopen("/proc/mounts", "re");
	bool hides = false;
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	/*
	 * If /proc belongs to another PID namespace, the link /proc/self is missing or has another
	 * number.
	 */
	self[n > 0 ? n : 0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s /proc %63s %511s", kind, options) == 2 &&
		    !strcmp(kind, "proc"))
			hides = strstr(options, "hidepid=") && !strstr(options, "hidepid=0") &&
				!strstr(options, "hidepid=off");
	if (file)
		fclose(file);
	if (!*self)
		doctor_say(report, "/proc", DOCTOR_LIMITED, DOCTOR_MOUNT_PROC,
			   "not mounted: posixtrace cannot find out which processes live");
	else if (atol(self) != (long)getpid())
		doctor_say(report, "/proc", DOCTOR_LIMITED,
			   "mount it in this namespace: unshare --mount-proc",
			   "it belongs to another PID namespace");
	else
		doctor_say(report, "/proc", hides ? DOCTOR_LIMITED : DOCTOR_WORKS,
			   hides ? "as root: mount -o remount,hidepid=0 /proc" : NULL,
			   hides ? "it hides the processes of other users (hidepid)" :
				   "shows processes");
}

/* Returns 0 if ptrace(2) can seize a child of this process, or an error number. */
static int machine_try_ptrace(void)
{
	const pid_t child = fork();
	int err = 0;

	if (child < 0)
		return errno;
	if (child == 0) {
		pause();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, child, 0, 0) != 0)
		err = errno;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return err;
}

/* Examines ptrace(2) and /proc, by which attach loads the library into a process. */
static void examine_ptrace(doctor_report *report)
{
	/*
	 * A kernel without Yama has no such file. The value is then assumed to be 0, because such a
	 * kernel permits the owner of a process to trace the process.
	 */
	const long scope = machine_setting("/proc/sys/kernel/yama/ptrace_scope", 0);
	const bool may_trace = has_capability(CAP_SYS_PTRACE);
	const int err = machine_try_ptrace();

	if (err)
		doctor_say(report, "attach", DOCTOR_LIMITED,
			   advice_unless_files(err, "permit ptrace(2) in the filter of system "
						    "calls"),
			   "ptrace: %s: attach sees only programs that use libposixtrace",
			   say_strerror(err));
	else if (access("/proc/self/maps", R_OK) != 0)
		doctor_say(report, "attach", DOCTOR_LIMITED, DOCTOR_MOUNT_PROC,
			   "/proc is missing: processes cannot be examined");
	else if (scope == 0 || (scope < 3 && may_trace))
		doctor_say(report, "attach", DOCTOR_WORKS, NULL, "%s can be changed (ptrace)",
			   !may_trace ? "the processes of this user" :
			   process_in_user_space() ? "all processes of this user namespace" :
						     "all processes");
	else
		doctor_say(report, "attach", DOCTOR_LIMITED,
			   scope == 3 ? "nothing changes that before the next boot" :
			   "as root: sysctl kernel.yama.ptrace_scope=0",
			   "ptrace_scope is %ld: attach sees only programs that use libposixtrace",
			   scope);
}

/* A dummy event counts nothing and needs no hardware. */
int doctor_try_perf(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.context_switch = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	return perf_try(&attr, pid);
}

/* Examines perf_event_open(2), which record --sched and --sample use. */
static void examine_perf(doctor_report *report)
{
	const long paranoid = machine_setting("/proc/sys/kernel/perf_event_paranoid", LONG_MIN);
	int err = doctor_try_perf(0);
	const char *why = err ? NULL : kernel_frames_refusal();
	char level[64] = "";

	if (paranoid != LONG_MIN)
		snprintf(level, sizeof(level), " (perf_event_paranoid is %ld)", paranoid);

	if (!err)
		doctor_say(report, "kernel events", DOCTOR_WORKS, NULL,
			   "record --sched and --sample%s%s%s", level,
			   why ? "; no samples in the kernel: " : ", also in the kernel",
			   why ? why : "");
	else if (paranoid > 2 && !has_capability(CAP_PERFMON))
		doctor_say(report, "kernel events", DOCTOR_LIMITED,
			   "as root: sysctl kernel.perf_event_paranoid=2",
			   "perf_event_paranoid is %ld: no record --sched and --sample", paranoid);
	else
		doctor_say(report, "kernel events", DOCTOR_LIMITED,
			   advice_unless_files(err, "permit perf_event_open(2) in the filter of "
						    "system calls"),
			   "%s: no record --sched and --sample", say_strerror(err));
}

/*
 * Returns the advice to mount tracefs. Its folder is in sysfs, which may be missing or hidden by
 * another mount.
 */
static const char *advice_to_mount(void)
{
	return access("/sys/kernel/tracing", F_OK) == 0 ? MOUNT_TRACEFS : MOUNT_SYSFS;
}

/* Returns the advice for a reason why tracefs cannot be used. */
static const char *tracefs_advice(enum kernel_refusal refusal)
{
	switch (refusal) {
	case KERNEL_REFUSAL_MOUNT:
		return advice_to_mount();
	case KERNEL_REFUSAL_PERMISSION:
		return "run as root";
	case KERNEL_REFUSAL_READ_ONLY:
		return "as root: mount -o remount,rw /sys/kernel/tracing";
	case KERNEL_REFUSAL_NAMESPACE:
		return OUTSIDE;
	case KERNEL_REFUSAL_BUILD:
		return "build posixtrace with it: see configure";
	case KERNEL_REFUSAL_INSTANCES:
	case KERNEL_REFUSAL_NONE:
		break;
	}
	return "use a kernel with CONFIG_TRACING";
}

/*
 * Examines tracefs, which only root can use on most systems. A recording that uses tracefs
 * (live/kernel.h) shows which thread woke a thread. If such a recording was killed, its instance of
 * tracefs remains. This function removes such instances.
 */
static void examine_tracefs(doctor_report *report)
{
#ifdef HAVE_TRACEFS
	const enum kernel_refusal refusal = kernel_instance_refusal();
	struct kernel_swept swept = kernel_instance_sweep();
#else
	const enum kernel_refusal refusal = KERNEL_REFUSAL_BUILD;
	struct { unsigned removed, alive, unknown; } swept = { 0, 0, 0 };
#endif
	char text[64] = "";

	if (swept.removed)
		snprintf(text, sizeof(text), "; %u left by killed recordings removed",
			 swept.removed);
	if (refusal)
		doctor_say(report, "tracefs", DOCTOR_LIMITED, tracefs_advice(refusal),
			   "%s: no record --kernel, and --sched does not know who woke a thread",
			   kernel_refusal_text(refusal));
	else if (swept.unknown)
		doctor_say(report, "tracefs", DOCTOR_LIMITED,
			   "rmdir /sys/kernel/tracing/instances/posixtrace-*, if their recordings "
			   "have ended",
			   "%u instance%s of unknown owners%s", swept.unknown,
			   text_plural(swept.unknown), text);
	else
		doctor_say(report, "tracefs", DOCTOR_WORKS, NULL,
			   "record --kernel, and --sched with POSIXTRACE_KERNEL=tracefs; "
			   "%u recording%s now%s", swept.alive, text_plural(swept.alive), text);
}

/* Returns the advice for a reason why the kernel's programs cannot be used, or NULL for none. */
static const char *programs_advice(enum syscalls_remedy remedy)
{
	switch (remedy) {
	case SYSCALLS_PERMISSION:
		return "run as root, or see setcap in posixtrace-record(1)";
	case SYSCALLS_FIRST_SPACE:
		return OUTSIDE;
	case SYSCALLS_MOUNT_TRACEFS:
		return advice_to_mount();
	case SYSCALLS_DESCRIPTORS:
		return MORE_FILES;
	case SYSCALLS_MEMORY:
		return "give this process more memory, or raise its limit: ulimit -v, ulimit -l";
	case SYSCALLS_OTHER_PROCESSOR:
		return NULL;
	case SYSCALLS_OTHER_KERNEL:
		break;
	}
	return "use a kernel that permits it: Linux 6.1 or later with CONFIG_BPF_SYSCALL and "
	       "CONFIG_UPROBES";
}

/*
 * The kernel can record the system calls of processes that the library cannot enter. To check this,
 * the function loads the BPF programs for such a recording, and removes them immediately.
 */
static void examine_syscalls(doctor_report *report)
{
	const struct syscalls_why *why = syscalls_refusal();

	if (why)
		doctor_say(report, "system calls", DOCTOR_LIMITED, programs_advice(why->remedy),
			   "%s: static programs and those of Go cannot be traced", why->text);
	else
		doctor_say(report, "system calls", DOCTOR_WORKS, NULL,
			   "record --syscalls; static programs and those of Go are traced");
}

/*
 * The kernel can also record the functions of processes that the library cannot enter. Like
 * examine_syscalls(), the function loads the BPF programs only to remove them at once.
 */
static void examine_uprobes(doctor_report *report)
{
	const struct syscalls_why *why = uprobes_refusal();

	if (why)
		doctor_say(report, "uprobes", DOCTOR_LIMITED, programs_advice(why->remedy),
			   "%s: functions of static programs and of Go cannot be traced",
			   why->text);
	else
		doctor_say(report, "uprobes", DOCTOR_WORKS, NULL,
			   "record --function of static programs and of Go");
}

/*
 * Reports whether this process has a seccomp filter, as processes in containers do. Each program
 * that this process starts has the same filter.
 */
static void examine_seccomp(doctor_report *report)
{
	char text[PROCFILE_BYTES];
	unsigned long long mode = 99;

	if (procfile_read("/proc/self/status", text, sizeof(text)))
		mode = procfile_number(text, "Seccomp:", 10, 99);
	if (mode == 99)
		doctor_say(report, "seccomp", DOCTOR_UNKNOWN, DOCTOR_MOUNT_PROC,
			   "/proc/self/status does not say whether a filter applies");
	else
		doctor_say(report, "seccomp", mode ? DOCTOR_LIMITED : DOCTOR_WORKS,
			   mode ? "run posixtrace outside of the container, or without its filter" :
				  NULL,
			   mode ? "a filter of system calls applies here: the other lines show its "
				  "effect, and attach refuses processes with a filter" :
				  "no filter of system calls applies here");
}

/*
 * Reports a limit of this process, whose verdict is limited if the limit is less than "least".
 * "lack" names the part that then does not work.
 */
static void examine_limit(doctor_report *report, const char *name, int resource, rlim_t least,
			  const char *lack, const char *advice)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		doctor_say(report, name, DOCTOR_UNKNOWN, NULL, "%s", strerror(errno));
	else if (limit.rlim_cur == RLIM_INFINITY)
		doctor_say(report, name, DOCTOR_WORKS, NULL, "no limit");
	else if (limit.rlim_cur >= least)
		doctor_say(report, name, DOCTOR_WORKS, NULL, "at most %llu",
			   (unsigned long long)limit.rlim_cur);
	else
		doctor_say(report, name, DOCTOR_LIMITED, advice, "at most %llu: %s",
			   (unsigned long long)limit.rlim_cur, lack);
}

/*
 * Examines the limits of this process, which programs that record starts inherit. The tool needs
 * some descriptors for each traced process and, with --sched, for each CPU.
 */
static void examine_limits(doctor_report *report)
{
	examine_limit(report, "open files", RLIMIT_NOFILE, 64,
		      "record and attach can lack descriptors", MORE_FILES);
	examine_limit(report, "file sizes", RLIMIT_FSIZE, FILE_BYTES,
		      "streams and logs can be too large", "ulimit -f unlimited");
}

/* Reports whether this build has a part of the tool that needs an optional library. */
static void examine_part(doctor_report *report, const char *library, bool is_there,
			 const char *part)
{
	doctor_say(report, library, is_there ? DOCTOR_WORKS : DOCTOR_LIMITED,
		   is_there ? NULL : "build posixtrace with it: see configure", "%s%s", part,
		   is_there ? "" : ": this build lacks it");
}

#ifdef HAVE_SQLITE_QUERY
#define HAS_SQLITE true
#else
#define HAS_SQLITE false
#endif
#ifdef HAVE_LIBDW
#define HAS_LIBDW true
#else
#define HAS_LIBDW false
#endif
#ifdef HAVE_LIBELF
#define HAS_LIBELF true
#else
#define HAS_LIBELF false
#endif
#ifdef HAVE_NCURSES
#define HAS_NCURSES true
#else
#define HAS_NCURSES false
#endif
#ifdef HAVE_ZYDIS
#define HAS_ZYDIS true
#else
#define HAS_ZYDIS false
#endif

void doctor_machine(doctor_report *report)
{
	examine_kernel(report);
	examine_recording(report);
	examine_memory(report);
	examine_barrier(report);
	examine_folder(report);
	examine_proc(report);
	examine_preload(report);
	examine_ptrace(report);
	examine_perf(report);
	examine_tracefs(report);
	examine_syscalls(report);
	examine_uprobes(report);
	examine_seccomp(report);
	examine_limits(report);
	examine_part(report, "SQLite", HAS_SQLITE, "query");
	examine_part(report, "libdw", HAS_LIBDW, "functions and lines of events");
	examine_part(report, "libelf", HAS_LIBELF, "recover of core dumps");
	examine_part(report, "ncurses", HAS_NCURSES, "top on a terminal");
	examine_part(report, "Zydis", HAS_ZYDIS, "record --function");
}
