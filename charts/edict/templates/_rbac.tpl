{{/* The namespace that rules hold in: the param's value, or its default. */}}
{{- define "edict.ruleNamespace" -}}
{{- dig .rule.policy .rule.param .rule.namespace .root.Values.params -}}
{{- end -}}

{{/* The name of a Role: after the file, and after the param too, since a file may have several. */}}
{{- define "edict.ruleName" -}}
{{- $policy := eq .file .rule.policy | ternary .file (printf "%s-%s" .file .rule.policy) -}}
{{- printf "%s-%s:%s" (include "edict.fullname" .root) $policy .rule.param -}}
{{- end -}}

{{/* "true" unless the cluster can be asked and has no such namespace. */}}
{{- define "edict.namespaceServed" -}}
{{- if or (not (lookup "v1" "Namespace" "" "kube-system")) (eq .namespace .root.Release.Namespace) (lookup "v1" "Namespace" "" .namespace) -}}true{{- end -}}
{{- end -}}

{{/* The namespaces that are missing, as a JSON mapping to the policies that want them. */}}
{{- define "edict.missingNamespaces" -}}
{{- $missing := dict -}}
{{- range $policy := include "edict.enabledPolicies" . | fromJsonArray -}}
{{- $derived := $.Files.Get (printf "files/rbac/%s.yaml" $policy) | fromYaml -}}
{{- range $one := $derived.namespaced -}}
{{- $namespace := include "edict.ruleNamespace" (dict "root" $ "rule" $one) -}}
{{- if not (include "edict.namespaceServed" (dict "root" $ "namespace" $namespace)) -}}
{{- $_ := set $missing $namespace (append (get $missing $namespace | default list) $one.policy | uniq) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $missing -}}
{{- end -}}
