/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * families.c - families of processes that trace, fork, execute, and are killed at random, while
 * controllers attach to them with logs and are killed too: families SECONDS [SEED]
 *
 * Each round starts one family, a few controllers and a reader, with random policies and sizes, and
 * kills processes at random, including guardians. Afterwards every log must be complete or, if its
 * guardian was killed, readable up to its last complete block. Every account that was closed must
 * be right, in logs and in readers that survived. No process, descriptor, mapping, file or place of
 * TRACE_SYS_MAX may remain. Prints one line.
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

#include "soak/lives.h"
#include "soak/memory.h"
#include "support/memory_file.h"

#define MEMBERS      4
#define COMPLETED_MS 20000
#define READ_MS      15000

static unsigned long rounds, kills, logs, unfinished, events, lost, faults;
static bool guardians_too; /* in this round */
static int soak_fd;

static void die(const char *what)
{
	fprintf(stderr, "families: %s: %s\n", what, strerror(errno));
	exit(2);
}

/*
 * The children of this process, which is their subreaper. Guardians create sessions of their own
 * before they execute their program, and so before they can be recognized here. Their names are set
 * later.
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

/*
 * Copies the log into the working folder: a fault of one log in thousands cannot be reproduced at
 * will.
 */
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
	while ((got = pread(fd, buffer, sizeof(buffer), at)) > 0 &&
	       write(to, buffer, (size_t)got) == got)
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
	unsigned count, life, which;
	pid_t reader;

	guardians_too = below(4) == 0;
	atomic_store(&soak->born, 0);
	for (int i = 0; i < MEMBERS; i++) {
		life = below(1u << 30);
		member[i] = fork();
		if (member[i] == 0)
			live(0, life, soak_fd);
	}
	for (int i = 0; i < CONTROLLERS; i++) {
		life = below(1u << 30);
		which = below(MEMBERS);
		atomic_store(&soak->created[i], 0);
		log[i] = memory_file("log", MFD_CLOEXEC);
		if (log[i] < 0)
			die("memory_file");
		if (fork() == 0)
			control(member[which], log[i], life, &soak->created[i]);
	}
	life = below(1u << 30);
	which = below(MEMBERS);
	reader = fork();
	if (reader == 0)
		watch(member[which], life);
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
	/*
	 * All but guardians, which end by themselves, and the reader, which has an account to
	 * check.
	 */
	for (int tries = 0; tries < READ_MS; tries++) {
		count = descendants(pid, 256, false);
		for (unsigned i = 0; i < count; i++)
			if (pid[i] != reader)
				kill(pid[i], SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!count)
			break;
		nap_us(1000);
	}
	for (int i = 0; i < CONTROLLERS; i++) {
		judge(log[i], atomic_load(&soak->created[i]) && !guardians_too);
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

/*
 * A folder of our own for the files that the library leaves on the host, so that the test can
 * examine it at the end.
 */
static char *own_folder(char **argv)
{
	char *folder = getenv("POSIXTRACE_RUNTIME_DIR"), made[] = "/tmp/families-XXXXXX";

	if (!folder) {
		if (!mkdtemp(made) || setenv("POSIXTRACE_RUNTIME_DIR", made, 1))
			die("mkdtemp");
		execv("/proc/self/exe", argv); /* the library has already looked for its folder */
		die("execv");
	}
	return folder;
}

/* The files of killed processes in that folder are removed when the next process adds a file. */
static void clean_folder(void)
{
	int pipe_fd[2];
	char byte;
	pid_t child;

	if (pipe2(pipe_fd, O_CLOEXEC))
		die("pipe2");
	child = fork();
	if (child == 0) {
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	close(pipe_fd[1]);
	while (read(pipe_fd[0], &byte, 1) < 0 && errno == EINTR)
		; /* now it is a process without the library */
	close(pipe_fd[0]);
	for (int inherited = 0; inherited < 2; inherited++) {
		trace_attr_t attr;
		trace_id_t trid;

		if (posix_trace_attr_init(&attr) ||
		    posix_trace_attr_setinherited(&attr, inherited ? POSIX_TRACE_INHERITED :
								     POSIX_TRACE_CLOSE_FOR_CHILD) ||
		    posix_trace_create(child, &attr, &trid) || posix_trace_shutdown(trid))
			die("a stream of a process without the library");
		posix_trace_attr_destroy(&attr);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The file of TRACE_SYS_MAX may exist, but no process may hold a place in it. */
static void look_at_folder(const char *folder)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), file;

	file = openat(at, "trace_sys_max", O_RDWR | O_CLOEXEC);
	if (file >= 0 && (fcntl(file, F_GETLK, &lock) || lock.l_type != F_UNLCK)) {
		fprintf(stderr, "families: a place of the host's is held by process %d\n",
			(int)lock.l_pid);
		faults++;
	}
	close(file);
	unlinkat(at, "trace_sys_max", 0);
	close(at);
	if (rmdir(folder)) {
		fprintf(stderr, "families: something is left in %s\n", folder);
		faults++;
	}
}

static void share(int fd)
{
	soak_fd = fd;
	if (fd < 0 || ftruncate(fd, sizeof(*soak)))
		die("memory_file");
	soak = mmap(NULL, sizeof(*soak), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (soak == MAP_FAILED)
		die("mmap");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	unsigned descriptors, mappings, descriptors_after, mappings_after;
	char *folder;
	time_t end;

	if (argc == 5 && strcmp(argv[1], LIVE_ON) == 0) {
		share(atoi(argv[4]));
		live((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), soak_fd);
	}
	folder = own_folder(argv);
	seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 4711;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	share(memory_file("soak", 0)); /* members that execute a program keep it */
	round_of_lives(); /* resources that are created once exist now */
	descriptors = entries("/proc/self/fd");
	mappings = lines("/proc/self/maps");
	end = time(NULL) + (time_t)seconds;
	do {
		rounds++;
		round_of_lives();
	} while (time(NULL) < end);
	descriptors_after = entries("/proc/self/fd");
	mappings_after = lines("/proc/self/maps");
	if (descriptors_after != descriptors || (MEMORY_IS_OURS && mappings_after != mappings)) {
		fprintf(stderr, "descriptors or mappings have grown\n");
		faults++;
	}
	clean_folder();
	look_at_folder(folder);
	faults += atomic_load(&soak->broken);
	printf("SOAK families seconds=%.0f rounds=%lu kills=%lu executed=%lu logs=%lu "
	       "unfinished=%lu events=%lu lost=%lu readers=%lu read=%lu "
	       "descriptors=%u->%u mappings=%u->%u faults=%lu\n",
	       seconds, rounds, kills, atomic_load(&soak->executed), logs, unfinished, events, lost,
	       atomic_load(&soak->readers), atomic_load(&soak->read), descriptors,
	       descriptors_after, mappings, mappings_after, faults);
	return faults != 0;
}
