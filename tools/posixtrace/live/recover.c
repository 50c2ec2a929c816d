/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recover.c - the command recover: makes a log of the memory that is left of a stream. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "live/core.h"
#include "live/process.h"
#include "live/rescue.h"

extern const struct tool_command recover_command;

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "the same as the argument PID", OPTION_PID },
	{ .rows = rescue_rows },
	OPTION_HELP,
	OPTION_END
};

/*
 * The options and results of this run. They are static, so that the visitors in this file need no
 * argument.
 */
static struct {
	struct rescue rescue;
	const char *path; /* the file, or the number of the process */
	bool is_damaged;
	unsigned lines;   /* number of messages about faults */
	/*
	 * The last faults, which have the same reason. They are printed as one message, because a
	 * truncated file lacks many parts, and each missing part is a fault.
	 */
	struct {
		unsigned count;
		unsigned long long offset; /* of the first */
		unsigned long long bytes;  /* of all */
		char reason[256];
	} same;
} recover;

#define FAULTS_SAID 20 /* a damaged file may have any number */

/* Prints the last faults as one message. */
static void say_faults(void)
{
	if (recover.same.count && recover.lines++ < FAULTS_SAID) {
		if (recover.same.count == 1)
			say("%s:%llu: %s", recover.path, recover.same.offset, recover.same.reason);
		else
			say("%s:%llu: %s; this is the first of %u such faults, of %llu bytes in "
			    "all", recover.path, recover.same.offset, recover.same.reason,
			    recover.same.count, recover.same.bytes);
		if (recover.lines == FAULTS_SAID)
			say("%s: further faults, if any, are not printed", recover.path);
	}
	recover.same.count = 0;
}

/* Called for each fault of the file. */
static void take_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	recover.is_damaged = true;
	if (strncmp(recover.same.reason, fault->reason, sizeof(recover.same.reason) - 1) != 0)
		say_faults();
	if (!recover.same.count) {
		recover.same.offset = fault->offset;
		recover.same.bytes = 0;
		snprintf(recover.same.reason, sizeof(recover.same.reason), "%s", fault->reason);
	}
	recover.same.count++;
	recover.same.bytes += fault->bytes;
}

/* Called for each stream. */
static void take_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	say_faults();
	rescue_stream(&recover.rescue, stream);
}

/*
 * The library reads the copy of an arena as it reads a backing file, and calls the same visitors.
 */
static int look_at_arena(void *arg, int fd)
{
	int err = posix_trace_observe_file_np(fd, take_stream, take_fault, arg);

	say_faults();
	if (err == EINVAL)
		say("%s: the trace memory (arena) in this core dump is cut, or of another version "
		    "of libposixtrace", recover.path);
	return err == ENOMEM ? err : 0;
}

/*
 * Recovers from a core dump. Returns 0 or an error number. If the result is EINVAL, the message was
 * printed.
 */
static int look_at_core(int fd)
{
	const struct posix_trace_fault_np none = {
		.reason = "this core dump has no trace memory (arena): the process had none, or "
			  "shared memory was not dumped (bit 1 of coredump_filter, core(5)), or "
			  "the file is cut"
	};
	unsigned arenas;
	int err = core_arenas(fd, look_at_arena, NULL, &arenas);

	if (err == ENOTSUP) {
		say("%s: this is a core dump, and this posixtrace was built without libelf, which "
		    "reads core dumps",
		    recover.path);
		return EINVAL;
	}
	if (err == EINVAL)
		say("%s:0: this core dump is damaged, or of another kind of machine",
		    recover.path);
	else if (!err && arenas == 0)
		take_fault(NULL, &none);
	return err;
}

/*
 * Recovers from a backing file or a core dump. The file is opened with O_NONBLOCK, because the name
 * may belong to a FIFO.
 */
static int recover_file(void)
{
	int err, fd = open(recover.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		say("%s: %s", recover.path, say_strerror(errno));
		if (fd >= 0)
			close(fd);
		return TOOL_FAILURE;
	}
	if (S_ISDIR(st.st_mode))
		err = EISDIR;
	else if (S_ISREG(st.st_mode) && core_is_dump(fd))
		err = look_at_core(fd);
	else
		err = posix_trace_observe_file_np(fd, take_stream, take_fault, NULL);
	close(fd);
	say_faults();
	if (err && err != EINVAL) /* for EINVAL say_faults() has printed the reason */
		say("%s: %s", recover.path, say_strerror(err));
	if (err)
		return TOOL_FAILURE;
	if (recover.is_damaged)
		recover.rescue.status = tool_worse(recover.rescue.status, TOOL_DAMAGED);
	return rescue_end(&recover.rescue, recover.path);
}

/*
 * Recovers from memory. The function searches all processes and not only pid. If pid has ended, it
 * has no memory any more, but processes that inherited its streams may still have them.
 */
static int recover_process(pid_t pid)
{
	int err = posix_trace_observe_np(POSIX_TRACE_EVERY_PROCESS_NP, take_stream, NULL);

	if (err)
		return process_say_why(pid, err);
	/* At least one stream of the process was found, even if the pattern selected none. */
	if (recover.rescue.logs || recover.rescue.seen) {
		char whose[32];

		snprintf(whose, sizeof(whose), "process %d", (int)pid);
		return rescue_end(&recover.rescue, whose);
	}
	if (!procfile_has_ended(pid)) {
		/*
		 * A call only for this process returns an error if it is not permitted to observe
		 * the process.
		 */
		err = posix_trace_observe_np(pid, take_stream, NULL);
		if (err)
			return process_say_why(pid, err);
		say("process %d: it has no stream whose memory is left; a backing file is "
		    "recovered by its name",
		    (int)pid);
	} else {
		say("process %d: it has ended, and no process holds a stream of it; only a backing "
		    "file would be left",
		    (int)pid);
	}
	return TOOL_FAILURE;
}

/*
 * Returns whether the text consists of digits only and so means a process. A file with such a name
 * is given as ./NUMBER.
 */
static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* Parses the options and finds out whether the operand is a file or a process. */
static int recover_run(int argc, char **argv)
{
	pid_t pid = 0;
	int option, sources;

	while ((option = tool_option(argc, argv, &recover_command)) != -1) {
		if (option == 'h')
			return tool_help(&recover_command);
		if (option == 'p' ? !process_once("--pid", optarg, &pid) :
				    !rescue_take(&recover.rescue, option, optarg))
			return tool_usage(&recover_command);
	}
	sources = argc - optind + (pid != 0);
	if (sources != 1 || !recover.rescue.path) {
		say("recover: %s", !sources ? "the file or process is missing" :
			sources != 1 ? "give only one file or process" :
			"the name of the log is missing; give it after -o");
		return tool_usage(&recover_command);
	}
	recover.path = argv[optind];
	if (!pid && !is_number(recover.path))
		return recover_file();
	if (!pid && !process_number("recover", recover.path, &pid))
		return tool_usage(&recover_command);
	recover.rescue.pid = pid;
	return recover_process(pid);
}

const struct tool_command recover_command = {
	.name = "recover",
	.usage = "[OPTION]... -o LOG FILE\n"
		"[OPTION]... -o LOG PID",
	.about =
		"Writes a log of the remains of a stream. The source is its backing file "
		"(posix_trace_attr_setbacking_np), however its process ended; the core dump of "
		"its process; or the memory of process PID, also if that hangs, or has ended "
		"while another process still has its streams open. With several streams the "
		"second goes to LOG.2, and so on. A file whose name is a number is given as "
		"./NUMBER.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 3 the remains are damaged, 4 see "
		"--fail-on-loss.",
	.operands = OPTION_FILE,
	.run = recover_run,
};
