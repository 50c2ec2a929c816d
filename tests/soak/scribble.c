/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scribble.c - one side writes anything into the memory that it shares with the other, while that is at
 * work: scribble WRITES [SEED [ROUND]]
 *
 * In rounds, each with a fresh target and a fresh controller. In every other one the target scribbles
 * and the controller reads, asks, looks on, writes logs, and is killed, so that a guardian goes on. In the
 * others the controller scribbles and the threads of the target trace, open names, fork and trace
 * themselves. Nobody may crash or hang, and what is read must be events. A fault names the seed and the
 * round: with both, that round alone is done again. Prints one line.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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

#include "arena/attachment.h"

#define WRITES_A_ROUND 500
#define STEPS          400 /* of who does not scribble, at least */
#define STEPS_MOST     20000
#define TRACERS        2
#define PATIENCE_S     100 /* far more than any round takes */

static struct shared {
	_Atomic int ready;  /* the target is there; the controller's streams are */
	_Atomic bool done;  /* scribbling */
	_Atomic bool end;   /* the target may go */
	_Atomic unsigned long events, refused, faults;
} *shared;

static uint64_t seed, state;
static unsigned long this_round;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static unsigned below(uint64_t n)
{
	return (unsigned)((any() >> 11) % n);
}

static void seed_with(uint64_t number)
{
	state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < 8; i++)
		any();
}

static void blame(const char *who, const char *what, long detail)
{
	fprintf(stderr, "scribble: seed %llu round %lu: %s %s %ld\n", (unsigned long long)seed,
		this_round, who, what, detail);
	atomic_fetch_add(&shared->faults, 1);
}

static void await(_Atomic int *word, int value)
{
	while (atomic_load(word) < value)
		usleep(200);
}

/* Where anything is written. */

struct arena_seen {
	unsigned char *control; /* and names, and all up to the first region */
	unsigned char *region;
	struct ptx_geometry geometry;
};

static bool see(int fd, struct arena_seen *seen)
{
	const struct ptx_control *control;
	struct ptx_arena arena = { .bytes = UINT64_C(1) << 40 };
	struct ptx_attachment_plan plan;

	seen->control = mmap(NULL, PTX_REGIONS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (seen->control == MAP_FAILED)
		return false;
	control = (const void *)seen->control;
	arena.control = (struct ptx_control *)(void *)seen->control;
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		if (ptx_attachment_state(atomic_load(&control->attachment[bit].word)) !=
			    PTX_ATTACHMENT_ATTACHED ||
		    !ptx_attachment_plan(&arena, bit, &plan))
			continue;
		seen->geometry = plan.geometry;
		seen->region = mmap(NULL, plan.geometry.bytes, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_NORESERVE, fd, (off_t)plan.offset);
		return seen->region != MAP_FAILED;
	}
	return false;
}

static unsigned char *record_header(const struct arena_seen *seen, bool of_chunk)
{
	unsigned char *chunk = seen->region + seen->geometry.chunks_at +
			       (size_t)below(seen->geometry.chunks) * seen->geometry.chunk_bytes;

	if (of_chunk)
		return chunk + 8 * below(sizeof(struct ptx_chunk) / 8);
	return chunk + sizeof(struct ptx_chunk) + 8 * below(below(2) ? 32 : seen->geometry.chunk_room / 8);
}

/* Each part as often as any other, however small it is. */
static unsigned char *somewhere(const struct arena_seen *seen)
{
	const struct ptx_geometry *g = &seen->geometry;
	const struct { size_t at, bytes; } part[] = {
		{ 0, sizeof(struct ptx_region) },
		{ 0, offsetof(struct ptx_region, lost_type) },
		{ g->words_at, g->chunks * 8 },
		{ g->claimed_at, g->chunks * 8 },
		{ g->rings_at, 20 * sizeof(struct ptx_ring) },
		{ g->slots_at, 20 * sizeof(struct ptx_slot) },
		{ g->hints_at, 3 * ((size_t)g->hint_mask + 1) * 8 },
		{ g->checkpoint_at, 512 },
	};
	unsigned which = below(16);

	switch (which) {
	case 8:
		return seen->control + 8 * below(offsetof(struct ptx_control, attachment) / 8);
	case 9:
		return seen->control + offsetof(struct ptx_control, attachment) +
		       8 * below(4 * sizeof(struct ptx_attachment) / 8);
	case 10:
		return seen->control + offsetof(struct ptx_control, member) +
		       8 * below(8 * sizeof(struct ptx_member) / 8);
	case 11:
		return seen->control + PTX_NAMES_AT + 8 * below(2048);
	case 12:
		return seen->control + 8 * below(PTX_REGIONS_AT / 8);
	case 13:
		return record_header(seen, true);
	case 14:
	case 15:
		return record_header(seen, false);
	default:
		return seen->region + part[which].at + 8 * below(part[which].bytes / 8);
	}
}

static void write_anything(const struct arena_seen *seen)
{
	_Atomic uint64_t *word = (void *)somewhere(seen);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed), fresh;

	switch (below(8)) {
	case 0:
		fresh = any();
		break;
	case 1:
		fresh = below(0x10000);
		break;
	case 2:
		fresh = UINT64_MAX;
		break;
	case 3:
		fresh = 0;
		break;
	case 4:
		fresh = old ^ UINT64_C(1) << below(64);
		break;
	case 5:
		fresh = old + below(17) - 8;
		break;
	case 6: /* half a word */
		fresh = (old & ~UINT64_C(0xffffffff)) | (any() & UINT64_C(0xffffffff));
		break;
	default: /* of some other place, where it made sense */
		fresh = atomic_load_explicit((_Atomic uint64_t *)(void *)somewhere(seen),
					     memory_order_relaxed);
	}
	atomic_store_explicit(word, fresh, memory_order_relaxed);
}

static void scribble(int fd)
{
	struct arena_seen seen;

	if (fd < 0 || !see(fd, &seen)) {
		blame("scribbler", "finds no stream", fd);
		return;
	}
	for (int i = 0; i < WRITES_A_ROUND; i++) {
		write_anything(&seen);
		if (below(8) == 0)
			usleep(below(100));
	}
}

/* The controller's side. */

static void check_event(const struct posix_trace_event_info *info, size_t len, size_t room)
{
	if (info->posix_event_id == 0 || info->posix_event_id >= 1024 || len > room)
		blame("reader", "was given an event of type", (long)info->posix_event_id);
	atomic_fetch_add(&shared->events, 1);
}

static void note(int err)
{
	if (err)
		atomic_fetch_add(&shared->refused, 1);
}

static void read_some(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	int unavailable;
	size_t len;

	for (unsigned n = below(300); n; n--) {
		int err = posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						       &unavailable);

		note(err);
		if (err || unavailable)
			return;
		check_event(&info, len, sizeof(data));
	}
}

static void wait_a_little(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	struct timespec until;
	int unavailable;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (posix_trace_timedgetnext_event(trid, &info, data, sizeof(data), &len, &unavailable,
					   &until) == 0 &&
	    !unavailable)
		check_event(&info, len, sizeof(data));
}

static void list_names(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable = 0;

	note(posix_trace_eventtypelist_rewind(trid));
	for (int n = 0; n < 2000 && !unavailable; n++) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) || unavailable)
			return;
		if (posix_trace_eventid_get_name(trid, id, name) == 0 &&
		    strnlen(name, sizeof(name)) == sizeof(name))
			blame("controller", "was given a name without an end, of", (long)id);
	}
}

static void ask(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct posix_trace_ledger_np ledger;
	struct posix_trace_thread_np thread;
	trace_event_set_t set;
	trace_attr_t attr;
	int unavailable;

	note(posix_trace_get_status(trid, &status));
	note(posix_trace_get_ledger_np(trid, &ledger));
	note(posix_trace_get_ledger_type_np(trid, 64, &ledger));
	note(posix_trace_get_ledger_thread_np(trid, below(4), &thread, &ledger, &unavailable));
	note(posix_trace_get_filter(trid, &set));
	if (posix_trace_get_attr(trid, &attr) == 0)
		posix_trace_attr_destroy(&attr);
}

static void seen_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	if (strnlen(stream->name, sizeof(stream->name)) == sizeof(stream->name))
		blame("onlooker", "was given a name without an end", 0);
}

static void change(trace_id_t trid)
{
	trace_event_set_t set;
	trace_event_id_t id;
	char name[16];

	snprintf(name, sizeof(name), "c%u", below(600));
	note(posix_trace_trid_eventid_open(trid, name, &id));
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(64 + below(4), &set);
	note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	posix_trace_eventset_empty(&set);
	note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static int new_stream(pid_t target, int log, trace_id_t *trid)
{
	static const int policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
	trace_attr_t attr;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, policy[below(log < 0 ? 2 : 3)]);
	posix_trace_attr_setstreamsize(&attr, 1u << (12 + below(7)));
	posix_trace_attr_setinherited(&attr, below(2) ? POSIX_TRACE_INHERITED :
							POSIX_TRACE_CLOSE_FOR_CHILD);
	err = log < 0 ? posix_trace_create(target, &attr, trid) :
			posix_trace_create_withlog(target, &attr, log, trid);
	posix_trace_attr_destroy(&attr);
	return err;
}

static void step_of_controller(pid_t target, trace_id_t trid, bool has_log)
{
	trace_id_t other;

	switch (below(has_log ? 8 : 12)) {
	case 0:
		ask(trid);
		break;
	case 1:
		list_names(trid);
		break;
	case 2:
		note(posix_trace_stop(trid));
		note(posix_trace_start(trid));
		break;
	case 3:
		change(trid);
		break;
	case 4:
		posix_trace_look_np(target, seen_stream, NULL);
		break;
	case 5:
		if (below(4) == 0 && new_stream(target, -1, &other) == 0) {
			note(posix_trace_start(other));
			read_some(other);
			note(posix_trace_shutdown(other));
		}
		break;
	case 6:
		note(has_log ? posix_trace_flush(trid) : 0);
		break;
	case 7:
		if (below(16) == 0)
			note(posix_trace_clear(trid));
		break;
	case 8:
		wait_a_little(trid);
		break;
	default:
		read_some(trid);
	}
}

/* Descriptor 200 of a process is its arena; the first from there on that is one. */
static int open_arena(pid_t pid)
{
	char path[64];
	int fd = -1;

	for (int n = PTX_ARENA_FD_MIN; fd < 0 && n < PTX_ARENA_FD_MIN + 8; n++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, n);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	return fd;
}

static void __attribute__((noreturn)) control(pid_t target, bool scribbles, int log)
{
	trace_id_t trid;

	await(&shared->ready, 1);
	if (new_stream(target, log, &trid) || posix_trace_start(trid)) {
		blame("controller", "has no stream of", (long)target);
		_exit(0);
	}
	atomic_store(&shared->ready, 2);
	if (scribbles) {
		usleep(2000);
		scribble(open_arena(target));
		atomic_store(&shared->done, true);
	} else {
		for (int n = 0; n < STEPS_MOST && (n < STEPS || !atomic_load(&shared->done)); n++)
			step_of_controller(target, trid, log >= 0);
	}
	if (below(2)) {
		atomic_store(&shared->end, true);
		kill(getpid(), SIGKILL);
	}
	posix_trace_shutdown(trid);
	atomic_store(&shared->end, true);
	_exit(0);
}

/* The target's side. */

static void trace_in_child(trace_event_id_t type)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		for (int i = 0; i < 20; i++)
			posix_trace_event(type, &i, sizeof(i));
		_exit(0);
	}
	if (child > 0 && (waitpid(child, &status, 0) != child || status))
		blame("child of the target", "ended with status", status);
}

static void trace_itself(void)
{
	trace_id_t trid;

	if (posix_trace_create(0, NULL, &trid))
		return;
	posix_trace_start(trid);
	read_some(trid);
	posix_trace_shutdown(trid);
}

static void *trace(void *argument)
{
	unsigned char data[5000] = { 0 };
	trace_event_id_t type = 0;
	unsigned life = (unsigned)(uintptr_t)argument;

	posix_trace_eventid_open("u", &type);
	for (unsigned n = 0; n < 200 * STEPS_MOST && !atomic_load(&shared->end); n++) {
		life = life * 1103515245 + 12345;
		posix_trace_event(type, data, life / 65536 % 64 == 0 ? life / 65536 % sizeof(data) :
								       life / 65536 % 48);
		if (n % 64 == 0)
			usleep(50);
	}
	return NULL;
}

static void __attribute__((noreturn)) be_traced(bool scribbles)
{
	pthread_t tracer[TRACERS];
	trace_event_id_t type;
	char name[16];

	if (posix_trace_eventid_open("u", &type))
		_exit(1);
	for (uintptr_t i = 0; i < TRACERS; i++)
		if (pthread_create(&tracer[i], NULL, trace, (void *)(i + 1)))
			_exit(1);
	atomic_store(&shared->ready, 1);
	await(&shared->ready, 2);
	if (scribbles) {
		usleep(2000);
		scribble(open_arena(getpid()));
		atomic_store(&shared->done, true);
	}
	for (int n = 0; n < STEPS_MOST && !atomic_load(&shared->end); n++) {
		snprintf(name, sizeof(name), "t%u", below(600));
		posix_trace_eventid_open(name, &type);
		posix_trace_event(type, &n, sizeof(n));
		if (!scribbles && n % 50 == 10)
			trace_in_child(type);
		if (!scribbles && n % 50 == 30)
			trace_itself();
		usleep(100);
	}
	for (int i = 0; i < TRACERS; i++)
		pthread_join(tracer[i], NULL);
	_exit(0);
}

/* A round. */

static void judge(const char *who, int status, bool may_be_killed)
{
	if (WIFSIGNALED(status) && !(may_be_killed && WTERMSIG(status) == SIGKILL))
		blame(who, "died of signal", WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		blame(who, "ended with status", WEXITSTATUS(status));
}

/* Its last descendant too; a guardian may find that there is nothing to be done. */
static void bury_all(pid_t target, pid_t controller)
{
	time_t end = time(NULL) + PATIENCE_S;
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
		if (pid == 0 && time(NULL) > end) {
			blame("somebody", "hangs after seconds", PATIENCE_S);
			kill(target, SIGABRT);
			kill(controller, SIGABRT);
			end = INT64_MAX;
		}
	}
}

static void check_log(int log)
{
	struct posix_trace_check_np result;

	/* Whatever it says: it is not to crash. */
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
		log = memfd_create("log", MFD_CLOEXEC);
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
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	for (unsigned long i = 0; i < rounds; i++)
		run_round(first + i);
	printf("SOAK scribble seed=%llu rounds=%lu writes=%lu events=%lu refused=%lu faults=%lu\n",
	       (unsigned long long)seed, rounds, rounds * WRITES_A_ROUND, atomic_load(&shared->events),
	       atomic_load(&shared->refused), atomic_load(&shared->faults));
	return atomic_load(&shared->faults) != 0;
}
