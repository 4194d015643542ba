"""A web server for clients, with answers that are right and wrong. It writes its port."""
import socket
import threading

FILE = b"a file"


def handle(connection):
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return
            data += more
        head, _, data = data.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        method, target, _ = lines[0].split(b" ")
        fields = dict(line.lower().split(b": ", 1) for line in lines[1:])
        length = int(fields.get(b"content-length", 0))
        while len(data) < length:
            data += connection.recv(65536)
        body, data = data[:length], data[length:]
        path = target.split(b"?")[0]

        def answer(status, body, more=b""):
            connection.sendall(b"HTTP/1.1 %s\r\nContent-Type: text/plain\r\n%sContent-Length: %d\r\n\r\n%s"
                               % (status, more, len(body), body))

        if path == b"/a.txt":
            answer(b"200 OK", FILE)
        elif path == b"/echo":
            answer(b"201 Created", method + b" " + fields[b"content-type"] + b" " + body)
        elif path == b"/head":
            answer(b"200 OK", fields[b"x-some"] + b" " + fields[b"host"].split(b":")[0])
        elif path == b"/broken":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n")
            return
        elif path == b"/close":
            return
        elif path == b"/nonsense":
            connection.sendall(b"What?\r\n\r\n")
            return
        elif path == b"/heads":
            answer(b"200 OK", b"", b"".join(b"X-%d: 1\r\n" % n for n in range(1000)))
            return
        elif path == b"/big":
            answer(b"200 OK", b"x" * 200000)
        elif path == b"/many":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(100):
                connection.sendall(b"3e8\r\n" + b"y" * 1000 + b"\r\n")
            connection.sendall(b"0\r\n\r\n")
        else:
            answer(b"404 Not Found", target)


def serve(connection):
    with connection:
        handle(connection)


with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=[server.accept()[0]], daemon=True).start()
