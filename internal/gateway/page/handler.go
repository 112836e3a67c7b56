package page

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"time"
)

//go:embed web
var embedded embed.FS

// StatePath is where the browser asks for what the page shows. Who may get it may see the page.
const StatePath = "/page/state"

// fresh is how long one view is told to everybody who asks: that many people look costs nothing.
const fresh = time.Second

// State serves the view. Who may see it is the caller's to decide.
func (p *Page) State() http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		said, err := p.say()
		if err != nil {
			http.Error(writer, err.Error(), http.StatusInternalServerError)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		writer.Header().Set("Cache-Control", "no-store")
		_, _ = writer.Write(said)
	})
}

// say returns the view as JSON.
func (p *Page) say() ([]byte, error) {
	p.saying.Lock()
	defer p.saying.Unlock()
	now := p.now()
	if p.said != nil && now.Sub(p.saidAt) < fresh {
		return p.said, nil
	}
	said, err := json.Marshal(build(p.known(now), now))
	if err != nil {
		return nil, err
	}
	p.said, p.saidAt = said, now
	return said, nil
}

// Handler serves the page at /, and what it shows at StatePath. The page itself holds nothing that anybody must not see.
func Handler(state http.Handler) http.Handler {
	files, err := fs.Sub(embedded, "web")
	if err != nil {
		panic(err) // of this package
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+StatePath, state)
	mux.Handle("GET /", http.FileServerFS(files))
	return secured(mux)
}

// policy lets the page load and ask for what it is served with, and nothing else; and it may not make text into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		header := writer.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-cache")
		next.ServeHTTP(writer, request)
	})
}
