/*
 * word.c - what was said last, kept while the host is up: RUN_DIR/owner
 *
 * An agent that is started again must not forget that somebody wants the host.
 * One line: the boot in which its times mean something, "here", "away" or
 * "evict", when, until when, by whom.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/host/process.h"
#include "cluster/owner/priv.h"
#include "core/io.h"
#include "core/log.h"
#include "core/plain.h"
#include "core/xalloc.h"

static char *word_path(const struct owner *o)
{
	return xasprintf("%s/owner", o->run_dir);
}

void owner_word_save(const struct owner *o)
{
	const struct presence_signs *s = &o->signs;
	bool evict = s->evict_until > s->said_at;
	char boot[PROCESS_BOOT_LEN], *path = word_path(o), *text;
	struct error err;
	int r = process_boot_id(boot, &err);

	text = xasprintf("%s %s %" PRId64 " %" PRId64 " %s\n", boot,
			 evict		? "evict"
			 : s->said_here ? "here"
					: "away",
			 s->said_at, s->said_until, s->said_who);
	if (!r)
		r = io_replace_file(path, text, &err);
	if (r < 0)
		log_warnx("error=\"%s\"", err.text);
	free(text);
	free(path);
}

/* Of this boot, and with times that can be. */
static bool parse_word(char *text, struct presence_signs *s)
{
	char boot[PROCESS_BOOT_LEN], theirs[40], word[8];
	usec_t at, until, now = owner_now();
	int who = 0;

	if (process_boot_id(boot, NULL) < 0 ||
	    sscanf(text, "%39s %7s %" SCNd64 " %" SCNd64 " %n", theirs, word,
		   &at, &until, &who) != 4 ||
	    !who || strcmp(boot, theirs))
		return false;
	if (at < 0 || at > now || until <= now)
		return false;
	text[strcspn(text, "\n")] = '\0';
	plain_text(text + who);
	presence_say(s, !strcmp(word, "here"), !strcmp(word, "evict"), at,
		     until - at, text + who);
	return true;
}

void owner_word_load(struct owner *o)
{
	char *path = word_path(o), *text;
	ssize_t n = io_read_file(AT_FDCWD, path, 4096, &text);

	if (n >= 0) {
		if (parse_word(text, &o->signs))
			log_info("owner: what was said before still holds");
		free(text);
	}
	free(path);
}
