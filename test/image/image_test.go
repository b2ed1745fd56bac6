package image

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/test/budget"
)

// config is what is looked at of an image's configuration.
type config struct {
	OS     string `json:"os"`
	Config struct {
		User       string
		Entrypoint []string
		Cmd        []string
		Env        []string
		Labels     map[string]string
	} `json:"config"`
	Rootfs struct {
		Diffs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

func hasBuildah() bool {
	_, err := exec.LookPath("buildah")
	return err == nil
}

func TestImage(t *testing.T) {
	if !hasBuildah() {
		t.Skip("buildah is not installed; TestInstructions looks at the Dockerfile")
	}
	folder := checkout(t)
	layout, binary := buildImage(t, folder)
	manifest := readManifest(t, layout)

	var got config
	decode(t, blob(layout, manifest.Config.Digest), &got)
	if got.OS != "linux" || got.Config.User != "65532:65532" || len(got.Config.Cmd) > 0 {
		t.Errorf("os %q, user %q, cmd %q", got.OS, got.Config.User, got.Config.Cmd)
	}
	if diff := cmp.Diff([]string{"/edict"}, got.Config.Entrypoint); diff != "" {
		t.Errorf("entrypoint (- want, + got):\n%s", diff)
	}
	for label, want := range map[string]string{"title": "edict", "version": version, "licenses": "Apache-2.0"} {
		if value := got.Config.Labels["org.opencontainers.image."+label]; value != want {
			t.Errorf("label %s is %q, not %q", label, value, want)
		}
	}
	files := map[string]string{}
	for _, layer := range manifest.Layers {
		readLayer(t, blob(layout, layer.Digest), files)
	}
	want := map[string]string{"edict": "-r-xr-xr-x 0:0 " + binary}
	for _, name := range []string{"NOTICES", "sbom.cdx.json"} {
		text, err := os.ReadFile(filepath.Join(folder, "bin", "image", name))
		if err != nil {
			t.Fatal(err)
		}
		want["licenses/"+name] = fmt.Sprintf("-r--r--r-- 0:0 %x", sha256.Sum256(text))
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (- want, + got):\n%s", diff)
	}
	if !budget.Long() { // only the binary is built again
		if build(t, checkout(t), "image-binary") != binary {
			t.Error("built in another folder the binary differs")
		}
		return
	}
	if again, _ := buildImage(t, checkout(t)); readManifest(t, again).Config.Digest != manifest.Config.Digest {
		t.Error("built in another folder the image differs")
	}
}

// buildImage returns the folder with the image, and the hash of the binary.
func buildImage(t *testing.T, folder string) (layout, binary string) {
	t.Helper()
	storage := t.TempDir()
	here := []string{"--storage-driver", "vfs", "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run")}
	binary = build(t, folder, "image", "BUILDER=buildah", "IMAGEFLAGS=--isolation chroot --timestamp 0 "+strings.Join(here, " "))
	layout = filepath.Join(storage, "layout")
	command := exec.CommandContext(t.Context(), "buildah", append([]string{"push"}, append(here, "edict:"+version, "oci:"+layout)...)...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return layout, binary
}

type descriptor struct{ Digest string }

type manifest struct {
	Config descriptor
	Layers []descriptor
}

func readManifest(t *testing.T, layout string) manifest {
	t.Helper()
	var index struct{ Manifests []descriptor }
	decode(t, filepath.Join(layout, "index.json"), &index)
	if len(index.Manifests) != 1 {
		t.Fatalf("%d manifests", len(index.Manifests))
	}
	var out manifest
	decode(t, blob(layout, index.Manifests[0].Digest), &out)
	return out
}

func blob(layout, digest string) string {
	return filepath.Join(layout, "blobs", strings.ReplaceAll(digest, ":", string(filepath.Separator)))
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readLayer adds the files of a layer: mode, owner, and hash of the content.
func readLayer(t *testing.T, path string, files map[string]string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for layer := tar.NewReader(unpacked); ; {
		entry, err := layer.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag == tar.TypeDir {
			continue
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, layer); err != nil {
			t.Fatal(err)
		}
		files[entry.Name] = fmt.Sprintf("%s %d:%d %x", entry.FileInfo().Mode(), entry.Uid, entry.Gid, sum.Sum(nil))
	}
}
