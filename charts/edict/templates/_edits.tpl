{{/*
What was edited in the cluster. An upgrade renders it anew, so that it stays, as
long as the chart and the values have what the last release had. What that was
stands in the annotation chart.edict.dev/values of the PolicySet. Where helm has no
cluster to ask (helm template) nothing was edited.
*/}}

{{/*
The PolicySet of a file as it should be, as JSON: files (of its ConfigMap, by key),
spec, values (what the chart and the values say) and edited (what of it is an edit
that stays).
*/}}
{{- define "edict.set" -}}
{{- $files := include "edict.policyFiles" . | fromJson -}}
{{- $digest := include "edict.digest" $files -}}
{{- $params := dict -}}
{{- range $policy, $_ := include "edict.policiesIn" . | fromJson -}}
{{- with get $.root.Values.params $policy -}}{{- $_ := set $params $policy . -}}{{- end -}}
{{- end -}}
{{- $values := dict "text" $digest "mode" (.policy.mode | default .root.Values.defaultMode) "params" $params -}}
{{- if hasKey .policy "suspend" -}}{{- $_ := set $values "suspend" .policy.suspend -}}{{- end -}}
{{- if .policy.pinned -}}{{- $_ := set $values "digest" $digest -}}{{- end -}}
{{- $values = $values | toJson | fromJson -}}
{{- $live := dict -}}
{{- if .root.Capabilities.APIVersions.Has "edict.dev/v1alpha1/PolicySet" -}}
{{- $live = lookup "edict.dev/v1alpha1" "PolicySet" .root.Release.Namespace .name | default dict -}}
{{- end -}}
{{- $last := dig "metadata" "annotations" dict $live | default dict -}}
{{- $last = get $last "chart.edict.dev/values" | default "{}" | fromJson -}}
{{- $out := merge (dict "files" $files "values" $values "edited" list) . -}}
{{- $source := dict "configMap" (dict "name" (printf "%s-%s" (include "edict.fullname" .root) .name)) -}}
{{- with $values.digest -}}{{- $_ := set $source "digest" . -}}{{- end -}}
{{- $_ := set $out "spec" (dict "source" $source) -}}
{{- if .policy.pinned -}}{{- $_ := set $out.spec "pinned" true -}}{{- end -}}
{{- with include "edict.allow" . | fromJsonArray -}}{{- $_ := set $out.spec "allow" . -}}{{- end -}}
{{- include "edict.keepText" (dict "out" $out "live" $live "last" $last) -}}
{{- include "edict.keepSpec" (dict "out" $out "live" ($live.spec | default dict) "last" $last) -}}
{{- pick $out "files" "spec" "values" "edited" | toJson -}}
{{- end -}}

{{/*
Keeps the text that runs by an edit of the ConfigMap or of spec.source.digest, or
refuses an upgrade to another text. A pinned set gets the digest of the text that
the chart and the values have, not of what was edited in the ConfigMap.
*/}}
{{- define "edict.keepText" -}}
{{- $out := .out -}}
{{- $text := lookup "v1" "ConfigMap" $out.root.Release.Namespace $out.spec.source.configMap.name | default dict -}}
{{- $now := pick ($text.data | default dict) (printf "%s.yaml" $out.name) (printf "%s.rego" $out.name) -}}
{{- $nowDigest := include "edict.digest" $now -}}
{{- $inText := and $now (ne $nowDigest $out.values.text) (ne $nowDigest (toString .last.text)) -}}
{{- $digest := dig "spec" "source" "digest" "" .live -}}
{{- $inDigest := and $digest (ne $digest $out.values.text) (ne $digest (toString .last.digest)) -}}
{{- $edit := ternary $digest $nowDigest (not (empty $inDigest)) | trimPrefix "sha256:" | trunc 12 -}}
{{- if or $inText $inDigest -}}
{{- if eq (toString .last.text) $out.values.text -}}
{{- if $inText -}}{{- $_ := set $out "files" $now -}}{{- $_ := set $out "edited" (append $out.edited "the text") -}}{{- end -}}
{{- if $inDigest -}}{{- $_ := set $out.spec.source "digest" $digest -}}{{- $_ := set $out "edited" (append $out.edited "source.digest") -}}{{- end -}}
{{- else if ne $edit (toString $out.policy.discardEdit) -}}
{{- include "edict.refuseText" (dict "out" $out "edit" $edit "digest" (ternary $digest "" (not (empty $inDigest)))) -}}
{{- else if and $inDigest (not $out.values.digest) -}}
{{- $_ := set $out.spec.source "digest" nil -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "edict.refuseText" -}}
{{- $out := .out -}}
{{- $namespace := $out.root.Release.Namespace -}}
{{- $value := printf "%s.%s" (ternary "extraPolicies" "policies" (default false $out.policy.extra)) $out.name -}}
{{- $drop := printf "To drop it: --set-string %s.discardEdit=%s" $value .edit -}}
{{- if .digest -}}
{{- fail (printf "spec.source.digest of the PolicySet %s/%s was set to %s in the cluster, and the chart or the values have another text than at the last release, which would not run. To keep the text that runs, leave the text in the values as it was. %s" $namespace $out.name .digest $drop) -}}
{{- end -}}
{{- fail (printf "the text of the policy %[1]s was edited in the ConfigMap %[2]s/%[3]s (or a chart wrote it that did not note what it wrote), and the chart or the values have another text than at the last release. To keep the edit, give it as the value: kubectl -n %[2]s get configmap %[3]s -o jsonpath='{.data.%[1]s\\.yaml}' > %[1]s.yaml, and --set-file %[4]s.text=%[1]s.yaml (.rego the same way). %[5]s" $out.name $namespace $out.spec.source.configMap.name $value $drop) -}}
{{- end -}}

{{/*
Keeps mode, suspend and params that were edited in the PolicySet, unless their
value has changed since the last release. Refuses to take a set out of force only
because no mode is given.
*/}}
{{- define "edict.keepSpec" -}}
{{- $out := .out -}}
{{- range $field, $default := dict "mode" "Shadow" "suspend" false -}}
{{- $wanted := get $out.values $field -}}
{{- if and $.live (eq (toString $wanted) (toString (get $.last $field))) (ne (toString (get $.live $field | default $default)) (toString ($wanted | default $default))) -}}
{{- $wanted = get $.live $field | default $default -}}
{{- $_ := set $out "edited" (append $out.edited $field) -}}
{{- end -}}
{{- if ne "" (toString $wanted) -}}{{- $_ := set $out.spec $field $wanted -}}{{- end -}}
{{- end -}}
{{- if and (eq "Enforce" (toString .live.mode)) (not $out.spec.mode) -}}
{{- fail (printf "the PolicySet %[1]s/%[2]s has the mode Enforce, and would get Shadow because the values of this upgrade have no mode: what the last release had is kept by --reuse-values only. Give the mode that you want: --set defaultMode=Enforce, or policies.%[2]s.mode" $out.root.Release.Namespace $out.name) -}}
{{- end -}}
{{- $params := dict -}}
{{- range $policy := concat (keys $out.values.params) (keys (.live.params | default dict)) | uniq | sortAlpha -}}
{{- $new := get $out.values.params $policy | default dict -}}
{{- $old := dig "params" $policy dict $.last -}}
{{- $now := dig "params" $policy dict $.live -}}
{{- $all := $new -}}
{{- if and $.live (not (deepEqual $now $old)) (not (deepEqual $now $new)) -}}
{{- $_ := set $out "edited" (append $out.edited (printf "the params of %s" $policy)) -}}
{{- $all = include "edict.mergedParams" (dict "old" $old "now" $now "new" $new) | fromJson -}}
{{- end -}}
{{- if $all -}}{{- $_ := set $params $policy $all -}}{{- end -}}
{{- end -}}
{{- if $params -}}{{- $_ := set $out.spec "params" $params -}}{{- end -}}
{{- end -}}

{{/* What was edited, with the values that have changed since the last release, as JSON. */}}
{{- define "edict.mergedParams" -}}
{{- $merged := .now -}}
{{- range $param := concat (keys .old) (keys .new) | uniq -}}
{{- if not (deepEqual (get $.old $param) (get $.new $param)) -}}
{{- if hasKey $.new $param -}}{{- $_ := set $merged $param (get $.new $param) -}}{{- else -}}{{- $merged = omit $merged $param -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}
