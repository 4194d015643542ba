"""A service of another make, by TLS. Arguments: port, certificate, key."""
import http.server
import json
import ssl
import sys


class Greeter(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.path == "/greet/Name" and self.headers.get("Authorization") == "Bearer secret"
        answer = {"Greeting": {"x": "Bonjour, " + asked["x"]}} if known else {"error": "who are you?"}
        body = json.dumps(answer).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Greeter)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
context.set_alpn_protocols(["http/1.1"])
server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
