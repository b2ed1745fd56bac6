package podrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/test/controlplane"
)

type world struct {
	*testing.T
	client kubernetes.Interface
	pods   *Runner
}

func start(t *testing.T) *world {
	controlplane.Require(t)
	plane, err := controlplane.Start(t.Context(), controlplane.Options{ControllerManager: true, Log: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	binary := filepath.Join(t.TempDir(), "web")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/web").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Setenv("HIDDEN", "of the test's own")
	pods, err := Start(t.Context(), plane.Config(), Options{Namespace: "default", Binary: binary, Node: "node"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, client: client, pods: pods}
	t.Cleanup(func() {
		if err := pods.Stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// eventually waits until nothing is wrong any more.
func (w *world) eventually(what string, wrong func(context.Context) error) {
	w.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for err := wrong(w.Context()); err != nil; err = wrong(w.Context()) {
		if time.Now().After(deadline) {
			w.Fatalf("%s: %v\n%s", what, err, w.pods.Logs())
		}
		<-ticker.C
	}
}

func decode[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

const deployment = `
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      securityContext: {runAsUser: 65532}
      containers:
        - name: web
          image: any
          args: [serve, "--bind-address=:8080", --file=/etc/web/text, ignored $(NAME)]
          env: [{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /live, port: http}, periodSeconds: 1, failureThreshold: 100}
          livenessProbe: {httpGet: {path: /live, port: http}, periodSeconds: 1, failureThreshold: 1}
          volumeMounts: [{name: files, mountPath: /etc/web}]
      volumes: [{name: files, configMap: {name: files}}]
`

// TestDeployment: Pods wait for what they mount, get ready by their probes, have
// their account's token and nothing of this process, start again when they are
// unwell, and end well when they are deleted.
func TestDeployment(t *testing.T) {
	w := start(t)
	web := decode[appsv1.Deployment](t, deployment)
	if _, err := w.client.AppsV1().Deployments("default").Create(t.Context(), web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("a Pod that waits for its ConfigMap", func(ctx context.Context) error {
		for _, p := range w.list(ctx) {
			if s := p.Status.ContainerStatuses; len(s) > 0 && s[0].State.Waiting != nil && strings.Contains(s[0].State.Waiting.Message, `"files" not found`) {
				return nil
			}
		}
		return fmt.Errorf("no Pod says so")
	})
	files := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "files"}, Data: map[string]string{"text": "hello"}}
	if _, err := w.client.CoreV1().ConfigMaps("default").Create(t.Context(), files, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.available(2)
	one := w.list(t.Context())[0]
	user := os.Geteuid()
	if user == 0 {
		user = 65532
	}
	want := fmt.Sprintf("hello %s user %d wrote false ", one.Name, user) + `secrets is forbidden: User "system:serviceaccount:default:default"`
	if got := strings.Join(strings.Fields(w.get(one, "/file")), " "); !strings.HasPrefix(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	w.get(one, "/break")
	w.eventually("a second start", func(ctx context.Context) error {
		for _, p := range w.list(ctx) {
			if p.Name == one.Name && p.Status.ContainerStatuses[0].RestartCount == 1 && isReady(p) {
				return nil
			}
		}
		return fmt.Errorf("%s has not been started again", one.Name)
	})
	if err := w.client.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the end of the Pods", func(ctx context.Context) error {
		if left := len(w.list(ctx)); left > 0 {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	})
	if count := strings.Count(w.pods.Logs(), "ended well"); count != 3 { // one of them twice
		t.Errorf("%d processes ended well:\n%s", count, w.pods.Logs())
	}
}

func TestJobs(t *testing.T) {
	w := start(t)
	for name, arguments := range map[string][]string{"good": {"exit"}, "bad": {"exit", "with", "2"}} {
		zero := int32(0)
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{BackoffLimit: &zero, Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "it", Image: "any", Args: arguments}}},
		}}}
		if _, err := w.client.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually("the ends of the Jobs", func(ctx context.Context) error {
		jobs, err := w.client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		got := map[string]string{}
		for _, job := range jobs.Items {
			for _, condition := range job.Status.Conditions {
				got[job.Name] = string(condition.Type)
			}
		}
		if got["good"] == string(batchv1.JobComplete) && got["bad"] == string(batchv1.JobFailed) {
			return nil
		}
		text, _ := json.Marshal(got)
		return fmt.Errorf("%s", text)
	})
}

func (w *world) list(ctx context.Context) []corev1.Pod {
	w.Helper()
	pods, err := w.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return pods.Items
}

func (w *world) available(want int32) {
	w.Helper()
	w.eventually("the Deployment", func(ctx context.Context) error {
		found, err := w.client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		if err == nil && found.Status.AvailableReplicas != want {
			err = fmt.Errorf("%d Pods are available", found.Status.AvailableReplicas)
		}
		return err
	})
}

func (w *world) get(p corev1.Pod, path string) string {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://"+net.JoinHostPort(p.Status.PodIP, "8080")+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}
