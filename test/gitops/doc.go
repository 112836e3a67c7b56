// Package gitops reads objects as GitOps tools do: kstatus, which is Flux's word too, and Argo CD's health scripts from
// config/argocd.
package gitops
