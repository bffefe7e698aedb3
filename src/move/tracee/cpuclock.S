/*
 * cpuclock.S - what a vdso does instead of asking the kernel for a CPU clock
 *
 * Stands for "mov $SYS_clock_gettime, %eax; syscall", so nothing but rax, rcx
 * and r11 may change, and no stack be used (the caller may have put something
 * below it).  cpuclock.c fills in where the table lies and the way back.
 */
#define SYS_clock_gettime 228
#define SYS_getpid	39
#define SYS_gettid	186
#define OF_PROCESS	0x80000000
#define NSEC		1000000000
#define ENTRY_SIZE	24

	.section .rodata.cpuclock, "a", @progbits
	.globl cpuclock_begin, cpuclock_table, cpuclock_back, cpuclock_end
cpuclock_begin:
	mov	$SYS_clock_gettime, %eax
	syscall
	test	%eax, %eax
	jnz	.Lback
	cmp	$2, %edi		/* CLOCK_PROCESS_CPUTIME_ID */
	je	.Lprocess
	cmp	$3, %edi		/* CLOCK_THREAD_CPUTIME_ID */
	je	.Lthread
	test	%edi, %edi
	jns	.Lback
	mov	%edi, %eax		/* a clock of a pid or tid? */
	and	$7, %eax
	cmp	$2, %eax
	je	.Lpid
	cmp	$6, %eax
	jne	.Ldone
	mov	%edi, %eax
	sar	$3, %eax
	not	%eax
	test	%eax, %eax
	jnz	.Llook
.Lthread:
	mov	$SYS_gettid, %eax
	syscall
	jmp	.Llook
.Lpid:
	mov	%edi, %eax
	sar	$3, %eax
	not	%eax
	test	%eax, %eax
	jnz	.Lis_process
.Lprocess:
	mov	$SYS_getpid, %eax
	syscall
.Lis_process:
	or	$OF_PROCESS, %eax
.Llook:
	.byte	0x4c, 0x8d, 0x1d	/* lea table(%rip), %r11 */
cpuclock_table:
	.long	0
.Lnext:
	mov	(%r11), %ecx
	test	%ecx, %ecx
	jz	.Ldone
	cmp	%eax, %ecx
	je	.Lfound
	add	$ENTRY_SIZE, %r11
	jmp	.Lnext
.Lfound:
	mov	16(%r11), %rcx
	add	8(%rsi), %rcx
	mov	8(%r11), %rax
	cmp	$NSEC, %rcx
	jb	.Lstore
	sub	$NSEC, %rcx
	inc	%rax
.Lstore:
	add	%rax, (%rsi)
	mov	%rcx, 8(%rsi)
.Ldone:
	xor	%eax, %eax
.Lback:
	.byte	0xe9			/* jmp behind the call that it stands for */
cpuclock_back:
	.long	0
cpuclock_end:
	.section .note.GNU-stack, "", @progbits
