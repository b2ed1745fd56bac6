package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

// checkFlags say what is checked, and what becomes of the findings.
type checkFlags struct {
	policyFiles

	output, severity string
	strict           bool
}

func checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Load, type-check and analyse policies",
		Long: `Loads the policies at each PATH (a file or a folder), types every expression
against the schemas of the kinds, and prints what is wrong with its place in
the file. A file may also have manifests of ConfigMaps with policies and of PolicySets
that run them; then their tests, params, modes and allowances are checked, too. Schemas
of custom kinds are read from CRDs in folders named schemas beside the policies, and
from those given with --schemas.

Every finding has a code with a page in docs/checks. A comment on its line, or on
the line above, accepts a warning or a note:
    # edict:accept CODE REASON

Errors end with exit code 1, with --strict also warnings and notes that are shown.`,
		Example: "  edict check policies\n  edict check --strict -o sarif policies > findings.sarif",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout())
		},
	}
	outputFlag(cmd, &f.output, "text", "json", "sarif", "github")
	cmd.Flags().StringVar(&f.severity, "severity", "note", "lowest severity that is shown: error, warning or note")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "end with exit code 1 for warnings and notes, too")
	f.register(cmd)
	return f.takePaths(cmd, 1)
}

func (f *checkFlags) run(w io.Writer) error {
	lowest, ok := check.Severity(f.severity)
	if !ok {
		return fmt.Errorf("unknown severity %q: error, warning or note", f.severity)
	}
	bundle, err := f.load(f.policies, source.Options{})
	if err != nil {
		return err
	}
	shown := check.AtLeast(check.Findings(bundle), lowest)
	if err := checkOutputs[f.output](w, bundle, shown); err != nil {
		return err
	}
	if document.HasErrors(shown) || f.strict && len(shown) > 0 {
		return findings{}
	}
	return nil
}
