{{/* The policies that are switched on, as a JSON list of file names. */}}
{{- define "edict.enabledPolicies" -}}
{{- $enabled := list -}}
{{- range $name, $policy := .Values.policies -}}
{{- if $policy.enabled -}}{{- $enabled = append $enabled $name -}}{{- end -}}
{{- end -}}
{{- toJson $enabled -}}
{{- end -}}

{{/*
The params of every shipped policy as a JSON mapping, by metadata.name.
A file may hold several policies.
*/}}
{{- define "edict.knownParams" -}}
{{- $known := dict -}}
{{- range $file, $_ := .Values.policies -}}
{{- $text := $.Files.Get (printf "files/policies/%s.yaml" $file) -}}
{{- range splitList "\n---\n" $text -}}
{{- $policy := fromYaml . -}}
{{- if hasKey $policy "metadata" -}}
{{- $_ := set $known $policy.metadata.name ($policy.spec.params | default dict) -}}
{{- end -}}
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
