#!/usr/bin/env bash
# What `make demo` shows: the engine on the manifests of this folder, in memory and
# on a virtual clock. Every command is one that you can type; bin/edict is what
# `make build` builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
edict=bin/edict
at="--now 2026-03-01T12:00:00Z"

bold="" plain=""
if [ -t 1 ]; then
  bold=$'\033[1m' plain=$'\033[0m'
fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
# run shows a command and its output, and passes over the exit code of a command
# that has found something.
run() {
  printf '$ %s\n' "${*//$edict/edict}"
  bash -c "$*" || [ $? = 2 ]
}

say "A storage cluster: six nodes in three zones, two pools, five volumes. The policies list the nodes that each pool can use, label them, and place the replicas."
run "$edict simulate policies --objects examples/storage $at | tail -n 8"

say "A zone loses its power after five minutes, for a quarter of an hour: its nodes stay for the grace period, then leave the lists, and come back."
run "$edict simulate policies/storage-pool-eligibility.yaml policies/agent-node-label.yaml --objects examples/storage --timeline examples/storage-timeline.yaml $at --until 1h | tail -n 7"

say "A kernel module: a worker Pod loads it, and the node is labelled when it is loaded."
run "$edict simulate policies/kmm-module.yaml policies/kmm-node-modules.yaml --objects examples/modules --timeline examples/modules-timeline.yaml $at --until 5m | cut -c 1-100"

say "A ConfigMap is edited three times: its Deployments restart at once, and once more at the end of the window."
run "$edict simulate policies/configmap-restart.yaml --objects examples/restarts --timeline examples/restarts-timeline.yaml $at --until 5m"

say "Why has the replica logs-1 no place, and why not on node-a1?"
run "$edict explain replica-scheduling logs -f policies --objects examples/storage $at --until 0s --why-not node-a1"

say "Why is node-a2 not eligible in the pool fast?"
run "$edict explain storage-pool-eligibility fast -f policies --objects examples/storage $at --why-not node-a2"

say "What would an edit change? Here: the label that names the zones is another one."
run "$edict plan policies --against policies --param storage-pool-eligibility.zoneLabel=example.com/room --objects examples/storage $at | cut -c 1-130"

say "That was policy files and no line of controller code: look into policies/."
cat <<'TEXT'
Look at every decision of this cluster in the browser:
  bin/edict explore policies --objects examples/storage
Keep one as a test, and run it:
  bin/edict capture storage-pool-eligibility fast -f policies --objects examples/storage --out fast.yaml && bin/edict test fast.yaml
See the controller on a real kube-apiserver, which is built first (20 minutes of CPU time, once):
  make demo-cluster
TEXT
