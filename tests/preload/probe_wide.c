/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that few programs make, one probe for each family: their events have known fields. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <pty.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>

#include "preload/probe.h"

/* The C library exports these functions, but no header declares them. */
int __open(const char *path, int flags, ...);
mqd_t __mq_open_2(const char *name, int flags);
ssize_t __read(int fd, void *buffer, size_t size);
int __close(int fd);
int __statfs(const char *path, void *to);
int __poll(void *fds, unsigned long count, int timeout);
pid_t __fork(void);
pid_t __waitpid(pid_t child, int *status, int options);

/* Memory that is never mapped; a variable, so that the compiler has nothing to warn of. */
static char *volatile nowhere = (char *)(uintptr_t)8;
static int visited;

static int visit(const char *path, const struct stat *about, int kind)
{
	(void)path, (void)about, (void)kind;
	visited++;
	return 0;
}

static int end_walk(const char *path, const struct stat *about, int kind, struct FTW *at)
{
	(void)path, (void)about, (void)kind, (void)at;
	return 7;
}

static void walks(void)
{
	char tree_name[] = "tree", *paths[] = { tree_name, NULL };
	struct dirent **found, *entry, one;
	char buffer[1024];
	FTSENT *at;
	DIR *folder;
	FTS *tree;
	int n, fd;

	MUST(mkdir("tree", 0755) == 0 && mkdir("tree/sub", 0755) == 0);
	MUST((n = scandir("tree", &found, NULL, alphasort)) == 3);
	while (n)
		free(found[--n]);
	free(found);
	MUST(scandir("nothing", &found, NULL, NULL) == -1 && errno == ENOENT);
	MUST(ftw("tree", visit, 4) == 0 && visited == 2);
	MUST(nftw("tree", end_walk, 4, FTW_PHYS) == 7);
	MUST(nftw("nothing", end_walk, 4, 0) == -1);
	MUST((tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL)) != NULL);
	for (n = 0; (at = fts_read(tree));)
		n++;
	MUST(n == 4 && fts_close(tree) == 0);
	MUST((folder = opendir("tree")) != NULL);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	for (n = 0; readdir_r(folder, &one, &entry) == 0 && entry;)
		n++;
#pragma GCC diagnostic pop
	MUST(n == 3 && closedir(folder) == 0);
	MUST((fd = open("tree", O_RDONLY | O_DIRECTORY)) >= 0);
	MUST(getdents64(fd, buffer, sizeof buffer) > 0 && close(fd) == 0);
}

static int wide_file(int argc, char **argv)
{
	char to[4096];

	MUST(argc == 1 && chdir(argv[0]) == 0);
	walks();
	/* File systems without attributes of users refuse these. */
	setxattr("tree", "user.some", "value", 5, XATTR_CREATE);
	getxattr("tree", "user.some", to, sizeof to);
	MUST(lgetxattr("nothing", "user.other", to, sizeof to) == -1 && errno == ENOENT);
	MUST(fsetxattr(-1, "user.some", "value", 5, 0) == -1 && errno == EBADF);
	MUST(listxattr("nothing", to, sizeof to) == -1 && errno == ENOENT);
	MUST(removexattr("nothing", "user.some") == -1 && errno == ENOENT);
	MUST(getxattr(nowhere, "user.some", to, sizeof to) == -1 && errno == EFAULT);
	MUST(chroot("nothing") == -1);
	MUST(__statfs("nothing", to) == -1 && errno == ENOENT);
	return 0;
}

static void streams(void)
{
	FILE *file, *again;
	int fd;

	MUST((file = fopen("one", "w+")) != NULL);
	fd = fileno(file);
	MUST((again = freopen("two", "w", file)) == file && fileno(again) == fd);
	MUST(fclose(again) == 0);
	MUST((file = fopen("one", "r")) != NULL && !freopen("no/such", "r", file));
	MUST((file = tmpfile()) != NULL && fclose(file) == 0);
	MUST((fd = open("one", O_RDONLY)) >= 0 && (file = fdopen(fd, "r")) != NULL);
	MUST(fclose(file) == 0 && !fdopen(-1, "r") && errno == EBADF);
}

static void positions(void)
{
	int fd = open("one", O_RDWR);

	MUST(fd >= 0 && lseek(fd, 100, SEEK_SET) == 100 && lseek(fd, -1, SEEK_SET) == -1);
	MUST(posix_fallocate(fd, 0, 4096) == 0 && posix_fallocate(-1, 0, 1) == EBADF);
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8192);
	MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
	MUST(posix_fadvise(-1, 0, 0, POSIX_FADV_NORMAL) == EBADF);
	MUST(lockf(fd, F_TLOCK, 10) == 0 && lockf(fd, F_ULOCK, 10) == 0);
	MUST(sync_file_range(fd, 0, 0, 0) == 0 && syncfs(-1) == -1 && errno == EBADF);
	MUST(close(fd) == 0);
}

/* Functions for terminals, on one and on something else. */
static void terminal(int master, int slave)
{
	struct termios mode;
	int fds[2];
	char name[64];

	errno = 4711;
	MUST(isatty(slave) == 1 && tcgetattr(slave, &mode) == 0);
	MUST(tcsetattr(slave, TCSADRAIN, &mode) == 0 && tcflush(slave, TCIFLUSH) == 0);
	MUST(tcdrain(slave) == 0 && tcflow(slave, TCOON) == 0);
	MUST(unlockpt(master) == 0 && grantpt(master) == 0);
	MUST(ptsname(master) && ptsname_r(master, name, sizeof name) == 0 && errno == 4711);
	MUST(pipe(fds) == 0);
	MUST(isatty(fds[0]) == 0 && errno == ENOTTY);
	MUST(tcgetpgrp(fds[0]) == -1 && errno == ENOTTY && !ptsname(fds[0]));
	MUST(tcsetpgrp(fds[0], 77) == -1 && tcgetsid(fds[0]) == -1);
	MUST(tcsendbreak(fds[0], 0) == -1 && sockatmark(fds[0]) == -1);
	MUST(ptsname_r(fds[0], name, sizeof name) == ENOTTY);
	MUST(close(fds[0]) == 0 && close(fds[1]) == 0);
	MUST(isatty(-1) == 0 && errno == EBADF);
}

static int wide_io(int argc, char **argv)
{
	struct { uint64_t flags, mode, resolve; } how = { O_RDONLY | O_CLOEXEC, 0, 0 };
	int fd, slave, copy, status;
	pid_t child;
	char byte;
	eventfd_t value;

	MUST(argc == 1 && chdir(argv[0]) == 0);
	streams();
	positions();
	MUST((fd = eventfd(0, 0)) >= 0 && eventfd_write(fd, 5) == 0);
	MUST(eventfd_read(fd, &value) == 0 && value == 5 && close(fd) == 0);
	MUST(dup2(0, 60) == 60 && dup2(0, 61) == 61);
	MUST(close_range(60, 61, 0) == 0 && close_range(5, 4, 0) == -1 && errno == EINVAL);
	MUST(dup2(0, 62) == 62 && syscall(SYS_close_range, 62, 62, 0) == 0);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, "one", &how, sizeof how);
	MUST(fd >= 0 || errno == ENOSYS);
	copy = (int)syscall(SYS_openat2, AT_FDCWD, "no/such", &how, sizeof how);
	MUST(copy == -1 && syscall(SYS_openat2, -1, nowhere, nowhere, 24) == -1 && errno == EFAULT);
	close(fd);
	MUST((fd = __open("one", O_RDONLY)) >= 0 && __read(fd, &byte, 1) == 1 && __close(fd) == 0);
	if (openpty(&fd, &slave, NULL, NULL, NULL) == 0) {
		terminal(fd, slave);
		MUST(close(slave) == 0 && close(fd) == 0);
	}
	if ((fd = shm_open("/posixtrace.probe", O_RDWR | O_CREAT, 0600)) >= 0)
		MUST(close(fd) == 0 && shm_unlink("/posixtrace.probe") == 0);
	MUST(__poll(NULL, 0, 0) == 0);
	MUST(mlock(&how, sizeof how) == 0 || errno == ENOMEM || errno == EPERM);
	/* In a child, because the library writes the log of this process by a descriptor. */
	if ((child = fork()) == 0) {
		MUST(dup2(0, 63) == 63);
		closefrom(63);
		_exit(fcntl(63, F_GETFD) != -1);
	}
	MUST(waitpid(child, &status, 0) == child && status == 0);
	return 0;
}

static int wide_net(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t bytes = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0), value = 1;
	struct hostent *host, own;
	char room[1024];

	(void)argc, (void)argv;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value) == 0);
	MUST(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value) == 0);
	MUST(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, nowhere, 4) == -1 && errno == EFAULT);
	MUST(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &bytes) == 0 && value == SOCK_STREAM);
	MUST(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, (void *)nowhere) == -1);
	bytes = sizeof address;
	MUST(bind(fd, (struct sockaddr *)&address, bytes) == 0);
	MUST(getsockname(fd, (struct sockaddr *)&address, &bytes) == 0);
	MUST(getpeername(fd, (struct sockaddr *)&address, &bytes) == -1 && errno == ENOTCONN);
	MUST(close(fd) == 0);
	MUST((host = gethostbyname("127.0.0.1")) != NULL);
	MUST(gethostbyname_r("127.0.0.1", &own, room, sizeof room, &host, &value) == 0);
	return 0;
}

static int wide_process(int argc, char **argv)
{
	pid_t child = __fork();
	int status, fd, ends[2];
	char byte;

	(void)argc, (void)argv;
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(3);
	}
	MUST(__waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	errno = 4711;
	ptrace(PTRACE_PEEKDATA, child, &visited, NULL);
	MUST(errno == 0);
	MUST(ptrace(PTRACE_PEEKDATA, child, nowhere, NULL) == -1 && errno);
	MUST(ptrace(PTRACE_CONT, child, NULL, NULL) == 0);
	MUST(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
	MUST(prctl(PR_SET_NAME, "a name") == 0);
	MUST(prctl(PR_SET_PDEATHSIG, 999) == -1 && errno == EINVAL);
	MUST((fd = pidfd_open(getpid(), 0)) >= 0);
	MUST(pidfd_send_signal(fd, 0, NULL, 0) == 0 && close(fd) == 0);
	MUST(pthread_kill(pthread_self(), 999) == EINVAL);
	MUST(forkpty(&fd, NULL, NULL, NULL) != 0 || (_exit(0), 0));
	wait(&status);
	if ((child = fork()) == 0)
		abort();
	MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	MUST(pipe(ends) == 0);
	if ((child = fork()) == 0) {
		/* The parent of the daemon ends at once. */
		MUST(daemon(1, 1) == 0);
		_exit(5);
	}
	MUST(waitpid(child, &status, 0) == child && status == 0);
	/* The read returns 0 once the daemon has ended and no process has the other end open. */
	MUST(close(ends[1]) == 0 && read(ends[0], &byte, 1) == 0);
	return 0;
}

static void take_signal(int number)
{
	(void)number;
}

static sem_t *named_sem;

static sem_t pair[2];
static _Atomic pid_t waiter;

static void *wait_for_first(void *arg)
{
	waiter = (pid_t)syscall(SYS_gettid);
	MUST(sem_wait(&pair[0]) == 0);
	return arg;
}

/* Posts two semaphores while a thread waits for the first one. */
static void post_both(void)
{
	pthread_t thread;

	MUST(sem_init(&pair[0], 0, 0) == 0 && sem_init(&pair[1], 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, wait_for_first, NULL) == 0);
	probe_until_waiting(&waiter);
	MUST(sem_post(&pair[1]) == 0 && sem_post(&pair[0]) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

static void *post_semaphore(void *arg)
{
	MUST(sem_post(named_sem) == 0);
	return arg;
}

/* Signals, semaphores and queues by which threads and processes wait for each other. */
static int wide_wait(int argc, char **argv)
{
	const struct itimerval soon = { .it_value.tv_usec = 1000 }, never = { { 0 }, { 0 } };
	const struct itimerspec far = { .it_value.tv_sec = 1000 };
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	struct flock whole = { .l_type = F_RDLCK };
	char name[64], message[8];
	sigset_t set, old;
	siginfo_t info;
	pthread_t thread;
	timer_t timer;
	mqd_t queue;
	int number, fd, word = 0;

	(void)argc, (void)argv;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	MUST(pthread_sigmask(SIG_BLOCK, &set, &old) == 0);
	MUST(pthread_kill(pthread_self(), SIGUSR1) == 0 && sigwait(&set, &number) == 0);
	MUST(number == SIGUSR1 && kill(getpid(), SIGUSR1) == 0);
	MUST(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_pid == getpid());
	MUST(sigtimedwait(&set, NULL, &moment) == -1 && errno == EAGAIN);
	MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0 && sigwaitinfo(&set, NULL) == SIGALRM);
	signal(SIGALRM, take_signal);
	MUST(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	MUST(sigsuspend(&old) == -1 && errno == EINTR);
	MUST(setitimer(ITIMER_VIRTUAL, &never, NULL) == 0 && alarm(1000) == 0 && alarm(0) > 0);
	MUST(timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0);
	MUST(timer_settime(timer, 0, &far, NULL) == 0 && timer_delete(timer) == 0);
	MUST(timer_settime(timer, 0, &far, NULL) == -1);

	/* Later the process has a semaphore of several processes, and all posts to 0 count. */
	post_both();
	snprintf(name, sizeof name, "/posixtrace-probe-%d", (int)getpid());
	named_sem = sem_open(name, O_CREAT, 0600, 0);
	MUST(named_sem != SEM_FAILED && sem_open("/no/such", 0) == SEM_FAILED);
	MUST(pthread_create(&thread, NULL, post_semaphore, NULL) == 0);
	MUST(sem_wait(named_sem) == 0 && pthread_join(thread, NULL) == 0);
	MUST(sem_post(named_sem) == 0 && sem_post(named_sem) == 0);
	MUST(sem_close(named_sem) == 0 && sem_unlink(name) == 0);

	queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	MUST(queue >= 0 && mq_send(queue, "abc", 3, 0) == 0);
	MUST(mq_receive(queue, message, sizeof message, NULL) == 3);
	MUST(mq_close(queue) == 0 && (queue = __mq_open_2(name, O_RDWR)) >= 0);
	MUST(mq_close(queue) == 0 && mq_unlink(name) == 0);
	MUST(mq_receive(queue, message, sizeof message, NULL) == -1 && errno == EBADF);

	fd = open("/dev/null", O_RDWR);
	MUST(fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0);
	MUST(fcntl(fd, F_SETLK, nowhere) == -1 && close(fd) == 0);
	MUST(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0) == -1);
	MUST(errno == ETIMEDOUT);
	MUST(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) == -1);
	MUST(errno == EAGAIN && syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1) == 0);
	return 0;
}

const struct probe probes_wide[] = {
	{ "wide-file", wide_file }, { "wide-io", wide_io }, { "wide-net", wide_net },
	{ "wide-process", wide_process }, { "wide-wait", wide_wait }, { 0 }
};
