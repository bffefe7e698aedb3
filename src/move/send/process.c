/* process.c - one process that moves, at the source; see process.h */
#include "move/send/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/io.h"
#include "move/move.h"
#include "move/send/handover.h"
#include "move/send/track.h"

int send_process_open(struct send_process *p, const struct move_source *src,
		      struct watch *w, struct channel *ch, struct error *err)
{
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->pidfd < 0)
		return error_sys(err, -errno, "process %d", p->pid);
	p->tracee = tracee_create(p->pid, err);
	if (!p->tracee)
		return -ESRCH;
	p->tracee->watch = w;
	p->tracee->stir = src->ops ? src->ops->stir : NULL;
	p->tracee->stir_ctx = src->ctx;
	p->pages = page_sender_create(p->pid, ch, err);
	return p->pages ? 0 : -ESRCH;
}

void send_process_end(struct send_process *p)
{
	move_calm(p->pid);
	syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
}

void send_process_clear(struct send_process *p, bool leave)
{
	/* a frozen process could not even be killed before this one exits */
	if (leave || handover_lasts(p->handover))
		tracee_abandon(p->tracee);
	else
		tracee_destroy(p->tracee);
	handover_free(p->handover);
	page_sender_destroy(p->pages);
	track_destroy(p->track);
	move__state__free_unpacked(p->state, NULL);
	vma_list_clear(&p->seen);
	io_close(&p->pidfd);
}
