package chart

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/test/controlplane"
)

// onNodes begins a policy that decides about nodes.
const onNodes = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: NAME}\nspec:\n  for: {apiVersion: v1, kind: Node}\n"

// attacks are texts that somebody who may write the ConfigMaps of the controller's
// namespace, and nothing else, gives to policies, by the names of their sets.
var attacks = map[string]string{
	"root-on-a-node": onNodes + `  rules:
    - name: own the node
      do:
        - create:
            apiVersion: v1
            kind: Pod
            metadata: {namespace: victim, name: "own-${key.name}"}
            spec:
              nodeName: ${key.name}
              tolerations: [{operator: Exists}]
              containers:
                - name: c
                  image: attacker/rootkit
                  env: [{name: STOLEN, valueFrom: {secretKeyRef: {name: db, key: password}}}]
                  volumeMounts: [{name: h, mountPath: /host}]
              volumes: [{name: h, hostPath: {path: /}}, {name: s, secret: {secretName: db}}]
`,
	"computed-pod": onNodes + `  variables:
    - {name: spec, value: {containers: [{name: c, image: attacker/x}], hostPID: true}}
  rules:
    - name: own the node
      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: victim, name: own}, spec: "${variables.spec}"}}]
`,
	"steal-in-an-annotation": onNodes + `  inputs: [{name: ca, apiVersion: v1, kind: Secret, get: '{"namespace": "edict-system", "name": "edict-webhook"}'}]
  rules:
    - name: steal
      do:
        - annotations: {set: {stolen: '${json.encode(inputs.ca.data)}'}}
        - log: {level: info, message: 'stolen ${json.encode(inputs.ca.data)}'}
        - event: {type: Warning, reason: Stolen, message: '${inputs.ca.data["tls.key"]}'}
`,
	"another-image": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: NAME}
spec:
  for: {apiVersion: apps/v1, kind: Deployment, namespaces: [victim]}
  rules:
    - name: image
      do: [{patch: {list: spec.template.spec.containers, by: {name: nginx}, entry: {image: attacker/x}}}]
`,
	"drain": onNodes + `  rules:
    - name: taint
      do: [{patch: {value: {spec: {unschedulable: true}}}}]
`,
	"finalizers": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: NAME}
spec:
  for: {apiVersion: v1, kind: Pod, namespaces: [victim]}
  variables: [{name: f, expression: 'object.kind == "Pod" ? "finalizers" : "x"'}]
  rules:
    - name: let go
      do: [{patch: {value: {metadata: {"${variables.f}": null}}}}]
    - name: delete
      do: [{delete: {}}]
`,
	"at-home": onNodes + `  rules:
    - name: home
      do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: "${'edict-' + 'system'}", name: home}, spec: {containers: [{name: c, image: x}]}}}]
`,
	"rights": onNodes + `  rules:
    - name: bind
      do:
        - apply:
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRoleBinding
            metadata: {name: evil}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
            subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: editor}]
`,
	"webhooks": onNodes + `  inputs: [{name: w, apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, get: '"edict"'}]
  rules:
    - name: off
      do: [{patch: {of: inputs.w, value: {webhooks: null}}}]
`,
	"privileges": onNodes + `  rules:
    - name: allow
      do: [{labels: {of: {apiVersion: v1, kind: Namespace, name: victim}, set: {pod-security.kubernetes.io/enforce: privileged}}}]
`,
}

// takeover is the policy with the widest allowances, as an attacker would have it.
const takeover = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: kmm-node-modules}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: become admin
      do:
        - create:
            apiVersion: v1
            kind: Pod
            metadata: {namespace: victim, name: "root-${key.name}"}
            spec:
              serviceAccountName: admin
              containers: [{name: c, image: attacker/x, securityContext: {privileged: true}}]
`

// TestAnEditorOfConfigMaps may write the ConfigMaps of the controller's
// namespace and nothing else. He gets no Pod, no Secret, no right and no field
// that decides what becomes of an object: not by the text of sets whose accounts
// may do everything and that have no allowances, and not by that of a pinned set
// that has some.
func TestAnEditorOfConfigMaps(t *testing.T) {
	controlplane.RequireLong(t)
	i := newInstallation(t, release+"-webhook")
	i.victims()
	editor := i.editor()
	i.helm("install", release, chart, "--wait", "--timeout", "2m", "--values", i.attacked(), "--set", "replicas=1,defaultMode=Enforce,webhook.url=https://localhost:"+i.port+"/validate")
	before := i.state()
	for name, text := range attacks {
		i.write(editor, "evil-"+name, strings.ReplaceAll(text, "NAME", "evil-"+name))
	}
	i.write(editor, "kmm-node-modules", takeover)
	for name := range attacks {
		i.judged("evil-" + name)
	}
	i.judged("kmm-node-modules")
	if err := i.create("editor", namespace); !apierrors.IsForbidden(err) {
		t.Errorf("an editor of ConfigMaps makes a set: %v", err)
	}
	time.Sleep(2 * time.Second) // whatever was let through has acted by then
	if diff := difference(before, i.state()); diff != "" {
		t.Errorf("an editor of ConfigMaps has changed\n%s", diff)
	}
	i.noSecret()
}

// victims makes what attackers want.
func (i *installation) victims() {
	i.t.Helper()
	ctx, core := i.t.Context(), i.client.CoreV1()
	i.must(core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "victim"}}, metav1.CreateOptions{}))
	i.must(core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, metav1.CreateOptions{}))
	i.must(core.Secrets("victim").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}, StringData: map[string]string{"password": "canary-5d1f"}}, metav1.CreateOptions{}))
	containers := corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx"}}}
	i.must(core.Pods("victim").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "prey", Finalizers: []string{"example.com/hold"}}, Spec: containers}, metav1.CreateOptions{}))
	labels := map[string]string{"app": "web"}
	i.must(i.client.AppsV1().Deployments("victim").Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: containers},
	}}, metav1.CreateOptions{}))
}

func (i *installation) must(_ any, err error) {
	i.t.Helper()
	if err != nil {
		i.t.Fatal(err)
	}
}

// editor returns a client of a user who may write the ConfigMaps of the namespace.
func (i *installation) editor() kubernetes.Interface {
	i.t.Helper()
	rules := i.client.RbacV1()
	i.must(rules.Roles(namespace).Create(i.t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "editor"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}}, metav1.CreateOptions{}))
	i.must(rules.RoleBindings(namespace).Create(i.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "editor"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "editor"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "editor"}},
	}, metav1.CreateOptions{}))
	config := rest.CopyConfig(i.plane.Config())
	config.Impersonate.UserName = "editor"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		i.t.Fatal(err)
	}
	return client
}

// attacked writes values with a harmless policy for each attack, whose account may do everything,
// and returns the name of the file.
func (i *installation) attacked() string {
	i.t.Helper()
	extra := map[string]any{}
	for name := range attacks {
		text := strings.ReplaceAll(onNodes, "NAME", "evil-"+name) + "  rules: [{name: none, when: 'false', do: [{labels: {set: {a: b}}}]}]\n"
		extra["evil-"+name] = map[string]any{"text": text, "extraRules": []any{map[string]any{"apiGroups": []string{"*"}, "resources": []string{"*"}, "verbs": []string{"*"}}}}
	}
	text, err := yaml.Marshal(map[string]any{"extraPolicies": extra})
	i.must(nil, err)
	file := filepath.Join(i.t.TempDir(), "values.yaml")
	i.must(nil, os.WriteFile(file, text, 0o600))
	return file
}

// write replaces the text of a set as the editor. That the webhook refuses it is as good.
func (i *installation) write(editor kubernetes.Interface, set, text string) {
	i.t.Helper()
	body, err := json.Marshal(map[string]any{"data": map[string]string{set + ".yaml": text}})
	i.must(nil, err)
	if _, err := editor.CoreV1().ConfigMaps(namespace).Patch(i.t.Context(), release+"-"+set, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		i.t.Logf("%s: %v", set, err)
	}
}

// judged waits until the controller says of a set what became of its text.
func (i *installation) judged(set string) {
	i.t.Helper()
	i.eventually("what became of "+set, func(ctx context.Context) string {
		accepted, problem := i.condition(ctx, set, "Accepted")
		if problem == "" {
			i.t.Logf("%s: %s: %s", set, accepted.Reason, accepted.Message)
		}
		return problem
	})
}

// state is what an attack would change: everything but what the controller says
// about policies.
func (i *installation) state() map[string]string {
	i.t.Helper()
	ctx, core := i.t.Context(), i.client.CoreV1()
	out := map[string]string{}
	add := func(list any, err error) {
		i.t.Helper()
		i.must(nil, err)
		text, err := json.Marshal(list)
		i.must(nil, err)
		var decoded struct{ Items []map[string]any }
		i.must(nil, json.Unmarshal(text, &decoded))
		for _, item := range decoded.Items {
			metadata, _ := item["metadata"].(map[string]any)
			delete(metadata, "managedFields")
			delete(metadata, "resourceVersion")
			text, err := json.Marshal(item)
			i.must(nil, err)
			out[fmt.Sprintf("%T %v/%v", list, metadata["namespace"], metadata["name"])] = string(text)
		}
	}
	for _, in := range []string{"victim", "kube-system"} {
		add(core.Pods(in).List(ctx, metav1.ListOptions{}))
		add(i.client.AppsV1().Deployments(in).List(ctx, metav1.ListOptions{}))
	}
	if _, err := core.Pods(namespace).Get(ctx, "home", metav1.GetOptions{}); err == nil {
		out["home"] = "a Pod in the controller's namespace"
	}
	add(core.Nodes().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=n1"}))
	add(core.Namespaces().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=victim"}))
	add(i.client.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=evil"}))
	hooks, err := i.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, namespace+"-"+release, metav1.GetOptions{})
	i.must(nil, err)
	out["webhooks"] = fmt.Sprint(len(hooks.Webhooks))
	return out
}

func difference(before, after map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if before[key] != after[key] {
			out = append(out, fmt.Sprintf("%s\n  was %s\n  is  %s", key, before[key], after[key]))
		}
	}
	return strings.Join(out, "\n")
}

// noSecret looks for the values of Secrets wherever a policy can write.
func (i *installation) noSecret() {
	i.t.Helper()
	ctx, core := i.t.Context(), i.client.CoreV1()
	found, err := core.Secrets(namespace).Get(ctx, release+"-webhook", metav1.GetOptions{})
	i.must(nil, err)
	events, err := core.Events("").List(ctx, metav1.ListOptions{})
	i.must(nil, err)
	maps, err := core.ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	i.must(nil, err)
	places := map[string]string{"the Pods' logs": i.pods.Logs(), "Events": fmt.Sprint(events.Items), "ConfigMaps": fmt.Sprint(maps.Items)}
	key := found.Data["tls.key"]
	if len(key) == 0 {
		i.t.Fatal("the webhook's Secret has no key to look for")
	}
	for place, text := range places {
		for _, secret := range []string{string(key[40:80]), base64.StdEncoding.EncodeToString(key)[:60], "canary-5d1f", base64.StdEncoding.EncodeToString([]byte("canary-5d1f"))} {
			if strings.Contains(text, secret) {
				i.t.Errorf("%s have the value of a Secret", place)
			}
		}
	}
}
