# The front door. Meson does the building; `make help` lists what there is.
PREFIX ?= /usr/local
PYTHON ?= /usr/bin/python3
SECONDS ?= 600
export DUCKDB_DIR

.PHONY: all demo check test test-long mutants mutants-auto bench fuzz format tidy install uninstall dist deb setup clean help

all:
	@scripts/setup demo
	@scripts/build release

demo: all
	@build/release/cli/tamis demo

check:
	@scripts/setup test
	@$(PYTHON) scripts/test --check

test:
	@scripts/setup test
	@scripts/setup spark
	@$(PYTHON) scripts/test

test-long:
	@scripts/setup test
	@scripts/setup spark
	@$(PYTHON) scripts/test --long

mutants: all
	@scripts/setup test
	@$(PYTHON) tests/mutants/run $(if $(ONLY),--only $(ONLY))

mutants-auto: all
	@scripts/setup test
	@$(PYTHON) tests/mutants/auto $(if $(ONLY),--only $(ONLY)) $(if $(SCALE),--scale $(SCALE))

fuzz:
	@scripts/setup test
	@$(PYTHON) scripts/test --fuzz $(SECONDS)

# The version matters: others break lines at other places.
format:
	@scripts/setup test
	@find src cli include tests bench bindings -name '*.[ch]' -exec clang-format-14 -i {} +

tidy: all
	@scripts/setup test
	@find src cli -name '*.c' -print0 | xargs -0 -P2 -n4 clang-tidy-14 -p build/release --quiet

bench: all
	@scripts/setup bench
	@scripts/setup spark
	@$(PYTHON) bench/run

install:
	@PREFIX=$(abspath $(PREFIX)) scripts/install

uninstall:
	@PREFIX=$(abspath $(PREFIX)) scripts/uninstall

# From what git has of HEAD.
dist:
	@scripts/dist

deb:
	@scripts/deb

setup:
	@scripts/setup again

# What was fetched (build/duckdb) stays.
clean:
	@rm -rf build/release build/quick build/test build/clang build/fuzz build/fuzzers build/mutants

help:
	@echo 'make                    build the library and the command (build/release/cli/tamis)'
	@echo 'make demo               build, then release statistics of a bundled survey'
	@echo 'make check              build without sanitizers, run the fast tests (two minutes)'
	@echo 'make test               build with sanitizers, run all tests'
	@echo 'make test-long          the same, in full where make test takes samples (hours)'
	@echo 'make mutants ONLY=      plant privacy bugs, one at a time (all, or one room or name): a test must fail'
	@echo 'make mutants-auto ONLY= change one operator, constant or condition at a time (a seeded sample; SCALE=0.05: of it)'
	@echo 'make bench              measure speed, with other programs and the limits of this machine for comparison'
	@echo 'make fuzz SECONDS=600   fuzz longer than make test does'
	@echo 'make format             format the C sources (clang-format 14)'
	@echo 'make tidy               look for likely mistakes with clang-tidy 14 (.clang-tidy)'
	@echo 'make install PREFIX=    install (default: $(PREFIX)); DESTDIR is respected'
	@echo 'make uninstall PREFIX=  remove what was installed there'
	@echo 'make dist               write the archive of the sources (build/dist)'
	@echo 'make deb                build Debian packages (build/deb)'
	@echo 'make setup              fetch what is missing: Debian packages, DuckDB'
	@echo 'make clean              remove what was built, keep what was fetched'
	@echo
	@echo 'DUCKDB_DIR=folder       use the duckdb.h and libduckdb.so there instead of fetching them'
