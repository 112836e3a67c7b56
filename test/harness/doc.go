// Package harness runs a real control plane (etcd and kube-apiserver) on this machine, for tests, the demo and
// development. There is no kubelet and, unless a test starts it, no controller manager: namespaces are never
// finalized, owned objects are never collected, and pods do not run.
//
// The programs come from hack/controlplane/ensure.sh. They end with the process that started them, also when that is
// killed.
package harness
