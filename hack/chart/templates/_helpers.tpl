{{- define "taskonce.fullname" -}}
{{- /* With the longest of what follows it, -controller-manager-metrics-service, it is a name of a Service: at most 63 characters, of
which the first is a letter, and none a dot. */ -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if regexMatch "^[0-9]" $name }}{{ printf "taskonce-%s" ($name | trunc 19 | trimSuffix "-") }}
{{- else if contains "taskonce" $name }}{{ $name | trunc 28 | trimSuffix "-" }}
{{- else }}{{ printf "%s-taskonce" ($name | trunc 19 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "taskonce.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: taskonce
control-plane: controller-manager
{{- end }}

{{- define "taskonce.gatewaySelector" -}}
app.kubernetes.io/component: gateway
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: taskonce
{{- end }}

{{- define "taskonce.gatewayLabels" -}}
app.kubernetes.io/component: gateway
{{ include "taskonce.labels" . }}
{{- end }}

{{- /* Whether the gateway asks the API server who somebody is. */ -}}
{{- define "taskonce.gatewayAsks" -}}
{{- if or (include "taskonce.delegated" .) (include "taskonce.gatewayShowsPage" .) }}true{{ end }}
{{- end }}

{{- /* Whether others than who forwards a port may be shown the page. */ -}}
{{- define "taskonce.gatewayShowsPage" -}}
{{- if and .Values.gateway.page.enabled (eq .Values.gateway.page.authentication "delegated") }}true{{ end }}
{{- end }}

{{- define "taskonce.gatewaySubjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "taskonce.fullname" . }}-gateway
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "taskonce.gatewayScheme" -}}
{{- ternary "https" "http" .Values.gateway.tls.enabled }}
{{- end }}

{{- define "taskonce.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/name: taskonce
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* What is true is "true", and what is not is empty. */ -}}
{{- define "taskonce.webhooks" -}}
{{- if and .Values.webhook.enabled (not .Values.namespaces) }}true{{ end }}
{{- end }}

{{- define "taskonce.keepsCertificate" -}}
{{- if and (include "taskonce.webhooks" .) (eq .Values.webhook.certificate.source "operator") }}true{{ end }}
{{- end }}

{{- define "taskonce.certManager" -}}
{{- if and (include "taskonce.webhooks" .) (eq .Values.webhook.certificate.source "cert-manager") }}true{{ end }}
{{- end }}

{{- /* Releases of one namespace, each for others, elect a leader each. */ -}}
{{- define "taskonce.lease" -}}
{{- if .Values.namespaces }}{{ include "taskonce.fullname" . }}{{ else }}taskonce.dev{{ end }}
{{- end }}

{{- define "taskonce.metricsAuthentication" -}}
{{- .Values.metrics.authentication | default (ternary "none" "delegated" (not (empty .Values.namespaces))) }}
{{- end }}

{{- define "taskonce.delegated" -}}
{{- if and .Values.metrics.enabled (eq (include "taskonce.metricsAuthentication" .) "delegated") }}true{{ end }}
{{- end }}

{{- define "taskonce.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
