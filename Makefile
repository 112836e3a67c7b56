# Needs Go, make, git and gcc (for the race detector), and for the tests PostgreSQL, MariaDB, Prometheus, Node, Chromium and
# buildah, which are installed from Debian's packages where this runs as root. Tools are Go modules, pinned in hack/; the control plane's programs are
# downloaded where the network allows it, and otherwise built from modules too.
SHELL := /usr/bin/env bash -o pipefail
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help

# The image that deploy uses, and that docker-build makes.
IMG ?= ghcr.io/taskonce/taskonce:latest
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
# Where generated files go; make verify has them written elsewhere.
OUT ?= .
KUBECTL ?= kubectl
CONTAINER_TOOL ?= docker

export GOWORK := off
CONTROLLER_GEN := go tool -modfile=hack/tools/go.mod controller-gen
GOLANGCI_LINT := go tool -modfile=hack/lint/go.mod golangci-lint
KUSTOMIZE := go tool -modfile=hack/tools/go.mod kustomize
CONTROL_PLANE := hack/controlplane/ensure.sh

# What npm has installed from a package-lock.json.
NODE_MODULES := clients/js/node_modules/.package-lock.json
PLAYWRIGHT := test/web/node_modules/.package-lock.json

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "Usage:\n  make \033[36m<target>\033[0m\n"} \
		/^[a-zA-Z_0-9-]+:.*?##/ { printf "  \033[36m%-16s\033[0m %s\n", $$1, $$2 } \
		/^##@/ { printf "\n\033[1m%s\033[0m\n", substr($$0, 5) }' $(MAKEFILE_LIST)

##@ Try it

.PHONY: demo
demo: controlplane ## Play every hazard against a real API server, and count the effects.
	go run ./test/demo

.PHONY: demo-sql
demo-sql: controlplane databases ## The same for a change in PostgreSQL: lost answers, and kills around COMMIT.
	go run ./test/demosql

.PHONY: dev
dev: controlplane ## Run control plane, operator and receiver until Ctrl-C; the state is kept.
	@go build -o bin/dev ./test/dev && exec bin/dev

LISTEN ?= 127.0.0.1:8088

.PHONY: demo-web
demo-web: controlplane $(NODE_MODULES) ## Run the example application until Ctrl-C: pages whose networks you break.
	@go build -o bin/demoweb ./test/demoweb && exec bin/demoweb --listen $(LISTEN)

##@ Check

.PHONY: fmt
fmt: ## Format the code.
	$(GOLANGCI_LINT) fmt

.PHONY: vet
vet: ## Run go vet.
	go vet ./...
	go vet -tags faults ./...

.PHONY: lint
lint: ## Run golangci-lint.
	$(GOLANGCI_LINT) run

.PHONY: verify
verify: vet lint ## Check what needs no test: generated files, format, imports, modules, lint.
	hack/generated.sh
	hack/modules.sh
	@unformatted=$$(gofmt -l api cmd examples hack internal pkg test); [ -z "$$unformatted" ] || { echo "Not formatted (make fmt):" $$unformatted; exit 1; }
	go test ./test/layout/...

##@ Test

# What imports the harness needs a control plane; everything else is a unit test.
CONTROL_PLANE_PACKAGES = $(shell go list -f '{{.ImportPath}} {{.Imports}} {{.TestImports}} {{.XTestImports}}' ./... \
	| awk '(/taskonce\/test\/harness/ || $$1 ~ /\/test\/harness$$/) && $$1 !~ /\/test\/web$$/ {print $$1}')
UNIT_PACKAGES = $(filter-out $(CONTROL_PLANE_PACKAGES) %/test/web,$(shell go list ./...))

.PHONY: test
test: test-unit test-js test-model conform replay test-integration test-web ## Run all tests. As root it installs Debian packages that they need.

.PHONY: test-unit
test-unit: databases ## Run those that need no control plane. As root it installs databases.
	go test -race -p 2 -skip '^TestConformance$$' $(UNIT_PACKAGES)

# Two packages at once: each waits for control planes, time-outs and leases most of the time.
.PHONY: test-integration
test-integration: controlplane databases prometheus buildah $(NODE_MODULES) ## Run the tests on a real etcd and kube-apiserver, with demo and a short chaos.
	go test -race -p 2 -timeout 20m -skip '$(MODEL)|^TestConformance$$|^TestReplay$$' $(CONTROL_PLANE_PACKAGES)

.PHONY: conform
conform: controlplane databases ## Run the conformance suite against every effect: a table effect × case.
	go test -race -json -run '^TestConformance$$' ./internal/effect/... | go run ./test/conformance

%/node_modules/.package-lock.json: %/package-lock.json
	@hack/node/ensure.sh
	cd $* && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: test-js
test-js: $(NODE_MODULES) ## Check, test and pack the browser client.
	cd clients/js && npm run --silent check && npm run --silent test
	hack/node/pack.sh

# In each scenario of the model check one goroutine computes: the race detector would find nothing and take ten times as long.
MODEL = ^(TestModel|TestSeededFaults)$$
GO_TEST_MODEL = GOGC=300 GOMEMLIMIT=4GiB go test -count=1 -run '$(MODEL)'

.PHONY: test-model
test-model: ## Explore every interleaving of a small model, and switch each rule off.
	$(GO_TEST_MODEL) ./internal/controller

.PHONY: prove
prove: ## The same with more going wrong at once, in some minutes; prints what it found.
	TASKONCE_MODEL=deep $(GO_TEST_MODEL) -timeout 60m -v ./internal/controller | grep -v '^ *=== '

.PHONY: replay
replay: controlplane ## Have finished actions go and come back in every way, and count the effects.
	go test -race -count=1 -v -run '^TestReplay$$' ./test/afterlife | grep -v '^ *=== '

TEST_WEB = go test -race -count=1 -timeout 10m -parallel 2

.PHONY: test-web
test-web: controlplane chromium $(NODE_MODULES) $(PLAYWRIGHT) ## Use the example application in a real browser: faults, reloads, tabs, devices.
	$(TEST_WEB) ./test/web

# The oldest Kubernetes that docs/install.md promises, and the packages in which it matters what the API server does. Some of
# the words in docs/errors.md are the API server's, which says them differently in each version.
KUBERNETES_VERSION ?= v1.32.2
KUBERNETES_PACKAGES := ./internal/controller ./test/afterlife ./test/demo ./test/harness ./test/install
GO_TEST_KUBERNETES = KUBERNETES_VERSION=$(KUBERNETES_VERSION) go test -count=1 -timeout 30m

.PHONY: test-kubernetes
test-kubernetes: buildah ## Run what rests on the API server against KUBERNETES_VERSION: half an hour.
	@echo "Control plane: $$(KUBERNETES_VERSION=$(KUBERNETES_VERSION) $(CONTROL_PLANE) etcd kube-apiserver kube-controller-manager kubectl)"
	$(GO_TEST_KUBERNETES) ./internal/admission -ginkgo.skip 'word for word'
	$(GO_TEST_KUBERNETES) -skip '$(MODEL)' $(KUBERNETES_PACKAGES)

.PHONY: install-test
install-test: controlplane buildah ## Install, work, upgrade, hand over and uninstall, as docs/install.md says.
	go test -count=1 -v -timeout 20m ./test/install | grep -v '^ *=== '

.PHONY: observe
observe: controlplane prometheus ## Compare every metric, alert and panel with a load whose outcome is known.
	go run ./test/observe

.PHONY: alerts
alerts: prometheus ## Test the alert rules: when each fires, what it says, and when it does not.
	promtool check rules config/prometheus/rules.yaml
	promtool test rules config/prometheus/rules_test.yaml

KILLS ?= 100

.PHONY: sql-kill
sql-kill: databases ## Kill operators and databases around COMMIT, KILLS times each.
	TASKONCE_SQLTX_KILLS=$(KILLS) go test -count=1 -v -timeout 60m -run 'KilledAroundCommit$$' ./internal/effect/sqltx

SEED ?= 0
DURATION ?= 60s

.PHONY: chaos
chaos: controlplane ## Kill, stop and cut everything for DURATION, by SEED, and count the effects.
	go run ./test/chaos --seed $(SEED) --duration $(DURATION)

.PHONY: soak
soak: controlplane ## Have 5,000 submissions come and go, and look for leaks: about ten minutes.
	TASKONCE_CYCLES=5000 go test -count=1 -timeout 60m -v -run '^TestController$$' ./internal/controller -ginkgo.focus 'What comes and goes' | grep -v '^=== '

##@ Generated files

.PHONY: generate
generate: ## Generate Go code, and the references of plugin, metrics, flags and scale.
	$(CONTROLLER_GEN) object:headerFile=hack/boilerplate.go.txt paths=./api/... output:object:dir=$(OUT)/api/v1alpha1
	go run ./hack/clireference > $(OUT)/docs/cli.md
	go run ./hack/metricsreference > $(OUT)/docs/metrics.md
	for program in manager gateway; do \
		TASKONCE_WRITE_FLAGS=$(abspath $(OUT))/docs/flags.md go test -count=1 -run '^TestFlagsAreDocumented$$' ./cmd/$$program >/dev/null; done
	go run ./hack/scalepage $(MEASURED) $(OUT)/docs

.PHONY: manifests
manifests: ## Generate CRDs, rights, alert rules, and dist/: the manifests and the chart.
	$(CONTROLLER_GEN) crd:maxDescLen=140,generateEmbeddedObjectMeta=true paths=./api/... output:crd:dir=$(OUT)/config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=manager-role paths=./internal/... paths=./cmd/... output:rbac:dir=$(OUT)/config/rbac
	@mkdir -p $(OUT)/config/prometheus
	hack/prometheus/rule.sh > $(OUT)/config/prometheus/prometheusrule.yaml
	@mkdir -p $(OUT)/dist
	$(KUSTOMIZE) build config/default > $(OUT)/dist/install.yaml
	$(KUSTOMIZE) build config/gateway > $(OUT)/dist/gateway.yaml
	go run ./hack/dist --manifests=$(OUT)/dist/install.yaml,$(OUT)/dist/gateway.yaml --out=$(OUT)/dist/chart

.PHONY: errors
errors: controlplane ## Write docs/errors.md and the answers of docs/http.md anew.
	TASKONCE_WRITE_ERRORS=1 go test -count=1 ./internal/admission -ginkgo.focus 'documented'
	TASKONCE_WRITE_ERRORS=1 go test -count=1 -run '^TestAnswers$$' ./test/gateway

.PHONY: picture
picture: controlplane prometheus ## Draw the dashboard that the README shows, from a load whose outcome is known.
	go run ./test/observe --picture docs/dashboard.svg

.PHONY: screenshots
screenshots: controlplane chromium $(NODE_MODULES) $(PLAYWRIGHT) ## Draw the pictures of pages in docs anew.
	TASKONCE_PICTURES=$(CURDIR)/docs $(TEST_WEB) -run '^TestPictures$$' ./test/web

.PHONY: freeze
freeze: ## Keep what release VERSION installs, so that upgrades from it are tested.
	hack/freeze.sh $(VERSION)

##@ Measure

# Samples of the bench, of which docs/scale.md is made; BENCH is for its flags.
MEASURED := test/bench/measured
BENCH ?=
N ?= 100000

.PHONY: bench
bench: controlplane ## Measure what a submission costs, and write docs/scale.md anew: half an hour.
	go run ./test/bench --dir $(MEASURED) $(BENCH)
	go run ./hack/scalepage $(MEASURED) docs

.PHONY: bench-quick
bench-quick: controlplane ## Measure rate and requests of the straight path, in under two minutes.
	go run ./test/bench --quick $(BENCH)

.PHONY: bench-growth
bench-growth: controlplane ## Measure what N finished submissions cost an operator that is started.
	go run ./test/bench --only=history --rounds=1 --history=$(N) $(BENCH)

##@ Install what the tests need

.PHONY: controlplane
controlplane: ## The control plane's programs: downloaded or built, once, in some minutes.
	@echo "Control plane: $$($(CONTROL_PLANE) etcd kube-apiserver kubectl)"
	@echo "Job controller: $$($(CONTROL_PLANE) kube-controller-manager)"

.PHONY: databases
databases: ## PostgreSQL and MariaDB; the tests start servers of their own.
	@hack/databases/ensure.sh

.PHONY: prometheus
prometheus: ## Prometheus and promtool; the tests start a server of their own.
	@hack/prometheus/ensure.sh

.PHONY: chromium
chromium: ## Chromium, for the tests in a real browser.
	@hack/chromium/ensure.sh

.PHONY: buildah
buildah: ## buildah, for the test that builds the Dockerfile.
	@hack/buildah/ensure.sh

##@ Build

.PHONY: build
build: ## Build the manager, the gateway and the kubectl plugin into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/manager ./cmd/gateway ./cmd/kubectl-taskonce

.PHONY: run
run: ## Run the manager here against the current kubeconfig, with your own rights.
	go run ./cmd/manager --leader-elect=false --metrics-bind-address=0 --webhook-bind-address=0

.PHONY: docker-build
docker-build: ## Build the image IMG, for this machine's architecture.
	$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) -t $(IMG) .

ARCHITECTURES ?= amd64 arm64
# The same programs, byte for byte, wherever they are built: no path, no date, nothing of the working tree.
BUILD_PROGRAM = CGO_ENABLED=0 GOOS=linux GOFLAGS=-buildvcs=false go build -trimpath -ldflags '$(LDFLAGS)'

.PHONY: image
image: ## Build the image for ARCHITECTURES without a container engine, in tmp/image.
	@rm -rf tmp/programs
	@for architecture in $(ARCHITECTURES); do GOARCH=$$architecture $(BUILD_PROGRAM) -o tmp/programs/$$architecture/ ./cmd/manager ./cmd/gateway; done
	cd hack/image && go run . --version=$(VERSION) --out=$(CURDIR)/tmp/image \
		--programs=$$(echo $(foreach architecture,$(ARCHITECTURES),$(architecture)=$(CURDIR)/tmp/programs/$(architecture)) | tr ' ' ,)

.PHONY: image-engine
image-engine: buildah ## Build the Dockerfile with buildah, which pulls nothing; it takes root.
	hack/image/engine.sh $(CURDIR)/tmp/image-engine $(VERSION)

.PHONY: sbom
sbom: ## List the modules of each program as CycloneDX JSON, in tmp/.
	for program in manager gateway; do \
		GOARCH= $(BUILD_PROGRAM) -o tmp/$$program ./cmd/$$program; \
		go tool -modfile=hack/image/go.mod cyclonedx-gomod bin -json -version $(VERSION) -output tmp/sbom-$$program.json tmp/$$program; done

.PHONY: clean
clean: ## Remove what was built here; the control plane's programs stay in the cache.
	rm -rf bin tmp

##@ Deployment

.PHONY: install
install: ## Install the CRDs into the cluster of the current kubeconfig.
	$(KUBECTL) apply --server-side -k config/crd

.PHONY: uninstall
uninstall: ## Remove the CRDs, and with them every submission and record.
	$(KUBECTL) delete --ignore-not-found -k config/crd

.PHONY: deploy
deploy: ## Deploy the operator, with its CRDs and rights, and the image IMG.
	$(KUBECTL) kustomize config/default | sed 's|ghcr.io/taskonce/taskonce:latest|$(IMG)|' | $(KUBECTL) apply --server-side -f -

.PHONY: undeploy
undeploy: ## Remove all that deploy installed, and with it every submission and record.
	$(KUBECTL) delete --ignore-not-found -k config/default
