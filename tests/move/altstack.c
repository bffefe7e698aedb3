/*
 * altstack.c - moved while a handler runs on its alternative stack
 *
 * The main thread sits in nested handlers on the alternative stack through
 * all the moves and returns through both frames only afterwards; the others
 * visit theirs again and again.
 *
 * Where there are tiles of AMX the process may use them, which the kernel allows
 * to none whose alternative stacks are too small for a frame with tiles: what the
 * main thread has in them lies in the outer frame, and the others have none.
 */
#include <signal.h>
#include <sys/mman.h>

#include "check.h"
#include "tiles.h"

#define SIZE (64 * 1024)

static _Thread_local char *stack;
static _Thread_local volatile int depth, visits;

static bool on_stack(const void *p)
{
	return (const char *)p >= stack && (const char *)p < stack + SIZE;
}

static void check_onstack(bool on)
{
	stack_t ss;

	CHECK(sigaltstack(NULL, &ss) == 0);
	CHECK(ss.ss_sp == stack && ss.ss_size == SIZE);
	CHECK(!!(ss.ss_flags & SS_ONSTACK) == on, "flags %#x", ss.ss_flags);
}

static void stay(void)
{
	unsigned char data[3000];

	check_fill(data, sizeof(data), 77);
	CHECK(on_stack(data));
	while (check_running()) {
		check_onstack(true);
		check_nap();
	}
	CHECK(check_same(data, sizeof(data), 77));
}

/* The handler of SIGUSR1 sends SIGUSR2, whose handler stays. */
static void on_usr(int sig, siginfo_t *si, void *uc)
{
	unsigned char data[1000];
	sigset_t mask;

	check_fill(data, sizeof(data), (uint64_t)sig);
	CHECK(on_stack(data));
	depth++;
	if (sig == SIGUSR1)
		raise(SIGUSR2);
	else
		stay();
	depth--;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	CHECK(sigismember(&mask, sig) && sigismember(&mask, SIGRTMIN + 7));
	CHECK(check_same(data, sizeof(data), (uint64_t)sig));
	if (check_sabotaged())
		stack[0] ^= (char)sig;
}

static void on_visit(int sig)
{
	char here;

	CHECK(on_stack(&here));
	check_onstack(true);
	visits++;
}

static void make_stack(void)
{
	stack_t ss = { .ss_size = SIZE };

	stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(stack != MAP_FAILED);
	check_fill(stack, 4096, 5);
	ss.ss_sp = stack;
	CHECK(sigaltstack(&ss, NULL) == 0);
}

static void *run(void *arg)
{
	int n = 0;

	make_stack();
	while (check_running()) {
		raise(SIGRTMIN + 7);
		CHECK(visits == ++n);
		check_onstack(false);
		check_nap();
	}
	CHECK(check_same(stack, 4096, 5));
	return NULL;
}

/* SIGUSR1 while tiles are in use, if there are any. */
static void raise_with_tiles(bool tiles)
{
	unsigned char in[TILES_BYTES], out[TILES_BYTES];

	check_fill(in, sizeof(in), 3);
	if (tiles)
		tiles_load(in);
	raise(SIGUSR1);
	if (tiles) {
		tiles_save(out);
		CHECK(!memcmp(in, out, sizeof(in)), "tiles");
	}
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_usr,
				.sa_flags = SA_ONSTACK | SA_SIGINFO };
	struct sigaction visit = { .sa_handler = on_visit,
				   .sa_flags = SA_ONSTACK };
	pthread_t t[2];

	sigaddset(&sa.sa_mask, SIGRTMIN + 7);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGRTMIN + 7, &visit, NULL);
	make_stack();
	for (int i = 0; i < 2; i++)
		t[i] = check_thread(run, NULL);
	check_ready();
	raise_with_tiles(tiles_ask());
	CHECK(depth == 0);
	check_onstack(false);
	CHECK(check_same(stack, 4096, 5));
	for (int i = 0; i < 2; i++)
		check_join(t[i]);
	return check_pass();
}
