# tools/check-arrows and tools/arrows-picture on a small tree: includes and calls along the
# arrows pass, and each kind of violation is refused by name.

bats_require_minimum_version 1.5.0

# A tree of three rooms, low <- high and side. Every tool finds the tree by the place of the
# tool itself.
setup() {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"/{tools,src/{low,high/part,side},doc/design}
	cp "$BATS_TEST_DIRNAME"/../tools/{arrows.py,check-arrows,arrows-picture} "$tree/tools/"
	cd "$tree" || return
	git init -q .
	echo build >.gitignore
	cat >tools/arrows <<-'END'
		low:
		side: low
		high/part: low
		high: low high/part
	END
	printf 'int low_one(void);\n' >src/low/low.h
	printf '#include "low/low.h"\nint low_one(void) { return 1; }\n' >src/low/low.c
	printf 'int side_one(void);\n' >src/side/side.h
	printf '#include "low/low.h"\n#include "side/side.h"\nint side_one(void) { return low_one(); }\n' >src/side/side.c
	printf 'int part_one(void);\n' >src/high/part/part.h
	printf '#include "low/low.h"\n#include "high/part/part.h"\nint part_one(void) { return low_one(); }\n' >src/high/part/part.c
	printf '#include "high/part/part.h"\nint main(void) { return part_one(); }\n' >src/high/high.c
	printf 'A note\n<!-- arrows-picture -->\n```\n```\n<!-- end -->\nand its end\n' >doc/design/01-rooms.md
	build
}

# Compile all files, and write down the commands as meson does.
build() {
	rm -rf build
	mkdir build
	{
		echo "["
		local f sep=""
		for f in $(cd src && find . -name '*.c' | sed 's,^\./,,'); do
			mkdir -p "build/$(dirname "$f")"
			cc -Isrc -c "src/$f" -o "build/$f.o" || return
			echo "$sep{\"directory\": \"$tree/build\", \"file\": \"../src/$f\", \"output\": \"$f.o\"}"
			sep=,
		done
		echo "]"
	} >build/compile_commands.json
}

refused() { # WORDS
	run tools/check-arrows
	echo "$output"
	[ "$status" = 1 ]
	[[ "$output" == *"$1"* ]]
	[ "${#lines[@]}" = 1 ]
}

@test "what goes along the arrows passes" {
	run tools/check-arrows
	echo "$output"
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "an include against the arrows is refused" {
	sed -i '1i#include "side/side.h"' src/high/part/part.c
	build
	refused "src/high/part/part.c: high/part may not include side/side.h"
	# A test of the room may use any part of it, but no other room.
	sed -i 1d src/high/part/part.c
	printf '#include "high/part/part.h"\n#include "side/side.h"\n' >src/high/test_high.c
	build
	refused "src/high/test_high.c: high may not include side/side.h"
}

@test "an include upwards is refused, of a sub-room too" {
	printf 'extern int high;\n' >src/high/high.h
	sed -i '1i#include "high/high.h"' src/high/part/part.c
	build
	refused "src/high/part/part.c: high/part may not include high/high.h"
}

@test "a symbol against the arrows is refused, without an include of it" {
	sed -i 's/return low_one()/int side_one(void); return side_one()/' src/high/part/part.c
	build
	refused "src/high/part/part.c: high/part may not use side_one of side/side.c"
}

@test "a circle of files is refused, unless the table has it" {
	printf '#include "side/side.h"\nint side_two(void);\nint side_two(void) { return side_one(); }\n' >src/side/two.c
	sed -i 's/return low_one()/int side_two(void); return side_two() + low_one()/' src/side/side.c
	build
	refused "files that call each other in a circle: side/side.c side/two.c"
	echo "circle 01: side/side.c side/two.c" >>tools/arrows
	run -0 tools/check-arrows
}

@test "headers that include each other are refused" {
	printf '#ifndef A\n#define A\n#include "side/b.h"\n#endif\n' >src/side/a.h
	printf '#ifndef B\n#define B\n#include "side/a.h"\n#endif\n' >src/side/b.h
	refused "files that include each other in a circle: side/a.h side/b.h"
}

@test "a file in no room, and a line for none, are refused" {
	mkdir src/lost
	printf 'int lost;\n' >src/lost/lost.c
	refused "src/lost/lost.c: is in no room of tools/arrows"
	rm -r src/lost
	echo "gone: low" >>tools/arrows
	refused "tools/arrows: src/gone is not there"
	sed -i '$d' tools/arrows
	# No arrow goes up: each line names only rooms above it.
	sed -i 's/^low:/low: side/' tools/arrows
	run tools/check-arrows
	[ "$status" = 1 ]
	[[ "$output" == *"side is not above the line of low"* ]]
}

@test "the picture in the note is of these rooms, or refused" {
	run tools/arrows-picture -c
	[ "$status" = 1 ]
	[[ "$output" == *"01-rooms.md"*"arrows-picture -w"* ]]
	tools/arrows-picture -w
	run -0 tools/arrows-picture -c
	run -0 cat doc/design/01-rooms.md
	[ "${lines[0]}" = "A note" ]
	[ "${lines[-1]}" = "and its end" ]
	[[ "$output" == *$'\n''high/part  c . \'$'\n'* ]]
	# One call more.
	sed -i 's/return part_one()/int low_one(void); return part_one() + low_one()/' src/high/high.c
	build
	run tools/arrows-picture -c
	[ "$status" = 1 ]
}
