/* test_told.c - what the destination is told to look for, each thing once */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/xalloc.h"
#include "move/fd/fds.h"
#include "move/fdkit/source.h"

#define MODE (S_IFREG | 0644)

static struct fds_source *new_source(void)
{
	struct fds_source *s = xcalloc(1, sizeof(*s));

	s->told = xmalloc(sizeof(*s->told));
	fds__paths__init(s->told);
	return s;
}

static void end_source(struct fds_source *s)
{
	fdtold_clear(s);
	free(s);
}

static void tell(struct fds_source *s, const char *path, uint64_t ino,
		 uint64_t size)
{
	Fds__Path p = FDS__PATH__INIT;

	p.path = (char *)path;
	p.mode = MODE;
	p.ino = ino;
	p.size = size;
	fdtold_path(s, &p);
}

static const Fds__Path *find(const struct fds_source *s, const char *path,
			     ino_t ino)
{
	const struct stat st = { .st_ino = ino, .st_mode = MODE };

	return fdtold_find(s, path, &st);
}

static void a_file_is_told_once(void **state)
{
	struct fds_source *s = new_source();

	tell(s, "/a", 1, 10);
	tell(s, "/b", 2, 10);
	tell(s, "/a", 1, 10);
	tell(s, "/b", 2, 10);
	assert_int_equal(s->told->n_path, 2);
	/* Another file has that name by now, and it grows. */
	tell(s, "/a", 3, 10);
	tell(s, "/a", 3, 11);
	tell(s, "/a", 3, 10);
	tell(s, "/a", 1, 10);
	assert_int_equal(s->told->n_path, 4);
	end_source(s);
}

static void a_file_is_found_by_name_and_inode(void **state)
{
	struct fds_source *s = new_source();
	const struct stat dir = { .st_ino = 1, .st_mode = S_IFDIR | 0755 };

	tell(s, "/a", 1, 10);
	tell(s, "/b", 2, 10);
	tell(s, "/a", 3, 10);
	assert_ptr_equal(find(s, "/a", 1), s->told->path[0]);
	assert_ptr_equal(find(s, "/b", 2), s->told->path[1]);
	assert_ptr_equal(find(s, "/a", 3), s->told->path[2]);
	assert_null(find(s, "/a", 2));
	assert_null(find(s, "/c", 1));
	assert_null(fdtold_find(s, "/a", &dir));
	end_source(s);
}

/*
 * What the destination has refused is told again, and counts as missing there
 * until then.
 */
static void what_was_refused_is_forgotten(void **state)
{
	struct fds_source *s = new_source();

	tell(s, "/a", 1, 10);
	fds_confirm(s, true);
	tell(s, "/a", 2, 10);
	tell(s, "/b", 3, 10);
	tell(s, "/a", 4, 10);
	fds_confirm(s, false);
	assert_int_equal(s->told->n_path, 1);
	assert_ptr_equal(find(s, "/a", 1), s->told->path[0]);
	assert_null(find(s, "/a", 2));
	assert_null(find(s, "/b", 3));
	assert_null(find(s, "/a", 4));
	tell(s, "/b", 3, 10);
	tell(s, "/a", 4, 10);
	tell(s, "/a", 1, 10);
	assert_int_equal(s->told->n_path, 3);
	end_source(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_told_once),
		cmocka_unit_test(a_file_is_found_by_name_and_inode),
		cmocka_unit_test(what_was_refused_is_forgotten),
	};

	return cmocka_run_group_tests_name("told", tests, NULL, NULL);
}
