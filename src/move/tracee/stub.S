/*
 * stub.S - the code that Stint runs inside a process it moves
 *
 * Position independent, without stack, vector registers or data of its own:
 * it walks a list of struct stub_call (stub.h) and can therefore run in a
 * process that has nothing else mapped, and be left at any instruction.
 * %rbx points at the current call throughout.  Offsets are asserted in
 * stub.c.
 */
#define C_NR	0
#define C_ARG0	8
#define C_ARG1	16
#define C_ARG2	24
#define C_ARG3	32
#define C_ARG4	40
#define C_ARG5	48
#define C_RET	56
#define C_COPY	64
#define C_SIZE	80

#define SYS_rt_sigreturn 15
#define SYS_nanosleep	35
#define SYS_futex	202
#define FUTEX_WAIT	0
#define FUTEX_WAKE	1

	.section .rodata.stub, "a", @progbits
	.globl stub_begin, stub_end
	.balign 64
stub_begin:
	.ascii "STINT landing 2\0"
	.quad 0		/* size of the whole area, filled in by who maps it */
	.quad 0
	.balign 64
entry:
	/* Nothing up to here has changed a register that matters. */
next:
	mov C_NR(%rbx), %rax
	test %rax, %rax
	js special
	mov C_ARG0(%rbx), %rdi
	mov C_ARG1(%rbx), %rsi
	mov C_ARG2(%rbx), %rdx
	mov C_ARG3(%rbx), %r10
	mov C_ARG4(%rbx), %r8
	mov C_ARG5(%rbx), %r9
	syscall
	mov %rax, C_RET(%rbx)
	mov C_COPY(%rbx), %rcx
	test %rcx, %rcx
	jz skip
	mov %rax, (%rcx)
skip:
	add $C_SIZE, %rbx
	jmp next

special:
	cmp $-1, %rax
	je sigreturn
	cmp $-2, %rax
	je box
	cmp $-3, %rax
	je jump
	cmp $-4, %rax
	je spawn
	cmp $-5, %rax
	je arrive
	cmp $-6, %rax
	je wait
	cmp $-7, %rax
	je insist
	cmp $-8, %rax
	je tiles
	ud2

/* arg0: the value of %rsp at which a signal frame's ucontext lies */
sigreturn:
	mov C_ARG0(%rbx), %rsp
	mov $SYS_rt_sigreturn, %eax
	syscall
	ud2

/* arg0: the next call */
jump:
	mov C_ARG0(%rbx), %rbx
	jmp next

/* arg0, arg1: clone3's; the child finds its first call on its stack */
spawn:
	mov C_ARG0(%rbx), %rdi
	mov C_ARG1(%rbx), %rsi
	mov $435, %eax
	syscall
	test %rax, %rax
	jz born
	mov %rax, C_RET(%rbx)
	jmp skip
born:
	mov (%rsp), %rbx
	jmp next

/* arg0: a counter to increment, and wake whoever waits that it is arg1 */
arrive:
	mov C_ARG0(%rbx), %rdi
	mov $1, %eax
	lock xadd %eax, (%rdi)
	inc %eax
	cmp %eax, C_ARG1(%rbx)
	jne skip
	mov $FUTEX_WAKE, %esi
	mov $0x7fffffff, %edx
	mov $SYS_futex, %eax
	syscall
	jmp skip

/* arg0: a word; go on once it is not zero */
wait:
	mov C_ARG0(%rbx), %rdi
	mov (%rdi), %eax
	test %eax, %eax
	jnz skip
	mov $FUTEX_WAIT, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	mov $SYS_futex, %eax
	syscall
	jmp wait

/* arg0: a timespec.  If the call before this failed, make it again, that later */
insist:
	cmpq $0, C_RET-C_SIZE(%rbx)
	jge skip
	mov C_ARG0(%rbx), %rdi
	xor %esi, %esi
	mov $SYS_nanosleep, %eax
	syscall
	sub $C_SIZE, %rbx
	jmp next

/* The first use of a tile; to say how many there are is none. */
tiles:
	ldtilecfg one_tile(%rip)
	tilezero %tmm0
	jmp skip

/*
 * arg0: a struct stub_box.  Say that the last request is done and wait for
 * the next, whose calls begin at arg1.
 */
box:
	mov C_ARG0(%rbx), %r12
	mov C_ARG1(%rbx), %r13
	mov (%r12), %r14d		/* the request that was done */
	mov %r14d, 4(%r12)
	lea 4(%r12), %rdi
	mov $FUTEX_WAKE, %esi
	mov $1, %edx
	mov $SYS_futex, %eax
	syscall
boxwait:
	cmp %r14d, (%r12)
	jne boxgo
	mov %r12, %rdi
	mov $FUTEX_WAIT, %esi
	mov %r14d, %edx
	xor %r10d, %r10d
	mov $SYS_futex, %eax
	syscall
	jmp boxwait
boxgo:
	mov %r13, %rbx
	jmp next
	.balign 64
one_tile:		/* palette 1; bytes and rows of tile 0 */
	.byte 1
	.zero 15
	.short 64
	.zero 30
	.byte 16
	.zero 15
	.balign 64
stub_end:
	.section .note.GNU-stack, "", @progbits
