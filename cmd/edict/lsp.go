package main

import (
	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/lsp"
)

func lspCommand() *cobra.Command {
	var o lsp.Options
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor as a language server, over the standard streams",
		Long: `Speaks the language server protocol over standard input and output: findings as
edict check shows them, completion of fields and names, hover, go to definition and
quick fixes.

The flag schemas is also an initialization option. docs/editors.md says how editors
are set up.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return asFinding(lsp.New(cmd.InOrStdin(), cmd.OutOrStdout(), version, o).Run(cmd.Context()))
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.Schemas, "schemas", nil, "a folder of CRDs; may repeat")
	flags.Bool("stdio", true, "for editors that say so; there is no other way")
	return cmd
}
