/* test_known.c - what the other side may not drop of a request is refused */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/conn/known.h"

static uint8_t value[] = { 1 };

static void put_unknown(ProtobufCMessage *m, ProtobufCMessageUnknownField *u,
			uint32_t tag)
{
	*u = (ProtobufCMessageUnknownField){ .tag = tag,
					     .len = sizeof(value),
					     .data = value };
	m->unknown_fields = u;
	m->n_unknown_fields = tag != 0;
}

/* A request as it comes, with these fields of a later version in it and in a part of it. */
static uint32_t lacks(uint32_t tag, uint32_t in_part)
{
	Control__Message m = CONTROL__MESSAGE__INIT, *came;
	Control__Submit s = CONTROL__SUBMIT__INIT;
	Control__After one = CONTROL__AFTER__INIT, two = one;
	Control__After *after[] = { &one, &two };
	ProtobufCMessageUnknownField u, v;
	uint8_t buf[200];
	uint32_t found;

	one.job = two.job = 7;
	s.after = after;
	s.n_after = 2;
	put_unknown(&s.base, &u, tag);
	put_unknown(&two.base, &v, in_part);
	m.submit = &s;
	m.body_case = MESSAGE_BODY(SUBMIT);
	assert_true(control__message__get_packed_size(&m) <= sizeof(buf));
	came = message_parse(buf, control__message__pack(&m, buf), NULL);
	assert_non_null(came);
	found = known_lacks(came);
	message_free(came);
	return found;
}

static void what_is_new_is_found(void **state)
{
	assert_int_equal(lacks(0, 0), 0);
	assert_int_equal(lacks(500, 0), 500);
	assert_int_equal(lacks(0, 500), 70); /* Submit.after */
	assert_int_equal(lacks(KNOWN_MAY_DROP - 1, 0), KNOWN_MAY_DROP - 1);
	assert_int_equal(lacks(KNOWN_MAY_DROP, KNOWN_MAY_DROP), 0);
}

/* A single part of a request, too. */
static void also_in_its_only_part(void **state)
{
	Control__Message m = CONTROL__MESSAGE__INIT;
	Control__ChangeJob c = CONTROL__CHANGE_JOB__INIT;
	Control__Limits limits = CONTROL__LIMITS__INIT;
	ProtobufCMessageUnknownField u;

	m.change_job = &c;
	m.body_case = MESSAGE_BODY(CHANGE_JOB);
	assert_int_equal(known_lacks(&m), 0);
	c.limits = &limits;
	assert_int_equal(known_lacks(&m), 0);
	put_unknown(&limits.base, &u, 500);
	assert_int_equal(known_lacks(&m), 7);
	/* beside its body */
	put_unknown(&limits.base, &u, 0);
	put_unknown(&m.base, &u, 500);
	assert_int_equal(known_lacks(&m), 500);
	u.tag = KNOWN_MAY_DROP;
	assert_int_equal(known_lacks(&m), 0);
}

/* Only one that refuses what it does not know may be asked for it. */
static void is_for_newer(Control__Message__BodyCase what, const void *body,
			 const char *option)
{
	Control__ControllerInfo info = CONTROL__CONTROLLER_INFO__INIT;
	struct error err;

	assert_int_equal(known_check("a:1", NULL, what, body, &err),
			 -EOPNOTSUPP);
	assert_non_null(
		strstr(err.text, "the controller at a:1 is older than you"));
	assert_int_equal(known_check("a:1", &info, what, body, &err),
			 -EOPNOTSUPP);
	if (!strstr(err.text, option))
		fail_msg("%s: %s", option, err.text);
	info.refuses_unknown = true;
	assert_int_equal(known_check("a:1", &info, what, body, &err), 0);
}

static void older_controllers_are_not_asked(void **state)
{
	Control__After after = CONTROL__AFTER__INIT, *list[] = { &after };
	Control__ChangeJob c = CONTROL__CHANGE_JOB__INIT;
	Control__Submit s = CONTROL__SUBMIT__INIT, none = s;
	Control__Limits limits = CONTROL__LIMITS__INIT;
	Control__Signal signal = CONTROL__SIGNAL__INIT;
	uint32_t task = 1;

	assert_int_equal(
		known_check("a:1", NULL, MESSAGE_BODY(SUBMIT), &s, NULL), 0);
	s.output_max = 1;
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--output-limit");
	s.milli_cpus = 1;
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--cpus");
	s.limit_usec = 1;
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--limit");
	s.held = true;
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--hold");
	s.tasks = &task;
	s.n_tasks = 1;
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--array");
	s.at_end = (char *)"true";
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--at-end");
	s = none;
	s.after = list;
	s.n_after = 1;
	is_for_newer(MESSAGE_BODY(SUBMIT), &s, "--after");

	c.change = CONTROL__CHANGE__HOLD;
	signal.signo = 15;
	assert_int_equal(
		known_check("a:1", NULL, MESSAGE_BODY(CHANGE_JOB), &c, NULL),
		0);
	assert_int_equal(
		known_check("a:1", NULL, MESSAGE_BODY(SIGNAL), &signal, NULL),
		0);
	c.any_host = true;
	is_for_newer(MESSAGE_BODY(CHANGE_JOB), &c, "--any-host");
	c.limits = &limits;
	is_for_newer(MESSAGE_BODY(CHANGE_JOB), &c, "limits");
	c.n_tasks = signal.n_tasks = 1;
	is_for_newer(MESSAGE_BODY(CHANGE_JOB), &c, "JOB[TASKS]");
	c.no_after = true;
	is_for_newer(MESSAGE_BODY(CHANGE_JOB), &c, "--after");
	is_for_newer(MESSAGE_BODY(SIGNAL), &signal, "JOB[TASKS]");
}

static void a_refusal_names_what_is_new(void **state)
{
	Control__Failed f = message_failed(-EINVAL, "as said");
	struct error err;

	assert_int_equal(known_refused("a:1", MESSAGE_BODY(SUBMIT), &f, &err),
			 -EINVAL);
	assert_string_equal(err.text, "as said");
	f.unknown = 70;
	known_refused("a:1", MESSAGE_BODY(SUBMIT), &f, &err);
	assert_non_null(strstr(err.text, "'after'"));
	f.unknown = 999; /* a liar's */
	f.code = 5;
	assert_int_equal(known_refused("a:1", MESSAGE_BODY(SUBMIT), &f, &err),
			 -EPROTO);
	assert_string_equal(err.text, "as said");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_new_is_found),
		cmocka_unit_test(also_in_its_only_part),
		cmocka_unit_test(older_controllers_are_not_asked),
		cmocka_unit_test(a_refusal_names_what_is_new),
	};

	return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
