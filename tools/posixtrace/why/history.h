/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * history.h - the events of a log as a history of each thread: the calls in which it waited, the
 * locks that it held, and, if the log has them, the times at which it had a processor.
 *
 * The whole log is read once; at most HISTORY_CALLS calls and holds are kept. The log is hostile:
 * times may overlap or run backwards, and an event may have any thread and type.
 *
 * Many members are an index + 1, so that 0 means that there is none. The index of a text is an
 * index in history.text.
 */
#ifndef POSIXTRACE_WHY_HISTORY_H
#define POSIXTRACE_WHY_HISTORY_H

#include "base/pidset.h"
#include "base/table.h"
#include "choose/reading.h"
#include "log/program.h"
#include "log/stacks.h"
#include "log/thread_name.h"
#include "spans/holds.h"

#define HISTORY_CALLS   (UINT32_C(1) << 25)
#define HISTORY_THREADS 65536
#define HISTORY_NONE    UINT32_MAX
#define HISTORY_FD_STATES 4 /* a child may have what its parent closed since */

enum cause { /* the reason for which a call waits */
	CAUSE_NONE,
	CAUSE_HELD,    /* no wait: a lock was held; history.holds has the hold */
	CAUSE_LOCK,
	CAUSE_COND,
	CAUSE_SEM,
	CAUSE_BARRIER,
	CAUSE_READ,    /* waits for data of a file, pipe or socket */
	CAUSE_WRITE,
	CAUSE_FILE,    /* waits for the file itself: open, close, fsync */
	CAUSE_POLL,
	CAUSE_PEER,    /* connect, accept, and others that wait for another process */
	CAUSE_SLEEP,
	CAUSE_JOIN,
	CAUSE_CHILD,
	CAUSE_SIGNAL,
	CAUSE_FILE_LOCK,
	CAUSE_POST,    /* no wait: ends waits of other threads, as CAUSE_KILL and CAUSE_TIMER do */
	CAUSE_KILL,
	CAUSE_TIMER,
	CAUSE_CALL     /* takes time, but is not known to wait */
};

/*
 * Returns whether a call with this cause may wait. The calls of a history have neither CAUSE_NONE
 * nor CAUSE_HELD.
 */
static inline bool cause_waits(enum cause cause)
{
	return cause != CAUSE_CALL && cause != CAUSE_POST && cause != CAUSE_KILL &&
	       cause != CAUSE_TIMER;
}

/* The kind of a part of a thread's time. */
enum why_kind {
	WHY_RUN,     /* had a processor; or, without states, was in no call that waits */
	WHY_READY,   /* could run, but had no processor */
	WHY_LOCK,
	WHY_FILE,
	WHY_PEER,
	WHY_SLEEP,
	WHY_FAULT,
	WHY_UNKNOWN, /* blocked, and no event shows why */
	WHY_WHO,     /* the cause of the part above: a thread, process or timer */
	WHY_KINDS
};

/*
 * The kind of a descriptor without a file. All descriptors of a pipe transfer the same bytes, so
 * they are one object. The two descriptors of a pair of sockets are one object, too.
 */
enum fd_kind {
	FD_OTHER, FD_PIPE, FD_PAIR, FD_EVENT, FD_TIMER, FD_SIGNAL, FD_QUEUE,
	FD_CLIENT,             /* a connection that a client made: the result of accept() */
	FD_COMMAND,            /* the pipe of popen(); its text is the command */
	FD_WATCH               /* inotify or fanotify: the kernel reports changes of files */
};

/*
 * A call that a thread made. In a union, each cause or flag uses at most one member. Code that only
 * tests whether calls are equal uses the first member for all of them.
 */
struct call {
	int64_t begin_ns, end_ns;
	/*
	 * the address of a lock, semaphore or barrier; CAUSE_JOIN: a pthread_t; CAUSE_CHILD: a pid;
	 * CAUSE_SIGNAL and CAUSE_KILL: a signal; has_id: the number of the object of System V;
	 * otherwise a file descriptor. 0 also if the event lacks it.
	 */
	uint64_t key;
	union {
		/*
		 * the number that the call returned, such as the number of transferred bytes, or
		 * for CAUSE_POLL the number of ready descriptors; 0: none, or an error
		 */
		uint64_t result;
		uint64_t mutex;       /* CAUSE_COND: the mutex of the condition variable */
		uint64_t accepted;    /* CAUSE_PEER: the descriptor from accept(); 0: none */
		uint64_t target_pid;  /* CAUSE_KILL: the argument of kill(), as a pid_t */
		/*
		 * CAUSE_TIMER, CAUSE_SLEEP: the (first) interval or absolute time that was given;
		 * CAUSE_POLL with is_in_vain: the time limit
		 */
		uint64_t asked_ns;
		uint64_t change;      /* semop(): the change of the semaphore, as an int64_t */
	};
	union {
		uint64_t address;        /* of the call in the program; 0: unknown */
		uint64_t target_pthread; /* CAUSE_KILL: the pthread_t of the target; 0: none */
	};
	const struct log_type *type;
	uint32_t thread;       /* index */
	uint32_t text;         /* index of a path or function + 1; 0: none */
	uint32_t stack;        /* number of its call stack + 1; 0: none */
	union {                /* index of a text + 1; 0: none */
		uint32_t peer;         /* the address of the other end of the connection */
		uint32_t silent;       /* getaddrinfo(): the name servers that did not answer */
	};
	union {                /* index of an address + 1; 0: unknown */
		uint32_t client;       /* FD_CLIENT: of the client */
		uint32_t own;          /* FD_OTHER: of the socket itself */
	};
	union {
		/* the identity of the pipe, connection, queue or named semaphore; 0: unknown */
		uint32_t object;
		uint32_t target_tid;   /* CAUSE_KILL: the Linux number of the thread; 0: none */
		uint32_t tried_file;   /* CAUSE_SLEEP, is_retry is false: see why/tries.h */
		uint32_t semaphore;    /* has_id: its number in the set + 1; 0: several */
		uint32_t message_type; /* has_id and CAUSE_READ or CAUSE_WRITE */
	};
	int32_t error;         /* the error number; 0: none */
	union {
		int32_t signal_code;   /* CAUSE_SIGNAL, is_resumed is false: si_code of siginfo_t */
		int32_t last_call;     /* is_resumed: index of the last call of the wait */
		int32_t failed_call;   /* is_retry: index of the failed call */
	};
	union {                /* 0: unknown */
		pid_t sender;          /* CAUSE_SIGNAL: the process that sent the signal */
		pid_t owner;           /* CAUSE_LOCK: the thread that held it at the begin */
		pid_t awaited;         /* is_stuck, CAUSE_JOIN or CAUSE_CHILD: thread or process */
	};
	uint8_t cause;
	uint8_t fd_kind;       /* of the descriptor: an enum fd_kind */
	/*
	 * the descriptor is the second of a pair of sockets, or is an end of a connection that
	 * accept() returned
	 */
	bool is_second : 1;
	bool is_flock : 1;     /* with tried_file: the thread tries to lock the file by flock() */
	bool is_in_vain : 1;   /* a poll that reached its time limit */
	bool is_resumed : 1;   /* it reached its time limit, and the wait went on: why/tries.h */
	bool is_retry : 1;     /* a sleep before a failed call is tried again: why/tries.h */
	bool is_attempt : 1;   /* a call that sets a lock of a file */
	/* the call does not wait: IPC_NOWAIT of System V, or a poll with the time limit 0 */
	bool is_try : 1;
	bool is_limited : 1;   /* it reached the time limit of its socket, such as SO_RCVTIMEO */
	bool is_begun : 1;     /* a connect that was not complete when it returned */
	bool is_empty : 1;     /* a read without error and without data: the end */
	bool is_open : 1;      /* it did not return before the thread or the log ended */
	/* key is the number of an object of System V, which is the same in all processes */
	bool has_id : 1;
	bool is_small : 1;     /* a read after small writes over TCP: why/nagle.h */
	bool is_stuck : 1;     /* it did not return, and history.stuck has its facts */
};

/* Returns whether a call uses a file: its text is a path, and not that of a queue or a command. */
static inline bool call_uses_file(const struct call *call)
{
	return call->text && call->fd_kind != FD_QUEUE && call->fd_kind != FD_COMMAND;
}

/* A part of a call in which no inner call ran. Pieces of a thread do not overlap. */
struct piece {
	int64_t begin_ns, end_ns;
	uint32_t call;
};

/* STATE_UNKNOWN: a switch of this time is missing, because the kernel did not record it */
enum state { STATE_RUNS, STATE_READY, STATE_BLOCKED, STATE_OVER, STATE_UNKNOWN };

struct stay { /* the state of a thread from this time on */
	int64_t from_ns;
	uint8_t state;
	bool is_preempted;
	bool is_stopped;       /* blocked by a signal such as SIGSTOP, or by a debugger */
	bool is_deep;          /* no signal ends the blocking: for example, it waits for a disk */
	uint16_t cpu;
	/*
	 * For STATE_READY: the thread that woke this thread, or, if is_preempted is true, the
	 * thread that got the processor instead. For STATE_RUNS: the thread that had the processor
	 * before. It is an index in history.waker + 1; 0: unknown.
	 */
	uint32_t waker;
};

/*
 * A thread or an interrupt that woke threads, or a thread that had a processor. The thread need not
 * have been recorded.
 */
struct waker {
	pid_t pid, tid;        /* tid 0 of a WAKER_THREAD: the processor had nothing to do */
	uint32_t text;         /* index of its name + 1; 0: none */
	enum { WAKER_THREAD, WAKER_SOFTIRQ, WAKER_INTERRUPT } context;
};

struct sample { /* the thread executed an instruction at this address */
	int64_t time_ns;
	uint64_t address;
	uint32_t stack;        /* number of its call stack + 1; 0: none */
};

struct fault { /* page faults of the instruction at this address */
	int64_t time_ns;
	uint64_t address;
	/* the number of faults that a sample represents; 0: the event is one fault */
	uint64_t count;
};

struct run { /* a time during which a thread had a processor */
	int64_t begin_ns, end_ns;
	uint32_t thread;
	uint16_t cpu;
};

struct history_thread {
	pid_t pid, tid, parent; /* parent: of the process; 0: unknown */
	/*
	 * only for a main thread: the number that the parent has for this process, if the parent is
	 * in another PID namespace; 0: the same number, or unknown
	 */
	pid_t outer;
	/*
	 * While the thread is in a call of vfork(), the child runs as this thread, and the thread's
	 * calls are those of the child. This is the pid of the child. 0: the thread is in no such
	 * call.
	 */
	pid_t vchild;
	uint32_t life;         /* of the process, see why/lives.h */
	struct thread_life lived;
	uint64_t pthread;
	bool has_own_pthread;  /* pthread is from an event that the program recorded itself */
	int64_t first_ns, last_ns;
	uint64_t events;
	char name[64];         /* of the thread or its program; empty: none */
	struct stay *stay;
	size_t stays;
	size_t *next_blocked;  /* per state: the index of the first blocked one from it on */
	struct sample *sample;
	size_t samples;
	struct fault *fault;
	size_t faults;
	/*
	 * The log has each of its states from this time on. INT64_MIN: the log has all of them;
	 * INT64_MAX: states were lost at unknown times. Otherwise, this is the time of its last
	 * sched.gap, and STATE_UNKNOWN marks the times in which states are missing.
	 */
	int64_t gap_ns;
	bool is_server;        /* it accepted connections */
	bool is_serial;        /* a server that serves one client after the other */
	bool listens;          /* it made a socket to which clients connect */
	/*
	 * the last event that the program recorded: its type, NULL if there is none, its time and
	 * place
	 */
	const struct log_type *last_call;
	int64_t last_call_ns;
	uint64_t last_call_address; /* in the program */
	size_t piece, pieces;  /* its pieces in history.piece: the first one and their number */
	/* a connect that has begun and not returned; type NULL: there is none */
	struct connecting {
		const struct log_type *type;
		int64_t from_ns;
		uint64_t fd, address;
		uint32_t text;
	} connecting;
	/*
	 * kill_signal is the signal that ended the process after the thread's last event; 0: none,
	 * or unknown. If the log does not show when the thread had a CPU, last_ns is at least the
	 * time of the signal, and quiet_ns is the time of the last event. Otherwise quiet_ns is
	 * INT64_MAX.
	 */
	int32_t kill_signal;
	int64_t quiet_ns;
};

/*
 * The time in which a program waits for the answer to a request that it sent over a connection that
 * it made.
 */
struct answer {
	int64_t from_ns, to_ns;
	pid_t pid;
	uint32_t thread;     /* the thread that used the connection last */
	uint32_t asker;      /* the thread that sent the request */
	uint32_t text;       /* index of the address in history.text + 1 */
	uint32_t object;     /* of the connection: see struct call */
	int32_t fd;
	bool is_connect;     /* the wait is for the connection */
	bool is_shown;       /* is_connect: a call showed that a poll had found it complete */
	int32_t error;       /* of ANSWER_BROKEN; 0: the peer closed the connection */
	enum answer_end {
		ANSWER_READ,
		ANSWER_BROKEN,   /* the connection ended without an answer */
		ANSWER_CLOSED,   /* the program closed it without an answer */
		ANSWER_NEVER     /* the program or the log ends without an answer */
	} end;
};

struct history {
	struct logfile *log;
	struct reading reading;
	struct history_thread *thread;
	size_t threads;
	struct table of_thread;
	/*
	 * Names that were given to threads before their first events. They are few: a name is
	 * removed when its thread records an event.
	 */
	struct pending_name {
		pid_t pid;
		uint64_t pthread;
		uint32_t text; /* index of the name + 1 */
		uint32_t by;   /* the thread that gave the name */
	} *pending;
	size_t pendings;
	struct history_process {
		pid_t pid;
		uint32_t life; /* the number of earlier processes with this pid */
		bool is_over;
		/*
		 * Another process with this pid began although this one had not ended: both are in
		 * namespaces of their own, or the log lacks the end.
		 */
		bool is_shared;
		/*
		 * the times of the last begin of the process, of its last end, of its last start of
		 * a program, and of the begin of the last fork() that made it; INT64_MIN: none
		 */
		int64_t begun_ns, ended_ns, executed_ns, forked_ns;
		/* the process that called this fork(), 0: unknown, and the end of the call */
		pid_t forker;
		int64_t forked_end_ns;
	} *process;
	size_t processes;
	struct pidset of_process; /* has the index of each process */
	struct call *call;     /* in the order of the log */
	size_t calls;
	struct piece *piece;   /* sorted by thread, then by time */
	size_t pieces;
	struct holds holds;    /* their member 'thread' is an index in history.thread */
	/* indexes of the calls that end waits of other threads or wait for bytes, sorted by end */
	uint32_t *transfer;
	size_t transfers;
	struct run *run;       /* sorted by processor, then by time */
	size_t runs;
	struct waker *waker;   /* each once */
	size_t wakers;
	struct table of_waker;
	char **text;           /* each once */
	size_t texts;
	struct table of_text;
	struct history_fds {
		pid_t pid;
		int32_t fd;
		struct history_fd {
			uint32_t text; /* index of the path + 1; 0: closed or unknown */
			/* index of the address to which it is connected + 1; 0: none */
			uint32_t peer;
			uint32_t client; /* index of the client's address + 1; 0: none */
			uint32_t own;    /* index of the socket's own address + 1; 0: unknown */
			/*
			 * of a socket without a connection: index of the address to which the
			 * program sent its last message + 1; 0: none, or a peer sent first
			 */
			uint32_t asked;
			/* identity of the pipe, queue or connection; 0: unknown */
			uint32_t object;
			uint8_t kind;
			bool is_second;
			bool closes_at_exec;
			bool is_asked;   /* a peer sent the first message, as to a server */
			/*
			 * the time of the call that made, copied or closed it, and the place of the
			 * call; 0: closed, or unknown
			 */
			int64_t since_ns;
			uint64_t address;
		} state[HISTORY_FD_STATES]; /* the newest one first; text 0 and since_ns 0: none */
	} *fd;
	size_t fds;
	struct table of_fd;
	struct connection_end { /* a socket with a peer: why/connections.h */
		/* the time of the call of connect() or accept() */
		int64_t from_ns, to_ns;
		int64_t closed_ns; /* 0: not closed */
		/* indexes of the addresses of its server and its client + 1; 0: unknown */
		uint32_t server, client;
		uint32_t mate;    /* index of the other end, or HISTORY_NONE */
		uint64_t port;    /* of the server, as a hash */
		uint32_t host;    /* the length of the server's address without the port */
		/* is_any: the server's host is each address of its machine */
		/* is_own: the server's host is the machine itself, such as 127.0.0.1 */
		bool is_any, is_own;
		bool is_accepted, is_begun, is_used;
		bool is_ambiguous; /* another end could be in its pair, too */
	} *end;
	size_t ends;
	struct tcp_socket {    /* of a process: why/nagle.h */
		pid_t pid;
		int32_t fd;
		uint32_t writes;  /* small writes since the last read */
		bool is_tcp, has_nodelay;
	} *tcp;
	size_t tcps;
	struct table of_tcp;
	uint32_t objects;      /* the last number that an object got */
	/* commands of popen() whose shells have not recorded their start yet */
	struct popened {
		pid_t pid;       /* the process that called popen() */
		int32_t fd;
		uint32_t object; /* of the pipe */
		bool is_input;   /* the pipe is the standard input of the command */
	} *popened;
	size_t popeneds;
	/*
	 * locks of files that were set and not removed yet; file_holds has the times of all locks
	 * of files
	 */
	struct file_lock {
		pid_t pid;
		uint32_t thread, text;
		int32_t fd;
		bool is_flock;
		int64_t from_ns;
	} *file_lock;
	size_t file_locks;
	struct holds file_holds; /* 'pid' is 0, and 'lock' is of history_file_lock() */
	struct semaphore_name { /* of a process */
		pid_t pid;
		uint32_t text;
		uint64_t lock;
		int64_t since_ns; /* the time of the call that opened it */
	} *semaphore;
	size_t semaphores;
	struct table of_semaphore;
	struct child_end {     /* of a main thread; sorted by parent, then by end */
		pid_t parent;
		uint32_t thread;
		int64_t last_ns;
	} *child;
	size_t children;
	struct history_timer { /* a timerfd was set; in the order of the log */
		pid_t pid;
		int32_t fd;
		int64_t time_ns, interval_ns;
	} *timer;
	size_t timers;
	struct process_end { /* by a signal */
		pid_t pid;
		int32_t signal;
		int64_t time_ns;
	} *ended;
	size_t endeds;
	struct stuck *stuck;   /* by the index of the thread: how it is blocked, see why/stuck.h */
	size_t stucks;
	/* times at which the recorder has seen a thread blocked; sorted by thread and time */
	struct stuck_look {
		uint32_t thread;
		uint32_t call, object, others, names; /* indexes of texts + 1; 0: none */
		int32_t fd;            /* of the call; -1: none */
		int64_t from_ns, at_ns; /* blocked since from_ns, and still at at_ns */
	} *look;
	size_t looks;
	struct throttle {      /* the CPU limit of a cgroup kept a process from running */
		pid_t pid;
		uint32_t text; /* index of the path of the cgroup + 1; 0: unknown */
		/* since_ns: the time of the recorder's previous look; 0: not in the log */
		int64_t time_ns, since_ns;
		uint64_t ns, periods;
	} *throttle;           /* in the order of the log */
	size_t throttles;
	struct stop *stop;     /* times of stopped processes: why/stops.h */
	size_t stops;
	bool knows_stopped;    /* the states of threads show whether a signal had stopped them */
	struct answer *connect; /* connects that took longer than their call; sorted as request */
	size_t connects;
	struct answer *request; /* requests of programs; sorted by process, then by begin */
	size_t requests;
	struct stacks stacks;  /* call stacks */
	struct pools *pools;   /* threads that wait for work: why/pools.h; NULL: none */
	struct gil *gil;       /* facts about interpreters: why/gil.h; NULL: none */
	struct plan **plan;    /* by event type */
	size_t plans;
	int64_t first_ns, last_ns;
	/* while an event of a child of vfork() is read: the child, and its parent; 0: none */
	pid_t vchild, vparent;
	pid_t launched; /* the process in which record started the program; 0: none */
	pid_t attached; /* the process to which attach attached; 0: none */
	char attached_name[PROGRAM_NAME_BYTES];
	uint64_t dropped;      /* calls past HISTORY_CALLS */
	uint64_t events, samples;
	uint64_t gaps;          /* switches that the kernel did not record */
	int64_t clock_error_ns; /* error of the times of states and samples; -1: unknown */
	unsigned sample_hz;     /* 0: unknown */
	bool has_outer;         /* a process has another number outside of its PID namespace */
	bool has_states;
	bool knows_end;         /* no states are missing but those that gap_ns of a thread shows */
	bool has_owners;        /* waits for locks have the thread that held the lock */
	bool has_waiting;       /* before a thread waited for a lock, it recorded the locks that it
				 * held */
	bool has_each_fault;    /* page faults were recorded, not sampled */
	int err;
};

/* The identity of a lock of a file, for history.file_holds. */
static inline uint64_t history_file_lock(uint32_t text, bool is_flock)
{
	return (uint64_t)text << 1 | is_flock;
}

/*
 * Reads the log and calls see() for each event. Returns 0 or an error number; the caller calls
 * history_fini() in both cases.
 */
int history_read(struct history *history, struct logfile *log, struct wanted *wanted,
		 void (*see)(void *arg, const struct reading *reading), void *arg);
void history_fini(struct history *history);

/*
 * Returns the thread's index, or HISTORY_NONE. If several processes had this pid, the thread
 * belongs to the last one.
 */
uint32_t history_find(const struct history *history, pid_t pid, pid_t tid);
/* Does the same for the process with this pid that has this life: why/lives.h. */
uint32_t history_find_life(const struct history *history, pid_t pid, pid_t tid, uint32_t life);
/* Does the same for the process that had this pid at time_ns. */
uint32_t history_find_at(const struct history *history, pid_t pid, pid_t tid, int64_t time_ns);
/*
 * Returns a thread, and adds it with this time if it is new. Returns NULL past the limit of threads
 * or if memory is lacking. The pointer is valid until the next new thread.
 */
struct history_thread *history_thread_at(struct history *history, pid_t pid, pid_t tid,
					 int64_t time_ns);
/* Notes the last event that the program recorded in a thread. */
void history_note_last(struct history_thread *thread, const struct log_type *type,
		       const struct posix_trace_event_np *event);
/*
 * Returns whether record started a program that recorded nothing itself, as with --trace none. The
 * mappings of its process are then those of the recorder, from which the process was forked.
 */
bool history_is_bare(const struct history *history);
/* Returns whether the thread has recorded its own end, or the end of its process. */
bool history_ended_itself(const struct history_thread *thread);
/* Keeps a text, each text once. Returns its index + 1; 0: len is 0, or memory is lacking. */
uint32_t history_keep(struct history *history, const char *text, size_t len);
/* Returns the text with an index + 1, or "" for 0. */
static inline const char *history_text_at(const struct history *history, uint32_t text)
{
	return text ? history->text[text - 1] : "";
}
/*
 * Keeps a text of an event, each text once. Returns its index + 1, or 0 if there is none. If field
 * is negative, there is none.
 */
uint32_t history_text(struct history *history, const struct log_type *type,
		      const struct posix_trace_event_np *event, int field);
/* Returns the index of the thread with this pthread_t, or HISTORY_NONE. */
uint32_t history_find_pthread(const struct history *history, pid_t pid, uint64_t pthread);

/*
 * Returns the index of the last state that begins at or before a time; thread->stays if there is
 * none.
 */
size_t history_stay_at(const struct history_thread *thread, int64_t time_ns);

/* Returns whether the log may lack states of a thread after a time. */
static inline bool history_lacks_after(const struct history_thread *thread, int64_t time_ns)
{
	return thread->gap_ns > time_ns;
}

/* Returns whether a call of accept() has made a connection. */
static inline bool history_has_accepted(const struct call *call)
{
	return call->cause == CAUSE_PEER && call->accepted && !call->error;
}

/*
 * Returns whether a thread was blocked in a wait. If the log lacks its states, the length of the
 * wait decides.
 */
bool history_was_blocked(const struct history *history, const struct call *wait);

/*
 * Returns the thread's first sample that is not before a time, or the number of samples. The
 * samples are in the order of the log. If the times of the samples run backwards, the search may
 * return a wrong sample, but never one outside of the array.
 */
size_t history_sample_at(const struct history_thread *thread, int64_t time_ns);

/*
 * Returns the thread's first piece that ends after a time, or the end of its pieces. Pieces of a
 * thread do not overlap, so their ends are in order.
 */
size_t history_piece_at(const struct history *history, const struct history_thread *thread,
			int64_t time_ns);

/*
 * Sorts the calls that were read and divides them into pieces. history_read() calls it. Returns 0
 * or ENOMEM.
 */
int history_arrange(struct history *history);

#endif
