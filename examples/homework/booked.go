package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// booking is one entry of the receiver's ledger: points that were really awarded.
type booking struct {
	Time    time.Time   `json:"time"`
	Receipt int         `json:"receipt"`
	Of      string      `json:"of"` // task, student and version, with slashes between them
	Points  json.Number `json:"points"`
	Key     string      `json:"key"` // that the receiver was given
}

// bookedFor reads from the receiver's ledger what was booked for a task, the first one first.
func bookedFor(path, task string) ([]booking, error) {
	entries, err := ledger.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	booked := []booking{}
	for _, e := range entries {
		if e.Kind == ledger.Effect && strings.HasPrefix(e.BusinessKey, task+"/") {
			booked = append(booked, booking{Time: e.Time, Receipt: e.Receipt, Of: e.BusinessKey, Points: cmp.Or(e.Amount, "0"), Key: e.Key})
		}
	}
	return booked, nil
}
