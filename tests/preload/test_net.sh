#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family net: sockets, connections, messages, waiting.
. "${0%/*}/lib.sh"

said() { sed -n "s/^$1 //p" "$tmp/out"; }

shim net "$probe" net
check "the program works as without the shim" exits 0
port=$(said port)
check "a socket" shows 'net.socket fd=[0-9]+ error=0 domain=2 type=0x1 protocol=0 other=-1$' 2
check "a pair of them" shows 'net.socket fd=[0-9]+ error=0 domain=1 type=0x1 protocol=0 other=[0-9]+$' 1
check "bind" shows 'net.bind time=[0-9]+ fd=[0-9]+ error=0 address=127.0.0.1:0$' 2
check "listen" shows 'net.listen fd=[0-9]+ error=0 backlog=7$' 1
check "connect begins" shows "net.connecting fd=[0-9]+ address=127.0.0.1:$port\$" 1
check "connect" shows "net.connect .* error=0 address=127.0.0.1:$port\$" 1
check "accept, and who it is" shows "net.accept .* error=0 accepted=[0-9]+ flags=0x80000 address=127.0.0.1:$(said peer)\$" 1
check "send" shows 'net.send .* error=0 size=20 result=20 flags=0x0$' 1
check "recv" shows 'net.recv .* error=0 size=50 result=20 flags=0x0$' 1
check "the flags of recv" shows 'net.recv .* error=0 size=50 result=50 flags=0x100$' 1
check "sendmsg" shows 'net.sendmsg .* messages=1 result=30 flags=0x[0-9a-f]+ address=$' 1
check "recvmsg" shows 'net.recvmsg .* messages=1 result=30 flags=0x[0-9a-f]+ address=$' 1
check "sendmmsg" shows 'net.sendmsg .* messages=2 result=2 flags=0x[0-9a-f]+ address=$' 1
datagram=127.0.0.1:$(said datagram)
sender=127.0.0.1:$(said sender)
check "sendmsg with an address" shows "net.sendmsg .* messages=1 result=1 flags=0x[0-9a-f]+ address=$datagram\$" 1
check "sendmmsg with an address" shows "net.sendmsg .* messages=2 result=2 flags=0x[0-9a-f]+ address=$datagram\$" 1
check "recvmsg with an address" shows "net.recvmsg .* messages=1 result=1 flags=0x[0-9a-f]+ address=$sender\$" 1
check "less room than the address needs" shows 'net.recvmsg .* messages=1 result=1 flags=0x[0-9a-f]+ address=family 2$' 1
check "no room for an address" shows 'net.recvmsg .* messages=1 result=1 flags=0x[0-9a-f]+ address=$' 1
check "an empty datagram is sent" shows "net.sendmsg .* messages=1 result=0 flags=0x[0-9a-f]+ address=$datagram\$" 1
check "an empty datagram is received" shows "net.recvmsg .* messages=1 result=0 flags=0x[0-9a-f]+ address=$sender\$" 1
check "no messages at all" shows 'net.sendmsg .* messages=0 result=0 flags=0x[0-9a-f]+ address=$' 1
check "no message" shows 'net.recvmsg .* error=14 messages=1 result=-1 flags=0x[0-9a-f]+ address=$' 1
check "sendto" shows "net.sendto .* size=1 result=1 flags=0x[0-9a-f]+ address=127.0.0.1:$port\$" 1
check "recvfrom that fails" shows 'net.recvfrom .* error=[1-9][0-9]* size=0 result=-1 flags=0x40 address=$' 1
check "shutdown" shows 'net.shutdown fd=[0-9]+ error=0 how=1$' 1
check "poll" shows 'net.poll time=[0-9]+ timeout=2000000 fds=1 result=0 error=0 fd=[0-9]+$' 1
check "ppoll" shows 'net.poll time=[0-9]+ timeout=3000000 fds=1 ' 1
check "a timeout beyond what an event can say" \
	shows 'net.poll time=[0-9]+ timeout=9223372036854775807 fds=1 ' 1
check "poll has the descriptor that is ready" \
	shows "net.poll .* timeout=18446744073709551615 fds=2 result=1 error=0 fd=$(said near)\$" 1
check "poll without descriptors" shows 'net.poll .* timeout=0 fds=0 result=0 error=0 fd=-1$' 1
check "poll does not read an array that the kernel could not read" \
	shows 'net.poll .* fds=1 result=-1 error=14 fd=-1$' 1
check "select" shows 'net.select .* result=1 error=0$' 1
check "epoll_wait" shows 'net.epoll .* timeout=18446744073709551615 fd=[0-9]+ result=1 error=0$' 1
check "a path" shows 'net.connect .* error=2 address=unix:/no/such/socket$' 1
check "memory that is not there is not looked at" shows 'net.connect .* error=14 address=$' 1

shim net "$probe" net-faults
check "lengths that are not there are errors, or none, as without the shim" exits 0
check "an error is reported" shows 'net.recvfrom .* error=14 size=1 result=-1 flags=0x[0-9a-f]+ address=$' 3
check "an address that the program did not request is not recorded" shows 'net.accept .* error=0 accepted=[0-9]+ flags=0x[0-9a-f]+ address=$' 1

shim net "$probe" net-families
check "other families are errors, as without the shim" exits 0
check "the kernel's messages" shows 'net.connect .* address=netlink:7$' 1
check "a group of them" shows 'net.connect .* address=netlink:7/0x11$' 1
check "another machine" shows 'net.connect .* address=vsock:2:1024$' 1
check "a short address" shows 'net.connect .* address=family 16$' 1
check "a family without a form" shows 'net.connect .* address=family 17$' 1

finish
