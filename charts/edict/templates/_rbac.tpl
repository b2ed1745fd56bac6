{{/* The namespace that rules hold in: the param's value, or its default. */}}
{{- define "edict.ruleNamespace" -}}
{{- dig .rule.policy .rule.param .rule.namespace .root.Values.params -}}
{{- end -}}

{{/* The name of a Role: after the file, and after the param too, since a file may have several. */}}
{{- define "edict.ruleName" -}}
{{- $policy := eq .file .rule.policy | ternary .file (printf "%s-%s" .file .rule.policy) -}}
{{- printf "%s-%s:%s" (include "edict.clusterName" .root) $policy .rule.param -}}
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

{{/* The ServiceAccounts of the controller, and of the Job that ends its work, as a JSON list of subjects. */}}
{{- define "edict.controllerSubjects" -}}
{{- $subjects := list (dict "kind" "ServiceAccount" "name" (include "edict.serviceAccountName" .) "namespace" .Release.Namespace) -}}
{{- if .Values.release.enabled -}}
{{- $subjects = append $subjects (dict "kind" "ServiceAccount" "name" (printf "%s-release" (include "edict.fullname" .)) "namespace" .Release.Namespace) -}}
{{- end -}}
{{- toJson $subjects -}}
{{- end -}}

{{/* What the names of the policies' ServiceAccounts begin with. */}}
{{- define "edict.policyAccountPrefix" -}}
{{- printf "%s-policy-" (include "edict.fullname" .) -}}
{{- end -}}

{{/* The ServiceAccount that the policies of a file write as, as a JSON list of subjects. */}}
{{- define "edict.policySubjects" -}}
{{- if .root.Values.policyServiceAccounts -}}
{{- list (dict "kind" "ServiceAccount" "name" (printf "%s%s" (include "edict.policyAccountPrefix" .root) .name) "namespace" .root.Release.Namespace) | toJson -}}
{{- else -}}
{{- include "edict.controllerSubjects" .root -}}
{{- end -}}
{{- end -}}

{{/* Of some rules those that the controller itself needs: it reads for all policies and sends their Events. A JSON list. */}}
{{- define "edict.sharedRules" -}}
{{- $shared := list -}}
{{- range . -}}
{{- $verbs := list -}}
{{- $wanted := eq (toJson .resources) `["events"]` | ternary (list "get" "list" "watch" "create" "patch") (list "get" "list" "watch") -}}
{{- range $verb := .verbs -}}
{{- if has $verb $wanted -}}{{- $verbs = append $verbs $verb -}}{{- else if eq $verb "*" -}}{{- $verbs = $wanted -}}{{- end -}}
{{- end -}}
{{- if $verbs -}}{{- $shared = append $shared (set (deepCopy .) "verbs" $verbs) -}}{{- end -}}
{{- end -}}
{{- toJson $shared -}}
{{- end -}}

{{/* A role with rules and its binding, in a namespace or for the cluster; nothing without rules. */}}
{{- define "edict.grant" -}}
{{- if .rules }}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "edict.labels" .root | nindent 4 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "edict.labels" .root | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ .name | quote }}}
subjects:
  {{- toYaml .subjects | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The end of what is said to somebody who lacks the right. */}}
{{- define "edict.unauthorized" -}}
{{- printf ": it needs the verb authorize on policysets.edict.dev in the namespace %s, such as by a RoleBinding to the ClusterRole %s:authorize" .Release.Namespace (include "edict.clusterName" .) -}}
{{- end -}}
