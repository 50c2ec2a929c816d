/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/ipc.c - family ipc: semaphores, message queues and shared memory of System V.
 *
 * All processes of an IPC namespace use one number for an object, so the events have this number
 * and no address or descriptor. The bytes of messages are not recorded.
 */
#include <stdarg.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "preload/call.h"
#include "preload/known.h"
#include "preload/lock.h"

/* The flags of semget(2) and similar functions have the mode of a new object in the low bits. */
#define MODE_BITS 0777

SHIM_INT(semget, IPC_SEMGET, (key_t key, int count, int flags), (key, count, flags),
	 (result, key, count, flags & ~MODE_BITS, flags & MODE_BITS), (), ())
SHIM_INT(msgget, IPC_MSGGET, (key_t key, int flags), (key, flags),
	 (result, key, flags & ~MODE_BITS, flags & MODE_BITS), (), ())
SHIM_INT(shmget, IPC_SHMGET, (key_t key, size_t size, int flags), (key, size, flags),
	 (result, key, flags & ~MODE_BITS, flags & MODE_BITS), ((int64_t)size), ())

/* The fields of ipc.semop. */
struct semop_data {
	uint64_t time;
	int32_t error, id, semaphore, change;
	uint32_t flags, operations;
};

/*
 * Stores the result and the first operation, of which the wrapper has a copy. The kernel has used
 * the operation if the call succeeded, or if one of the three errors below ended the wait.
 */
static void semop_finish(struct semop_data *data, int result, const struct sembuf *operation)
{
	data->error = result ? errno : 0;
	if (result && errno != EAGAIN && errno != EINTR && errno != EIDRM)
		return;
	data->semaphore = operation->sem_num;
	data->change = operation->sem_op;
	data->flags = (uint16_t)operation->sem_flg;
}

/*
 * The first operation is copied before the call: a thread that the call wakes may free the memory.
 * If the operation cannot be copied, the fields have 0.
 */
#define SEMOP(name, params, args) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on_alone(IPC_SEMOP)) \
			return next(name) args; \
		struct semop_data data = { \
			.error = ECANCELED, .id = id, .operations = (uint32_t)count \
		}; \
		struct sembuf first = { 0 }; \
		shim_copy_input(&first, operations, sizeof first); \
		SHIM_CALL(IPC_SEMOP, data); \
		int result = next(name) args; \
		semop_finish(&data, result, &first); \
		return result; \
	}

SEMOP(semop, (int id, struct sembuf *operations, size_t count), (id, operations, count))
SEMOP(semtimedop,
      (int id, struct sembuf *operations, size_t count, const struct timespec *timeout),
      (id, operations, count, timeout))

/* The program defines the type of the last argument of semctl(2), which has these members. */
union semctl_argument {
	int value;
	void *pointer;
};

/* Returns whether a command of semctl(2) uses the last argument. */
static bool semctl_has_argument(int command)
{
	switch (command) {
	case SETVAL:
	case GETALL:
	case SETALL:
	case IPC_STAT:
	case IPC_SET:
	case IPC_INFO:
	case SEM_INFO:
	case SEM_STAT:
	case SEM_STAT_ANY:
		return true;
	default:
		return false;
	}
}

SHIM_NEXT(semctl, shim_no_number);
SHIM_WRAPPED(semctl, IPC_SEMCTL);

/* semctl(2). The event has the value that SETVAL sets or GETVAL returns. */
SHIM_WRAPPER int semctl(int id, int semaphore, int command, ...)
{
	union semctl_argument argument = { .pointer = NULL };

	if (semctl_has_argument(command)) {
		va_list list;

		va_start(list, command);
		argument = va_arg(list, union semctl_argument);
		va_end(list);
	}
	if (!shim_on_alone(IPC_SEMCTL))
		return next(semctl)(id, semaphore, command, argument);
	SHIM_TRACE(int, IPC_SEMCTL, next(semctl)(id, semaphore, command, argument),
		   result == -1 ? errno : 0,
		   (id, semaphore, command, command == SETVAL ? argument.value : result), (), ());
}

/* Returns the type of a message, which is a long at the beginning of the message. */
static int64_t message_type(const void *message)
{
	long type;

	memcpy(&type, message, sizeof type);
	return type;
}

SHIM_NEXT(msgsnd, shim_no_number);
SHIM_WRAPPED(msgsnd, IPC_MSGSND);

/*
 * msgsnd(2) waits while the queue is full. The type is copied before the call: the receiver may
 * free the memory. If the type cannot be copied, or if the call fails, the field `type` is 0.
 */
SHIM_WRAPPER int msgsnd(int id, const void *message, size_t size, int flags)
{
	long type = 0;

	if (!shim_on_alone(IPC_MSGSND))
		return next(msgsnd)(id, message, size, flags);
	shim_copy_input(&type, message, sizeof type);
	SHIM_TRACE(int, IPC_MSGSND, next(msgsnd)(id, message, size, flags),
		   result == -1 ? errno : 0, (id, flags),
		   ((int64_t)size, result == 0 ? (int64_t)type : 0), ());
}

/* msgrcv(2). `asked` is the type that the program asks for, and `type` that of the message. */
SHIM_TRACED(ssize_t, msgrcv, IPC_MSGRCV, shim_no_number,
	    (int id, void *message, size_t size, long type, int flags),
	    (id, message, size, type, flags), result < 0, (id, flags),
	    ((int64_t)size, type, result < 0 ? 0 : message_type(message), result), ())

SHIM_INT(msgctl, IPC_MSGCTL, (int id, int command, struct msqid_ds *about), (id, command, about),
	 (id, command, result), (), ())
SHIM_INT(shmctl, IPC_SHMCTL, (int id, int command, struct shmid_ds *about), (id, command, about),
	 (id, command, result), (), ())

/*
 * The memory may contain a semaphore that other processes use. The wrapper of sem_post() must know
 * that, even if this call is not traced.
 */
SHIM_NEXT(shmat, shim_no_number);
SHIM_WRAPPED(shmat, IPC_SHMAT);
SHIM_WRAPPER void *shmat(int id, const void *address, int flags)
{
	shim_shares_memory();
	/*
	 * With SHM_REMAP, shmat() replaces memory by the segment. shmdt() may later unmap the
	 * segment, and the addresses are then unreadable.
	 */
	shim_forget_by_call(SYS_shmat, id, (long)address, flags, 0, 0);
	if (!shim_on_alone(IPC_SHMAT))
		return next(shmat)(id, address, flags);
	SHIM_TRACE(void *, IPC_SHMAT, next(shmat)(id, address, flags),
		   result == (void *)-1 ? errno : 0, (id, flags),
		   (result == (void *)-1 ? 0 : (int64_t)(uintptr_t)result), ());
}

SHIM_INT(shmdt, IPC_SHMDT, (const void *address), (address), (),
	 ((int64_t)(uintptr_t)address), ())
