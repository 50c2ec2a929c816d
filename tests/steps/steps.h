/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.h - an action on a thread at every instruction of posix_trace_event() and of
 * posix_trace_event_since_np().
 *
 * A try: a new process, the target, prepares itself so that its next call follows a given path. The
 * controller steps it with ptrace to the n-th instruction of that call and performs an action
 * there. Then the target continues and records more events, and the controller checks the account.
 *
 *	target.c   the process that is stepped
 *	lead.c     steps it: records the instructions of a path, and stops at one of them
 *	count.c    reads streams and logs, and compares the events with those of the target
 *	account.c  compares the ledger with the target's events and with those that were read
 *	path.c     the paths of a call
 *	try.c      a try
 *	action.c   the actions
 *	steps.c    all paths and all actions; the table
 */
#ifndef PTX_TESTS_STEPS_H
#define PTX_TESTS_STEPS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace_np.h>

#define STREAMS   4
#define OWN_LOG_DATA 64 /* bytes of an event */
/* Size of the stream: smaller than the events before the call, so that chunks are used again. */
#define OWN_LOG_SIZE 100000
#define AFTERWARDS 5 /* events that the target records after the tested call */

/*
 * The sources of events. Each has event types of its own; MAIN uses MAIN_TYPES in turn, which are
 * the first.
 */
enum maker { MAIN, HANDLER, HELPER, CHILD, MAKERS };
#define MAIN_TYPES 3
#define TYPES      (MAIN_TYPES + MAKERS - 1)

/* The places where a target stops by itself. */
enum stop { STOP_READY = 0x501, STOP_BEFORE, STOP_AFTER, STOP_DONE };

/*
 * The action of the target's handler. DEED_FORK_TRACE: in the child, another handler traces after
 * each instruction.
 */
enum deed { DEED_TRACE, DEED_FORK, DEED_FORK_TRACE, DEED_JUMP };

/*
 * The task of the target's second thread. ORDER_CALL: the try's call on streams that this thread
 * owns.
 */
enum order { ORDER_NONE, ORDER_TRACE, ORDER_CALL, ORDER_END };

/* The reason why the stream does not record events when the call begins. */
enum held { HELD_NOT, HELD_STOPPED, HELD_FILTERED };

struct stream_kind {
	int policy; /* 0: no such stream */
	bool log;
	size_t max_data;
	bool inherited;
	bool filtered; /* MAIN's types are filtered */
};

#define CALL_BYTES(bytes) ((bytes) + 1) /* for call_bytes, in which 0 means the default */

struct path {
	const char *name;
	struct stream_kind stream[STREAMS];
	size_t bytes;      /* of MAIN's events; the first 8 contain maker and number */
	size_t call_bytes; /* of the tested event, as CALL_BYTES(); 0: the same */
	unsigned prepare;  /* number of events before the call */
	bool longest;      /* the call is the longest of the following ones: it switches chunks */
	bool until_full;   /* records as many events as the stream holds, then prepare events */
	bool stranger;     /* another thread had the ring before this one */
	bool waiter;       /* a reader sleeps */
	bool sibling;      /* another process has inherited the streams and is alive */
	/* the target's own stream, with a log and its guardian, instead of others */
	bool own_log;
	/* the streams are the target's own, its second thread is their controller */
	bool own;
	bool since;        /* MAIN's events have a duration, and bytes behind it */
	enum held held;    /* after the events before the call */
	bool held_first;   /* no: since the stream was created */
};
extern const struct path paths[];
extern const unsigned path_count;

/* target.c: never returns */
void target_run(const struct path *path, unsigned prepare, bool helper) __attribute__((noreturn));
/* Makes the bytes of an event. If there are 8 or more, they contain maker and number. */
void target_payload(unsigned char *data, size_t len, enum maker maker, uint64_t number);
unsigned target_type(enum maker maker, uint64_t number);

/* lead.c */
struct way {
	uint32_t count;     /* number of instructions */
	uint64_t *address;  /* of each */
	uint32_t *lead;     /* index of the last one, up to this, that is an address's first
			     * visit */
	uint8_t *seen;      /* number of earlier visits of the address, at most 255 */
	uint64_t end;       /* the address after the last instruction */
};
pid_t lead_start(const struct path *path, unsigned prepare, bool helper);
/*
 * Continues to the next stop of the target itself. Returns 0 if the process has ended. signal as
 * for ptrace.
 */
int lead_on(pid_t pid, int signal);
/* Records all instructions from STOP_BEFORE to STOP_AFTER. */
void lead_record(pid_t pid, struct way *way);
/*
 * Steps from STOP_BEFORE to instruction n. Returns false if the target followed another path.
 * by_steps: without breakpoints. alone: no other thread of the target stops at one meanwhile.
 */
bool lead_to(pid_t pid, const struct way *way, uint32_t n, bool alone, bool by_steps);
void lead_free(struct way *way);
void lead_kill(pid_t pid, bool wait);
void lead_reap(pid_t pid);

/* count.c: the events of one stream. */
struct count {
	trace_id_t trid;
	pid_t pid;   /* of the target */
	int fd;      /* of the log, -1 = none */
	bool stored; /* trid is the opened log */
	size_t max_data;
	/* By type: bounds for the number of members, by the counts of the target. */
	uint64_t low[TYPES], high[TYPES];
	uint64_t out[TYPES];    /* recorded while the stream was stopped, filtered or not created */
	uint64_t unsure[TYPES]; /* in progress when it stopped or was created */
	uint64_t mark[TYPES];   /* begun when it stopped */
	bool held;              /* it has not continued since */
	bool loop, may_lose;
	bool since;
	bool controls;   /* the stepped thread is also the stream's controller */
	uint64_t system; /* events of no type of the target's */
	bool broken_off;   /* a writer ended inside a count: its event may be counted for another
			    * thread */
	bool whole_suffix; /* LOOP without reads before the end: the youngest events remain */
	uint64_t read_all, read[TYPES];
	uint64_t first[MAKERS], next[MAKERS]; /* numbers */
	bool hole[MAKERS];
};

bool count_read(struct count *count);    /* reads one event, without waiting; false: there is
					  * none */
bool count_wait(struct count *count);    /* reads one event, and waits for it */
void count_close(struct count *count);   /* reads all events and checks the account */
void count_log(struct count *count);     /* does the same with a completed log */

/* account.c: checks the account when all was read and no thread is inside a call; */
void account_close(struct count *count);
/* or while the thread is stopped at its instruction. */
void account_under_way(struct count *count);
/* Returns the index of the type in share; TYPES: no type of the target. */
unsigned account_type(trace_event_id_t id);

/* try.c */
struct try {
	const struct path *path;
	pid_t pid; /* of the target, 0 = reaped */
	uint32_t n;
	unsigned streams;
	bool killed; /* the target */
	bool jumped; /* by longjmp() out of the call */
	bool forked; /* the child completed the call, too */
	bool is_running; /* the first stream */
	struct posix_trace_ledger_np ledger; /* of the first stream */
	struct count count[STREAMS];
	/* A thread that waits for an event when the call begins. */
	bool waits;
	struct {
		pthread_t thread;
		_Atomic pid_t tid;
	} waiter;
};

/* Memory of the target, its child and the controller. */
struct share {
	_Atomic uint64_t number[MAKERS]; /* calls that were begun */
	_Atomic uint64_t made[TYPES];    /* events that were begun */
	_Atomic uint64_t done[TYPES];    /* events whose call has returned */
	_Atomic unsigned called;         /* the type of the tested call */
	_Atomic int deed;
	_Atomic int order;
	_Atomic unsigned order_count;
	void (*order_call)(struct try *try);
	_Atomic int child_ok, child_status;
	_Atomic int child_waits, parent_is_on; /* the child continues when its parent has
					        * continued */
	_Atomic int helper_tid;
	int log_fd; /* the log of a target's own stream */
	trace_event_id_t type[TYPES];
	char complaint[400]; /* the first */
	struct try try;      /* the owner of its streams and the controller use the same copy */
};
extern struct share *share;

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct action;
/*
 * Calls the function in the owner of the streams: this process, or the target's second thread while
 * the first is stopped. If the call waits for the stopped thread, it never ends: after a time
 * limit, the try reports this and ends.
 */
void try_by_owner(struct try *try, void (*call)(struct try *try));
void try_order(struct try *try, enum order order);
/* These are called by the owner: */
void try_open(struct try *try);  /* creates the streams of the path, on the target */
void try_close(struct try *try); /* checks the accounts and shuts everything down */
void try_each(struct try *try, const char *what, int (*call)(trace_id_t));
void try_filter(struct try *try, bool main_types);
/* Continues to the target's end, or to its next stop. */
void try_go_on(struct try *try, int signal);
/* From here on no event is a member of a stream, except perhaps one in progress, */
void try_mark(struct try *try);
/* until here. */
void try_out(struct try *try, unsigned stream);
/*
 * No event up to here was a member since the stream was held or created, except perhaps one in
 * progress.
 */
void try_came(struct try *try);
/* Computes which of all events were members of the stream. */
void try_settle(struct try *try, unsigned stream);
/* Complains about an error of a call. */
void must(const char *what, int err);
/* Runs one try; action NULL: without an action. Returns false if the call followed another path. */
bool try_one(const struct path *path, unsigned prepare, const struct action *action,
	     const struct way *way, uint32_t n);
/*
 * Records the instructions of the call and, unless lost is NULL, how many events before it found
 * the stream full.
 */
void try_record(const struct path *path, unsigned prepare, struct way *way, uint64_t *lost);

/* action.c */
struct action {
	const char *name;
	bool helper;
	bool (*applies)(const struct path *path);
	void (*act)(struct try *try); /* runs until the target is at STOP_DONE, or has ended */
};
extern const struct action actions[];
extern const unsigned action_count;

#endif
