package manifests

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write deploy/kubernetes from the chart")

const chartFolder = "../../../deploy/helm/c3po"

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render is what `helm template RELEASE deploy/helm/c3po --namespace c3po` prints with
// these values, by the name of the template.
func render(c *chart.Chart, release, values string) (map[string]string, error) {
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		return nil, err
	}
	known := *chartutil.DefaultCapabilities
	known.KubeVersion = chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: release, Namespace: "c3po", Revision: 1, IsInstall: true}, &known)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return nil, err
	}
	written := map[string]string{}
	for name, text := range files {
		if filepath.Ext(name) == ".yaml" && strings.TrimSpace(text) != "" {
			written[filepath.Base(name)] = strings.TrimSpace(text) + "\n"
		}
	}
	return written, nil
}

// headers say what a person does with a manifest that was written from the chart.
var headers = map[string]string{
	"coordinator.yaml": `# Three coordinators on the Redis Cluster of redis.yaml. They keep nothing
# themselves, so any of them can be stopped at any time:
#
#     kubectl create namespace c3po
#     kubectl -n c3po create secret generic c3po-redis --from-literal=password="$(openssl rand -hex 24)"
#     kubectl -n c3po apply -f redis.yaml -f coordinator.yaml
#     kubectl -n c3po exec deploy/c3po -- c3po invite --host laptop --at c3po.example:8420
#
# Written from deploy/helm/c3po by make -C test manifests.
`,
	"redis.yaml": `# A Redis Cluster of three masters with a replica each, for coordinator.yaml. Every
# write is on disk before it is acknowledged; a failover can still lose the last
# writes, which the coordinators find and say (docs/operations/operations.md).
# Written from deploy/helm/c3po by make -C test manifests.
`,
}

func TestThePlainManifestsAreWhatTheChartSays(t *testing.T) {
	files, err := render(load(t), "c3po", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(headers) {
		t.Errorf("the chart has %d templates, and %d have a header here", len(files), len(headers))
	}
	for name, text := range files {
		path := filepath.Join("../../../deploy/kubernetes", name)
		want := headers[name] + text
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != want {
			t.Errorf("%s is not what the chart says: run make -C test manifests (%v)", path, err)
		}
	}
}

func TestHelmFindsNothingWrongWithTheChart(t *testing.T) {
	t.Parallel()
	kube := chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}
	for _, values := range []map[string]any{nil, {"replicas": 1}, {"redis": map[string]any{"enabled": false, "url": "redis://redis.example:6379"}}} {
		for _, message := range lint.AllWithKubeVersion(chartFolder, values, "c3po", &kube).Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("with %v: %s", values, message)
			}
		}
	}
}

func TestEveryWayToInstallTheChartIsKnownToKubernetes(t *testing.T) {
	t.Parallel()
	c := load(t)
	for name, one := range map[string]struct {
		release, values string
		want            int // objects
	}{
		"as it is":             {"c3po", "", 9},
		"another name":         {"mail", "", 9},
		"one coordinator":      {"c3po", "replicas: 1", 9},
		"a Redis elsewhere":    {"c3po", "redis: {enabled: false, url: 'rediss://:$(REDIS_PASSWORD)@redis.example:6380'}", 4},
		"no network policies":  {"c3po", "networkPolicy: {enabled: false}", 7},
		"a digest and a port":  {"c3po", "{image: {digest: 'sha256:" + strings.Repeat("0", 64) + "'}, port: 9443, names: [c3po.example], service: {type: LoadBalancer, annotations: {a: b}}}", 9},
		"five masters and two": {"c3po", "redis: {masters: 5, replicasPerMaster: 2, storageClass: fast}", 9},
		"more of everything":   {"c3po", "{env: [{name: C3PO_LOG_LEVEL, value: debug}], networkPolicy: {egress: [{to: [{ipBlock: {cidr: 192.0.2.7/32}}], ports: [{port: 443, protocol: TCP}]}]}}", 9},
	} {
		files, err := render(c, one.release, one.values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if all := decode(t, files); len(all) != one.want {
			t.Errorf("%s: %d objects, want %d", name, len(all), one.want)
		}
	}
}

func TestTheChartRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	c := load(t)
	for values, why := range map[string]string{
		"redis: {enabled: false}":                       "redis.url says where Redis is",
		"{replicas: 3, minAvailable: 3}":                "no node can ever be drained",
		"image: {repository: c3po}":                     "repository",
		"redis: {masters: 2}":                           "masters",
		"replica: 3":                                    "replica",
		"port: 443":                                     "port",
		"image: {digest: latest}":                       "digest",
		"redis: {enabled: false, url: 'redis.local:1'}": "url",
		"{redis: {image: 'redis:7-alpine'}}":            "image",
	} {
		if _, err := render(c, "c3po", values); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want a word about %q", values, err, why)
		}
	}
}

// A node that has once pulled latest must not keep it. Kubernetes knows which tags move
// if nobody says otherwise.
func TestTheNewestReleaseIsNotTheOneANodeHas(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{"": "ghcr.io/c3po-dev/c3po:latest ", "image: {tag: v1.2.3, pullPolicy: Never}": "ghcr.io/c3po-dev/c3po:v1.2.3 Never"} {
		files, err := render(load(t), "c3po", values)
		if err != nil {
			t.Fatal(err)
		}
		container := decode(t, files)["Deployment/c3po"].(*appsv1.Deployment).Spec.Template.Spec.Containers[0]
		if got := container.Image + " " + string(container.ImagePullPolicy); got != want {
			t.Errorf("%q: the image is %q, want %q", values, got, want)
		}
	}
}

// A coordinator that stops is missed by nobody only if another is ready first.
func TestAnUpgradeNeverHasFewerCoordinators(t *testing.T) {
	t.Parallel()
	files, err := render(load(t), "mail", "replicas: 5")
	if err != nil {
		t.Fatal(err)
	}
	all := decode(t, files)
	deployment := all["Deployment/mail"].(*appsv1.Deployment)
	rolling := deployment.Spec.Strategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable.IntValue() != 0 || rolling.MaxSurge.IntValue() < 1 {
		t.Errorf("an upgrade stops coordinators before others are ready: %v", rolling)
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	if container.ReadinessProbe == nil || container.LivenessProbe == nil || container.StartupProbe == nil {
		t.Error("nobody asks a coordinator how it is")
	}
	if container.Lifecycle == nil || container.Lifecycle.PreStop == nil || container.Lifecycle.PreStop.Sleep == nil ||
		container.Lifecycle.PreStop.Sleep.Seconds >= *deployment.Spec.Template.Spec.TerminationGracePeriodSeconds {
		t.Error("a coordinator stops while connections still come in")
	}
	budget := all["PodDisruptionBudget/mail"].(*policyv1.PodDisruptionBudget)
	if least := budget.Spec.MinAvailable.IntValue(); least < 1 || least >= int(*deployment.Spec.Replicas) {
		t.Errorf("of %d coordinators %d must stay", *deployment.Spec.Replicas, least)
	}
	redis := all["StatefulSet/mail-redis"].(*appsv1.StatefulSet)
	if *redis.Spec.Replicas != 6 {
		t.Errorf("Redis has %d nodes, want three masters with a replica each", *redis.Spec.Replicas)
	}
	// Who may reach Redis is who is there, by the same labels.
	admitted := all["NetworkPolicy/mail-redis"].(*networkingv1.NetworkPolicy).Spec.Ingress[0].From[0].PodSelector.MatchExpressions[0].Values
	for _, app := range []string{deployment.Spec.Template.Labels["app"], redis.Spec.Template.Labels["app"], "mail-redis-cluster"} {
		if !strings.Contains(" "+strings.Join(admitted, " ")+" ", " "+app+" ") {
			t.Errorf("%s cannot reach Redis: %v", app, admitted)
		}
	}
}
