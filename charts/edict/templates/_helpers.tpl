{{- define "edict.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The full name leaves room for "-storage-pool-eligibility". A release may have dots in its name, a Service not. */}}
{{- define "edict.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 38 | trimSuffix "-" -}}
{{- else if contains (include "edict.name" .) .Release.Name -}}
{{- .Release.Name | replace "." "-" | trunc 38 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "edict.name" .) | replace "." "-" | trunc 38 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of what has no namespace, or is in another one than the release: releases of one name in two namespaces have one each. */}}
{{- define "edict.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "edict.fullname" .) -}}
{{- end -}}

{{/* The label selector of the objects that the release decides about; refuses a text that is none. */}}
{{- define "edict.watchLabelSelector" -}}
{{- $key := "([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?" -}}
{{- $value := "([A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?)?" -}}
{{- $set := printf `\(\s*%[1]s(\s*,\s*%[1]s)*\s*\)` $value -}}
{{- $requirement := printf `\s*(!\s*%[1]s|%[1]s(\s*(=|==|!=)\s*%[2]s|\s+(in|notin)\s*%[3]s|\s*[<>]\s*-?[0-9]+)?)\s*` $key $value $set -}}
{{- if not (regexMatch (printf "^(%[1]s(,%[1]s)*)?$" $requirement) (.Values.watchLabelSelector | default "")) -}}
{{- fail (printf "watchLabelSelector: %q is not a label selector, such as shard=a or '!shard'" .Values.watchLabelSelector) -}}
{{- end -}}
{{- .Values.watchLabelSelector -}}
{{- end -}}

{{- define "edict.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "edict.fullname" .) -}}
{{- end -}}

{{/* The user that the API server takes the controller for. */}}
{{- define "edict.controllerUser" -}}
{{- printf "system:serviceaccount:%s:%s" .Release.Namespace (include "edict.serviceAccountName" .) -}}
{{- end -}}

{{- define "edict.selectorLabels" -}}
app.kubernetes.io/name: {{ include "edict.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "edict.labels" -}}
{{ include "edict.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: edict
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "edict.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A quantity of memory in bytes; .name says what it is. */}}
{{- define "edict.bytes" -}}
{{- $number := regexFind "^[0-9]+" .quantity | int64 -}}
{{- $unit := regexReplaceAll "^[0-9]+" .quantity "" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 -}}
{{- if or (not $number) (not (hasKey $units $unit)) -}}
{{- fail (printf "%s: %q is not a whole number of k, M, G, Ki, Mi or Gi" .name .quantity) -}}
{{- end -}}
{{- mul $number (get $units $unit) -}}
{{- end -}}

{{/* What each of the two processes beside the controller may have. */}}
{{- define "edict.childMemory" -}}
{{- if lt (include "edict.bytes" (dict "name" "childMemory" "quantity" .Values.childMemory) | int64) 167772160 -}}
{{- fail (printf "childMemory: %s is less than 160Mi" .Values.childMemory) -}}
{{- end -}}
{{- .Values.childMemory -}}
{{- end -}}

{{/* 90 % of the memory limit as GOMEMLIMIT wants it, in MiB, less what the two processes beside the controller may have; nothing without a limit. */}}
{{- define "edict.memoryLimit" -}}
{{- $limit := dig "limits" "memory" "" (.Values.resources | default dict) | toString -}}
{{- if $limit -}}
{{- $all := include "edict.bytes" (dict "name" "resources.limits.memory" "quantity" $limit) | int64 -}}
{{- $children := include "edict.bytes" (dict "name" "childMemory" "quantity" (include "edict.childMemory" .)) | int64 | mul 2 -}}
{{- if le (sub $all $children) 134217728 -}}
{{- fail (printf "resources.limits.memory: %s leaves less than 128Mi beside twice childMemory, %s" $limit .Values.childMemory) -}}
{{- end -}}
{{- div (mul (sub $all $children) 9) 10485760 -}}MiB
{{- end -}}
{{- end -}}

{{- define "edict.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "edict.securityContext" -}}
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
readOnlyRootFilesystem: true
{{- end -}}

{{/* What decides where a Pod goes, for the Deployment and the Job. */}}
{{- define "edict.placement" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Refuses a second release in a namespace: both would run all policies there. */}}
{{- define "edict.checkAlone" -}}
{{- range (lookup "apps/v1" "Deployment" .Release.Namespace "").items -}}
{{- $labels := .metadata.labels | default dict -}}
{{- if and (eq "edict" (get $labels "app.kubernetes.io/part-of")) (ne $.Release.Name (get $labels "app.kubernetes.io/instance")) -}}
{{- fail (printf "the release %s is in the namespace %s already, and each would run the policies of the other: take another namespace" (get $labels "app.kubernetes.io/instance") $.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- include "edict.checkEnforced" . -}}
{{- end -}}

{{/* The requirements of a label selector as a JSON list of key, op and values; "Unknown" is one that is not compared. */}}
{{- define "edict.requirements" -}}
{{- $out := list -}}
{{- range regexFindAll "[^,()]+([(][^)]*[)])?" . -1 -}}
{{- $one := trim . -}}
{{- $key := regexFind "[^!=<>() ]+" $one -}}
{{- if regexMatch "^![^=]*$" $one -}}
{{- $out = append $out (dict "key" $key "op" "DoesNotExist" "values" list) -}}
{{- else if regexMatch "^[^ ]+ +(not)?in *[(]" $one -}}
{{- $values := list -}}
{{- range splitList "," (regexFind "[(].*[)]" $one | trimAll "()") -}}{{- $values = append $values (trim .) -}}{{- end -}}
{{- $out = append $out (dict "key" $key "op" (regexMatch "^[^ ]+ +notin" $one | ternary "NotIn" "In") "values" $values) -}}
{{- else if contains "!=" $one -}}
{{- $out = append $out (dict "key" $key "op" "NotIn" "values" (list (regexReplaceAll ".*!=" $one "" | trim))) -}}
{{- else if contains "=" $one -}}
{{- $out = append $out (dict "key" $key "op" "In" "values" (list (regexReplaceAll ".*=" $one "" | trim))) -}}
{{- else if regexMatch "[<>]" $one -}}
{{- $out = append $out (dict "key" $key "op" "Unknown" "values" list) -}}
{{- else -}}
{{- $out = append $out (dict "key" $key "op" "Exists" "values" list) -}}
{{- end -}}
{{- end -}}
{{- toJson $out -}}
{{- end -}}

{{/* "true" if no labels match both selectors, .one and .other: they exclude each other by one key. */}}
{{- define "edict.disjoint" -}}
{{- $disjoint := false -}}
{{- $others := include "edict.requirements" .other | fromJsonArray -}}
{{- range $a := include "edict.requirements" .one | fromJsonArray -}}
{{- range $b := $others -}}
{{- if eq $a.key $b.key -}}
{{- $ops := list $a.op $b.op -}}
{{- $common := list -}}
{{- range $a.values -}}{{- if has . $b.values -}}{{- $common = append $common . -}}{{- end -}}{{- end -}}
{{- if has "DoesNotExist" $ops -}}
{{- if or (has "In" $ops) (has "Exists" $ops) -}}{{- $disjoint = true -}}{{- end -}}
{{- else if and (eq $a.op "In") (eq $b.op "In") -}}
{{- if not $common -}}{{- $disjoint = true -}}{{- end -}}
{{- else if and (eq $a.op "In") (eq $b.op "NotIn") -}}
{{- if eq (len $common) (len $a.values) -}}{{- $disjoint = true -}}{{- end -}}
{{- else if and (eq $a.op "NotIn") (eq $b.op "In") -}}
{{- if eq (len $common) (len $b.values) -}}{{- $disjoint = true -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $disjoint -}}true{{- end -}}
{{- end -}}

{{/* Refuses a second release in the cluster that would write what another writes. */}}
{{- define "edict.checkEnforced" -}}
{{- $mine := include "edict.enforced" . | fromJsonArray -}}
{{- $me := printf "%s/%s" .Release.Namespace .Release.Name -}}
{{- range (lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "").items -}}
{{- $notes := .metadata.annotations | default dict -}}
{{- $other := printf "%s/%s" (get $notes "meta.helm.sh/release-namespace") (get $notes "meta.helm.sh/release-name") -}}
{{- $selector := get $notes "chart.edict.dev/watch-label-selector" -}}
{{- if and (hasKey $notes "chart.edict.dev/enforces") (ne $other $me) (not (include "edict.disjoint" (dict "one" ($.Values.watchLabelSelector | default "") "other" $selector))) -}}
{{- $both := list -}}
{{- range get $notes "chart.edict.dev/enforces" | fromJsonArray -}}
{{- if has . $mine -}}{{- $both = append $both . -}}{{- end -}}
{{- end -}}
{{- with $both -}}
{{- fail (printf "the release %s enforces %s already, and two controllers that enforce one policy overwrite each other: here, switch these off (policies.NAME.enabled=false) or run them in the shadow (defaultMode=Shadow), or let each release have a watchLabelSelector that no object of the other matches (here %q, there %q)" $other (join ", " .) ($.Values.watchLabelSelector | default "") $selector) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
