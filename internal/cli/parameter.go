package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

// parameters are given one by one, or as a whole.
type parameters struct {
	each  []string
	whole string
}

func (p *parameters) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&p.each, "param", "p", nil, "One parameter: name=text, or name:=JSON for a number, a boolean, a list or an object. May be repeated.")
	flags.StringVar(&p.whole, "parameters", "", "All parameters as JSON or YAML, or @FILE.")
}

func (p *parameters) given() bool { return len(p.each) > 0 || p.whole != "" }

// JSON returns the parameters as one JSON object.
func (p *parameters) JSON() (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if p.whole != "" {
		raw, err := p.readWhole()
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &all); err != nil || all == nil {
			return nil, fmt.Errorf("--parameters must be an object")
		}
	}
	for _, given := range p.each {
		name, value, err := parameter(given)
		if err != nil {
			return nil, err
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("the parameter %q is given twice", name)
		}
		all[name] = value
	}
	return json.Marshal(all)
}

func (p *parameters) readWhole() ([]byte, error) {
	text := []byte(p.whole)
	if path, ok := strings.CutPrefix(p.whole, "@"); ok {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	if json.Valid(text) {
		return text, nil // digit for digit
	}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("--parameters: %w", err)
	}
	return raw, nil
}

// parameter reads name=text or name:=JSON. What kind of value it is, is said and not guessed.
func parameter(given string) (name string, value json.RawMessage, err error) {
	name, text, ok := strings.Cut(given, "=")
	if !ok || name == "" || name == ":" {
		return "", nil, fmt.Errorf("--param %q: must be name=text or name:=JSON", given)
	}
	plain, isJSON := strings.CutSuffix(name, ":")
	if !isJSON {
		value, err = json.Marshal(text)
		return name, value, err
	}
	if value = json.RawMessage(bytes.TrimSpace([]byte(text))); !json.Valid(value) {
		return "", nil, fmt.Errorf("--param %q: what follows := is not JSON; for a text write %s=%s", given, plain, text)
	}
	return plain, value, nil
}
