// Package crds has the CustomResourceDefinitions of Edict.
package crds

import _ "embed" // for the definition

// PolicySets is the CustomResourceDefinition of PolicySets, as YAML.
//
//go:embed edict.dev_policysets.yaml
var PolicySets []byte
