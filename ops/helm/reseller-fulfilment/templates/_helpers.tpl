{{/* Labels of everything. */}}
{{- define "reseller.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Labels that select the pods of a process: (list $ "api"). */}}
{{- define "reseller.selector" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ $.Chart.Name }}
app.kubernetes.io/instance: {{ $.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Name of the objects of a process: (list $ "api"). */}}
{{- define "reseller.name" -}}
{{- $ := index . 0 -}}
{{- printf "%s-%s" ($.Release.Name | trunc 40 | trimSuffix "-") (index . 1) }}
{{- end }}

{{- define "reseller.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* Pod security: no root, no token, no capability, nothing written outside /tmp. */}}
{{- define "reseller.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false # They would set variables such as API_PORT for a service of that name.
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "reseller.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* Where the pods of a process run: (list $ "api"). */}}
{{- define "reseller.placement" -}}
{{- $ := index . 0 -}}
{{- $component := index . 1 -}}
topologySpreadConstraints:
{{- range $.Values.topologyKeys }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels: {{- include "reseller.selector" (list $ $component) | nindent 8 }}
{{- end }}
{{- with $.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The file of each secret of a process: (list $ "encryptionKeys" …), as variables. */}}
{{- define "reseller.secretEnv" -}}
{{- $ := index . 0 -}}
{{- $variables := include "reseller.secretVariables" $ | fromYaml -}}
{{- range rest . }}
{{- if index $.Values.secrets.keys . }}
- name: {{ index $variables . }}
  value: /etc/reseller/secrets/{{ index $.Values.secrets.keys . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "reseller.secretVariables" -}}
encryptionKeys: ENCRYPTION_KEYS_FILE
databaseUrl: DATABASE_URL_FILE
databasePassword: DATABASE_PASSWORD_FILE
databaseDirectUrl: DATABASE_DIRECT_URL_FILE
servicePassword: SERVICE_PASSWORD_FILE
serviceWebhookSecrets: SERVICE_WEBHOOK_SECRETS_FILE
temporalApiKey: TEMPORAL_API_KEY_FILE
temporalCa: TEMPORAL_TLS_CA
temporalCert: TEMPORAL_TLS_CERT
temporalKey: TEMPORAL_TLS_KEY
codecToken: CODEC_TOKEN_FILE
{{- end }}

{{/* The same keys as a volume. */}}
{{- define "reseller.secretVolume" -}}
{{- $ := index . 0 -}}
- name: secrets
  secret:
    secretName: {{ $.Values.secrets.name }}
    defaultMode: 0440
    items:
{{- range rest . }}
{{- with index $.Values.secrets.keys . }}
      - {key: {{ . }}, path: {{ . }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "reseller.volumeMounts" -}}
- {name: secrets, mountPath: /etc/reseller/secrets, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{/* Variables from values: (list $ .Values.api.env). Those of one process have priority. */}}
{{- define "reseller.env" -}}
{{- $ := index . 0 -}}
- name: LOG_LEVEL
  value: {{ $.Values.logLevel }}
{{- range $name, $value := merge (dict) (index . 1) $.Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Variables of API and worker. */}}
{{- define "reseller.productEnv" -}}
- name: POLICY_FILE
  value: /etc/reseller/policy/policy.yaml
- name: TEMPORAL_ADDRESS
  value: {{ required "temporal.address is required" .Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .Values.temporal.namespace | quote }}
- name: TEMPORAL_TLS
  value: {{ .Values.temporal.tls | quote }}
{{- with .Values.temporal.serverName }}
- name: TEMPORAL_TLS_SERVER_NAME
  value: {{ . | quote }}
{{- end }}
- name: SERVICE_BASE_URL
  value: {{ required "service.baseUrl is required: the production base address of the service" .Values.service.baseUrl | quote }}
- name: SERVICE_MODE
  value: {{ .Values.service.mode }}
- name: SERVICE_EMAIL
  value: {{ required "service.email is required: the reseller account at the service" .Values.service.email | quote }}
{{- with .Values.service.headerPrefix }}
- name: SERVICE_HEADER_PREFIX
  value: {{ . | quote }}
{{- end }}
{{- with .Values.service.missingCapabilities }}
- name: SERVICE_MISSING_CAPABILITIES
  value: {{ . | quote }}
{{- end }}
{{- end }}
