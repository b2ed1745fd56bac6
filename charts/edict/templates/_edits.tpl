{{/*
What was edited in the cluster. An upgrade renders it anew, so that it stays, as
long as the chart and the values have what the last release had. What that was
stands in annotations that begin with chart.edict.dev/. Where helm has no
cluster to ask (helm template) nothing was edited.
*/}}

{{/* The ConfigMap that is there, as JSON; {} if there is none. */}}
{{- define "edict.live" -}}
{{- lookup "v1" "ConfigMap" .root.Release.Namespace (printf "%s-%s" (include "edict.fullname" .root) .name) | default dict | toJson -}}
{{- end -}}

{{/*
What the ConfigMap of a policy should hold, as JSON: files (by key), hash (of
what the chart and the values say), mode, wanted (the mode that they say), and
edited (what of it is an edit that stays).
*/}}
{{- define "edict.policyData" -}}
{{- $files := include "edict.policyFiles" . | fromJson -}}
{{- $hash := toJson $files | sha256sum -}}
{{- $wanted := include "edict.wantedMode" . -}}
{{- $out := dict "files" $files "hash" $hash "mode" $wanted "wanted" $wanted "edited" list -}}
{{- $live := include "edict.live" . | fromJson -}}
{{- if $live -}}
{{- $notes := $live.metadata.annotations | default dict -}}
{{- $now := pick ($live.data | default dict) (printf "%s.yaml" .name) (printf "%s.rego" .name) -}}
{{- $nowHash := toJson $now | sha256sum -}}
{{- $last := get $notes "chart.edict.dev/text" -}}
{{- if and (ne $nowHash $hash) (ne $nowHash $last) $now -}}
{{- if eq $last $hash -}}
{{- $_ := set $out "files" $now -}}
{{- $_ := set $out "edited" (append $out.edited "text") -}}
{{- else if ne (trunc 12 $nowHash) (toString .policy.discardEdit) -}}
{{- include "edict.refuseText" (merge (dict "hash" (trunc 12 $nowHash)) .) -}}
{{- end -}}
{{- end -}}
{{- $mode := get $notes "edict.dev/mode" -}}
{{- if and (hasKey $notes "chart.edict.dev/mode") (eq $wanted (get $notes "chart.edict.dev/mode")) (ne $wanted $mode) -}}
{{- $_ := set $out "mode" $mode -}}
{{- $_ := set $out "edited" (append $out.edited "mode") -}}
{{- end -}}
{{- end -}}
{{- toJson $out -}}
{{- end -}}

{{- define "edict.refuseText" -}}
{{- $name := printf "%s-%s" (include "edict.fullname" .root) .name -}}
{{- $group := "policies" -}}
{{- if .policy.extra -}}{{- $group = "extraPolicies" -}}{{- end -}}
{{- fail (printf "the text of the policy %[1]s was edited in the ConfigMap %[2]s/%[3]s (or a chart wrote it that did not note what it wrote), and the chart or the values have another text than at the last release. To keep the edit, give it as the value: kubectl -n %[2]s get configmap %[3]s -o jsonpath='{.data.%[1]s\\.yaml}' > %[1]s.yaml, and --set-file %[4]s.%[1]s.text=%[1]s.yaml (.rego the same way). To drop it: --set-string %[4]s.%[1]s.discardEdit=%[5]s" .name .root.Release.Namespace $name $group .hash) -}}
{{- end -}}

{{/*
The values for params as JSON: wanted (a mapping by policy, as the values say),
texts (by policy, what the ConfigMap should hold), and edited (policies). Of a
param that was edited the edit stays, unless the value has changed since the
last release.
*/}}
{{- define "edict.paramsData" -}}
{{- $wanted := dict -}}
{{- range $policy, $_ := include "edict.knownParams" . | fromJson -}}
{{- $_ := set $wanted $policy (get $.Values.params $policy | default dict) -}}
{{- end -}}
{{- $wanted = $wanted | toJson | fromJson -}}
{{- $live := include "edict.live" (dict "root" . "name" "params") | fromJson -}}
{{- $data := $live.data | default dict -}}
{{- $last := dig "metadata" "annotations" dict $live | default dict -}}
{{- $last = get $last "chart.edict.dev/params" | default "{}" | fromJson -}}
{{- $out := dict "wanted" $wanted "texts" dict "edited" list -}}
{{- range $policy, $new := $wanted -}}
{{- $old := get $last $policy | default dict -}}
{{- $text := get $data $policy | default "" -}}
{{- $now := fromYaml $text | default dict -}}
{{- if or (not (hasKey $data $policy)) (deepEqual $now $old) -}}
{{- $text = toYaml $new -}}
{{- else -}}
{{- if deepEqual $now $new | not -}}{{- $_ := set $out "edited" (append $out.edited $policy) -}}{{- end -}}
{{- if deepEqual $new $old | not -}}{{- $text = include "edict.mergedParams" (dict "old" $old "now" $now "new" $new) -}}{{- end -}}
{{- end -}}
{{- $_ := set $out.texts $policy $text -}}
{{- end -}}
{{- toJson $out -}}
{{- end -}}

{{/* What was edited, with the values that have changed since the last release. */}}
{{- define "edict.mergedParams" -}}
{{- $merged := omit .now "Error" -}}
{{- range $param := concat (keys .old) (keys .new) | uniq -}}
{{- if not (deepEqual (get $.old $param) (get $.new $param)) -}}
{{- if hasKey $.new $param -}}{{- $_ := set $merged $param (get $.new $param) -}}{{- else -}}{{- $merged = omit $merged $param -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}
