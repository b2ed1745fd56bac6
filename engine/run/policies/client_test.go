package policies

import (
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

// newClient returns a client that keeps objects without managed fields: that of
// fake.NewClientset makes a mapper of all kinds for each request.
func newClient() *fake.Clientset {
	client := &fake.Clientset{}
	client.AddReactor("*", "*", clienttesting.ObjectReaction(clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder())))
	return client
}
