package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/api/crds"
	"github.com/edict-dev/edict/engine/source"
)

func crdCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "crd",
		Short:   "Print the CustomResourceDefinition of PolicySets",
		Example: "  edict crd | kubectl apply --server-side --force-conflicts -f -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(crds.PolicySets)
			return err
		},
	}
}

func digestCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "digest FILE...",
		Short:   "Print the digest of files as the keys of a ConfigMap, for spec.source.digest",
		Example: "  edict digest policy.yaml policy_test.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := &source.ConfigMap{Data: map[string]string{}}
			if err := readKeys(text.Data, args); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), text.Digest())
			return err
		},
	}
}

// readKeys reads files into the keys of a ConfigMap, which are named as the files are.
func readKeys(data map[string]string, files []string) error {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return found("%v", err)
		}
		key := filepath.Base(file)
		if _, twice := data[key]; twice {
			return found("two files are called %s, and a ConfigMap has one key of it: rename one", key)
		}
		data[key] = string(text)
	}
	return nil
}
