/* run_kept.c - output that the controller keeps, see run_kept.h */
#include "cmd/client/run_kept.h"

int run_kept_ask(struct run_kept *k, struct conn *conn, uint64_t job)
{
	Control__GetOutput ask = CONTROL__GET_OUTPUT__INIT;

	if (k->asked || k->over)
		return 0;
	ask.job = job;
	ask.from = k->from;
	ask.wait = true;
	k->asked = true;
	return message_send(conn, 5, 0, MESSAGE_BODY(GET_OUTPUT), &ask);
}

void run_kept_print(struct run_kept *k, const Control__KeptOutput *o,
		    struct run_print *print)
{
	k->asked = false;
	for (size_t i = 0; i < o->n_pieces; i++) {
		o->pieces[i]->gap |=
			o->dropped || output_begins(o->pieces[i]->offset);
		run_print_piece(print, o->pieces[i]);
	}
	if (o->next > k->from)
		k->from = o->next;
	k->over = o->over;
}
