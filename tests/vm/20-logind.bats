#!/usr/bin/env bats
# Owners as logind knows them: real sessions, a real sleep and shutdown up to where the
# machine would stop: in a guest (make check-vm)
bats_require_minimum_version 1.5.0
load owners

# logind waits for 5 s unless told otherwise, in which a rank of an emulated guest cannot
# leave.
setup_file() {
	mkdir -p /run/systemd/logind.conf.d
	printf '[Login]\nInhibitDelayMaxSec=300\n' >/run/systemd/logind.conf.d/stint.conf
	systemctl restart systemd-logind
}

setup() {
	jobs_setup
	sessions=
}

teardown() {
	local s
	for s in $sessions; do
		systemctl stop "$s" 2>/dev/null || true
	done
	rm -rf /run/systemd/system/{suspend,poweroff}.target /run/systemd/system/{suspend,poweroff}.target.d
	systemctl daemon-reload
	jobs_teardown
}

owner_of() { # HOST EXPRESSION
	"$BATS_TEST_DIRNAME/ask.py" one "$2" "${3:-}" "${4:-}" \
		timeout 300 "$stint" testbed exec "$1" "$stint" owner status --json
}

knows() { # HOST WORD CAUSE
	owner_of "$1" 'j["owner"], j["cause"]' "$2 $3" "${patience:-0}"
}

# An agent at h1 that hears this machine's logind.
with_logind() { # HOSTS
	slay "$(service_pid h1)"
	printf '[owner]\nsources = logind\nlinger = 0\nquiet = 0\nload = any\n' >"$bed/owner.conf"
	start_agent h1 --config="$bed/owner.conf"
	eventually inhibits
	eventually hosts_up "$1"
}

inhibits() {
	busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager \
		ListInhibitors | grep -q '"Stint"'
}

# USER logs in at the console, at a graphical seat or a terminal.
login() { # USER TTY TYPE
	local unit=session-$1-$2
	systemd-run --quiet --unit="$unit" -p User="$1" -p PAMName=login -p TTYPath="/dev/$2" \
		-p StandardInput=tty -p StandardOutput=tty -p UtmpIdentifier="$2" -p UtmpMode=user \
		-E XDG_SEAT=seat0 -E XDG_VTNR="${2#tty}" -E XDG_SESSION_TYPE="$3" -E XDG_SESSION_CLASS=user \
		sleep 10000
	sessions="$sessions $unit"
	eventually session_of "$1"
}

session_of() { # USER: its number is in $session
	session=$(loginctl --no-legend list-sessions | awk -v user="$1" '$3 == user { print $1 }')
	[ -n "$session" ]
}

hint() { # NAME BOOLEAN
	local path
	path=$(busctl --json=short call org.freedesktop.login1 /org/freedesktop/login1 \
		org.freedesktop.login1.Manager GetSession s "$session" | sed 's/.*"\(\/org[^"]*\)".*/\1/')
	busctl call org.freedesktop.login1 "$path" org.freedesktop.login1.Session "Set$1" b "$2"
}

@test "who logs in at the console is there, until the screen is idle or locked, or they leave" {
	serve 1
	with_logind 1
	knows h1 away nobody
	login ann tty3 wayland
	eventually knows h1 here session
	[ "$(owner_of h1 'j["who"]')" = ann ]
	hint IdleHint true
	eventually knows h1 away nobody
	hint IdleHint false
	eventually knows h1 here session
	hint LockedHint true
	eventually knows h1 away nobody
	hint LockedHint false
	eventually knows h1 here session
	loginctl terminate-session "$session"
	eventually knows h1 away nobody
}

@test "two at the console: the host is in use while one of them is" {
	serve 1
	with_logind 1
	login ann tty3 wayland
	eventually knows h1 here session
	login bob tty4 wayland
	systemctl stop session-ann-tty3
	eventually eval '! session_of ann'
	knows h1 here session
	systemctl stop session-bob-tty4
	eventually knows h1 away nobody
}

@test "a logind that is started anew is heard again" {
	serve 1
	with_logind 1
	login ann tty3 wayland
	eventually knows h1 here session
	systemctl restart systemd-logind
	eventually inhibits
	eventually knows h1 here session
	systemctl stop session-ann-tty3
	eventually knows h1 away nobody
}

# The target is of no effect, so that all of it happens but the last.
harmless() { # TARGET
	printf '[Unit]\nDescription=nothing at all\nDefaultDependencies=no\nStopWhenUnneeded=yes\n' \
		>"/run/systemd/system/$1.target"
	systemctl daemon-reload
}

@test "guests leave a host that is to sleep, or to go down, before it does" {
	local what
	harmless suspend
	harmless poweroff
	serve 2 --policy=stint
	with_logind 2
	sleeper --hosts h1,h2 -n 1
	eventually is 'j[1]["state"]' running
	for what in suspend poweroff; do
		eventually owner_is 'h["h1"]["closed"], h["h1"]["owner"]' "open away"
		where_is 1 "['h1']" || migrate 1.0 h1
		eventually inhibits
		systemctl "$what" --no-wall -i
		eventually where_is 1 "['h2']"
		st why 1 | grep "migrate job 1 rank 0 to h2 .*: host h1 goes"
		eventually grep -q 'no guest is left: the host may go' "$bed/h1/agent.log"
		eventually knows h1 away nobody
		eventually inhibits
	done
	st kill 1
}
