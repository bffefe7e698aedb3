/*
 * tasks.h - the numbers of an array's tasks, as a text
 *
 * "3", "1-1000", "0-100:10" (each tenth), and several of them with commas between
 * them: as sbatch(1) has them.  With "%N" behind, N of them run at a time.
 */
#ifndef CMD_CLIENT_TASKS_H
#define CMD_CLIENT_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

enum { TASKS_MOST = 100000 }; /* of an array */
#define TASK_LAST 4000000000u /* the highest number of one */

struct task_range {
	uint32_t first, last, step;
};

/* Each range of the text, in its order; -EINVAL with what is wrong with it. */
int tasks_parse(const char *text,
		void (*each)(void *ctx, const struct task_range *r), void *ctx,
		struct error *err) must_check;

/*
 * What --array says: the numbers, ascending, which the caller frees, and how many
 * at a time (0: any number).  None is there twice.
 */
int tasks_of_array(const char *text, uint32_t **ret, size_t *n,
		   uint32_t *at_once, struct error *err) must_check;

#endif
