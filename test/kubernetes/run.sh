#!/usr/bin/env bash
# Installs the chart in a real cluster of one node: test/kubernetes/run.sh
# Kubernetes, etcd and Helm are built from their Go modules, which takes many minutes once;
# containerd and the plugins of pod networks are Debian's, unpacked. All of it runs in a
# network that has nothing but loopback and pods. Nothing is pulled: images are built here,
# Redis' from this machine's own. C3PO_KUBERNETES keeps the programs.
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in unshare nsenter ip iptables runc buildah openssl redis-server apt-get; do
	command -v "$tool" >/dev/null || { echo "the chart was NOT tried: $tool is not installed" >&2 && exit 1; }
done
[ "$(id -u)" -eq 0 ] || { echo "the chart was NOT tried: only root can have a network of its own" >&2 && exit 1; }

if [ -z "${C3PO_KUBERNETES_INSIDE:-}" ]; then
	export C3PO_KUBERNETES=${C3PO_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/c3po/kubernetes}
	mkdir -p "$C3PO_KUBERNETES/debian"
	version=$(sed -n 's/.*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' test/kubernetes/go.mod | head -n 1)
	minor=${version#v1.}
	stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
	build() { # build MODULE PROGRAM PACKAGE
		(cd "$1" && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $stamp" -o "$C3PO_KUBERNETES/$2" "$3")
	}
	for program in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do
		build test/kubernetes $program k8s.io/kubernetes/cmd/$program
	done
	build test/kubernetes etcd go.etcd.io/etcd/server/v3
	build test/kubernetes pause ./pause
	build test/kubernetes/dns coredns github.com/coredns/coredns
	build tools/helm helm helm.sh/helm/v3/cmd/helm
	for tag in v1.0.0 v1.0.1; do
		CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$tag" -o "$C3PO_KUBERNETES/c3po-$tag" ./cmd/c3po
	done
	if [ ! -x "$C3PO_KUBERNETES/debian/usr/bin/containerd" ]; then
		(
			cd "$C3PO_KUBERNETES/debian"
			apt-get download -qq containerd containernetworking-plugins conntrack libnetfilter-conntrack3 libnfnetlink0 2>/dev/null
			for package in *.deb; do dpkg-deb -x "$package" .; done
			rm ./*.deb
		)
	fi
	# Whatever it starts ends with it; what the node leaves behind is removed.
	work=$(mktemp -d)
	elsewhere='/var/lib/kubelet /var/lib/cni /var/log/containers /usr/libexec/kubernetes'
	finish() {
		find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} \; 2>/dev/null || true
		for folder in $elsewhere; do rmdir --ignore-fail-on-non-empty "$folder" 2>/dev/null || true; done
		rm -rf --one-file-system "$work"
	}
	trap finish EXIT
	C3PO_KUBERNETES_INSIDE=$work C3PO_KUBERNETES_ELSEWHERE=$elsewhere unshare --net --mount --pid --fork --kill-child --mount-proc "$0"
	exit
fi

debian=$C3PO_KUBERNETES/debian
export PATH=$C3PO_KUBERNETES:$debian/usr/bin:$debian/usr/sbin:$PATH LD_LIBRARY_PATH=$debian/usr/lib/x86_64-linux-gnu
work=$C3PO_KUBERNETES_INSIDE
began=$SECONDS
said() { printf '%3d s  %s\n' "$((SECONDS - began))" "$*"; }
finish() {
	local code=$?
	if [ $code -ne 0 ]; then
		tail -n 8 "$work"/*.log >&2 || true
		kubectl -n c3po get pods,events >&2 || true
	fi
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

# What the node writes elsewhere stays in this namespace.
mount --make-rshared /
mount -t tmpfs tmpfs /run
for folder in $C3PO_KUBERNETES_ELSEWHERE; do mkdir -p "$folder" && mount -t tmpfs tmpfs "$folder"; done

# 1. A network with a way to pods alone. An API server announces no loopback address, and a
# node has an address on a link with a default route.
ip link set lo up
ip address add 10.250.0.1/32 dev lo
ip link add node type veth peer name nowhere
ip address add 10.251.0.1/24 dev node
ip link set node up
ip link set nowhere up
ip route add default via 10.251.0.2 dev node
echo 1 >/proc/sys/net/ipv4/ip_forward
cp /etc/hosts "$work/hosts"
echo '10.251.0.1 node' >>"$work/hosts"
mount --bind "$work/hosts" /etc/hosts

# 2. The control plane.
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
run() { # run NAME COMMAND…
	"${@:2}" >"$work/$1.log" 2>&1 &
}
run etcd etcd --data-dir "$work/etcd" --listen-client-urls $client --advertise-client-urls $client --listen-peer-urls $peer \
	--initial-advertise-peer-urls $peer --initial-cluster default=$peer --log-level error
run apiserver kube-apiserver --etcd-servers $client --cert-dir "$work/certs" --secure-port 6443 --bind-address 127.0.0.1 --advertise-address 10.250.0.1 \
	--endpoint-reconciler-type none --service-account-issuer https://kubernetes.default.svc --service-account-signing-key-file "$work/accounts.key" \
	--service-account-key-file "$work/accounts.key" --token-auth-file "$work/tokens.csv" --authorization-mode RBAC --service-cluster-ip-range 10.96.0.0/16
ready() { [ "$(kubectl get --raw /readyz 2>/dev/null)" = ok ]; }
within 90 ready
run controllers kube-controller-manager --kubeconfig "$work/kubeconfig" --leader-elect=false --service-account-private-key-file "$work/accounts.key"
run scheduler kube-scheduler --kubeconfig "$work/kubeconfig" --leader-elect=false

# 3. The node: containerd with the image under two tags, a bridge for pods, kubelet and proxy.
cat >"$work/containerd.toml" <<-END
	version = 2
	root = "$work/containerd"
	state = "$work/state"
	[grpc]
	address = "$work/containerd.sock"
	[plugins."io.containerd.grpc.v1.cri"]
	sandbox_image = "localhost/pause:1"
	restrict_oom_score_adj = true
	[plugins."io.containerd.grpc.v1.cri".cni]
	bin_dir = "$debian/usr/lib/cni"
	conf_dir = "$work/cni"
	[plugins."io.containerd.grpc.v1.cri".containerd]
	snapshotter = "native" # this may run in a container, where overlays don't stack
	[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
	runtime_type = "io.containerd.runc.v2"
END
mkdir "$work/cni"
cat >"$work/cni/10.conflist" <<-END
	{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
	"ipam": {"type": "host-local", "dataDir": "$work/addresses", "ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
cat >"$work/kubelet.yaml" <<-END
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	failSwapOn: false
	failCgroupV1: false
	cgroupDriver: cgroupfs
	enforceNodeAllocatable: []
	containerRuntimeEndpoint: unix://$work/containerd.sock
	authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
	authorization: {mode: AlwaysAllow}
	resolvConf: ""
	clusterDNS: [10.250.0.1]
	clusterDomain: cluster.local
	evictionHard: {memory.available: 1Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}
	imageGCHighThresholdPercent: 100
	imageGCLowThresholdPercent: 99
	podLogsDir: $work/logs
	volumePluginDir: $work/plugins
END
program() { # program NAME PROGRAM FOLDER: an image of a program built here
	rm -rf "$work/context"
	cp -r "$3" "$work/context"
	cp "$C3PO_KUBERNETES/$2" "$work/context/${2%%-*}"
	image "$1"
}
redis_image() { # redis_image NAME: this machine's Redis, and what the chart runs beside it
	local root=$work/context/root one
	rm -rf "$work/context"
	mkdir -p "$root"/{bin,usr/bin,data}
	for one in redis-server redis-cli getent grep; do cp -L "$(command -v $one)" "$root/usr/bin/"; done
	cp -L /bin/sh "$root/bin/sh"
	for one in "$root"/usr/bin/* "$root/bin/sh"; do
		ldd "$one" | grep -o '/[^ ]*' | while read -r library; do
			mkdir -p "$root$(dirname "$library")"
			cp -nL "$library" "$root$library"
		done
	done
	printf 'FROM scratch\nCOPY root/ /\nENV PATH=/usr/bin:/bin\nWORKDIR /data\n' >"$work/context/Dockerfile"
	image "$1"
}
image() { # image NAME: what is in context, into containerd
	local context=$work/context
	buildah --root "$work/images" --runroot "$work/images.run" build --quiet -t "$1" "$context" >/dev/null 2>"$work/build.log"
	buildah --root "$work/images" --runroot "$work/images.run" push --quiet "$1" "docker-archive:$work/image.tar:$1" 2>>"$work/build.log"
	ctr -a "$work/containerd.sock" -n k8s.io images import "$work/image.tar" >/dev/null
	rm "$work/image.tar"
}
run containerd containerd -c "$work/containerd.toml"
within 30 test -S "$work/containerd.sock"
program localhost/pause:1 pause test/kubernetes/pause
for tag in v1.0.0 v1.0.1; do program ghcr.io/c3po-dev/c3po:$tag c3po-$tag deploy; done
redis_image docker.io/library/redis:7-alpine
printf '.:53 {\n bind 10.250.0.1\n errors\n kubernetes cluster.local {\n  kubeconfig %s/kubeconfig here\n }\n}\n' "$work" >"$work/Corefile"
run dns coredns -conf "$work/Corefile"
kubectl create -f - >/dev/null <<<'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node", "labels": {"kubernetes.io/hostname": "node"}}}'
run kubelet kubelet --config "$work/kubelet.yaml" --kubeconfig "$work/kubeconfig" --root-dir "$work/kubelet" --hostname-override node --cert-dir "$work/kubelet-certs"
run proxy kube-proxy --kubeconfig "$work/kubeconfig" --proxy-mode iptables --hostname-override node --conntrack-max-per-core 0
kubectl wait --for=condition=Ready node/node --timeout=120s >/dev/null
said "Kubernetes $(kubectl version -o json | grep -o '"gitVersion": "[^"]*"' | tail -n 1 | cut -d '"' -f 4) with a node"

# 4. The plain manifests, and the chart, where pods with any right too many are refused.
kubectl create namespace c3po >/dev/null
kubectl label namespace c3po pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted >/dev/null
kubectl -n c3po apply --server-side --dry-run=server -f deploy/kubernetes >"$work/apply.log" 2>&1 || fail "$(cat "$work/apply.log")"
if grep -i warning "$work/apply.log"; then fail "the API server warns of the manifests"; fi
said "the API server takes $(wc -l <"$work/apply.log") objects of deploy/kubernetes without a warning"
# Six folders are the disks.
for i in 0 1 2 3 4 5; do
	mkdir "$work/disk$i"
	chown 999:999 "$work/disk$i"
	kubectl create -f - >/dev/null <<-END
		{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk$i"}, "spec": {"capacity": {"storage": "4Gi"},
		"accessModes": ["ReadWriteOnce"], "hostPath": {"path": "$work/disk$i"}}}
	END
done
kubectl -n c3po create secret generic c3po-redis --from-literal=password="$(openssl rand -hex 24)" >/dev/null
chart=(deploy/helm/c3po --set image.pullPolicy=Never)
helm -n c3po install c3po "${chart[@]}" --set image.tag=v1.0.0 --wait --timeout 180s >"$work/helm.log" 2>&1 || fail "$(cat "$work/helm.log")"
said "helm install --wait: $(kubectl -n c3po get deploy c3po -o 'jsonpath={.status.readyReplicas}') coordinators and $(kubectl -n c3po get statefulset redis -o 'jsonpath={.status.readyReplicas}') nodes of Redis are ready"

# 5. A host outside joins through the service, and agents send while the chart is upgraded.
echo "$(kubectl -n c3po get service c3po -o 'jsonpath={.spec.clusterIP}') c3po.c3po.svc" >>"$work/hosts"
c3po() { env -i HOME="$work/laptop" PATH="$PATH" "$C3PO_KUBERNETES/c3po-v1.0.0" "$@"; }
mkdir "$work/laptop"
kubectl -n c3po exec deploy/c3po -- c3po invite --host laptop --at c3po.c3po.svc:8420 2>/dev/null | grep '| c3po join -$' | c3po join - >"$work/join.log" 2>&1 || fail "$(cat "$work/join.log")"
c3po register --as api >/dev/null
touch "$work/sending"
load() { # load WORKER: a message is sent by an agent of its own, because each may send few
	local n=0
	while [ -e "$work/sending" ]; do
		n=$((n + 1))
		c3po send laptop/api "m-$1-$n" --as "w$1-$n" >"$work/send-$1.log" 2>&1 && echo "m-$1-$n" >>"$work/sent" || head -n 1 "$work/send-$1.log" >>"$work/refused"
	done
}
senders=()
touch "$work/sent" "$work/refused"
for worker in 1 2 3; do load $worker & senders+=($!); done
enough() { [ "$(wc -l <"$work/sent")" -ge 20 ]; }
within 60 enough
before=$(wc -l <"$work/sent")
watch_ready() {
	local now
	while [ -e "$work/sending" ]; do
		now=$(kubectl -n c3po get deploy c3po -o 'jsonpath={.status.readyReplicas}')
		echo "${now:-0}" >>"$work/ready"
	done
}
watch_ready &
senders+=($!)
helm -n c3po upgrade c3po "${chart[@]}" --set image.tag=v1.0.1 --wait --timeout 300s >"$work/helm.log" 2>&1 || fail "$(cat "$work/helm.log")"
old_gone() { [ "$(kubectl -n c3po get pods -l app=c3po -o 'jsonpath={.items[*].spec.containers[0].image}' | tr ' ' '\n' | sort -u)" = ghcr.io/c3po-dev/c3po:v1.0.1 ]; }
within 120 old_gone
after=$(wc -l <"$work/sent")
rm "$work/sending"
wait "${senders[@]}"
[ "$after" -gt "$before" ] || fail "nothing was sent during the upgrade"
fewest=$(sort -n "$work/ready" | head -n 1)
[ "$fewest" -ge 3 ] || fail "during the upgrade only $fewest coordinators were ready"
[[ $(kubectl -n c3po exec deploy/c3po -- c3po version) == *v1.0.1* ]] || fail "another version runs than the new one"
# Everything that was accepted is read, once.
: >"$work/read"
while mail=$(c3po inbox --as api --limit 200 2>/dev/null) && ids=$(grep -o '^laptop/w[^ ]*' <<<"$mail"); do
	grep -o '| m-[0-9]*-[0-9]*' <<<"$mail" | cut -c 3- >>"$work/read"
	c3po ack --as api $ids >/dev/null
done
sort "$work/sent" >"$work/sent.sorted"
sort "$work/read" >"$work/read.sorted"
lost=$(comm -23 "$work/sent.sorted" "$work/read.sorted" | wc -l)
doubled=$(uniq -d "$work/read.sorted" | wc -l)
said "helm upgrade under load: $(wc -l <"$work/sent") accepted ($((after - before)) while it went on), $(wc -l <"$work/refused") refused, $lost lost, $doubled doubled, never fewer than $fewest ready"
sort "$work/refused" | uniq -c
[ "$lost" -eq 0 ] && [ "$doubled" -eq 0 ] || fail "mail was lost or doubled"
[ ! -s "$work/refused" ] || fail "an agent was refused during the upgrade"

# 6. Draining nodes: of three ready coordinators one may be stopped, not two.
evict() { printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"c3po"}}' "$1" | kubectl create --raw "/api/v1/namespaces/c3po/pods/$1/eviction" -f - 2>&1; }
allowed() { [ "$(kubectl -n c3po get pdb c3po -o 'jsonpath={.status.disruptionsAllowed}')" = 1 ]; }
within 60 allowed
mapfile -t names < <(kubectl -n c3po get pods -l app=c3po -o name | sed 's,^pod/,,')
first=$(evict "${names[0]}") || fail "no coordinator can be drained: $first"
if second=$(evict "${names[1]}") || [[ $second != *'disruption budget'* ]]; then fail "two coordinators can be drained at once: $second"; fi
said "one coordinator can be drained, two at once can't"
