/* sweep_file.c - the runs of a sweep, kept, see sweep_file.h */
#include "sim/sweep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

static FILE *memory_file(char **text, size_t *size)
{
	FILE *f = open_memstream(text, size);

	if (!f)
		abort(); /* out of memory */
	return f;
}

static char *heading(void)
{
	char *text;
	size_t size;
	FILE *f = memory_file(&text, &size);

	fputs("# stint sweep results, version " STINT_VERSION ":", f);
	for (int i = 0; i < NR_METRICS; i++)
		fprintf(f, " %s", sweep_metrics[i].name);
	fputc('\n', f);
	fclose(f);
	return text;
}

/* What comes before the replication's number and after it, in a line. */
static char *line_before(const struct sweep *sweep)
{
	return xasprintf("%" PRIu64 "\t", sweep->seed);
}

static char *line_after(const struct sweep *sweep, uint32_t cell)
{
	const struct sweep_cell *c = &sweep->cell[cell];

	return xasprintf("\t%" PRIu64 "\t%u\t%.17g\t%" PRId64 "\t%" PRId64
			 "\t%" PRId64 "\t%s\t%s\t%s\t%s\t",
			 sweep->nr_jobs, sweep->procs, c->load, c->costs.resize,
			 c->costs.migrate, c->costs.migrate_rank, c->policy,
			 c->workload, c->speedup ? c->speedup : "-",
			 c->hosts ? c->hosts : "-");
}

static bool read_values(const char *p, double *value)
{
	char *end;

	for (int i = 0; i < NR_METRICS; i++) {
		value[i] = strtod(p, &end);
		if (end == p || *end != (i + 1 < NR_METRICS ? '\t' : '\0'))
			return false;
		p = end + 1;
	}
	return true;
}

struct reader {
	const struct sweep *sweep;
	char *before, **after; /* after: by cell */
	sweep_file_found found;
	void *arg;
};

static void read_line(const struct reader *r, const char *line)
{
	double value[NR_METRICS];
	unsigned long replication;
	char *rest;

	if (strncmp(line, r->before, strlen(r->before)) != 0)
		return;
	replication = strtoul(line + strlen(r->before), &rest, 10);
	for (uint32_t c = 0; c < r->sweep->nr; c++) {
		size_t n = strlen(r->after[c]);

		if (!strncmp(rest, r->after[c], n) &&
		    read_values(rest + n, value) && replication < r->sweep->max)
			r->found(r->arg, c, (uint32_t)replication, value);
	}
}

static void read_lines(const struct sweep *sweep, char *text,
		       sweep_file_found found, void *arg)
{
	struct reader r = { .sweep = sweep, .found = found, .arg = arg };
	char *end;

	r.before = line_before(sweep);
	r.after = xcalloc(sweep->nr, sizeof(*r.after));
	for (uint32_t c = 0; c < sweep->nr; c++)
		r.after[c] = line_after(sweep, c);
	/* What has no end was cut off in the writing. */
	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		read_line(&r, text);
	}
	for (uint32_t c = 0; c < sweep->nr; c++)
		free(r.after[c]);
	free(r.after);
	free(r.before);
}

/* The whole of an open file, or NULL. */
static char *read_all(int fd, struct error *err)
{
	struct stat st;
	char *text;
	int rc;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		error_set(err, -EINVAL, "it is no regular file");
		return NULL;
	}
	text = xcalloc(1, (size_t)st.st_size + 1);
	rc = io_read_full(fd, text, (size_t)st.st_size);
	if (rc < 0) {
		error_sys(err, rc, "cannot read it");
		free(text);
		return NULL;
	}
	return text;
}

static int write_text(int fd, const char *text, struct error *err)
{
	int rc = io_write_full(fd, text, strlen(text));

	return rc < 0 ? error_sys(err, rc, "cannot write results") : 0;
}

/* Check the heading, tell the lines, mend the end. */
static int take_in(int fd, const struct sweep *sweep, sweep_file_found found,
		   void *arg, struct error *err)
{
	char *text = read_all(fd, err), *head = heading();
	size_t n = text ? strlen(text) : 0;
	int rc = text ? 0 : -EINVAL;

	if (text && !n)
		rc = write_text(fd, head, err);
	else if (text && strncmp(text, head, strlen(head)) != 0)
		rc = error_set(err, -EINVAL,
			       "it does not hold results of this version of "
			       "stint sweep; name another file");
	else if (text && text[n - 1] != '\n')
		rc = write_text(fd, "\n", err);
	if (rc == 0)
		read_lines(sweep, text, found, arg);
	free(head);
	free(text);
	return rc;
}

int sweep_file_open(const struct sweep *sweep, sweep_file_found found,
		    void *arg, struct error *err)
{
	int fd = open(sweep->results, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC,
		      0666);
	int rc;

	if (fd < 0)
		return error_sys(err, -errno, "cannot open '%s'",
				 sweep->results);
	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		; /* where locks are not known, one sweep at a time is fine */
	rc = take_in(fd, sweep, found, arg, err);
	flock(fd, LOCK_UN);
	if (rc < 0) {
		close(fd);
		return error_prefix(err, rc, "'%s'", sweep->results);
	}
	return fd;
}

int sweep_file_append(int fd, const struct sweep *sweep, uint32_t cell,
		      uint32_t replication, const double *value,
		      struct error *err)
{
	char *before = line_before(sweep), *after = line_after(sweep, cell);
	char *text;
	size_t size;
	FILE *f = memory_file(&text, &size);
	int rc;

	fprintf(f, "%s%u%s", before, replication, after);
	for (int i = 0; i < NR_METRICS; i++)
		fprintf(f, "%.17g%c", value[i],
			i + 1 < NR_METRICS ? '\t' : '\n');
	fclose(f);
	rc = write_text(fd, text, err);
	free(text);
	free(before);
	free(after);
	return rc;
}
