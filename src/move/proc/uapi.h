/*
 * uapi.h - kernel interfaces newer than the headers Debian 12 ships
 *
 * PAGEMAP_SCAN and UFFD_FEATURE_WP_ASYNC: Linux 6.7.
 * PAGE_IS_GUARD: a little after MADV_GUARD_INSTALL, Linux 6.13; mseal: 6.10.
 * PR_TIMER_CREATE_RESTORE_IDS: Linux 6.16.
 * PR_SET_MDWE: Linux 6.3, PR_SET_MEMORY_MERGE: 6.4.
 */
#ifndef MOVE_PROC_UAPI_H
#define MOVE_PROC_UAPI_H

#include <linux/types.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#ifndef PAGEMAP_SCAN
#define PAGEMAP_SCAN _IOWR('f', 16, struct pm_scan_arg)

#define PAGE_IS_WPALLOWED (1 << 0)
#define PAGE_IS_WRITTEN	  (1 << 1)
#define PAGE_IS_FILE	  (1 << 2)
#define PAGE_IS_PRESENT	  (1 << 3)
#define PAGE_IS_SWAPPED	  (1 << 4)
#define PAGE_IS_PFNZERO	  (1 << 5)
#define PAGE_IS_HUGE	  (1 << 6)
#endif
#ifndef PAGE_IS_GUARD
#define PAGE_IS_GUARD (1 << 8)
#endif
#ifndef PM_SCAN_WP_MATCHING

struct page_region {
	__u64 start;
	__u64 end;
	__u64 categories;
};

#define PM_SCAN_WP_MATCHING   (1 << 0)
#define PM_SCAN_CHECK_WPASYNC (1 << 1)

struct pm_scan_arg {
	__u64 size;
	__u64 flags;
	__u64 start;
	__u64 end;
	__u64 walk_end;
	__u64 vec;
	__u64 vec_len;
	__u64 max_pages;
	__u64 category_inverted;
	__u64 category_mask;
	__u64 category_anyof_mask;
	__u64 return_mask;
};
#endif

#ifndef PR_TIMER_CREATE_RESTORE_IDS
#define PR_TIMER_CREATE_RESTORE_IDS	77
#define PR_TIMER_CREATE_RESTORE_IDS_OFF 0
#define PR_TIMER_CREATE_RESTORE_IDS_ON	1
#endif

#ifndef PR_GET_MDWE
#define PR_SET_MDWE 65
#define PR_GET_MDWE 66
#endif
#ifndef PR_GET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#define PR_GET_MEMORY_MERGE 68
#endif

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif
#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif
struct uapi_sud_config { /* struct ptrace_sud_config */
	__u64 mode;	 /* 0: off */
	__u64 selector;
	__u64 offset;
	__u64 len;
};
#ifndef MEMBARRIER_CMD_GET_REGISTRATIONS
#define MEMBARRIER_CMD_GET_REGISTRATIONS (1 << 9)
#endif
#ifndef ARCH_GET_XCOMP_PERM
#define ARCH_GET_XCOMP_PERM 0x1022
#define ARCH_REQ_XCOMP_PERM 0x1023
#endif
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08 /* in place of MAP_PRIVATE; from 6.11 on */
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif

#endif
