/*
 * test_tree.c - a tree goes through random changes and passes, and is the same
 * at the destination after each, inode numbers included
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "move/tree/tree.h"
#include "move/wire/tree.pb-c.h"

#define SOURCE	"/tmp/stint-tree/from"
#define DEST	"/tmp/stint-tree/to"
#define LISTING "/tmp/stint-tree/list"

static const char *const paths[] = { SOURCE, NULL };
static const struct vma_list no_maps;

static int emit(void *ctx, const char *path, const void *p, size_t n,
		struct error *err)
{
	assert_string_equal(path, SOURCE);
	return tree_made_apply(ctx, DEST, p, n, err);
}

/* Run a command by the shell; returns its status. */
static int run(const char *cmd)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", cmd, NULL);
		_exit(127);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* All that must be equal, one line per node. */
#define LIST                                                                \
	"find . -printf '%%p %%i %%m %%n %%G %%s %%T@ %%l %%y\\n' | sort; " \
	"find . -type f | sort | xargs -r -d '\\n' sha256sum"

static char *listing(const char *dir)
{
	char *cmd = xasprintf("cd %s && { " LIST "; } >../list", dir), *text;

	assert_int_equal(run(cmd), 0);
	assert_true(io_read_file(AT_FDCWD, LISTING, 1 << 24, &text) > 0);
	free(cmd);
	return text;
}

static void same(void)
{
	char *a = listing(SOURCE), *b = listing(DEST);

	assert_string_equal(a, b);
	free(a);
	free(b);
}

struct pair {
	struct tree_set *set;
	struct tree_made *made;
};

static struct pair begin(void)
{
	struct pair p;
	struct error err = ERROR_INIT;

	assert_int_equal(run("umount " SOURCE " " DEST " 2>/dev/null;"
			     "mount -t tmpfs -o mode=1777 from " SOURCE " && "
			     "mount -t tmpfs -o mode=1777 to " DEST),
			 0);
	assert_int_equal(tree_open(getpid(), paths, &p.set, &err), 0);
	p.made = tree_made_create();
	return p;
}

static void end(struct pair *p)
{
	tree_close(p->set);
	tree_made_destroy(p->made);
}

static void pass(const struct pair *p, const struct vma_list *maps, bool last)
{
	struct error err = ERROR_INIT;
	int r = tree_pass(p->set, maps, last, emit, p->made, &err);

	if (r < 0)
		fail_msg("%s", err.text);
}

static int setup(void **state)
{
	if (unshare(CLONE_NEWNS) < 0)
		return 0; /* noted by each test */
	return run("mount --make-rprivate / && mount -t tmpfs own /tmp && "
		   "mkdir -p " SOURCE " " DEST) != 0;
}

/* cmocka's skip() is a failure in TAP. */
static bool is_root(void)
{
	if (geteuid())
		print_message("# not tested: it takes root\n");
	return !geteuid();
}

static void test_kinds(void **state)
{
	struct pair p;

	if (!is_root())
		return;
	p = begin();
	pass(&p, &no_maps, false);
	same();
	assert_int_equal(
		run("cd " SOURCE " && mkdir -m 0700 d d/e && echo 1 >d/e/f && "
		    "ln d/e/f d/g && ln -s /etc/x d/s && mkfifo -m 0622 q && "
		    "truncate -s 1M hole && printf x >>hole && "
		    "python3 -c 'import socket; "
		    "socket.socket(socket.AF_UNIX).bind(\"sock\")' && "
		    "touch 'a b' && chmod 6755 'a b' && chmod 0500 d && "
		    "touch -d 2001-01-01 d/g && touch -d 1969-12-31 q && "
		    "chgrp 1 hole"),
		0);
	pass(&p, &no_maps, false);
	same();
	/* names and nodes change places */
	assert_int_equal(
		run("cd " SOURCE
		    " && mv d/e/f x && rmdir d/e && echo 2 >d/e && "
		    "mv hole t && mv q hole && mv t q && rm d/s && mkdir d/s && "
		    "mv d d2 && mkdir d && mv d2 d/d2 && rm 'a b' sock"),
		0);
	pass(&p, &no_maps, true);
	same();
	pass(&p, &no_maps, true);
	same();
	end(&p);
}

static void test_content(void **state)
{
	static const char fill[] = "cd " SOURCE " && head -c 3000000 "
				   "/dev/urandom >big && cp big copy";
	uint64_t before;
	struct pair p;

	if (!is_root())
		return;
	p = begin();
	assert_int_equal(run(fill), 0);
	pass(&p, &no_maps, false);
	same();
	/* only differences are sent */
	before = tree_bytes_sent(p.set);
	assert_int_equal(run("cd " SOURCE " && printf hello | dd of=big bs=1 "
			     "seek=1000000 conv=notrunc 2>/dev/null"),
			 0);
	pass(&p, &no_maps, false);
	same();
	assert_true(tree_bytes_sent(p.set) - before == 65536);
	assert_int_equal(run("cd " SOURCE " && truncate -s 70001 big && "
			     "truncate -s 200000 big && "
			     "fallocate -p -o 0 -l 1048576 copy"),
			 0);
	pass(&p, &no_maps, true);
	same();
	end(&p);
}

/* What is written through a mapping leaves no trace in the file's times. */
static void test_mapped(void **state)
{
	struct vma v = { .kind = VMA_SHARED_FILE };
	struct vma_list maps = { .v = &v, .nr = 1 };
	struct timespec pause = { .tv_nsec = 50000000 };
	struct stat st;
	struct pair p;
	char *mem;
	int fd;

	if (!is_root())
		return;
	p = begin();
	fd = open(SOURCE "/shared", O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	mem = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(mem != MAP_FAILED);
	mem[5000] = 'a';
	assert_int_equal(fstat(fd, &st), 0);
	v.dev = st.st_dev;
	v.ino = st.st_ino;
	nanosleep(&pause, NULL);
	pass(&p, &maps, false);
	same();
	nanosleep(&pause, NULL);
	mem[5001] = 'b';
	pass(&p, &maps, false);
	same();
	nanosleep(&pause, NULL);
	/* and it is unmapped before the next look */
	mem[5002] = 'c';
	munmap(mem, 1 << 20);
	pass(&p, &no_maps, true);
	same();
	close(fd);
	end(&p);
}

/* A mount within the tree is left as it is at either end. */
static void test_mount(void **state)
{
	static const char mounts[] =
		"for d in " SOURCE " " DEST "; do mkdir -p $d/in/to && "
		"mount -t tmpfs kept $d/in/to && echo $d >$d/in/to/own; done";
	struct pair p;

	if (!is_root())
		return;
	p = begin();
	assert_int_equal(run(mounts), 0);
	assert_int_equal(run("cd " SOURCE " && echo 1 >in/beside"), 0);
	pass(&p, &no_maps, false);
	assert_int_equal(run("cd " DEST
			     " && cmp in/beside ../from/in/beside && "
			     "grep -qx " DEST " in/to/own"),
			 0);
	assert_int_equal(
		run("cd /tmp/stint-tree && umount from/in/to to/in/to && "
		    "touch -d @1 from/in/to to/in/to"),
		0);
	same();
	end(&p);
}

static void test_refused(void **state)
{
	static const struct {
		const char *make, *why;
	} cases[] = {
		{ "mknod dev c 1 3", "/dev is a device" },
		{ "touch f && setfattr -n user.x -v 1 f || exit 77",
		  "/f has extended attributes" },
		{ "fallocate -l 1100M huge", "files of 1100 MiB in " SOURCE },
		{ "seq 16400 | xargs touch", "has more than 16384 files" },
		{ "p=.; for i in $(seq 70); do p=$p/d; done; mkdir -p $p",
		  "is too deep" },
	};

	if (!is_root())
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *cmd = xasprintf("cd " SOURCE " && { %s; } 2>/dev/null",
				      cases[i].make);
		struct error err = ERROR_INIT;
		struct pair p = begin();
		uint64_t bytes;
		int status = run(cmd);

		free(cmd);
		if (status == 77) { /* this kernel cannot do it */
			end(&p);
			continue;
		}
		assert_int_equal(status, 0);
		assert_int_equal(tree_measure(p.set, &bytes, &err), -ENOTSUP);
		assert_non_null(strstr(err.text, cases[i].why));
		end(&p);
	}
}

/* The tree is too large for the freeze: it is not sent in the last pass. */
static void test_last(void **state)
{
	struct error err = ERROR_INIT;
	struct pair p;

	if (!is_root())
		return;
	p = begin();
	assert_int_equal(run("head -c 70M /dev/zero >" SOURCE "/f"), 0);
	assert_int_equal(tree_pass(p.set, &no_maps, true, emit, p.made, &err),
			 -EAGAIN);
	assert_non_null(strstr(err.text, "files of 70 MiB"));
	pass(&p, &no_maps, false);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	pass(&p, &no_maps, false);
	pass(&p, &no_maps, true);
	same();
	end(&p);
}

/* ---- at random ---- */

static unsigned seed = 1;

static unsigned pick(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

/* One of a few paths, so that changes often meet. */
static void path_at_random(char *ret, size_t n)
{
	int len = snprintf(ret, n, SOURCE);

	for (unsigned i = pick(3) + 1; i > 0; i--)
		len += snprintf(ret + len, n - (size_t)len, "/%c",
				'a' + (char)pick(4));
}

static void change_at_random(void)
{
	char a[128], b[128];
	int fd;

	path_at_random(a, sizeof(a));
	path_at_random(b, sizeof(b));
	switch (pick(9)) {
	case 0:
	case 1:
		(void)!mkdir(a, 0755);
		break;
	case 2:
	case 3:
		fd = open(a, O_WRONLY | O_CREAT | O_APPEND, 0644);
		(void)!write(fd, b, strlen(b));
		close(fd);
		break;
	case 4:
	case 5:
		(void)!rename(a, b);
		break;
	case 6:
		(void)!link(a, b);
		break;
	case 7:
		(void)!symlink(b, a);
		break;
	case 8:
		(void)!remove(a);
		break;
	}
}

static void test_random(void **state)
{
	struct pair p;

	if (!is_root())
		return;
	p = begin();
	for (int i = 0; i < 60; i++) {
		for (unsigned k = pick(40); k > 0; k--)
			change_at_random();
		pass(&p, &no_maps, i % 3 == 2);
		same();
	}
	end(&p);
}

/* ---- what comes over the wire may be anything ---- */

#define NODES 6

/* Messages that are well-formed, and can mean anything. */
static void apply_at_random(struct tree_made *made)
{
	static const uint32_t modes[] = { S_IFDIR | 0755, S_IFREG | 0644,
					  S_IFLNK | 0777, S_IFIFO | 0600,
					  S_IFBLK | 0600, 0 };
	static char names[][4] = { "a", "b", "..", "x/y", "", "." };
	static char anchors[][8] = { "", "", "", ".", "../from", "a", "/" };
	static uint8_t bytes[100];
	static char target[] = "/etc";
	Tree__Node node[NODES], *nodes[NODES];
	Tree__Data data[NODES], *pieces[NODES];
	Tree__Name name[NODES], *links[NODES];
	Tree__Change c = TREE__CHANGE__INIT;
	struct error err;
	uint8_t buf[4096];
	size_t n;

	for (size_t i = 0; i < NODES; i++) {
		nodes[i] = &node[i];
		pieces[i] = &data[i];
		links[i] = &name[i];
		tree__node__init(nodes[i]);
		tree__data__init(pieces[i]);
		tree__name__init(links[i]);
		node[i].ino = pick(9);
		node[i].mode = modes[pick(pick(3) ? 2 : 6)];
		node[i].anchor = anchors[pick(7)];
		node[i].target = target;
		node[i].size = pick(8) ? pick(10000) : UINT64_MAX;
		data[i].ino = pick(9);
		data[i].offset = pick(8) ? pick(10000) : UINT64_MAX - 5;
		data[i].hole = pick(4) ? 0 : pick(5000);
		data[i].data = (ProtobufCBinaryData){ pick(100), bytes };
		name[i].dir = pick(9);
		name[i].ino = pick(9);
		name[i].name = names[pick(pick(4) ? 2 : 6)];
	}
	c.node = nodes;
	c.n_node = pick(NODES + 1);
	c.data = pieces;
	c.n_data = pick(3);
	c.name = links;
	c.n_name = pick(NODES + 1);
	c.has_names = pick(2);
	c.end = pick(2);
	n = tree__change__pack(&c, buf);
	if (!pick(5))
		buf[pick((unsigned)n + 1)] ^= 1u << pick(8);
	(void)!tree_made_apply(made, DEST, buf, n, &err);
}

/* Nothing outside of the tree is touched, and nothing crashes. */
static void test_hostile(void **state)
{
	char *before, *after;
	struct pair p;

	if (!is_root())
		return;
	p = begin();
	assert_int_equal(run("mkdir " SOURCE "/a && echo 1 >" SOURCE "/a/b"),
			 0);
	before = listing(SOURCE);
	for (int i = 0; i < 1000; i++) {
		struct tree_made *made = tree_made_create();

		for (int k = 0; k < 10; k++)
			apply_at_random(made);
		tree_made_destroy(made);
	}
	after = listing(SOURCE);
	assert_string_equal(before, after);
	free(before);
	free(after);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	cmocka_unit_test(test_content),
		cmocka_unit_test(test_mapped),	cmocka_unit_test(test_mount),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_last),
		cmocka_unit_test(test_random),	cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
