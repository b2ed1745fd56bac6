// Package certs makes the certificates of the webhook.
package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	webhooks "k8s.io/client-go/informers/admissionregistration/v1"
	secrets "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/apply"
)

// Options say whose certificates a Certifier makes.
type Options struct {
	Client kubernetes.Interface
	Log    *slog.Logger
	// Namespace and Secret name the Secret that holds the authority.
	Namespace, Secret string
	// Configuration is the ValidatingWebhookConfiguration that gets the authority's
	// certificate; "" is none.
	Configuration string
	// DNSNames are the names in the certificates.
	DNSNames []string
}

// Certifier makes the webhook's certificates, signed by an authority of the
// controller's own that all replicas share in a Secret, and keeps the
// authority's certificate in the webhook configuration. Both objects are watched
// by name, so that no permission for others is needed.
type Certifier struct {
	options Options
	// secrets and webhooks hold what is watched; webhooks is nil when another program
	// sets the caBundle.
	secrets, webhooks cache.SharedIndexInformer
	// wake holds an item when one of them may have changed.
	wake chan struct{}
	// authority is what signed the certificate that is served.
	authority []byte
	serves    atomic.Pointer[tls.Certificate]
}

// New makes a Certifier; Run has to be called.
func New(o Options) *Certifier { return &Certifier{options: o, wake: make(chan struct{}, 1)} }

// Ready reports whether there is a certificate.
func (c *Certifier) Ready() bool { return c.serves.Load() != nil }

// Certificate implements tls.Config.GetCertificate.
func (c *Certifier) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if now := c.serves.Load(); now != nil {
		return now, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// retry is after how long something that has failed is tried again.
const retry = 2 * time.Second

func (c *Certifier) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run looks after the certificates until the context ends: when something has
// changed, when something is due, and again after a failure.
func (c *Certifier) Run(ctx context.Context) {
	c.secrets = secrets.NewFilteredSecretInformer(c.options.Client, c.options.Namespace, 0, nil, named(c.options.Secret))
	watched := []cache.SharedIndexInformer{c.secrets}
	if c.options.Configuration != "" {
		c.webhooks = webhooks.NewFilteredValidatingWebhookConfigurationInformer(c.options.Client, 0, nil, named(c.options.Configuration))
		watched = append(watched, c.webhooks)
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { c.nudge() }, UpdateFunc: func(any, any) { c.nudge() }, DeleteFunc: func(any) { c.nudge() }}
	for _, informer := range watched {
		if _, err := informer.AddEventHandler(handler); err != nil {
			c.options.Log.Error("certificates for the webhook cannot be made", "error", err.Error())
			return
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, informer := range watched {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), c.secrets.HasSynced) {
		return
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.wake:
		case <-time.After(c.once(ctx)):
		}
	}
}

// once does what is due, and returns the time until more is due.
func (c *Certifier) once(ctx context.Context) time.Duration {
	next, err := c.renew(ctx)
	if err == nil {
		err = c.inject(ctx)
	}
	const glance = time.Hour // a clock that is set, or a machine that slept
	switch {
	case err == nil:
		return min(next, glance)
	case apierrors.IsConflict(err), apierrors.IsInvalid(err), apierrors.IsAlreadyExists(err): // another replica was faster: its write wakes us
	case ctx.Err() == nil:
		c.options.Log.Error("the webhook's certificate cannot be renewed, or the webhook configuration not be told of it; it will be tried again", "error", err.Error())
	}
	return retry
}

// named restricts a list and a watch to one object.
func named(name string) func(*metav1.ListOptions) {
	return func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
}

// renew makes an authority when there is none that lasts, and a certificate when
// there is none of that authority; it returns after how long the next is due.
func (c *Certifier) renew(ctx context.Context) (time.Duration, error) {
	now := time.Now()
	secret := &corev1.Secret{}
	for _, o := range c.secrets.GetStore().List() {
		if s, ok := o.(*corev1.Secret); ok {
			secret = s
		}
	}
	authority, err := readAuthority(secret, now)
	if err != nil {
		return retry, c.replace(ctx, secret, now, err)
	}
	serves, text := c.serves.Load(), secret.Data[corev1.TLSCertKey]
	if serves == nil || !bytes.Equal(c.authority, text) || !valid(serves.Leaf, now) {
		if serves, err = signed(authority, c.options.DNSNames, now); err != nil {
			return 0, err
		}
		c.authority = text
		c.serves.Store(serves)
		c.options.Log.Info("the webhook has a new certificate", "until", serves.Leaf.NotAfter)
	}
	return min(renewal(serves.Leaf).Sub(now), renewal(authority.Leaf).Sub(now)), nil
}

// replace writes a new authority into the Secret, which is made if it is not
// there; the write wakes us. The old one must still be what is in the cluster.
func (c *Certifier) replace(ctx context.Context, old *corev1.Secret, now time.Time, why error) error {
	data, err := newAuthority(now)
	if err != nil {
		return err
	}
	secrets := c.options.Client.CoreV1().Secrets(c.options.Namespace)
	if old.Name == "" {
		made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: c.options.Secret}, Data: data}
		_, err = secrets.Create(ctx, made, metav1.CreateOptions{FieldManager: apply.FieldManager})
	} else {
		changed := old.DeepCopy()
		changed.Data = data
		_, err = secrets.Update(ctx, changed, metav1.UpdateOptions{FieldManager: apply.FieldManager})
	}
	if err == nil {
		c.options.Log.Info("the webhook has a new authority for its certificates", "secret", c.options.Secret, "reason", why.Error())
	}
	return err
}

// inject writes the authority's certificate where it is missing or another.
func (c *Certifier) inject(ctx context.Context) error {
	if c.webhooks == nil || c.authority == nil {
		return nil
	}
	for _, o := range c.webhooks.GetStore().List() {
		found, ok := o.(*admissionv1.ValidatingWebhookConfiguration)
		if !ok {
			continue
		}
		patch := bundlePatch(found, c.authority)
		if patch == nil {
			continue
		}
		body, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		_, err = c.options.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Patch(ctx, found.Name, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
		if err != nil {
			return err
		}
		c.options.Log.Info("the webhook configuration has the certificate of its authority", "name", found.Name)
	}
	return nil
}

// bundlePatch returns the JSON patch that brings a bundle in; nil when it is
// there.
func bundlePatch(c *admissionv1.ValidatingWebhookConfiguration, bundle []byte) []map[string]any {
	patch := []map[string]any{{"op": "test", "path": "/metadata/resourceVersion", "value": c.ResourceVersion}}
	for n := range c.Webhooks {
		if !bytes.Equal(c.Webhooks[n].ClientConfig.CABundle, bundle) {
			patch = append(patch, map[string]any{"op": "add", "path": "/webhooks/" + strconv.Itoa(n) + "/clientConfig/caBundle", "value": bundle})
		}
	}
	if len(patch) == 1 {
		return nil
	}
	return patch
}
