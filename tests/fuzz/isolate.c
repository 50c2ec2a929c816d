/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/isolate.h"

/* The memory in which -fsanitize=fuzzer counts edges; absent without it. */
extern uint8_t counters_begin[] __asm__("__start___sancov_cntrs") __attribute__((weak));
extern uint8_t counters_end[] __asm__("__stop___sancov_cntrs") __attribute__((weak));

static uint8_t *brought_back; /* shared with the child */

static size_t counters(void)
{
	return counters_begin ? (size_t)(counters_end - counters_begin) : 0;
}

/*
 * With a seed (run.sh) the engine must choose the same inputs each time. A child's counters depend
 * on times, addresses and the scheduler, so the engine gets zeros.
 */
static void count_edges(void)
{
	if (!counters())
		return;
	if (getenv("FUZZ_SEED"))
		memset(counters_begin, 0, counters());
	else
		memcpy(counters_begin, brought_back, counters());
}

/*
 * A barrier on all processors needs milliseconds. Most inputs have only one thread at a time that
 * writes or reads, in any process.
 */
_Atomic bool fuzz_barriers;
bool __real_ptx_barrier(void);
bool __real_ptx_barrier_everywhere(void);
bool __wrap_ptx_barrier(void);
bool __wrap_ptx_barrier_everywhere(void);
bool __wrap_ptx_barrier(void)
{
	return !fuzz_barriers || __real_ptx_barrier();
}
bool __wrap_ptx_barrier_everywhere(void)
{
	return !fuzz_barriers || __real_ptx_barrier_everywhere();
}

static void prepare(void)
{
	if (brought_back)
		return;
	setenv("POSIXTRACE_GUARDIAN", "no", 1);
	brought_back = mmap(NULL, counters() + 1, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	FUZZ_MUST(brought_back != MAP_FAILED, "no memory");
}

static void __attribute__((noreturn))
be_child(void (*work)(const uint8_t *data, size_t size), const uint8_t *data, size_t size)
{
	signal(SIGALRM, SIG_DFL);
	alarm(ISOLATE_PATIENCE_S);
	work(data, size);
	if (counters())
		memcpy(brought_back, counters_begin, counters());
	_exit(0);
}

void fuzz_isolated(void (*work)(const uint8_t *data, size_t size), const uint8_t *data, size_t size)
{
	int status;
	pid_t child;

	prepare();
	child = fork();
	FUZZ_MUST(child >= 0, "no process");
	if (child == 0)
		be_child(work, data, size);
	while (waitpid(child, &status, 0) < 0)
		FUZZ_MUST(errno == EINTR, "no child");
	count_edges();
	FUZZ_MUST(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM,
		  "the process did not end in time");
	FUZZ_MUST(!WIFSIGNALED(status), "the process died of signal %d", WTERMSIG(status));
	FUZZ_MUST(WEXITSTATUS(status) == 0, "the process ended with status %d",
		  WEXITSTATUS(status));
}
