/*
 * corpus.c - runs a fuzz target once over each file of its corpus, where
 * there is no libFuzzer to do it
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	const struct dirent *e;
	unsigned n = 0;

	if (!dir)
		return 2;
	while ((e = readdir(dir))) {
		char *data;
		ssize_t size;

		if (e->d_name[0] == '.')
			continue;
		size = io_read_file(dirfd(dir), e->d_name, 16 << 20, &data);
		if (size < 0)
			return 1;
		LLVMFuzzerTestOneInput((const uint8_t *)data, size);
		free(data);
		n++;
	}
	closedir(dir);
	printf("%u inputs\n", n);
	return n ? 0 : 1;
}
