#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family ipc: calls on objects of System V.
. "${0%/*}/lib.sh"

shim ipc "$probe" ipc
check "the program works as without the shim" exits 0
check "semget" shows 'ipc.semget .* error=0 id=[0-9]+ key=0x0 count=2 flags=0x200 mode=0x180$' 1
check "SETVAL has the value" shows 'ipc.semctl .* error=0 id=[0-9]+ semaphore=1 command=16 value=0$' 1
check "SETALL" shows 'ipc.semctl .* error=0 id=[0-9]+ semaphore=0 command=17 value=0$' 1
check "GETVAL has the value" shows 'ipc.semctl .* error=0 id=[0-9]+ semaphore=1 command=12 value=1$' 1
check "GETALL" shows 'ipc.semctl .* error=0 .* command=13 ' 1
check "IPC_STAT" shows 'ipc.semctl .* error=0 .* command=2 ' 1
check "IPC_RMID" shows 'ipc.semctl .* error=0 .* command=0 ' 1
check "semop that waits" shows 'ipc.semop .* error=0 id=[0-9]+ semaphore=1 change=-1 flags=0x1000 operations=1$' 1
check "semop that posts" shows 'ipc.semop .* error=0 id=[0-9]+ semaphore=1 change=1 flags=0x0 operations=1$' 1
check "two operations" shows 'ipc.semop .* error=0 id=[0-9]+ semaphore=0 change=0 flags=0x0 operations=2$' 1
check "IPC_NOWAIT" shows 'ipc.semop .* error=11 id=[0-9]+ semaphore=0 change=-1 flags=0x800 operations=1$' 1
check "a time limit" shows 'ipc.semop .* error=11 id=[0-9]+ semaphore=0 change=-1 flags=0x0 operations=1$' 1
check "operations in no memory" shows 'ipc.semop .* error=14 id=[0-9]+ semaphore=0 change=0 flags=0x0 operations=1$' 1
check "no such set" shows 'ipc.semop .* error=22 id=[0-9]+ semaphore=0 change=0 ' 1
check "msgget" shows 'ipc.msgget .* error=0 id=[0-9]+ key=0x0 flags=0x200 mode=0x180$' 1
check "msgsnd" shows 'ipc.msgsnd .* error=0 id=[0-9]+ flags=0x0 size=3 type=7$' 1
check "msgsnd that fails" shows 'ipc.msgsnd .* error=14 id=[0-9]+ flags=0x0 size=3 type=0$' 1
check "msgrcv" shows 'ipc.msgrcv .* error=0 id=[0-9]+ flags=0x1000 size=8 asked=-9 type=7 result=3$' 1
check "msgrcv without a message" shows 'ipc.msgrcv .* error=42 id=[0-9]+ flags=0x800 size=8 asked=0 type=0 result=-1$' 1
check "msgctl" shows 'ipc.msgctl .* error=0 id=[0-9]+ command=[02] result=0$' 2
check "shmget" shows 'ipc.shmget .* error=0 id=[0-9]+ key=0x0 flags=0x200 mode=0x180 size=100$' 1
check "shmat" shows 'ipc.shmat .* error=0 id=[0-9]+ flags=0x1000 address=0x[1-9a-f][0-9a-f]*$' 1
check "shmat that fails" shows 'ipc.shmat .* error=(22|43) id=[0-9]+ flags=0x0 address=0x0$' 1
check "shmdt" shows 'ipc.shmdt .* error=0 address=0x[0-9a-f]+$' 1
check "shmdt that fails" shows 'ipc.shmdt .* error=22 address=0x1$' 1
check "shmctl" shows 'ipc.shmctl .* error=0 id=[0-9]+ command=0 result=0$' 1
finish
