package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The lives of certificates; each is renewed after two thirds of it.
const (
	authorityLife   = 365 * 24 * time.Hour
	certificateLife = 7 * 24 * time.Hour
	// skew is how much earlier certificates are valid: the clock of the API server may be
	// behind.
	skew = time.Hour
)

// newAuthority makes an authority that signs itself, as the data of a Secret.
func newAuthority(now time.Time) (map[string][]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "edict-webhook-ca"}, NotBefore: now.Add(-skew), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return map[string][]byte{
		corev1.TLSCertKey: certificate, corev1.ServiceAccountRootCAKey: certificate,
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}

// readAuthority reads an authority from a Secret. An error reports why it
// has to be made again: it is not one, expires soon, or is not valid yet.
func readAuthority(secret *corev1.Secret, now time.Time) (*tls.Certificate, error) {
	text := secret.Data[corev1.TLSCertKey]
	if len(text) == 0 || !bytes.Equal(text, secret.Data[corev1.ServiceAccountRootCAKey]) {
		return nil, errors.New("it has no authority")
	}
	authority, err := tls.X509KeyPair(text, secret.Data[corev1.TLSPrivateKeyKey])
	switch {
	case err != nil:
		return nil, err
	case !authority.Leaf.IsCA:
		return nil, errors.New("its certificate is not that of an authority")
	case !now.Before(renewal(authority.Leaf)):
		return nil, errors.New("the authority expires soon")
	case now.Before(authority.Leaf.NotBefore): // the clock by which it was made was wrong
		return nil, fmt.Errorf("the authority is not valid before %s", authority.Leaf.NotBefore.Format(time.RFC3339))
	}
	return &authority, nil
}

// valid reports whether a certificate is valid now, and not to be replaced yet. It is not
// yet valid if the clock was wrong when it was made.
func valid(c *x509.Certificate, now time.Time) bool {
	return !now.Before(c.NotBefore) && now.Before(renewal(c))
}

// renewal is when a certificate is to be replaced.
func renewal(c *x509.Certificate) time.Time {
	return c.NotAfter.Add(-c.NotAfter.Sub(c.NotBefore) / 3)
}

// signed makes a server's certificate, signed by an authority. It does not
// outlive the authority.
func signed(authority *tls.Certificate, names []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		DNSNames: names, NotBefore: now.Add(-skew), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	if template.NotAfter.After(authority.Leaf.NotAfter) {
		template.NotAfter = authority.Leaf.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, key.Public(), authority.PrivateKey)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}
