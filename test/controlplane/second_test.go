package controlplane

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSecondAPIServer: what is written at one API server is seen at the other, not
// while that is held back, and then all the same.
func TestSecondAPIServer(t *testing.T) {
	plane, first := startPlane(t, Options{})
	second, err := plane.StartSecondAPIServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plane.StartSecondAPIServer(t.Context()); err == nil {
		t.Error("there are two of them")
	}
	other, err := client.New(second.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		t.Helper()
		if err := first.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	// A list from version 0 is what the cache has.
	cached := func(ctx context.Context) int {
		var list corev1.NodeList
		if err := other.List(ctx, &list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	awaitNodes := func(n int) {
		t.Helper()
		for began := time.Now(); cached(t.Context()) != n; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("the second API server has %d nodes, want %d", cached(t.Context()), n)
			}
		}
	}
	put("a")
	awaitNodes(1)
	second.Hold()
	put("b")
	for second.Held() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if n := cached(t.Context()); n != 1 {
		t.Errorf("while it is held back it has %d nodes", n)
	}
	if err := other.Get(t.Context(), client.ObjectKey{Name: "b"}, &corev1.Node{}); err != nil {
		t.Errorf("what is read from etcd itself: %v", err)
	}
	second.Release()
	awaitNodes(2)
}
