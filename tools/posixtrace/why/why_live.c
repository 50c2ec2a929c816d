/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * why_live.c - runs "posixtrace attach" or "posixtrace record" with the options that record
 * everything that why can use: the calls with the holders of locks, the states of threads, and
 * samples.
 *
 * If the kernel does not permit the states and samples, or cannot record them, the calls alone are
 * recorded.
 */
#include "why/why_live.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/perf.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"

#define DURATION "5s"
#define OPTIONS_MOST 20 /* the most words before the words of the program */
#define THREADS_MOST 20 /* the most threads that are listed */

/* Makes the name of the log. Returns false after it printed an error. */
static bool make_path(struct why_live *live)
{
	const char *place = getenv("TMPDIR");

	if (live->output) {
		/*
		 * The recorder makes a file with the name "-", but a reader of "-" reads the
		 * standard input.
		 */
		live->path = strdup(strcmp(live->output, "-") ? live->output : "./-");
		if (!live->path)
			say("%s", strerror(ENOMEM));
		return live->path != NULL;
	}
	if (!place || !*place)
		place = "/tmp";
	if (asprintf(&live->folder, "%s/posixtrace-why-XXXXXX", place) < 0) {
		live->folder = NULL;
		say("%s", strerror(ENOMEM));
		return false;
	}
	if (!mkdtemp(live->folder)) {
		say("%s: %s", live->folder, strerror(errno));
		free(live->folder);
		live->folder = NULL;
		return false;
	}
	if (asprintf(&live->path, "%s/log.ptl", live->folder) < 0) {
		live->path = NULL;
		say("%s", strerror(ENOMEM));
		return false;
	}
	return true;
}

static volatile sig_atomic_t recorder; /* the process that records; 0: none */
static volatile sig_atomic_t end_signal; /* the signal that ends this process; 0: none */

static void pass_on(int sig)
{
	end_signal = sig;
	if (recorder)
		kill((pid_t)recorder, sig);
}

/* Passes a signal on to the recorder, unless nohup(1) has set it to be ignored. */
static void pass_on_signal(int sig, struct sigaction *before)
{
	struct sigaction pass = { .sa_handler = pass_on };

	sigaction(sig, NULL, before);
	if (before->sa_handler != SIG_IGN)
		sigaction(sig, &pass, NULL);
}

/* Removes the temporary log and ends this process by the signal that ended the recording. */
static void end_by_signal(struct why_live *live)
{
	const int sig = (int)end_signal;

	why_live_end(live);
	signal(sig, SIG_DFL);
	raise(sig);
}

/*
 * Runs this program with the words and waits for its end. Ctrl-C ends the recording and not this
 * process, which then explains what was recorded. SIGTERM and SIGHUP end the recording and then
 * this process. If is_silent is true, the output is dropped, but not the messages. Returns the exit
 * status, 128 plus the number of the signal that ended the new process, or -1 and errno.
 */
static int run_self(char *const *words, bool is_silent)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, interrupt, quit, term, hangup;
	sigset_t passed, mask;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int err, status = 0;
	pid_t pid;

	sigaction(SIGINT, &ignored, &interrupt);
	sigaction(SIGQUIT, &ignored, &quit);
	pass_on_signal(SIGTERM, &term);
	pass_on_signal(SIGHUP, &hangup);
	/* A signal that arrives before the process is known must not be lost. */
	sigemptyset(&passed);
	sigaddset(&passed, SIGTERM);
	sigaddset(&passed, SIGHUP);
	sigprocmask(SIG_BLOCK, &passed, &mask);
	sigemptyset(&defaults);
	/* A signal that was ignored before stays ignored in the new process. */
	if (interrupt.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGINT);
	if (quit.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGQUIT);
	err = posix_spawnattr_init(&attributes);
	if (!err) {
		posix_spawnattr_setsigdefault(&attributes, &defaults);
		posix_spawnattr_setsigmask(&attributes, &mask);
		posix_spawnattr_setflags(&attributes,
					 POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
		err = posix_spawn_file_actions_init(&files);
		if (!err && is_silent)
			err = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null",
							       O_WRONLY, 0);
		if (!err)
			err = posix_spawn(&pid, "/proc/self/exe", &files, &attributes, words,
					  environ);
		posix_spawn_file_actions_destroy(&files);
		posix_spawnattr_destroy(&attributes);
	}
	recorder = err ? 0 : (sig_atomic_t)pid;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	while (!err && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			err = errno;
	recorder = 0;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGHUP, &hangup, NULL);
	errno = err;
	return err ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Returns whether the kernel permits this user to record when a thread had a CPU. If not, errno has
 * the reason.
 */
static bool permits_states(void)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.context_switch = 1, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int err = perf_try(&attr, 0);

	errno = err;
	return !err;
}

/* Records. Returns as run_self() does; ENOMEM is possible. */
static int record_all(const struct why_live *live, char *const *program, bool has_kernel)
{
	size_t count = 0, used = 0;
	char **words;
	int result;

	while (live->runs_program && program[count])
		count++;
	words = calloc(OPTIONS_MOST + count + 1, sizeof(*words));
	if (!words)
		return -1;
	words[used++] = (char *)"posixtrace";
	words[used++] = (char *)(live->pid ? "attach" : "record");
	words[used++] = (char *)"-o";
	words[used++] = live->path;
	words[used++] = (char *)"--trace";
	words[used++] = (char *)"default,lock-hold";
	if (has_kernel) {
		words[used++] = (char *)"--sched=possible";
		words[used++] = (char *)"--sample";
		words[used++] = (char *)"999";
	}
	if (live->pid) {
		words[used++] = (char *)"-p";
		words[used++] = (char *)live->pid;
		words[used++] = (char *)"-d";
		words[used++] = (char *)(live->duration ? live->duration : DURATION);
	} else {
		words[used++] = (char *)"-q";
		words[used++] = (char *)"--";
		memcpy(words + used, program, count * sizeof(*words));
	}
	result = run_self(words, live->pid != NULL);
	free(words);
	return result;
}

int why_live_record(struct why_live *live, char *const *program)
{
	bool has_kernel;
	int result;

	if (!make_path(live))
		return TOOL_FAILURE;
	if (live->output && !access(live->path, F_OK)) {
		say("%s: the file exists", live->path);
		return TOOL_FAILURE;
	}
	if (live->pid)
		say("recording process %s for %s; Ctrl-C ends this earlier", live->pid,
		    live->duration ? live->duration : DURATION);
	live->has_tried = true;
	has_kernel = permits_states();
	if (!has_kernel)
		say("the kernel does not permit to record when threads had a CPU: %s; "
		    "'posixtrace doctor' says what to do", strerror(errno));
	result = record_all(live, program, has_kernel);
	if (end_signal)
		end_by_signal(live);
	if (result < 0) {
		say("/proc/self/exe: %s", strerror(errno));
		return TOOL_FAILURE;
	}
	/* The status may be the status of the program. If there is a log, it is explained. */
	return access(live->path, F_OK) ? result == TOOL_USAGE ? TOOL_USAGE : TOOL_FAILURE :
					  TOOL_OK;
}

/*
 * Reads a small file of a thread into text, without the line's end. Stores "?" if the file cannot
 * be read.
 */
static void read_line(const char *pid, pid_t tid, const char *name, char *text, size_t bytes)
{
	char *path;

	strcpy(text, "?");
	if (asprintf(&path, "/proc/%s/task/%d/%s", pid, (int)tid, name) < 0)
		return;
	if (!procfile_read(path, text, bytes) || !text[0])
		strcpy(text, "?");
	text[strcspn(text, "\n")] = '\0';
	free(path);
}

void why_live_threads(const struct why_live *live)
{
	char name[64], place[128];
	struct procfile_stat stat;
	unsigned count = 0;
	bool has_place;
	DIR *threads = procfile_threads((pid_t)atoi(live->pid));
	pid_t tid;

	while ((tid = procfile_next_thread(threads))) {
		if (count++ == THREADS_MOST) {
			say("further threads are not listed");
			break;
		}
		if (!procfile_name((pid_t)atoi(live->pid), tid, name, sizeof(name)))
			strcpy(name, "?");
		read_line(live->pid, tid, "wchan", place, sizeof(place));
		has_place = strcmp(place, "0") != 0 && strcmp(place, "?") != 0;
		/*
		 * The kernel writes 0 for a thread that is not blocked, and for each thread if
		 * this user may not know the function.
		 */
		if (!has_place && procfile_stat(tid, &stat) && stat.state == 'R')
			say("thread %d (%s) is not blocked now", (int)tid, text_given(name));
		else if (!has_place)
			say("thread %d (%s) is blocked; the kernel does not say in which function",
			    (int)tid, text_given(name));
		else
			say("thread %d (%s) is blocked in the kernel's function %s", (int)tid,
			    text_given(name), place);
	}
	procfile_end_threads(threads);
}

void why_live_opened(struct why_live *live)
{
	if (!live->folder)
		return;
	if (live->path)
		unlink(live->path);
	rmdir(live->folder);
}

void why_live_end(struct why_live *live)
{
	why_live_opened(live);
	free(live->path);
	free(live->folder);
}
