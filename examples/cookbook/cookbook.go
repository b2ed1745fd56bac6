// Package cookbook holds the recipes of the cookbook: a folder for each, with a
// policy, its tests and its allowances.
package cookbook

import "embed"

// Files are the folders of the recipes.
//
//go:embed */*.yaml */*.rego */schemas/*.yaml
var Files embed.FS
