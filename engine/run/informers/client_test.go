package informers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

var widgets = kschema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// serve returns a client of a server that answers as told.
func serve(t *testing.T, answer http.HandlerFunc) *client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	store := world.NewStore()
	set := &Set{options: Options{Config: &rest.Config{Host: server.URL}, HTTP: server.Client(), Store: store, Group: reconcile.NewGroup(store, nil, schema.NewSet(nil))}}
	source := world.Source{GVK: schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}, Namespace: "ns", Selector: "of=a", Name: "one"}
	mask := &value.Mask{Fields: map[string]*value.Mask{"spec": value.KeepAll, "kind": {}}}
	c, err := set.client(newInformer(source, mask, "id", func() {}), widgets)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func widget(name, version string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"ns","name":%q,"uid":"u-%s","resourceVersion":%q},"spec":{"a":1},"status":{"b":2}}`, name, name, version)
}

// TestClientList: a list is one of the source's objects, and names them as the API
// server does.
func TestClientList(t *testing.T) {
	t.Parallel()
	var asked string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		items := make([]string, 200)
		for i := range items {
			items[i] = strings.Replace(widget(fmt.Sprint("w", i), "7"), `"apiVersion":"example.com/v1","kind":"Widget",`, "", 1)
		}
		fmt.Fprintf(w, `{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{"resourceVersion":"9","continue":"more"},"items":[%s]}`, strings.Join(items, ","))
	})
	out, err := c.list(t.Context(), metav1.ListOptions{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	if want := "/apis/example.com/v1/namespaces/ns/widgets?fieldSelector=metadata.name%3Done&labelSelector=of%3Da&limit=500"; asked != want {
		t.Errorf("asked for %s, want %s", asked, want)
	}
	list, err := meta.ListAccessor(out)
	if err != nil || list.GetResourceVersion() != "9" || list.GetContinue() != "more" {
		t.Errorf("got the list %v (%v)", list, err)
	}
	objects, err := meta.ExtractList(out)
	if err != nil || len(objects) != 200 {
		t.Fatalf("%d objects (%v)", len(objects), err)
	}
	last := objects[199].(*cached)
	if diff := cmp.Diff(map[string]any{"kind": "Widget", "spec": map[string]any{"a": int64(1)}}, value.Plain(last.object.Value)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if last.GetName() != "w199" || last.GetNamespace() != "ns" || last.GetUID() != "u-w199" || last.GetResourceVersion() != "7" {
		t.Errorf("got %v", last.object.ID())
	}
	if version, err := c.version(t.Context()); version != "9" || err != nil {
		t.Errorf("the version is %q (%v)", version, err)
	}
}

// TestClientWatch: events, the bookmark that ends a streamed list, and errors arrive
// as informers expect them.
func TestClientWatch(t *testing.T) {
	t.Parallel()
	bookmark := `{"kind":"Widget","metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}`
	gone := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}`
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, event := range []string{"ADDED " + widget("a", "7"), "BOOKMARK " + bookmark, "DELETED " + widget("a", "9"), "ERROR " + gone} {
			kind, object, _ := strings.Cut(event, " ")
			fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", kind, object)
			if kind == "ADDED" { // whatever an event looks like, it is the same
				fmt.Fprintf(w, " {\n\t\"object\": %s,\r\n\t\"type\": %q }", widget("b", "8"), kind)
				fmt.Fprintf(w, `{"type":%q,"object":%s,"more":{}}`, kind, widget("c", "8"))
			}
		}
	})
	w, err := c.watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var got []string
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			if err := apierrors.FromObject(e.Object); !apierrors.IsResourceExpired(err) {
				t.Errorf("the error is %v", err)
			}
			break
		}
		m, err := meta.Accessor(e.Object)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Type, " ", m.GetName(), " ", m.GetResourceVersion(), " ", m.GetAnnotations()["k8s.io/initial-events-end"]))
	}
	if diff := cmp.Diff([]string{"ADDED a 7 ", "ADDED b 8 ", "ADDED c 8 ", "BOOKMARK  8 true", "DELETED a 9 "}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestClientErrors: what the API server refuses is the error that it says.
func TestClientErrors(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"widgets is forbidden: no","reason":"Forbidden","code":403}`)
	})
	for name, do := range map[string]func(context.Context) error{
		"list":  func(ctx context.Context) error { _, err := c.list(ctx, metav1.ListOptions{}); return err },
		"watch": func(ctx context.Context) error { _, err := c.watch(ctx, metav1.ListOptions{}); return err },
	} {
		if err := do(t.Context()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "widgets is forbidden: no") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
