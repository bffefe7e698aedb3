/* swf_file.c - a trace in the Standard Workload Format from a file */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/inflate.h"
#include "sim/workload/swf.h"

int swf_read(const char *path, const struct swf_options *options,
	     struct swf_trace *ret, struct error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	char *text;
	size_t size;
	int r = inflate_read(path, &text, &size, err);

	if (r < 0)
		return r;
	r = swf_parse(text, size, name, options, ret, err);
	free(text);
	return r;
}
