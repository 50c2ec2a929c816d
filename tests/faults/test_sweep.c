/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every call of the library to the system that can fail does so: at each place, once or
 * permanently, with each error that it may have.
 *
 * A process of its own plays each scenario with the fault, then again without. Functions must
 * return only errors that their manual pages list, no event that was read may be wrong, and each
 * event is counted. The second time no call fails, and the process has as many descriptors,
 * threads, shared mappings and allocations as after two runs without a fault.
 *
 * PTX_FAULTS_ALL=1 tries every n and every error both ways, PTX_FAULTS_ONLY=NAME one scenario;
 * PTX_FAULTS_SAY=1 prints the results of each fault.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/fault.h"
#include "faults/scenario.h"
#include "support/support.h"

#define EXIT_MS    2000
#define PATIENCE_S 60 /* far more than any scenario needs */
#define NTH_MAX 400 /* more than any scenario makes of one function */

struct left {
	int descriptors, threads, mappings;
	long pieces;
};

static struct outcome {
	struct scenario_diary faulty, after;
	struct left left;
	bool struck, signals, whole;
} *outcome;

static int entries(const char *path)
{
	DIR *folder = opendir(path);
	int n = 0;

	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

static int shared_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[600];
	int n = 0;

	while (maps && fgets(line, sizeof(line), maps))
		n += strlen(line) > 22 && strstr(line, "s ") && strchr(line, ' ')[4] == 's';
	if (maps)
		fclose(maps);
	return n;
}

/* Handlers and mask are unchanged. */
static bool signals_are_the_programs(void)
{
	struct sigaction action;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int n = 1; n < 32; n++) {
		if (sigismember(&mask, n))
			return false;
		if (sigaction(n, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
			return false;
	}
	return true;
}

static int threads_due; /* resources that a run without a fault leaves */

static void play(const struct scenario *scenario, enum fault_call call, unsigned nth, int err,
		 bool lasts)
{
	for (int n = 1; n < 32; n++)
		signal(n, SIG_DFL);
	alarm(PATIENCE_S);
	scenario_diary = &outcome->faulty;
	scenario_prepare(scenario);
	fault_arm(call, nth, err, lasts);
	scenario->play();
	outcome->struck = fault_disarm();
	outcome->signals = signals_are_the_programs();
	scenario_diary = &outcome->after;
	scenario->play();
	outcome->left.descriptors = entries("/proc/self/fd");
	/* A thread that was joined may still be ending. */
	for (int ms = 0; ms < EXIT_MS && entries("/proc/self/task") > threads_due; ms++)
		usleep(1000);
	outcome->left.threads = entries("/proc/self/task");
	outcome->left.mappings = shared_mappings();
	outcome->left.pieces = fault_pieces();
	scenario_end();
	outcome->whole = true;
}

static void play_apart(const struct scenario *scenario, enum fault_call call, unsigned nth, int err,
		       bool lasts)
{
	int status;
	pid_t pid;

	memset(outcome, 0, sizeof(*outcome));
	fflush(stdout);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		play(scenario, call, nth, err, lasts);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0 && outcome->whole, "%s, %s %u: error %d%s: ended with %#x",
		      scenario->name, fault_name[call], nth, err, lasts ? " from then on" : "",
		      status);
}

/* Functions that read or write files; they return the file's error. */
static bool has_file(const char *step)
{
	static const char *const calls[] = {
		"create_withlog", "flush", "shutdown", "open", "snapshot_np", "check_np",
		"compose_np", "compose_name_np", "compose_schema_np", "compose_event_np",
		"compose_finish_np",
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(step + strlen("posix_trace_"), calls[i]) == 0)
			return true;
	return false;
}

/* The errors of the manual pages: no memory, no descriptor, no thread, or the error of a file. */
static bool may_say(const char *step, enum fault_call call, int fault, int err, bool failed_before)
{
	if (err == EINTR || err == FAULT_SHORT)
		return false;
	if (err == EINVAL && strcmp(step, "posix_trace_get_ledger_type_np") == 0)
		return failed_before || call == FAULT_sys_pread; /* the log does not contain the
								  * name */
	if (err == EINVAL && (strcmp(step, "posix_trace_open") == 0 ||
			      strcmp(step, "posix_trace_check_np") == 0))
		/* the log is not complete, or cannot be read */
		return failed_before || call == FAULT_sys_pread;
	if (strncmp(step, "posix_trace_create", 18) == 0 && err == EAGAIN)
		return true;
	if (strcmp(step, "posix_trace_observe_np") == 0 && (err == EPERM || err == EIO))
		return true;
	if (strcmp(step, "posix_trace_snapshot_np") == 0 && err == ESRCH)
		return true;
	/* The process cannot be examined; never that it does not exist. */
	if (strcmp(step, "posix_trace_create") == 0 && (err == EPERM || err == ENOTSUP))
		return true;
	return err == 0 || err == ENOMEM || err == EMFILE || (err == fault && has_file(step));
}

static void judge(const struct scenario *scenario, enum fault_call call, unsigned nth, int err,
		  bool lasts, const struct left *due)
{
	char where[200];
	bool failed = false;

	snprintf(where, sizeof(where), "%s, %s %u: error %d%s", scenario->name, fault_name[call],
		 nth, err, lasts ? " from then on" : "");
	ck_assert_msg(!outcome->faulty.wrong[0], "%s: %s", where, outcome->faulty.wrong);
	ck_assert_msg(!outcome->after.wrong[0], "after %s: %s", where, outcome->after.wrong);
	ck_assert_msg(outcome->signals, "%s: signals are not as they were", where);
	for (size_t i = 0; i < outcome->faulty.steps; i++) {
		const struct scenario_said *said = &outcome->faulty.said[i];

		if (said->err && getenv("PTX_FAULTS_SAY"))
			printf("%-12s %-14s %3u %3d%c: %s %d (%s)\n", scenario->name,
			       fault_name[call], nth, err, lasts ? '+' : ' ', said->step, said->err,
			       strerrorname_np(said->err));
		ck_assert_msg(may_say(said->step, call, err, said->err, failed), "%s: %s says %d",
			      where, said->step, said->err);
		failed = failed || said->err;
	}
	for (size_t i = 0; i < outcome->after.steps; i++)
		ck_assert_msg(outcome->after.said[i].err == 0, "after %s: %s says %d", where,
			      outcome->after.said[i].step, outcome->after.said[i].err);
	ck_assert_msg(outcome->left.descriptors <= due->descriptors, "%s: %d descriptors, not %d",
		      where, outcome->left.descriptors, due->descriptors);
	ck_assert_msg(outcome->left.threads <= due->threads, "%s: %d threads, not %d", where,
		      outcome->left.threads, due->threads);
	ck_assert_msg(outcome->left.mappings <= due->mappings, "%s: %d mappings, not %d", where,
		      outcome->left.mappings, due->mappings);
	ck_assert_msg(outcome->left.pieces <= due->pieces, "%s: %ld pieces of memory, not %ld",
		      where, outcome->left.pieces, due->pieces);
}

static const int errors_of[FAULT_CALLS][6] = {
	[FAULT_malloc] = { ENOMEM }, [FAULT_calloc] = { ENOMEM },
	[FAULT_aligned_alloc] = { ENOMEM }, [FAULT_realloc] = { ENOMEM },
	[FAULT_strdup] = { ENOMEM }, [FAULT_memfd_create] = { EMFILE, ENOMEM, ENOSYS },
	[FAULT_ftruncate] = { ENOSPC, EFBIG, EINTR }, [FAULT_mmap] = { ENOMEM },
	[FAULT_fallocate] = { ENOSPC, EINTR, EDQUOT, EOPNOTSUPP },
	[FAULT_posix_fallocate] = { ENOSPC, EDQUOT }, [FAULT_madvise] = { ENOMEM },
	[FAULT_open] = { EMFILE, EACCES, EINTR }, [FAULT_openat] = { EMFILE, EACCES, EINTR },
	[FAULT_dup] = { EMFILE }, [FAULT_lock] = { ENOLCK }, [FAULT_flock] = { ENOLCK, EINTR },
	[FAULT_fstatat] = { EACCES }, [FAULT_stat] = { EACCES },
	[FAULT_lstat] = { EACCES }, [FAULT_readlink] = { EACCES }, [FAULT_access] = { EACCES },
	[FAULT_fchown] = { EPERM }, [FAULT_pthread_mutex_init] = { ENOMEM, EAGAIN },
	[FAULT_pthread_attr_init] = { ENOMEM }, [FAULT_pthread_setspecific] = { ENOMEM },
	[FAULT_lseek] = { ESPIPE },
	[FAULT_read] = { EIO, EINTR }, [FAULT_opendir] = { EMFILE, ENOMEM },
	[FAULT_fdopendir] = { ENOMEM }, [FAULT_readlinkat] = { EIO },
	[FAULT_symlinkat] = { ENOSPC }, [FAULT_mkdirat] = { ENOSPC, EROFS },
	[FAULT_unlinkat] = { EIO }, [FAULT_getrandom] = { ENOSYS, EINTR },
	[FAULT_kill] = { EPERM, ESRCH }, [FAULT_prctl] = { EINVAL },
	[FAULT_clone] = { EAGAIN, ENOMEM },
	[FAULT_pthread_create] = { EAGAIN }, [FAULT_pthread_key_create] = { EAGAIN },
	[FAULT_waitpid] = { EINTR, ECHILD },
	[FAULT_sys_write] = { ENOSPC, EIO, EDQUOT, EFBIG, EINTR, FAULT_SHORT },
	[FAULT_sys_pwrite] = { ENOSPC, EIO, EDQUOT, EFBIG, EINTR, FAULT_SHORT },
	[FAULT_sys_pread] = { EIO, EINTR, FAULT_SHORT },
	[FAULT_sys_openat] = { EMFILE, EACCES, EINTR },
	[FAULT_sys_futex] = { EINTR }, [FAULT_sys_membarrier] = { ENOSYS },
	[FAULT_sys_pidfd_open] = { EMFILE, ENOSYS }, [FAULT_sys_getdents] = { EIO },
};

/* A system call whose failure the library answers with another try. */
static bool is_passing(int err)
{
	return err == EINTR || err == FAULT_SHORT;
}

/*
 * Tries n until a scenario makes no n-th call. Returns the number of faults. Tries only some n of
 * functions that are called hundreds of times; PTX_FAULTS_ALL=1 tries all.
 */
static unsigned sweep(const struct scenario *scenario, enum fault_call call, int err, bool lasts,
		      const struct left *due)
{
	unsigned faults = 0;

	for (unsigned nth = 1; nth < NTH_MAX; nth += getenv("PTX_FAULTS_ALL") ? 1 : 1 + nth / 8) {
		play_apart(scenario, call, nth, err, lasts);
		judge(scenario, call, nth, err, lasts, due);
		if (!outcome->struck)
			break;
		faults++;
	}
	return faults;
}

/* CREATE-15, WITHLOG-13, FLUSHF-07, FLUSHF-08, GEN-02 */
START_TEST(any_failing_call_is_reported_and_counted_and_leaves_nothing)
{
	const struct scenario *scenario = &scenarios[_i];
	const char *only = getenv("PTX_FAULTS_ONLY");
	unsigned faults = 0;
	struct left due;

	if (only && strcmp(only, scenario->name) != 0)
		return;
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	ck_assert_ptr_ne(outcome, MAP_FAILED);
	play_apart(scenario, FAULT_malloc, NTH_MAX, ENOMEM, false);
	due = outcome->left;
	threads_due = due.threads;
	judge(scenario, FAULT_malloc, NTH_MAX, ENOMEM, false, &due);
	for (int call = 0; call < FAULT_CALLS; call++)
		for (int i = 0; i < 6 && errors_of[call][i]; i++) {
			int err = errors_of[call][i];
			unsigned n = sweep(scenario, (enum fault_call)call, err, false, &due);

			faults += n;
			if (n && !is_passing(err) && (i == 0 || getenv("PTX_FAULTS_ALL")))
				faults += sweep(scenario, (enum fault_call)call, err, true, &due);
		}
	ck_assert_uint_gt(faults, 0);
	printf("%s: %u faults\n", scenario->name, faults);
	munmap(outcome, sizeof(*outcome));
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("faults", &tc);

	tcase_set_timeout(tc, 1800);
	tcase_add_loop_test(tc, any_failing_call_is_reported_and_counted_and_leaves_nothing, 0,
			    (int)scenario_count);
	return suite;
}

SUITE_MAIN_OF(build)
