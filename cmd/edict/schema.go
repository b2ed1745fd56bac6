package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	docschema "github.com/edict-dev/edict/docs/schema"
	"github.com/edict-dev/edict/engine/document"
)

func schemaCommand() *cobra.Command {
	modeline := false
	cmd := &cobra.Command{
		Use:   "schema [policy|policytest|allowances|answers|timeline]",
		Short: "Print the JSON schema of a document, for editors",
		Long: `Prints the JSON schema of a kind of document; without an argument it lists the
schemas and where they are published. With --modeline it prints the comment that
names the schema to an editor, to be the first line of a document.

The schemas know neither kinds nor expressions: edict check does, and edict lsp in
an editor.`,
		Example:   "  edict schema policy > policy.schema.json\n  edict schema policytest --modeline",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: docschema.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, name := range docschema.Names() {
					fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s%s.schema.json\n", name, docschema.Base, name)
				}
				return nil
			}
			text, ok := docschema.Read(args[0])
			if !ok {
				return fmt.Errorf("there is no schema %q: %s%s", args[0], strings.Join(docschema.Names(), ", "), hinted(document.DidYouMean(args[0], docschema.Names())))
			}
			if modeline {
				text = []byte(docschema.Modeline(args[0]) + "\n")
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&modeline, "modeline", false, "print the comment that names the schema")
	return cmd
}
