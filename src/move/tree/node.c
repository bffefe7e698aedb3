/* node.c - the nodes of a tree at the source; see source.h */
#include <stdlib.h>

#include "move/tree/source.h"

struct tree_node *tree_find(const struct tree *t, uint64_t ino)
{
	struct tree_node *n;

	HASH_FIND(hh, t->node, &ino, sizeof(ino), n);
	return n;
}

void tree_forget(struct tree *t, struct tree_node *n)
{
	HASH_DEL(t->node, n);
	free(n->path);
	free(n->block);
	free(n);
}
