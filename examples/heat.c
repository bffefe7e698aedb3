/*
 * heat.c - heat spreads over a square plate: Jacobi's method, in MPI
 *
 * The plate is an N x N grid, one edge hot, the others cold.  In every
 * iteration each inner point becomes the mean of its four neighbours.  The
 * grid is cut into a P x Q grid of blocks, one per rank; before an iteration
 * neighbours exchange the edges of their blocks (the halo), and now and then
 * all ranks add up how much still changes (the residual).
 *
 * The order of every floating-point operation that reaches the result is
 * fixed, so two runs with the same options give the same bits, however often
 * ranks were moved in between: compare the line "result" or the field files.
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	int size, iterations, interval;
	const char *field; /* file for the final temperatures, or NULL */
	bool quiet;
};

/* One rank's block of the plate, with a frame of halo points around it. */
struct block {
	MPI_Comm comm;
	int rank;
	int up, down, left, right; /* neighbours, or MPI_PROC_NULL */
	int row0, col0;		   /* where the block lies in the plate */
	int rows, cols;
	double *now, *next; /* (rows + 2) x (cols + 2) */
	MPI_Datatype column;
};

static const char usage[] =
	"usage: heat [-n SIZE] [-i ITERATIONS] [-r INTERVAL] [-o FILE] [-q]\n"
	"  -n SIZE        grid points along each edge (default 512)\n"
	"  -i ITERATIONS  how many (default 1000)\n"
	"  -r INTERVAL    print the residual every so often (default 100)\n"
	"  -o FILE        write the final field there, as raw doubles\n"
	"  -q             print nothing but the result\n";

/* Any rank may come here, so all are ended. */
static void fail(const char *what)
{
	fprintf(stderr, "heat: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

/* All ranks come here, so they end in an orderly way. */
static int explain(const char *what)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && *what)
		fprintf(stderr, "heat: %s\n%s", what, usage);
	else if (rank == 0)
		printf("%s", usage);
	MPI_Finalize();
	return *what ? 2 : 0;
}

static bool number(const char *text, int min, int *ret)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (*end || end == text || v < min || v > 1000000000)
		return false;
	*ret = (int)v;
	return true;
}

/* What is wrong with the command line, or NULL; every rank finds the same. */
static const char *parse(int argc, char **argv, struct options *o)
{
	bool good = true;
	int c;

	opterr = 0;
	*o = (struct options){ .size = 512,
			       .iterations = 1000,
			       .interval = 100 };
	while ((c = getopt(argc, argv, "n:i:r:o:qh")) != -1) {
		if (c == 'n')
			good = number(optarg, 3, &o->size);
		else if (c == 'i')
			good = number(optarg, 0, &o->iterations);
		else if (c == 'r')
			good = number(optarg, 1, &o->interval);
		else if (c == 'o')
			o->field = optarg;
		else if (c == 'q')
			o->quiet = true;
		else
			return c == 'h' ? "" : "unknown option";
		if (!good)
			return "not a number, or out of range";
	}
	return optind == argc ? NULL : "too many arguments";
}

/* Part i of n of a line of length points, the rest spread evenly. */
static void share(int length, int n, int i, int *start, int *count)
{
	*count = length / n + (i < length % n);
	*start = i * (length / n) + (i < length % n ? i : length % n);
}

static double *point(const struct block *b, double *grid, int row, int col)
{
	return grid + (size_t)row * (size_t)(b->cols + 2) + col;
}

static double *alloc_grid(const struct block *b)
{
	size_t n = (size_t)(b->rows + 2) * (size_t)(b->cols + 2);
	double *grid = calloc(n, sizeof(*grid));

	if (!grid)
		fail("out of memory");
	return grid;
}

/* The top edge of the plate is at 100 degrees, the rest at 0. */
static void heat_edge(const struct block *b, double *grid)
{
	if (b->up != MPI_PROC_NULL)
		return;
	for (int col = 0; col < b->cols + 2; col++)
		*point(b, grid, 0, col) = 100.0;
}

static struct block make_block(const struct options *o)
{
	struct block b = { 0 };
	int dims[2] = { 0 }, periodic[2] = { 0 }, at[2], size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &b.comm);
	MPI_Comm_rank(b.comm, &b.rank);
	MPI_Cart_coords(b.comm, b.rank, 2, at);
	MPI_Cart_shift(b.comm, 0, 1, &b.up, &b.down);
	MPI_Cart_shift(b.comm, 1, 1, &b.left, &b.right);
	if (o->size < dims[0] || o->size < dims[1])
		fail("more ranks than grid points along an edge");
	share(o->size, dims[0], at[0], &b.row0, &b.rows);
	share(o->size, dims[1], at[1], &b.col0, &b.cols);
	b.now = alloc_grid(&b);
	b.next = alloc_grid(&b);
	heat_edge(&b, b.now);
	heat_edge(&b, b.next);
	MPI_Type_vector(b.rows, 1, b.cols + 2, MPI_DOUBLE, &b.column);
	MPI_Type_commit(&b.column);
	return b;
}

static void free_block(struct block *b)
{
	MPI_Type_free(&b->column);
	MPI_Comm_free(&b->comm);
	free(b->now);
	free(b->next);
}

/* Start all eight transfers of the halo; finish with MPI_Waitall. */
static void start_halo(const struct block *b, MPI_Request request[8])
{
	double *g = b->now;
	MPI_Comm comm = b->comm;
	int rows = b->rows, cols = b->cols;

	MPI_Irecv(point(b, g, 0, 1), cols, MPI_DOUBLE, b->up, 0, comm,
		  &request[0]);
	MPI_Irecv(point(b, g, rows + 1, 1), cols, MPI_DOUBLE, b->down, 1, comm,
		  &request[1]);
	MPI_Irecv(point(b, g, 1, 0), 1, b->column, b->left, 2, comm,
		  &request[2]);
	MPI_Irecv(point(b, g, 1, cols + 1), 1, b->column, b->right, 3, comm,
		  &request[3]);
	MPI_Isend(point(b, g, rows, 1), cols, MPI_DOUBLE, b->down, 0, comm,
		  &request[4]);
	MPI_Isend(point(b, g, 1, 1), cols, MPI_DOUBLE, b->up, 1, comm,
		  &request[5]);
	MPI_Isend(point(b, g, 1, cols), 1, b->column, b->right, 2, comm,
		  &request[6]);
	MPI_Isend(point(b, g, 1, 1), 1, b->column, b->left, 3, comm,
		  &request[7]);
}

static void relax_row(struct block *b, int row, int from, int to)
{
	const double *above = point(b, b->now, row - 1, 0);
	const double *here = point(b, b->now, row, 0);
	const double *below = point(b, b->now, row + 1, 0);
	double *next = point(b, b->next, row, 0);

	for (int col = from; col <= to; col++)
		next[col] = 0.25 * ((above[col] + below[col]) +
				    (here[col - 1] + here[col + 1]));
}

/* One iteration: the inner points while the halo is on its way. */
static void iterate(struct block *b)
{
	MPI_Request request[8];
	MPI_Status status[8];
	double *grid;

	start_halo(b, request);
	for (int row = 2; row < b->rows; row++)
		relax_row(b, row, 2, b->cols - 1);
	MPI_Waitall(8, request, status);
	relax_row(b, 1, 1, b->cols);
	relax_row(b, b->rows, 1, b->cols);
	for (int row = 2; row < b->rows; row++) {
		relax_row(b, row, 1, 1);
		relax_row(b, row, b->cols, b->cols);
	}
	grid = b->now;
	b->now = b->next;
	b->next = grid;
}

/*
 * The sum over ranks is taken in rank order at rank 0, not by MPI_Reduce,
 * which may add in any order and so round differently.
 */
static double sum_in_order(const struct block *b, double mine)
{
	double sum = 0, all[4096];
	int size;

	MPI_Comm_size(b->comm, &size);
	if (size > 4096)
		fail("more than 4096 ranks");
	MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, b->comm);
	for (int i = 0; b->rank == 0 && i < size; i++)
		sum += all[i];
	MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, b->comm);
	return sum;
}

/* How far the last iteration went, as the Euclidean norm of the change. */
static double residual(const struct block *b)
{
	double sum = 0;

	for (int row = 1; row <= b->rows; row++) {
		const double *now = point(b, b->now, row, 0);
		const double *old = point(b, b->next, row, 0);

		for (int col = 1; col <= b->cols; col++)
			sum += (now[col] - old[col]) * (now[col] - old[col]);
	}
	return sqrt(sum_in_order(b, sum));
}

/*
 * A number for the whole field that any changed bit changes: each point's
 * bits, mixed with where it is, added up; so the cut into blocks is no matter.
 */
static uint64_t checksum(const struct block *b, int size)
{
	uint64_t sum = 0, all;

	for (int row = 1; row <= b->rows; row++) {
		for (int col = 1; col <= b->cols; col++) {
			uint64_t bits, where;

			memcpy(&bits, point(b, b->now, row, col), sizeof(bits));
			where = (uint64_t)(b->row0 + row - 1) * (uint64_t)size +
				(uint64_t)(b->col0 + col - 1);
			bits = (bits ^ where) * 0x9e3779b97f4a7c15ull;
			sum += (bits ^ (bits >> 29)) * (2 * where + 1);
		}
	}
	MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, b->comm);
	return all;
}

/* Row after row of the plate, each rank at its place in the file. */
static void write_field(const struct block *b, const struct options *o)
{
	MPI_File file;
	int e = MPI_File_open(b->comm, o->field,
			      MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
			      &file);

	if (e != MPI_SUCCESS)
		fail("cannot write the field file");
	MPI_File_set_size(file, 0);
	MPI_Barrier(b->comm);
	for (int row = 0; row < b->rows; row++) {
		MPI_Offset at = (MPI_Offset)(b->row0 + row) * o->size + b->col0;

		MPI_File_write_at(file, at * (MPI_Offset)sizeof(double),
				  point(b, b->now, row + 1, 1), b->cols,
				  MPI_DOUBLE, MPI_STATUS_IGNORE);
	}
	MPI_File_close(&file);
}

/* Returns the longest time that an iteration took on this rank. */
static double solve(struct block *b, const struct options *o)
{
	double last = 0, longest = 0, before = MPI_Wtime(), now;
	uint64_t sum;

	for (int i = 1; i <= o->iterations; i++) {
		iterate(b);
		now = MPI_Wtime();
		longest = now - before > longest ? now - before : longest;
		before = now;
		if (i % o->interval && i != o->iterations)
			continue;
		last = residual(b);
		if (b->rank == 0 && !o->quiet) {
			printf("iteration %7d  residual %.9e\n", i, last);
			fflush(stdout);
		}
	}
	sum = checksum(b, o->size);
	if (b->rank == 0)
		printf("result size=%d iterations=%d residual=%a "
		       "checksum=%016llx\n",
		       o->size, o->iterations, last, (unsigned long long)sum);
	return longest;
}

/* On standard error, as it differs from run to run. */
static void print_times(const struct block *b, double total, double longest)
{
	double all[4096];
	int size;

	MPI_Comm_size(b->comm, &size);
	MPI_Gather(&longest, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, b->comm);
	if (b->rank)
		return;
	fprintf(stderr,
		"heat: %.3f s; longest iteration of each rank in ms:", total);
	for (int i = 0; i < size; i++)
		fprintf(stderr, " %.1f", all[i] * 1e3);
	fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
	struct options o;
	struct block b;
	const char *wrong;
	double start, longest;

	MPI_Init(&argc, &argv);
	wrong = parse(argc, argv, &o);
	if (wrong)
		return explain(wrong);
	b = make_block(&o);
	MPI_Barrier(b.comm);
	start = MPI_Wtime();
	longest = solve(&b, &o);
	print_times(&b, MPI_Wtime() - start, longest);
	if (o.field)
		write_field(&b, &o);
	free_block(&b);
	MPI_Finalize();
	return 0;
}
