package chart

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/api/v1alpha1"
)

// wantReady waits until the condition Ready of a set has a reason, and a part of a message, for
// the spec and the text that are there now.
func (i *installation) wantReady(set, reason, message string) {
	i.t.Helper()
	i.eventually("the condition Ready of "+set, func(ctx context.Context) string {
		ready, problem := i.condition(ctx, set, "Ready")
		if problem == "" && (ready.Reason != reason || !strings.Contains(ready.Message, message)) {
			problem = "want " + reason + " " + message + ", got " + ready.Reason + " " + ready.Message
		}
		return problem
	})
}

// condition returns a condition of a set, or why there is none yet for the spec and the text that
// are there now.
func (i *installation) condition(ctx context.Context, name, kind string) (out metav1.Condition, problem string) {
	found, err := i.sets("", namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return out, err.Error()
	}
	set := &v1alpha1.PolicySet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, set); err != nil {
		return out, err.Error()
	}
	if set.Status.ObservedGeneration != set.Generation {
		return out, fmt.Sprintf("generation %d was observed, not %d", set.Status.ObservedGeneration, set.Generation)
	}
	text, err := i.client.CoreV1().ConfigMaps(namespace).Get(ctx, set.Spec.Source.ConfigMap.Name, metav1.GetOptions{})
	if err == nil && (set.Status.Source == nil || set.Status.Source.ResourceVersion != text.ResourceVersion) {
		return out, "another text was observed than version " + text.ResourceVersion
	}
	if one := meta.FindStatusCondition(set.Status.Conditions, kind); one != nil {
		return *one, ""
	}
	return out, "it has no condition " + kind
}

// wantNoted runs the command of the notes that shows how the policies are.
func (i *installation) wantNoted(notes string) {
	i.t.Helper()
	const command = "kubectl get policysets -n " + namespace
	if !strings.Contains(notes, command) {
		i.t.Errorf("the notes do not say how to look at the policies:\n%s", notes)
	}
	output, err := exec.CommandContext(i.t.Context(), i.plane.Kubectl(), "--kubeconfig", i.plane.Kubeconfig(), "get", "policysets", "-n", namespace).CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^agent-node-label +True +Enforcing +Enforce +[0-9]+ +0 +[0-9a-f]+ `).Match(output) {
		i.t.Errorf("%s\n%s %v", command, output, err)
	}
}

// wantRefused waits until an edit is refused by the webhook, which the API server
// hears of a moment after the Pods are ready; until then it is undone.
func (i *installation) wantRefused(what string, edit, undo func() error, want string) {
	i.t.Helper()
	i.eventually("the refusal of "+what, func(context.Context) string {
		err := edit()
		switch {
		case err == nil:
			if err := undo(); err != nil {
				i.t.Fatal(err)
			}
			return "it was taken"
		case !strings.Contains(err.Error(), ".edict.dev") || !strings.Contains(err.Error(), want):
			return err.Error()
		}
		return ""
	})
}

// wantTextRefused waits until the webhook refuses what is no policy.
func (i *installation) wantTextRefused(configMap string) {
	i.t.Helper()
	before := i.configMap(configMap)
	i.wantRefused("an edit of "+configMap, func() error {
		return i.editConfigMap(configMap, map[string]string{"agent-node-label.yaml": "kind: Policy\n"})
	}, func() error { return i.editConfigMap(configMap, before) }, "agent-node-label.yaml:1:1")
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
