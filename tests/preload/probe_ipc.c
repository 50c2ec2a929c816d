/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Semaphores, queues and shared memory of System V, with known results. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/probe.h"

union semun {
	int val;
	unsigned short *array;
	struct semid_ds *about;
};

static void semaphores(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct sembuf down = { 1, -1, SEM_UNDO }, up = { 1, 1, 0 };
	struct sembuf both[2] = { { 0, 0, 0 }, { 1, 1, 0 } };
	struct sembuf now = { 0, -1, IPC_NOWAIT };
	struct sembuf *volatile nowhere = NULL;
	unsigned short values[2] = { 0, 0 };
	int id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600), status;
	struct semid_ds about;
	pid_t child;

	MUST(id >= 0);
	MUST(semctl(id, 0, SETALL, (union semun){ .array = values }) == 0);
	MUST(semctl(id, 1, SETVAL, (union semun){ .val = 0 }) == 0);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		MUST(semop(id, &up, 1) == 0);
		_exit(0);
	}
	MUST(semop(id, &down, 1) == 0 && waitpid(child, &status, 0) == child && status == 0);
	MUST(semop(id, both, 2) == 0 && semctl(id, 1, GETVAL) == 1);
	MUST(semctl(id, 0, GETALL, (union semun){ .array = values }) == 0 && values[1] == 1);
	MUST(semctl(id, 0, IPC_STAT, (union semun){ .about = &about }) == 0);
	MUST(about.sem_nsems == 2);
	MUST(semop(id, &now, 1) == -1 && errno == EAGAIN);
	now.sem_flg = 0;
	MUST(semtimedop(id, &now, 1, &moment) == -1 && errno == EAGAIN);
	MUST(semop(id, nowhere, 1) == -1 && errno == EFAULT);
	MUST(semctl(id, 0, IPC_RMID) == 0 && semop(id, &up, 1) == -1 && errno == EINVAL);
}

static void queues(void)
{
	struct {
		long type;
		char text[8];
	} message = { 7, "abc" };
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	struct msqid_ds about;
	void *volatile nowhere = NULL;

	MUST(id >= 0 && msgsnd(id, &message, 3, 0) == 0);
	message.type = 0;
	MUST(msgrcv(id, &message, sizeof message.text, -9, MSG_NOERROR) == 3 && message.type == 7);
	MUST(msgrcv(id, &message, sizeof message.text, 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
	MUST(msgsnd(id, nowhere, 3, 0) == -1 && errno == EFAULT);
	MUST(msgctl(id, IPC_STAT, &about) == 0 && msgctl(id, IPC_RMID, NULL) == 0);
}

static void memory(void)
{
	int id = shmget(IPC_PRIVATE, 100, IPC_CREAT | 0600);
	void *address;

	MUST(id >= 0 && (address = shmat(id, NULL, SHM_RDONLY)) != (void *)-1);
	MUST(shmdt(address) == 0 && shmctl(id, IPC_RMID, NULL) == 0);
	MUST(shmat(id, NULL, 0) == (void *)-1 && shmdt((void *)(uintptr_t)1) == -1);
}

static int probe_ipc(int argc, char **argv)
{
	(void)argc, (void)argv;
	semaphores();
	queues();
	memory();
	return 0;
}

const struct probe probes_ipc[] = { { "ipc", probe_ipc }, { 0 } };
