package main

import (
	"net"
	"net/http"
)

// admin adds what the demo steers the receiver by. Each answers 204 when it is done.
func (r *receiver) admin(mux *http.ServeMux) {
	mux.HandleFunc("POST /admin/listen", r.listen)
	mux.HandleFunc("POST /admin/release", r.release)
	mux.HandleFunc("POST /admin/drain", r.drain)
}

// listen opens one more address (?address=): until then, nothing listens there.
func (r *receiver) listen(w http.ResponseWriter, request *http.Request) {
	listener, err := net.Listen("tcp", request.URL.Query().Get("address"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	go func() { _ = newServer(r).Serve(listener) }()
	w.WriteHeader(http.StatusNoContent)
}

// release lets held calls go on, those that are there and those that come.
func (r *receiver) release(w http.ResponseWriter, _ *http.Request) {
	r.releaseOnce.Do(func() { close(r.released) })
	w.WriteHeader(http.StatusNoContent)
}

// drain returns when no call can have an effect any more, held and late ones included. It releases what is held.
func (r *receiver) drain(w http.ResponseWriter, _ *http.Request) {
	r.releaseOnce.Do(func() { close(r.released) })
	r.work.Wait()
	w.WriteHeader(http.StatusNoContent)
}
