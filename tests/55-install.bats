#!/usr/bin/env bats
# `make install` installs everything, in a form that other programs can use, and `make
# uninstall` removes it.

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# the list of the last real installation, which `make uninstall` needs
	log=$STINT_BUILD/meson-logs/install-log.txt
	[ ! -e "$log" ] || cp "$log" before
	meson install -C "$STINT_BUILD" --no-rebuild --destdir "$PWD/root" >/dev/null
	prefix=$PWD/root$(meson introspect --buildoptions "$STINT_BUILD" |
		python3 -c 'import json,sys; print(*[o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"])')
}

teardown() {
	[ ! -e bed ] || STINT_TESTBED_DIR=$PWD/bed STINT_TESTBED=i$$ "$stint" testbed down || true
	if [ -e before ]; then mv before "$log"; else rm -f "$log"; fi
}

@test "what is installed works from where it is, and is gone after uninstall" {
	for f in bin/stint libexec/stint/stint-{client,cluster,keeper,sim} share/man/man1/stint.1 \
		share/man/man5/stint.conf.5 share/man/man8/stint-agent.8 \
		share/bash-completion/completions/stint share/doc/stint/examples/{patient.c,two-policies.ipynb}; do
		[ -s "$prefix/$f" ] || { echo "not there: $f"; false; }
	done
	[ -n "$(find "$prefix" -name libstint-pmi.so)" ]
	[ -n "$(find "$prefix" -name stint-tls.so)" ]
	"$prefix/bin/stint" policies | grep -q '^easy '
	# The program that a service starts exists, and has the options that are used.
	for service in "$prefix"/lib/systemd/system/stint-{agent,controller}.service; do
		read -r program command option < <(sed -n 's/^ExecStart=//p' "$service")
		[ -x "root$program" ]
		"$stint" "$command" --help | grep -qF -- "${option%%=*}"
	done
	# The tree may lie elsewhere than it was configured for (here: below root), with all that it needs.
	export STINT_TESTBED_DIR=$PWD/bed STINT_TESTBED=i$$
	"$prefix/bin/stint" testbed up 1
	# shellcheck disable=SC2016 # the rank's
	run -0 "$prefix/bin/stint" run sh -c 'echo "$LD_PRELOAD"'
	"$prefix/bin/stint" testbed down
	[[ "$output" == "$(realpath "$prefix")"/lib*/libstint-pmi.so ]]
	ninja -C "$STINT_BUILD" uninstall >/dev/null
	[ -z "$(find root ! -type d)" ]
}

# examples/moveone.c knows of Stint only what pkg-config says.
@test "a program of one page moves a process with the installed library" {
	[ -e "$STINT_BUILD/src/move/libstint-move.so" ] || skip "not built with sanitizers"
	pc=$(dirname "$(find "$prefix" -name stint-move.pc)")
	read -ra flags < <(PKG_CONFIG_SYSROOT_DIR=$PWD/root PKG_CONFIG_PATH=$pc \
		pkg-config --cflags --libs stint-move)
	cc -Wall -Werror -o moveone "$BATS_TEST_DIRNAME/../examples/moveone.c" "${flags[@]}"
	export LD_LIBRARY_PATH=${pc%/pkgconfig}
	run --separate-stderr timeout 300 ./moveone
	echo "$output"
	echo "$stderr"
	[ "$status" = 0 ]
	[ "$output" = "$(seq -s ' ' 20) and its status there was 42" ]
	[[ $stderr == "[it stood still for "*" ms]"* ]]
}

# Only names that the installed headers declare can be called, or clash with others.
@test "the library shows what its headers declare" {
	lib=$STINT_BUILD/src/move/libstint-move.so
	[ -e "$lib" ] || skip "not built with sanitizers"
	nm -D --defined-only "$lib" | awk '$2 == "T" {print $3}' | sort >shown
	cat "$prefix"/include/stint/*/*.h | tr -d '\n' | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' |
		grep -oE '\b(move|channel|error|pace|parse|tls)_[a-z_]+\(' | tr -d '(' | sort -u >declared
	diff -u declared shown
}

# patient.c is a policy that knows of Stint only what is installed, as it is itself.
@test "a policy of one's own is built with the installed headers, and may call what they declare" {
	pc=$(dirname "$(find "$prefix" -name stint-policy.pc)")
	read -ra flags < <(PKG_CONFIG_SYSROOT_DIR=$PWD/root PKG_CONFIG_PATH=$pc pkg-config --cflags stint-policy)
	cc -std=c17 -Wall -Wextra -Werror -shared -fPIC -o patient.so \
		"$prefix/share/doc/stint/examples/patient.c" "${flags[@]}"
	"$prefix/bin/stint" policies --test ./patient.so
	sed -n 's/^\t\(.*\);$/\1/p' "$BATS_TEST_DIRNAME/../src/policy/own.symbols" | sort >listed
	nm -D --defined-only "$STINT_BUILD/src/cmd/stint-sim" | awk '{print $3}' | sort >shown
	[ -z "$(comm -23 listed shown)" ]
	while read -r name; do
		grep -rqw "$name" "$prefix/include/stint" || { echo "no header has $name"; false; }
	done <listed
}
