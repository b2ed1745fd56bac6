package webhook

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/edict-dev/edict/test/extender"
)

// TestLimit: a request that arrives while too many are being read waits as long
// as its client does, and is read as soon as one of them is done.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := limit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, limited := r.Context().Deadline(); !limited {
				t.Error("who is let in may take as long as they like")
			}
			<-release
		}), 2, 1)
		var from string
		ask := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path+"?timeout=1s", nil)
			r.RemoteAddr = from + ":1"
			h.ServeHTTP(w, r)
			return w
		}
		from = "10.0.0.1"
		go ask()
		synctest.Wait()
		if w := ask(); w.Code != http.StatusServiceUnavailable {
			t.Errorf("the answer is %d", w.Code)
		}
		done := make(chan int, 2)
		from = "10.0.0.2" // whatever the other address does
		go func() { done <- ask().Code }()
		synctest.Wait()
		from = "10.0.0.3"
		if w := ask(); w.Code != http.StatusServiceUnavailable {
			t.Errorf("beyond the total the answer is %d", w.Code)
		}
		go func() { done <- ask().Code }()
		synctest.Wait()
		close(release)
		for range 2 {
			if code := <-done; code != http.StatusOK {
				t.Errorf("later the answer is %d", code)
			}
		}
	})
}

// TestClients: with an authority, only clients with a certificate of it may ask.
func TestClients(t *testing.T) {
	t.Parallel()
	ours, err := extender.GenerateCertificates(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	others, err := extender.GenerateCertificates(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secure, err := (&Config{ClientCA: ours.CA}).secure()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{}
	secure(server.TLS)
	server.StartTLS()
	defer server.Close()
	ask := func(certificate, key string, version uint16) error {
		config := &tls.Config{InsecureSkipVerify: true, MaxVersion: version}
		if certificate != "" {
			pair, err := tls.LoadX509KeyPair(certificate, key)
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		defer client.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	if err := ask(ours.ClientCert, ours.ClientKey, 0); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if ask("", "", 0) == nil || ask(others.ClientCert, others.ClientKey, 0) == nil {
		t.Error("a stranger may ask")
	}
	if ask(ours.ClientCert, ours.ClientKey, tls.VersionTLS12) == nil {
		t.Error("TLS 1.2 is spoken")
	}
	for name, file := range map[string]string{"no such file": "nowhere", "no certificate": ours.ClientKey} {
		if _, err := (&Config{ClientCA: file}).secure(); err == nil {
			t.Errorf("%s is taken for an authority", name)
		}
	}
}
