/*
 * swf_file.c - a trace in the Standard Workload Format from a file, as people
 * have them: packed by gzip or not, with a mark before the text or without
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/workload/inflate.h"
#include "sim/workload/swf.h"

/* Files that people take for traces, by how they begin; gzip is read. */
static int check_kind(const char *text, size_t size, const char *name,
		      struct error *err)
{
	static const char *const kinds[][2] = {
		{ "zstd", "\x28\xb5\x2f\xfd" },
		{ "xz", "\xfd\x37zXZ" },
		{ "bzip2", "BZh" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i][1]);

		if (size >= n && !memcmp(text, kinds[i][1], n))
			return error_set(err, -EINVAL,
					 "%s: packed by %s; unpack it first "
					 "(gzip alone is read as it is)",
					 name, kinds[i][0]);
	}
	return 0;
}

int swf_read(const char *path, const struct swf_options *options,
	     struct swf_trace *ret, struct error *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	const char *name = strcmp(path, "-") ? path : "standard input";
	char *text;
	size_t size, skip;
	int r = inflate_read(path, &text, &size, err);

	if (r < 0)
		return r;
	skip = !strncmp(text, mark, 3) ? 3 : 0;
	r = check_kind(text, size, name, err);
	if (!r)
		r = swf_parse(text + skip, size - skip, name, options, ret,
			      err);
	free(text);
	return r;
}
