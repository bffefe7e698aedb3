/*
 * unsupported_sysv.c - what System V's calls make
 */
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "check.h"
#include "unsupported.h"

#define SIZE (16 * CHECK_PAGE)

static int id;
static unsigned char *map;

static void nothing(void)
{
}

static void make_sysv(void)
{
	int segment = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);

	CHECK(segment >= 0);
	map = shmat(segment, NULL, 0);
	shmctl(segment, IPC_RMID, NULL);
	CHECK(map != (void *)-1);
	check_fill(map, SIZE, 1);
}

/* The segment is made, but not attached: nothing is mapped. */
static void make_segment(void)
{
	id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);
	CHECK(id >= 0);
}

static void finish_segment(void)
{
	CHECK(shmctl(id, IPC_RMID, NULL) == 0);
}

static void make_semaphores(void)
{
	struct sembuf up = { 1, 3, 0 };

	id = semget(IPC_PRIVATE, 2, IPC_CREAT | 0600);
	CHECK(id >= 0 && semop(id, &up, 1) == 0);
}

static void use_semaphores(void)
{
	struct sembuf over[] = { { 1, -1, 0 }, { 0, 1, 0 } };
	struct sembuf back[] = { { 0, -1, 0 }, { 1, 1, 0 } };

	CHECK(semop(id, over, 2) == 0 && semop(id, back, 2) == 0);
}

static void finish_semaphores(void)
{
	CHECK(semctl(id, 1, GETVAL) == 3);
	CHECK(semctl(id, 0, IPC_RMID) == 0);
}

static struct {
	long type;
	char text[4];
} message = { 1, "abc" };

static void make_queue(void)
{
	id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	CHECK(id >= 0 && msgsnd(id, &message, 4, 0) == 0);
}

static void finish_queue(void)
{
	message.text[0] = 0;
	CHECK(msgrcv(id, &message, 4, 0, IPC_NOWAIT) == 4 &&
	      message.text[0] == 'a');
	CHECK(msgctl(id, IPC_RMID, NULL) == 0);
}

static void finish_map(void)
{
	CHECK(check_same(map, SIZE, 1));
}

const struct thing sysv_things[] = {
	{ "sysv-shm", "SysV", make_sysv, nothing, finish_map },
	{ "sysv-segment", "System V shared memory", make_segment, nothing,
	  finish_segment },
	{ "sysv-semaphores", "System V semaphores", make_semaphores,
	  use_semaphores, finish_semaphores },
	{ "sysv-queue", "System V message queues", make_queue, nothing,
	  finish_queue },
};
const size_t nr_sysv = sizeof(sysv_things) / sizeof(*sysv_things);
