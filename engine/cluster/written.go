package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/world"
)

// Written lists the writes of policies to an object.
type Written struct {
	Object record.ObjectDocument `json:"object"`
	// Missing reports whether it does not exist.
	Missing bool `json:"missing,omitempty"`
	// Managers are the policies that its managedFields name.
	Managers []Manager `json:"managers"`
	// Writes come from the log and from the records of the leader, the newest first.
	Writes []record.WriteDocument `json:"writes"`
	// LeftOut is the number of writes of each policy that have no line in the log.
	LeftOut map[string]int `json:"leftOut,omitempty"`
}

// Manager is a policy that has set fields of an object.
type Manager struct {
	Policy string       `json:"policy"`
	At     *metav1.Time `json:"at,omitempty"`
	Fields []string     `json:"fields"`
}

// maxWrites is how many writes are shown.
const maxWrites = 10

// FindWriters returns the policies in the managedFields of an object, TYPE/NAME as for
// kubectl. It returns none for an object that does not exist.
func FindWriters(ctx context.Context, config *rest.Config, client kubernetes.Interface, arg, namespace string) (*Written, error) {
	typ, name, _ := strings.Cut(arg, "/")
	mapping, err := mappingOf(client.Discovery(), typ)
	if err != nil {
		return nil, fmt.Errorf("the cluster does not serve the type %q of %s: %w; if that is a policy, name the object, too", typ, arg, err)
	}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	objects, err := Metadata(config, transport)
	if err != nil {
		return nil, err
	}
	kind := mapping.GroupVersionKind
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		namespace = ""
	}
	doc := &Written{LeftOut: map[string]int{}, Object: record.ObjectDocument{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: namespace, Name: name}}
	live, err := objects.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		doc.Missing = true
		return doc, nil // the log may know of it
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range live.ManagedFields {
		if policy, ok := strings.CutPrefix(entry.Manager, world.ManagerPrefix); ok {
			doc.Managers = append(doc.Managers, Manager{Policy: policy, At: entry.Time, Fields: fieldsOf(entry)})
		}
	}
	return doc, nil
}

// mappingOf finds a type of any group by the names that kubectl takes.
func mappingOf(client discovery.DiscoveryInterface, typ string) (*meta.RESTMapping, error) {
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), client, nil)
	kind, err := mapper.KindFor(kschema.ParseGroupResource(typ).WithVersion(""))
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// fieldsOf returns the paths of the fields of an entry.
func fieldsOf(entry metav1.ManagedFieldsEntry) (out []string) {
	var set fieldpath.Set
	if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return nil
	}
	set.Leaves().Iterate(func(p fieldpath.Path) { out = append(out, strings.TrimPrefix(p.String(), ".")) })
	return out
}

// Add adds writes. They replace those of the same reconciliation and verb, and only the
// newest maxWrites are kept.
func (w *Written) Add(writes []record.WriteDocument) {
	w.Writes = slices.DeleteFunc(w.Writes, func(old record.WriteDocument) bool {
		return slices.ContainsFunc(writes, func(one record.WriteDocument) bool { return one.Reconcile == old.Reconcile && one.Verb == old.Verb })
	})
	w.Writes = append(w.Writes, writes...)
	slices.SortStableFunc(w.Writes, func(a, b record.WriteDocument) int { return b.At.Compare(a.At) })
	w.Writes = w.Writes[:min(len(w.Writes), maxWrites)]
}

// ReadLog adds the writes of the object in a log of the controller, and the number of
// writes that the log leaves out.
func (w *Written) ReadLog(log io.Reader) error {
	var found []record.WriteDocument
	defer func() { w.Add(found) }()
	lines := bufio.NewReader(log)
	for {
		text, err := lines.ReadBytes('\n')
		var line struct {
			Message string `json:"msg"`
			Writes  int    `json:"writes"`
			record.WriteDocument
		}
		if bytes.Contains(text, []byte(`"msg":"wrote`)) && json.Unmarshal(text, &line) == nil {
			switch {
			case line.Message == observe.LeftOut:
				w.LeftOut[line.Policy] += line.Writes
			case line.Target.Same(w.Object):
				found = append(found, line.WriteDocument)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// controllerContainer is the name of the container of the controller, by which its Pods are
// found.
const controllerContainer = "edict"

// ReadPodLogs is ReadLog of the Pods of the controller, also of before a restart.
func (w *Written) ReadPodLogs(ctx context.Context, client kubernetes.Interface, namespace string) error {
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	read := 0
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, c := range pod.Status.ContainerStatuses {
			for n := 0; c.Name == controllerContainer && n <= min(int(c.RestartCount), 1); n++ {
				stream, err := client.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: c.Name, Previous: n == 1}).Stream(ctx)
				if err != nil {
					return err
				}
				err = w.ReadLog(stream)
				_ = stream.Close()
				if read++; err != nil {
					return err
				}
			}
		}
	}
	if read == 0 {
		return fmt.Errorf("no Pod of the namespace %s has a container %q", namespace, controllerContainer)
	}
	return nil
}
