# keeper.bash - for tests of keepers without an agent: tests/keeper/keeper_job.c plays
# agent and controller.  Hosts are run directories; the network is a namespace made here.
load build

# shellcheck disable=SC2034 # for who loads this
py=/usr/bin/python3

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	# Short: socket paths have 108 bytes.
	dir=$(mktemp -d /tmp/sk.XXXXXX)
	mkdir "$dir/a" "$dir/b"
	# shellcheck disable=SC2034 # for who loads this
	mpi=$STINT_BUILD/tests/mpi
}

teardown() {
	[ -z "${dir:-}" ] || rm -rf "$dir"
}

job() {
	timeout "${limit:-200}" "$STINT_BUILD/tests/keeper/keeper-job" \
		-r "$dir/a" "$@"
}

# Run it in a network of our own: job_net RANKS ...
job_net() {
	local n=$1
	shift
	timeout "${limit:-200}" unshare --net sh -c \
		'ip link set lo up; exec "$@"' sh \
		"$STINT_BUILD/tests/keeper/keeper-job" -n "$n" -a 10.77.0.1 \
		-r "$dir/a" -r "$dir/b" "$@"
}

# Check that nothing of this test is left on this host.
nothing_left() {
	eventually nothing_there
}

nothing_there() {
	[ -z "$(find "$dir"/*/keepers "$dir"/*/capsules -mindepth 1 ! -name .lock 2>/dev/null)" ] &&
		! pgrep -f "keeper [^ ]* --run-dir=$dir" >/dev/null
}
