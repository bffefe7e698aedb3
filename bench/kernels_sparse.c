/* kernels_sparse.c - the kernels whose messages go everywhere, or nowhere */
#include "kernels.h"

#include <math.h>
#include <string.h>

/* ---- CG: a sparse system; each rank needs all of the vector ---- */

#define CG_ROWS	   100000 /* of a rank */
#define CG_BANDS   12	  /* of the matrix, at random distances */
#define CG_RESTART 25

struct cg {
	int rank, n;
	int *column;   /* CG_BANDS of each row; value: the matrix there */
	double *value; /* negative, small beside the diagonal */
	double *x, *r, *q, *p; /* p: of all ranks */
	double rho;
};

static double cg_dot(const double *a, const double *b)
{
	double mine = 0, all;

	for (int i = 0; i < CG_ROWS; i++)
		mine += a[i] * b[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

static void *cg_begin(int rank, int nr)
{
	struct cg *g = kernel_alloc(1, sizeof(*g));
	size_t cells = (size_t)CG_ROWS * CG_BANDS;

	*g = (struct cg){ .rank = rank, .n = nr * CG_ROWS };
	g->column = kernel_alloc(cells, sizeof(*g->column));
	g->value = kernel_alloc(cells, sizeof(*g->value));
	g->x = kernel_alloc(CG_ROWS, sizeof(*g->x));
	g->r = kernel_alloc(CG_ROWS, sizeof(*g->r));
	g->q = kernel_alloc(CG_ROWS, sizeof(*g->q));
	g->p = kernel_alloc((size_t)g->n, sizeof(*g->p));
	for (int i = 0; i < CG_ROWS; i++)
		for (int k = 0; k < CG_BANDS; k++) {
			/*
			 * The matrix is symmetric: each distance occurs once to
			 * either side.
			 */
			int far = (int)(kernel_hash((uint64_t)(k / 2)) %
					(uint64_t)g->n);
			int at = rank * CG_ROWS + i + (k % 2 ? far : -far);

			g->column[i * CG_BANDS + k] = (at + g->n) % g->n;
			g->value[i * CG_BANDS + k] = -0.05;
		}
	return g;
}

/* A new right-hand side, made from the solution. */
static void cg_restart(struct cg *g, int step)
{
	double *p = g->p + (size_t)g->rank * CG_ROWS;

	for (int i = 0; i < CG_ROWS; i++) {
		uint64_t n = (uint64_t)(g->rank * CG_ROWS + i) + (uint64_t)step;

		g->r[i] = p[i] = kernel_unit(n) + g->x[i] / 1e3;
		g->x[i] = 0;
	}
	g->rho = cg_dot(g->r, g->r);
}

static void cg_multiply(struct cg *g)
{
	const double *mine = g->p + (size_t)g->rank * CG_ROWS;

	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, g->p, CG_ROWS,
		      MPI_DOUBLE, MPI_COMM_WORLD);
	for (int i = 0; i < CG_ROWS; i++) {
		double sum = mine[i];

		for (int k = i * CG_BANDS; k < (i + 1) * CG_BANDS; k++)
			sum += g->value[k] * g->p[g->column[k]];
		g->q[i] = sum;
	}
}

static void cg_step(void *state, int step)
{
	struct cg *g = state;
	double *p = g->p + (size_t)g->rank * CG_ROWS, alpha, rho;

	if (step % CG_RESTART == 0)
		cg_restart(g, step);
	cg_multiply(g);
	alpha = g->rho / cg_dot(p, g->q);
	for (int i = 0; i < CG_ROWS; i++) {
		g->x[i] += alpha * p[i];
		g->r[i] -= alpha * g->q[i];
	}
	rho = cg_dot(g->r, g->r);
	for (int i = 0; i < CG_ROWS; i++)
		p[i] = g->r[i] + rho / g->rho * p[i];
	g->rho = rho;
}

static double cg_sum(const void *state)
{
	const struct cg *g = state;
	double sum = 0;

	for (int i = 0; i < CG_ROWS; i++)
		sum += g->x[i];
	return sum;
}

const struct kernel kernel_cg = { "cg", cg_begin, cg_step, cg_sum };

/* ---- EP: pairs of normal numbers, counted; nothing is sent ---- */

#define EP_PAIRS 100000

struct ep {
	uint64_t next;
	double sum;
};

static void *ep_begin(int rank, int nr)
{
	struct ep *e = kernel_alloc(1, sizeof(*e));

	(void)nr;
	e->next = (uint64_t)rank << 40;
	return e;
}

static void ep_step(void *state, int step)
{
	struct ep *e = state;

	(void)step;
	for (int i = 0; i < EP_PAIRS; i++, e->next += 2) {
		double x = 2 * kernel_unit(e->next) - 1;
		double y = 2 * kernel_unit(e->next + 1) - 1;
		double t = x * x + y * y;

		if (t > 0 && t <= 1)
			e->sum += fabs(x * sqrt(-2 * log(t) / t));
	}
}

static double ep_sum(const void *state)
{
	return ((const struct ep *)state)->sum;
}

const struct kernel kernel_ep = { "ep", ep_begin, ep_step, ep_sum };

/* ---- IS: integers are sorted; all send to all ---- */

#define IS_KEYS (1 << 20) /* of a rank */
#define IS_BITS 16
#define IS_MOST (1 << IS_BITS)

struct is {
	int rank, nr;
	int *key, *sorted, *got, *count;
	int *out, *out_at, *in, *in_at; /* per rank: how many, from where on */
	double sum;
};

static void *is_begin(int rank, int nr)
{
	struct is *s = kernel_alloc(1, sizeof(*s));
	size_t n = (size_t)nr;

	*s = (struct is){ .rank = rank, .nr = nr };
	s->key = kernel_alloc(IS_KEYS, sizeof(int));
	s->sorted = kernel_alloc(IS_KEYS, sizeof(int));
	s->got = kernel_alloc((size_t)IS_KEYS * 2, sizeof(int));
	s->count = kernel_alloc(IS_MOST, sizeof(int));
	s->out = kernel_alloc(n, sizeof(int));
	s->out_at = kernel_alloc(n + 1, sizeof(int));
	s->in = kernel_alloc(n, sizeof(int));
	s->in_at = kernel_alloc(n + 1, sizeof(int));
	for (int i = 0; i < IS_KEYS; i++)
		s->key[i] = (int)(kernel_hash((uint64_t)rank * IS_KEYS +
					      (uint64_t)i) %
				  IS_MOST);
	return s;
}

/* The rank that sorts keys like this one, so that all ranks have as many. */
static int is_owner(const struct is *s, int key)
{
	return (int)((int64_t)key * s->nr / IS_MOST);
}

/* My keys, in the order of the ranks to which they go. */
static void is_bucket(struct is *s)
{
	memset(s->out, 0, (size_t)s->nr * sizeof(int));
	for (int i = 0; i < IS_KEYS; i++)
		s->out[is_owner(s, s->key[i])]++;
	for (int r = 0; r < s->nr; r++)
		s->out_at[r + 1] = s->out_at[r] + s->out[r];
	for (int i = 0; i < IS_KEYS; i++)
		s->sorted[s->out_at[is_owner(s, s->key[i])]++] = s->key[i];
	for (int r = 0; r < s->nr; r++)
		s->out_at[r] -= s->out[r];
}

static void is_step(void *state, int step)
{
	struct is *s = state;

	s->key[step % IS_KEYS] = step % IS_MOST;
	is_bucket(s);
	MPI_Alltoall(s->out, 1, MPI_INT, s->in, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < s->nr; r++)
		s->in_at[r + 1] = s->in_at[r] + s->in[r];
	MPI_Alltoallv(s->sorted, s->out, s->out_at, MPI_INT, s->got, s->in,
		      s->in_at, MPI_INT, MPI_COMM_WORLD);
	memset(s->count, 0, IS_MOST * sizeof(int));
	for (int i = 0; i < s->in_at[s->nr]; i++)
		s->count[s->got[i]]++;
	for (int k = 1; k < IS_MOST; k++)
		s->count[k] += s->count[k - 1];
	s->sum += s->count[(step * 7919) % IS_MOST];
}

static double is_sum(const void *state)
{
	return ((const struct is *)state)->sum;
}

const struct kernel kernel_is = { "is", is_begin, is_step, is_sum };
