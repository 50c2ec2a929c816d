#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family signal: handlers run as without it, and the program never reads back another
# handler than its own.
. "${0%/*}/lib.sh"

shim signal "$probe" signal
check "actions, masks, stacks and flags are the program's" exits 0
check "three deliveries" shows 'signal.enter handler=0x' 3
check "by whom" shows "signal.enter handler=0x[0-9a-f]+ signal=10 code=-6 sender=[1-9][0-9]*\$" 1
check "each returns" shows 'signal.leave signal=' 3

"$probe" signal >/dev/null 2>&1
check "the same without the shim" test $? -eq 0

shim signal "$probe" senders
check "signals of a timer and of a child are delivered" exits 0
check "a signal of a timer has no sender" shows 'signal.enter .* signal=14 code=-2 sender=0$' 1
check "the sender of SIGCHLD is the child" shows 'signal.enter .* signal=17 code=1 sender=[1-9][0-9]*$' 1

shim signal,io,time "$probe" leap
check "handlers that never return" exits 0
check "each delivery is reported" shows 'signal.enter .* signal=14 ' "$(grep -c 'signal.enter' "$tmp/events")"
check "500 at least" test "$(grep -c 'signal.enter' "$tmp/events")" -ge 500
check "the calls after it are traced" shows 'io.close .* fd=-4711 error=9$' 1
check "none returned" shows 'signal.leave' 0

shim signal,io,alloc "$probe" storm
check "a storm of signals" exits 0
check "every handler's call is reported or counted" \
	test "$(grep -c 'io.close .* fd=-2 ' "$tmp/events")" -gt 0
run 0 verify "$log"
check "the ledger is closed" has out ': called [0-9]* = reported '

shim signal "$probe" vfork-signals
check "a child of vfork leaves its parent's handlers alone" exits 0

for way in vfork clone; do
	shim signal "$probe" vfork-killed $way
	check "a child of $way is killed at its begin" exits 0
	check "after a killed child of $way the parent's handlers are traced" shows 'signal.enter' 1
done

# A call that ends its caller does not return, so its event precedes it.
for how in kill zero group killpg killpg-number raise thread queue; do
	for signal in 9 15; do
		shim process "$probe" ends $how $signal
		check "$how $signal: the program has ended itself" exits $((128 + signal))
		check "$how $signal: the last call has an event with time 0" shows \
			"process.kill time=0 error=0 pid=-?[0-9]+ signal=$signal " 1
		check "$how $signal: no call has two events" shows \
			"process.kill .* signal=$signal " $((signal == 9 ? 1 : 2))
	done
done

for how in pidfd pidfd_send_signal self-thread self other-thread of-group in-group; do
	for signal in 9 15; do
		"$probe" ends $how $signal
		test $? -eq $((128 + signal)) || continue # the system lacks the function
		shim process "$probe" ends $how $signal
		check "$how $signal: the program has ended itself" exits $((128 + signal))
		check "$how $signal: the last call has one event, with time 0" shows \
			"process.pidfd_send_signal time=0 error=0 fd=-?[0-9]+ signal=$signal\$" 1
		check "$how $signal: no call has two events" shows \
			"process.pidfd_send_signal .* signal=$signal\$" 1
	done
done
finish
