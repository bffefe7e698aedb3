#!/usr/bin/env bats
# What `make install` puts there, served by systemd as README.md says: in a guest, whose
# system it changes (make check-vm)
bats_require_minimum_version 1.5.0
load build

setup_file() {
	meson install -C "$STINT_BUILD" --no-rebuild >/dev/null
	systemctl daemon-reload
	ip link add lab0 type dummy
	ip address add 10.99.0.1/24 dev lab0
	ip link set lab0 up
	mkdir -p /etc/stint
	cat >/etc/stint/stint.conf <<-end
		[controller]
		state-dir = /var/lib/stint
		listen = 127.0.0.1:7077
		[agent]
		controller = 127.0.0.1:7077
		key = /etc/stint/key
		run-dir = /run/stint
		uplink = lab0
		[owner]
		quiet = 0
		load = any
	end
	(
		umask 77
		/usr/local/bin/stint controller --state-dir=/var/lib/stint --enrol=host/guest >/etc/stint/key
		/usr/local/bin/stint controller --state-dir=/var/lib/stint --enrol=user/ann >/home/ann/key
		chown ann: /home/ann/key
	)
}

setup() {
	cd / || return
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED:-}" ] || journalctl -q -n 40 --no-pager -u stint-agent -u stint-controller
	# By their numbers; whoever waits for them ends then, too.
	ann ps --json | sed -n 's/.*"job": *\([0-9]*\).*/\1/p' | while read -r job; do
		ann kill "$job" || true
	done
}

ann() {
	runuser -u ann -- timeout -k 10 300 /usr/local/bin/stint "$1" --controller 127.0.0.1:7077 --key /home/ann/key "${@:2}"
}

host_is() { # STATE
	[[ "$(ann hosts)" =~ guest\ +$1 ]]
}

journal_says() { # UNIT PATTERN
	journalctl -q --no-pager -u "$1" | grep -q -- "$2"
}

# A job that waits, with a limit of its memory; its number is in $job, its pid in $rank.
begin_job() {
	job=$(ann submit --wdir / --memory 64M sleep 1000)
	eventually runs_rank
}

runs_rank() {
	rank=$(pgrep -u ann -x sleep) && ann ps "$job" | grep -q running
}

memory_max_of() { # PID: of the group around its own
	local group
	group=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	cat "${group%/*}/memory.max"
}

@test "the units are in order, and begin" {
	systemd-analyze verify --man=no /usr/local/lib/systemd/system/stint-*.service
	systemctl enable --now stint-controller
	systemctl enable --now stint-agent
	eventually host_is "(up|idle|free)"
	journal_says stint-controller .
	journal_says stint-agent .
	[ -S /run/stint/owner.sock ]
	[ "$(stat -c %a /var/lib/stint)" = 700 ]
}

@test "a rank is kept within its memory and its number of processes" {
	run -137 ann run --wdir / --memory 64M python3 -c 'b = bytearray(128 << 20); b[::4096] = b"x" * (len(b) >> 12)'
	[[ "$output" == *"rank 0 used more than its 64 MiB of memory (--memory)"* ]]
	run ann run --wdir / --pids-limit 10 sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 100 & done'
	[ "$status" != 0 ]
	[[ "$output" == *"its limit of 10 processes and threads"* ]]
}

@test "an agent that is started anew, by systemd or after its death, finds its rank, limits and all" {
	local agent
	begin_job
	[ "$(memory_max_of "$rank")" = $((72 << 20)) ]
	systemctl restart stint-agent
	eventually host_is "(up|idle|free)"
	eventually runs_rank
	agent=$(systemctl show -P MainPID stint-agent)
	kill -9 "$agent"
	eventually eval '[ "$(systemctl show -P MainPID stint-agent)" != '"$agent"' ] && systemctl is-active -q stint-agent'
	eventually host_is "(up|idle|free)"
	systemctl stop stint-agent
	eventually host_is down
	[ -d "/proc/$rank" ]
	systemctl start stint-agent
	eventually host_is "(up|idle|free)"
	eventually runs_rank
	[ "$(memory_max_of "$rank")" = $((72 << 20)) ]
	# Others get theirs as before.
	run -137 ann run --wdir / --memory 64M python3 -c 'b = bytearray(128 << 20); b[::4096] = b"x" * (len(b) >> 12)'
	[ -d "/proc/$rank" ]
	ann kill "$job"
	ann wait "$job" || true
}

@test "a controller that is started anew knows its jobs" {
	begin_job
	systemctl restart stint-controller
	eventually runs_rank
	eventually host_is "(up|idle|free)"
	ann kill "$job"
	ann wait "$job" || true
}

@test "reload has the agent read its owner's terms again" {
	sed -i 's/^quiet = .*/quiet = 7s/' /etc/stint/stint.conf
	systemctl reload stint-agent
	eventually journal_says stint-agent 'terms='
	systemctl is-active -q stint-agent
}

@test "who stops the guests' unit ends what runs here; the next rank runs" {
	begin_job
	systemctl stop stint-guests
	eventually ended "$rank"
	systemctl start stint-agent
	eventually host_is "(up|idle|free)"
	ann run --wdir / --memory 64M true
}

@test "the owner's terms are kept on a host with cgroup v2" {
	local group
	sed -i '/^\[owner\]/a cores = 1\nmemory = 1G\ndisk = 20M' /etc/stint/stint.conf
	systemctl reload stint-agent
	begin_job
	group=/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$rank/cgroup")
	group=${group%/*/*}
	[[ $group == */stint-guests.* ]]
	eventually grep -qx 1 "$group/cpuset.cpus"
	eventually grep -q 'rbps=20971520 wbps=20971520' "$group/io.max"
	eventually grep -qx '[0-9]*' "$group/memory.max"
	[ "$(taskset -cp "$rank" | sed 's/.*: //')" = 1 ]
	ann kill "$job"
	ann wait "$job" || true
}

@test "what was installed goes again" {
	systemctl disable --now stint-agent stint-controller
	systemctl stop stint-guests
	ninja -C "$STINT_BUILD" uninstall >/dev/null
	systemctl daemon-reload
	[ -z "$(find /usr/local/bin /usr/local/libexec /usr/local/lib/systemd -name 'stint*' 2>/dev/null)" ]
	[ -z "$(find /sys/fs/cgroup -name '*stint-*' ! -name 'stint-tests.service' ! -name stint-self)" ]
}
