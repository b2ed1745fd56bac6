package run

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	servertls "github.com/cert-manager/cert-manager/pkg/server/tls"
	"github.com/cert-manager/cert-manager/pkg/server/tls/authority"
	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// The lives of certificates; each is renewed after two thirds of it.
const (
	authorityLife   = 365 * 24 * time.Hour
	certificateLife = 7 * 24 * time.Hour
)

// certificates makes the webhook's certificates, signed by an authority of the
// controller's own that all replicas share in a Secret, and tells the API
// server of the authority.
func (p *process) certificates(ctx context.Context, client kubernetes.Interface) *servertls.DynamicSource {
	source := &servertls.DynamicSource{
		DNSNames: p.Webhook.DNSNames,
		Authority: &authority.DynamicAuthority{
			SecretNamespace: p.PolicyNamespace, SecretName: p.Webhook.CertSecret, RESTConfig: p.Config,
			CommonName: "edict-webhook-ca", CADuration: authorityLife, LeafDuration: certificateLife,
		},
	}
	ctx = logr.NewContext(ctx, logr.FromSlogHandler(calm{p.Log.Handler()}).WithName("certificates").V(1))
	p.wg.Go(func() {
		if err := source.Start(ctx); err != nil && ctx.Err() == nil {
			p.Log.Error("certificates for the webhook cannot be made", "error", err.Error())
		}
	})
	if p.Webhook.Configuration != "" {
		i := &injector{process: p, client: client}
		p.wg.Go(func() { i.run(ctx) })
	}
	return source
}

// injector keeps the authority's certificate in the webhook configuration. Both
// objects are watched by name, so that no permission for others is needed.
type injector struct {
	*process
	client          kubernetes.Interface
	secret, webhook cache.SharedIndexInformer
}

func (i *injector) run(ctx context.Context) {
	wake := make(chan struct{}, 1)
	nudge := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { nudge() }, UpdateFunc: func(any, any) { nudge() }}
	secrets, webhooks := i.named(i.PolicyNamespace, i.Webhook.CertSecret), i.named("", i.Webhook.Configuration)
	i.secret = secrets.Core().V1().Secrets().Informer()
	i.webhook = webhooks.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer()
	for _, informer := range []cache.SharedIndexInformer{i.secret, i.webhook} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			i.Log.Error("the webhook configuration cannot be kept up to date", "error", err.Error())
			return
		}
	}
	secrets.Start(ctx.Done())
	webhooks.Start(ctx.Done())
	defer secrets.Shutdown()
	defer webhooks.Shutdown()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		switch err := i.inject(ctx); {
		case err == nil || ctx.Err() != nil:
		case apierrors.IsInvalid(err) || apierrors.IsConflict(err): // another replica was faster: its write wakes us
		default:
			i.Log.Error("the webhook configuration cannot be told of the certificate, and will be tried again", "error", err.Error())
			time.AfterFunc(webhookRetry, nudge)
		}
	}
}

// named makes informers for one object.
func (i *injector) named(namespace, name string) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(i.client, 0, informers.WithNamespace(namespace), informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}))
}

// inject writes the authority's certificate where it is missing or another.
func (i *injector) inject(ctx context.Context) error {
	var bundle []byte
	for _, o := range i.secret.GetStore().List() {
		if s, ok := o.(*corev1.Secret); ok {
			bundle = s.Data[corev1.TLSCertKey]
		}
	}
	for _, o := range i.webhook.GetStore().List() {
		c, ok := o.(*admissionv1.ValidatingWebhookConfiguration)
		if !ok || len(bundle) == 0 {
			continue
		}
		if patch := bundlePatch(c, bundle); patch != nil {
			body, err := json.Marshal(patch)
			if err != nil {
				return err
			}
			_, err = i.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Patch(ctx, c.Name, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: component})
			if err != nil {
				return err
			}
			i.Log.Info("the webhook configuration has the certificate of its authority", "name", c.Name)
		}
	}
	return nil
}

// bundlePatch gives the JSON patch that brings a bundle in; nil when it is
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

// calm is a log for the library that makes the certificates: that another
// replica was faster is no error, for it tries again.
type calm struct{ slog.Handler }

// Handle implements slog.Handler.
func (c calm) Handle(ctx context.Context, r slog.Record) error {
	raced := false
	r.Attrs(func(a slog.Attr) bool {
		err, _ := a.Value.Any().(error)
		raced = raced || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
		return !raced
	})
	if raced {
		if r.Level = slog.LevelDebug; !c.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c calm) WithAttrs(attrs []slog.Attr) slog.Handler { return calm{c.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (c calm) WithGroup(name string) slog.Handler { return calm{c.Handler.WithGroup(name)} }
