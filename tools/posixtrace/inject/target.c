/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * target.c - decides whether the library can be loaded into a process, and finds the functions that
 * a load needs. The functions of this file do not change or stop the process.
 */
#include "inject/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/table.h"
#include "inject/own.h"
#include "inject/waits.h"

/*
 * A process that has just started is examined again and again for a second, because it may need
 * time to load its C library on a busy machine. The same is done with a process whose tracer may
 * soon end.
 */
#define START_LOOKS 200
#define START_PAUSE_NS 5000000
/* The library makes no smaller file for the memory of its streams (lib/arena/arena.c). */
#define LEAST_FILE (UINT64_C(2) << 20)
/* The library keeps one descriptor, and opens another one while it maps a stream. */
#define LEAST_DESCRIPTORS 2

/* Prints why calls cannot be traced. */
static enum target_verdict target_refuse(pid_t pid, const char *why)
{
	say("process %d: its calls cannot be traced: %s", (int)pid, why);
	return TARGET_REFUSED;
}

/* Returns the tracer of the process that has this status file, or 0. */
static pid_t tracer_of(const char *status)
{
	return (pid_t)procfile_number(status, "TracerPid:", 10, 0);
}

/*
 * Returns whether the process with this status file has a tracer that may soon end: the tracer is
 * ending and has no memory any more, or it is another posixtrace, whose command may have been
 * killed.
 */
static bool has_passing_tracer(const char *status)
{
	const pid_t tracer = tracer_of(status);
	char path[40], text[PROCFILE_BYTES];
	const char *name;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tracer);
	if (!tracer || !procfile_read(path, text, sizeof(text)))
		return tracer;
	name = procfile_field(text, "Name:");
	return !procfile_field(text, "VmSize:") || (name && !strncmp(name, "posixtrace\n", 11));
}

/*
 * Examines the status file of the process. Returns the reason for a refusal, or NULL if the process
 * is not refused. A process with a seccomp filter is refused, because the filter may end the
 * process for a system call that the filter does not expect. A process with a shadow stack is
 * refused, because the return to the signal frame that call.c writes would fail.
 */
static const char *reason_in_status(pid_t pid, const char *status)
{
	const char *state = procfile_field(status, "State:");
	const char *features = procfile_field(status, "x86_Thread_features:");
	const bool is_zombie = state && (*state == 'Z' || *state == 'X');
	struct procfile_stat stat;

	if (procfile_number(status, "Tgid:", 10, (unsigned)pid) != (unsigned)pid)
		return "this is the number of a thread; give that of its process";
	/* A process that ends loses its memory first, and becomes a zombie later. */
	if (!procfile_field(status, "VmSize:") && state && !is_zombie)
		return procfile_stat(pid, &stat) && stat.is_kernel ?
			       "it is a thread of the kernel" : "it is ending now";
	if (is_zombie && procfile_number(status, "Threads:", 10, 0) > 1)
		return "its main thread has ended, and the kernel shows no memory of such a "
		       "process; record the program from its start, or its system calls by "
		       "--syscalls";
	if (is_zombie)
		return "it has ended, and waits for its parent";
	if (tracer_of(status))
		return "a debugger or another tracer is attached to it";
	if (state && *state == 'T')
		return TARGET_STOPPED;
	if (procfile_number(status, "Seccomp:", 10, 0))
		return "it restricts its system calls by seccomp, as most containers do; start it "
		       "with the preload library instead, see posixtrace-preload(7)";
	if (features && !strncmp(features, "shstk", 5))
		return "it uses a shadow stack; start it with the preload library instead, see "
		       "posixtrace-preload(7)";
	return NULL;
}

/* A limit of a process: soft is UINT64_MAX if there is none. */
struct limit {
	uint64_t soft, hard;
};

/* Reads the limit with this name from the text of the file /proc/PID/limits. */
static struct limit read_limit(const char *limits, const char *name)
{
	struct limit limit = { UINT64_MAX, UINT64_MAX };
	const char *text = procfile_field(limits, name);
	char *next;

	/* The columns are the soft and the hard limit, each a number or the word "unlimited". */
	if (!text || *text < '0' || *text > '9')
		return limit;
	limit.soft = strtoull(text, &next, 10);
	next += strspn(next, " ");
	if (*next >= '0' && *next <= '9')
		limit.hard = strtoull(next, NULL, 10);
	return limit;
}

/*
 * Writes how the user can raise a limit to "needed". "option" is the name of the limit for
 * prlimit(1), and "letter" its letter for ulimit.
 */
static void put_advice(char *to, size_t bytes, pid_t pid, const char *option, char letter,
		       struct limit limit, uint64_t needed)
{
	if (limit.hard < needed)
		snprintf(to, bytes, "start it with a higher limit (ulimit -%c)", letter);
	else if (limit.hard == UINT64_MAX)
		snprintf(to, bytes, "'prlimit --pid %d --%s=unlimited:' raises the limit", (int)pid,
			 option);
	else
		snprintf(to, bytes, "'prlimit --pid %d --%s=%llu:' raises the limit", (int)pid,
			 option, (unsigned long long)limit.hard);
}

/*
 * Returns how many descriptors the process can still open, or SIZE_MAX if that is unknown or
 * unlimited.
 */
static size_t free_descriptors(pid_t pid, struct limit limit)
{
	struct dirent *entry;
	size_t used = 0;
	char path[40];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = limit.soft == UINT64_MAX ? NULL : opendir(path);
	if (!folder)
		return SIZE_MAX;
	/*
	 * Descriptors above the limit do not count. The process has opened them before its limit
	 * was lowered.
	 */
	while ((entry = readdir(folder)))
		used += *entry->d_name != '.' && strtoull(entry->d_name, NULL, 10) < limit.soft;
	closedir(folder);
	return limit.soft - used;
}

/*
 * Returns the reason for a refusal if the library would find no room for a stream, or NULL. The
 * memory of streams is a file without a name. A file that is larger than the process's limit would
 * raise SIGXFSZ in the process, so the library does not make the file. With fewer than two free
 * descriptors, the library would be loaded, but could not open the stream.
 */
static const char *reason_in_limits(pid_t pid)
{
	static char why[300];
	char path[40], limits[PROCFILE_BYTES], advice[120];
	struct limit size, files;
	size_t left;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	if (!procfile_read(path, limits, sizeof(limits)))
		return NULL;
	size = read_limit(limits, "Max file size");
	if (size.soft < LEAST_FILE) {
		put_advice(advice, sizeof(advice), pid, "fsize", 'f', size, LEAST_FILE);
		snprintf(why, sizeof(why),
			 "its limit of the size of files (%llu bytes) leaves no room for the "
			 "memory of a stream; %s", (unsigned long long)size.soft, advice);
		return why;
	}
	files = read_limit(limits, "Max open files");
	left = free_descriptors(pid, files);
	if (left >= LEAST_DESCRIPTORS)
		return NULL;
	put_advice(advice, sizeof(advice), pid, "nofile", 'n', files,
		   files.soft + LEAST_DESCRIPTORS - left);
	snprintf(why, sizeof(why),
		 "its limit of open files (%llu) leaves %zu descriptor%s, but the library needs "
		 "%d; %s", (unsigned long long)files.soft, left, left == 1 ? "" : "s",
		 LEAST_DESCRIPTORS, advice);
	return why;
}

const char *target_short_limit(pid_t pid, uint64_t room)
{
	static const struct {
		const char *name, *usage, *text, *option;
		char letter;
	} rows[] = {
		{ "Max address space", "VmSize:", "address space", "as", 'v' },
		{ "Max data size", "VmData:", "data", "data", 'd' },
	};
	static char why[300];
	char path[40], limits[PROCFILE_BYTES], status[PROCFILE_BYTES], advice[120];

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	if (!procfile_read(path, limits, sizeof(limits)))
		return "";
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!procfile_read(path, status, sizeof(status)))
		return "";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct limit limit = read_limit(limits, rows[i].name);
		uint64_t used = procfile_number(status, rows[i].usage, 10, 0) << 10;

		if (limit.soft == UINT64_MAX || (used < limit.soft &&
						 limit.soft - used >= room))
			continue;
		put_advice(advice, sizeof(advice), pid, rows[i].option, rows[i].letter,
			   limit, used + room);
		snprintf(why, sizeof(why),
			 "; its limit of %s (RLIMIT_%s, %llu bytes) leaves %llu bytes; %s",
			 rows[i].text, i ? "DATA" : "AS", (unsigned long long)limit.soft,
			 (unsigned long long)(used < limit.soft ? limit.soft - used : 0), advice);
		return why;
	}
	return "";
}

/*
 * Returns whether a process shares its memory with its parent, as a child of vfork() does. If the
 * kernel does not answer, the function returns whether a thread of the parent waits as in vfork().
 */
static bool shares_memory(pid_t pid, const char *status)
{
	long parent = (long)procfile_number(status, "PPid:", 10, 0);
	long result = parent > 0 ? syscall(SYS_kcmp, pid, parent, KCMP_VM, 0, 0) : 1;

	return result == 0 || (result < 0 && errno != ESRCH && waits_in_vfork((pid_t)parent));
}

static bool target_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Returns whether a module begins with this mapping. */
static bool is_module(const struct mapping *mapping)
{
	return mapping->offset == 0 && *mapping->path == '/' && mapping->is_readable;
}

/*
 * Finds a module by its SONAME, because its file may have any name. Reading a module takes time, so
 * the first pass reads only files whose name begins with the SONAME. The second pass reads all
 * other files. The module is the linker of the process, or, if "linker" is not NULL, a module that
 * this linker has loaded. Returns false if there is no such module; *module is then empty.
 */
static bool find_module(struct target *target, const char *soname, const struct own *own,
			const struct elf_module *linker, struct elf_module *module)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < target->mappings.count; i++) {
			const struct mapping *mapping = &target->mappings.mapping[i];

			if (!is_module(mapping) ||
			    target_begins(path_last(mapping->path), soname) == pass ||
			    !elf_read(module, target->memory, mapping->begin, true))
				continue;
			if (!strcmp(elf_soname(module), soname) &&
			    (linker ? own_has_loaded(target->memory, linker, module) :
				      own_is_linker(own, module)))
				return true;
			elf_fini(module);
		}
	return false;
}

/* Returns whether any module is mapped. */
static bool has_any_module(const struct target *target)
{
	for (size_t i = 0; i < target->mappings.count; i++)
		if (is_module(&target->mappings.mapping[i]))
			return true;
	return false;
}

/* Returns whether a file whose name begins with this text is mapped. */
static bool has_mapped(const struct target *target, const char *name)
{
	for (size_t i = 0; i < target->mappings.count; i++)
		if (target_begins(path_last(target->mappings.mapping[i].path), name))
			return true;
	return false;
}

/*
 * Returns whether the C library of the process is musl. In Debian its file has the name libc.so,
 * and the linker is a link to it. A file of glibc with this name is a script, which no process
 * maps.
 */
static bool has_musl(const struct target *target)
{
	for (size_t i = 0; i < target->mappings.count; i++)
		if (!strcmp(path_last(target->mappings.mapping[i].path), "libc.so"))
			return true;
	return has_mapped(target, "ld-musl") || has_mapped(target, "libc.musl");
}

/*
 * Reads the state of the shim, if it is mapped. A state that cannot be read or is out of range
 * counts as SHIM_PRELOADED, so that the command changes nothing in the process.
 */
static void find_shim(struct target *target)
{
	struct elf_module module;
	int32_t state = SHIM_PRELOADED;
	uint64_t address;

	target->shim = SHIM_ABSENT;
	target->has_library = has_mapped(target, "libposixtrace.so");
	for (size_t i = 0; i < target->mappings.count; i++) {
		const struct mapping *mapping = &target->mappings.mapping[i];

		if (!is_module(mapping) ||
		    !target_begins(path_last(mapping->path), "libposixtrace-preload") ||
		    !elf_read(&module, target->memory, mapping->begin, false))
			continue;
		target->shim = SHIM_PRELOADED;
		target->jumps = elf_address(&module, "posixtrace_shim_jumps");
		target->content = elf_address(&module, "posixtrace_shim_content");
		address = elf_address(&module, "posixtrace_shim_state");
		if (address && memory_read(target->memory, address, &state, sizeof(state)) &&
		    state >= SHIM_PRELOADED && state <= SHIM_ATTACHED)
			target->shim = (enum shim_state)state;
		elf_fini(&module);
		return;
	}
}

/*
 * Returns the reason why the shim cannot be loaded into a static program. An emulator has the
 * linker and the C library of another program in its memory. It executes a translation of their
 * code, so a thread cannot call them. valgrind passes LD_PRELOAD to its program, so that a
 * recording from the start succeeds.
 */
static const char *reason_of_static(const struct target *target)
{
	char path[40], exe[512];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)target->pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	exe[len < 0 ? 0 : len] = '\0';
	if (has_mapped(target, "vgpreload_core") || !fnmatch("*/valgrind/*-linux", exe, 0))
		return "it runs under valgrind, which executes a translation of its code; record "
		       "it from its start instead: posixtrace record valgrind PROGRAM";
	if (has_mapped(target, "ld-linux") || has_mapped(target, "libc.so.6"))
		return "it is a static program that has another program in its memory, as an "
		       "emulator has; record that program without the emulator";
	return "it is statically linked";
}

/*
 * Returns the reason why there is no C library that could load the shim. Bytes 4 and 18 of the ELF
 * header of the executed file are the word size and the processor of the process.
 */
static const char *reason_without_libc(const struct target *target)
{
	unsigned char elf[20];
	char path[40];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)target->pid);
	file = fopen(path, "re");
	n = file ? fread(elf, 1, sizeof(elf), file) : 0;
	if (file)
		fclose(file);
	if (n == sizeof(elf) && (elf[4] != 2 || elf[18] != EM_X86_64))
		return "it is for another processor, or of another word size";
	if (target->is_static)
		return reason_of_static(target);
	if (has_musl(target))
		return "its C library is another one than glibc (musl)";
	if (!has_mapped(target, "ld-") && !has_mapped(target, "ld.so"))
		return "it is statically linked";
	return "its C library is another one than glibc 2.34 or later, or cannot be read";
}

/* Finds the functions of the C library that call the program while they hold a lock. */
static void find_callers(struct target *target)
{
	static const char *const names[TARGET_CALLERS] = { "dl_iterate_phdr", "fork", "_Fork" };

	for (size_t i = 0; i < TARGET_CALLERS; i++) {
		const Elf64_Sym *symbol = elf_find(&target->libc, names[i]);
		uint64_t begin = symbol ? target->libc.base + symbol->st_value : 0;

		target->caller[i] = (struct range){ begin, symbol ? begin + symbol->st_size : 0 };
	}
}

/*
 * Finds the addresses that a call needs. Returns NULL if all addresses were found, otherwise the
 * reason. The function searches the code for "syscall; ret", and for "mov $15, %rax; syscall",
 * which is the restorer for rt_sigreturn(). dlopen() is in the C library itself since glibc 2.34.
 */
static const char *find_place(struct target *target)
{
	static const unsigned char system_call[] = { 0x0f, 0x05, 0xc3 };
	static const unsigned char restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct call_place *place = &target->place;
	const struct elf_module *libc = &target->libc;
	struct own own;
	int err = own_read(&own, target->pid);

	if (err == EMFILE || err == ENFILE)
		return say_strerror(err);
	if (err)
		return "the kernel does not show where its dynamic linker is";
	if (!find_module(target, "ld-linux-x86-64.so.2", &own, NULL, &target->loader)) {
		target->is_static = !own.linker && has_any_module(target);
		return reason_without_libc(target);
	}
	if (!find_module(target, "libc.so.6", &own, &target->loader, &target->libc))
		return reason_without_libc(target);
	*place = (struct call_place){
		.system_call = elf_code_find(libc, system_call, sizeof(system_call)),
		.restorer = elf_code_find(libc, restorer, sizeof(restorer)),
		.errno_location = elf_address(libc, "__errno_location"),
		.set_cancel_state = elf_address(libc, "pthread_setcancelstate"),
		.dlopen = elf_address(libc, "dlopen"),
		.dlsym = elf_address(libc, "dlsym"),
		.dlerror = elf_address(libc, "dlerror"),
	};
	if (!place->dlopen || !place->dlsym || !place->dlerror || !place->errno_location ||
	    !place->set_cancel_state)
		return "its C library is older than glibc 2.34";
	if (!place->system_call || !place->restorer)
		return "its C library has no instructions for a system call that are known here";
	find_callers(target);
	return NULL;
}

/*
 * Handles the error of reading the mappings or of opening the memory. If Yama may be the reason,
 * prints this. If the kernel has refused for another reason, or if the process has ended, prints
 * nothing (TARGET_LEAVE). The command then explains the refusal, or the creation of the stream
 * reports the end of the process. After any other error, prints the error.
 */
static enum target_verdict refuse_access(pid_t pid, int err)
{
	char text[16];

	/* Yama may forbid a process to change other processes of the same user. */
	if ((err == EACCES || err == EPERM) && geteuid() != 0 &&
	    procfile_read("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) &&
	    *text > '0') {
		say("process %d: its calls cannot be traced: /proc/sys/kernel/yama/ptrace_scope is "
		    "%c, so that the kernel forbids to change another process",
		    (int)pid, *text);
		say("the capability CAP_SYS_PTRACE is needed: try as root, or write 0 to that "
		    "file");
		return TARGET_REFUSED;
	}
	if (err == EACCES || err == EPERM || err == ENOENT || err == ESRCH)
		return TARGET_LEAVE;
	say("process %d: its calls cannot be traced: its memory cannot be examined: %s", (int)pid,
	    say_strerror(err));
	return TARGET_REFUSED;
}

/* Returns whether the process belongs to this user, or this user is root. */
static bool is_ours(pid_t pid)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return geteuid() == 0 || (stat(path, &st) == 0 && st.st_uid == geteuid());
}

#if defined __x86_64__
/*
 * Returns whether the process has just started and has not reached the main function of its
 * program. The function decides this by the mappings: the process has no file mapped yet, or
 * glibc's dynamic linker has not mapped the C library yet. A program that uses this linker but no C
 * library cannot be distinguished from a starting process.
 */
static bool is_starting(const struct target *target)
{
	return !target->is_static && (!has_any_module(target) ||
				      (has_mapped(target, "ld-linux") && !target->libc.base));
}
#endif

/*
 * Returns a hash of the auxiliary vector, which the kernel makes for each execution of a program.
 * The vector has random addresses, so it differs even if the process executes the same program
 * again. Returns 0 if the vector cannot be read.
 */
static uint64_t program_of(pid_t pid)
{
	char path[40], vector[1024];
	uint64_t hash = 0;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	bytes = read(fd, vector, sizeof(vector));
	close(fd);
	if (bytes > 0)
		hash = hash_bytes(HASH_BEGIN, vector, (size_t)bytes);
	return hash;
}

/*
 * Examines the process once. If the process is starting a program, or has a tracer that may soon
 * end, and is_last is false, the function prints nothing and sets *again. The caller then examines
 * the process again later.
 */
static enum target_verdict examine_once(struct target *target, pid_t pid, bool any_shim,
					bool is_last, bool *again)
{
	char path[40], status[PROCFILE_BYTES];
	const char *why;
	int err;

	*again = false;
	memset(target, 0, sizeof(*target));
	target->pid = pid;
	target->memory = -1;
	/* This is read first, so that a program that is executed from now on is noticed. */
	target->program = program_of(pid);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (pid == getpid() || !procfile_read(path, status, sizeof(status)))
		return TARGET_LEAVE;
	if (procfile_is_foreign())
		return target_refuse(pid, "/proc belongs to another namespace of process IDs");
	err = mappings_read(&target->mappings, pid);
	if (!err) {
		target->memory = memory_open(pid, pid);
		err = target->memory < 0 ? errno : 0;
	}
	target->err = err;
	/* A process that uses the library already needs no further examination, in any state. */
	if (!err) {
		find_shim(target);
		if ((target->shim == SHIM_PRELOADED && !any_shim) ||
		    (target->has_library && target->shim == SHIM_ABSENT))
			return TARGET_LEAVE;
	}
#if defined __x86_64__
	/*
	 * If the memory of another user's process cannot be opened, the owner is the reason. So the
	 * state of the process is not printed.
	 */
	why = err && !is_ours(pid) ? NULL : reason_in_status(pid, status);
	if (why && !is_last && has_passing_tracer(status)) {
		*again = true;
		return TARGET_REFUSED;
	}
	if (why)
		return target_refuse(pid, why);
	if (err)
		return refuse_access(pid, err);
	if (shares_memory(pid, status)) {
		why = "it is about to execute a program, and shares its parent's memory until then";
		*again = !is_last;
	} else {
		why = find_place(target);
		/* The kernel may have mapped only a part of a program that is being executed. */
		*again = !is_last && why &&
			  (is_starting(target) || program_of(pid) != target->program);
		if (!why && target->shim == SHIM_ABSENT)
			why = reason_in_limits(pid);
	}
	return why && !*again ? target_refuse(pid, why) : why ? TARGET_REFUSED : TARGET_OK;
#else
	(void)why, (void)reason_in_status, (void)shares_memory, (void)find_place;
	(void)refuse_access, (void)is_ours, (void)is_last, (void)reason_in_limits;
	(void)has_passing_tracer;
	return target_refuse(pid,
			     "a library cannot be loaded into a running process on this processor");
#endif
}

bool target_has_executed(const struct target *target)
{
	const uint64_t now = target->program ? program_of(target->pid) : 0;

	return now && now != target->program;
}

enum target_verdict target_examine(struct target *target, pid_t pid, bool any_shim)
{
	const struct timespec pause = { .tv_nsec = START_PAUSE_NS };

	for (unsigned looks = 1;; looks++) {
		bool again;
		enum target_verdict verdict =
			examine_once(target, pid, any_shim, looks == START_LOOKS, &again);

		if (!again)
			return verdict;
		target_fini(target);
		nanosleep(&pause, NULL);
	}
}

/*
 * Opens the memory of the process by a thread that still exists, because the main thread may have
 * ended before the others. Returns 0 or an error number. If the process has ended, returns 0 and no
 * mappings.
 */
static int open_by_thread(struct target *target)
{
	DIR *threads = procfile_threads(target->pid);
	int err = 0;
	pid_t tid;

	while (!target->mappings.count && (tid = procfile_next_thread(threads))) {
		int failed = mappings_read(&target->mappings, tid);

		if (!failed && target->mappings.count) {
			target->memory = memory_open(target->pid, tid);
			failed = target->memory < 0 ? errno : 0;
		}
		/* If a thread ends during the search, this is not an error. */
		if (failed) {
			mappings_fini(&target->mappings);
			err = failed == ESRCH || failed == ENOENT ? err : failed;
		}
	}
	procfile_end_threads(threads);
	return target->mappings.count ? 0 : err;
}

/*
 * Returns whether a stream is active. Reads *posix_trace_active_np, as posixtrace_shim_detach()
 * does. Returns true if this variable cannot be read.
 */
static bool is_active(const struct target *target)
{
	for (size_t i = 0; i < target->mappings.count; i++) {
		const struct mapping *mapping = &target->mappings.mapping[i];
		struct elf_module module;
		uint64_t address;
		uint8_t active;
		bool good;

		if (!is_module(mapping) ||
		    !target_begins(path_last(mapping->path), "libposixtrace.so") ||
		    !elf_read(&module, target->memory, mapping->begin, false))
			continue;
		address = elf_address(&module, "posix_trace_active_np");
		good = address && memory_read(target->memory, address, &address, sizeof(address)) &&
		       memory_read(target->memory, address, &active, sizeof(active));
		elf_fini(&module);
		return !good || active;
	}
	return true;
}

enum target_verdict target_restorable(struct target *target, pid_t pid)
{
	int err;

	memset(target, 0, sizeof(*target));
	target->pid = pid;
	target->memory = -1;
	err = open_by_thread(target);
	if (err) {
		say("process %d: its functions and probes cannot be restored: %s", (int)pid,
		    say_strerror(err));
		return TARGET_REFUSED;
	}
	if (target->mappings.count)
		find_shim(target);
	if (target->jumps)
		target->is_traced = is_active(target);
	return target->jumps ? TARGET_OK : TARGET_LEAVE;
}

void target_fini(struct target *target)
{
	mappings_fini(&target->mappings);
	elf_fini(&target->libc);
	elf_fini(&target->loader);
	if (target->memory >= 0)
		close(target->memory);
	target->memory = -1;
}

/*
 * Returns false if a module other than the C library, the dynamic linker and the shim defines
 * malloc(). The program may nevertheless use the malloc() of the C library. The function does not
 * examine which malloc() the program uses.
 */
bool target_has_libc_malloc(const struct target *target)
{
	struct elf_module module;
	bool is_alone = true;

	for (size_t i = 0; is_alone && i < target->mappings.count; i++) {
		const struct mapping *mapping = &target->mappings.mapping[i];

		if (!is_module(mapping) ||
		    !elf_read(&module, target->memory, mapping->begin, false))
			continue;
		is_alone = module.base == target->libc.base || module.base == target->loader.base ||
			   !elf_find(&module, "malloc") ||
			   target_begins(path_last(mapping->path), "libposixtrace-preload");
		elf_fini(&module);
	}
	return is_alone;
}

const char *target_reason(const char *message)
{
	const char *why = strstr(message, "traced: ");

	return why ? why + strlen("traced: ") : message;
}
