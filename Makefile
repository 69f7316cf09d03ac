# What a contributor runs; `make` alone lists it. What needs other programs or a night is in test/Makefile.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT    ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS   := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# Nothing of the folder is in the program: not its path, and not whether it is a clone.
BUILD     := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false
# Tests are compiled in the same way, so that a package is compiled once. Only the race detector needs C.
export GOFLAGS     := $(filter-out -trimpath -buildvcs=%,$(GOFLAGS)) -trimpath -buildvcs=false
export CGO_ENABLED ?= 0
TESTFLAGS ?=
# Every package has a time limit and leaves nothing behind.
TEST      := $(GO) test -timeout 20m -exec '$(CURDIR)/.ci/limits'
# What package-lock.json names, by its hash, and no script of a package is run.
NPM_CI    := { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; }
ROWS      ?=
SEED      ?= random

# Tests with programs of others: test/Makefile runs each by its script.
FOREIGN   := test/(a2a|claude|clients|conformance|otel|runner|typescript)$$
# These measure, so nothing else runs meanwhile.
ALONE     := (tools/bench|test/scale)$$
# This one compiles the whole program and its tests in a copy.
COPY      := test/recipe$$
# With the race detector these take more than ten minutes: make -C test race-night.
NORACE    := (internal/cli|internal/testkit/faultrig|test/[a-z0-9]+)$$

SHELL         := /bin/bash
.SHELLFLAGS   := -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build run quick check fmt lint test race docs prose contract web web-modules web-check web-once share site image npm-package server-json bench torture

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  make -C test lists the others"

build: ## bin/c3po, one static binary
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/c3po ./cmd/c3po

run: build ## a coordinator and its Redis in the foreground
	bin/c3po up --foreground

quick: fmt ## first after a change, about a minute: what changed since main, the hub, and the promises on the model and on Redis
	.ci/quick

check: fmt lint ## what must hold before a push: the gate without programs of others
	@$(MAKE) -s -C test secrets tidy
	@$(MAKE) test

fmt: ## every file is formatted
	@files=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard "*.go")) && { test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }; }

lint: ## go vet, and staticcheck as pinned in tools/pinned/go.mod
	$(GO) vet ./...
	$(GO) tool -modfile=tools/pinned/go.mod staticcheck ./...

# Tests wait more than they work, so many run at once.
test: ## all tests in Go, or those of PACKAGES, but none with programs of others
	@export C3PO_BUILT=$${C3PO_BUILT:-$$(.ci/built)} && \
	all="$$($(GO) list $(or $(PACKAGES),./...) | grep -Ev '/($(FOREIGN)|$(COPY))')" && \
	alone="$$(grep -E '/($(ALONE))' <<<"$$all" || true)" && \
	rest="$$(grep -Ev '/($(ALONE))' <<<"$$all" || true)" && \
	{ [ -z "$$rest" ] || $(TEST) -p 3 -parallel 8 $(TESTFLAGS) $$rest; } && \
	{ [ -z "$$alone" ] || $(TEST) -p 1 $(TESTFLAGS) $$alone; }

# Always in the short form: with the race detector the long one takes an hour, and what
# needs its size has a row of the matrix without.
race: export C3PO_TORTURE :=
race: export CGO_ENABLED := 1
race: ## the tests with the race detector, or those of PACKAGES
	@export C3PO_BUILT=$${C3PO_BUILT:-$$(.ci/built)} && \
	$(TEST) -race -parallel 8 $(TESTFLAGS) $(or $(PACKAGES),$$($(GO) list ./... | grep -Ev '/($(NORACE)|$(ALONE))'))

docs: ## the references of commands, tools and REST, which git does not keep
	@$(GO) run ./tools/reference/cmd docs/reference

prose: ## the sentences of PATHS that need other words, shown and never refused
	tools/prose $(PATHS)

contract: ## what is written from the table of operations, the routes and the types on the wire, after a change of them
	$(GO) run ./internal/client/methods
	$(GO) test -vet=off -count=1 -run 'TestTheDocumentIsWhatTheRoutesAndTypesSay|TestTheTypeScriptClientIsWhatTheDocumentSays|TestEachToolsetListsItsTools|TestTheToolTableIsTheOperations|TestWhoMayCallAnOperationIsWrittenDown|TestTheTableOfSurfacesIsCurrent' \
		./internal/transport/rest ./internal/transport/mcpserver ./internal/server ./internal/cli -update

web-modules: # what the dashboard and the TypeScript client are built with
	cd web && $(NPM_CI)

web: web-modules ## web/dist, the dashboard that the next build carries; needs Node 20.19 or later
	cd web && npm run build

web-check: ## the dashboard's linter, format and unit tests, and the size of its first screen; after make web
	cd web && $(NPM_CI) && npm run -s lint && npm run -s unit && npm run -s size

web-once: # for a release: built unless it is there
	@test -e web/dist/index.html || $(MAKE) web

share: # bin/share, what packages carry beside the program: completions and manual pages
	@rm -rf bin/share && mkdir -p bin/share/completions
	@$(BUILD) -o bin/share/c3po ./cmd/c3po
	@cd bin/share && ./c3po completion bash >completions/c3po.bash && ./c3po completion zsh >completions/_c3po && ./c3po completion fish >completions/c3po.fish && ./c3po man --dir man >/dev/null && rm c3po
	@gzip -9nk bin/share/man/*.1

site: docs ## site/dist, the documents as a static site; a warning or a dead link fails. Needs Node 20.19 or later
	cd site && $(NPM_CI) && npm run -s build

image: ## the coordinator's image for this machine, by docker or podman; deploy/images.sh makes those of a release
	$(BUILD) -ldflags '$(LDFLAGS)' -o deploy/c3po ./cmd/c3po
	$$(command -v docker || command -v podman) build -t ghcr.io/c3po-dev/c3po:latest deploy

npm-package: web-modules ## bin/c3po-dev-client-VERSION.tgz, the TypeScript client packed for npm
	@rm -rf bin/npm && mkdir -p bin/npm && cp -r client/typescript/. LICENSE bin/npm && rm -rf bin/npm/dist
	node web/node_modules/@typescript/native/bin/tsc -p bin/npm
	cd bin/npm && { expr '$(VERSION)' : 'v[0-9]*\.[0-9]*\.[0-9]*$$' >/dev/null && npm version --no-git-tag-version '$(VERSION:v%=%)' >/dev/null || true; } && npm pack --loglevel=error --pack-destination ..

server-json: REGISTRY ?= bin
server-json: ## bin/server.json, what the MCP registry is given for the release VERSION
	@mkdir -p '$(REGISTRY)' && sed 's/0\.0\.0/$(VERSION:v%=%)/' deploy/server.json >'$(REGISTRY)/server.json'

bench: ## every time that has a bar, held to it; for a machine that does nothing else, half an hour
	files=$$(git grep -lE 'faultrig\.(Hold|Reach)\(' -- 'internal/*_test.go' 'tools/bench/*_test.go' 'test/scale/*_test.go') && \
	C3PO_EXACT=1 $(GO) test -v -count=1 -p 1 -parallel 1 -timeout 60m -run "^($$(sed -nE 's/^func (Test[A-Z][A-Za-z0-9]*)\(t .*/\1/p' $$files | paste -sd '|' -))\$$" \
		$$(printf './%s\n' $$files | xargs -n 1 dirname | sort -u)

torture: ## everything of testdata/matrix.txt at full size, or ROWS=B,C of it, ending in one table
	C3PO_SEED=$(SEED) C3PO_TORTURE=1 CHECKS=2000 FUZZTIME=10s $(GO) run ./internal/testkit/faultrig/table -rows '$(ROWS)'
