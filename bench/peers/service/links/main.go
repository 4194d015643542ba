// The link shortener of programs/service/Links.dry, with net/http and the usual SQLite driver.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	_ "github.com/mattn/go-sqlite3"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	table  = "CREATE TABLE IF NOT EXISTS links(id INTEGER PRIMARY KEY, url TEXT UNIQUE NOT NULL, uses INTEGER NOT NULL)"
	create = "INSERT INTO links(url, uses) VALUES($1, 0) ON CONFLICT(url) DO UPDATE SET url = url RETURNING id"
	follow = "UPDATE links SET uses = uses + 1 WHERE id = $1 RETURNING url"
	list   = "SELECT id, url, uses FROM links ORDER BY uses DESC, id LIMIT 100"
	page   = "<!doctype html><title>Links</title><form method=post action=links>" +
		"<input name=url> <button>Shorten</button></form>\n"
)

type shortener struct {
	create, follow, list *sql.Stmt
	requests             *prometheus.CounterVec
	log                  *slog.Logger
}

func (s *shortener) answer(w http.ResponseWriter, status int, kind string, body []byte) {
	s.requests.WithLabelValues(strconv.Itoa(status)).Inc()
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(status)
	w.Write(body)
}

func (s *shortener) problem(w http.ResponseWriter, status int, why string) {
	body, _ := json.Marshal(map[string]string{"error": why})
	s.answer(w, status, "application/json", body)
}

func (s *shortener) failed(w http.ResponseWriter, err error) {
	s.log.Error("the database has failed", "why", err)
	s.problem(w, http.StatusServiceUnavailable, "the database can't be asked")
}

func (s *shortener) made(w http.ResponseWriter, r *http.Request) {
	url := r.FormValue("url")
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") || len(url) > 2000 {
		s.problem(w, http.StatusUnprocessableEntity, "url has to be a URL")
		return
	}
	var id int64
	if err := s.create.QueryRow(url).Scan(&id); err != nil {
		s.failed(w, err)
		return
	}
	body := fmt.Sprintf("http://%s/%s\n", r.Host, strconv.FormatInt(id, 36))
	s.answer(w, http.StatusCreated, "text/plain; charset=utf-8", []byte(body))
}

func (s *shortener) followed(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	id, _ := strconv.ParseInt(code, 36, 64)
	var url string
	err := s.follow.QueryRow(id).Scan(&url)
	if errors.Is(err, sql.ErrNoRows) {
		s.problem(w, http.StatusNotFound, "there is no link "+code)
	} else if err != nil {
		s.failed(w, err)
	} else {
		w.Header().Set("Location", url)
		s.answer(w, http.StatusFound, "", nil)
	}
}

type link struct {
	Code string `json:"code"`
	URL  string `json:"url"`
	Uses int64  `json:"uses"`
}

func (s *shortener) listed(w http.ResponseWriter, r *http.Request) {
	rows, err := s.list.Query()
	if err != nil {
		s.failed(w, err)
		return
	}
	defer rows.Close()
	links := []link{}
	for rows.Next() {
		var id int64
		var l link
		if err := rows.Scan(&id, &l.URL, &l.Uses); err != nil {
			s.failed(w, err)
			return
		}
		l.Code = strconv.FormatInt(id, 36)
		links = append(links, l)
	}
	if err := rows.Err(); err != nil {
		s.failed(w, err)
		return
	}
	body, _ := json.Marshal(links)
	s.answer(w, http.StatusOK, "application/json", body)
}

func main() {
	at := flag.String("at", "127.0.0.1:8080", "the address to serve them at")
	database := flag.String("database", "links.db", "where they are kept")
	flag.Parse()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	db, err := sql.Open("sqlite3", "file:"+*database+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000")
	if err != nil {
		log.Error("no database", "why", err)
		os.Exit(1)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(table); err != nil {
		log.Error("no database", "why", err)
		os.Exit(1)
	}
	s := &shortener{log: log}
	for statement, text := range map[**sql.Stmt]string{&s.create: create, &s.follow: follow, &s.list: list} {
		if *statement, err = db.Prepare(text); err != nil {
			log.Error("no database", "why", err)
			os.Exit(1)
		}
	}
	registry := prometheus.NewRegistry()
	s.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total"}, []string{"status"})
	registry.MustRegister(s.requests)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, http.StatusOK, "text/html; charset=utf-8", []byte(page))
	})
	mux.HandleFunc("POST /links", s.made)
	mux.HandleFunc("GET /links", s.listed)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{code}", s.followed)

	server := &http.Server{Addr: *at, Handler: mux}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		<-signals
		log.Info("ends")
		server.Shutdown(context.Background())
		close(ended)
	}()
	log.Info("serves " + *at)
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Error("can't serve", "why", err)
		os.Exit(1)
	}
	<-ended
	db.Close()
}
