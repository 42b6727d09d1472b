{{- define "cuzk.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* The prefix of all names: the release's name, which already says cuzk or gets it appended. 40 characters leave room for
the longest suffix. */ -}}
{{- define "cuzk.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "cuzk.name" .) .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "cuzk.name" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "cuzk.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (printf "%s-manager" (include "cuzk.fullname" .)) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "cuzk.selectorLabels" -}}
app.kubernetes.io/name: {{ include "cuzk.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "cuzk.managerLabels" -}}
{{ include "cuzk.labels" . }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "cuzk.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "cuzk.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: cuzk
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* An image reference: repository:tag, and @digest behind it if there is one. */ -}}
{{- define "cuzk.image" -}}
{{- $tag := default .appVersion .image.tag -}}
{{- .image.repository }}:{{ $tag }}{{ with .image.digest }}@{{ . }}{{ end }}
{{- end }}
