package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/edict-dev/edict/engine/run/webhook"
)

// webhookFlags say how ConfigMaps are judged before they are stored.
type webhookFlags struct{ webhook.Config }

func (f *webhookFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Address, "webhook-bind-address", "", "address of the validating webhook for PolicySets and their ConfigMaps, such as :9443; empty disables it")
	flags.StringVar(&f.CertDir, "webhook-cert-dir", "", "a folder with tls.crt and tls.key for the webhook; they are read again when they change")
	flags.StringVar(&f.ClientCA, "webhook-client-ca-file", "", "authorities of the certificate that the API server shows to webhooks; without it everybody who reaches the port may ask")
	flags.StringVar(&f.CertSecret, "webhook-cert-secret", "", "instead of a folder: the Secret for an authority that the controller makes and renews by itself")
	flags.StringVar(&f.Configuration, "webhook-configuration", "", "the ValidatingWebhookConfiguration that is told of that authority")
	flags.StringArrayVar(&f.DNSNames, "webhook-dns-name", nil, "a name by which the API server calls the webhook, for the certificates that the authority signs; may repeat")
}

// webhook returns the webhook that was asked for; nil for none.
func (f *webhookFlags) webhook(policyNamespace string) (*webhook.Config, error) {
	switch {
	case f.Address == "":
		return nil, nil //nolint:nilnil // none was asked for
	case policyNamespace == "":
		return nil, errors.New("--webhook-bind-address needs --namespace: the webhook judges PolicySets")
	case (f.CertDir == "") == (f.CertSecret == ""):
		return nil, errors.New("the webhook needs a certificate: either --webhook-cert-dir or --webhook-cert-secret")
	case f.CertSecret != "" && len(f.DNSNames) == 0:
		return nil, errors.New("--webhook-cert-secret needs --webhook-dns-name")
	}
	return &f.Config, nil
}
