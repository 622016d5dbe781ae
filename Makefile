# make demo       build and run Muster with a filled demo organization on http://127.0.0.1:8080
# make test       every check of a change: Go tests (packages with -race), linters, pages in a browser, the first report end to end
# make test-all   make test, and what takes long: whole programs with -race, an incident in a browser, the API's description in one, known vulnerabilities, more PostgreSQL majors, the long chaos runs, the long fuzz
# make vulnerabilities  known vulnerabilities of the program, and of the npm packages that build the pages (docs/security.md)
# make chaos      three replicas under load, 1,000 SIGKILLs and whatever else goes wrong, and a count of what was acknowledged (CONTRIBUTING.md)
# make kit        in bin/: packages for Debian and rpm, an archive, what the program is made of, the chart, the image, checksums
# make image      in bin/image: the container image, as an OCI layout, without a daemon
# make bench      the benchmarks, each as a ratio to a yardstick measured in the same run
# make truth      what Muster and others say of a server, against what happened on it (docs/truth.md)
# make incidents  eleven incidents on real PostgreSQL servers, and how long until somebody can know (docs/incidents.md)
# make load       200 connections, and a flood of sign-ins, against the demo
# make build      bin/muster, with the web application where npm is installed
# make screenshots  every page as a picture, light, dark and narrow, in MUSTER_SCREENSHOTS or a new folder, and README's five
# make lint       gofmt, golangci-lint with go vet, the linters of openapi.yaml and of the queries for SQL Server and Oracle, shellcheck where it is installed
# make generate   the generated sources, from openapi.yaml, and NOTICES.md

SHELL := /bin/bash
.DEFAULT_GOAL := build
.PHONY: demo build kit image packages program postgres web test test-go test-report test-web test-unit test-browser test-all chaos lint lint-web bench truth truth-page incidents load screenshots generate notices tools vulnerabilities

# The Go release of go.mod builds everything, whatever is installed and however its
# GOTOOLCHAIN is set: go fetches it through the module proxy, once. make GOTOOLCHAIN=local
# takes the installed one.
export GOTOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)+auto

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS := -X main.version=$(VERSION) -X main.commit=$(COMMIT)
GOLANGCI_VERSION := v2.15.0
TOOLS := $(CURDIR)/.cache/tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
OPENAPI_LINT := scripts/openapi_lint/node_modules/.package-lock.json
SQL_LINT := scripts/sql_lint/node_modules/.package-lock.json
VERSITYGW_VERSION := v1.8.0
VERSITYGW := $(TOOLS)/versitygw-$(VERSITYGW_VERSION)
# MinIO tags its releases with dates, which are no versions to Go: the last commit of its repository.
MINIO_VERSION := v0.0.0-20260212201848-7aac2a2c5b7c
MINIO := $(TOOLS)/minio-$(MINIO_VERSION)
OMNIWITNESS_VERSION := v0.0.0-20260617164027-9332986a94a4
OMNIWITNESS := $(TOOLS)/omniwitness-$(OMNIWITNESS_VERSION)
# Newer ones need modules that the proxy does not have.
NFPM_VERSION := v2.45.0
NFPM := $(TOOLS)/nfpm-$(NFPM_VERSION)
SBOM_VERSION := v1.10.0
SBOM := $(TOOLS)/cyclonedx-gomod-$(SBOM_VERSION)
GOVULNCHECK_VERSION := v1.9.0
GOVULNCHECK := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
HELM_VERSION := v3.22.0
HELM := $(TOOLS)/helm-$(HELM_VERSION)
# What others made of npm's packages for the tests: an OpenID Connect provider, and a judge
# of webhooks' signatures and of cards.
OTHERS := internal/httpapi/testdata/oidc-provider internal/notify/testdata/standard-webhooks \
	internal/notify/channel/teams/testdata/adaptivecards
OTHERS := $(OTHERS:%=%/node_modules/.package-lock.json)
# What builds the pages, and what tests them, too: 90 MB less to fetch for a demo.
WEB_BUILD := web/node_modules/.builds
WEB := web/node_modules/.tests
# Without npm, what needs it is skipped.
NPM := $(shell command -v npm)
CHROMIUM := $(shell command -v chromium-headless-shell || command -v chromium)

TAGS := nomsgpack,grpcnotrace

# One static file that is the same wherever it is built: no C, no paths of this
# machine, and neither symbol tables nor what nothing here calls: gin's MessagePack,
# and gRPC's tracing pages, whose templates keep every method of every type. Debugging
# information, which -w drops, is not made either: that is a seventh of compiling. The client
# of S3, the API's description and what only waits for networks or starts once, ours too, are compiled
# without copies of their functions (-l), which saves a fiftieth of the program.
SMALL := github.com/aws github.com/getkin github.com/modelcontextprotocol github.com/go-playground github.com/oasdiff github.com/sijms github.com/microsoft github.com/spf13 go.mongodb.org go.opentelemetry.io google.golang.org/grpc \
	muster/internal/accounts muster/internal/assessment muster/internal/cli muster/internal/config muster/internal/files \
	muster/internal/mail muster/internal/notify muster/internal/operate muster/internal/process muster/internal/proof muster/handlers
FLAGS := -trimpath -tags=$(TAGS) -gcflags=all=-dwarf=false $(SMALL:%="-gcflags=%/...=-dwarf=false -l")
# Collecting less garbage saves compiling and linking a sixth of their time, and the linters a fifth.
SPARED := GOGC=300
GO := CGO_ENABLED=0 $(SPARED) go
CARRIED := GOOS=linux $(GO) list $(FLAGS) -deps -f '{{with .Module}}{{if .Dir}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}{{end}}' ./cmd/muster | sort -u
AT_ONCE := $(MAKE) --no-print-directory -j3

# The pages and the packages at the same time, but for those that carry the pages: files that are just being
# replaced cannot be embedded. Linking waits for both.
build:
	@+$(AT_ONCE) web packages
	@+$(MAKE) --no-print-directory program

demo:
	@+$(AT_ONCE) web packages postgres
	@+$(MAKE) --no-print-directory program
	@echo '== starting the database and filling the demo; then a link is printed'
	@exec ./bin/muster serve --demo

# The packages of kit/. A version begins with a digit; one that is no release yet is older
# than any.
PACKAGE_VERSION ?= $(subst -,.,$(patsubst v%,%,$(if $(filter v%,$(VERSION)),$(VERSION),v0.0.0~git$(shell git log -1 --format=%cd --date=format:%Y%m%d%H%M%S).$(VERSION))))
kit: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
kit: build $(NFPM) $(SBOM)
	@rm -f bin/muster[-_]*
	@for format in deb rpm; do \
		VERSION='$(PACKAGE_VERSION)' GOARCH=$$(go env GOARCH) $(NFPM) package --config kit/packages/nfpm.yaml --packager $$format --target bin/ || exit 1; \
	done
	@SBOM=$(SBOM) bash scripts/archive.sh '$(PACKAGE_VERSION)' '$(VERSION)' '$(COMMIT)'

image: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
image: build
	@bash scripts/image.sh '$(VERSION)' '$(COMMIT)' "$(CURDIR)/bin/image"

packages:
	@echo '== compiling Go: seconds, and the first time on a machine a minute or two'
	@$(GO) build $(FLAGS) $$($(GO) list $(FLAGS) -e -deps -f '{{.ImportPath}} {{.Deps}}' ./cmd/muster | grep '^muster/' | grep -v muster/web | cut -d' ' -f1)

program:
	@echo '== linking bin/muster'
	@$(GO) build $(FLAGS) -ldflags '-s -w $(LDFLAGS)' -o bin/muster ./cmd/muster

# The private database's programs, where none are installed.
postgres:
	@bash scripts/demo_postgres.sh

web: $(if $(NPM),web/dist/app/index.html)
	@$(if $(NPM),,echo 'npm is missing: the binary will have the API and no pages')

web/dist/app/index.html: $(WEB_BUILD) web/index.html web/docs.html web/package.json web/vite.config.ts $(shell find web/src web/public -type f -not -name schema.d.ts) internal/servers/met.json $(wildcard internal/*/*/grants.sql internal/*/*/grants/*.sql internal/*/*/*/grants.sql internal/*/*/*/grants/*.sql)
	@echo '== building the pages'
	@cd web && npm run --silent build
	@gzip -9 -n web/dist/app/assets/*.js web/dist/app/assets/*.css

# Not npm ci: it refuses a lock where a registry lacks a program for a platform that is
# not this one. Versions are those of the lock all the same. Nothing needs its install
# script, and one package would call home in it.
$(WEB_BUILD): web/package-lock.json
	@echo '== installing what builds the pages (npm, 200 MB)'
	@cd web && npm install --omit=dev --no-save --silent --ignore-scripts && touch node_modules/.builds

$(WEB): web/package-lock.json
	cd web && npm install --no-save --silent --ignore-scripts && touch node_modules/.tests
	@cd web && { [ node_modules/.builds -nt package-lock.json ] || touch node_modules/.builds; } # or the pages would be built again

test: build tools
	@$(if $(NPM),$(MAKE) --no-print-directory $(WEB))
	@bash scripts/test.sh $(RESULTS)

# The pages: what can be told without a browser, then in one, as the binary serves them.
test-web: test-unit test-browser

test-unit: $(WEB)
	$(if $(NPM),cd web && npm run --silent test -- $(call REPORTED,web-unit),$(call SKIPPED,the pages' unit tests,npm is missing: install Node.js 20 or newer))

test-browser: build $(WEB)
	$(if $(and $(NPM),$(CHROMIUM)),cd web && npm run --silent e2e -- $(call REPORTED,web-browser),$(call SKIPPED,all browser tests,npm or chromium is missing: install Node.js 20 or newer and Debian's chromium-headless-shell))

screenshots: build
	MUSTER_SCREENSHOTS=$${MUSTER_SCREENSHOTS:-$$(mktemp -d)} && export MUSTER_SCREENSHOTS && echo "pictures in $$MUSTER_SCREENSHOTS" && cd web && npm run --silent screenshots

# What the tests came to, for scripts/testreport.
RESULTS := $(CURDIR)/.cache/test
REPORTED = --reporter=default --reporter=json --outputFile.json=$(RESULTS)/$(1).json
SKIPPED = @mkdir -p $(RESULTS) && echo "$(1): $(2)" | tee -a $(RESULTS)/skipped

# What is tested and linted is compiled as it is built, so that the one finds in the
# cache what the other put there. vet is one of the linters.
AS_BUILT = GOFLAGS='$(strip $(shell go env GOFLAGS) $(FLAGS))'

# The tests of one package run at a time, while the next packages are linked: three of them beside each other
# fill two cores, and packages beside each other take more processor time (CONTRIBUTING.md). They collect garbage
# as the program does, because some of them measure memory. Without VERSITYGW, the object store, its tests are skipped.
TURN = env -u GOGC $(if $(shell command -v flock),flock --close '$(RESULTS)/turn')
TESTED = CGO_ENABLED=0 $(AS_BUILT) VERSITYGW=$(VERSITYGW) $(SPARED) go test -exec "$(TURN)" -vet=off -ldflags='-s -w' -timeout 45m -p 3 -parallel 3 -json ./...
# Only make test-all uses the race detector, which doubles what is compiled. It lets each test binary sleep
# a second at its end, to see what is left running race: a tenth is as good, for whoever is left had the whole test to.
RACED = $(AS_BUILT) VERSITYGW=$(VERSITYGW) GORACE=atexit_sleep_ms=100 go test -race -vet=off
REPORT = $(AS_BUILT) CGO_ENABLED=0 go run ./scripts/testreport

test-report:
	@$(REPORT) $(RESULTS)

# Most tests watch servers of the newest version that is installed. A test that must hold for each version
# has 18, with npm. make test-all has 15 to 17, and 13 and 14 for what measures. MUSTER_TEST_NPM makes a
# failure of a package of npm's that is not there; without it the tests that need one are skipped.
test-go: $(VERSITYGW) $(if $(NPM),$(OTHERS))
	@mkdir -p $(RESULTS)
	@set -o pipefail; $(if $(NPM),MUSTER_TEST_NPM=1 bash scripts/with_postgres.sh 18) env $(TESTED) | $(REPORT) follow $(RESULTS)/go.json

$(OTHERS): %/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --silent && touch node_modules/.package-lock.json

test-all: test $(OMNIWITNESS) $(NFPM) $(SBOM) $(HELM) $(MINIO) $(GOVULNCHECK)
	LONG=1 bash scripts/program.sh
	GOVULNCHECK=$(GOVULNCHECK) bash scripts/vulnerabilities.sh
	NFPM=$(NFPM) bash scripts/test_packages.sh
	SBOM=$(SBOM) bash scripts/test_archive.sh
	HELM=$(HELM) bash scripts/test_chart.sh
	bash scripts/test_image.sh
	$(if $(and $(NPM),$(CHROMIUM)),cd web && export MUSTER_TEST_LONG=1 && npm run --silent e2e-long && npm run --silent e2e,$(call SKIPPED,the incident in a browser,npm or chromium is missing))
	bash scripts/test_majors.sh
	$(RACED) -timeout 90m ./...
	MUSTER_TEST_LONG=1 $(RACED) -count=1 -timeout 60m -run '^TestLong' ./...
	MUSTER_TEST_LONG=1 $(RACED) -count=1 -timeout 120m \
		$$(git grep -l 'longtest\.Checks' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')
	MINIO=$(MINIO) MUSTER_TEST_LONG=1 $(RACED) -count=1 -timeout 20m -run 'ObjectStore|Bucket|ByTheRunbook|ALineThatBreaks' ./internal/files/blobs ./e2e
	MUSTER_FUZZ_TIME=3m go test -race -count=1 -timeout 20m -run TestFuzz ./internal/httpapi
	for fuzz in intake/remotewrite/FuzzDecode1 intake/remotewrite/FuzzDecode2 intake/otlp/FuzzProtobuf intake/otlp/FuzzJSON \
		intake/sqltext/FuzzNormalize intake/alertmanager/FuzzWebhook intake/alertmanager/FuzzAlerts measurements/pgstore/codec/FuzzKinds \
		measurements/pgstore/packing/FuzzUnpack httpapi/FuzzSamples httpapi/FuzzAssessments; do \
		go test -run '^$$' -fuzz "^$${fuzz##*/}$$" -fuzztime 30s "./internal/$${fuzz%/*}" || exit 1; \
	done

vulnerabilities: build $(GOVULNCHECK)
	@GOVULNCHECK=$(GOVULNCHECK) bash scripts/vulnerabilities.sh

# Without the race detector: its replicas start as fast as the shipped program, and their
# memory is theirs. make test-all has a tenth of it with the detector.
chaos: $(VERSITYGW)
	$(AS_BUILT) CGO_ENABLED=0 VERSITYGW=$(VERSITYGW) MUSTER_TEST_LONG=1 MUSTER_CHAOS_KILLS=$${MUSTER_CHAOS_KILLS:-1000} \
		go test -vet=off -count=1 -v -timeout 6h -run '^TestLongUnderFire$$' ./e2e

bench:
	bash scripts/bench.sh

truth:
	@$(GO) run $(FLAGS) ./scripts/truth

truth-page:
	@$(GO) run $(FLAGS) ./scripts/truth docs/truth.md

incidents:
	$(AS_BUILT) MUSTER_TEST_LONG=1 TEST_INCIDENTS_PAGE=$${TEST_INCIDENTS_PAGE-$(CURDIR)/docs/incidents.md} go test -vet=off -count=1 -v -timeout 30m -parallel 12 -run '^TestLongIncidents$$' ./e2e

load: build
	bash scripts/load.sh

# One of the parsers of SQL is 23 MB of WebAssembly: without --liftoff-only, node optimizes it for four times as long as it runs.
lint: $(GOLANGCI) $(if $(NPM),$(OPENAPI_LINT) $(SQL_LINT))
	@test -z "$$(gofmt -l cmd commands domain e2e eventstore handlers internal kit migrations projections scripts)" || { gofmt -l . ; echo 'run gofmt -w on these'; exit 1; }
	CGO_ENABLED=0 $(SPARED) $(AS_BUILT) $(GOLANGCI) run ./...
	CGO_ENABLED=0 $(AS_BUILT) go generate ./... && git diff --exit-code -- internal/httpapi/api internal/httpapi/openapi.yaml.gz internal/engine/checks.zip
	$(if $(NPM),,$(call SKIPPED,the linters of openapi.yaml and queries and of the pages,npm is missing: install Node.js 20 or newer))
	$(if $(NPM),CGO_ENABLED=0 $(AS_BUILT) go run ./scripts/openapi_bundle < internal/httpapi/openapi.yaml > .cache/openapi.yaml)
	$(if $(NPM),cd scripts/openapi_lint && REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --no redocly lint --config redocly.yaml ../../.cache/openapi.yaml)
	$(if $(NPM),node --liftoff-only scripts/sql_lint/lint.mjs)
	$(if $(NPM),$(MAKE) --no-print-directory lint-web)
	$(if $(shell command -v shellcheck),shellcheck -x scripts/*.sh kit/packages/*.sh .ci/run,$(call SKIPPED,the linter of shell scripts,shellcheck is missing: install it))

lint-web: $(WEB)
	cd web && npm run --silent lint

# What the tests need besides Go, so that making it is not in their time.
tools: $(GOLANGCI) $(VERSITYGW) $(if $(NPM),$(OPENAPI_LINT) $(SQL_LINT) $(OTHERS))

# With the program's flags, so that Go's own packages are compiled once for all three.
INSTALL := $(GO) install $(FLAGS) -ldflags '-s -w'

$(GOLANGCI):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(TOOLS)/golangci-lint $@

$(VERSITYGW):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)
	@mv $(TOOLS)/versitygw $@

# The second store that the tests of files run against. It is AGPL, and nothing of Muster's:
# it is built as it is, started, and asked over HTTP.
$(MINIO):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) github.com/minio/minio@$(MINIO_VERSION)
	@mv $(TOOLS)/minio $@

$(NFPM):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)
	@mv $(TOOLS)/nfpm $@

$(SBOM):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(SBOM_VERSION)
	@mv $(TOOLS)/cyclonedx-gomod $@

$(GOVULNCHECK):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	@mv $(TOOLS)/govulncheck $@

$(HELM):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)
	@mv $(TOOLS)/helm $@

# A witness of others, which the long tests ask. Newer ones need modules that the proxy
# does not have.
$(OMNIWITNESS):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(INSTALL) github.com/transparency-dev/witness/cmd/omniwitness@$(OMNIWITNESS_VERSION)
	@mv $(TOOLS)/omniwitness $@

$(OPENAPI_LINT): scripts/openapi_lint/package-lock.json
	cd scripts/openapi_lint && npm ci --silent && touch node_modules/.package-lock.json

# Parsers of SQL that no server here could try.
$(SQL_LINT): scripts/sql_lint/package-lock.json
	cd scripts/sql_lint && npm ci --silent --ignore-scripts && touch node_modules/.package-lock.json

generate: notices
	go generate ./...

# What the program carries of others, and its licences.
notices: $(if $(NPM),$(WEB_BUILD))
	@mkdir -p .cache && { echo "Go $$(go env GOROOT)" && echo "DejaVu-Sans internal/report/pdf/typeset/dejavu" && echo "Liberation internal/report/pdf/typeset/liberation" && echo "Droid-Sans-Fallback internal/report/pdf/typeset/droid" && echo "Nanum-Gothic internal/report/pdf/typeset/nanum" && $(CARRIED); } | node scripts/notices.mjs >.cache/NOTICES.md && mv .cache/NOTICES.md NOTICES.md
