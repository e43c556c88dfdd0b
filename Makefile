# All stages at once. Each has a Makefile of its own with the same targets: make -C 04-gather run
STAGES := 01-hello-kernel 02-dlopen-from-c 03-cython-ctypes 04-gather 04-gather/fast
COMMON := common
TOP :=
include common/settings.mk
.NOTPARALLEL:
.PHONY: help run build test test-all exercises exercises-check grade watch hint compare reset new sanitize soak bench clean doctor offline book

help:
	@echo 'make TARGET, here or in a stage (make -C 01-hello-kernel TARGET)'
	@echo '  run     build and run all stages'
	@echo '  test    build them and run all tests (test-all: also what takes long)'
	@echo '  exercises  which of them you have solved; watch: the next one, whenever you save it'
	@echo '  hint, compare, reset EXERCISE=name  one more hint; your answer and the solution; the file as it was'
	@echo '  exercises-check  for who adds an exercise: what is not as it should be? (common/exercises/develop.py)'
	@echo '  grade ANSWERS=folder  the answers of many people, each in a sandbox (a page: common/WORKSHOP.md)'
	@echo '  new NAME=moving_average DIR=~/moving_average  a package of your own: kernel, module, tests (FROM=rows, window)'
	@echo '  build   build them'
	@echo '  sanitize  look for memory errors and leaks in them'
	@echo '  soak    load tests, some ten minutes: SECONDS=60 of threads, CASES=200000 that Hypothesis draws, SEED='
	@echo '  bench   measure, on a GPU'
	@echo '  clean   remove what was built (not .venv, the Python packages)'
	@echo '  doctor  what this machine has, what it lacks, and the command that mends it'
	@echo '  offline  fill the folder offline with all that is fetched from the network'
	@echo '  book    the pages as a web site with a search, in book: open book/index.html'
	@echo 'Settings: $(SETTINGS)'

doctor:
	@$(MAKE) --no-print-directory -C 01-hello-kernel doctor

# Stops if a folder of this name is there, and nothing of what make puts there.
not_own = [ ! -e $1 ] || [ '$(wildcard $2)' ] || { echo 'make would write over $1, which it has not made: rename it' >&2; exit 1; }
BOOK = $(wildcard book/.buildinfo book/.doctrees)

offline:
	@$(call not_own,offline,offline/deb)
	@'$(PYTHON)' common/install.py requirements.txt && '$(PYTHON)' common/offline.py

book:
	@$(call not_own,book,$(BOOK))
	@'$(PYTHON)' common/install.py requirements-book.txt
	@rm -rf book
	@.venv/bin/python -m sphinx -q -W --keep-going -c common/book . book
	@rm -r book/.doctrees

new:
	@'$(PYTHON)' common/new.py "$$NAME" "$$DIR" "$$FROM"

hint compare reset:
	@'$(PYTHON)' common/exercises/exercises.py $@ $(filter-out %/fast,$(STAGES))

clean:
	@for stage in $(STAGES) 04-gather/fast/bench 04-gather/many; do $(MAKE) --no-print-directory -C $$stage clean || exit 1; done
	rm -rf common/cpu/lib common/cpu/dist tests/soak/tools.so $(if $(BOOK),book)

# What builds has to know the device: found once here, for all stages.
ifneq ($(filter-out help doctor clean new offline book hint compare reset,$(MAKECMDGOALS)),)
$(foreach v,PYTHON NVCC CC CXX,$(if $(findstring /,$($v)),$(if $(filter /%,$($v)),, \
    $(error $v=$($v): the stages are other folders: give the whole path, from / on))))
include common/device.mk

# A stage is built on all cores, unless -j says on how many; the stages come in their order.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j $(shell nproc)) -Oline
run build sanitize:
	@for stage in $(STAGES); do \
	    printf '\n== %s ==\n' $$stage; \
	    [ $@ = sanitize ] || $(MAKE) --no-print-directory $(JOBS) -C $$stage build || exit 1; \
	    [ $@ = build ] || $(MAKE) --no-print-directory -C $$stage $@ || exit 1; \
	done

test: # builds first
	@tests/run
test-all:
	@SLOW=1 $(MAKE) --no-print-directory test

SECONDS ?= 60
CASES ?= 200000
soak: build
	@$(NVCC) $(NVCCFLAGS) -shared -Xcompiler -fPIC -o tests/soak/tools.so tests/tools.cu
	@TEST_BACKEND=$(BACKEND) TOOLS=tests/soak/tools.so $(PY) tests/soak/soak.py $(SECONDS) $(CASES) $(SEED)

# 04-gather has what all need. ANSWERS is seen from here.
ABSOLUTE = $(if $(ANSWERS),ANSWERS="$$(realpath -m -- "$$ANSWERS")") $(if $(filter grade,$@),BACKEND=cpu)
exercises watch exercises-check grade:
	@$(MAKE) --no-print-directory -C 04-gather $@ $(ABSOLUTE) STAGES='$(addprefix ../,$(filter-out %/fast,$(STAGES)))'

bench: # that of 04-gather measures fast too
	@for stage in $(filter-out %/fast,$(STAGES)); do $(MAKE) --no-print-directory -C $$stage bench || exit 1; done
endif
