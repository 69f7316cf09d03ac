// Package manifests holds the Helm chart, and the manifests written from it, against
// Helm's own engine and the types of Kubernetes itself.
package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// objects are those of every file, decoded so that an unknown or doubled field is an error.
func objects(t *testing.T) map[string]runtime.Object {
	t.Helper()
	files, err := filepath.Glob("../../../deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return decode(t, texts)
}

// decode reads the objects of several files.
func decode(t *testing.T, files map[string]string) map[string]runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	all := map[string]runtime.Object{}
	for file, text := range files {
		for i, document := range strings.Split(text, "\n---\n") {
			object, kind, err := decoder.Decode([]byte(document), nil, nil)
			if err != nil {
				t.Errorf("%s, document %d: %v", file, i+1, err)
				continue
			}
			named, _ := object.(interface{ GetName() string })
			name := named.GetName()
			if kind.Kind == "Job" {
				name = name[:strings.LastIndexByte(name, '-')] // what follows is a hash
			}
			all[kind.Kind+"/"+name] = object
		}
	}
	return all
}

func TestTheManifestsAreWhatKubernetesKnows(t *testing.T) {
	t.Parallel()
	all := objects(t)
	for _, want := range []string{
		"Deployment/c3po", "Service/c3po", "PodDisruptionBudget/c3po", "NetworkPolicy/c3po",
		"StatefulSet/redis", "Service/redis", "Job/redis-cluster", "PodDisruptionBudget/redis", "NetworkPolicy/redis",
	} {
		if all[want] == nil {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestEveryPodHasNoMoreRightsThanItNeeds(t *testing.T) {
	t.Parallel()
	all := objects(t)
	pods := map[string]corev1.PodSpec{
		"Deployment/c3po":   all["Deployment/c3po"].(*appsv1.Deployment).Spec.Template.Spec,
		"StatefulSet/redis": all["StatefulSet/redis"].(*appsv1.StatefulSet).Spec.Template.Spec,
		"Job/redis-cluster": all["Job/redis-cluster"].(*batchv1.Job).Spec.Template.Spec,
	}
	for name, pod := range pods {
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s is given the token of an account", name)
		}
		if pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot {
			t.Errorf("%s may run as root", name)
		}
		for _, c := range pod.Containers {
			s := c.SecurityContext
			if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
				s.Capabilities == nil || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("container %s of %s has rights it does not need", c.Name, name)
			}
		}
	}
}

func TestEveryPodIsFoundByWhatSelectsIt(t *testing.T) {
	t.Parallel()
	all := objects(t)
	coordinators := all["Deployment/c3po"].(*appsv1.Deployment).Spec.Template
	ports := map[string]bool{}
	for _, p := range coordinators.Spec.Containers[0].Ports {
		ports[p.Name] = true
	}
	service := all["Service/c3po"].(*corev1.Service)
	for key, value := range service.Spec.Selector {
		if coordinators.Labels[key] != value {
			t.Errorf("the service looks for %s=%s, the pods have %v", key, value, coordinators.Labels)
		}
	}
	container := coordinators.Spec.Containers[0]
	for what, port := range map[string]string{
		"the service":         service.Spec.Ports[0].TargetPort.StrVal,
		"the liveness probe":  container.LivenessProbe.HTTPGet.Port.StrVal,
		"the readiness probe": container.ReadinessProbe.HTTPGet.Port.StrVal,
	} {
		if !ports[port] {
			t.Errorf("%s names the port %q, the container has %v", what, port, ports)
		}
	}
	budget := all["PodDisruptionBudget/c3po"].(*policyv1.PodDisruptionBudget)
	if budget.Spec.MinAvailable.IntValue() >= int(*all["Deployment/c3po"].(*appsv1.Deployment).Spec.Replicas) {
		t.Error("no pod may ever be stopped")
	}
}
