{{- define "muster.name" -}}
{{- if contains "muster" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-muster" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "muster.selector" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
{{- with .Values.image.tag }}
app.kubernetes.io/version: {{ . | trunc 63 | quote }}
{{- end }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "muster-%s" .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "muster.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag }}{{ end }}
{{- end }}

{{- /* The Deployment of one half: root, component, roles, of (its values), probed (its port). */ -}}
{{- define "muster.deployment" -}}
{{- $root := .root -}}
{{- $values := .root.Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "muster.name" $root }}-{{ .component }}
  labels:
    {{- include "muster.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: {{ .of.replicas }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  selector:
    matchLabels:
      {{- include "muster.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "muster.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        # Pods read their settings at start: other settings are other pods.
        checksum/settings: {{ include (print $root.Template.BasePath "/settings.yaml") $root | sha256sum }}
        {{- with .of.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "muster.name" $root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      # Five seconds for the proxies to see that it goes, twenty for what is in hand.
      terminationGracePeriodSeconds: 60
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile: {type: RuntimeDefault}
      {{- with $values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      {{- with .of.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .of.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .of.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "muster.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ .component }}
      containers:
        - name: muster
          image: {{ include "muster.image" $root | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          args: [serve, --roles, {{ .roles | quote }}]
          ports:
            {{- if eq .component "api" }}
            - {name: http, containerPort: 8080}
            {{- end }}
            - {name: ops, containerPort: 8081}
          envFrom:
            - configMapRef: {name: {{ include "muster.name" $root }}}
          env:
            - name: MUSTER_DATABASE_URL
              valueFrom: {secretKeyRef: {name: {{ $values.database.secret | quote }}, key: {{ $values.database.key | quote }}}}
            {{- with $values.mail.secret }}
            - name: MUSTER_SMTP_URL
              valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: {{ $values.mail.key | quote }}}}
            {{- end }}
            {{- with $values.measurements.secret }}
            - name: MUSTER_MEASUREMENTS_URL
              valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: {{ $values.measurements.key | quote }}}}
            {{- end }}
            {{- with $values.files.credentials }}
            - name: AWS_ACCESS_KEY_ID
              valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: AWS_ACCESS_KEY_ID}}
            - name: AWS_SECRET_ACCESS_KEY
              valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: AWS_SECRET_ACCESS_KEY}}
            {{- end }}
            {{- with $values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          # Migrations come before the first answer, and half an hour is ample for them.
          startupProbe:
            httpGet: {path: /healthz, port: {{ .probed }}}
            periodSeconds: 2
            failureThreshold: 900
          # It asks nothing else: a database that is away restarts nobody.
          livenessProbe:
            httpGet: {path: /healthz, port: {{ .probed }}}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: {path: /readyz, port: {{ .probed }}}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          lifecycle:
            preStop: {sleep: {seconds: 5}}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          {{- with .of.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          volumeMounts:
            - {name: data, mountPath: /var/lib/muster}
            - {name: tmp, mountPath: /tmp}
            - {name: secret-key, mountPath: /etc/muster/secret-key, readOnly: true}
            {{- if $values.settingsFiles }}
            - {name: files, mountPath: /etc/muster/files, readOnly: true}
            {{- end }}
      volumes:
        # Nothing in it outlives a pod, but mails where no mail server is set.
        - {name: data, emptyDir: {}}
        - {name: tmp, emptyDir: {}}
        # Muster refuses a key that others than owner and group may read.
        - name: secret-key
          secret:
            secretName: {{ $values.secretKey.secret | quote }}
            defaultMode: 0440
            items:
              - {key: {{ $values.secretKey.key | quote }}, path: secret.key}
        {{- with $values.settingsFiles }}
        - name: files
          secret: {secretName: {{ . | quote }}, defaultMode: 0440}
        {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "muster.name" $root }}-{{ .component }}
  labels:
    {{- include "muster.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "muster.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}
