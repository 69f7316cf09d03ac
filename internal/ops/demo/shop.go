package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The shop is the repository that the two agents work on: api keeps the prices,
// and web shows them.
const (
	pricesFile = "api/prices.json"
	cartFile   = "web/cart.js"

	prices = `[
  { "sku": "protocol-droid", "amount_cents": 4900 },
  { "sku": "restraining-bolt", "amount_cents": 250 }
]
`
	cart = `// What the cart shows for one item.
export const price = (item) => item.price;
`
)

// A shop is where the repository is.
type shop string

func newShop(folder string) (shop, error) {
	for name, text := range map[string]string{pricesFile: prices, cartFile: cart} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return shop(folder), nil
}

var fieldRead = regexp.MustCompile(`item\.([a-z_]+)`)

// check is web's own test: the cart reads a field that prices have.
func (s shop) check() error {
	code, err := s.read(cartFile)
	if err != nil {
		return err
	}
	fields, err := s.fields()
	if err != nil {
		return err
	}
	for _, read := range fieldRead.FindAllStringSubmatch(code, -1) {
		if _, ok := fields[read[1]]; !ok {
			return fmt.Errorf("%s reads item.%s, and %s has no field %q", cartFile, read[1], pricesFile, read[1])
		}
	}
	return nil
}

// fields are what api's file says of the first item.
func (s shop) fields() (map[string]any, error) {
	text, err := s.read(pricesFile)
	if err != nil {
		return nil, err
	}
	var items []map[string]any
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil, err
	}
	return items[0], nil
}

// priceField is the field with the price, which api looks up when it is asked.
func (s shop) priceField() (string, error) {
	fields, err := s.fields()
	if err != nil {
		return "", err
	}
	for name := range fields {
		if strings.HasPrefix(name, "amount_") {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s has no amount", pricesFile)
}

var priceLine = regexp.MustCompile("export const price = .*")

// show makes the cart show a field that holds cents.
func (s shop) show(field, currency string) error {
	code, err := s.read(cartFile)
	if err != nil {
		return err
	}
	line := "export const price = (item) => `" + currency + "${(item." + field + " / 100).toFixed(2)}`;"
	return os.WriteFile(filepath.Join(string(s), filepath.FromSlash(cartFile)), []byte(priceLine.ReplaceAllLiteralString(code, line)), 0o600)
}

// line is the line of the cart that the agents work on.
func (s shop) line() (string, error) {
	code, err := s.read(cartFile)
	lines := strings.Split(strings.TrimSpace(code), "\n")
	return lines[len(lines)-1], err
}

func (s shop) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(string(s), filepath.FromSlash(name))) // #nosec G304 -- one of ours
	return string(text), err
}
