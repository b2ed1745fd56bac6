package chart

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// wantStatus waits until the ConfigMap of a policy says what became of it.
func (i *installation) wantStatus(policy, status, reason string) {
	i.t.Helper()
	i.wantStatusOf(release+"-"+policy, status, reason)
}

func (i *installation) wantStatusOf(name, status, reason string) {
	i.t.Helper()
	i.eventually("the status of "+name, func(ctx context.Context) string {
		found, err := i.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		notes := found.GetAnnotations()
		if notes["edict.dev/status"] != status || !strings.Contains(notes["edict.dev/error"], reason) {
			return "want " + status + " " + reason + ", got " + notes["edict.dev/status"] + " " + notes["edict.dev/error"]
		}
		return ""
	})
}

// wantInstalled wants the status of policies to be that of the controller as it is installed
// now.
func (i *installation) wantInstalled(policies ...string) {
	i.t.Helper()
	const installation = "edict.dev/installation"
	for _, policy := range policies {
		i.eventually("the installation in the status of "+policy, func(ctx context.Context) string {
			shown, err := i.client.CoreV1().ConfigMaps(namespace).Get(ctx, release+"-allowances", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			noted, err := i.client.CoreV1().ConfigMaps(namespace).Get(ctx, release+"-"+policy, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if want, got := shown.Annotations[installation], noted.Annotations[installation]; want == "" || got != want {
				return "want " + want + ", got " + got
			}
			return ""
		})
	}
}

// wantNoted runs the command of the notes that shows how the policies are.
func (i *installation) wantNoted(notes string) {
	i.t.Helper()
	for line := range strings.Lines(notes) {
		command, found := strings.CutPrefix(strings.TrimSpace(line), "kubectl -n "+namespace+" get configmap ")
		if !found {
			continue
		}
		script := fmt.Sprintf("%s --kubeconfig %s -n %s get configmap %s", i.plane.Kubectl(), i.plane.Kubeconfig(), namespace, command)
		output, err := exec.CommandContext(i.t.Context(), "sh", "-c", script).CombinedOutput()
		if err != nil || !regexp.MustCompile(`(?m)^edict-agent-node-label +Active +[0-9a-f]{12} +<none>$`).Match(output) {
			i.t.Errorf("%s\n%s %v", script, output, err)
		}
		return
	}
	i.t.Errorf("the notes do not say how to look at the policies:\n%s", notes)
}

// wantRefused waits until an edit is refused by the webhook: the API server
// hears of its authority a moment after the Pods are ready.
func (i *installation) wantRefused(name string, data map[string]string, want string) {
	i.t.Helper()
	before := i.configMap(name)
	i.eventually("the refusal of an edit of "+name, func(context.Context) string {
		err := i.editConfigMap(name, data)
		switch {
		case err == nil:
			if err := i.editConfigMap(name, before); err != nil {
				i.t.Fatal(err)
			}
			return "it was taken"
		case !strings.Contains(err.Error(), ".edict.dev") || !strings.Contains(err.Error(), want):
			return err.Error()
		}
		return ""
	})
}

// wantPool waits for the nodes of the pool, each with its zone, and for the
// label that they get.
func (i *installation) wantPool(want string) {
	i.t.Helper()
	pool, node := &object{}, &object{}
	if err := yaml.Unmarshal([]byte("{apiVersion: storage.deckhouse.io/v1alpha1, kind: ReplicatedStoragePool}"), &pool.Object); err != nil {
		i.t.Fatal(err)
	}
	node.SetAPIVersion("v1")
	node.SetKind("Node")
	i.eventually("the eligible nodes", func(ctx context.Context) string {
		found := i.read(ctx, pool, "data")
		list, _, err := unstructured.NestedSlice(found.Object, "status", "eligibleNodes")
		if err != nil {
			return err.Error()
		}
		got := ""
		for _, entry := range list {
			fields, _ := entry.(map[string]any)
			got = strings.TrimSpace(fmt.Sprint(got, " ", fields["nodeName"], " ", fields["zoneName"]))
		}
		if got != want {
			return fmt.Sprintf("want %q, got %q", want, got)
		}
		if _, labelled := i.read(ctx, node, "node-a").GetLabels()["storage.deckhouse.io/sds-replicated-volume-node"]; !labelled {
			return "node-a has no label"
		}
		return ""
	})
}

// wantPlaced waits until a replica has a node, which the extender was asked for.
func (i *installation) wantPlaced(name, want string) {
	i.t.Helper()
	replica := &object{}
	replica.SetAPIVersion("storage.deckhouse.io/v1alpha1")
	replica.SetKind("ReplicatedVolumeReplica")
	i.eventually("the place of "+name, func(ctx context.Context) string {
		found := i.read(ctx, replica, name)
		if got, _, _ := unstructured.NestedString(found.Object, "spec", "nodeName"); got != want {
			return fmt.Sprintf("want %q, got %q, %v", want, got, found.Object["status"])
		}
		return ""
	})
}

// wantNothing looks for what is left of objects.
func (i *installation) wantNothing(installed []*object) {
	i.t.Helper()
	for _, one := range installed {
		api, err := i.api(one)
		if err != nil {
			i.t.Fatal(err)
		}
		if _, err := api.Get(i.t.Context(), one.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			i.t.Errorf("%s %s is left behind (%v)", one.GetKind(), one.GetName(), err)
		}
	}
}

// gone waits until an object is not there any more.
func (i *installation) gone(kind, name string) {
	i.t.Helper()
	one := &object{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": namespace}}}
	api, err := i.api(one)
	if err != nil {
		i.t.Fatal(err)
	}
	i.eventually(kind+" "+name, func(ctx context.Context) string {
		if _, err := api.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("it is still there (%v)", err)
		}
		return ""
	})
}

func (i *installation) read(ctx context.Context, kind *object, name string) *object {
	i.t.Helper()
	api, err := i.api(kind)
	if err != nil {
		i.t.Fatal(err)
	}
	found, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return found
}
