/*
 * conf.h - configuration files: [section], name = value, ; comments
 *
 * Read with inih.  Every error names the file and the line.
 */
#ifndef CORE_CONF_H
#define CORE_CONF_H

#include "core/error.h"

/*
 * Called for each setting, in order.  0, or a negative errno with the reason
 * (conf_read() puts the file and line before it).  Strings are valid during
 * the call alone.
 */
typedef int (*conf_setting_fn)(void *ctx, const char *section, const char *name,
			       const char *value, struct error *err);

/*
 * Read the file at path: 0, -ENOENT and the like when it cannot be read, or
 * the first wrong line's error.  The callback has then been called for the
 * settings before that line.
 */
int conf_read(const char *path, conf_setting_fn setting, void *ctx,
	      struct error *err) must_check;

#endif
