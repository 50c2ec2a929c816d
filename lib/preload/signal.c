/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/signal.c - family signal: a handler of the program begins and returns.
 *
 * If the family is chosen, the kernel calls deliver_signal() instead of the program's handler. If
 * the program requests the old action, it gets its own handler. The program's flags and mask apply
 * to deliver_signal(). SIG_DFL and SIG_IGN are not changed. If SA_RESETHAND has reset a handler,
 * the program sees that.
 *
 * A handler is stored in one word, so that a signal that arrives during a change finds either the
 * old or the new handler. Only one thread at a time changes the action of a signal, with all
 * signals blocked, so that the word and the kernel agree. The other threads wait for their turns. A
 * thread that has waited very long continues without its turn: otherwise a thread that was killed
 * in its turn would block all others.
 *
 * A child of vfork(), or a guest (self.h), has its own signal actions but uses its parent's memory.
 * So the shim does not trace handlers that these children set. It also does not see handlers that
 * the program sets by other functions than those of this file.
 */
#include <sched.h>
#include <signal.h>

#include "preload/sender.h"
#include "preload/shim.h"
#include "preload/start.h"
#include "preload/vfork.h"

#define SIGNALS    65
#define HAS_INFO   ((uint64_t)1 << 63) /* no address of a function has this bit */
/* The greatest number of attempts to get a turn. */
#define MOST_TURNS 100000

_Static_assert(sizeof(void *) == 8, "a handler and a flag are one word");

typedef void (*plain_handler)(int number);
typedef void (*info_handler)(int number, siginfo_t *info, void *context);

/*
 * The program's handler for each signal, with HAS_INFO if the handler has three arguments; 0: no
 * handler was set through the shim.
 */
static _Atomic uint64_t handlers[SIGNALS];
/* 1 while a thread changes the action of the signal. */
static _Atomic int locked[SIGNALS];

static uint64_t word_of(info_handler handler, int flags)
{
	return (uint64_t)(uintptr_t)handler | (flags & SA_SIGINFO ? HAS_INFO : 0);
}

static info_handler handler_of(uint64_t word)
{
	return (info_handler)(uintptr_t)(word & ~HAS_INFO);
}

/*
 * The handler that the kernel calls. Without SA_SIGINFO the kernel passes no valid info. The
 * program's handler gets the arguments that it would have got without the shim.
 */
static void deliver_signal(int number, siginfo_t *info, void *context)
{
	uint64_t word = atomic_load_explicit(&handlers[number], memory_order_acquire);
	info_handler handler = handler_of(word);
	struct {
		uint64_t handler;
		int32_t number, code, sender;
	} data = { .handler = (uint64_t)(uintptr_t)handler, .number = number };

	/*
	 * The word can be 0 if a thread without its turn (lock_action()) has restored an older word
	 * after its call failed. Then there is no handler to call.
	 */
	if (!handler)
		return;
	if (shim_is_guest()) {
		handler(number, info, context);
		return;
	}
	if (*shim_switch[SIGNAL_ENTER]) {
		if (word & HAS_INFO) {
			data.code = info->si_code;
			data.sender = shim_sender_of(number, info);
		}
		shim_put(SIGNAL_ENTER, &data, 20, (const void *)handler);
	}
	handler(number, info, context);
	if (*shim_switch[SIGNAL_LEAVE])
		shim_put(SIGNAL_LEAVE, &data.number, sizeof data.number, (const void *)handler);
}

/* A thread's turn to change a signal's action. `mask` has the signals that were blocked before. */
struct turn {
	sigset_t mask;
	bool is_ours;
};

/*
 * Waits for the turn. After MOST_TURNS attempts, the thread continues without the turn. All signals
 * are blocked, because a handler that changes the same signal would wait for its own thread.
 */
static void lock_action(struct turn *turn, int number)
{
	sigset_t all;
	int no = 0, tries = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &turn->mask);
	while (!atomic_compare_exchange_weak_explicit(&locked[number], &no, 1, memory_order_acquire,
						      memory_order_relaxed)) {
		no = 0;
		if (++tries > MOST_TURNS)
			break;
		sched_yield();
	}
	turn->is_ours = tries <= MOST_TURNS;
}

static void unlock_action(const struct turn *turn, int number)
{
	if (turn->is_ours)
		atomic_store_explicit(&locked[number], 0, memory_order_release);
	pthread_sigmask(SIG_SETMASK, &turn->mask, NULL);
}

/* Frees all turns: a thread of the parent that had a turn does not exist in the child. */
void shim_in_child(void)
{
	for (int number = 0; number < SIGNALS; number++)
		atomic_store_explicit(&locked[number], 0, memory_order_relaxed);
}

/*
 * Returns whether to replace handlers in calls from `caller`. The family must be chosen. It does
 * not matter whether the process is traced now, because handlers that are set now are still in use
 * when tracing begins later.
 */
static bool takes_part(int number, const void *caller)
{
	if (number <= 0 || number >= SIGNALS)
		return false;
	if (!atomic_load_explicit(&shim_is_ready, memory_order_acquire))
		shim_unusual_call(SIGNAL_ENTER, caller);
	return shim_switch[SIGNAL_ENTER] == posix_trace_active_np && !shim_is_own(caller);
}

static bool is_function(plain_handler handler)
{
	return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_HOLD &&
	       handler != SIG_ERR;
}

/*
 * Returns whether to replace this handler. A child of vfork() or a guest (self.h) shares the table
 * with its parent, but its actions are its own: if it stored its handler, the parent would call it.
 */
static bool replaces_handler(plain_handler handler)
{
	return is_function(handler) && !shim_is_vfork_child() && !shim_is_guest();
}

SHIM_NEXT(sigaction, shim_no_number);

/* sigaction(2). */
SHIM_WRAPPER int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction ours, before;
	struct turn turn;
	bool changes;
	uint64_t word;
	int result;

	if (!takes_part(number, shim_caller()))
		return next(sigaction)(number, action, old);
	changes = action && replaces_handler(action->sa_handler);
	lock_action(&turn, number);
	word = atomic_load_explicit(&handlers[number], memory_order_relaxed);
	if (changes) {
		ours = *action;
		/*
		 * The program's flags decide whether the kernel passes info. deliver_signal() works
		 * in both cases.
		 */
		ours.sa_sigaction = deliver_signal;
		/*
		 * The word is stored before the system call, so that a signal that arrives after
		 * the call finds the new handler. If the call fails, the old word is restored.
		 */
		atomic_store_explicit(&handlers[number],
				      word_of(action->sa_sigaction, action->sa_flags),
				      memory_order_release);
	}
	result = next(sigaction)(number, changes ? &ours : action, &before);
	if (changes && result)
		atomic_store_explicit(&handlers[number], word, memory_order_release);
	unlock_action(&turn, number);
	if (result == 0 && old) {
		*old = before;
		/*
		 * If the old action was the shim's, the program gets its own handler from the old
		 * word.
		 */
		if (before.sa_sigaction == deliver_signal)
			old->sa_sigaction = handler_of(word);
	}
	return result;
}

SHIM_ALIAS(__sigaction, sigaction);

/*
 * signal() and its relatives. They set a handler without SA_SIGINFO. They differ in flags such as
 * SA_RESTART, which the real functions set.
 */
#define SIGNAL(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER plain_handler name(int number, plain_handler handler) \
	{ \
		if (!takes_part(number, shim_caller())) \
			return next(name)(number, handler); \
		bool changes = replaces_handler(handler); \
		struct turn turn; \
		plain_handler result; \
		lock_action(&turn, number); \
		uint64_t word = atomic_load_explicit(&handlers[number], memory_order_relaxed); \
		if (changes) \
			atomic_store_explicit(&handlers[number], (uint64_t)(uintptr_t)handler, \
					      memory_order_release); \
		result = next(name)(number, \
				    changes ? (plain_handler)(void *)deliver_signal : handler); \
		if (changes && result == SIG_ERR) \
			atomic_store_explicit(&handlers[number], word, memory_order_release); \
		unlock_action(&turn, number); \
		return result == (plain_handler)(void *)deliver_signal ? \
			       (plain_handler)(void *)handler_of(word) : result; \
	}

/* The headers do not declare this function in the mode in which this file is compiled. */
plain_handler bsd_signal(int number, plain_handler handler);

SIGNAL(signal)
SIGNAL(bsd_signal)
SIGNAL(ssignal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
SIGNAL(sigset)
