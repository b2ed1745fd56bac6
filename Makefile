# Everything that is done with this repository, by name. `make` alone lists it.

SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c

GO        ?= go
BIN       := bin/edict
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME  ?= 30s
# How long a soak lasts, and what its faults follow from.
MINUTES   ?= 10
SEED      ?= 1
BUILDER   ?= buildah
# What the image is called, and the tag that the chart asks for.
IMAGE     ?= edict
TAG       ?= $(shell sed -n 's/^appVersion: *//p' charts/edict/Chart.yaml)
# The packages whose tests need a control plane; those that take more than 20 s with the race
# detector; and those that are run with it, since they or their tests start goroutines. make
# test-long runs all with it.
CLUSTER   := /edict/test/(chart|conformance|controlplane|e2e|extending|fault|image|podrunner)$$
SLOW      := /edict/(cmd/edict|engine/(eval|expr/cel|reconcile))$$
PLANES    = $$($(GO) list ./test/... | grep -E '$(CLUSTER)')
RACE      = $$($(GO) list -f '{{.Dir}} {{.ImportPath}}' ./... | grep -vE '$(CLUSTER)|$(SLOW)' | while read -r folder package; do \
	grep -qE '^[[:space:]]*go [a-zA-Z]|[a-z]\.Go\(' "$$folder"/*.go && echo "$$package"; done)
PLAIN     = $$(comm -23 <($(GO) list ./... | grep -vE '$(CLUSTER)' | sort) <(tr ' ' '\n' <<< "$(RACE)" | sort))
# Prints the events of go test -json, and keeps the times for the summary at the end.
REPORT    := $(GO) run ./hack/testreport -times bin/test-times.txt
LINT      := $(GO) tool -modfile=hack/tools/go.mod golangci-lint-kube-api-linter
GENERATE  := $(GO) tool -modfile=hack/tools/go.mod controller-gen object crd paths=./api/...
SOURCES   := api builtins cmd engine hack test
MODULES   := . hack/krew hack/sbom hack/tools hack/vale test/chart/promql test/controlplane/etcd test/controlplane/helm test/controlplane/kube test/gitops/kstatus test/gitops/lua

# One way of building for all steps but the race detector's: they share what
# was compiled. -buildvcs=false because the version comes from git describe, and
# a build in a checkout of another user fails otherwise.
export GOFLAGS     := $(strip $(GOFLAGS) -buildvcs=false -trimpath)
export CGO_ENABLED := 0

.DEFAULT_GOAL := help
# The steps of `test` run one after the other, whatever -j says.
.NOTPARALLEL:

.PHONY: help
help:
	@awk -F ':.*## ' '/^##@ / {printf "%s%s\n", group++ ? "\n" : "", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Run it

.PHONY: build
build: ## build bin/edict
	@echo "==> building $(BIN) $(VERSION)"
	@$(GO) build -ldflags '-X main.version=$(VERSION)' -o $(BIN) ./cmd/edict

# Neither the folder nor the time of the build is in it: the same commit and
# version of Go give the same bytes.
.PHONY: image-binary
image-binary:
	@echo "==> building bin/image/edict $(VERSION)"
	@GOOS=linux $(GO) build -tags grpcnotrace -ldflags '-s -w -buildid= -X main.version=$(VERSION)' -o bin/image/edict ./cmd/edict
	@sha256sum bin/image/edict
	@[ "$$($(GO) env GOARCH)" != amd64 ] || $(GO) run ./hack/size -check

.PHONY: size
size: image-binary ## measure the code, the documentation and the program; the limits are in hack/size/limits.txt
	@$(GO) run ./hack/size

.PHONY: sbom
sbom: ## list the modules that are in the program, with their licences: bin/image/sbom.cdx.json and bin/image/NOTICES
	@echo "==> modules and licences"
	@$(GO) build -C hack/sbom -o ../../bin/sbom . && bin/sbom -o bin/image/sbom.cdx.json -notices bin/image/NOTICES

.PHONY: vulnerabilities
vulnerabilities: ## look the modules up in Go's vulnerability database; fails when it cannot be reached, too
	@$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./cmd/edict || { code=$$?; [ $$code = 3 ] || echo "the vulnerability database could not be asked (exit code $$code); nothing is known about vulnerabilities" >&2; exit $$code; }

.PHONY: image
image: image-binary sbom ## build the image IMAGE:TAG (edict, the chart's version), with BUILDER (buildah)
	@$(BUILDER) build --build-arg VERSION=$(VERSION) $(IMAGEFLAGS) -t $(IMAGE):$(TAG) -t $(IMAGE):$(VERSION) .

.PHONY: demo
demo: build ## watch the policies work on example clusters, in memory
	@examples/demo.sh

.PHONY: demo-cluster
demo-cluster: ## run the controller on a real control plane and watch it work; the first time it is built, in 20 minutes of CPU time
	@$(GO) run ./test/demo

# Not part of test or CI: it needs npm and its registry.
.PHONY: vscode
vscode: build ## package and test the extension for Visual Studio Code: editors/vscode/edict.vsix; needs npm
	@echo "==> packaging the extension for Visual Studio Code"
	@cd editors/vscode && npm ci --no-audit --no-fund && npm run package
	@echo "==> testing it with $(BIN)"
	@cd editors/vscode && EDICT="$(CURDIR)/$(BIN)" npm test

##@ Check it

.PHONY: test
test: announce format vet lint policies race rest summary ## everything that has to pass before a commit

.PHONY: test-long
test-long: controlplane ## run all tests in full, nearly all with the race detector, then test-fault and the verification of the shipped policies (hours); PART=1/4 to PART=4/4 run one part each
	@for part in $(or $(PART),1/4 2/4 3/4 4/4); do $(MAKE) long-$${part%/4} || exit 1; done

# The parts of test-long: the engine; what needs a control plane; all other packages, where
# generated worlds take too long and memory too much with the race detector; faults.
LONG      = EDICT_TEST_CONTROLPLANE=1 EDICT_TEST_LONG=1 $(GO) test -count=1 -vet=off -timeout 2h
LONGPLAIN := /edict/test/(bench|bombs|properties)(/|$$)

.PHONY: long-1 long-2 long-3 long-4
long-1:
	@CGO_ENABLED=1 $(LONG) -race ./engine/...
	@$(LONG) -run '^TestTime' ./engine/expr/cel
long-2:
	@CGO_ENABLED=1 $(LONG) -race $(PLANES)
long-3:
	@CGO_ENABLED=1 $(LONG) -race $$($(GO) list ./... | grep -vE '/edict/engine(/|$$)|$(CLUSTER)|$(LONGPLAIN)')
	@$(LONG) $$($(GO) list ./... | grep -E '$(LONGPLAIN)')
long-4:
	@$(MAKE) test-fault verify-policies

# How long it takes, and why, before anything is compiled.
.PHONY: announce
announce:
	@mkdir -p bin && rm -f bin/test-times.txt
	@echo "==> make test takes about 10 minutes on two cores; the first time on a machine it compiles all dependencies, plain and for the race detector, and takes about twice as long"
	@cache="$${EDICT_CONTROLPLANE_DIR:-$${XDG_CACHE_HOME:-$$HOME/.cache}/edict/controlplane}"; \
		[ -n "$$KUBEBUILDER_ASSETS" ] || ls "$$cache"/kube-*/kube >/dev/null 2>&1 || \
		echo "==> no control plane is in $$cache: the tests build etcd, kube-apiserver and kubectl from Go modules, once, in about 20 minutes of CPU time; binaries of envtest in KUBEBUILDER_ASSETS save most of it"

# The ten slowest packages, so that they stay fast, and what was skipped.
.PHONY: summary
summary:
	@echo "==> the slowest packages"
	@$(GO) run ./hack/testreport -summary -times bin/test-times.txt

.PHONY: format
format:
	@echo "==> checking the format of the Go files"
	@unformatted="$$(gofmt -l $(SOURCES))"; if [ -n "$$unformatted" ]; then \
		echo "not formatted, make fmt does it:"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet:
	@echo "==> go vet"
	@$(GO) vet ./...

.PHONY: lint
lint: bin/vale ## run the linters, also those of the prose and of the sizes (the first time this builds them, about 4 minutes)
	@echo "==> linting"
	@$(LINT) run ./...
	@echo "==> generated files of the API"
	@folder="$$(mktemp -d)" && trap 'rm -rf "$$folder"' EXIT && cp -r api "$$folder" && \
		$(GENERATE) output:crd:dir="$$folder"/api/crds output:object:dir="$$folder"/api/v1alpha1 && diff -r api "$$folder"/api
	@echo "==> prose"
	@$(GO) run ./hack/unclean -vale bin/vale
	@echo "==> sizes"
	@$(GO) run ./hack/size -check

bin/vale: hack/vale/go.sum
	@echo "==> building vale"
	@mkdir -p bin
	@CGO_ENABLED=1 $(GO) build -C hack/vale -o ../../bin/vale github.com/vale-cli/vale/v3/cmd/vale

# vet has a step of its own.
.PHONY: unit
unit: race ## run the tests that need no control plane, with the race detector where there are goroutines
	@echo "==> other unit tests"
	@$(GO) test -vet=off -timeout 30m -json $(PLAIN) | $(REPORT)

.PHONY: race
race:
	@mkdir -p bin
	@echo "==> tests with the race detector"
	@CGO_ENABLED=1 $(GO) test -race -vet=off -timeout 30m -json $(RACE) | $(REPORT)

# Tests on control planes mostly wait: they come first, and four packages run at a time, so that
# the other tests compute meanwhile.
.PHONY: rest
rest: controlplane
	@mkdir -p bin
	@echo "==> tests on real control planes, and all others"
	@EDICT_TEST_CONTROLPLANE=1 $(GO) test -vet=off -timeout 60m -p 4 -parallel 4 -json $(PLANES) $(PLAIN) | $(REPORT)

.PHONY: policies
policies: build ## check and test the shipped policies and the examples
	@echo "==> checking policies"
	@$(BIN) check --strict policies examples --params examples/recommended/params.yaml
	@echo "==> testing policies"
	@$(BIN) test policies policy-tests examples/cookbook examples/showcase
	@echo "==> comparing the default params with the recommended ones"
	@EDICT=$(abspath $(BIN)) examples/recommended/compare.sh

.PHONY: verify-engine
verify-engine: ## break the engine in one place at a time, and see that edict verify notices it (about 5 minutes)
	@echo "==> breaking the engine"
	@EDICT_TEST_MUTANTS=1 $(GO) test -count=1 -timeout 60m ./test/mutants

.PHONY: verify-policies
verify-policies: build ## explore what the shipped policies do in small worlds, for at most 8 minutes
	@echo "==> exploring small worlds"
	@$(BIN) verify policies --objects examples/restarts --changes 2 --time 2m --may-forget configmap-restart --may-forget secret-restart
	@$(BIN) verify policies --objects examples/modules --changes 0 --time 2m
	@$(BIN) verify policies --objects examples/storage --changes 1 --time 4m

.PHONY: mutate
mutate: build ## change the policies in small ways, and see which changes no test notices: at least 90 % must be (7 to 30 minutes)
	@echo "==> changing policies"
	@$(BIN) test --mutate --mutate-time 0 policy-tests

.PHONY: site
site: ## build the documentation as a static site with search: bin/site; needs npm
	@cd site && npm install --no-audit --no-fund --silent && npm run build

.PHONY: docs-test
docs-test: ## run the commands of the documentation, and check its snippets and links
	@echo "==> documentation"
	@$(GO) test ./docs

.PHONY: e2e
e2e: controlplane ## run the tests on a real control plane
	@echo "==> tests on a real control plane"
	@mkdir -p bin
	@EDICT_TEST_CONTROLPLANE=1 $(GO) test -vet=off -timeout 60m -json $$(grep -vE '/(chart|image)$$' <<< "$(PLANES)") | $(REPORT)

.PHONY: chart-test
chart-test: controlplane ## test the image, and the chart with helm on a real control plane
	@echo "==> tests of the image and the chart"
	@mkdir -p bin
	@EDICT_TEST_CONTROLPLANE=1 $(GO) test -vet=off -timeout 20m -json ./test/image ./test/chart | $(REPORT)

.PHONY: test-fault
test-fault: controlplane ## break the API server, etcd, watches, the network and the processes under traffic, judge the audit log, and run every bomb in a process with little memory (45 minutes)
	@EDICT_TEST_CONTROLPLANE=1 EDICT_TEST_FAULT=1 $(GO) test -count=1 -timeout 20m -run "TestInAProcess|TestRandomInProcesses" ./test/bombs ./engine/expr/cel
	@EDICT_TEST_CONTROLPLANE=1 EDICT_TEST_FAULT=1 EDICT_TEST_LONG=1 $(GO) test -count=1 -timeout 20m -v -run "TestRestartsAndHandOver|TestManyEdits" ./test/e2e
	@EDICT_TEST_CONTROLPLANE=1 EDICT_TEST_FAULT=1 $(GO) test -count=1 -timeout 60m -v ./test/fault

.PHONY: controlplane
controlplane: ## build the control plane into its cache (the first time about 20 minutes of CPU time)
	@echo "==> building the control plane, unless the cache has it"
	@$(GO) run ./test/controlplane/cmd/controlplane build

.PHONY: fuzz
fuzz: ## run every fuzz test for FUZZTIME (30s)
	@grep -rlE --include='*_test.go' '^func Fuzz' $(SOURCES) | while read -r file; do \
		sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file" | while read -r name; do \
			echo "==> fuzzing $$name for $(FUZZTIME)"; \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$(dirname "$$file")" || exit 1; \
		done || exit 1; \
	done

.PHONY: soak
soak: controlplane ## run under traffic for MINUTES (10) with faults by chance from SEED (1); memory, goroutines and delays are printed
	@EDICT_TEST_FAULT=1 EDICT_SOAK=$(MINUTES)m EDICT_SEED=$(SEED) $(GO) test -count=1 -timeout 24h -v -run TestSoak ./test/fault

SCALE ?= 0.1

.PHONY: scale
scale: build controlplane ## run on a control plane with many objects: SCALE (0.1) of 5,000 nodes, 10,000 volumes and 30,000 replicas
	@$(GO) run ./test/scale -scale $(SCALE)

.PHONY: bench
bench: ## measure beside the same controllers written in Go: a table, and bin/bench.json
	@echo "==> Edict beside the same controllers written in Go"
	@mkdir -p bin
	@$(GO) run ./test/bench -o bin/bench.json -against docs/performance.md
	@echo "==> benchmarks of packages"
	@packages="$$(grep -rlE --include='*_test.go' '^func Benchmark' $(SOURCES) | xargs -r -n 1 dirname | sort -u | sed 's|^|./|')"; \
		if [ -n "$$packages" ]; then $(GO) test -run '^$$' -bench . -benchmem $$packages; fi

.PHONY: bench-memory
bench-memory: ## measure what 10,000 objects take in memory and CPU time, step by step (20 s of CPU time)
	@$(GO) run ./test/bench -memory

##@ Keep it

.PHONY: fmt
fmt: ## format the Go files
	@$(LINT) fmt ./...

.PHONY: generate
generate: ## write generated files anew: schemas of the built-in kinds, the chart's files, golden files
	@echo "==> schemas of the built-in kinds"
	@$(GO) run ./hack/openapi
	@echo "==> the API: CRD and deep copies"
	@$(GENERATE) output:crd:dir=api/crds output:object:dir=api/v1alpha1
	@echo "==> the chart's copies of the policies and the CRD"
	@$(GO) run ./hack/chartfiles
	@echo "==> permissions of the shipped policies"
	@$(GO) run ./hack/rbac
	@echo "==> what their params may be"
	@$(GO) run ./hack/values
	@echo "==> schemas of the documents"
	@$(GO) run ./hack/schema
	@echo "==> optional fields that the API server sets itself"
	@$(GO) run ./hack/defaulted
	@echo "==> descriptions of the fields of the built-in kinds"
	@$(GO) run ./hack/descriptions
	@echo "==> pages about the shipped policies"
	@$(GO) run ./hack/policydocs
	@echo "==> the reference of the language, and its table of limits"
	@$(GO) run ./hack/reference
	@echo "==> golden files"
	@UPDATE_GOLDEN=1 $(GO) test -run Golden ./...
	@EDICT_TEST_CONTROLPLANE=1 UPDATE_GOLDEN=1 $(GO) test -run Golden ./test/chart
	@EDICT_TEST_CONTROLPLANE=1 UPDATE_GOLDEN=1 $(GO) test -run TestAsARealServer ./test/conformance
	@echo "==> pictures of edict explore"
	@UPDATE_GOLDEN=1 $(GO) test -run TestEveryView ./test/explore

.PHONY: verify
verify: verify-generated verify-policies verify-engine ## all of verify-generated, verify-policies and verify-engine

.PHONY: verify-generated
verify-generated: ## fail when a generated file or a go.mod is not up to date
	@echo "==> go.mod files"
	@for module in $(MODULES); do (cd $$module && $(GO) mod tidy -diff) || exit 1; done
	@echo "==> schemas of the built-in kinds"
	@folder="$$(mktemp -d)"; trap 'rm -rf "$$folder"' EXIT; cp engine/schema/builtin.json.gz "$$folder" && \
		$(GO) run ./hack/openapi -o "$$folder/builtin.json.gz" -resources "$$folder/resources.json" && \
		cmp "$$folder/builtin.json.gz" engine/schema/builtin.json.gz && cmp "$$folder/resources.json" engine/schema/resources.json
	@echo "==> the chart's copies of the policies and the CRD"
	@$(GO) run ./hack/chartfiles -check
	@echo "==> permissions of the shipped policies"
	@$(GO) run ./hack/rbac -check
	@echo "==> what their params may be"
	@$(GO) run ./hack/values -check
	@echo "==> schemas of the documents"
	@$(GO) run ./hack/schema -check
	@echo "==> descriptions of the fields of the built-in kinds"
	@$(GO) run ./hack/descriptions -check

.PHONY: clean
clean: ## remove what the build made
	@rm -rf bin coverage.out
