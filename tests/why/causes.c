/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * causes.c - programs that are slow for a known reason, for make check-why. It is no test itself.
 *
 *	causes NAME
 *
 * The thread "subject" is slow. It measures its own time and the part that the reason takes, by the
 * clocks of the C library, and prints both in nanoseconds, and how much of the part it waited for a
 * CPU instead.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t world = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool go, stop;
static int64_t reason_ns, total_ns, delay_ns;

static int64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Returns the time in which this thread has waited for a CPU, as the kernel counts it. */
static int64_t waited(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	long long ns = 0;

	if (!file || fscanf(file, "%*s %lld", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns;
}

/*
 * Adds the wall time of a statement to the reason. A part of it is no wait for the reason but for a
 * CPU, and the kernel's tracing knows when that begins.
 */
#define REASON(statement) do { \
	int64_t delay_ = waited(), begin_ = now(CLOCK_MONOTONIC); \
	statement; \
	reason_ns += now(CLOCK_MONOTONIC) - begin_; \
	delay_ns += waited() - delay_; \
} while (0)

/*
 * Returns a time that advances only while this thread has a CPU, if the thread is never blocked.
 * The clock of CPU time is not usable: in a virtual machine it omits the time in which the
 * hypervisor had the processor, and the kernel's switches, which why reads, do not show this time.
 */
static int64_t on_cpu(void)
{
	return now(CLOCK_MONOTONIC) - waited();
}

/* Works for so many milliseconds of CPU time of its own. */
static void work(int ms)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * INT64_C(1000000);

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* ------------------------------------------------------------------ other threads */

static void *hold_often(void *arg)
{
	while (!atomic_load(&stop)) {
		pthread_mutex_lock(&mutex);
		atomic_store(&go, true);
		usleep(4000);
		pthread_mutex_unlock(&mutex);
		usleep(1);
	}
	return arg;
}

static void *spin(void *arg)
{
	while (!atomic_load(&stop))
		;
	return arg;
}

/* Holds the lock while it works, with the least priority. */
static void *hold_low(void *arg)
{
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	pthread_mutex_lock(&mutex);
	atomic_store(&go, true);
	work(5);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *stop_the_world(void *arg)
{
	pthread_rwlock_wrlock(&world);
	atomic_store(&go, true);
	usleep(300000);
	pthread_rwlock_unlock(&world);
	return arg;
}

static void *set_late(void *arg)
{
	usleep(200000);
	atomic_store(&go, true);
	return arg;
}

static void wait_for_go(void)
{
	while (!atomic_load(&go))
		sched_yield();
}

/* ------------------------------------------------------------------ reasons */

static void begin(void *(*function)(void *), int threads)
{
	pthread_t thread;

	while (threads--)
		pthread_create(&thread, NULL, function, NULL);
}

static void convoy(void)
{
	begin(hold_often, 3);
	wait_for_go();
	for (int i = 0; i < 20; i++) {
		usleep(100);
		REASON(pthread_mutex_lock(&mutex));
		pthread_mutex_unlock(&mutex);
	}
}

/* The reason is the time without a CPU. */
static void starved(void)
{
	int64_t delay;

	on_one_cpu();
	begin(spin, 3);
	delay = waited();
	work(150);
	reason_ns = waited() - delay;
}

static void inversion(void)
{
	on_one_cpu();
	begin(hold_low, 1);
	wait_for_go();
	begin(spin, 1);
	REASON(pthread_mutex_lock(&mutex));
}

static void world_stops(void)
{
	begin(stop_the_world, 1);
	wait_for_go();
	REASON(pthread_rwlock_rdlock(&world));
}

/* The third process sleeps, the second waits for it, this one for the second. */
static void pipes(void)
{
	int first[2], second[2];
	char byte = 'x';

	if (pipe(first) || pipe(second))
		exit(1);
	if (!fork()) {
		if (!fork()) {
			usleep(300000);
			_exit(write(second[1], &byte, 1) != 1);
		}
		if (read(second[0], &byte, 1) != 1 || write(first[1], &byte, 1) != 1)
			_exit(1);
		wait(NULL);
		_exit(0);
	}
	REASON(if (read(first[0], &byte, 1) != 1) exit(1));
}

static void child(void)
{
	if (!fork()) {
		usleep(300000);
		_exit(0);
	}
	REASON(wait(NULL));
}

static void sleep_hidden(void)
{
	for (int i = 0; i < 30; i++) {
		work(1);
		REASON(usleep(10000));
	}
}

/* A timer that sleeps for the whole period after its work drifts. */
static void timer(void)
{
	const struct timespec period = { .tv_nsec = 20000000 };

	for (int i = 0; i < 15; i++) {
		work(2);
		REASON(nanosleep(&period, NULL));
	}
}

/* The reason is the time with a CPU. */
static void busy_wait(void)
{
	int64_t cpu_ns = on_cpu();

	begin(set_late, 1);
	while (!atomic_load(&go))
		;
	reason_ns = on_cpu() - cpu_ns;
}

/*
 * Touches new pages. The second pass needs the same time without page faults; the difference of the
 * CPU times is that of the faults.
 */
static __attribute__((noinline)) void touch(volatile char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
}

static void faults(void)
{
	const size_t bytes = (size_t)64 << 20;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE))
		exit(1);
	for (int i = 0; i < 8; i++) {
		int64_t begin_ns = now(CLOCK_THREAD_CPUTIME_ID), middle_ns;

		touch(memory, bytes);
		middle_ns = now(CLOCK_THREAD_CPUTIME_ID);
		touch(memory, bytes);
		reason_ns += middle_ns - begin_ns - (now(CLOCK_THREAD_CPUTIME_ID) - middle_ns);
		madvise(memory, bytes, MADV_DONTNEED);
	}
}

/* Two threads write to one cache line; the reason is the CPU time. */
static struct {
	_Alignas(64) atomic_ulong own, other;
} line;

static __attribute__((noinline)) void write_line(atomic_ulong *word)
{
	for (int i = 0; i < 1000; i++)
		atomic_fetch_add(word, 1);
}

static void *write_other(void *arg)
{
	while (!atomic_load(&stop))
		write_line(&line.other);
	return arg;
}

/*
 * Some kernels fail to record one in a hundred switches. Each of them makes the state unknown for a
 * time slice, which is several percent of a short run.
 */
static void false_sharing(void)
{
	const int64_t cpu_ns = on_cpu(), end_ns = now(CLOCK_MONOTONIC) + 1000000000;

	begin(write_other, 1);
	while (now(CLOCK_MONOTONIC) < end_ns)
		write_line(&line.own);
	reason_ns = on_cpu() - cpu_ns;
}

/* The file $SLOW_FILE is on a slow disk. */
static void disk(void)
{
	int fd = open(getenv("SLOW_FILE"), O_RDONLY);
	char data[4096];
	ssize_t n = 1;

	if (fd < 0)
		exit(1);
	while (n > 0) {
		work(1);
		REASON(n = read(fd, data, sizeof(data)));
	}
	close(fd);
}

/* Threads allocate in one arena. No event shows their waits for its lock. */
static void *allocate(void *arg)
{
	void *memory[16];

	while (!atomic_load(&stop)) {
		for (size_t i = 0; i < 16; i++)
			memory[i] = malloc(2000 + i * 300);
		for (size_t i = 0; i < 16; i++)
			free(memory[i]);
	}
	return arg;
}

static void allocator(void)
{
	int64_t end = now(CLOCK_MONOTONIC) + INT64_C(700000000);

	mallopt(M_ARENA_MAX, 1);
	begin(allocate, 5);
	while (now(CLOCK_MONOTONIC) < end)
		free(malloc(5000));
}

static const struct {
	const char *name;
	void (*run)(void);
} reasons[] = {
	{ "convoy", convoy }, { "starved", starved }, { "inversion", inversion },
	{ "world", world_stops }, { "pipes", pipes }, { "child", child },
	{ "sleep", sleep_hidden }, { "timer", timer }, { "busy", busy_wait },
	{ "faults", faults }, { "sharing", false_sharing }, { "disk", disk },
	{ "allocator", allocator },
};

static void *subject(void *arg)
{
	int64_t begin_ns = now(CLOCK_MONOTONIC);

	pthread_setname_np(pthread_self(), "subject");
	((void (*)(void))(uintptr_t)arg)();
	total_ns = now(CLOCK_MONOTONIC) - begin_ns;
	return NULL;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(reasons) / sizeof(*reasons); i++) {
		pthread_t thread;

		if (strcmp(argv[1], reasons[i].name) != 0)
			continue;
		if (pthread_create(&thread, NULL, subject, (void *)(uintptr_t)reasons[i].run))
			return 1;
		pthread_join(thread, NULL);
		atomic_store(&stop, true);
		/* The trace ends with this process: the others record their last calls before. */
		while (wait(NULL) > 0)
			;
		printf("%lld %lld %lld\n", (long long)reason_ns, (long long)total_ns,
		       (long long)delay_ns);
		fflush(stdout);
		_exit(0);
	}
	return 2;
}
