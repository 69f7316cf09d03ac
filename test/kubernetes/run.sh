#!/usr/bin/env bash
# Installs the chart in a real control plane: test/kubernetes/run.sh
# etcd, kube-apiserver, kube-controller-manager, kubectl and helm are built from their Go
# modules, which takes many minutes once, and started in a network that has nothing but
# loopback. There are no nodes: pods are made and refused as in any cluster, but no container
# runs, and this script says of each pod that it is ready. C3PO_KUBERNETES keeps the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in unshare ip openssl; do
	command -v "$tool" >/dev/null || { echo "the chart was NOT tried: $tool is not installed" >&2 && exit 1; }
done
[ "$(id -u)" -eq 0 ] || { echo "the chart was NOT tried: only root can have a network of its own" >&2 && exit 1; }

if [ -z "${C3PO_KUBERNETES_INSIDE:-}" ]; then
	export C3PO_KUBERNETES=${C3PO_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/kubernetes}
	mkdir -p "$C3PO_KUBERNETES"
	version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit } $2 == "k8s.io/kubernetes" { print $3; exit }' test/kubernetes/go.mod)
	minor=${version#v1.}
	stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
	build() { # build MODULE PROGRAM PACKAGE
		(cd "$1" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $stamp" -o "$C3PO_KUBERNETES/$2" "$3")
	}
	for program in kube-apiserver kube-controller-manager kubectl; do
		build test/kubernetes $program k8s.io/kubernetes/cmd/$program
	done
	build test/kubernetes etcd go.etcd.io/etcd/server/v3
	build tools/helm helm helm.sh/helm/v3/cmd/helm
	C3PO_KUBERNETES_INSIDE=1 exec unshare --net "$0"
fi

PATH=$C3PO_KUBERNETES:$PATH
work=$(mktemp -d)
started=()
began=$SECONDS
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
finish() {
	local code=$?
	[ $code -eq 0 ] || tail -n 20 "$work"/*.log >&2
	[ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
	wait
	rm -rf "$work"
}
trap finish EXIT
fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}
within() { # within SECONDS COMMAND…
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt "$end" ] || fail "not in time: $*"
		sleep 0.5
	done
}

# 1. The control plane. An API server announces no loopback address.
ip link set lo up
ip address add 10.250.0.1/32 dev lo
api=https://127.0.0.1:6443 peer=http://127.0.0.1:2380 client=http://127.0.0.1:2379
openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
token=$(openssl rand -hex 16)
printf '%s,admin,admin,"system:masters"\n' "$token" >"$work/tokens.csv"
cat >"$work/kubeconfig" <<-END
	apiVersion: v1
	kind: Config
	clusters: [{name: here, cluster: {server: "$api", insecure-skip-tls-verify: true}}]
	users: [{name: admin, user: {token: $token}}]
	contexts: [{name: here, context: {cluster: here, user: admin}}]
	current-context: here
END
export KUBECONFIG=$work/kubeconfig HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
etcd --data-dir "$work/etcd" --listen-client-urls $client --advertise-client-urls $client --listen-peer-urls $peer \
	--initial-advertise-peer-urls $peer --initial-cluster default=$peer --log-level error >"$work/etcd.log" 2>&1 &
started+=($!)
kube-apiserver --etcd-servers $client --cert-dir "$work/certs" --secure-port 6443 --bind-address 127.0.0.1 --advertise-address 10.250.0.1 \
	--endpoint-reconciler-type none --service-account-issuer https://kubernetes.default.svc --service-account-signing-key-file "$work/accounts.key" \
	--service-account-key-file "$work/accounts.key" --token-auth-file "$work/tokens.csv" --authorization-mode RBAC \
	--service-cluster-ip-range 10.96.0.0/16 >"$work/apiserver.log" 2>&1 &
started+=($!)
ready() { [ "$(kubectl get --raw /readyz 2>/dev/null)" = ok ]; }
within 60 ready
kube-controller-manager --kubeconfig "$work/kubeconfig" --leader-elect=false --service-account-private-key-file "$work/accounts.key" \
	--use-service-account-credentials=false >"$work/controllers.log" 2>&1 &
started+=($!)
said "Kubernetes $(kubectl version -o json | grep -o '"gitVersion": "[^"]*"' | tail -n 1 | cut -d '"' -f 4), without nodes"

# 2. The plain manifests, and the chart, where pods with any right too many are refused.
kubectl create namespace c3po >/dev/null
kubectl label namespace c3po pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted >/dev/null
kubectl -n c3po create secret generic c3po-redis --from-literal=password="$(openssl rand -hex 24)" >/dev/null
kubectl -n c3po apply --server-side --dry-run=server -f deploy/kubernetes >"$work/apply.log" 2>&1 || fail "$(cat "$work/apply.log")"
if grep -i warning "$work/apply.log"; then fail "the API server warns of the manifests"; fi
said "the API server takes $(wc -l <"$work/apply.log") objects of deploy/kubernetes without a warning"
helm -n c3po install c3po deploy/helm/c3po --set image.tag=v1.0.0 >"$work/helm.log" 2>&1 || fail "$(cat "$work/helm.log")"
pods() { kubectl -n c3po get pods -l "app=$1" --no-headers 2>/dev/null | wc -l; }
made() { [ "$(pods c3po)" -eq 3 ] && [ "$(pods redis)" -eq 6 ] && [ "$(pods redis-cluster)" -ge 1 ]; }
within 60 made
said "helm install: 3 coordinators, 6 nodes of Redis and the job that joins them are made"

# 3. An upgrade. Each pod is said to be ready when it is seen; there must never be fewer
# than three that are.
ready_pods() { kubectl -n c3po get pods -l app=c3po -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' | grep -c True || true; }
say_ready() {
	local pod now
	now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
	for pod in $(kubectl -n c3po get pods -l app=c3po -o 'jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' | sed -n 's/=$//p'); do
		kubectl -n c3po patch pod "$pod" --subresource=status --type=merge -p \
			'{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"'"$now"'"}]}}' >/dev/null 2>&1 || true # it may be gone
	done
}
all_ready() {
	say_ready
	[ "$(kubectl -n c3po get deploy c3po -o 'jsonpath={.status.availableReplicas}/{.status.updatedReplicas}/{.status.replicas}')" = 3/3/3 ]
}
within 90 all_ready
helm -n c3po upgrade c3po deploy/helm/c3po --set image.tag=v1.0.1 --set redis.image=docker.io/library/redis:8-alpine >"$work/helm.log" 2>&1 || fail "$(cat "$work/helm.log")"
fewest=3 most=3
upgraded() {
	local now
	now=$(ready_pods)
	[ "$now" -ge "$fewest" ] || fewest=$now
	[ "$(pods c3po)" -le "$most" ] || most=$(pods c3po)
	say_ready
	[ "$(kubectl -n c3po get pods -l app=c3po -o 'jsonpath={.items[*].spec.containers[0].image}' | tr ' ' '\n' | sort -u)" = ghcr.io/c3po-dev/c3po:v1.0.1 ] && all_ready
}
within 120 upgraded
[ "$fewest" -ge 3 ] || fail "during the upgrade only $fewest coordinators were ready"
[ "$most" -eq 4 ] || fail "the upgrade had $most coordinators, not one more"
said "helm upgrade: never fewer than $fewest ready coordinators, at most $most"

# 4. Draining nodes: of three ready coordinators one may be stopped, not two.
evict() { printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"c3po"}}' "$1" | kubectl create --raw "/api/v1/namespaces/c3po/pods/$1/eviction" -f - 2>&1; }
allowed() { [ "$(kubectl -n c3po get pdb c3po -o 'jsonpath={.status.disruptionsAllowed}')" = 1 ]; }
within 60 allowed
mapfile -t names < <(kubectl -n c3po get pods -l app=c3po -o name | sed 's,^pod/,,')
first=$(evict "${names[0]}") || fail "no coordinator can be drained: $first"
if second=$(evict "${names[1]}") || [[ $second != *'disruption budget'* ]]; then fail "two coordinators can be drained at once: $second"; fi
said "one coordinator can be drained, two at once can't"
helm -n c3po uninstall c3po >/dev/null
said "done"
