# The verbs. Each works on a fresh clone: what is missing is installed first (tools/setup says what).
.DEFAULT_GOAL := help
.PHONY: help setup setup-build setup-bench build run test test-long bench bench-matrix lint format sanitize fuzz coverage \
        sim autobahn mutants docs install build-stats package-check test-debian13 clean
.NOTPARALLEL: # the tools below run in parallel by themselves, and apt does not

LISTEN ?= 127.0.0.1:8080
PREFIX ?= /usr/local
SECONDS ?= 60
SEEDS ?= 2000
JOBS ?= $(shell nproc)
export JOBS

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-15s %s\n", $$1, $$2 }'

setup: ## install everything that building, testing and measuring need
	@tools/setup

setup-build:
	@tools/setup build

build/%/build.ninja: CMakePresets.json | setup-build
	@cmake --preset $* $(CMAKE_ARGS)
	@touch $@

build: build/release/build.ninja ## the release build of everything
	@cmake --build --preset release --parallel $(JOBS)

run: build/release/build.ninja ## build weftd and serve a demo database on LISTEN=127.0.0.1:8080
	@cmake --build --preset release --parallel $(JOBS) --target weftd
	@exec build/release/apps/weftd/weftd demo --data build/demo --listen $(LISTEN) $(ARGS)

test: setup build ## every test; the last line counts them
	@tools/test

test-long: setup build ## what takes too long for every change; continues where it was interrupted
	@tools/test_long $(ARGS)

setup-bench:
	@tools/setup bench

bench: setup-bench build ## measure beside bare and other servers; QUICK=1 for a short run, FULL=1 for a long one
	@QUICK=$(QUICK) FULL=$(FULL) bench/run $(ARGS)

bench-matrix: setup-bench ## weft-bench with both hash maps, both allocators, and hardened or not
	@bench/matrix

lint: setup ## format, layers, clang-tidy
	@tools/lint

format: setup ## rewrite the sources with clang-format
	@tools/sources cpp | xargs clang-format-19 -i

sanitize: setup build/asan/build.ninja build/tsan/build.ninja ## the C++ tests under ASan+UBSan and TSan; weftd, examples and documented programs under the first
	@tools/sanitize asan tsan

fuzz: setup build/asan/build.ninja ## run every fuzz target, SECONDS=60 in all; SEED=1 to repeat
	@tools/fuzz $(SECONDS) $(SEED)

coverage: setup build/coverage/build.ninja ## which lines the C++ tests reach
	@tools/coverage

sim: setup build/release/build.ninja ## simulated worlds with faults, SEEDS=2000 of them
	@cmake --build --preset release --parallel $(JOBS) --target weft_simulation
	@tools/sim $(SEEDS)

autobahn: setup build ## the whole Autobahn test suite for WebSockets, some minutes
	@WEFT_AUTOBAHN=whole python3 -m pytest -q tests/system/test_autobahn.py

mutants: setup-build ## break the library in ways that the simulator or a test must see
	@tools/mutants

docs: ## where to read
	@echo 'README.md, docs/ (architecture.md first), and the head of each header in weft/'

install: build ## libraries, headers and programs to PREFIX=/usr/local
	@cmake --install build/release --prefix $(PREFIX)
	@echo 'to take it out again: xargs rm < build/release/install_manifest.txt'

build-stats: setup-build ## compile times of the library and of the tour, and the heaviest headers
	@tools/build_stats.py

package-check: build ## install to an empty prefix and build the tour against it
	@tests/packaging/check

test-debian13: setup ## GCC 14 and libstdc++, in a Debian 13 root that is made once; needs root
	@tools/debian13

clean: ## remove build/ (what tools/setup unpacked stays)
	@rm -rf build
