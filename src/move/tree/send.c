/*
 * send.c - what has changed in a tree, for the destination
 *
 * Nodes first, new ones in the order of their numbers, so that the destination
 * can give them the same; then content; then all names, if any has changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxh_x86dispatch.h>

#include "core/clock.h"
#include "core/io.h"
#include "core/xalloc.h"
#include "move/tree/source.h"
#include "move/wire/append.h"

#define BATCH_BLOCKS 16
#define BATCH_PIECES 512 /* of data, most of them holes */

struct batch {
	struct tree_set *set;
	struct tree *t;
	tree_emit *emit;
	void *ctx;
	Tree__Data *data[BATCH_PIECES], room[BATCH_PIECES];
	size_t n, blocks;
};

static int emit_change(const struct batch *b, const Tree__Change *c,
		       struct error *err)
{
	size_t n = tree__change__get_packed_size(c);
	uint8_t *p = xmalloc(n + 1);
	int r;

	tree__change__pack(c, p);
	r = b->emit(b->ctx, b->t->path, p, n, err);
	free(p);
	return r;
}

static int flush(struct batch *b, struct error *err)
{
	Tree__Change c = TREE__CHANGE__INIT;

	if (!b->n)
		return 0;
	c.data = b->data;
	c.n_data = b->n;
	b->n = b->blocks = 0;
	return emit_change(b, &c, err);
}

static Tree__Data *next_piece(struct batch *b, uint64_t ino, off_t at)
{
	Tree__Data *d = b->data[b->n] = &b->room[b->n];

	tree__data__init(d);
	d->ino = ino;
	d->offset = (uint64_t)at;
	b->n++;
	return d;
}

/* ---- content ---- */

static int open_node(const struct tree *t, const struct tree_node *n)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME |
			 O_CLOEXEC,
		.resolve =
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd = (int)syscall(SYS_openat2, t->root, n->path, &how, sizeof(how));
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_ino == n->ino && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Make the list of blocks as long as the file; what is new is a hole. */
static void fit_blocks(struct tree_node *n)
{
	size_t want = ((uint64_t)n->st.st_size + TREE_BLOCK - 1) / TREE_BLOCK;

	if (want == n->nr_blocks)
		return;
	n->block = xreallocarray(n->block, want + 1, sizeof(*n->block));
	for (size_t i = n->nr_blocks; i < want; i++)
		n->block[i] = 0;
	n->nr_blocks = want;
}

/* Where data and holes are, asked for as reading gets there. */
struct extent {
	off_t data, hole;
};

static void find_extent(int fd, off_t at, struct extent *e)
{
	if (at < e->hole)
		return;
	e->data = lseek(fd, at, SEEK_DATA);
	if (e->data < 0) /* nothing but a hole */
		e->data = e->hole = INT64_MAX;
	else
		e->hole = lseek(fd, e->data, SEEK_HOLE);
}

/* Tell that a block has become a hole. */
static int send_hole(struct batch *b, struct tree_node *n, size_t i, size_t len,
		     struct error *err)
{
	if (!n->block[i])
		return 0;
	n->block[i] = 0;
	next_piece(b, n->ino, (off_t)(i * TREE_BLOCK))->hole = len;
	return b->n == BATCH_PIECES ? flush(b, err) : 0;
}

/* 1: the file has become shorter. */
static int send_block(struct batch *b, struct tree_node *n, int fd, size_t i,
		      size_t len, struct error *err)
{
	char *p = b->set->buffer + b->blocks * TREE_BLOCK;
	off_t at = (off_t)(i * TREE_BLOCK);
	ssize_t got = pread(fd, p, len, at);
	uint64_t hash;
	Tree__Data *d;

	if (got < 0)
		return error_sys(err, -errno, "%s/%s", b->t->path, n->path);
	if ((size_t)got < len)
		return 1;
	hash = XXH3_64bits(p, len);
	hash += !hash;
	if (hash == n->block[i])
		return 0;
	n->block[i] = hash;
	b->set->bytes_sent += len;
	d = next_piece(b, n->ino, at);
	d->data.data = (uint8_t *)p;
	d->data.len = len;
	b->blocks++;
	return b->n == BATCH_PIECES || b->blocks == BATCH_BLOCKS ? flush(b, err)
								 : 0;
}

/* 1: it could not be read whole, as it changes just now. */
static int send_content(struct batch *b, struct tree_node *n, struct error *err)
{
	fd_auto fd = open_node(b->t, n);
	struct extent e = { 0 };
	int r = 0;

	if (fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR)
		return 1;
	if (fd < 0)
		return error_sys(err, fd == -EACCES ? -ENOTSUP : fd,
				 "%s/%s, which has to move, cannot be read",
				 b->t->path, n->path);
	fit_blocks(n);
	for (size_t i = 0; i < n->nr_blocks && !r; i++) {
		off_t at = (off_t)(i * TREE_BLOCK);
		uint64_t left = (uint64_t)(n->st.st_size - at);
		size_t len = left < TREE_BLOCK ? left : TREE_BLOCK;

		find_extent(fd, at, &e);
		r = at + (off_t)len <= e.data
			    ? send_hole(b, n, i, len, err)
			    : send_block(b, n, fd, i, len, err);
	}
	return r;
}

/* ---- nodes ---- */

static char *read_target(const struct tree *t, const struct tree_node *n)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(t->root, n->path, target, sizeof(target) - 1);

	target[len < 0 ? 0 : len] = '\0';
	return xstrdup(target);
}

static Tree__Node *describe_node(const struct tree *t,
				 const struct tree_node *n)
{
	Tree__Node *m = append_new(&tree__node__descriptor);

	m->ino = n->ino;
	m->mode = n->st.st_mode;
	m->gid = n->st.st_gid;
	m->atime = clock_of_timespec(&n->st.st_atim);
	m->mtime = clock_of_timespec(&n->st.st_mtim);
	if (S_ISREG(n->st.st_mode))
		m->size = (uint64_t)n->st.st_size;
	if (S_ISLNK(n->st.st_mode) && !n->told)
		m->target = read_target(t, n);
	if (n->anchor && !n->told)
		m->anchor = xstrdup(n->path);
	return m;
}

static int compare_ino(const void *a, const void *b)
{
	const struct tree_node *const *x = a, *const *y = b;

	return ((*x)->ino > (*y)->ino) - ((*x)->ino < (*y)->ino);
}

/* Fresh, by number. */
static struct tree_node **find_changed(const struct tree *t, size_t *ret_n)
{
	struct tree_node **all =
		xcalloc(HASH_COUNT(t->node) + 1, sizeof(struct tree_node *));
	size_t n = 0;

	for (struct tree_node *k = t->node; k; k = k->hh.next)
		if (k->changed)
			all[n++] = k;
	qsort(all, n, sizeof(struct tree_node *), compare_ino);
	*ret_n = n;
	return all;
}

static int send_nodes(struct batch *b, struct tree_node **node, size_t n,
		      struct error *err)
{
	Tree__Change c = TREE__CHANGE__INIT;
	int r;

	c.node = xcalloc(n + 1, sizeof(*c.node));
	c.n_node = n;
	for (size_t i = 0; i < n; i++)
		c.node[i] = describe_node(b->t, node[i]);
	r = n ? emit_change(b, &c, err) : 0;
	for (size_t i = 0; i < n; i++) {
		tree__node__free_unpacked(c.node[i], NULL);
		node[i]->told = true;
		node[i]->changed = false;
	}
	free(c.node);
	return r;
}

static int send_contents(struct batch *b, struct tree_node **node, size_t n,
			 struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		if (!S_ISREG(node[i]->st.st_mode))
			continue;
		r = send_content(b, node[i], err);
		if (r > 0)
			node[i]->unsure = true;
	}
	return r < 0 ? r : flush(b, err);
}

/* ---- names ---- */

static uint64_t hash_names(const struct tree *t)
{
	XXH3_state_t state;

	XXH3_64bits_reset(&state);
	for (size_t i = 0; i < t->nr_names; i++) {
		const struct tree_name *n = &t->name[i];

		XXH3_64bits_update(&state, n->name, strlen(n->name) + 1);
		XXH3_64bits_update(&state, &n->dir, sizeof(n->dir));
		XXH3_64bits_update(&state, &n->ino, sizeof(n->ino));
	}
	return XXH3_64bits_digest(&state);
}

static void fill_names(const struct tree *t, Tree__Change *c)
{
	c->has_names = true;
	c->name = xcalloc(t->nr_names + 1, sizeof(*c->name));
	for (size_t i = 0; i < t->nr_names; i++) {
		Tree__Name *n = append_new(&tree__name__descriptor);

		n->dir = t->name[i].dir;
		n->ino = t->name[i].ino;
		n->name = xstrdup(t->name[i].name);
		c->name[c->n_name++] = n;
	}
}

static int send_end(struct batch *b, struct error *err)
{
	Tree__Change c = TREE__CHANGE__INIT;
	uint64_t hash = hash_names(b->t);
	int r;

	if (hash != b->t->names_told)
		fill_names(b->t, &c);
	b->t->names_told = hash;
	c.end = true;
	r = emit_change(b, &c, err);
	for (size_t i = 0; i < c.n_name; i++)
		tree__name__free_unpacked(c.name[i], NULL);
	free(c.name);
	return r;
}

int tree_send(struct tree_set *set, struct tree *t, tree_emit *emit, void *ctx,
	      struct error *err)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	struct tree_node **node;
	size_t n;
	int r;

	b->set = set;
	b->t = t;
	b->emit = emit;
	b->ctx = ctx;
	if (!set->buffer)
		set->buffer = xmalloc(BATCH_BLOCKS * TREE_BLOCK);
	node = find_changed(t, &n);
	r = send_nodes(b, node, n, err);
	if (!r)
		r = send_contents(b, node, n, err);
	if (!r && n)
		r = send_end(b, err);
	free(node);
	free(b);
	return r;
}
