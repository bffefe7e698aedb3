/* test_ctl.h - a controller of which there is only the state, for unit tests of it */
#ifndef CLUSTER_CONTROLLER_STATE_TEST_CTL_H
#define CLUSTER_CONTROLLER_STATE_TEST_CTL_H

#include <stdint.h>

#include "cluster/conn/control.pb-c.h"
#include "cluster/controller/state/state.h"

extern struct ctl test_ctl;

/* With a new store; cmocka's setup of a test. */
int test_ctl_setup(void **state);
/* It begins anew, with what is in the store. */
void test_ctl_begin(void);
/* Its jobs are gone from memory; the store stays. */
void test_ctl_end(void);
/* What a user submits; the caller has it. */
Control__Submit *test_ctl_submit(const char *user, uint32_t ranks);

#endif
