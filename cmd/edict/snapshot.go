package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/snapshot"
)

func snapshotCommand() *cobra.Command {
	var f worldFlags
	var file, hashKey string
	var hash bool
	cmd := &cobra.Command{
		Use:   "snapshot (--policies PATH | --policy-namespace NAMESPACE)",
		Short: "Write the objects of a cluster down, as far as policies read them",
		Long: `Writes the objects that the policies read, and of each object its identity and
the fields that some policy depends on, sorted: the same cluster gives the same
bytes. Values of Secrets are digests. simulate, plan, explain, capture and test
take the result as any other manifests (--objects), and decide as on the
cluster.

--hash-names replaces names, namespaces and values of labels everywhere by
hashes, so that a snapshot can be given away. A policy that compares one of them
with a text of its own then decides otherwise.`,
		Example: "  edict snapshot --policy-namespace edict-system --out world.yaml\n" +
			"  edict snapshot --policies policies --objects examples/storage --out world.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := f.load(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			reads, err := snapshot.New(in.bundle.Policies)
			if err != nil {
				return found("%v", err)
			}
			objects := reads.Take(in.objects)
			if hash || hashKey != "" {
				objects = snapshot.HashNames(objects, hashKey)
			}
			return writeSnapshot(cmd.OutOrStdout(), cmd.ErrOrStderr(), file, objects)
		},
	}
	f.register(cmd)
	cmd.MarkFlagsOneRequired("policies", "policy-namespace")
	cmd.Flags().StringVar(&file, "out", "", "the file to write, JSON if it ends so (default: standard output)")
	cmd.Flags().BoolVar(&hash, "hash-names", false, "replace names, namespaces and values of labels by hashes")
	cmd.Flags().StringVar(&hashKey, "hash-key", "", "a secret text that goes into the hashes, so that names cannot be guessed from them; implies --hash-names")
	return cmd
}

func writeSnapshot(out, errOut io.Writer, file string, objects []snapshot.Object) error {
	text, err := snapshotText(objects, strings.HasSuffix(file, ".json"))
	if err != nil {
		return err
	}
	if file == "" {
		_, err = out.Write(text)
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(errOut, "%s: %s, %d bytes\n", file, count(len(objects), "object", "objects"), len(text))
	return nil
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
		one, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		text.Write(one)
	}
	return text.Bytes(), nil
}
