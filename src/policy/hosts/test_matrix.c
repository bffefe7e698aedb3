/*
 * test_matrix.c - the matrix algorithm (Schnor 1997 section 2.1.4) against a second
 * implementation
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/hosts/test_slices.h"

static int nr_rows, turn; /* turn -1: no row has had it, or that one is gone */

static bool has_place(int row, uint32_t col)
{
	for (int k = 0; k < nr; k++)
		for (uint32_t i = 0; i < mine[order[k]].size; i++)
			if (mine[order[k]].row == row &&
			    mine[order[k]].at[i] == col)
				return false;
	return true;
}

/* The lowest columns that are empty, of the first row with enough of them. */
static void matrix_came(struct mine *m)
{
	for (int row = 0;; row++) {
		uint32_t n = 0;

		for (uint32_t c = 0; c < HOSTS && n < m->size; c++)
			if (has_place(row, c))
				m->at[n++] = c;
		if (n < m->size)
			continue;
		m->row = row;
		nr_rows = row < nr_rows ? nr_rows : row + 1;
		return;
	}
}

static void matrix_went(int row)
{
	for (int k = 0; k < nr; k++)
		if (mine[order[k]].row == row)
			return;
	for (int k = 0; k < nr; k++)
		mine[order[k]].row -= mine[order[k]].row > row;
	nr_rows--;
	turn -= turn >= row;
}

static void matrix_goes(struct mine *m)
{
	char why[100];

	if (m->row == turn)
		snprintf(why, sizeof(why), "it is the turn of its row %d of %d",
			 m->row + 1, nr_rows);
	else
		snprintf(why, sizeof(why),
			 "alternate selection: its %s idle in this slice",
			 slices_of(m->size, "host is", "hosts are"));
	if (m->job->state == JOB_WAITING)
		slices_expect("start job %d with %u on %.*s: %s", slices_id(m),
			      m->size, 2 * (int)m->size - 1,
			      slices_names(m->at, m->size), why);
	else
		slices_expect("resume job %d: %s", slices_id(m), why);
}

static bool all_idle(const struct mine *m)
{
	for (uint32_t i = 0; i < m->size; i++)
		if (busy[m->at[i]] ||
		    !slices_takes(&w.view.hosts[m->at[i]], m->job))
			return false;
	return true;
}

static void give(const struct mine *m)
{
	for (uint32_t i = 0; i < m->size; i++)
		busy[m->at[i]] = true;
}

static void stops_in_the_way(struct mine *m)
{
	int i = m->turn ? slices_in_the_way(m) : -1;

	if (i < 0)
		return;
	slices_expect("suspend job %d: the owner of %c needs it", slices_id(m),
		      'a' + (int)m->job->hosts[i]);
	m->turn = false;
}

static void matrix_choose(bool fresh)
{
	bool ran[JOBS], serve[JOBS];

	memset(busy, 0, sizeof(busy));
	for (int k = 0; k < nr; k++) {
		struct mine *m = &mine[order[k]];

		ran[order[k]] = m->turn;
		m->turn = m->turn && !fresh;
		serve[order[k]] = m->turn;
		if (m->turn)
			give(m);
	}
	for (int n = 0; n < (alternate ? nr_rows : 1); n++)
		for (int k = 0; k < nr; k++) {
			struct mine *m = &mine[order[k]];

			if (m->row != (turn + nr_rows + n) % nr_rows ||
			    m->turn || !all_idle(m))
				continue;
			m->turn = true;
			give(m);
		}
	for (int k = 0; k < nr; k++) {
		struct mine *m = &mine[order[k]];

		if (ran[order[k]] && !m->turn)
			slices_expect(
				"suspend job %d: the time slot of its row is "
				"over",
				slices_id(m));
		if (m->turn && !ran[order[k]] && !serve[order[k]])
			matrix_goes(m);
	}
}

/* Does a slice begin? */
static bool matrix_pass(void)
{
	bool fresh = w.view.now >= ends;

	if (!nr) {
		turn = -1;
		ends = w.view.now;
		return false;
	}
	for (int k = 0; k < nr; k++)
		stops_in_the_way(&mine[order[k]]);
	if (fresh) {
		turn = (turn + 1) % nr_rows;
		ends = w.view.now + SLICE;
	}
	if (fresh || slices_lends())
		matrix_choose(fresh);
	return fresh;
}

static void draw(struct random_stream *r, char *spec, size_t size)
{
	(void)r;
	snprintf(spec, size, "matrix:slice=100,alternate=%d", alternate);
}

static void begin(struct random_stream *r)
{
	(void)r;
	nr_rows = 0;
	turn = -1;
}

static void told(const struct mine *m, int k)
{
	(void)k;
	slices_expect("defer job %d: its row, %d of %d, has its turn later",
		      slices_id(m), m->row + 1, nr_rows);
}

static void rows_take_turns(void **state)
{
	static const struct second second = { draw,	   begin,
					      matrix_came, matrix_went,
					      matrix_pass, told };

	(void)state;
	slices_play(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_take_turns),
	};

	return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
