# A thin front to Meson: `make demo` shows it, `make check` tests it.
B ?= build
.DEFAULT_GOAL := all
.PHONY: all deps check demo bench soak model fuzz asan clang format lint clean install uninstall

# Install what apt has and this machine lacks; silent where nothing is missing.
deps:
	@tools/deps packages.txt

$(B)/build.ninja: | deps
	@meson setup $(B) -Dwerror=true >/dev/null || (cat $(B)/meson-logs/meson-log.txt; exit 1)

all: $(B)/build.ninja
	@ninja --quiet -C $(B)

check: all
	@tools/check $(B)

demo: all
	@tools/demo $(B)

bench: all
	@tools/bench $(B)
bench-%: all
	@tools/bench $(B) $*

soak: all
	@tools/soak $(B) $(PART)

model: deps
	@tools/model

asan clang fuzz:
	@tools/build-$@

lint:
	@tools/lint

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

install: all
	@meson install -C $(B)
uninstall:
	@ninja -C $(B) uninstall

clean:
	@rm -rf build build-*
