/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.c - programs that wait, each for another thing, for make check-why. It is no test itself.
 *
 *	waits NAME
 *
 * The main thread waits once. The thread "maker" ends the wait: it sleeps for 200 ms in usleep(),
 * and then makes the event. In the cases with a process the maker is the main thread of a child. In
 * the cases that begin with "stuck" nothing ends the wait, and the caller must kill the program.
 */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(condition) do { \
	if (!(condition)) { \
		perror(#condition); \
		exit(1); \
	} \
} while (0)

#define SLEEP_US 200000

static sem_t semaphore, *shared;
static pthread_barrier_t barrier;
static pthread_t subject;
static atomic_uint word;
static int fd[2];
static char name[64];
static char byte = 'x';
static uint64_t one = 1;

/* ------------------------------------------------------------------ the maker */

static void (*make_event)(void);
static pthread_t maker;

static void *run_maker(void *arg)
{
	pthread_setname_np(pthread_self(), "maker");
	usleep(SLEEP_US);
	make_event();
	return arg;
}

static void start_maker(void (*event)(void))
{
	make_event = event;
	subject = pthread_self();
	MUST(!pthread_create(&maker, NULL, run_maker, NULL));
}

static pid_t start_process(void (*event)(void))
{
	pid_t child = fork();

	MUST(child >= 0);
	if (child)
		return child;
	usleep(SLEEP_US);
	event();
	_exit(0);
}

static void do_nothing(void) { }
static void post_own(void) { sem_post(&semaphore); }
static void post_shared(void) { sem_post(shared); }
static void wait_at_barrier(void) { pthread_barrier_wait(&barrier); }
static void write_byte(void) { MUST(write(fd[1], &byte, 1) == 1); }
static void write_counter(void) { MUST(write(fd[0], &one, 8) == 8); }
static void signal_thread(void) { pthread_kill(subject, SIGUSR1); }
static void signal_process(void) { kill(getppid(), SIGUSR1); }
static void queue_signal(void) { sigqueue(getpid(), SIGUSR1, (union sigval){ 0 }); }
static void signal_task(void) { tgkill(getpid(), getpid(), SIGUSR1); }

static void wake_futex(void)
{
	atomic_store(&word, 1);
	MUST(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) >= 0);
}

static void send_message(void)
{
	mqd_t queue = mq_open(name, O_WRONLY);

	MUST(queue >= 0 && !mq_send(queue, &byte, 1, 0));
}

static void take_message(void)
{
	mqd_t queue = mq_open(name, O_RDONLY);
	char message[8];

	MUST(queue >= 0 && mq_receive(queue, message, sizeof(message), NULL) == 1);
}

static void post_named(void)
{
	sem_t *other = sem_open(name, 0);

	MUST(other != SEM_FAILED && !sem_post(other));
}

/* ------------------------------------------------------------------ semaphores, futexes */

static void wait_semaphore(void)
{
	MUST(!sem_init(&semaphore, 0, 0));
	start_maker(post_own);
	MUST(!sem_wait(&semaphore));
}

static void wait_semaphore_timed(void)
{
	struct timespec until;

	MUST(!sem_init(&semaphore, 0, 0));
	start_maker(post_own);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 100;
	MUST(!sem_timedwait(&semaphore, &until));
}

static void wait_semaphore_in_vain(void)
{
	struct timespec until;

	MUST(!sem_init(&semaphore, 0, 0));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	MUST(sem_timedwait(&semaphore, &until));
}

static void wait_semaphore_shared(void)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(shared != MAP_FAILED && !sem_init(shared, 1, 0));
	start_process(post_shared);
	MUST(!sem_wait(shared));
	wait(NULL);
}

static void wait_semaphore_named(void)
{
	sem_t *own;

	snprintf(name, sizeof(name), "/posixtrace-why-%d", (int)getpid());
	own = sem_open(name, O_CREAT, 0600, 0);
	MUST(own != SEM_FAILED);
	start_process(post_named);
	MUST(!sem_wait(own));
	sem_unlink(name);
	wait(NULL);
}

static void wait_barrier(void)
{
	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	start_maker(wait_at_barrier);
	pthread_barrier_wait(&barrier);
}

static void wait_futex(void)
{
	start_maker(wake_futex);
	while (!atomic_load(&word))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* ------------------------------------------------------------------ threads and processes */

static void join_thread(void)
{
	start_maker(do_nothing);
	pthread_join(maker, NULL);
	maker = 0;
}

static void wait_child(void)
{
	pid_t child = start_process(do_nothing);

	MUST(waitpid(child, NULL, 0) == child);
}

static void wait_child_id(void)
{
	siginfo_t info;

	start_process(do_nothing);
	MUST(!waitid(P_ALL, 0, &info, WEXITED));
}

/* ------------------------------------------------------------------ signals */

static void on_signal(int number) { (void)number; }

static sigset_t block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return set;
}

static void wait_signal_thread(void)
{
	sigset_t set = block_signals();
	int number;

	start_maker(signal_thread);
	MUST(!sigwait(&set, &number));
}

static void wait_signal_process(void)
{
	sigset_t set = block_signals();
	siginfo_t info;

	start_process(signal_process);
	MUST(sigwaitinfo(&set, &info) == SIGUSR1);
	wait(NULL);
}

static void wait_signal_queued(void)
{
	sigset_t set = block_signals();
	const struct timespec limit = { .tv_sec = 100 };

	start_maker(queue_signal);
	MUST(sigtimedwait(&set, NULL, &limit) == SIGUSR1);
}

static void wait_signal_in_vain(void)
{
	sigset_t set = block_signals();
	const struct timespec limit = { .tv_nsec = 200000000 };

	MUST(sigtimedwait(&set, NULL, &limit) < 0);
}

static void wait_signal_child(void)
{
	sigset_t set = block_signals();

	start_process(do_nothing);
	MUST(sigwaitinfo(&set, NULL) == SIGCHLD);
	wait(NULL);
}

static void wait_signal_alarm(void)
{
	sigset_t set = block_signals();
	const struct itimerval timer = { .it_value.tv_usec = SLEEP_US };
	siginfo_t info;

	MUST(!setitimer(ITIMER_REAL, &timer, NULL));
	MUST(sigwaitinfo(&set, &info) == SIGALRM);
}

static void wait_signal_timer(void)
{
	sigset_t set = block_signals();
	const struct itimerspec time = { .it_value.tv_nsec = SLEEP_US * 1000 };
	timer_t timer;
	int number;

	MUST(!timer_create(CLOCK_MONOTONIC, NULL, &timer));
	MUST(!timer_settime(timer, 0, &time, NULL));
	MUST(!sigwait(&set, &number));
}

static void pause_kill(void)
{
	signal(SIGUSR1, on_signal);
	start_maker(signal_task);
	pause();
}

static void pause_alarm(void)
{
	const struct itimerval timer = { .it_value.tv_usec = SLEEP_US };

	signal(SIGALRM, on_signal);
	MUST(!setitimer(ITIMER_REAL, &timer, NULL));
	pause();
}

static void suspend_child(void)
{
	sigset_t set = block_signals();

	signal(SIGCHLD, on_signal);
	sigemptyset(&set);
	start_process(do_nothing);
	sigsuspend(&set);
	wait(NULL);
}

/* ------------------------------------------------------------------ descriptors */

static void read_pipe(void)
{
	MUST(!pipe(fd));
	start_maker(write_byte);
	MUST(read(fd[0], &byte, 1) == 1);
}

static void read_pair(void)
{
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	start_process(write_byte);
	MUST(read(fd[0], &byte, 1) == 1);
	wait(NULL);
}

static void read_counter(void)
{
	fd[0] = eventfd(0, 0);
	start_maker(write_counter);
	MUST(read(fd[0], &one, 8) == 8);
}

static void read_timer(void)
{
	const struct itimerspec time = { .it_value.tv_nsec = SLEEP_US * 1000 };

	fd[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	MUST(!timerfd_settime(fd[0], 0, &time, NULL));
	MUST(read(fd[0], &one, 8) == 8);
}

static void read_input(void)
{
	MUST(!pipe(fd) && dup2(fd[0], 0) == 0);
	start_maker(write_byte);
	MUST(read(0, &byte, 1) == 1);
}

/* A child ends this process, which is then in a call that does not return. */
static void end_by_signal(void) { kill(getppid(), SIGTERM); }

static void read_stdin(void)
{
	start_process(end_by_signal);
	MUST(read(0, &byte, 1) == 1);
}

static void receive_message(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char message[8];
	mqd_t queue;

	snprintf(name, sizeof(name), "/posixtrace-why-%d", (int)getpid());
	queue = mq_open(name, O_RDONLY | O_CREAT, 0600, &attributes);
	MUST(queue >= 0);
	start_process(send_message);
	MUST(mq_receive(queue, message, sizeof(message), NULL) == 1);
	mq_unlink(name);
	wait(NULL);
}

static void send_message_full(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	mqd_t queue;

	snprintf(name, sizeof(name), "/posixtrace-why-%d", (int)getpid());
	queue = mq_open(name, O_WRONLY | O_CREAT, 0600, &attributes);
	MUST(queue >= 0 && !mq_send(queue, &byte, 1, 0));
	start_process(take_message);
	MUST(!mq_send(queue, &byte, 1, 0));
	mq_unlink(name);
	wait(NULL);
}

static void *hold_file(void *arg)
{
	int other = open(name, O_RDWR);

	pthread_setname_np(pthread_self(), "maker");
	MUST(other >= 0 && !flock(other, LOCK_EX));
	atomic_store(&word, 1);
	usleep(SLEEP_US);
	flock(other, LOCK_UN);
	return arg;
}

static void lock_file(void)
{
	int own;

	snprintf(name, sizeof(name), "/tmp/posixtrace-why-%d", (int)getpid());
	own = open(name, O_RDWR | O_CREAT, 0600);
	MUST(own >= 0 && !pthread_create(&maker, NULL, hold_file, NULL));
	while (!atomic_load(&word))
		sched_yield();
	MUST(!flock(own, LOCK_EX));
	unlink(name);
}

static void lock_record(void)
{
	struct flock whole = { .l_type = F_WRLCK };
	pid_t child;
	int own;

	snprintf(name, sizeof(name), "/tmp/posixtrace-why-%d", (int)getpid());
	own = open(name, O_RDWR | O_CREAT, 0600);
	MUST(own >= 0 && !pipe(fd));
	child = fork();
	if (!child) {
		MUST(!fcntl(own, F_SETLKW, &whole) && write(fd[1], &byte, 1) == 1);
		usleep(SLEEP_US);
		_exit(0);
	}
	MUST(read(fd[0], &byte, 1) == 1);
	MUST(!fcntl(own, F_SETLKW, &whole));
	unlink(name);
	waitpid(child, NULL, 0);
}

/* ------------------------------------------------------------------ several descriptors */

static void poll_pipe(void)
{
	struct pollfd all[2] = { { .fd = 0 }, { .events = POLLIN } };

	MUST(!pipe(fd));
	start_maker(write_byte);
	all[1].fd = fd[0];
	MUST(poll(all, 2, -1) >= 1);
	MUST(read(fd[0], &byte, 1) == 1);
}

static void select_counter(void)
{
	fd_set set;

	fd[0] = eventfd(0, 0);
	start_maker(write_counter);
	FD_ZERO(&set);
	FD_SET(fd[0], &set);
	MUST(select(fd[0] + 1, &set, NULL, NULL, NULL) == 1);
	MUST(read(fd[0], &one, 8) == 8);
}

static void epoll_timer(void)
{
	const struct itimerspec time = { .it_value.tv_nsec = SLEEP_US * 1000 };
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0);

	fd[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	MUST(!epoll_ctl(set, EPOLL_CTL_ADD, fd[0], &event));
	MUST(!timerfd_settime(fd[0], 0, &time, NULL));
	MUST(epoll_wait(set, &event, 1, -1) == 1);
	MUST(read(fd[0], &one, 8) == 8);
}

static void poll_in_vain(void)
{
	MUST(!poll(NULL, 0, 200));
}

static void sleep_on_purpose(void)
{
	const struct timespec time = { .tv_nsec = 200000000 };

	nanosleep(&time, NULL);
}

/* ------------------------------------------------------------------ connections */

static int listen_local(struct sockaddr_in *at, int backlog)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t bytes = sizeof(*at);

	*at = (struct sockaddr_in){ .sin_family = AF_INET };
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(!bind(listener, (struct sockaddr *)at, sizeof(*at)) && !listen(listener, backlog));
	MUST(!getsockname(listener, (struct sockaddr *)at, &bytes));
	return listener;
}

static struct sockaddr_in address;

static void connect_client(void)
{
	int client = socket(AF_INET, SOCK_STREAM, 0);

	MUST(!connect(client, (struct sockaddr *)&address, sizeof(address)));
}

static void accept_client(void)
{
	int listener = listen_local(&address, 5);

	start_process(connect_client);
	MUST(accept(listener, NULL, NULL) >= 0);
	wait(NULL);
}

static void accept_none(void)
{
	int listener;

	start_process(end_by_signal);
	listener = listen_local(&address, 5);
	accept(listener, NULL, NULL);
}

/* The queue of the listener is full, and no thread accepts: the kernel drops the packets. */
static void connect_none(void)
{
	start_process(end_by_signal);
	listen_local(&address, 0);
	for (;;)
		connect_client();
}

/* ------------------------------------------------------------------ waits that do not end */

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *lock_right_first(void *arg)
{
	pthread_setname_np(pthread_self(), "maker");
	pthread_mutex_lock(&right);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&left);
	pthread_mutex_unlock(&left);
	return arg;
}

/* Each of two threads holds the mutex that the other one wants. */
static void stuck_crosswise(void)
{
	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	MUST(!pthread_create(&maker, NULL, lock_right_first, NULL));
	pthread_mutex_lock(&left);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&right);
	/*
	 * The lock must not be the last call: the compiler could make it a jump, which has no
	 * caller.
	 */
	pthread_mutex_unlock(&right);
}

static void stuck_twice(void)
{
	pthread_mutex_lock(&left);
	pthread_mutex_lock(&left);
	pthread_mutex_unlock(&left);
}

static void *write_table(void *arg)
{
	pthread_setname_np(pthread_self(), "maker");
	pthread_mutex_lock(&right);
	pthread_barrier_wait(&barrier);
	pthread_rwlock_rdlock(&table);
	return arg;
}

/* A read-write lock and a mutex. */
static void stuck_table(void)
{
	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	MUST(!pthread_create(&maker, NULL, write_table, NULL));
	pthread_rwlock_wrlock(&table);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&right);
	/*
	 * The lock must not be the last call: the compiler could make it a jump, which has no
	 * caller.
	 */
	pthread_mutex_unlock(&right);
}

static void *lock_left(void *arg)
{
	pthread_setname_np(pthread_self(), "maker");
	pthread_mutex_lock(&left);
	return arg;
}

/* A thread waits for the end of another one, which wants its mutex. */
static void stuck_join(void)
{
	pthread_mutex_lock(&left);
	MUST(!pthread_create(&maker, NULL, lock_left, NULL));
	pthread_join(maker, NULL);
}

static void stuck_condition(void)
{
	pthread_mutex_lock(&left);
	for (;;)
		pthread_cond_wait(&changed, &left);
}

static void stuck_semaphore(void)
{
	MUST(!sem_init(&semaphore, 0, 0));
	sem_wait(&semaphore);
}

static void *take_semaphore(void *arg)
{
	pthread_setname_np(pthread_self(), "maker");
	sem_wait(&semaphore);
	pthread_barrier_wait(&barrier);
	while (arg)
		pause();
	return arg;
}

/* A thread that posts what it takes does not count. 'stays': the other thread does not end. */
static void wait_after_taker(void *stays)
{
	MUST(!sem_init(&semaphore, 0, 1) && !pthread_barrier_init(&barrier, NULL, 2));
	MUST(!sem_wait(&semaphore) && !sem_post(&semaphore));
	MUST(!pthread_create(&maker, NULL, take_semaphore, stays));
	pthread_barrier_wait(&barrier);
	if (!stays)
		pthread_join(maker, NULL);
	sem_wait(&semaphore);
	/* The wait must not be the last call, which the compiler could make a jump. */
	pthread_barrier_destroy(&barrier);
}

static void stuck_taken(void) { wait_after_taker(&semaphore); }
static void stuck_ended(void) { wait_after_taker(NULL); }

/* The thread itself has taken the semaphore. */
static void stuck_own(void)
{
	MUST(!sem_init(&semaphore, 0, 1) && !sem_trywait(&semaphore));
	sem_wait(&semaphore);
	sem_post(&semaphore);
}

/* Both threads of a process wait for each other, by a semaphore and by a condition variable. */
static void *wait_for_post(void *arg)
{
	pthread_setname_np(pthread_self(), "maker");
	sem_wait(&semaphore);
	return arg;
}

static void stuck_stall(void)
{
	MUST(!sem_init(&semaphore, 0, 0));
	MUST(!pthread_create(&maker, NULL, wait_for_post, NULL));
	MUST(!usleep(1000));
	stuck_condition();
}

/* No other process has the pipe: the thread could only write into it itself. */
static void stuck_pipe(void)
{
	MUST(!pipe(fd));
	MUST(read(fd[0], &byte, 1) == 1);
}

static void *feed_pipe(void *arg)
{
	sleep(100000);
	MUST(write(*(int *)arg, "x", 1) == 1);
	return arg;
}

/* Two processes wait for data of each other. If is_fed, another thread of the first will write. */
static void cross_pipes(bool is_fed)
{
	int back[2];

	MUST(!pipe(fd) && !pipe(back));
	if (fork()) {
		MUST(!is_fed || !pthread_create(&maker, NULL, feed_pipe, &back[1]));
		close(fd[1]);
		close(back[0]);
		MUST(read(fd[0], &byte, 1) >= 0);
	} else {
		close(fd[0]);
		close(back[1]);
		MUST(read(back[0], &byte, 1) >= 0);
	}
}

static void stuck_pipes(void)
{
	cross_pipes(false);
}

static void stuck_fed(void)
{
	cross_pipes(true);
}

/* Waits by a system call of the program's own for a word, behind which the bytes of a mutex are. */
static void *wait_likeness(void *arg)
{
	pthread_mutex_t *mutex = arg;

	for (;;)
		syscall(SYS_futex, &mutex->__data.__lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	return arg;
}

static void *wait_likeness_left(void *arg)
{
	right.__data.__owner = (int)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	return wait_likeness(arg);
}

/* Memory that has the bytes of two mutexes, of which each of two threads holds one. */
static void stuck_likeness(void)
{
	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	left.__data.__lock = right.__data.__lock = 2;
	left.__data.__nusers = right.__data.__nusers = 1;
	left.__data.__owner = (int)syscall(SYS_gettid);
	MUST(!pthread_create(&maker, NULL, wait_likeness_left, &left));
	pthread_barrier_wait(&barrier);
	wait_likeness(&right);
}

/* Waits for a word with the number of a thread, as pthread_join() does, but not for its end. */
static void *wait_number(void *arg)
{
	static uint32_t number;

	number = (uint32_t)(uintptr_t)arg;
	for (;;)
		syscall(SYS_futex, &number, FUTEX_WAIT, number, NULL, NULL, 0);
	return arg;
}

static void stuck_number(void)
{
	MUST(!pthread_create(&maker, NULL, wait_number, (void *)syscall(SYS_gettid)));
	pthread_join(maker, NULL);
}

/* As stuck_crosswise(), but the waits have a time limit. */
static void *lock_right_timed(void *arg)
{
	const struct timespec until = { .tv_sec = INT32_MAX };

	pthread_mutex_lock(&right);
	pthread_barrier_wait(&barrier);
	MUST(!pthread_mutex_timedlock(&left, &until));
	return arg;
}

static void stuck_timed(void)
{
	const struct timespec until = { .tv_sec = INT32_MAX };

	MUST(!pthread_barrier_init(&barrier, NULL, 2));
	MUST(!pthread_create(&maker, NULL, lock_right_timed, NULL));
	pthread_mutex_lock(&left);
	pthread_barrier_wait(&barrier);
	MUST(!pthread_mutex_timedlock(&right, &until));
}

/* As stuck_crosswise(), with robust mutexes, or mutexes with priority inheritance. */
static void stuck_attributes(bool is_robust)
{
	pthread_mutexattr_t attributes;

	MUST(!pthread_mutexattr_init(&attributes));
	if (is_robust)
		MUST(!pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
	else
		MUST(!pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
	MUST(!pthread_mutex_init(&left, &attributes));
	MUST(!pthread_mutex_init(&right, &attributes));
	stuck_crosswise();
}

static void stuck_robust(void)
{
	stuck_attributes(true);
}

static void stuck_inherit(void)
{
	stuck_attributes(false);
}

static void stuck_accept(void)
{
	MUST(accept(listen_local(&address, 5), NULL, NULL) >= 0);
}

/* The server accepts no connection, so it sends nothing. */
static void stuck_receive(void)
{
	int client = socket(AF_INET, SOCK_STREAM, 0);

	listen_local(&address, 5);
	MUST(!connect(client, (struct sockaddr *)&address, sizeof(address)));
	MUST(recv(client, &byte, 1, 0) >= 0);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "sem", wait_semaphore }, { "sem-timed", wait_semaphore_timed },
	{ "sem-vain", wait_semaphore_in_vain }, { "sem-shared", wait_semaphore_shared },
	{ "sem-named", wait_semaphore_named }, { "barrier", wait_barrier },
	{ "futex", wait_futex }, { "join", join_thread }, { "waitpid", wait_child },
	{ "waitid", wait_child_id }, { "sigwait", wait_signal_thread },
	{ "sigwaitinfo", wait_signal_process }, { "sigtimedwait", wait_signal_queued },
	{ "sig-vain", wait_signal_in_vain }, { "sig-child", wait_signal_child },
	{ "sig-alarm", wait_signal_alarm }, { "sig-timer", wait_signal_timer },
	{ "pause", pause_kill }, { "pause-alarm", pause_alarm }, { "sigsuspend", suspend_child },
	{ "pipe", read_pipe }, { "pair", read_pair }, { "eventfd", read_counter },
	{ "timerfd", read_timer }, { "input", read_input }, { "stdin", read_stdin },
	{ "mq-receive", receive_message }, { "mq-send", send_message_full },
	{ "flock", lock_file }, { "fcntl", lock_record }, { "poll", poll_pipe },
	{ "select", select_counter }, { "epoll", epoll_timer }, { "poll-vain", poll_in_vain },
	{ "nanosleep", sleep_on_purpose }, { "accept", accept_client },
	{ "accept-none", accept_none }, { "connect-none", connect_none },
	{ "stuck-crosswise", stuck_crosswise }, { "stuck-twice", stuck_twice },
	{ "stuck-table", stuck_table }, { "stuck-join", stuck_join },
	{ "stuck-condition", stuck_condition }, { "stuck-semaphore", stuck_semaphore },
	{ "stuck-stall", stuck_stall }, { "stuck-taken", stuck_taken },
	{ "stuck-ended", stuck_ended }, { "stuck-own", stuck_own },
	{ "stuck-pipe", stuck_pipe }, { "stuck-pipes", stuck_pipes },
	{ "stuck-fed", stuck_fed }, { "stuck-likeness", stuck_likeness },
	{ "stuck-number", stuck_number }, { "stuck-timed", stuck_timed },
	{ "stuck-robust", stuck_robust }, { "stuck-inherit", stuck_inherit },
	{ "stuck-accept", stuck_accept }, { "stuck-receive", stuck_receive },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			/* The maker's last event is recorded before the process ends. */
			if (maker)
				pthread_join(maker, NULL);
			return 0;
		}
	for (size_t i = 0; argc == 1 && i < sizeof(cases) / sizeof(*cases); i++)
		puts(cases[i].name);
	return argc == 1 ? 0 : 2;
}
