/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scribble.c - one process writes random values into the memory that it shares with another, which
 * is working: scribble WRITES [SEED [ROUND]]
 *
 * Each round has a new target and a new controller. In every second round the target scribbles; the
 * controller reads, queries, observes and writes logs, and is killed, so that a guardian completes
 * the log. In the others the controller scribbles; the threads of the target trace, open names,
 * fork and trace themselves. No process may crash or hang, and all events that are read must be
 * valid. A fault is reported with the seed and the round; with both as arguments, the program
 * repeats that round alone. Prints one line.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#include "soak/scribble.h"
#include "support/memory_file.h"

/*
 * No step of a side needs this time. A round may need longer: a random value can enlarge a stream
 * to its greatest number of chunks, which slows down each step.
 */
#define PATIENCE_S 100

struct shared *shared;

static uint64_t seed, state;
static unsigned long this_round;

uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

unsigned below(uint64_t n)
{
	return (unsigned)((any() >> 11) % n);
}

static void seed_with(uint64_t number)
{
	state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < 8; i++)
		any();
}

void blame(const char *who, const char *what, long detail)
{
	fprintf(stderr, "scribble: seed %llu round %lu: %s %s %ld\n", (unsigned long long)seed,
		this_round, who, what, detail);
	atomic_fetch_add(&shared->faults, 1);
}

static void judge(const char *who, int status, bool may_be_killed)
{
	if (WIFSIGNALED(status) && !(may_be_killed && WTERMSIG(status) == SIGKILL))
		blame(who, "died of signal", WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		blame(who, "ended with status", WEXITSTATUS(status));
}

/*
 * Ends the time for which guardians leave their streams running. This time is in shared memory, so
 * it may have any value up to its bound, which is longer than PATIENCE_S. A guardian blocks SIGTERM
 * except while this time runs.
 */
static void end_linger(void)
{
	char path[64], name[32];
	FILE *children, *comm;
	int pid;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	children = fopen(path, "re");
	if (!children)
		return;
	while (fscanf(children, "%d", &pid) == 1) {
		snprintf(path, sizeof path, "/proc/%d/comm", pid);
		comm = fopen(path, "re");
		if (!comm)
			continue;
		if (fgets(name, sizeof name, comm) && !strncmp(name, "posixtrace-guar", 15))
			kill(pid, SIGTERM);
		fclose(comm);
	}
	fclose(children);
}

/* Also ends its last descendant. A guardian may find nothing to do. */
static void bury_all(pid_t target, pid_t controller)
{
	time_t end = time(NULL) + PATIENCE_S, look = 0;
	bool has_target = true, has_controller = true;
	unsigned long steps = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) >= 0) {
		if (pid == target)
			judge("the target", status, false);
		else if (pid == controller)
			judge("the controller", status, true);
		else if (pid > 0 && WIFSIGNALED(status))
			judge("a guardian", status, false);
		else if (pid == 0)
			usleep(500);
		if (pid == controller)
			atomic_store(&shared->end, true);
		has_target = has_target && pid != target;
		has_controller = has_controller && pid != controller;
		if (pid == 0 && !has_target && !has_controller && time(NULL) != look) {
			look = time(NULL);
			end_linger();
		}
		if (end != INT64_MAX && atomic_load(&shared->steps) != steps) {
			steps = atomic_load(&shared->steps);
			end = time(NULL) + PATIENCE_S;
		}
		if (pid == 0 && time(NULL) > end) {
			blame("somebody", "hangs after seconds", PATIENCE_S);
			if (has_target)
				kill(target, SIGABRT);
			if (has_controller)
				kill(controller, SIGABRT);
			end = INT64_MAX;
		}
	}
}

static void check_log(int log)
{
	struct posix_trace_check_np result;

	/* Any result is right if the call does not crash. */
	posix_trace_check_np(log, NULL, NULL, &result);
}

static void run_round(unsigned long number)
{
	bool target_scribbles = number % 2 == 0;
	pid_t target, controller;
	int log = -1;

	this_round = number;
	seed_with(seed * 1000003 + number);
	if (below(2))
		log = memory_file("log", MFD_CLOEXEC);
	atomic_store(&shared->ready, 0);
	atomic_store(&shared->done, false);
	atomic_store(&shared->end, false);
	target = fork();
	if (target == 0)
		be_traced(target_scribbles);
	controller = fork();
	if (controller == 0) {
		seed_with(seed * 1000003 + number + 500000);
		control(target, !target_scribbles, log);
	}
	bury_all(target, controller);
	if (log >= 0) {
		check_log(log);
		close(log);
	}
}

int main(int argc, char **argv)
{
	unsigned long writes = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000, rounds, first = 0;

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 4711;
	rounds = (writes + WRITES_A_ROUND - 1) / WRITES_A_ROUND;
	if (argc > 3) {
		first = strtoul(argv[3], NULL, 10);
		rounds = 1;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	for (unsigned long i = 0; i < rounds; i++)
		run_round(first + i);
	printf("SOAK scribble seed=%llu rounds=%lu writes=%lu events=%lu refused=%lu faults=%lu\n",
	       (unsigned long long)seed, rounds, rounds * WRITES_A_ROUND,
	       atomic_load(&shared->events), atomic_load(&shared->refused),
	       atomic_load(&shared->faults));
	return atomic_load(&shared->faults) != 0;
}
