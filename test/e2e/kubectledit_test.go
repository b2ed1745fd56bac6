package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kubectlEdit edits a ConfigMap by kubectl edit, with an editor that carries out a
// substitution of sed each time that it is opened, the last one ever after. It returns what
// kubectl printed, and what the editor was given each time.
func (c *cluster) kubectlEdit(name string, substitutions ...string) (out string, given []string) {
	c.t.Helper()
	dir := c.t.TempDir()
	editor := fmt.Sprintf("#!/bin/sh\nn=$(ls %[1]s | grep -c ^given)\ncp \"$1\" %[1]s/given$n\n", dir)
	for i, s := range substitutions {
		editor += fmt.Sprintf("[ $n -ne %d ] || sed -i '%s' \"$1\"\n", i, s)
	}
	path := filepath.Join(dir, "editor")
	if err := os.WriteFile(path, []byte(editor), 0o700); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), c.plane.Kubectl(), "--kubeconfig", c.plane.Kubeconfig(), "-n", home, "edit", "configmap", name)
	cmd.Env = append(os.Environ(), "KUBE_EDITOR="+path)
	text, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Errorf("kubectl edit: %v\n%s", err, text)
	}
	for i := range substitutions {
		seen, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("given", i)))
		if err != nil {
			break // it was not opened again
		}
		given = append(given, string(seen))
	}
	return string(text), given
}

// wantEditorAgain has a mistake made by kubectl edit, which opens the editor again with
// what is wrong, until it is put right.
func (c *cluster) wantEditorAgain(name, mistake, mend string) {
	c.t.Helper()
	out, given := c.kubectlEdit(name, mistake, mend)
	if len(given) != 2 || !strings.Contains(out, "edited") {
		c.t.Fatalf("the editor was opened %d times:\n%s", len(given), out)
	}
	comments, _, _ := strings.Cut(given[1], "\napiVersion:")
	for _, want := range []string{"# configmaps \"" + name + "\" was not valid:\n", "# * data[" + name + ".yaml]: 12:", "params.valeu", "^"} {
		if !strings.Contains(comments, want) {
			c.t.Errorf("the editor does not show %q:\n%s", want, comments)
		}
	}
}
