package main

import "github.com/spf13/cobra"

func testCommand() *cobra.Command {
	return &cobra.Command{Use: "test PATH...", Short: "Run policy tests"}
}
