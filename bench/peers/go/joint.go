package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
)

type number struct {
	X int64 `json:"x"`
}

type answered struct {
	Answer number
}

// joint answers a number with the next one, as Drystone's server of that name does over HTTP.
func joint(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("an address is needed")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /joint/Ask", func(w http.ResponseWriter, r *http.Request) {
		var asked number
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestBody)).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answered{number{asked.X + 1}})
	})
	listener, err := net.Listen("tcp", arguments[0])
	if err != nil {
		return err
	}
	fmt.Println("listening")
	return http.Serve(listener, mux)
}
