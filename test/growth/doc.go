// Command growth finds out what finished submissions cost a running operator: it puts many of them, with their records,
// straight into etcd, and compares start, memory and sweep with those of an empty cluster.
package main
