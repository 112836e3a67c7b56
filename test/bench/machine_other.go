//go:build !linux

package main

import "errors"

func cpu() map[string]float64 { return nil }

func residentMiB(int) (float64, error) {
	return 0, errors.New("memory is read from /proc, so on Linux only")
}

func processor() string { return "" }
