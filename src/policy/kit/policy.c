/* policy.c - what policies that load a saved state share */
#include "policy/kit/policy.h"

#include <errno.h>

int policy_damaged(const struct policy *policy, const char *at,
		   struct error *err)
{
	return error_set(err, -EINVAL,
			 "%s: its saved state is damaged at '%.20s'",
			 policy->ops->name, at);
}
