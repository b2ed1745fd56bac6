{{/* What the installation opens of what is protected, as a JSON list: for the shipped policies, for those of the values, and for others. */}}
{{- define "edict.allowances" -}}
{{- $all := list -}}
{{- $shipped := (.Files.Get "files/policies/allowances.yaml" | fromYaml).spec.allow -}}
{{- range $file, $policy := include "edict.policies" . | fromJson -}}
{{- if $policy.enabled -}}
{{- $pin := include "edict.pin" (dict "root" $ "name" $file "policy" $policy) | fromJson -}}
{{- $texts := include "edict.policiesIn" (dict "root" $ "name" $file "policy" $policy) | fromJson -}}
{{- $allowances := $policy.allowances | default list -}}
{{- range ternary list $shipped (default false $policy.extra) -}}
{{- if hasKey $texts .policy -}}{{- $allowances = append $allowances . -}}{{- end -}}
{{- end -}}
{{- range $allowances -}}
{{- $name := .policy | default $file -}}
{{- $params := include "edict.pinnedParams" (dict "root" $ "pinned" $policy.pinned "name" $name "text" (get $texts $name | default dict)) | fromJson -}}
{{- $bound := dict -}}
{{- if $policy.pinned -}}
{{- $of := dict "root" $ "name" $file "policy" $policy -}}
{{- $_ := set $bound "mode" (include "edict.wantedMode" $of | default (dig "spec" "mode" "" (get $texts $name | default dict)) | default "Enforce") -}}
{{- end -}}
{{- $all = append $all (merge (dict "policy" $name "pinned" (merge $params $bound $pin)) .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson (concat $all (.Values.extraAllowances | default list)) -}}
{{- end -}}

{{/*
What the allowances of a policy are bound to, as JSON: the ConfigMap, and with
pinned the text as the chart and the values have it. Whoever edits the ConfigMap
does not change that.
*/}}
{{- define "edict.pin" -}}
{{- $pin := dict "configMap" (printf "%s-%s" (include "edict.fullname" .root) .name) -}}
{{- if .policy.pinned -}}
{{- $files := include "edict.policyFiles" . | fromJson -}}
{{- $input := "" -}}
{{- range $ending := list "yaml" "rego" -}}
{{- with get $files (printf "%s.%s" $.name $ending) -}}
{{- $input = printf "%s%d:%s" $input (len .) . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $pin "text" (printf "sha256:%s" (sha256sum $input)) -}}
{{- end -}}
{{- toJson $pin -}}
{{- end -}}

{{/* With pinned, the params of a policy as the values or its text have them. */}}
{{- define "edict.pinnedParams" -}}
{{- $params := dict -}}
{{- if .pinned -}}
{{- range $param, $declared := dig "spec" "params" dict .text | default dict -}}
{{- $default := $declared -}}
{{- if kindIs "map" $declared -}}{{- $default = get $declared "default" -}}{{- end -}}
{{- $values := get $.root.Values.params $.name | default dict -}}
{{- $_ := set $params $param (hasKey $values $param | ternary (get $values $param) $default) -}}
{{- end -}}
{{- end -}}
{{- if $params -}}{{- toJson (dict "params" $params) -}}{{- else -}}{}{{- end -}}
{{- end -}}
