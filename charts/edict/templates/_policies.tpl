{{/* The policies that are switched on, as a JSON list of file names. */}}
{{- define "edict.enabledPolicies" -}}
{{- $enabled := list -}}
{{- range $name, $policy := include "edict.policies" . | fromJson -}}
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

{{/* The digest of files, as spec.source.digest has it: of each key in byte order "KEY LENGTH", a line break, and the value. */}}
{{- define "edict.digest" -}}
{{- $input := "" -}}
{{- range $key, $value := . -}}{{- $input = printf "%s%s %d\n%s" $input $key (len $value) $value -}}{{- end -}}
{{- printf "sha256:%s" (sha256sum $input) -}}
{{- end -}}

{{/* The value of a key of a ConfigMap, so that it is stored as it is: readable, or quoted if a block would change it. */}}
{{- define "edict.block" -}}
{{- if and (hasSuffix "\n" .) (eq . (printf "%s\n" (trim .))) (not (regexMatch "[^\\t\\n\\x{20}-\\x{7e}\\x{a0}-\\x{2027}\\x{202a}-\\x{d7ff}\\x{e000}-\\x{fefe}\\x{ff00}-\\x{fffd}\\x{10000}-\\x{10ffff}]" .)) -}}
|
    {{- trim . | nindent 4 }}
{{- else -}}
{{- toJson . | replace "\u0085" "\\u0085" | replace "\u007f" "\\u007f" | replace "\ufeff" "\\ufeff" -}}
{{- end -}}
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

{{/* The policies that this release enforces, as a JSON list of metadata.names: of the modes of set and text the narrower one holds. */}}
{{- define "edict.enforced" -}}
{{- $names := list -}}
{{- range $file, $policy := include "edict.policies" . | fromJson -}}
{{- if $policy.enabled -}}
{{- $of := dict "root" $ "name" $file "policy" $policy -}}
{{- if eq "Enforce" (dig "spec" "mode" "" (include "edict.set" $of | fromJson)) -}}
{{- range $name, $text := include "edict.policiesIn" $of | fromJson -}}
{{- if eq "Enforce" (dig "spec" "mode" "Enforce" $text) -}}{{- $names = append $names $name -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- sortAlpha $names | toJson -}}
{{- end -}}

{{/* What the policies of a file may do of what is protected, as a JSON list for spec.allow: what is shipped, and what the values say. */}}
{{- define "edict.allow" -}}
{{- $allow := list -}}
{{- $texts := include "edict.policiesIn" . | fromJson -}}
{{- if not .policy.extra -}}
{{- range (.root.Files.Get "files/policies/allowances.yaml" | fromYaml).spec.allow -}}
{{- if hasKey $texts .policy -}}{{- $allow = append $allow . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range .policy.allowances -}}
{{- $allow = append $allow (merge (dict "policy" (.policy | default $.name) "apiGroup" (.apiGroup | default "")) .) -}}
{{- end -}}
{{- toJson $allow -}}
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
