# Everything a contributor runs. `make` alone lists the targets.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT    ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS   := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
# Nothing of the folder is in it: not its path, and not whether it is a clone.
BUILD     := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false
TESTFLAGS ?=
# Every package has a time of its own and leaves nothing behind.
TEST      := $(GO) test -timeout 20m -exec '$(CURDIR)/.ci/limits'
FUZZTIME  ?= 10s
# What package-lock.json names, by its hash, and no script of a package is run.
NPM_CI    := { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; }
CHECKS    ?= 2000
ROWS      ?=
ENGINES   ?=
SEED      ?= random
DIVERGE   := ./internal/store/redisstore -run TestRedisNeverDivergesFromTheModel

.DEFAULT_GOAL := help
.PHONY: record help build image web recording pictures web-e2e web-scale site site-e2e docs quick check fmt vet lint security secrets tidy test race race-night drivers engines sbom diverge conformance a2a-e2e otel-e2e claude-e2e clients-e2e deploy-e2e runner-e2e attack fuzz torture torture-long torture-bites scale bench peers growth run

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/c3po, one static binary
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/c3po ./cmd/c3po

sbom: build ## bin/c3po.cdx.json, what the binary is made of, as CycloneDX
	$(GO) run ./internal/ops/sbom/cmd bin/c3po $(VERSION) >bin/c3po.cdx.json

image: ## the coordinator's image for this machine, by docker or podman; deploy/images.sh makes those of a release
	$(BUILD) -ldflags '$(LDFLAGS)' -o deploy/c3po ./cmd/c3po
	$$(command -v docker || command -v podman) build -t ghcr.io/c3po-dev/c3po:latest deploy

.PHONY: web-modules
web-modules: # what the dashboard and the TypeScript client are built with
	cd web && $(NPM_CI)

web: web-modules ## web/dist, the dashboard that the next build carries; needs Node 20.19 or later
	cd web && npm run build

.PHONY: server-json
server-json: REGISTRY ?= bin
server-json: ## bin/server.json, what the MCP registry is given for the release VERSION
	@mkdir -p '$(REGISTRY)' && sed 's/0\.0\.0/$(VERSION:v%=%)/' server.json >'$(REGISTRY)/server.json'

.PHONY: npm-package
npm-package: web-modules ## bin/c3po-dev-client-VERSION.tgz, the TypeScript client packed for npm
	@rm -rf bin/npm && mkdir -p bin/npm && cp -r client/typescript/. LICENSE bin/npm && rm -rf bin/npm/dist
	node web/node_modules/@typescript/native/bin/tsc -p bin/npm
	cd bin/npm && { expr '$(VERSION)' : 'v[0-9]*\.[0-9]*\.[0-9]*$$' >/dev/null && npm version --no-git-tag-version '$(VERSION:v%=%)' >/dev/null || true; } && npm pack --loglevel=error --pack-destination ..

.PHONY: web-check
web-check: ## the dashboard's linter, format and unit tests, and the size of its first screen; after make web
	cd web && $(NPM_CI) && npm run -s lint && npm run -s unit && npm run -s size

site: docs ## site/dist, the documents as a static site; a warning or a dead link fails. Needs Node 20.19 or later
	cd site && $(NPM_CI) && npm run -s build

site-e2e: site ## the site in Chromium, as wide as a phone
	cd site && npm run -s check

.PHONY: web-once share package-e2e release-check
web-once: # for a release: built unless it is there
	@test -e web/dist/index.html || $(MAKE) web

share: ## bin/share, what packages carry beside the program: completions and manual pages
	@rm -rf bin/share && mkdir -p bin/share/completions
	@$(BUILD) -o bin/share/c3po ./cmd/c3po
	@cd bin/share && ./c3po completion bash >completions/c3po.bash && ./c3po completion zsh >completions/_c3po && ./c3po completion fish >completions/c3po.fish && ./c3po man --dir man >/dev/null && rm c3po
	@gzip -9nk bin/share/man/*.1

.PHONY: contract
contract: ## what is written from the table of operations, the routes and the types on the wire, after a change of them
	$(GO) run ./internal/client/methods
	$(GO) test -vet=off -count=1 -run 'TestTheDocumentIsWhatTheRoutesAndTypesSay|TestTheTypeScriptClientIsWhatTheDocumentSays|TestEachToolsetListsItsTools|TestTheToolTableIsTheOperations|TestWhoMayCallAnOperationIsWrittenDown|TestTheTableOfSurfacesIsCurrent' \
		./internal/transport/rest ./internal/transport/mcpserver ./internal/server ./internal/cli -update

docs: ## the references of commands, tools and REST, which git does not keep
	@$(GO) run ./internal/ops/reference/cmd docs/reference

quick: fmt ## what a change needs first: formatted, vetted, and the tests in one process without the race detector
	$(GO) vet ./...
	$(TEST) $(TESTFLAGS) $$($(GO) list ./... | grep -Ev '/($(DRIVERS))')

check: fmt lint security secrets tidy ## what must hold before a push
	$(GO) vet ./...
	$(TEST) -race $(TESTFLAGS) $$($(GO) list ./... | grep -Ev '/($(DRIVERS)|$(SLOW))')
	$(TEST) $(TESTFLAGS) $$($(GO) list ./... | grep -E '/($(SLOW))')

fmt: ## every file is formatted
	@files=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard "*.go")) && { test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }; }

vet: ## go vet for linux, macOS and Windows
	GOOS=linux $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

.PHONY: prose
prose: ## the sentences of PATHS that need other words, shown and never refused
	tools/prose $(PATHS)

lint: ## staticcheck, as pinned in tools/go.mod
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

# What gosec does not look at, and why:
#   G104  errors that are not looked at: staticcheck and reviews do that, and a
#         failing Close of what was only read is nothing to act on
#   G204  programs started with arguments of ours: redis-server, git, ourselves
#   G304  files whose names we are given: by our own folders, or by the person
#         who runs the command and could read them anyway
# The folders are packages of tests and benchmarks. A single line is excluded
# where it stands, with its reason.
security: ## gosec, as pinned in tools/go.mod
	$(GO) tool -modfile=tools/go.mod gosec -quiet -exclude=G104,G204,G304 \
		-exclude-dir=internal/store/storetest -exclude-dir=internal/testkit/redistest -exclude-dir=internal/testkit/faultrig \
		-exclude-dir=internal/ops/bench -exclude-dir=test ./...

secrets: ## gitleaks, as pinned in tools/go.mod and set up in .gitleaks.toml
	$(GO) tool -modfile=tools/go.mod gitleaks dir . --no-banner --redact

tidy: ## go.mod says what the code uses
	$(GO) mod tidy -diff
	cd test/peers && $(GO) mod tidy -diff
	cd test/a2a/gosdk && $(GO) mod tidy -diff
	cd test/otel/collector && $(GO) mod tidy -diff

# These drive real processes and measure them. The race detector in the driver
# would only slow what it measures, and two of them at once would too.
DRIVERS   := internal/testkit/faultrig|internal/ops/bench|test/

# With the race detector these take minutes, so only CI does that.
SLOW      := internal/(agent/ptyrun|server|store/redisstore|ops/sbom|cli)$$

test: race drivers ## all tests, those in one process with the race detector

# Many tests build the program. It is there before their time begins.
drivers race check quick: built
.PHONY: built
built:
	@$(GO) build -o /dev/null ./cmd/c3po

drivers: ## the tests that drive real processes and measure them
	$(PATIENTLY) $(TEST) -p 1 $(TESTFLAGS) $$($(GO) list ./... | grep -E '/($(DRIVERS))')

# Its scripts start the program thousands of times, and each start takes more than three
# times as long with the race detector. Every night they run with it all the same.
SCRIPTS   := internal/cli$$

# Always in the short form: with the race detector the long one takes an hour, and what
# needs its size has a row of the matrix without.
race: export C3PO_TORTURE :=
race: ## the tests in one process, with the race detector
	$(PATIENTLY) $(TEST) -race $(TESTFLAGS) $$($(GO) list ./... | grep -Ev '/($(DRIVERS)|$(SCRIPTS))')
	$(PATIENTLY) $(TEST) $(TESTFLAGS) ./internal/cli

race-night: built ## what the race detector makes too slow for every day: the scripts of the command line and the fault rig
	$(TEST) -race -p 1 $(TESTFLAGS) ./internal/cli ./internal/testkit/faultrig

diverge: ## Redis against the model: CHECKS random sequences
	$(GO) test -count=1 -timeout 10h $(DIVERGE) -rapid.checks=$(CHECKS)

conformance: ## the MCP conformance suites of npm against our stack
	test/conformance/run.sh

otel-e2e: ## a real OpenTelemetry collector gets traces and metrics
	test/otel/run.sh

a2a-e2e: ## the official A2A SDKs ask our agents
	test/a2a/run.sh

.PHONY: typescript-e2e
typescript-e2e: ## the TypeScript client, packed by npm, before a real coordinator
	test/typescript/run.sh

claude-e2e: ## the plugin in the real Claude Code, installed by npm
	test/claude/run.sh

recording: ## docs/demo.svg, two real sessions of Claude Code that speak, as the README shows them
	C3PO_RECORDING=$(CURDIR)/docs/demo.svg test/claude/run.sh -test.run TestTheRecordingShows -test.v

pictures: web build ## docs/dashboard-*.png and docs/guides/dashboard, the dashboard as the README and its guide show it
	cd web && C3PO_BIN=../bin/c3po node e2e/readme.mjs ../docs

web-e2e: ## the dashboard in Chromium before a real coordinator
	test/web/run.sh

web-scale: ## the dashboard before 5,000 agents, 100,000 messages and 200 events a second for eleven minutes; C3PO_EXACT=1 on a quiet machine
	C3PO_TORTURE=1 test/web/run.sh size

clients-e2e: ## c3po in other real coding agents, installed by npm
	test/clients/run.sh

deploy-e2e: ## image, compose files, manifests, units and alert rules with the real tools
	test/deploy/run.sh

.PHONY: windows-e2e
windows-e2e: ## the program for Windows in Wine, beside a coordinator on Linux; as root
	test/windows/run.sh

.PHONY: manifests
manifests: ## deploy/kubernetes, written from the Helm chart; a test fails until they are current
	cd test/deploy/manifests && $(GO) test -count=1 -run TestThePlainManifests . -update

.PHONY: kubernetes-e2e
kubernetes-e2e: ## the chart installed, upgraded under load and drained in a real cluster, built from its modules; as root, 20 minutes the first time
	test/kubernetes/run.sh

package-e2e: ## two builds that are the same, the deb in a bare Debian, and the README followed there
	test/package/run.sh

release-check: ## all targets with the real goreleaser, twice, and what package-e2e tries; takes minutes
	test/package/release.sh

runner-e2e: ## agents in real containers, with podman
	test/runner/run.sh

attack: ## every attack of testdata/attacks.txt, and whether it was refused
	.ci/attacks

fuzz: ## every fuzz target for FUZZTIME each
	.ci/fuzz $(FUZZTIME)

torture: ## everything of testdata/matrix.txt at full size, or ROWS=B,C of it, ending in one table
	C3PO_SEED=$(SEED) C3PO_TORTURE=1 CHECKS=2000 FUZZTIME=10s $(GO) run ./internal/testkit/faultrig/table -rows '$(ROWS)'

# The rows that C3PO_NIGHT, CHECKS or FUZZTIME make longer: the others would be those
# of torture once more.
torture-long: ROWS = A1,A3,C1,C3,C4,E2,H3
torture-long: CHECKS = 20000
torture-long: FUZZTIME = 5m
torture-long: TIMES = 100
torture-long: ## what finds more the longer it runs, for a night, or with smaller CHECKS, FUZZTIME and TIMES
	C3PO_SEED=$(SEED) C3PO_TORTURE=1 C3PO_NIGHT=1 CHECKS=$(CHECKS) FUZZTIME=$(FUZZTIME) $(GO) run ./internal/testkit/faultrig/table -timeout 10h -rows '$(ROWS)'
	$(GO) test -race -count=$(TIMES) -timeout 600m ./internal/hub ./internal/server
	C3PO_TORTURE=1 test/claude/run.sh -test.v -test.run 'LeftIdle|WithinASecond|ManySessionsAtOnce'

engines: ## the store, the engine, backups and moves on Redis 8 and Valkey 8, unpacked from Debian 13; ENGINES=valkey-9.1 for others, C3PO_WHOLE=1 for all tests
	.ci/engines $(ENGINES)

torture-bites: ## breaks on purpose, each of which its test must find (testdata/bites)
	.ci/bites

scale: ## coordinators over a Redis Cluster, 50,000 waits, a million agents; as root
	C3PO_TORTURE=1 $(GO) test -v -count=1 -timeout 60m ./test/scale

bench: ## the bars of docs/operations/performance.md, exactly; for a machine that does nothing else
	C3PO_EXACT=1 $(GO) test -v -count=1 -timeout 30m -run 'FarFromBareRedis|SendingCosts|WaitsForTheDisk|FromTheShell|ConstantAnswers|AtTheirRate|HugeBacklog' ./internal/ops/bench

peers: ## the same work by c3po, NATS JetStream and a plain MCP server, side by side
	cd test/peers && C3PO_TORTURE=1 $(GO) test -v -count=1 -timeout 30m ./...

record: ## testdata/recorded/NAME, what this version leaves in Redis and shows of it: once before a release, never changed
	C3PO_RECORD=$(or $(NAME),$(error NAME=0.1.0 says which version it is)) $(GO) test -count=1 -run TestWhatAnyVersionHasStored ./internal/testkit/faultrig

growth: ## what a message costs as things grow by powers of ten, with tables and pictures in REPORT, an absolute path
	C3PO_TORTURE=1 C3PO_REPORT='$(REPORT)' $(GO) test -v -count=1 -timeout 60m -run TestThePriceOfAMessageAsThingsGrow ./internal/ops/bench

run: build ## a coordinator and its Redis in the foreground
	bin/c3po up --foreground
