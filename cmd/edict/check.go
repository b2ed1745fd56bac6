package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
)

func checkCommand() *cobra.Command {
	var output string
	var schemas []string
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Load, type-check and analyse policies",
		Long: `Loads the policies at each PATH (a file or a folder), types every expression
against the schemas of the kinds, and prints what is wrong with its place in
the file. A file may also be the manifest of a ConfigMap with policies; then its
annotations ` + v1alpha1.AnnotationMode + ` and ` + v1alpha1.AnnotationRollout + ` are checked, too. Schemas of custom kinds are read from CRDs in folders named schemas
beside the policies, and from those given with --schemas.`,
		Example: "  edict check policies",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bundle, err := source.Load(args, source.Options{Schemas: schemas, ConfigMaps: true})
			if err != nil {
				return found("%v", err)
			}
			return report(cmd.OutOrStdout(), output, bundle)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json or github")
	cmd.Flags().StringArrayVar(&schemas, "schemas", nil, "a folder of CRDs; may repeat")
	return cmd
}

func report(w io.Writer, output string, b *source.Bundle) error {
	all := append([]document.Problem{}, b.Problems...) // never null in JSON
	switch output {
	case "text":
		for _, p := range all {
			printProblem(w, p)
		}
		fmt.Fprintln(w, summary(b, all))
	case "json":
		if err := writeJSON(w, map[string]any{"problems": all, "policies": len(b.Policies), "files": b.Files}); err != nil {
			return err
		}
	case "github":
		for _, p := range all {
			fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d::%s\n", p.Severity, p.File, p.Line, p.Column, escapeGitHub(full(p)))
		}
	default:
		return fmt.Errorf("unknown output %q: text, json or github", output)
	}
	if document.HasErrors(b.Problems) {
		return findings{}
	}
	return nil
}

func full(p document.Problem) string {
	if p.Hint == "" {
		return p.Message
	}
	return p.Message + " (" + p.Hint + ")"
}

func escapeGitHub(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// printProblem writes a problem for a person.
func printProblem(w io.Writer, p document.Problem) { fmt.Fprintln(w, p.Pretty()) }

func summary(b *source.Bundle, all []document.Problem) string {
	errors, warnings := 0, 0
	for _, p := range all {
		if p.Severity == document.Error {
			errors++
		} else {
			warnings++
		}
	}
	return fmt.Sprintf("%s in %s: %s, %s", count(len(b.Units), "policy", "policies"), count(b.Files, "file", "files"),
		count(errors, "error", "errors"), count(warnings, "warning", "warnings"))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
