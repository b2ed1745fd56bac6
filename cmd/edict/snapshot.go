package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/snapshot"
)

// snapshotFlags are those of edict snapshot.
type snapshotFlags struct {
	world                 worldFlags
	file, hashKey, output string
	hash                  bool
}

func snapshotCommand() *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:   "snapshot [PATH...]",
		Short: "Write the objects of a cluster down, as far as policies read them",
		Long: `Writes the objects that the policies read, and of each object its identity and
the fields that some policy depends on, sorted: the same cluster gives the same
bytes. Values of Secrets are digests. simulate, plan, explain, capture and test
take the result as any other manifests (--objects), and decide as on the
cluster.

--hash-names replaces names, namespaces and values of labels everywhere by
hashes, so that a snapshot can be given away. A policy that compares one of them
with a text of its own then decides otherwise.

-o json writes a List in JSON to standard output; with --out FILE, where the
format goes by the name of the file, it says there what was written.`,
		Example: "  edict snapshot -n edict-system --out world.yaml\n" +
			"  edict snapshot policies --objects examples/storage --out world.json",
		RunE: withOutputs(f.run),
	}
	f.world.register(cmd, namespaceOfSets)
	flags := cmd.Flags()
	flags.StringVar(&f.file, "out", "", "the file to write, JSON if it ends so (default: standard output)")
	flags.BoolVar(&f.hash, "hash-names", false, "replace names, namespaces and values of labels by hashes")
	flags.StringVar(&f.hashKey, "hash-key", "", "a secret text that goes into the hashes, so that names cannot be guessed from them; implies --hash-names")
	outputFlag(cmd, &f.output, "text", "json")
	return f.world.origin.takePaths(cmd, 0)
}

func (f *snapshotFlags) run(ctx context.Context, out, errOut io.Writer) error {
	in, err := f.world.load(ctx, errOut)
	if err != nil {
		return err
	}
	reads, err := snapshot.New(in.bundle.Policies)
	if err != nil {
		return found("%v", err)
	}
	objects := reads.Take(in.objects)
	if f.hash || f.hashKey != "" {
		objects = snapshot.HashNames(objects, f.hashKey)
	}
	return f.write(out, errOut, objects)
}

func (f *snapshotFlags) write(out, errOut io.Writer, objects []snapshot.Object) error {
	asJSON := strings.HasSuffix(f.file, ".json") || f.file == "" && f.output == "json"
	text, err := snapshotText(objects, asJSON)
	if err != nil {
		return err
	}
	if f.file == "" {
		_, err = out.Write(text)
		return err
	}
	if err := os.WriteFile(f.file, text, 0o600); err != nil {
		return asFinding(err)
	}
	if f.output == "json" {
		return writeJSON(out, map[string]any{"file": f.file, "objects": len(objects), "bytes": len(text)})
	}
	_, err = fmt.Fprintf(errOut, "%s: %s, %d bytes\n", f.file, count(len(objects), "object", "objects"), len(text))
	return err
}

func snapshotText(objects []snapshot.Object, asJSON bool) ([]byte, error) {
	if asJSON {
		text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects}, "", " ")
		return append(text, '\n'), err
	}
	var text bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			text.WriteString("---\n")
		}
		one, err := document.YAML(o)
		if err != nil {
			return nil, err
		}
		text.Write(one)
	}
	return text.Bytes(), nil
}
