# capsule.bash - for tests with test hosts and capsules; load it from a .bats file
#
# Each test has a testbed of its own name (below its own directory, so that nobody
# else's can be met), and shells (build/src/cluster/capsule-shell), one for each
# capsule, that obey lines through a pair of fifos:
#
#	shell a h1			start shell "a" on host h1
#	say a create c1 ...		one line, its answer in $answer
#	ok a plug			the same, and it must be "ok"

load build
capsule_shell=$STINT_BUILD/src/cluster/capsule-shell

bed_setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -n true 2>/dev/null || skip "no network namespaces here"
	export STINT_TESTBED_DIR=$BATS_TEST_TMPDIR/beds STINT_TESTBED=t$$
	before=$(leftovers)
}

bed_up() { # hosts alone; `serve` has agents too
	timeout 300 "$stint" testbed up --bare "$@"
}

serve() {
	timeout 300 "$stint" testbed up "$@"
}

# Ends what this test began: shells by closing their input, then the testbed.
bed_teardown() {
	local name
	trap : TERM # whoever ends the test waits for this
	for name in ${shells:-}; do
		eval "exec ${in[$name]}>&-" || true
	done
	timeout 300 "$stint" testbed down
	[ "$(leftovers)" = "$before" ]
}

# What a testbed or capsule of this test could leave behind, and nothing that belongs to
# others.
leftovers() {
	echo "cgroups: $(find /sys/fs/cgroup -type d \( -name "stint-testbed.t$$" -o -name "cap$$*" \) 2>/dev/null | sort)"
	echo "mounts: $(grep -c "$BATS_TEST_TMPDIR" /proc/self/mountinfo)"
	echo "beds: $(ls "$BATS_TEST_TMPDIR/beds" 2>/dev/null)"
}

on() { # HOST COMMAND...
	timeout 300 "$stint" testbed exec "$@"
}

declare -gA in out pid
shells=

shell() { # NAME HOST
	local dir=$BATS_TEST_TMPDIR/shell.$1 i o
	mkdir "$dir"
	mkfifo "$dir/in" "$dir/out"
	"$stint" testbed exec "$2" "$capsule_shell" <"$dir/in" >"$dir/out" 2>"$dir/err" 3>&- &
	# shellcheck disable=SC2034 # for who loads this
	pid[$1]=$!
	exec {i}>"$dir/in" {o}<"$dir/out"
	in[$1]=$i out[$1]=$o
	shells="$shells $1"
}

say() { # NAME LINE...
	local name=$1
	shift
	echo "$@" >&"${in[$name]}"
	answer="no answer"
	read -r -t 300 -u "${out[$name]}" answer || true
}

ok() { # NAME LINE...
	say "$@"
	case $answer in
	ok*) ;;
	*)
		echo "$*: $answer"
		return 1
		;;
	esac
}

rundir() { # HOST
	echo "$STINT_TESTBED_DIR/$STINT_TESTBED/$1/run"
}
