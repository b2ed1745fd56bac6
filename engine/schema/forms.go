package schema

import "k8s.io/apimachinery/pkg/util/validation"

// forms are what the code of the API server requires of texts in fields of built-in
// definitions, which their schemas do not say. An empty text is one that is left out: where
// there has to be one, it is demanded.
var forms = map[string]func(string) []string{
	"io.k8s.api.core.v1.Container name":                             validation.IsDNS1123Label,
	"io.k8s.api.core.v1.ContainerPort name":                         validation.IsValidPortName,
	"io.k8s.api.core.v1.EndpointPort name":                          validation.IsDNS1123Label,
	"io.k8s.api.core.v1.EnvVar name":                                validation.IsRelaxedEnvVarName,
	"io.k8s.api.core.v1.PersistentVolumeClaimSpec storageClassName": validation.IsDNS1123Subdomain,
	"io.k8s.api.core.v1.PodSpec hostname":                           validation.IsDNS1123Label,
	"io.k8s.api.core.v1.PodSpec priorityClassName":                  validation.IsDNS1123Subdomain,
	"io.k8s.api.core.v1.PodSpec serviceAccountName":                 validation.IsDNS1123Subdomain,
	"io.k8s.api.core.v1.PodSpec subdomain":                          validation.IsDNS1123Label,
	"io.k8s.api.core.v1.ServicePort name":                           validation.IsDNS1123Label,
	"io.k8s.api.core.v1.Taint key":                                  validation.IsQualifiedName,
	"io.k8s.api.core.v1.Taint value":                                validation.IsValidLabelValue,
	"io.k8s.api.core.v1.Toleration key":                             validation.IsQualifiedName,
	"io.k8s.api.core.v1.Toleration value":                           validation.IsValidLabelValue,
	"io.k8s.api.core.v1.Volume name":                                validation.IsDNS1123Label,
}

// Malformed says why the API server refuses a text in a field of a built-in definition
// because of its form; nothing if it takes it.
func Malformed(definition, field, text string) []string {
	form := forms[definition+" "+field]
	if form == nil || text == "" {
		return nil
	}
	return form(text)
}
