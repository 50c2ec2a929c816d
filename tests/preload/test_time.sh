#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family time: the threads that slept, and the durations.
. "${0%/*}/lib.sh"

shim time "$probe" sleep
check "the program works as without the shim" exits 0
check "nanosleep, as long as was asked for" shows 'time.sleep time=([5-9]|[0-9]{2,})[0-9]{6} asked=5000000 error=0 by=nanosleep$' 1
check "usleep" shows 'time.sleep time=([6-9]|[0-9]{2,})[0-9]{6} asked=6000000 error=0 by=usleep$' 1
check "sleep" shows 'time.sleep .* asked=0 error=0 by=sleep$' 1
check "clock_nanosleep" shows 'time.sleep .* error=0 by=clock_nanosleep$' 1

finish
