# make              build, and install into .venv
# make demo         what a message costs, on a small lab of this machine
# make check        the tests that need neither root nor a lab, nor type commands (2 minutes)
# make test         every test a user runs (about 10 minutes on 2 cores, after installation)
# make help         the rest

PYTHON ?= python3
VENV   := .venv
PREFIX ?= /usr/local
BIN    := $(VENV)/bin
CROSS  := s390x aarch64
PIP    := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install -q --no-build-isolation --config-settings=build-dir=build
SOURCES := $(shell find src python labs plans cross -type f -not -path '*/__pycache__/*' 2>/dev/null) \
           meson.build meson.options pyproject.toml

.PHONY: all demo check test test-suites soak bench bench-aa docs install-lib wheel deb format clean help
all: $(VENV)/.installed

help:
	@sed -n 's/^# \(make.*\)/\1/p' Makefile
# make test-suites  the slower suites: sanitizers, cross builds, long labs
# make bench        the numbers of bench/RESULTS.md, as ratios
# make bench-aa     the method tested on itself, beside the rules of the field: false alarms, power and coverage
# make soak         hours of sweeps
# make format       format the code
# make docs         the manual, as HTML in build-docs
# make install-lib  libvaiven, for programs in C, into PREFIX (/usr/local)
# make wheel        the Python wheel and the sources, in build-dist
# make deb          Debian packages, in build-deb

$(VENV)/.meson: pyproject.toml
	./tools/install build
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q meson-python meson ninja
	@touch $@

$(VENV)/.python: $(VENV)/.meson
	./tools/install fabric lab stacks apps
	@touch $@

$(VENV)/.installed: $(VENV)/.python $(SOURCES)
	$(PIP) .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	./tools/install test bench
	$(PIP) '.[test,oracles,docs,dist]'
	@touch $@

# The probe for hosts of other architectures, beside the native one.
$(VENV)/.cross: $(VENV)/.test
	for arch in $(CROSS); do \
	  [ -d build-$$arch ] || $(BIN)/meson setup build-$$arch --cross-file cross/$$arch.ini || exit 1; \
	  $(BIN)/ninja -C build-$$arch src/probe/vaiven-probe && \
	  install -m 755 build-$$arch/src/probe/vaiven-probe $(BIN)/vaiven-probe-$$arch || exit 1; \
	done
	@touch $@

demo: all
	@if [ "$$(id -u)" = 0 ] && printf '6.12\n%s\n' "$$(uname -r)" | sort -VC; then set -- plans/demo.toml; else \
	  echo "no timed network: it needs root (sudo make demo) and Linux 6.12; a first look at software alone, on a free lab"; \
	  set -- --lab free --quick; \
	fi; echo "vaiven measure $$*"; $(BIN)/vaiven measure "$$@"

check: $(VENV)/.test
	tools/check

test: $(VENV)/.test $(VENV)/.cross
	tools/test

$(VENV)/.suites: $(VENV)/.test
	./tools/install packages suites
	@touch $@

test-suites: $(VENV)/.suites $(VENV)/.cross
	tools/test-suites

soak: $(VENV)/.test
	tools/soak

format: $(VENV)/.test
	git ls-files -z '*.[ch]' | xargs -0 clang-format -i
	$(BIN)/ruff format python tests bench docs
	$(BIN)/ruff check --fix python tests bench docs

# The manual needs what it describes, and Sphinx: no package of the tests.
$(VENV)/.docs: $(VENV)/.installed
	$(PIP) '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q docs build-docs
	@echo "build-docs/index.html"

# The library with its headers and man pages, what pkg-config reads, and nothing else. DESTDIR goes before PREFIX, for those
# who make packages. Where everybody looks the loader is told; elsewhere a program must say where its library lies.
LIB := build-lib
install-lib: $(VENV)/.meson
	$(BIN)/meson setup $(LIB) $$([ ! -d $(LIB) ] || echo --reconfigure) --prefix "$(abspath $(PREFIX))" --libdir lib >/dev/null
	$(BIN)/meson compile -C $(LIB) libvaiven
	DESTDIR="$(DESTDIR)" $(BIN)/meson install -C $(LIB) --no-rebuild --tags libvaiven,devel
	@case "$(DESTDIR):$(PREFIX)" in \
	  :/usr|:/usr/local) ldconfig ;; \
	  :*) echo "the loader does not look into $(PREFIX)/lib: link with -Wl,-rpath,$(PREFIX)/lib, or let ldconfig know" ;; \
	esac

$(VENV)/.dist: $(VENV)/.installed
	$(PIP) '.[dist]'
	@touch $@

# What others install: the sources and a wheel with the native programs, of what is committed, in build-dist. Libraries of
# MPI and PVM, and those that whole programs compute with, are not in it: each is found on the host that has it.
DIST  := build-dist
FOUND := libmpi.so.40 libmpich.so.12 libpvm3.so.3 libgpvm3.so.3 libkissfft-float.so.131 libopenblas.so.0
wheel: $(VENV)/.dist
	rm -rf $(DIST)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/pyproject-build --no-isolation --outdir $(DIST)/plain
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --plat manylinux_2_36_$$(uname -m) $(FOUND:%=--exclude %) \
	  --wheel-dir $(DIST) $(DIST)/plain/*.whl
	mv $(DIST)/plain/*.tar.gz $(DIST)
	@ls $(DIST)/*.whl $(DIST)/*.tar.gz

# Packages for the Debian that this is, in build-deb.
DEB := build-deb
deb: wheel $(VENV)/.docs
	./tools/install packages
	PATH="$(abspath $(BIN)):$$PATH" tools/deb $(DIST) $(DEB)
	@ls $(DEB)/*.deb

clean:
	rm -rf build build-* $(VENV)

bench: $(VENV)/.test
	$(BIN)/python bench/bias.py
	$(BIN)/python bench/run.py

bench-aa: $(VENV)/.test
	$(BIN)/python bench/wolf.py build-wolf/quiet
	$(BIN)/python bench/wolf.py build-wolf/busy --loaded
	$(BIN)/python bench/aa.py
