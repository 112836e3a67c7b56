// Package harness runs a real control plane (etcd and kube-apiserver) on this machine, for tests, the demo and
// development. There is no kubelet, and of the controller manager only what Options.Controllers names: without it
// namespaces are never finalized and owned objects never collected. Pods do not run; PlayPods sets their status as a
// kubelet would.
//
// The programs come from hack/controlplane/ensure.sh. They end with the process that started them, also when that is
// killed.
package harness
