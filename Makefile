# Everything a contributor runs. `make` alone lists the targets.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT    ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS   := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
TESTFLAGS ?=
FUZZTIME  ?= 10s
CHECKS    ?= 2000
DIVERGE   := ./internal/redisstore -run TestRedisNeverDivergesFromTheModel

.DEFAULT_GOAL := help
.PHONY: help build check fmt vet lint tidy test diverge conformance fuzz torture torture-long bench run

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/c3po, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/c3po ./cmd/c3po

check: fmt vet lint tidy test ## all that must hold before a commit

fmt: ## every file is formatted
	@files=$$(gofmt -l .) && { test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }; }

vet: ## go vet for linux, macOS and Windows
	GOOS=linux $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

lint: ## staticcheck, as pinned in tools/go.mod
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

tidy: ## go.mod says what the code uses
	$(GO) mod tidy -diff

test: ## all tests with the race detector
	$(GO) test -race $(TESTFLAGS) ./...

diverge: ## Redis against the model: CHECKS random sequences
	$(GO) test -count=1 -timeout 60m $(DIVERGE) -rapid.checks=$(CHECKS)

conformance: ## the MCP conformance suites of npm against our stack
	test/conformance/run.sh

fuzz: ## every fuzz target for FUZZTIME each
	.ci/fuzz $(FUZZTIME)

torture: ## 2,000 sequences against the model, then the waiting tests ten times over
	$(MAKE) diverge CHECKS=2000
	$(GO) test -race -count=10 -timeout 60m ./internal/hub ./internal/server

torture-long: ## as torture, for a night
	$(MAKE) diverge CHECKS=20000
	$(MAKE) fuzz FUZZTIME=10m
	$(GO) test -race -count=100 -timeout 600m ./internal/hub ./internal/server

bench: ## all benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

run: build ## a coordinator and its Redis in the foreground
	bin/c3po up --foreground
