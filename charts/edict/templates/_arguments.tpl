{{/* The arguments of the controller. */}}
{{- define "edict.arguments" -}}
- run
- --namespace={{ .Release.Namespace }}
{{- if .Values.policyServiceAccounts }}
- --policy-service-accounts={{ include "edict.policyAccountPrefix" . }}
{{- end }}
- --leader-elect
- --leader-elect-namespace={{ .Release.Namespace }}
- --leader-elect-name={{ include "edict.fullname" . }}
- --leader-elect-identity=$(POD_NAME)
{{- with include "edict.watchLabelSelector" . }}
- {{ printf "--watch-label-selector=%s" . | quote }}
{{- end }}
- --metrics-bind-address=:4272
- --metrics-secure={{ .Values.metrics.secure }}
{{- if .Values.metrics.certSecretName }}
- --metrics-cert-dir=/etc/edict/metrics
{{- end }}
- --health-probe-bind-address=:4271
{{ include "edict.webhookArguments" . }}
- --log-level={{ .Values.log.level }}
- --workers={{ .Values.workers }}
- --child-memory={{ include "edict.childMemory" . }}
- --stop-timeout={{ .Values.stopTimeoutSeconds }}s
- --default-change-limit={{ .Values.brakes.changes }}
- --default-removal-limit={{ .Values.brakes.removals }}
- --max-change-limit={{ .Values.brakes.maxChanges }}
- --max-removal-limit={{ .Values.brakes.maxRemovals }}
- --policy-qps={{ .Values.brakes.policyQPS }}
{{- with include "edict.extenderArguments" . | trim }}
{{ . }}
{{- end }}
{{- if .Values.decisionEvents }}
- --decision-events
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "edict.webhookArguments" -}}
{{- if not .Values.webhook.enabled -}}
- --webhook-bind-address=
{{- else -}}
- --webhook-bind-address=:9443
{{- if .Values.webhook.clientCA.configMapName }}
- --webhook-client-ca-file=/etc/edict/webhook-clients/{{ .Values.webhook.clientCA.key }}
{{- end }}
{{- if .Values.webhook.certManager.enabled }}
- --webhook-cert-dir=/etc/edict/webhook
{{- else }}
- --webhook-cert-secret={{ include "edict.fullname" . }}-webhook
- --webhook-configuration={{ include "edict.clusterName" . }}
{{- range include "edict.webhookNames" . | fromJsonArray }}
- --webhook-dns-name={{ . }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* What all webhooks have in common. */}}
{{- define "edict.webhookClient" -}}
admissionReviewVersions: [v1]
clientConfig:
  {{- if .Values.webhook.url }}
  url: {{ .Values.webhook.url }}
  {{- else }}
  service: {name: {{ include "edict.fullname" . }}-webhook, namespace: {{ .Release.Namespace }}, path: /validate, port: 443}
  {{- end }}
namespaceSelector:
  matchLabels: {kubernetes.io/metadata.name: {{ .Release.Namespace }}}
matchPolicy: Equivalent
sideEffects: NoneOnDryRun
{{- end -}}

{{/* The names that the webhook is called by, as a JSON list. */}}
{{- define "edict.webhookNames" -}}
{{- $service := printf "%s-webhook.%s.svc" (include "edict.fullname" .) .Release.Namespace -}}
{{- $names := list $service -}}
{{- with .Values.webhook.url -}}
{{- $host := (urlParse .).hostname -}}
{{- if and (regexMatch "^[0-9.]+$|:" $host) (not $.Values.webhook.certManager.enabled) -}}
{{- fail (printf "webhook.url: the controller's own certificate has names only, and %s is an address; name it, or let cert-manager make the certificate" $host) -}}
{{- end -}}
{{- $names = append $names $host -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{- define "edict.extenderArguments" -}}
{{- with .Values.extender -}}
{{- if .url }}
- --extender-url={{ .url }}
- --extender-timeout={{ .timeout }}
- --extender-max-concurrent={{ .maxConcurrent }}
{{- with .serverName }}
- --extender-server-name={{ . }}
{{- end }}
{{- if .insecureSkipVerify }}
- --extender-insecure-skip-verify
{{- end }}
{{- if .ca.secretName }}
- --extender-ca-file=/etc/edict/extender-ca/ca.crt
{{- end }}
{{- if .clientCertificate.secretName }}
- --extender-cert-file=/etc/edict/extender-client/tls.crt
- --extender-key-file=/etc/edict/extender-client/tls.key
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "edict.volumeMounts" -}}
{{- if and .Values.webhook.enabled .Values.webhook.certManager.enabled }}
- {name: webhook, mountPath: /etc/edict/webhook, readOnly: true}
{{- end }}
{{- if and .Values.webhook.enabled .Values.webhook.clientCA.configMapName }}
- {name: webhook-clients, mountPath: /etc/edict/webhook-clients, readOnly: true}
{{- end }}
{{- if .Values.metrics.certSecretName }}
- {name: metrics, mountPath: /etc/edict/metrics, readOnly: true}
{{- end }}
{{- with .Values.extender }}
{{- if and .url .ca.secretName }}
- {name: extender-ca, mountPath: /etc/edict/extender-ca, readOnly: true}
{{- end }}
{{- if and .url .clientCertificate.secretName }}
- {name: extender-client, mountPath: /etc/edict/extender-client, readOnly: true}
{{- end }}
{{- end }}
{{- end -}}

{{- define "edict.volumes" -}}
{{- if and .Values.webhook.enabled .Values.webhook.certManager.enabled }}
- name: webhook
  secret: {secretName: {{ include "edict.fullname" . }}-webhook-tls}
{{- end }}
{{- if and .Values.webhook.enabled .Values.webhook.clientCA.configMapName }}
- name: webhook-clients
  configMap: {name: {{ .Values.webhook.clientCA.configMapName }}}
{{- end }}
{{- with .Values.metrics.certSecretName }}
- name: metrics
  secret: {secretName: {{ . }}}
{{- end }}
{{- with .Values.extender }}
{{- if and .url .ca.secretName }}
- name: extender-ca
  secret:
    secretName: {{ .ca.secretName }}
    items: [{key: {{ .ca.key }}, path: ca.crt}]
{{- end }}
{{- if and .url .clientCertificate.secretName }}
- name: extender-client
  secret:
    secretName: {{ .clientCertificate.secretName }}
    items:
      - {key: {{ .clientCertificate.certKey }}, path: tls.crt}
      - {key: {{ .clientCertificate.keyKey }}, path: tls.key}
{{- end }}
{{- end }}
{{- end -}}
