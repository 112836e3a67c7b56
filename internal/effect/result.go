package effect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Note stands in for a result that cannot be stored as it is.
type Note struct {
	// Note says why the result is not here: "too large" or "not JSON".
	Note string `json:"note"`
	// Size is the size of what was received, in bytes; where Truncated, of what was read.
	Size int `json:"size"`
	// Truncated says that reading stopped at a limit.
	Truncated bool `json:"truncated,omitempty"`
	// ContentType is what the receiver called it.
	ContentType string `json:"contentType,omitempty"`
	// Digest of the bytes that were read.
	Digest string `json:"digest"`
}

// StoreResult gives an outcome its result: raw as canonical JSON where it is JSON of at most MaxResultBytes, and
// otherwise a Note. Numbers that Kubernetes would round are strings in it; so the digest is that of what is stored.
// Nothing at all (an empty raw) leaves the outcome without a result.
func (o *Outcome) StoreResult(raw []byte, contentType string, truncated bool) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return
	}
	note := Note{Size: len(raw), ContentType: contentType, Truncated: truncated}
	canonical, err := asStored(raw)
	switch {
	case truncated || len(canonical) > MaxResultBytes:
		note.Note = "too large"
	case err != nil:
		note.Note = "not JSON"
	default:
		o.Result, o.ResultDigest = canonical, digest(canonical)
		return
	}
	if err == nil && !truncated {
		raw = canonical // the digest of a result is over its canonical form, however large
	}
	note.Digest = digest(raw)
	o.Result, _ = json.Marshal(note)
	o.ResultDigest = note.Digest
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
