#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's families lock and lock-hold: the thread that waited and its lock, and no event without
# a wait.
. "${0%/*}/lib.sh"

shim lock "$probe" contended
check "the program works as without the shim" exits 0
check "a mutex was waited for" shows 'lock.mutex time=[0-9]{7,} lock=0x[0-9a-f]+ error=0 owner=[1-9][0-9]*$'
check "not for ever" shows 'lock.mutex .* error=110 owner=[1-9][0-9]*$' 1
check "a lock for reading, which a writer held" shows 'lock.rwlock_read time=[0-9]{7,} .* error=0 owner=[1-9][0-9]*$' 1
check "a spin lock" shows 'lock.spin time=[0-9]{7,} .* error=0$' 1
check "a semaphore" shows 'lock.sem time=[0-9]{7,} .* error=0$' 1
check "the post for it" shows 'lock.sem_post time=[0-9]+ lock=0x[0-9a-f]+ error=0$' 1
check "a barrier, by both" shows 'lock.barrier .* error=0 last=[01]$' 2
check "one of them was the last" shows 'lock.barrier .* last=1$' 1
check "a condition" shows 'lock.cond time=[0-9]{3,} lock=0x[0-9a-f]+ mutex=0x[0-9a-f]+ error=0$'
check "the signal of it" shows 'lock.cond_signal time=[0-9]+ lock=0x[0-9a-f]+ error=0 all=0$' 1
check "how long locks were held is another family" shows '_held' 0

shim lock "$probe" once
check "initialisers run as without the shim" exits 0
check "a thread that waits for an initialiser has an event with the thread that executes it" \
	shows "lock.once time=[0-9]{7,} lock=0x[0-9a-f]+ error=0 owner=$(cat "$tmp/out")\$" 1
check "calls that do not wait have none" shows 'lock.once' 1

shim lock "$probe" uncontended
check "kinds of locks work as without the shim" exits 0
check "without a waiter only the error has an event" shows 'lock' 1
check "a thread that would wait for itself has an event with its own id" shows 'lock.mutex .* error=35 owner=[1-9][0-9]*$' 1

shim lock-hold "$probe" uncontended
check "kinds of locks work when holds are timed" exits 0
check "each hold of a mutex, once" shows 'lock.mutex_held time=[0-9]+ lock=0x' 3
check "the other locks have events" shows 'lock.rwlock_held time=[0-9]+ lock=0x' 1

shim lock-hold "$probe" many-locks
check "many locks are held" exits 0
check "the holds of 16 locks are measured" shows 'lock.mutex_held' 16
check "the others are counted" shows 'posixtrace_shim_lost early=0 unnamed=0 holds=4 early_alloc=0$' 1

shim lock,thread "$probe" c11
check "the functions of <threads.h> work as without the shim" exits 0
check "a wait for an mtx_t has an event with the thread that holds it" \
	shows 'lock.mutex time=[0-9]{7,} lock=0x[0-9a-f]+ error=0 owner=[1-9][0-9]*$' 1
check "a wait for an mtx_t that timed out has an event" \
	shows 'lock.mutex .* error=110 owner=[1-9][0-9]*$' 1
check "waits for a cnd_t have events" shows 'lock.cond .* mutex=0x[0-9a-f]+ error=0$' 2
check "a wait for a cnd_t that timed out has an event" shows 'lock.cond .* error=110$' 1
check "cnd_signal() has an event" shows 'lock.cond_signal .* error=0 all=0$' 1
check "cnd_broadcast() has an event" shows 'lock.cond_signal .* error=0 all=1$' 1
check "a wait in call_once() has an event with the thread that executes the initialiser" \
	shows "lock.once time=[0-9]{7,} lock=0x[0-9a-f]+ error=0 owner=$(cat "$tmp/out")\$" 1
check "thrd_create() and pthread_create() have events" \
	shows 'thread.create .* error=0 detached=0$' 4
# The last thread of thrd_create() is detached, and may still run at the end of the process.
check "threads of thrd_create() begin" test "$(grep -c thread.begin "$tmp/events")" -ge 3
check "threads of thrd_create() end" test "$(grep -c thread.end "$tmp/events")" -ge 3
check "thrd_exit() has an event with its value" shows 'thread.exit value=0xfffffffffffffff9$' 1
check "thrd_join() and pthread_clockjoin_np() have events" shows 'thread.join .* error=0$' 3
check "an error of thrd_join() has the number EINVAL" shows 'thread.join .* error=22$' 1
check "thrd_detach() has an event" shows 'thread.detach .* error=0$' 1

shim lock-hold "$probe" c11-kinds
check "kinds of an mtx_t work as without the shim" exits 0
check "a recursive mtx_t has one hold" shows 'lock.mutex_held time=[0-9]+ lock=0x' 1

shim lock,-lock "$probe" contended
check "without locks there is nothing" shows . 0

shim lock "$probe" lock-cancel
check "sem_wait is a cancellation point, also where it need not wait" exits 0
check "a thread that is cancelled while it waits has an event" shows 'lock.sem .* error=125$'

check "wrong times are errors here" "$probe" wrong-time
shim lock "$probe" wrong-time
check "wrong times are errors with the shim, too" exits 0
check "the errors are recorded" shows 'lock.* error=22( owner=[0-9]+)?$' 7

finish
