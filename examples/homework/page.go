package main

import (
	"crypto/rand"
	"embed"
	"io/fs"
	"net/http"
	"os"
)

//go:embed page
var embedded embed.FS

// policy lets a page load and ask nothing but this server, and frame nothing but the second tab.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

// servePages adds the pages: all three persons at /, and each by itself at a path of its own.
func servePages(mux *http.ServeMux, o *options) {
	page, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	for path, file := range map[string]string{"GET /{$}": "all.html", "GET /student": "one.html", "GET /teacher": "one.html", "GET /parent": "one.html"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			header(w)
			http.ServeFileFS(w, r, page, file)
		})
	}
	mux.Handle("GET /page/", http.StripPrefix("/page", static(page)))
	mux.Handle("GET /client/", http.StripPrefix("/client", static(os.DirFS(o.client))))
	// What a browser has kept of an earlier run, whose ledger is no more, is no news of this one.
	run := rand.Text()[:8]
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"namespace": o.namespace, "run": run, "patience": o.patience.Milliseconds(), "slow": o.slow.Milliseconds(), "people": people})
	})
}

func static(files fs.FS) http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header(w)
		server.ServeHTTP(w, r)
	})
}

func header(w http.ResponseWriter) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-cache")
}
