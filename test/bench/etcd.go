package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// What etcd counts.
const (
	etcdWritten = "etcd_disk_wal_write_bytes_total"
	etcdInUse   = "etcd_mvcc_db_total_size_in_use_in_bytes"
)

// etcd returns one of etcd's own figures.
func (w *world) etcd(ctx context.Context, name string) (value float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.plane.EtcdURL()+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, errors.Join(fmt.Errorf("etcd has no figure %s", name), lines.Err())
}
