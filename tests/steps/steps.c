/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.c - all paths and all actions: steps [PATH [ACTION]]
 *
 * Each instruction of a path is tried at its first two visits, and with STEPS=all at every visit,
 * including the third and later ones in a loop. If there are more than POINTS_MOST, every k-th is
 * tried, and the table says so. STEPS=7 tries every 7th, beginning with number PTX_SEED. Prints a
 * table and libcheck's closing line.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.h"

#define SKIPPED       77
#define VISITS        2
#define POINTS_MOST   450
#define CANDIDATES    64  /* a chunk holds fewer events of 8 bytes */
#define WORKERS_MOST  8
#define TRY_SECONDS   120 /* a try that lasts longer is reported as one that does not end */
#define PATHS_MOST    48
#define ACTIONS_MOST  16
#define COMPLAINTS    40

/* Memory that the workers share. */
static struct {
	_Atomic unsigned job; /* the next one */
	struct {
		unsigned tries, astray, failures;
	} cell[PATHS_MOST][ACTIONS_MOST];
	_Atomic unsigned complaints;
	char complaint[COMPLAINTS][800];
	struct {
		unsigned path, action;
		uint32_t n;
	} at[WORKERS_MOST];
} *table;

static struct {
	struct way way;
	unsigned prepare;
	uint32_t *point; /* the instructions to try */
	uint32_t points, stride;
} plan[PATHS_MOST];

static const char *only_path, *only_action;
static bool all;
static uint32_t every, seed;

static bool is_wanted(unsigned path, unsigned action)
{
	return (!only_path || strcmp(only_path, paths[path].name) == 0) &&
	       (!only_action || strcmp(only_action, actions[action].name) == 0) &&
	       actions[action].applies(&paths[path]);
}

static void note(const char *path, const char *action, const char *where)
{
	unsigned i = atomic_fetch_add(&table->complaints, 1);

	if (i < COMPLAINTS)
		snprintf(table->complaint[i], sizeof(table->complaint[i]), "%s, %s%s: %s", path,
			 action, where, share->complaint);
}

/* Returns text such as "at instruction 17, ptx_record+0x21", if names are known. */
static void describe(char *text, size_t size, const struct way *way, uint32_t n)
{
	Dl_info info;

	if (dladdr((void *)(uintptr_t)way->address[n], &info) && info.dli_fname)
		snprintf(text, size, " at instruction %u (%s+%#llx)", n, info.dli_fname,
			 (unsigned long long)(way->address[n] - (uintptr_t)info.dli_fbase));
	else
		snprintf(text, size, " at instruction %u", n);
}

static void do_job(unsigned worker, unsigned path, unsigned action)
{
	char where[300];

	for (uint32_t i = 0; i < plan[path].points; i++) {
		uint32_t n = plan[path].point[i];

		table->at[worker].path = path;
		table->at[worker].action = action;
		table->at[worker].n = n;
		alarm(TRY_SECONDS);
		table->cell[path][action].tries++;
		if (!try_one(&paths[path], plan[path].prepare, &actions[action], &plan[path].way,
			     n))
			table->cell[path][action].astray++;
		if (!share->complaint[0])
			continue;
		table->cell[path][action].failures++;
		describe(where, sizeof(where), &plan[path].way, n);
		note(paths[path].name, actions[action].name, where);
	}
	alarm(0);
}

static void pin(unsigned worker)
{
	cpu_set_t all_cpus, one;
	int cpu = -1;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all_cpus), &all_cpus))
		return;
	for (unsigned i = 0; i <= worker; i++)
		do
			cpu++;
		while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &all_cpus));
	if (cpu >= CPU_SETSIZE)
		return;
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* A worker and its targets alternate at every step, which is fastest on one processor. */
static void __attribute__((noreturn)) work(unsigned worker)
{
	unsigned job;

	share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (share == MAP_FAILED)
		_exit(1);
	pin(worker);
	while ((job = atomic_fetch_add(&table->job, 1)) < path_count * action_count) {
		/* The longest paths first. */
		unsigned path = path_count - 1 - job / action_count, action = job % action_count;

		if (is_wanted(path, action))
			do_job(worker, path, action);
	}
	_exit(0);
}

static unsigned run_workers(unsigned workers)
{
	pid_t pid[WORKERS_MOST];
	unsigned ended = 0;

	fflush(NULL);
	for (unsigned i = 0; i < workers; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			work(i);
	}
	for (unsigned i = 0; i < workers; i++) {
		int status = 0;

		if (pid[i] > 0 && waitpid(pid[i], &status, 0) == pid[i] && status == 0)
			continue;
		ended++;
		printf("%s, %s at instruction %u: %s\n", paths[table->at[i].path].name,
		       actions[table->at[i].action].name, table->at[i].n,
		       WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "did not end" :
									     "ended the worker");
	}
	return ended;
}

/* Returns the number of events that must precede the call so that it follows the path. */
static unsigned prepare_for(const struct path *path)
{
	unsigned best = path->prepare;
	uint32_t longest = 0;
	struct way way;
	uint64_t lost;

	if (path->until_full) {
		try_record(path, 4000, &way, &lost);
		lead_free(&way);
		return 4000 - (unsigned)lost + path->prepare;
	}
	for (unsigned i = 0; path->longest && i < CANDIDATES; i++) {
		try_record(path, path->prepare + i, &way, NULL);
		if (way.count > longest) {
			longest = way.count;
			best = path->prepare + i;
		}
		lead_free(&way);
	}
	return best;
}

static bool make_plan(unsigned i)
{
	struct way *way = &plan[i].way;
	uint32_t points = 0, wanted = 0;

	plan[i].prepare = prepare_for(&paths[i]);
	try_record(&paths[i], plan[i].prepare, way, NULL);
	if (!share->complaint[0])
		try_one(&paths[i], plan[i].prepare, NULL, NULL, 0);
	if (share->complaint[0]) {
		note(paths[i].name, "nothing", "");
		return false;
	}
	plan[i].point = calloc(way->count, sizeof(*plan[i].point));
	if (!plan[i].point)
		return false;
	for (uint32_t n = 0; n < way->count; n++)
		wanted += all || way->seen[n] < VISITS;
	plan[i].stride = all ? 1 : every ? every : (wanted + POINTS_MOST - 1) / POINTS_MOST;
	for (uint32_t n = 0; n < way->count; n++)
		if ((all || way->seen[n] < VISITS) &&
		    points++ % plan[i].stride == seed % plan[i].stride)
			plan[i].point[plan[i].points++] = n;
	return true;
}

static unsigned print_table(unsigned *tries)
{
	unsigned failures = 0, astray = 0;

	printf("%-16s %6s %7s %7s", "path", "steps", "points", "stride");
	for (unsigned a = 0; a < action_count; a++)
		printf(" %8s", actions[a].name);
	printf("\n");
	for (unsigned p = 0; p < path_count; p++) {
		if (plan[p].way.count == 0)
			continue;
		printf("%-16s %6u %7u %7u", paths[p].name, plan[p].way.count, plan[p].points,
		       plan[p].stride);
		for (unsigned a = 0; a < action_count; a++) {
			char text[32] = "-";

			if (is_wanted(p, a))
				snprintf(text, sizeof(text),
					 table->cell[p][a].failures ? "%u!%u" : "%u",
					 table->cell[p][a].tries - table->cell[p][a].astray,
					 table->cell[p][a].failures);
			printf(" %8s", text);
			*tries += table->cell[p][a].tries;
			failures += table->cell[p][a].failures;
			astray += table->cell[p][a].astray;
		}
		printf("\n");
	}
	printf("tries %u, of which %u went another way; failures %u\n", *tries, astray, failures);
	return failures;
}

/* Some machines and containers forbid ptrace. */
static bool may_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			raise(SIGSTOP);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return true;
}

static void read_settings(int argc, char **argv)
{
	const char *steps = getenv("STEPS"), *text = getenv("PTX_SEED");

	all = steps && strcmp(steps, "all") == 0;
	every = steps && !all ? (uint32_t)strtoul(steps, NULL, 10) : 0;
	seed = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
	only_path = argc > 1 ? argv[1] : NULL;
	only_action = argc > 2 ? argv[2] : NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned failures = 0, tries = 0;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	printf("SKIP: no single steps with sanitizers\n");
	return SKIPPED;
#endif
	if (!may_trace()) {
		printf("SKIP: this machine does not permit ptrace\n");
		return SKIPPED;
	}
	/* The path of the dynamic linker to a function is not part of the call. */
	if (!getenv("LD_BIND_NOW")) {
		setenv("LD_BIND_NOW", "1", 1);
		execv("/proc/self/exe", argv);
	}
	read_settings(argc, argv);
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (table == MAP_FAILED || share == MAP_FAILED || path_count > PATHS_MOST ||
	    action_count > ACTIONS_MOST)
		return 1;
	for (unsigned i = 0; i < path_count; i++)
		if ((!only_path || strcmp(only_path, paths[i].name) == 0) && !make_plan(i))
			failures++;
	failures += run_workers(cpus < 1 ? 1 : cpus > WORKERS_MOST ? WORKERS_MOST : (unsigned)cpus);
	failures += print_table(&tries);
	for (unsigned i = 0; i < atomic_load(&table->complaints) && i < COMPLAINTS; i++)
		printf("%s\n", table->complaint[i]);
	if (tries == 0)
		failures++;
	printf("%u%%: Checks: %u, Failures: %u, Errors: 0\n",
	       tries > failures ? (tries - failures) * 100 / tries : 0, tries, failures);
	return failures != 0;
}
