package chart

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/test/extender"
)

// put creates the objects of a file of testdata, with their status. A Pod waits
// for the account of its namespace.
func (i *installation) put(file string) {
	i.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		i.t.Fatal(err)
	}
	for _, one := range objects(i.t, string(text)) {
		api, err := i.api(one)
		if err != nil {
			i.t.Fatal(err)
		}
		i.eventually("creating "+one.GetKind()+" "+one.GetName(), func(ctx context.Context) string {
			if _, err := api.Create(ctx, one.DeepCopy(), metav1.CreateOptions{}); err != nil {
				return err.Error()
			}
			return ""
		})
		status, err := json.Marshal(map[string]any{"status": one.Object["status"]})
		if err == nil && one.Object["status"] != nil {
			_, err = api.Patch(i.t.Context(), one.GetName(), types.MergePatchType, status, metav1.PatchOptions{}, "status")
		}
		if err != nil {
			i.t.Fatalf("%s %s: %v", one.GetKind(), one.GetName(), err)
		}
	}
}

// extender starts a scheduler extender that wants to see a certificate, puts what
// is needed to speak with it into Secrets, and returns the values that name them.
func (i *installation) extender() []string {
	i.t.Helper()
	server := extender.New(extender.Config{Capacity: map[extender.Pool]extender.Capacity{{Name: "group-a"}: {Size: 1 << 40}}})
	running, err := extender.ListenGenerated(i.t.TempDir(), "127.0.0.1:0", server)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		if err := running.Close(); err != nil {
			i.t.Error(err)
		}
	})
	for name, files := range map[string]map[string]string{
		"authority": {"root.crt": running.CAFile},
		"client":    {"tls.crt": running.ClientCertFile, "tls.key": running.ClientKeyFile},
	} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{}}
		for key, path := range files {
			if secret.Data[key], err = os.ReadFile(path); err != nil {
				i.t.Fatal(err)
			}
		}
		if _, err := i.client.CoreV1().Secrets(namespace).Create(i.t.Context(), secret, metav1.CreateOptions{}); err != nil {
			i.t.Fatal(err)
		}
	}
	return []string{
		"extender.url=" + running.URL, "extender.ca.secretName=authority", "extender.ca.key=root.crt",
		"extender.clientCertificate.secretName=client",
	}
}
