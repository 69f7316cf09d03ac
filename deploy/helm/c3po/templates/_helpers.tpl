{{/* The coordinators' name: the release's, which is c3po in the plain manifests. */}}
{{- define "c3po.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Redis' name: "redis" beside a release called c3po, else the release's with it. */}}
{{- define "c3po.redis" -}}
{{ if eq .Release.Name "c3po" }}redis{{ else }}{{ include "c3po.name" . }}-redis{{ end }}
{{- end }}

{{- define "c3po.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Where Redis is: the first nodes of the cluster, or what was given. */}}
{{- define "c3po.redisURL" -}}
{{- if .Values.redis.enabled -}}
{{- $redis := include "c3po.redis" . -}}
{{- $hosts := list -}}
{{- range $i := until (int .Values.redis.masters) }}{{ $hosts = append $hosts (printf "%s-%d.%s:6379" $redis $i $redis) }}{{ end -}}
redis://:$(REDIS_PASSWORD)@{{ join "," $hosts }}
{{- else -}}
{{ required "redis.url says where Redis is, if redis.enabled is false" .Values.redis.url }}
{{- end -}}
{{- end }}
