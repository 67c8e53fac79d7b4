# The front door. Everything real happens in CMake presets and scripts/.
JOBS ?= $(shell nproc)
export JOBS

help:            ## this list
	@grep -hE '^[a-z-]+: *.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup:           ## install the system packages that are missing (apt; says what it does)
	@scripts/setup.sh

demo:            ## the main job: a real MRI to a mask, a surface and pictures in demo/
	@scripts/demo.sh

view:            ## the workbench on a real MRI: prints the address of its page
	@scripts/view.sh

test:            ## configure, build (warnings are errors), all suites this machine can run
	@scripts/setup.sh
	@scripts/test.sh dev $(if $(LEAVE_OUT),-E '$(LEAVE_OUT)')

test-deep:       ## sanitizers, fuzzers and the install test (clang needed)
	@scripts/setup.sh --deep
	@scripts/test-deep.sh

test-all:        ## test and test-deep with every suite under the sanitizers, not only those due: what a release needs
	@scripts/setup.sh --deep
	@scripts/test.sh dev
	@TESSERA_ALL=1 scripts/test-deep.sh

costs:           ## what the suites took in the last runs, into tests/costs.txt: the order of the next
	@scripts/costs.py

bench:           ## all benchmarks; JSON into bench/results
	@scripts/setup.sh
	@scripts/bench.sh

cuda-test:       ## build with CUDA and run the suites on the GPU of this machine
	@scripts/gpu.sh build test

docs:            ## API reference from the headers (doxygen)
	@scripts/setup.sh --docs
	@scripts/docs.sh

format:          ## clang-format on every source file
	@scripts/setup.sh --lint
	@git ls-files '*.c' '*.h' '*.cu' '*.cpp' | xargs clang-format -i

lint:            ## clang-tidy and shellcheck
	@scripts/setup.sh --lint
	@scripts/lint.sh

clean:           ## remove build/ and demo/
	rm -rf build demo

.DEFAULT_GOAL := help
.PHONY: help setup demo view test test-deep test-all costs bench cuda-test docs format lint clean
