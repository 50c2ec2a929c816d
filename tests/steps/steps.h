/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steps.h - something happens to a thread at every instruction of posix_trace_event().
 *
 * A try: a fresh process, the target, prepares itself so that its next call goes the way that is
 * looked at (a path), and is led by ptrace to the n-th instruction of that call. There something
 * is done (an action); then it goes on, traces some more, and the account is looked at.
 *
 *	target.c   the process that is led
 *	lead.c     leading it: what instructions a path has, and stopping at one of them
 *	count.c    reading streams and logs: is it what the target traced
 *	account.c  whether the ledger agrees with what the target did, and with what was read
 *	path.c     the ways that a call can take
 *	try.c      a try
 *	action.c   what happens there
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
/* Of the stream: less than is recorded before, so that chunks are used again. */
#define OWN_LOG_SIZE 100000
#define AFTERWARDS 5 /* events that the target traces behind the call that is looked at */

/*
 * Who traces; each by event types of its own, MAIN by MAIN_TYPES of them in turn, which come first.
 */
enum maker { MAIN, HANDLER, HELPER, CHILD, MAKERS };
#define MAIN_TYPES 3
#define TYPES      (MAIN_TYPES + MAKERS - 1)

/* Where a target stops by itself. */
enum stop { STOP_READY = 0x501, STOP_BEFORE, STOP_AFTER, STOP_DONE };

/*
 * What the target's handler does; DEED_FORK_TRACE: another traces in the child behind each
 * instruction.
 */
enum deed { DEED_TRACE, DEED_FORK, DEED_FORK_TRACE, DEED_JUMP };

/*
 * What the target's second thread does; ORDER_CALL: what a try does to streams, where it is their
 * owner.
 */
enum order { ORDER_NONE, ORDER_TRACE, ORDER_CALL, ORDER_END };

/* What keeps the events from a stream when the call begins. */
enum held { HELD_NOT, HELD_STOPPED, HELD_FILTERED };

struct stream_kind {
	int policy; /* 0: there is none */
	bool log;
	size_t max_data;
	bool inherited;
	bool filtered; /* MAIN's types are */
};

#define CALL_BYTES(bytes) ((bytes) + 1) /* for call_bytes, where 0 says nothing */

struct path {
	const char *name;
	struct stream_kind stream[STREAMS];
	size_t bytes;      /* of MAIN's events; the first 8 say whose it is */
	size_t call_bytes; /* of the one that is looked at, by CALL_BYTES(); 0: the same */
	unsigned prepare;  /* events before it */
	bool longest;      /* of the next calls from there on it is the longest: one that turns */
	bool until_full;   /* as many as the stream holds, then so many */
	bool stranger;     /* another thread had the ring before */
	bool waiter;       /* a reader sleeps */
	bool sibling;      /* another process has inherited the streams, and is there */
	/* the target's own stream, with a log and its guardian, instead of others */
	bool own_log;
	/* the streams are the target's own, its second thread is their controller */
	bool own;
	enum held held;    /* after the events before the call */
	bool held_first;   /* no, since it is there */
};
extern const struct path paths[];
extern const unsigned path_count;

/* target.c: never returns */
void target_run(const struct path *path, unsigned prepare, bool helper) __attribute__((noreturn));
/* The bytes of an event; at least 8 of them tell maker and number. */
void target_payload(unsigned char *data, size_t len, enum maker maker, uint64_t number);
unsigned target_type(enum maker maker, uint64_t number);

/* lead.c */
struct way {
	uint32_t count;     /* of instructions */
	uint64_t *address;  /* of each */
	uint32_t *lead;     /* the last one up to it that is reached there for the first time */
	uint8_t *seen;      /* so often the address came before, at most 255 */
	uint64_t end;       /* what follows the last one */
};
pid_t lead_start(const struct path *path, unsigned prepare, bool helper);
/* Goes on to the next stop of its own; 0: the process has ended. signal as for ptrace. */
int lead_on(pid_t pid, int signal);
/* From STOP_BEFORE to STOP_AFTER, all instructions. */
void lead_record(pid_t pid, struct way *way);
/*
 * From STOP_BEFORE to instruction n; false: it went another way. by_steps: without breakpoints.
 * alone: no other thread of the target runs into one meanwhile.
 */
bool lead_to(pid_t pid, const struct way *way, uint32_t n, bool alone, bool by_steps);
void lead_free(struct way *way);
void lead_kill(pid_t pid, bool wait);
void lead_reap(pid_t pid);

/* count.c: of one stream. */
struct count {
	trace_id_t trid;
	pid_t pid;   /* of the target */
	int fd;      /* of the log, -1 = none */
	bool stored; /* trid is the opened log */
	size_t max_data;
	/* By type, as the target counted them: so many events are the stream's members. */
	uint64_t low[TYPES], high[TYPES];
	uint64_t out[TYPES];    /* made while it was stopped or not there */
	uint64_t unsure[TYPES]; /* under way when it stopped or came */
	uint64_t mark[TYPES];   /* made when it stopped */
	bool held;              /* it has not gone on since */
	bool loop, may_lose;
	bool controls;   /* the thread that is led is the stream's controller, too */
	uint64_t system; /* events of no type of the target's */
	bool broken_off;   /* a writer was: what he was counting may be put down to another */
	bool whole_suffix; /* LOOP, and nothing was read before the end: the youngest is left */
	uint64_t read_all, read[TYPES];
	uint64_t first[MAKERS], next[MAKERS]; /* numbers */
	bool hole[MAKERS];
};

bool count_read(struct count *count);    /* one event, without waiting; false: there is none */
bool count_wait(struct count *count);    /* one event, waiting for it */
void count_close(struct count *count);   /* reads all; the account is looked at */
void count_log(struct count *count);     /* the same of a log that was completed */

/* account.c: all was read, and nobody is about anything; */
void account_close(struct count *count);
/* or the thread stands at its instruction. */
void account_under_way(struct count *count);
/* The type's place in share; TYPES: none of the target's. */
unsigned account_type(trace_event_id_t id);

/* try.c */
struct try {
	const struct path *path;
	pid_t pid; /* of the target, 0 = reaped */
	uint32_t n;
	unsigned streams;
	bool killed; /* the target */
	bool jumped; /* out of the call */
	bool forked; /* the child ended the call, too */
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

/* Between the target, its child and the controller. */
struct share {
	_Atomic uint64_t number[MAKERS]; /* calls that were begun */
	_Atomic uint64_t made[TYPES];    /* likewise */
	_Atomic uint64_t done[TYPES];    /* and those that have returned */
	_Atomic unsigned called;         /* the type of the call that is looked at */
	_Atomic int deed;
	_Atomic int order;
	_Atomic unsigned order_count;
	void (*order_call)(struct try *try);
	_Atomic int child_ok, child_status;
	_Atomic int child_waits, parent_is_on; /* a child goes on when its parent has */
	_Atomic int helper_tid;
	int log_fd; /* where a target's own stream has its log */
	trace_event_id_t type[TYPES];
	char complaint[400]; /* the first */
	struct try try;      /* of that streams' owner and the one that leads know the same */
};
extern struct share *share;

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct action;
/*
 * By the streams' owner: this process, or the target's second thread while the first stands where
 * it is. Who waits for that one waits in vain: after a while this is said, and the try is over.
 */
void try_by_owner(struct try *try, void (*call)(struct try *try));
void try_order(struct try *try, enum order order);
/* By the owner: */
void try_open(struct try *try);  /* the streams of the path, on the target */
void try_close(struct try *try); /* the accounts, and all is shut down */
void try_each(struct try *try, const char *what, int (*call)(trace_id_t));
void try_filter(struct try *try, bool main_types);
/* Up to the target's end, or to the next one. */
void try_go_on(struct try *try, int signal);
/* From here on no event is a stream's member, but what is under way may be; */
void try_mark(struct try *try);
/* up to here. */
void try_out(struct try *try, unsigned stream);
/* None was up to here since it was held, or at all; what is under way may be. */
void try_came(struct try *try);
/* What of all that was made was the stream's. */
void try_settle(struct try *try, unsigned stream);
/* Complains about an error of a call. */
void must(const char *what, int err);
/* One try; action NULL: nothing happens. False: the call went another way. */
bool try_one(const struct path *path, unsigned prepare, const struct action *action,
	     const struct way *way, uint32_t n);
/* The way of the call, and unless NULL, how many events found the stream full before. */
void try_record(const struct path *path, unsigned prepare, struct way *way, uint64_t *lost);

/* action.c */
struct action {
	const char *name;
	bool helper;
	bool (*applies)(const struct path *path);
	void (*act)(struct try *try); /* until the target is at STOP_DONE, or gone */
};
extern const struct action actions[];
extern const unsigned action_count;

#endif
