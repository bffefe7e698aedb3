# The identity of a rank comes from the user database of the controller's machine, never
# from its client; and users are not told what others run.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	export AGENTS_OWN=hush-agent # in the environment of agents
	jobs_setup
	serve 2
	unset AGENTS_OWN
	slay "$(service_pid controller)"
	open=$(mktemp -d /tmp/stint-identity.XXXXXX) # for ann, too
	chmod 755 "$open"
	cp "$STINT_BUILD"/src/cmd/stint{,-client,-cluster} "$open"
	people=$BATS_TEST_TMPDIR/people
	mkdir "$people"
	for file in passwd group; do # whoever has these names here
		sed -E '/^(ann|bob|crew):/d' "/etc/$file" >"$people/$file"
	done
	cat >>"$people/passwd" <<-'END'
		ann:x:4321:4321::/:/bin/sh
		bob:x:4322:4322::/:/bin/sh
	END
	printf '%s\n' ann:x:4321: bob:x:4322: crew:x:4400:ann >>"$people/group"
}

teardown() {
	rm -rf "${open:-}"
	jobs_teardown
}

# On a machine that has these users.
with_people() { # COMMAND...
	(exec unshare -m sh -c 'mount --bind "$1/passwd" /etc/passwd && mount --bind "$1/group" /etc/group && shift && exec "$@"' \
		sh "$people" "$@")
}

restart() { # OPTIONS...
	[ -z "${controller:-}" ] || slay "$controller"
	rm -f "$bed/controller.pid"
	with_people sh -c 'echo $$ >"$0" && exec "$@"' "$bed/controller.pid" \
		"$stint" controller --state-dir="$bed/controller" --pool=10.77.128.0/17 \
		--listen="unix:$bed/controller.sock" "$@" >>"$bed/controller.log" 2>&1 3>&- &
	eventually test -s "$bed/controller.pid"
	controller=$(cat "$bed/controller.pid")
	eventually hosts_up 2
}

enrol() { # USER
	with_people "$stint" controller --state-dir="$bed/controller" --enrol="user/$1" >"$open/$1.key"
	chown "$(grep "^$1:" "$people/passwd" | cut -d: -f3)" "$open/$1.key"
}

reach() { # the controller, for those who are not root
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$STINT_TESTBED_DIR" "$bed" 2>/dev/null || true
	chmod 666 "$bed/controller.sock"
}

# Run it as a user, with these options of setpriv and this environment.
as() { # USER SETPRIV... -- ARGUMENTS...
	local user=$1 uid
	uid=$(grep "^$1:" "$people/passwd" | cut -d: -f3)
	shift
	local more=(--regid "$uid" --clear-groups)
	[ "$1" = -- ] || more=()
	while [ "$1" != -- ]; do
		more+=("$1")
		shift
	done
	shift
	(cd / && exec timeout -k 10 300 setpriv --reuid "$uid" "${more[@]}" env -u STINT_TESTBED -u STINT_TESTBED_DIR \
		STINT_CONTROLLER="unix:$bed/controller.sock" STINT_KEY="$open/$user.key" \
		${preload:+LD_PRELOAD="$preload"} "$open/stint${preload:+-client}" "$@")
}

liar() { # a library by whose word whoever runs has gid and groups $1
	cat >"$open/liar.c" <<-END
		#include <unistd.h>
		gid_t getgid(void) { return $1; }
		gid_t getegid(void) { return $1; }
		int getgroups(int n, gid_t *list) { if (n) *list = $1; return 1; }
	END
	cc -shared -fPIC -o "$open/liar.so" "$open/liar.c"
	echo "$open/liar.so"
}

@test "no group comes from the client: the users' database has them" {
	restart
	enrol ann
	reach
	local shadow
	shadow=$(stat -c %g /etc/shadow)
	preload=$(liar "$shadow")
	run as ann -- run cat /etc/shadow
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"ann is not in group $shadow"* ]]
	run as ann -- run id -G
	[ "$status" = 1 ]
	preload=
	[ "$(as ann -- run id -u)" = 4321 ]
	[ "$(as ann -- run id -G | xargs -n 1 | sort | xargs)" = "4321 4400" ]
	[ "$(as ann --regid 4400 --clear-groups -- run id -g)" = 4400 ]
}

@test "a link out of /tmp leads to what the capsule shows, not to the host's" {
	restart
	enrol ann
	reach
	mkdir /var/tmp/stint-far.$$
	echo far >/var/tmp/stint-far.$$/file
	ln -s /proc "$open/proc"
	ln -s /dev "$open/dev"
	ln -s /var/tmp/stint-far.$$ "$open/elsewhere"
	run as ann -- run sh -c 'cat "$1/self/comm"; ls "$2"; cat "$3/file"' \
		sh "$open/proc" "$open/dev" "$open/elsewhere"
	rm -r /var/tmp/stint-far.$$
	echo "$output"
	[ "$status" = 0 ]
	[ "$(xargs <<<"$output")" = \
		"cat fd full null random shm stderr stdin stdout urandom zero far" ]
	# The last pid is the capsule's.
	run as ann -- run cat "$open/proc/loadavg"
	[ "${output##* }" -lt 10 ]
}

@test "groups are looked up again at each start and landing" {
	restart
	enrol ann
	reach
	(as ann -- run --hosts h1 sleep 1000 >"$bed/out" 2>&1) 3>&- &
	background=$!
	eventually is 'j[1]["state"]' running
	timeout 300 "$stint" drain --no-wait h2
	timeout 300 "$stint" drain --no-wait h1
	(as ann -- run id -G >"$bed/groups" 2>&1) 3>&- &
	background="$background $!"
	eventually is 'j[2]["state"]' waiting
	sed 's/^crew:.*/crew:x:4400:/' "$people/group" >"$people/group.new"
	cat "$people/group.new" >"$people/group"
	sleep .1 # what the database said at a submit counts for 50 ms (user.c)
	timeout 300 "$stint" drain --undo h2
	wait "${background##* }"
	[ "$(cat "$bed/groups")" = 4321 ]
	run timeout 300 "$stint" migrate 1.0 h2
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"group 4400, in which ann is no longer"* ]]
	run as ann --regid 4400 --clear-groups -- run true
	[ "$status" = 1 ]
	[[ "$output" == *"ann is not in group 4400"* ]]
	timeout 300 "$stint" kill 1
}

@test "root and the system's users run nothing unless told; a key is for its own user" {
	restart
	enrol ann
	enrol daemon
	reach
	run st run true
	[ "$status" = 1 ]
	[[ "$output" == *"uid 0 is root: only uids from"*"min-uid in [controller]"* ]]
	run as daemon -- run true
	[ "$status" = 1 ]
	[[ "$output" == *" is the system's: only uids from"* ]]
	cp "$bed/client.key" "$open/bob.key"
	chown 4322 "$open/bob.key"
	run as bob -- run true
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"your key is root's, and uid 4322 is not that user"* ]]
	restart --admin-submits=others
	reach
	[ "$(as bob -- run id -u)" = 4322 ]
	run st run true
	[ "$status" = 1 ]
	cp "$open/ann.key" "$open/bob.key"
	chown 4322 "$open/bob.key"
	run as bob -- run true
	[ "$status" = 1 ] && [[ "$output" == *"your key is ann's, and uid 4322 is not that user"* ]]
}

@test "a host has its own word on who runs there" {
	sed -i "s/^shadow:.*/&ann/" "$people/group" # of the controller's machine
	local shadow
	shadow=$(stat -c %g /etc/shadow)
	restart --min-uid=0
	enrol ann
	reach
	[ "$(as ann -- run --hosts h1 id -G | xargs -n 1 | sort -n | xargs)" = "$shadow 4321 4400" ]
	slay "$(service_pid h1)"
	on h1 "$stint" agent --controller="unix:$bed/controller.sock" --key="$bed/h1/key" \
		--run-dir="$bed/h1/run" --config="$bed/h1/stint.conf" --uplink=eth0 --cores=1 --score=1000 >>"$bed/h1/agent.log" 2>&1 3>&- &
	eventually hosts_up 2
	run as ann -- run --hosts h1 true
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"does not put uid 4321 into group $shadow"*"min-gid in [agent]"* ]]
	run st run --hosts h1 true
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"uid 0 is root: only uids from"*"min-uid in [agent]"* ]]
	st run --hosts h2 sleep 1000 3>&- &
	background=$!
	eventually is 'j[4]["state"]' running
	run st migrate 4.0 h1
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"uid 0 is root"* ]]
	[ "$(jobs 'j[4]["state"]')" = running ]
	st kill 4
}

# A job with things that no other user may read: an argument, a folder, a variable, an
# error.
secret() { # CONTROLLER'S OPTIONS...
	restart "$@"
	enrol ann
	enrol bob
	reach
	(cd / && SECRET=hush-env as ann -- run sh -c 'sleep 1000 # hush-argument' >"$bed/out" 2>&1) 3>&- &
	background=$!
	(as ann -- run /nowhere/hush-folder/program >"$bed/out2" 2>&1) 3>&- &
	background="$background $!"
	eventually is 'sorted(i["state"] for i in j.values())' "['done', 'running']"
}

# What other users read of these jobs.
tell() { # COMMAND...
	local n
	"$@" ps -a
	"$@" ps -a --json
	for n in 1 2; do
		"$@" ps "$n"
		"$@" why "$n"
		"$@" why --json "$n"
	done
}

@test "others' arguments, folders and errors are not shown, in logs neither" {
	secret --verbose
	tell as bob -- >"$bed/bob"
	tell as ann -- >"$bed/ann"
	tell st >"$bed/root"
	run ! grep hush "$bed/bob" "$bed/controller.log" "$bed"/h?/agent.log
	[ "$(grep -c " ann .* sh \.\.\.$" "$bed/bob")" = 2 ]
	grep -q '"argv": *\["program"\].*"hidden": *true' "$bed/bob"
	for who in ann root; do
		[ "$(grep -c hush-argument "$bed/$who")" = 3 ]
		[ "$(grep -c "hush-folder" "$bed/$who")" -ge 5 ]
		run ! grep hush-env "$bed/$who"
		run ! grep '"hidden": *true' "$bed/$who"
	done
	st kill 1 2>/dev/null || st kill 2
}

@test "others' names of jobs, and why one of them waits again, are not shown" {
	restart
	enrol ann
	enrol bob
	reach
	[ "$(as ann -- submit --requeue -J hush-name sleep 1000)" = 1 ]
	eventually is 'j[1]["state"]' running
	st drain --no-wait h1
	st drain --no-wait h2
	st requeue 1
	eventually is 'j[1]["state"]' waiting
	for who in ann bob; do
		for args in "ps -a" "ps -a --json" "ps 1" "ps --json 1" "why 1" "why --json 1"; do
			as "$who" -- $args
		done >"$bed/$who"
		cat "$bed/$who"
	done
	run ! grep "hush\|requeued by" "$bed/bob"
	grep -q hush-name "$bed/ann"
	grep -q "requeued by root" "$bed/ann"
	st cancel 1
	eventually is 'j[1]["state"]' "done"
	as ann -- history | grep hush-name
	run ! grep hush <(as bob -- history --json)
}

@test "show-arguments = all shows them to everybody" {
	secret --show-arguments=all
	tell as bob -- >"$bed/bob"
	[ "$(grep -c hush-argument "$bed/bob")" = 3 ]
	grep -q "hush-folder" "$bed/controller.log"
	st kill 1 2>/dev/null || st kill 2
}

keys() {
	"$stint" controller --state-dir="$bed/controller" "$@"
}

@test "keys are listed and revoked, with the connections made with them" {
	restart
	run -1 keys --enrol=user/nosuchuser
	[[ "$output" == *"no user nosuchuser"* ]]
	enrol ann
	enrol bob
	reach
	[ "$(keys --keys | sort | xargs)" = "admin/root host/h1 host/h2 user/ann user/bob" ]
	run -1 keys --revoke=user/nosuchuser
	(as ann -- run --hosts h2 sleep 1000 >"$bed/out" 2>&1) 3>&- &
	background=$!
	(as bob -- run --hosts h2 sleep 1000 >"$bed/out2" 2>&1) 3>&- &
	background="$background $!"
	eventually is '[i["state"] for i in j.values()]' "['running', 'running']"
	keys --revoke=user/ann
	keys --revoke=host/h1
	# Before the connections are ended: a new key with that name is another key.
	with_people "$stint" controller --state-dir="$bed/controller" --enrol=user/ann >"$open/new.key"
	eventually hosts_up 1
	eventually grep -q "peer=user/ann key=revoked" "$bed/controller.log"
	grep -q "peer=host/h1 key=revoked" "$bed/controller.log"
	run ! grep -E "peer=(user/bob|host/h2|admin/root) key=revoked" "$bed/controller.log"
	[ "$(keys --keys | sort | xargs)" = "admin/root host/h2 user/ann user/bob" ]
	run as ann -- ps
	[ "$status" = 1 ]
	[[ "$output" == *"key"* ]]
	chown 4321 "$open/new.key"
	mv "$open/new.key" "$open/ann.key"
	as ann -- ps
	as bob -- ps
	st kill 1
	st kill 2
}

@test "files that ranks print to are their user's, and only where that user may write" {
	restart --min-uid=1000
	reach
	enrol ann
	mkdir "$open/hers" "$open/roots"
	chown 4321 "$open/hers"
	as ann -- run -o "$open/hers/%x" id -u
	[ "$(cat "$open/hers/id")" = 4321 ]
	[ "$(stat -c %u:%a "$open/hers/id")" = 4321:644 ]
	run -1 as ann -- run -o "$open/roots/x" id
	[[ "$output" == *"cannot print to x in $open/roots: Permission denied"* ]]
	[ -z "$(ls "$open/roots")" ]
}

@test "what ranks print is no order to the kernel, by no name that a user can give" {
	restart --min-uid=0 # root's job has root's uid, and no more
	reach
	enrol ann
	score=$(cat /proc/1/oom_score_adj)
	refused() { # PATTERN, printed to by ann and by root
		run -1 as ann -- run -o "$1" echo 7
		[[ "$output" == *"cannot print to "*" in "*": "* ]] || { echo "$output"; false; }
		run -1 st run -o "$1" echo 7
		[[ "$output" == *"cannot print to "*" in "*": "* ]] || { echo "$output"; false; }
	}
	for file in /proc/1/oom_score_adj /proc/self/oom_score_adj /proc/thread-self/comm /proc/%a1/../1/oom_score_adj \
		/proc/sys/kernel/domainname /proc/sysrq-trigger /sys/kernel/uevent_helper /sys/power/state \
		/sys/fs/cgroup/cgroup.procs /dev/full /dev/stdout /dev/fd/1 /dev/pts/ptmx \
		/proc/self/fd/3/x /proc/self/cwd/x /proc/1/root/x /proc/1/cwd/x; do
		refused "$file"
	done
	[ "$(cat /proc/1/oom_score_adj)" = "$score" ]
	as ann -- run -o /dev/null echo x
}

# Folders that are links half of the time, until this is killed.
swapper() { # A B...
	exec python3 -c 'import ctypes, os, sys
swap = ctypes.CDLL(None, use_errno=True).renameat2
pairs = [os.fsencode(p) for p in sys.argv[1:]]
n = 0
while True:
    for i in range(0, len(pairs), 2):
        assert swap(-100, pairs[i], -100, pairs[i + 1], 2) == 0, os.strerror(ctypes.get_errno())
    n += 1
    if n == 100: open(sys.argv[1] + ".swapped", "w")' "$@" 3>&-
}

@test "a folder that is swapped for a link while files are opened leads nowhere else" {
	restart --min-uid=1000
	reach
	enrol ann
	mkdir "$open/hers" "$open/roots" "$open/hers/a" "$open/hers/0" "$open/else"
	chown 4321 "$open/hers" "$open/hers/a" "$open/hers/0" "$open/else"
	ln -s "$open/roots" "$open/hers/to-roots"
	ln -s "$open/else" "$open/hers/to-else"
	swapper "$open/hers/a" "$open/hers/to-roots" "$open/hers/0" "$open/hers/to-else" &
	background="${background:+$background }$!"
	eventually test -e "$open/hers/a.swapped"
	for i in $(seq 12); do
		as ann -- run -o "$open/hers/a/$i" -e "$open/hers/%a/$i" sh -c 'echo x; echo x >&2' \
			"$open/roots" "$open/else" >>"$bed/out" 2>&1 || true # named, so shown
	done
	kill "${background##* }"
	[ -z "$(ls "$open/roots")" ] # not ann's to write to
	[ -z "$(ls "$open/else")" ]  # ann's, but a link leads there
	[ -z "$(find "$open/hers" -type f ! -name '*.swapped' ! -user 4321)" ]
	# Each file is made, or there is a reason why not.
	[ $(($(find "$open/hers/to-roots" "$open/hers/a" -type f | wc -l) + $(grep -c "cannot" "$bed/out"))) -ge 12 ]
}

# With several ranks the program is examined before it is run, which takes more processor
# time here than the limit leaves.
@test "what a rank is before its program runs leaves no core file" {
	[[ "$(cat /proc/sys/kernel/core_pattern)" != [/\|]* ]] || skip "core files go elsewhere here"
	restart --min-uid=1000
	reach
	enrol ann
	mkdir "$open/hers"
	chown 4321 "$open/hers"
	/usr/bin/python3 - "$open/hers/large" <<-'P'
		import os, struct, sys
		with open(sys.argv[1], "wb") as f: # linked statically, by its headers
		    f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0))
		    f.write(struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 4096, 4096, 4096))
		    f.truncate(200 << 30)
		os.chmod(sys.argv[1], 0o755)
	P
	(ulimit -c unlimited && ulimit -St 1 && as ann -- run -n 2 --wdir "$open/hers" ./large) >"$bed/out" 2>&1 || true
	cat "$bed/out"
	grep -q "signal 24" "$bed/out" # SIGXCPU
	[ "$(ls "$open/hers")" = large ]
}

@test "keepers and their ranks' first processes hold nothing of the agent's environment" {
	restart --min-uid=1000
	reach
	enrol ann
	grep -qz hush-agent "/proc/$(service_pid h1)/environ"
	(as ann -- run --hosts h1 sleep 1000 >"$bed/out" 2>&1) 3>&- &
	background=$!
	eventually is 'j[1]["state"]' running
	local found=0 pid
	for pid in $(pgrep -f "stint keeper 1.0 --run-dir=$bed/h1/run "); do
		found=$((found + 1))
		run ! grep -z hush-agent "/proc/$pid/environ"
	done
	[ $found = 2 ] # it, and its init
	st kill 1
}
