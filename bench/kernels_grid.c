/* kernels_grid.c - the kernels on grids: neighbours, planes, transposes */
#include "kernels.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* ---- FT: Fourier transforms along both sides of a square; transposes ---- */

#define FT_N 1024 /* a power of 2 */

struct ft {
	int nr, rows;
	double complex *here, *there, root[FT_N / 2];
};

static void *ft_begin(int rank, int nr)
{
	struct ft *f = kernel_alloc(1, sizeof(*f));
	size_t cells;

	f->nr = nr;
	f->rows = FT_N / nr;
	cells = (size_t)f->rows * FT_N;
	f->here = kernel_alloc(cells, sizeof(*f->here));
	f->there = kernel_alloc(cells, sizeof(*f->there));
	for (size_t i = 0; i < cells; i++)
		f->here[i] = kernel_unit((uint64_t)rank * cells + i);
	for (int i = 0; i < FT_N / 2; i++)
		f->root[i] = cexp(-2 * M_PI * I * i / FT_N);
	return f;
}

static void ft_swap(double complex *a)
{
	for (int i = 1, j = 0; i < FT_N; i++) {
		int bit = FT_N >> 1;
		double complex t = a[i];

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i >= j)
			continue;
		a[i] = a[j];
		a[j] = t;
	}
}

static void ft_row(const struct ft *f, double complex *a)
{
	ft_swap(a);
	for (int n = 2; n <= FT_N; n *= 2)
		for (int at = 0; at < FT_N; at += n)
			for (int k = 0; k < n / 2; k++) {
				double complex x = a[at + k];
				double complex y = f->root[k * (FT_N / n)] *
						   a[at + k + n / 2];

				a[at + k] = x + y;
				a[at + k + n / 2] = x - y;
			}
}

/* What goes to one rank lies together, so that one message carries it. */
static void ft_transpose(struct ft *f)
{
	int block = f->rows * f->rows;
	double complex *t = f->there;

	for (int r = 0; r < f->nr; r++)
		for (int col = 0; col < f->rows; col++)
			for (int row = 0; row < f->rows; row++)
				*t++ = f->here[row * FT_N + r * f->rows + col];
	MPI_Alltoall(f->there, 2 * block, MPI_DOUBLE, f->here, 2 * block,
		     MPI_DOUBLE, MPI_COMM_WORLD);
	for (int r = 0; r < f->nr; r++)
		for (int row = 0; row < f->rows; row++)
			memcpy(f->there + row * FT_N + r * f->rows,
			       f->here + r * block + row * f->rows,
			       (size_t)f->rows * sizeof(*t));
	t = f->here;
	f->here = f->there;
	f->there = t;
}

static void ft_step(void *state, int step)
{
	struct ft *f = state;

	(void)step;
	for (int pass = 0; pass < 2; pass++) {
		for (int row = 0; row < f->rows; row++)
			ft_row(f, f->here + row * FT_N);
		ft_transpose(f);
	}
	for (int i = 0; i < f->rows * FT_N; i++)
		f->here[i] = conj(f->here[i]) / FT_N;
}

static double ft_sum(const void *state)
{
	const struct ft *f = state;
	double sum = 0;

	for (int i = 0; i < f->rows * FT_N; i++)
		sum += cabs(f->here[i]) * (i % 7);
	return sum;
}

const struct kernel kernel_ft = { "ft", ft_begin, ft_step, ft_sum };

/* ---- LU: planes one after the other; small messages to two neighbours ---- */

#define LU_N	 64 /* points a side, of a rank */
#define LU_PARTS 5  /* values of a point */

struct lu {
	int up, down, left, right;
	double *u;			 /* plane, row, column, part */
	double edge[2][LU_N * LU_PARTS]; /* of a plane: the row, the column */
};

static void *lu_begin(int rank, int nr)
{
	struct lu *l = kernel_alloc(1, sizeof(*l));
	size_t cells = (size_t)LU_N * LU_N * LU_N * LU_PARTS;
	int dims[2] = { 0 }, periodic[2] = { 0 };
	MPI_Comm grid;

	MPI_Dims_create(nr, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
	MPI_Cart_shift(grid, 0, 1, &l->up, &l->down);
	MPI_Cart_shift(grid, 1, 1, &l->left, &l->right);
	l->u = kernel_alloc(cells, sizeof(*l->u));
	for (size_t i = 0; i < cells; i++)
		l->u[i] = kernel_unit((uint64_t)rank * cells + i);
	return l;
}

static double *lu_at(const struct lu *l, int plane, int row, int col)
{
	return l->u +
	       (((size_t)plane * LU_N + (size_t)row) * LU_N + (size_t)col) *
		       LU_PARTS;
}

/* The rows and columns in the order of dir: 1 or -1. */
static void lu_plane(struct lu *l, int plane, int dir)
{
	int first = dir > 0 ? 0 : LU_N - 1;

	for (int i = 0; i < LU_N; i++)
		for (int j = 0; j < LU_N; j++) {
			int row = first + dir * i, col = first + dir * j;
			double *u = lu_at(l, plane, row, col);
			double *above = l->edge[0] + (size_t)col * LU_PARTS;
			double *beside = l->edge[1] + (size_t)row * LU_PARTS;

			for (int m = 0; m < LU_PARTS; m++) {
				double v = 0.4 * u[m] + 0.3 * above[m] +
					   0.2 * beside[m];

				for (int k = 0; k < LU_PARTS; k++)
					v += 0.02 * u[k];
				above[m] = beside[m] = v;
			}
			memcpy(u, above, LU_PARTS * sizeof(*u));
		}
}

/* Edges come from two neighbours, and are sent on to the other two. */
static void lu_sweep(struct lu *l, int dir)
{
	int from[2] = { dir > 0 ? l->up : l->down,
			dir > 0 ? l->left : l->right };
	int to[2] = { dir > 0 ? l->down : l->up, dir > 0 ? l->right : l->left };

	for (int k = 0; k < LU_N; k++) {
		for (int e = 0; e < 2; e++) {
			memset(l->edge[e], 0, sizeof(l->edge[e]));
			MPI_Recv(l->edge[e], LU_N * LU_PARTS, MPI_DOUBLE,
				 from[e], e, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		lu_plane(l, dir > 0 ? k : LU_N - 1 - k, dir);
		for (int e = 0; e < 2; e++)
			MPI_Send(l->edge[e], LU_N * LU_PARTS, MPI_DOUBLE, to[e],
				 e, MPI_COMM_WORLD);
	}
}

static void lu_step(void *state, int step)
{
	struct lu *l = state;

	lu_sweep(l, 1);
	lu_sweep(l, -1);
	for (int i = 0; i < LU_N * LU_PARTS; i++)
		lu_at(l, step % LU_N, 0, 0)[i] += 1;
}

static double lu_sum(const void *state)
{
	const struct lu *l = state;
	double sum = 0;

	for (size_t i = 0; i < (size_t)LU_N * LU_N * LU_N * LU_PARTS; i++)
		sum += l->u[i];
	return sum;
}

const struct kernel kernel_lu = { "lu", lu_begin, lu_step, lu_sum };

/* ---- MG: grids of grids, cut into slabs; neighbours near and far ---- */

#define MG_N	  128
#define MG_LEVELS 5

/* A slab, with one plane of each neighbour before and behind it. */
struct slab {
	int n, planes;
	double *u, *v;
};

struct mg {
	int before, behind;
	struct slab slab[MG_LEVELS];
};

static double *mg_plane(const struct slab *s, double *grid, int plane)
{
	return grid + (size_t)(plane + 1) * (size_t)s->n * (size_t)s->n;
}

static void *mg_begin(int rank, int nr)
{
	struct mg *g = kernel_alloc(1, sizeof(*g));

	g->before = (rank + nr - 1) % nr;
	g->behind = (rank + 1) % nr;
	for (int i = 0; i < MG_LEVELS; i++) {
		struct slab *s = &g->slab[i];
		size_t cells;

		s->n = MG_N >> i;
		s->planes = s->n > nr ? s->n / nr : 1;
		cells = (size_t)(s->planes + 2) * (size_t)s->n * (size_t)s->n;
		s->u = kernel_alloc(cells, sizeof(*s->u));
		s->v = kernel_alloc(cells, sizeof(*s->v));
		for (size_t k = 0; i == 0 && k < cells; k++)
			s->u[k] = kernel_unit((uint64_t)rank * cells + k);
	}
	return g;
}

static void mg_halo(const struct mg *g, const struct slab *s)
{
	int n = s->n * s->n;

	MPI_Sendrecv(mg_plane(s, s->u, 0), n, MPI_DOUBLE, g->before, 0,
		     mg_plane(s, s->u, s->planes), n, MPI_DOUBLE, g->behind, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(mg_plane(s, s->u, s->planes - 1), n, MPI_DOUBLE, g->behind,
		     1, mg_plane(s, s->u, -1), n, MPI_DOUBLE, g->before, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void mg_smooth(const struct mg *g, struct slab *s)
{
	int n = s->n, area = n * n;
	double *t = s->u;

	mg_halo(g, s);
	for (int p = 0; p < s->planes; p++) {
		const double *u = mg_plane(s, s->u, p);
		double *v = mg_plane(s, s->v, p);

		for (int i = 0; i < area; i++)
			v[i] = 0.5 * u[i] +
			       (u[i - area] + u[i + area] + u[i ^ 1] +
				u[(i + n) % area] + u[(i + area - n) % area]) /
				       10;
	}
	s->u = s->v;
	s->v = t;
}

/* Every other point of a finer grid, or each point of a coarser one twice. */
static void mg_carry(struct slab *fine, struct slab *coarse, int down)
{
	int deep = fine->planes > coarse->planes ? 2 : 1;

	for (int p = 0; p < coarse->planes; p++)
		for (int i = 0; i < coarse->n * coarse->n; i++) {
			int row = i / coarse->n * 2, col = i % coarse->n * 2;
			double *f = mg_plane(fine, fine->u, p * deep) +
				    row * fine->n + col;
			double *c = mg_plane(coarse, coarse->u, p) + i;

			if (down)
				*c = *f;
			else
				*f = (*f + *c) / 2;
		}
}

static void mg_step(void *state, int step)
{
	struct mg *g = state;

	*mg_plane(&g->slab[0], g->slab[0].u, 0) = step;
	for (int i = 0; i < MG_LEVELS; i++) {
		mg_smooth(g, &g->slab[i]);
		if (i + 1 < MG_LEVELS)
			mg_carry(&g->slab[i], &g->slab[i + 1], 1);
	}
	for (int i = MG_LEVELS - 1; i-- > 0;) {
		mg_carry(&g->slab[i], &g->slab[i + 1], 0);
		mg_smooth(g, &g->slab[i]);
	}
}

static double mg_sum(const void *state)
{
	const struct mg *g = state;
	const struct slab *s = &g->slab[0];
	double sum = 0;

	for (int p = 0; p < s->planes; p++)
		for (int i = 0; i < s->n * s->n; i++)
			sum += mg_plane(s, s->u, p)[i];
	return sum;
}

const struct kernel kernel_mg = { "mg", mg_begin, mg_step, mg_sum };
