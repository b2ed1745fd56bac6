{{/* The policies that are switched on, as a JSON list of file names. */}}
{{- define "edict.enabledPolicies" -}}
{{- $enabled := list -}}
{{- range $name, $policy := .Values.policies -}}
{{- if $policy.enabled -}}{{- $enabled = append $enabled $name -}}{{- end -}}
{{- end -}}
{{- toJson $enabled -}}
{{- end -}}

{{/* What the values say of every policy, the chart's and others, as a JSON mapping by file name. */}}
{{- define "edict.policies" -}}
{{- $all := dict -}}
{{- range $name, $policy := .Values.policies -}}
{{- if $policy -}}{{- $_ := set $all $name $policy -}}{{- end -}}
{{- end -}}
{{- range $name, $policy := .Values.extraPolicies -}}
{{- if hasKey $all $name -}}
{{- fail (printf "extraPolicies.%s: the chart has a policy of that name; another text for it is policies.%s.text" $name $name) -}}
{{- end -}}
{{- if $policy -}}
{{- $enabled := hasKey $policy "enabled" | ternary $policy.enabled true -}}
{{- $_ := set $all $name (merge (dict "extra" true "enabled" $enabled) (omit $policy "enabled")) -}}
{{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{/* The files of a policy as the chart and the values have them, as a JSON mapping by key. */}}
{{- define "edict.policyFiles" -}}
{{- $files := dict -}}
{{- range $ending, $value := dict "yaml" "text" "rego" "rego" -}}
{{- $key := printf "%s.%s" $.name $ending -}}
{{- $text := get $.policy $value -}}
{{- if and (not $text) (not $.policy.extra) -}}
{{- $text = $.root.Files.Get (printf "files/policies/%s" $key) -}}
{{- end -}}
{{- with $text | replace "\r\n" "\n" | trim -}}{{- $_ := set $files $key (printf "%s\n" .) -}}{{- end -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* The policies in a file as the chart and the values have it, as a JSON mapping by metadata.name. */}}
{{- define "edict.policiesIn" -}}
{{- $found := dict -}}
{{- $text := get (include "edict.policyFiles" . | fromJson) (printf "%s.yaml" .name) -}}
{{- range regexSplit "(?m)^---\\s*$" ($text | default "") -1 -}}
{{- $policy := fromYaml . -}}
{{- if hasKey $policy "Error" -}}
{{- fail (printf "the text of the policy %s is no YAML: %s" $.name $policy.Error) -}}
{{- end -}}
{{- if and (eq "Policy" (toString $policy.kind)) (dig "metadata" "name" "" $policy) -}}
{{- $_ := set $found $policy.metadata.name $policy -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/*
The mode that the values ask for; empty is that of the text. A text that is
switched off is on when its value says so.
*/}}
{{- define "edict.wantedMode" -}}
{{- $mode := .policy.mode | default .root.Values.defaultMode -}}
{{- if not $mode -}}
{{- range include "edict.policiesIn" . | fromJson -}}
{{- if and (not $.policy.extra) (not $.policy.text) (eq "Disabled" (dig "spec" "mode" "" .)) -}}{{- $mode = "Enforce" -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $mode -}}
{{- end -}}

{{/* The policies that this release enforces, as a JSON list of metadata.names. */}}
{{- define "edict.enforced" -}}
{{- $names := list -}}
{{- range $file, $policy := include "edict.policies" . | fromJson -}}
{{- if $policy.enabled -}}
{{- $of := dict "root" $ "name" $file "policy" $policy -}}
{{- $mode := include "edict.wantedMode" $of -}}
{{- range $name, $text := include "edict.policiesIn" $of | fromJson -}}
{{- if eq "Enforce" ($mode | default (dig "spec" "mode" "" $text) | default "Enforce") -}}{{- $names = append $names $name -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- sortAlpha $names | toJson -}}
{{- end -}}

{{/* The params of every policy as a JSON mapping, by metadata.name. A file may hold several policies. */}}
{{- define "edict.knownParams" -}}
{{- $known := dict -}}
{{- range $file, $policy := include "edict.policies" . | fromJson -}}
{{- range $name, $text := include "edict.policiesIn" (dict "root" $ "name" $file "policy" $policy) | fromJson -}}
{{- $_ := set $known $name (dig "spec" "params" dict $text | default dict) -}}
{{- end -}}
{{- end -}}
{{- toJson $known -}}
{{- end -}}

{{/* Refuses params that no policy has. */}}
{{- define "edict.checkParams" -}}
{{- $known := include "edict.knownParams" . | fromJson -}}
{{- range $policy, $params := .Values.params -}}
{{- if not (hasKey $known $policy) -}}
{{- fail (printf "params.%s: there is no policy of that name; there are %s" $policy (keys $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- $declared := get $known $policy -}}
{{- range $param, $_ := $params -}}
{{- if not (hasKey $declared $param) -}}
{{- fail (printf "params.%s.%s: that policy has no such param; it has %s" $policy $param (keys $declared | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
