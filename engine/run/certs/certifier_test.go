package certs

import (
	"bytes"
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/test/race"
)

// certified is a certifier at work on a cluster with a webhook configuration.
type certified struct {
	*Certifier
	t      *testing.T
	client *fake.Clientset
	log    *strings.Builder
	stop   func()
}

// certify runs a certifier in a bubble until the test ends it.
func certify(t *testing.T, client *fake.Clientset) *certified {
	t.Helper()
	log := &strings.Builder{}
	ctx, cancel := context.WithCancel(t.Context())
	c := New(Options{
		Client: client, Log: slog.New(slog.NewTextHandler(log, nil)), Namespace: "edict-system", Secret: "edict-webhook",
		Configuration: "edict", DNSNames: []string{"edict.edict-system.svc"},
	})
	var wg sync.WaitGroup
	wg.Go(func() { c.Run(ctx) })
	<-time.After(time.Second) // informers look now and then whether they are in step
	synctest.Wait()
	return &certified{Certifier: c, t: t, client: client, log: log, stop: func() { cancel(); wg.Wait() }}
}

func cluster(objects ...runtime.Object) *fake.Clientset {
	hook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "edict", ResourceVersion: "1"}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "a"}}}
	return fake.NewClientset(append(objects, hook)...)
}

func (c *certified) secret() *corev1.Secret {
	c.t.Helper()
	s, err := c.client.CoreV1().Secrets("edict-system").Get(c.t.Context(), "edict-webhook", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// check fails unless the API server would trust what is served now; it returns
// the certificate of the authority.
func (c *certified) check() string {
	c.t.Helper()
	hook, err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(c.t.Context(), "edict", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	bundle := hook.Webhooks[0].ClientConfig.CABundle
	if secret := c.secret(); !bytes.Equal(bundle, secret.Data["tls.crt"]) || !bytes.Equal(bundle, secret.Data["ca.crt"]) {
		c.t.Fatalf("the webhook configuration has not the authority of the Secret: %q", bundle)
	}
	served, err := c.Certificate(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	if _, err := served.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "edict.edict-system.svc", CurrentTime: time.Now()}); err != nil {
		c.t.Fatalf("at %v: %v", time.Now(), err)
	}
	return string(bundle)
}

// TestRotation goes through two years: at all times the API server would trust
// what is served, certificates and authorities are renewed in time and not more
// often.
func TestRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := certify(t, cluster())
		defer c.stop()
		authorities, served := map[string]bool{}, map[string]bool{}
		days, authoritiesWanted := 2*360, 3
		if race.Enabled { // which makes certificates slow
			days, authoritiesWanted = 270, 2
		}
		for range days {
			authorities[c.check()] = true
			served[c.serves.Load().Leaf.SerialNumber.String()] = true
			if left := time.Until(c.serves.Load().Leaf.NotAfter); left < certificateLife/3-time.Hour {
				t.Fatalf("the certificate is valid for %v more", left)
			}
			<-time.After(24 * time.Hour)
			synctest.Wait()
		}
		// An authority is replaced after two thirds of its year, a certificate after
		// two thirds of its week.
		if len(authorities) != authoritiesWanted || len(served) < days/5 || len(served) > days*2/9 {
			t.Errorf("%d authorities, %d certificates", len(authorities), len(served))
		}
	})
}

// TestSecrets: a Secret that is empty, wrong or gone is filled; one of another
// replica is taken as it is.
func TestSecrets(t *testing.T) {
	t.Parallel()
	made, err := newAuthority(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) // when a bubble begins
	if err != nil {
		t.Fatal(err)
	}
	// Made by a clock that was wrong, and by one that was half an hour ahead.
	early, err := newAuthority(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := newAuthority(time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	with := func(key string, text []byte) map[string][]byte {
		out := maps.Clone(made)
		out[key] = text
		return out
	}
	for name, c := range map[string]struct {
		data map[string][]byte
		kept bool
	}{
		"empty": {}, "of another": {made, true}, "no key": {with("tls.key", nil), false}, "another ca": {with("ca.crt", []byte("x")), false}, "no text": {with("tls.crt", []byte("x")), false},
		"not valid yet": {early, false}, "half an hour ahead": {ahead, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "edict-webhook", Namespace: "edict-system", Labels: map[string]string{"a": "b"}}, Data: c.data}
				run := certify(t, cluster(secret))
				defer run.stop()
				if kept := run.check() == string(c.data["tls.crt"]); kept != c.kept || run.secret().Labels["a"] != "b" {
					t.Errorf("kept: %v, %v", kept, run.secret().Labels)
				}
				before := run.check()
				if err := run.client.CoreV1().Secrets("edict-system").Delete(t.Context(), "edict-webhook", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Second)
				synctest.Wait()
				if run.check() == before {
					t.Error("the authority of a Secret that was deleted is still used")
				}
			})
		})
	}
}

// TestRacesAreNoErrors: that another replica was faster is told to nobody; what
// is forbidden is, and is tried again.
func TestRacesAreNoErrors(t *testing.T) {
	t.Parallel()
	secrets := kschema.GroupResource{Resource: "secrets"}
	for _, refusal := range []error{apierrors.NewAlreadyExists(secrets, "edict-webhook"), apierrors.NewForbidden(secrets, "edict-webhook", nil)} {
		synctest.Test(t, func(t *testing.T) {
			client := cluster()
			var refuse atomic.Bool
			refuse.Store(true)
			client.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
				return refuse.Load(), nil, refusal
			})
			c := certify(t, client)
			defer c.stop()
			if told := strings.Contains(c.log.String(), "ERROR"); told != apierrors.IsForbidden(refusal) || c.Ready() {
				t.Errorf("%v: %s", refusal, c.log)
			}
			refuse.Store(false)
			<-time.After(retry)
			synctest.Wait()
			c.check()
		})
	}
}

// TestBundlePatch brings the certificate where it is missing, and only there.
func TestBundlePatch(t *testing.T) {
	t.Parallel()
	c := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}, Webhooks: make([]admissionv1.ValidatingWebhook, 2)}
	c.Webhooks[0].ClientConfig.CABundle = []byte("ca")
	want := []map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
		{"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": []byte("ca")},
	}
	if d := cmp.Diff(want, bundlePatch(c, []byte("ca"))); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	c.Webhooks[1].ClientConfig.CABundle = []byte("ca")
	if got := bundlePatch(c, []byte("ca")); got != nil {
		t.Errorf("nothing is missing, and it writes %v", got)
	}
}
