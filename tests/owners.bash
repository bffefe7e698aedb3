# owners.bash - for tests of owners who come and go; load it at the top of a .bats file
load jobs

# The terms of a host, besides those of a test host; its agent reads them again.
terms() { # HOST "NAME = VALUE"...
	local host=$1 line before
	shift
	for line in "$@"; do
		echo "$line" >>"$bed/$host/stint.conf"
	done
	before=$(grep -c 'terms=' "$bed/$host/agent.log" || true)
	kill -HUP "$(service_pid "$host")"
	eventually eval "[ \$(grep -c 'terms=' '$bed/$host/agent.log') -gt $before ]"
}

where_is() { # JOB HOSTS
	is "hosts($1)" "$2"
}

owners() { # EXPRESSION ABOUT h, BY NAME
	st owner status --all --json | python3 -c "import json,sys
h = {i['host']: i for i in map(json.loads, sys.stdin)}
print($1)"
}

owner_is() { # EXPRESSION VALUE
	[ "$(owners "$1")" = "$2" ]
}
