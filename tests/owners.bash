# owners.bash - for tests of owners who come and go; load it at the top of a .bats file
load jobs

# Set terms of a host, besides those of a test host; its agent reads them again.
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
	asked hosts "$1" "" "" owner status --all --json
}

owner_is() { # EXPRESSION VALUE
	asked hosts "$1" "$2" "${patience:-0}" owner status --all --json
}
