package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGivenAssets(t *testing.T) {
	t.Parallel()
	kube := &module{source: "kube", binary: "kube"}
	minor, err := kube.kubernetesMinor()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		versions map[string]string
		want     []string
		wantErr  string
	}{
		"envtest has no controller manager": {map[string]string{"etcd": "3.6.0", "kube-apiserver": "Kubernetes v" + minor + ".9", "kubectl": "Client Version: v" + minor + ".9"}, []string{"etcd", "kube-apiserver", "kubectl"}, ""},
		"an older minor version":            {map[string]string{"kube-apiserver": "Kubernetes v1.20.3"}, nil, "kube-apiserver is of Kubernetes 1.20; the tests need " + minor},
		"an older kubectl":                  {map[string]string{"kube-apiserver": "Kubernetes v" + minor + ".0", "kubectl": "Client Version: v1.20.1"}, nil, "kubectl is of Kubernetes 1.20"},
		"no version":                        {map[string]string{"kube-apiserver": "hello"}, nil, "is of Kubernetes unknown"},
		"no API server":                     {map[string]string{"etcd": "3.6.0"}, nil, "there is no kube-apiserver"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for binary, version := range tc.versions {
				if err := os.WriteFile(filepath.Join(folder, binary), []byte("#!/bin/sh\necho '"+version+"'\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			got, err := givenAssets(t.Context(), kube, folder)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("want an error with %q, got %v", tc.wantErr, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, name := range tc.want {
				want[name] = filepath.Join(folder, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, err := givenAssets(t.Context(), kube, ""); got != nil || err != nil {
		t.Errorf("without a folder: %v, %v", got, err)
	}
}
