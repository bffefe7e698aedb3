/*
 * error.h - why something failed, in words for a person
 *
 * A function that can fail returns 0 (or a count) or a negative errno and
 * takes, as its last argument, a struct error in which it leaves one line
 * that says what is wrong and what to do.  NULL is allowed where the caller
 * does not care.  A failed call leaves its other outputs untouched.
 */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

struct error {
	char text[512]; /* one line, no newline; cut if longer */
};

#define ERROR_INIT         \
	{                  \
		.text = "" \
	}

/* The caller must check the result: on every function that can fail. */
#define must_check __attribute__((warn_unused_result))

/*
 * Set the text and return code, so that a failure is one line:
 *	return error_set(err, -EINVAL, "%s: no such host", name);
 */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set, and append ": " and what code (a negative errno) means. */
int error_sys(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "prefix: " before the text that is there; returns code. */
int error_prefix(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
