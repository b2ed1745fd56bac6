package extender

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	certs "github.com/edict-dev/edict/test/extender"
)

// generated makes an authority, and certificates of it.
func generated(t *testing.T) *certs.Certificates {
	t.Helper()
	files, err := certs.GenerateCertificates(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// serveTLS starts a server that wants a client certificate of an authority;
// none when it is empty.
func serveTLS(t *testing.T, files *certs.Certificates, clientCA string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(files.ServerCert, files.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if clientCA != "" {
		text, err := os.ReadFile(clientCA)
		if err != nil {
			t.Fatal(err)
		}
		server.TLS.ClientCAs, server.TLS.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		server.TLS.ClientCAs.AppendCertsFromPEM(text)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTrust(t *testing.T) {
	t.Parallel()
	ours, theirs := generated(t), generated(t)
	open := serveTLS(t, ours, "", answers(200, `{"lvgs":[]}`)).URL
	closed := serveTLS(t, ours, ours.CA, answers(200, `{"lvgs":[]}`)).URL
	for name, tc := range map[string]struct {
		config  Config
		trusted bool
		says    string
	}{
		"the authority is known":         {Config{URL: open, CAFile: ours.CA}, true, ""},
		"another name of the server":     {Config{URL: open, CAFile: ours.CA, ServerName: "localhost"}, true, ""},
		"not the name of the server":     {Config{URL: open, CAFile: ours.CA, ServerName: "elsewhere"}, false, "certificate is valid for localhost, not elsewhere"},
		"the authority is not known":     {Config{URL: open, CAFile: theirs.CA}, false, "certificate signed by unknown authority"},
		"only those of the system":       {Config{URL: open}, false, "certificate signed by unknown authority"},
		"nobody looks":                   {Config{URL: open, InsecureSkipVerify: true, ServerName: "elsewhere"}, true, ""},
		"a certificate nobody asked for": {Config{URL: open, CAFile: ours.CA, CertFile: ours.ClientCert, KeyFile: ours.ClientKey}, true, ""},
		"both have a certificate":        {Config{URL: closed, CAFile: ours.CA, CertFile: ours.ClientCert, KeyFile: ours.ClientKey}, true, ""},
		"the client has none":            {Config{URL: closed, CAFile: ours.CA}, false, ""},
		"the client has another one":     {Config{URL: closed, CAFile: ours.CA, CertFile: theirs.ClientCert, KeyFile: theirs.ClientKey}, false, ""},
		"not for clients":                {Config{URL: closed, CAFile: ours.CA, CertFile: ours.ServerCert, KeyFile: ours.ServerKey}, false, ""},
		"the server speaks no TLS":       {Config{URL: strings.Replace(serve(t, answers(200, `{"lvgs":[]}`)).URL, "http:", "https:", 1)}, false, "server gave HTTP response to HTTPS client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newClient(t, tc.config).Answer(t.Context(), scoring2s("a"))
			if tc.trusted {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantClass(t, err, ClassTLS)
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestOldTLS: a server that knows only TLS 1.1 is not spoken to.
func TestOldTLS(t *testing.T) {
	t.Parallel()
	files := generated(t)
	pair, err := tls.LoadX509KeyPair(files.ServerCert, files.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answers(200, `{"lvgs":[]}`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, err = newClient(t, Config{URL: server.URL, CAFile: files.CA}).Answer(t.Context(), scoring2s("a"))
	wantClass(t, err, ClassTLS)
}

// TestRotation: a certificate that is replaced on disk is used for the next
// connection, and one that cannot be read any more is named.
func TestRotation(t *testing.T) {
	t.Parallel()
	ours, theirs := generated(t), generated(t)
	server := serveTLS(t, ours, ours.CA, answers(200, `{"lvgs":[]}`))
	mine := filepath.Join(t.TempDir(), "client")
	use := func(files *certs.Certificates) {
		for from, to := range map[string]string{files.ClientCert: mine + ".crt", files.ClientKey: mine + ".key"} {
			text, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(to, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	use(theirs)
	client := newClient(t, Config{URL: server.URL, CAFile: ours.CA, CertFile: mine + ".crt", KeyFile: mine + ".key"})
	_, err := client.Answer(t.Context(), scoring2s("a"))
	wantClass(t, err, ClassTLS)
	use(ours)
	if _, err := client.Answer(t.Context(), scoring2s("a")); err != nil {
		t.Fatalf("the new certificate is not used: %v", err)
	}
	if err := os.Remove(mine + ".key"); err != nil {
		t.Fatal(err)
	}
	client.Close()
	_, err = client.Answer(t.Context(), scoring2s("a"))
	wantClass(t, err, ClassTLS)
	if !strings.Contains(err.Error(), mine+".key") {
		t.Errorf("the error does not name the file: %v", err)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	files := generated(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	absent := empty + ".absent"
	for name, tc := range map[string]struct {
		config Config
		says   string
	}{
		"no authorities file":       {Config{CAFile: absent}, absent},
		"no certificate in it":      {Config{CAFile: empty}, "no certificate in " + empty},
		"a key instead":             {Config{CAFile: files.ServerKey}, "no certificate in " + files.ServerKey},
		"a certificate alone":       {Config{CertFile: files.ClientCert}, "needs both a certificate and a key"},
		"a key alone":               {Config{KeyFile: files.ClientKey}, "needs both a certificate and a key"},
		"no such certificate":       {Config{CertFile: absent, KeyFile: files.ClientKey}, absent},
		"no such key":               {Config{CertFile: files.ClientCert, KeyFile: absent}, absent},
		"they do not go together":   {Config{CertFile: files.ClientCert, KeyFile: files.ServerKey}, files.ServerKey},
		"a certificate that is not": {Config{CertFile: empty, KeyFile: files.ClientKey}, empty},
	} {
		tc.config.URL = "https://extender"
		if _, err := New(tc.config); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
