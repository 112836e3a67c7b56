{{- /* What the operator and the gateway may do, by what it is for; generated from config/rbac and config/gateway. */ -}}
{{- define "taskonce.rules.configurations" -}}
- apiGroups:
  - admissionregistration.k8s.io
  resourceNames:
  - {{ include "taskonce.fullname" . }}-admission
  resources:
  - mutatingwebhookconfigurations
  - validatingwebhookconfigurations
  verbs:
  - get
  - update
{{- end }}
{{- define "taskonce.rules.election" -}}
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs:
  - create
- apiGroups:
  - coordination.k8s.io
  resourceNames:
  - {{ include "taskonce.lease" . }}
  resources:
  - leases
  verbs:
  - get
  - update
- apiGroups:
  - ""
  resources:
  - events
  verbs:
  - create
{{- end }}
{{- define "taskonce.rules.gateway" -}}
- apiGroups:
  - taskonce.dev
  resources:
  - tasksubmissions
  verbs:
  - create
  - get
  - watch
  - delete
  - submit-on-behalf
- apiGroups:
  - taskonce.dev
  resources:
  - tasktemplates
  verbs:
  - get
{{- end }}
{{- define "taskonce.rules.gatewayMetrics" -}}
- apiGroups:
  - authentication.k8s.io
  resources:
  - tokenreviews
  verbs:
  - create
- apiGroups:
  - authorization.k8s.io
  resources:
  - subjectaccessreviews
  verbs:
  - create
{{- end }}
{{- define "taskonce.rules.gatewayPage" -}}
- apiGroups:
  - taskonce.dev
  resources:
  - tasksubmissions
  - taskrecords
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - taskonce.dev
  resources:
  - tasktemplates
  verbs:
  - get
{{- end }}
{{- define "taskonce.rules.metrics" -}}
- apiGroups:
  - authentication.k8s.io
  resources:
  - tokenreviews
  verbs:
  - create
{{- end }}
{{- define "taskonce.rules.pageViewer" -}}
- nonResourceURLs:
  - /page/state
  verbs:
  - get
{{- end }}
{{- define "taskonce.rules.reviews" -}}
- apiGroups:
  - authorization.k8s.io
  resources:
  - subjectaccessreviews
  verbs:
  - create
{{- end }}
{{- define "taskonce.rules.secret" -}}
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - create
- apiGroups:
  - ""
  resourceNames:
  - {{ include "taskonce.fullname" . }}-webhook-cert
  resources:
  - secrets
  verbs:
  - update
{{- end }}
{{- define "taskonce.rules.work" -}}
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - list
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - get
- apiGroups:
  - batch
  resources:
  - jobs
  verbs:
  - create
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - create
  - patch
- apiGroups:
  - taskonce.dev
  resources:
  - taskdecisions
  verbs:
  - delete
  - list
  - patch
  - watch
- apiGroups:
  - taskonce.dev
  resources:
  - taskdecisions/status
  - tasksubmissions/status
  - tasktemplates/status
  verbs:
  - update
- apiGroups:
  - taskonce.dev
  resources:
  - taskrecords
  verbs:
  - create
  - delete
  - get
  - list
  - update
- apiGroups:
  - taskonce.dev
  resources:
  - tasksubmissions
  verbs:
  - delete
  - get
  - list
  - patch
  - watch
- apiGroups:
  - taskonce.dev
  resources:
  - tasktemplates
  verbs:
  - get
  - list
  - watch
{{- end }}
