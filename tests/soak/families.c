/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * families.c - families of processes that trace, fork, execute, and are killed at random, while
 * controllers attach to them with logs and are killed too: families SECONDS [SEED]
 *
 * Each round starts one family and a few controllers, of random policies and sizes, and kills whom it
 * likes when it likes, guardians among them. Afterwards every log must be completed, or, where its
 * guardian was killed, open up to its last whole block; every account that was closed must hold; and
 * no process, descriptor, mapping or file may be left. Prints one line.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define CONTROLLERS  3
#define MEMBERS      4
#define COMPLETED_MS 20000

static unsigned long rounds, kills, logs, unfinished, events, lost, faults;
static unsigned seed;
static bool guardians_too; /* in this round */
static volatile int *created; /* by the controllers of a round, in shared memory */

static unsigned below(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return seed / 65536 % n;
}

static void die(const char *what)
{
	fprintf(stderr, "families: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void nap_us(long us)
{
	struct timespec nap = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&nap, NULL);
}

/* A member traces, and now and then has a child that goes on in its place. */
static void __attribute__((noreturn)) live(unsigned generation, unsigned life)
{
	trace_event_id_t type;
	char name[16];

	seed = life;
	snprintf(name, sizeof(name), "g%u", generation % 7);
	if (posix_trace_eventid_open(name, &type))
		_exit(1);
	for (unsigned n = 0;; n++) {
		posix_trace_event(type, &n, below(2) ? sizeof(n) : below(4));
		if (below(20000) == 0 && generation < 6) {
			pid_t child = fork();

			if (child == 0) {
				generation++; /* it goes on as its parent does */
				seed += n;
				continue;
			}
			if (child > 0 && below(2))
				_exit(0);
		}
		if (below(64) == 0)
			nap_us(below(200));
	}
}

static int attributes(trace_attr_t *attr)
{
	static const int stream[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
	static const int log[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	return posix_trace_attr_init(attr) ||
	       posix_trace_attr_setstreamfullpolicy(attr, stream[below(3)]) ||
	       posix_trace_attr_setlogfullpolicy(attr, log[below(3)]) ||
	       posix_trace_attr_setstreamsize(attr, 1u << (14 + below(7))) ||
	       posix_trace_attr_setlogsize(attr, 1u << (14 + below(8))) ||
	       posix_trace_attr_setinherited(attr, below(2) ? POSIX_TRACE_INHERITED :
							      POSIX_TRACE_CLOSE_FOR_CHILD);
}

/* Until it is killed, or ends by itself in one of the ways that there are. */
static void control(pid_t target, int fd, unsigned life, volatile int *done)
{
	trace_attr_t attr;
	trace_id_t trid;

	seed = life;
	if (attributes(&attr))
		_exit(1);
	if (posix_trace_create_withlog(target, &attr, fd, &trid))
		_exit(0); /* it was killed already */
	*done = 1;
	posix_trace_start(trid);
	for (unsigned n = below(40); n; n--) {
		nap_us(below(3000));
		switch (below(4)) {
		case 0:
			posix_trace_stop(trid);
			posix_trace_start(trid);
			break;
		case 1:
			posix_trace_flush(trid);
			break;
		default:
			break;
		}
	}
	switch (below(3)) {
	case 0:
		posix_trace_shutdown(trid);
		exit(0);
	case 1:
		execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	default:
		exit(0);
	}
}

/*
 * The children of this process, who is their subreaper. Guardians have sessions of their own, before
 * they execute their program, and thus before they can be found here; their names come later.
 */
static unsigned descendants(pid_t *pid, unsigned room, bool with_guardians)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned count = 0;

	while (proc && (entry = readdir(proc)) && count < room) {
		char path[300], text[400];
		const char *rest;
		int parent, session;
		FILE *file;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file) && (rest = strrchr(text, ')')) &&
		    sscanf(rest + 1, " %*c %d %*d %d", &parent, &session) == 2 &&
		    parent == getpid() && (with_guardians || session == getsid(0)))
			pid[count++] = atoi(entry->d_name);
		fclose(file);
	}
	if (proc)
		closedir(proc);
	return count;
}

static bool is_complete(int fd)
{
	struct posix_trace_loginfo_np info = { .complete = 0 };
	trace_id_t trid;

	if (posix_trace_open(fd, &trid))
		return false;
	posix_trace_get_loginfo_np(trid, &info);
	posix_trace_close(trid);
	return info.complete;
}

static void tell(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	fprintf(stderr, "families: round %lu, guardians killed %s: fault at %llu: %s\n", rounds,
		guardians_too ? "too" : "never", (unsigned long long)fault->offset, fault->reason);
	faults++;
}

/* Into the working folder: a fault of one log in thousands is not had again for the asking. */
static void keep(int fd)
{
	char path[64], buffer[65536];
	off_t at = 0;
	ssize_t got;
	int to;

	snprintf(path, sizeof(path), "families-%lu-%d.log", rounds, fd);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (to < 0)
		return;
	while ((got = pread(fd, buffer, sizeof(buffer), at)) > 0 && write(to, buffer, (size_t)got) == got)
		at += got;
	close(to);
	fprintf(stderr, "families: the log is kept as %s\n", path);
}

static void judge(int fd, bool must_be_complete)
{
	struct posix_trace_check_np result;
	bool complete = is_complete(fd);
	unsigned long before = faults;

	for (int ms = 0; !complete && must_be_complete && ms < COMPLETED_MS; ms++) {
		nap_us(1000);
		complete = is_complete(fd);
	}
	if (lseek(fd, 0, SEEK_END) == 0)
		return; /* no stream was created */
	logs++;
	if (!complete) {
		unfinished++;
		if (must_be_complete) {
			fprintf(stderr, "families: round %lu: a log was not completed\n", rounds);
			faults++;
		}
	}
	if (posix_trace_check_np(fd, tell, NULL, &result) == 0) {
		events += result.events;
		for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
			lost += result.ledger.lost[cause];
	}
	if (faults > before)
		keep(fd);
}

static void round_of_lives(void)
{
	pid_t member[MEMBERS], pid[256];
	int log[CONTROLLERS];
	unsigned count;

	guardians_too = below(4) == 0;
	for (int i = 0; i < MEMBERS; i++) {
		unsigned life = below(1u << 30);

		member[i] = fork();
		if (member[i] == 0)
			live(0, life);
	}
	for (int i = 0; i < CONTROLLERS; i++)
		created[i] = 0;
	for (int i = 0; i < CONTROLLERS; i++) {
		unsigned life = below(1u << 30), which = below(MEMBERS);

		log[i] = memfd_create("log", MFD_CLOEXEC);
		if (log[i] < 0)
			die("memfd_create");
		if (fork() == 0)
			control(member[which], log[i], life, &created[i]);
	}
	for (unsigned n = 2 + below(8); n; n--) {
		nap_us(below(8000));
		count = descendants(pid, 256, guardians_too);
		for (unsigned i = 0; i < count; i++) {
			if (below(6))
				continue;
			kill(pid[i], SIGKILL);
			kills++;
		}
	}
	/* All but guardians, which go by themselves. */
	for (int tries = 0; tries < 200; tries++) {
		count = descendants(pid, 256, false);
		for (unsigned i = 0; i < count; i++)
			kill(pid[i], SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!count)
			break;
		nap_us(1000);
	}
	for (int i = 0; i < CONTROLLERS; i++) {
		judge(log[i], created[i] && !guardians_too);
		close(log[i]);
	}
	for (int ms = 0; ms < COMPLETED_MS && descendants(pid, 256, true); ms++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		nap_us(1000);
	}
	if (descendants(pid, 256, true)) {
		fprintf(stderr, "families: round %lu: a process is left\n", rounds);
		faults++;
	}
}

static unsigned entries(const char *folder)
{
	DIR *list = opendir(folder);
	unsigned count = 0;

	while (list && readdir(list))
		count++;
	if (list)
		closedir(list);
	return count;
}

static unsigned lines(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned count = 0;
	int c;

	while (file && (c = fgetc(file)) != EOF)
		count += c == '\n';
	if (file)
		fclose(file);
	return count;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	unsigned descriptors, mappings, descriptors_after, mappings_after;
	time_t end;

	seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 4711;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	created = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (created == MAP_FAILED)
		die("mmap");
	round_of_lives(); /* what is set up once is there */
	descriptors = entries("/proc/self/fd");
	mappings = lines("/proc/self/maps");
	end = time(NULL) + (time_t)seconds;
	do {
		rounds++;
		round_of_lives();
	} while (time(NULL) < end);
	descriptors_after = entries("/proc/self/fd");
	mappings_after = lines("/proc/self/maps");
	if (descriptors_after != descriptors)
		faults++;
	printf("SOAK families seconds=%.0f rounds=%lu kills=%lu logs=%lu unfinished=%lu events=%lu lost=%lu "
	       "descriptors=%u->%u mappings=%u->%u faults=%lu\n", seconds, rounds, kills, logs,
	       unfinished, events, lost, descriptors, descriptors_after, mappings, mappings_after,
	       faults);
	return faults != 0;
}
