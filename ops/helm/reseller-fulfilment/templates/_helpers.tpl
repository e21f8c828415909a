{{/* Labels of everything. */}}
{{- define "reseller.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Labels that select the pods of a process: (list $ "api"). */}}
{{- define "reseller.selector" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ $.Chart.Name }}
app.kubernetes.io/instance: {{ $.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Name of the objects of a process: (list $ "api"). A Service has no dot in its name, and no digit at the beginning.
The hash tells releases apart whose changed names are the same. */}}
{{- define "reseller.name" -}}
{{- $ := index . 0 -}}
{{- $release := regexReplaceAll "^([0-9])" ($.Release.Name | replace "." "-") "r-${1}" -}}
{{- if or (ne $release $.Release.Name) (gt (len $release) 40) }}
{{- $release = printf "%s-%s" ($release | trunc 33 | trimSuffix "-") ($.Release.Name | sha256sum | trunc 6) -}}
{{- end }}
{{- printf "%s-%s" $release (index . 1) }}
{{- end }}

{{- define "reseller.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* Name of the worker deployment in Temporal, which may contain no dot. */}}
{{- define "reseller.deploymentName" -}}
{{ .Values.worker.versioning.deploymentName | default (.Release.Name | replace "." "-" | trunc 63) | quote }}
{{- end }}

{{/* The version of the image that is installed: its digest has priority, as in the image. */}}
{{- define "reseller.buildId" -}}
{{- $digest := .Values.image.digest | trimPrefix "sha256:" | trunc 12 -}}
{{ .Values.worker.versioning.buildId | default $digest | default .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The sets of workers, as YAML: one without a version, or the installed version and the previous ones. */}}
{{- define "reseller.workerVersions" -}}
{{- $ := . -}}
{{- $name := include "reseller.name" (list . "worker") -}}
{{- $replicas := .Values.worker.replicas -}}
{{- if not .Values.worker.versioning.enabled }}
- {name: {{ $name }}, image: {{ include "reseller.image" . | quote }}, replicas: {{ $replicas }}}
{{- else }}
{{- $slugs := list -}}
{{- range .Values.worker.versioning.previous }}
{{- $entry := toJson . -}}
{{- $unknown := keys (omit . "buildId" "tag" "digest" "replicas") -}}
{{- if $unknown }}
{{- fail (printf "worker.versioning.previous: unknown key %s in %s" (first $unknown) $entry) }}
{{- end }}
{{- range $key := list "buildId" "tag" "digest" }}
{{- if not (kindIs "string" (get (fromJson $entry) $key | default "")) }}
{{- fail (printf "worker.versioning.previous: %s must be a text in quotation marks in %s" $key $entry) }}
{{- end }}
{{- end }}
{{- /* The version of the chart would be other code under the name of this version. */}}
{{- if not (or .tag .digest) }}
{{- fail (printf "worker.versioning.previous: tag or digest is required in %s" $entry) }}
{{- end }}
{{- end }}
{{- $installed := dict "buildId" (include "reseller.buildId" .) "tag" .Values.image.tag "digest" .Values.image.digest -}}
{{- range prepend .Values.worker.versioning.previous $installed }}
{{- $buildId := required "worker.versioning.previous: buildId is required" .buildId | toString -}}
{{- $slug := regexReplaceAll "[^a-z0-9]+" (lower $buildId) "-" | trimAll "-" -}}
{{- if gt (len $slug) 14 }}
{{- $slug = printf "%s-%s" ($slug | trunc 7 | trimSuffix "-") ($buildId | sha256sum | trunc 6) -}}
{{- end }}
{{- if has $slug $slugs }}
{{- fail (printf "worker.versioning: two versions have the build id %s" $buildId) }}
{{- end }}
{{- $slugs = append $slugs $slug -}}
{{- $image := dict "repository" $.Values.image.repository "tag" (.tag | default "") "digest" (.digest | default "") -}}
{{- $values := dict "Values" (dict "image" $image) "Chart" $.Chart }}
- name: {{ printf "%s-%s" $name $slug }}
  slug: {{ $slug | quote }}
  buildId: {{ $buildId | quote }}
  image: {{ include "reseller.image" $values | quote }}
  replicas: {{ hasKey . "replicas" | ternary .replicas $replicas }}
{{- end }}
{{- end }}
{{- end }}

{{/* Labels that select the pods of a version: (list $ version). */}}
{{- define "reseller.workerSelector" -}}
{{ include "reseller.selector" (list (index . 0) "worker") }}
{{- with (index . 1).slug }}
reseller-fulfilment/build: {{ . | quote }}
{{- end }}
{{- end }}

{{/* The version of the workers, as variables: (list $ buildId). */}}
{{- define "reseller.versionEnv" -}}
{{- $ := index . 0 -}}
- name: WORKER_DEPLOYMENT_NAME
  value: {{ include "reseller.deploymentName" $ }}
- name: WORKER_BUILD_ID
  value: {{ index . 1 | quote }}
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
{{- with include "reseller.nodes" $ | trim }}
{{ . }}
{{- end }}
{{- end }}

{{/* The nodes on which every pod may run; may be empty. */}}
{{- define "reseller.nodes" -}}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A disruption budget of the values. Kubernetes refuses one with minAvailable and maxUnavailable, which has a default. */}}
{{- define "reseller.disruptionBudget" -}}
{{- toYaml (kindIs "invalid" .minAvailable | ternary (omit . "minAvailable") (omit . "maxUnavailable")) }}
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
otlpHeaders: OTEL_EXPORTER_OTLP_HEADERS_FILE
otlpTracesHeaders: OTEL_EXPORTER_OTLP_TRACES_HEADERS_FILE
httpsProxy: HTTPS_PROXY_FILE
httpProxy: HTTP_PROXY_FILE
webhookProxy: WEBHOOK_PROXY_FILE
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
  {{- /* Helm prints a number of a million or more with an exponent; JSON does not. */}}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
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
