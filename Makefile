# A thin front to Meson: `make demo` shows it, `make check` tests it.
B ?= build
.DEFAULT_GOAL := all
.PHONY: all help deps check check-vm check-versions demo bench bench-turns soak victims model mutants fuzz asan clang format lint clean install uninstall

help:
	@sed -n 's/^## //p' Makefile

## make            builds in build/
## make demo       a real MPI program on four test hosts; one rank moves, live; owners come and go
## make check      house rules, unit tests, system tests
## make check-vm   tests under systemd, logind and cgroup v2, in a Debian guest (needs /dev/kvm)
## make check-versions OTHER=PATH  agents and keepers of this version beside those of another tree
## make install    below the prefix (/usr/local, DESTDIR=); make uninstall
## make bench      measurements; make bench-NAME for one of them
## make bench-turns OLD=PATH  the same in turns with another tree; NAMES="tls sim" some of them
## make asan       unit and system tests under ASan and UBSan
## make clang      builds with clang, all warnings errors
## make fuzz       every fuzz target for a short while
## make model      model-checks the move's commit protocol
## make mutants    breaks single lines; which does no test notice?  WORD=... some of them
## make soak       the long loops, hours of them; PART=NAME one of them
## make victims    programs of others, moved at random; VICTIMS=DIR some more
## make lint       the house rules alone; make format
## make clean      removes the builds

# Install what apt has and this machine lacks; silent where nothing is missing.
deps:
	@tools/deps packages.txt

$(B)/build.ninja: | deps
	@meson setup $(B) -Dwerror=true >/dev/null || (cat $(B)/meson-logs/meson-log.txt; exit 1)

all: $(B)/build.ninja
	@ninja --quiet -C $(B)

check: all
	@tools/check $(B)

check-vm: all
	@tools/check-vm $(B) $(FILES)

check-versions: all
	@STINT_BUILD=$(B) STINT_OTHER=$(if $(OTHER),$(OTHER)/build,$(error OTHER=PATH: a work tree of another version, built)) \
		bats tests/65-versions.bats

demo: all
	@tools/demo $(B)

bench: all
	@tools/bench $(B)
bench-turns: all
	@tools/bench-turns $(if $(OLD),$(OLD),$(error OLD=PATH: a work tree to compare with, built)) . $(NAMES)
bench-%: all
	@tools/bench $(B) $*

soak: all
	@tools/soak $(B) $(PART)

victims: all
	@STINT_BUILD=$(B) tests/victims/victims.py

model: deps
	@tools/model

mutants: deps
	@tools/mutants $(WORD)

asan clang fuzz:
	@tools/build-$@

lint: all
	@tools/lint $(B)

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	@meson install -C $(B)
uninstall:
	@ninja -C $(B) uninstall

clean:
	@rm -rf build build-*
