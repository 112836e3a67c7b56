#!/usr/bin/env bash
# Writes the PrometheusRule of the Prometheus Operator: its spec is config/prometheus/rules.yaml.
set -euo pipefail
cat <<'END'
# Generated from rules.yaml by "make manifests": do not edit.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: alerts
  namespace: system
  labels:
    app.kubernetes.io/name: taskonce
    app.kubernetes.io/managed-by: kustomize
spec:
END
sed -e '/^#/d' -e 's/^./  &/' "$(dirname "${BASH_SOURCE[0]}")/../../config/prometheus/rules.yaml"
