/* test_proc.c - /proc's texts, layouts and how they differ */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "move/proc/layout.h"
#include "move/proc/proc.h"
#include "move/tracee/timers.h"
#include "move/tracee/tracee.h"

static const char maps_text[] =
	"00010000-00011000 r-xp 00000000 00:00 0 \n"
	"00011000-00060000 rw-s 00000000 00:01 77 "
	"                        /memfd:stint-landing (deleted)\n"
	"00400000-00402000 r-xp 00003000 fe:00 123      /usr/bin/a b\n"
	"00500000-00600000 rw-p 00000000 00:00 0                  [heap]\n"
	"7f0000000000-7f0000002000 rw-s 00000000 00:01 9  /dev/zero (deleted)\n"
	"7f0000002000-7f0000004000 rw-s 00001000 fe:00 8       /tmp/file\n"
	"7f0000010000-7f0000014000 r--p 00000000 00:00 0       [vvar]\n"
	"7f0000014000-7f0000016000 r-xp 00000000 00:00 0       [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n";

static void test_maps(void **state)
{
	static const enum vma_kind kinds[] = {
		VMA_ANON,	 VMA_LANDING,	  VMA_FILE,    VMA_ANON,
		VMA_SHARED_ANON, VMA_SHARED_FILE, VMA_SPECIAL, VMA_SPECIAL,
	};
	struct vma_list l = { 0 };

	assert_int_equal(proc_parse_maps(maps_text, &l, NULL), 0);
	assert_int_equal(l.nr, 8);
	for (size_t i = 0; i < l.nr; i++)
		assert_int_equal(l.v[i].kind, kinds[i]);
	assert_string_equal(l.v[2].path, "/usr/bin/a b");
	assert_int_equal(l.v[2].prot, PROT_READ | PROT_EXEC);
	assert_int_equal(l.v[2].offset, 0x3000);
	assert_int_equal(l.v[2].ino, 123);
	assert_ptr_equal(vma_find(&l, 0x500000), &l.v[3]);
	assert_null(vma_find(&l, 0x600000));
	assert_ptr_equal(vma_named(&l, "[vdso]"), &l.v[7]);
	layout_keep_moving(&l, 0x10000, 0x50000);
	assert_int_equal(l.nr, 4);
	assert_int_equal(l.v[0].start, 0x400000);
	vma_list_clear(&l);
	assert_int_equal(proc_parse_maps("nonsense\n", &l, NULL), -EPROTO);
	vma_list_clear(&l);
}

/* As read from a process that maps and unmaps meanwhile. */
static void test_torn_maps(void **state)
{
	static const char text[] =
		"1000-5000 rw-p 00000000 00:00 0 \n"
		"5000-6000 rw-p 00000000 00:00 0 \n"
		"3000-9000 rw-p 00000000 fe:00 123      /grown\n"
		"9000-a000 r--p 00000000 fe:00 124      /small\n"
		"9000-c000 rw-p 00000000 00:00 0 \n";
	static const uint64_t ends[][2] = { { 0x1000, 0x3000 },
					    { 0x3000, 0x9000 },
					    { 0x9000, 0xc000 } };
	struct vma_list l = { 0 };

	assert_int_equal(proc_parse_maps(text, &l, NULL), 0);
	assert_int_equal(l.nr, 3);
	for (size_t i = 0; i < l.nr; i++) {
		assert_int_equal(l.v[i].start, ends[i][0]);
		assert_int_equal(l.v[i].end, ends[i][1]);
	}
	assert_string_equal(l.v[1].path, "/grown");
	assert_int_equal(l.v[2].kind, VMA_ANON);
	vma_list_clear(&l);
}

static void test_advice(void **state)
{
	char text[] = "00500000-00600000 rw-p 00000000 00:00 0   [heap]\n"
		      "Size:  4 kB\nVmFlags: rd wr mr mw me lo dc \n";
	struct vma_list l = { 0 };

	assert_int_equal(proc_parse_maps(maps_text, &l, NULL), 0);
	assert_int_equal(proc_parse_advice(text, &l, NULL), 0);
	assert_int_equal(l.v[3].advice,
			 VMA_LOCKED | VMA_DONTFORK | VMA_MAYWRITE);
	assert_int_equal(l.v[2].advice, 0);
	vma_list_clear(&l);
}

static void test_status(void **state)
{
	struct proc_status s;

	assert_int_equal(
		proc_parse_status(
			"Name:\tx\nUmask:\t0027\nState:\tS (sleeping)\n"
			"Tgid:\t700\nPid:\t700\nPPid:\t5\n"
			"TracerPid:\t9\nNSpid:\t700\t31\t2\n"
			"VmLck:\t   16 kB\n"
			"VmRSS:\t    8 kB\nVmSwap:\t    4 kB\n"
			"SigQ:\t12/31\n"
			"Threads:\t3\nCapEff:\t00000000000000ff\n"
			"NoNewPrivs:\t1\nSeccomp:\t2\n",
			&s, NULL),
		0);
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.ns_pid, 2);
	assert_int_equal(s.nr_ns, 3);
	assert_int_equal(s.umask, 027);
	assert_int_equal(s.tracer, 9);
	assert_int_equal(s.memory, 12 << 10);
	assert_int_equal(s.swapped, 4 << 10);
	assert_int_equal(s.locked, 16 << 10);
	assert_int_equal(s.queued, 12);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.cap_eff, 0xff);
	assert_true(s.no_new_privs && s.seccomp && !s.shadow_stack);
	assert_int_equal(proc_parse_status("", &s, NULL), -EPROTO);
}

static struct vma_list layout(const char *text)
{
	struct vma_list l = { 0 };

	assert_int_equal(proc_parse_maps(text, &l, NULL), 0);
	return l;
}

static void test_diff(void **state)
{
	struct vma_list from = layout("1000-9000 rw-p 0 00:00 0 \n"
				      "a000-c000 rw-p 0 fe:00 5 /f\n");
	/* a hole, another file, a file shifted, growth; prot does not count */
	struct vma_list to = layout("1000-3000 r--p 0 00:00 0 \n"
				    "4000-6000 rw-p 0 fe:00 6 /g\n"
				    "6000-9000 rw-p 0 00:00 0 \n"
				    "a000-b000 rw-p 0 fe:00 5 /f\n"
				    "b000-d000 rw-p 8000 fe:00 5 /f\n");
	struct vma_list gone = { 0 }, fresh = { 0 };

	layout_diff(&from, &to, &gone, &fresh);
	assert_int_equal(gone.nr, 2);
	assert_int_equal(gone.v[0].start, 0x3000);
	assert_int_equal(gone.v[0].end, 0x6000);
	assert_int_equal(gone.v[1].start, 0xb000);
	assert_int_equal(gone.v[1].end, 0xc000);
	assert_int_equal(fresh.nr, 2);
	assert_int_equal(fresh.v[0].start, 0x4000);
	assert_int_equal(fresh.v[1].start, 0xb000);
	assert_int_equal(fresh.v[1].offset, 0x8000);
	vma_list_clear(&from);
	vma_list_clear(&to);
	vma_list_clear(&gone);
	vma_list_clear(&fresh);
}

static void test_timers(void **state)
{
	Move__State s = MOVE__STATE__INIT;

	assert_int_equal(timers_parse("ID: 0\nsignal: 14/00007fff00000001\n"
				      "notify: signal/pid.7\nClockID: 1\n"
				      "ID: 3\nsignal: 34/0000000000000000\n"
				      "notify: signal/tid.9\nClockID: 0\n",
				      &s, 2, NULL),
			 0);
	assert_int_equal(s.n_timer, 2);
	assert_int_equal(s.timer[0]->notify, SIGEV_SIGNAL);
	assert_int_equal(s.timer[0]->sigval, 0x7fff00000001);
	assert_int_equal(s.timer[1]->id, 3);
	assert_int_equal(s.timer[1]->notify, SIGEV_THREAD_ID);
	assert_int_equal(s.timer[1]->tid, 9);
	assert_int_equal(timers_parse("ID: 9", &s, 3, NULL), -EPROTO);
	for (size_t i = 0; i < s.n_timer; i++)
		move__posix_timer__free_unpacked(s.timer[i], NULL);
	free(s.timer);
}

static struct user_regs_struct interrupted(long nr, long result)
{
	return (struct user_regs_struct){ .rip = 0x1002,
					  .orig_rax = (unsigned long)nr,
					  .rax = (unsigned long)result };
}

static void test_settle(void **state)
{
	struct user_regs_struct c, r = interrupted(SYS_read, -512);

	assert_int_equal(settle_syscall(&r, &c), -1);
	assert_int_equal(c.rip, 0x1000);
	assert_int_equal(c.rax, SYS_read);
	r = interrupted(SYS_nanosleep, -516);
	assert_int_equal(settle_syscall(&r, &c), SYS_nanosleep);
	assert_int_equal(c.rax, SYS_restart_syscall);
	/*
	 * epoll_wait returns EINTR after a mere stop, semop only after a signal
	 */
	r = interrupted(SYS_epoll_wait, -EINTR);
	assert_int_equal(settle_syscall(&r, &c), -1);
	assert_int_equal(c.rip, 0x1000);
	r = interrupted(SYS_semop, -EINTR);
	assert_int_equal(settle_syscall(&r, &c), -1);
	assert_int_equal(c.rip, 0x1002);
	/* the thread is in no call, whatever rax holds */
	r = interrupted(-1, -512);
	assert_int_equal(settle_syscall(&r, &c), -1);
	assert_int_equal(c.rip, 0x1002);
}

/* What is given back to the kernel is what it would act on. */
static void test_give_back(void **state)
{
	struct user_regs_struct c, r = interrupted(SYS_read, -512);

	settle_syscall(&r, &c);
	settle_give_back(&c, settle_code(&r));
	assert_memory_equal(&c, &r, sizeof(c));
	/*
	 * after a stop epoll_wait returns EINTR; a handler ends it, nothing
	 * else does
	 */
	r = interrupted(SYS_epoll_wait, -EINTR);
	settle_syscall(&r, &c);
	settle_give_back(&c, settle_code(&r));
	assert_int_equal(c.rip, 0x1002);
	assert_int_equal(c.orig_rax, SYS_epoll_wait);
	assert_int_equal((long)c.rax, -514);
	r = interrupted(SYS_semop, -EINTR);
	settle_syscall(&r, &c);
	settle_give_back(&c, settle_code(&r));
	assert_int_equal((long)c.rax, -EINTR);
	assert_int_equal((long)c.orig_rax, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_torn_maps),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_timers),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_give_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
