package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the build.
var version = "development"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of edict and of the libraries that decide its behaviour",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, "edict "+version)
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return
			}
			fmt.Fprintln(out, info.GoVersion)
			for _, dep := range info.Deps {
				switch dep.Path {
				case "github.com/google/cel-go", "k8s.io/apiserver", "sigs.k8s.io/controller-runtime":
					fmt.Fprintln(out, dep.Path+" "+dep.Version)
				}
			}
		},
	}
}
