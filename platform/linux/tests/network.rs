//! Network, Listener, Input and Output over real sockets on the loopback device.

mod harness;

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::iter;
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use drystone_linux::Options;
use harness::{Client, Held, V, run};

/// An address that nobody uses.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Dials until someone listens.
fn dial(address: &str) -> TcpStream {
    for _ in 0..500 {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("nobody listens at {address}");
}

async fn listen(client: Client, address: &str) -> Held {
    client.required("Network").ask_component("Listen", [V::text(address)]).await
}

async fn accept(client: Client, listener: Held) -> Held {
    client.held(listener, "Listener").ask_component("Accept", []).await
}

fn data(text: impl AsRef<[u8]>) -> (&'static str, Vec<V>) {
    ("Data", vec![V::text(text)])
}

#[test]
fn lines_are_echoed() {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut stream = dial(&address);
            stream.write_all(b"one\r\ntwo\nlast").unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let (input, output) = (client.held(connection, "Input"), client.held(connection, "Output"));
        while let (_, mut values) = input.ask("ReadLine", []).await
            && !values.is_empty()
        {
            output.send("Write", [values.remove(0)]).await;
            output.send("Write", [V::text(";")]).await;
        }
        output.send("Finish", []).await;
        assert_eq!(output.ask("Update", []).await, ("Done", vec![]));
        assert_eq!(input.ask("ReadLine", []).await, ("End", vec![]));
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    assert_eq!(peer.join().unwrap(), "one;two;last;");
}

#[test]
fn a_name_is_dialled() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let peer = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        (&stream).write_all(line.to_uppercase().as_bytes()).unwrap();
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let network = client.required("Network");
        let address = V::text(format!("tcp://localhost:{port}"));
        let connection = network.ask_component("Dial", [address]).await;
        let (input, output) = (client.held(connection, "Input"), client.held(connection, "Output"));
        output.send("Write", [V::text("hello\n")]).await;
        assert_eq!(input.ask("ReadLine", []).await, data("HELLO"));
        assert_eq!(input.ask("Read", [V::Int(10)]).await, ("End", vec![]));
        client.delete(connection).await;
        peer.join().unwrap();
    });
    assert_eq!(status, 0);
}

#[test]
fn what_cannot_be_reached_is_refused() {
    let address = free_address();
    let status = run(&["Network"], Options::default(), move |client| async move {
        let network = client.required("Network");
        let refused = network.ask("Dial", [V::text(&address)]).await;
        assert_eq!(refused, ("Failed", vec![V::text("Connection refused")]));
        assert_eq!(network.ask("Dial", [V::text("nonsense")]).await.0, "Failed");
        assert_eq!(network.ask("Dial", [V::text("no-such-host.invalid:1")]).await.0, "Failed");
        let listener = listen(client, &address).await;
        assert_eq!(network.ask("Listen", [V::text(&address)]).await.0, "Failed");
        client.delete(listener).await;
        // The address is free again.
        let listener = listen(client, &address).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
}

#[test]
fn a_read_has_a_time_limit() {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut stream = dial(&address);
            stream.write_all(b"half").unwrap();
            let mut end = Vec::new();
            stream.read_to_end(&mut end).unwrap();
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let input = client.held(connection, "Input");
        let start = Instant::now();
        input.send("Limit", [V::Int(100)]).await;
        assert_eq!(input.ask("ReadLine", []).await, ("Failed", vec![V::text("timeout")]));
        assert!((95..5000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!(input.ask("Read", [V::Int(0)]).await, data(""));
        assert_eq!(input.ask("Read", [V::Int(-1)]).await.0, "Failed");
        assert_eq!(input.ask("Read", [V::Int(3)]).await, data("hal"));
        assert_eq!(input.ask("Read", [V::Int(3)]).await, data("f"));
        assert_eq!(input.ask("Read", [V::Int(0)]).await, data(""), "nobody waits for nothing");
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    peer.join().unwrap();
}

#[test]
fn a_line_without_end_fails() {
    a_line_is_too_long(vec![b'x'; 1 << 20]);
}

#[test]
fn a_line_that_is_too_long_fails_though_it_ends() {
    let mut line = vec![b'x'; 70_000];
    line.push(b'\n');
    a_line_is_too_long(line);
}

fn a_line_is_too_long(line: Vec<u8>) {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut stream = dial(&address);
            let _ = stream.write_all(&line);
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let answer = client.held(connection, "Input").ask("ReadLine", []).await;
        assert_eq!(answer, ("Failed", vec![V::text("line too long")]));
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    peer.join().unwrap();
}

#[test]
fn each_of_many_that_accept_gets_one_connection() {
    const MANY: usize = 100;
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let streams: Vec<_> = iter::repeat_with(|| dial(&address)).take(MANY + 1).collect();
            for mut stream in streams {
                let mut all = String::new();
                stream.read_to_string(&mut all).unwrap();
            }
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let accepted = Rc::new(Cell::new(0));
        let seat = || {
            let accepted = accepted.clone();
            client.spawn("Listener", listener, move |child| async move {
                let connection = child.required("Listener").ask_component("Accept", []).await;
                accepted.set(accepted.get() + 1);
                child.delete(connection).await;
            })
        };
        let seats: Vec<_> = iter::repeat_with(seat).take(MANY).collect();
        for seat in seats {
            client.delete(seat).await;
        }
        assert_eq!(accepted.get(), MANY);
        // The one that is left is still there for whoever comes next.
        let connection = accept(client, listener).await;
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    peer.join().unwrap();
}

#[test]
fn close_ends_a_waiting_read() {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut stream = dial(&address);
            let mut all = String::new();
            stream.read_to_string(&mut all).unwrap();
            all
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let ended = Rc::new(Cell::new(false));
        let reader = client.spawn("Input", connection, {
            let ended = ended.clone();
            move |child| async move {
                assert_eq!(child.required("Input").ask("ReadLine", []).await, ("End", vec![]));
                ended.set(true);
            }
        });
        client.sleep(50).await;
        assert!(!ended.get());
        let output = client.held(connection, "Output");
        output.send("Write", [V::text("bye")]).await;
        output.send("Close", []).await;
        client.delete(reader).await;
        assert!(ended.get());
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    assert_eq!(peer.join().unwrap(), "bye");
}

#[test]
fn a_slow_reader_slows_the_writer_down() {
    const LINES: usize = 40_000;
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let stream = dial(&address);
            thread::sleep(Duration::from_millis(300));
            let mut n = 0;
            for line in BufReader::new(stream).lines() {
                assert!(line.unwrap().starts_with(&format!("{n} ")));
                n += 1;
            }
            n
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let written = Rc::new(Cell::new(0));
        let writer = client.spawn("Output", connection, {
            let written = written.clone();
            move |child| async move {
                let output = child.required("Output");
                for i in 0..LINES {
                    output.send("Write", [V::text(format!("{i} {}\n", "x".repeat(500)))]).await;
                    written.set(i + 1);
                }
            }
        });
        client.sleep(150).await;
        // 20 MB don't fit into the kernel's buffers and ours.
        assert!((1..LINES).contains(&written.get()), "{}", written.get());
        client.delete(writer).await;
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    assert_eq!(peer.join().unwrap(), LINES);
}

#[test]
fn writes_after_a_failure_are_dropped() {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || drop(dial(&address))
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let output = client.held(connection, "Output");
        assert_eq!(client.held(connection, "Input").ask("Read", [V::Int(1)]).await, ("End", vec![]));
        let mut answer = ("Done", vec![]);
        for _ in 0..100 {
            for _ in 0..10 {
                output.send("Write", [V::text("x".repeat(10_000))]).await;
            }
            answer = output.ask("Update", []).await;
            if answer.0 == "Failed" {
                break;
            }
            client.sleep(1).await;
        }
        assert_eq!(answer.0, "Failed");
        assert_eq!(output.ask("Update", []).await.0, "Failed");
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    peer.join().unwrap();
}

#[test]
fn a_thousand_connections_are_served_at_once() {
    const N: usize = 1000;
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut streams: Vec<_> = (0..N).map(|_| dial(&address)).collect();
            for round in 0..3 {
                for (i, stream) in streams.iter_mut().enumerate() {
                    writeln!(stream, "{i} {round}").unwrap();
                }
                for (i, stream) in streams.iter_mut().enumerate() {
                    let mut answer = [0; 64];
                    let n = stream.read(&mut answer).unwrap();
                    assert_eq!(String::from_utf8_lossy(&answer[..n]), format!("{i} {round}"));
                }
            }
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let served = Rc::new(RefCell::new(0));
        let mut held = Vec::new();
        for _ in 0..N {
            let connection = accept(client, listener).await;
            let lines = Rc::new(RefCell::new(Vec::new()));
            let reader = client.spawn("Input", connection, {
                let (lines, served) = (lines.clone(), served.clone());
                move |child| async move {
                    let input = child.required("Input");
                    while let ("Data", mut values) = input.ask("ReadLine", []).await {
                        lines.borrow_mut().push(values.remove(0));
                    }
                    *served.borrow_mut() += 1;
                }
            });
            let writer = client.spawn("Output", connection, move |child| async move {
                let output = child.required("Output");
                let mut answers = 0;
                while answers < 3 {
                    child.sleep(5).await;
                    let lines = std::mem::take(&mut *lines.borrow_mut());
                    for line in lines {
                        answers += 1;
                        output.send("Write", [line]).await;
                    }
                }
            });
            held.push((reader, writer, connection));
        }
        for (reader, writer, connection) in held {
            client.delete(reader).await;
            client.delete(writer).await;
            client.delete(connection).await;
        }
        assert_eq!(*served.borrow(), N);
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    peer.join().unwrap();
}

#[test]
fn what_was_written_before_the_end_is_sent() {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut stream = dial(&address);
            thread::sleep(Duration::from_millis(200));
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all.len()
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        client.held(connection, "Output").send("Write", [V::text("x".repeat(10_000_000))]).await;
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    assert_eq!(peer.join().unwrap(), 10_000_000);
}

#[test]
fn close_releases_a_writer_whose_peer_never_reads() {
    let address = free_address();
    let listener = TcpListener::bind(&address).unwrap();
    let status = run(&["Network"], Options::default(), move |client| async move {
        let connection = client.required("Network").ask_component("Dial", [V::text(&address)]).await;
        let (peer, _) = listener.accept().unwrap();
        let writer = client.spawn("Output", connection, move |child| async move {
            let output = child.required("Output");
            for _ in 0..1000 {
                output.send("Write", [V::text("x".repeat(50_000))]).await;
            }
            // Whether the rest has been sent is the kernel's secret.
            output.ask("Update", []).await;
        });
        client.sleep(100).await;
        let start = Instant::now();
        client.held(connection, "Output").send("Close", []).await;
        client.delete(writer).await;
        client.delete(connection).await;
        assert!(start.elapsed() < Duration::from_secs(5));
        drop(peer);
    });
    assert_eq!(status, 0);
}

#[test]
fn a_write_has_a_time_limit() {
    let address = free_address();
    let listener = TcpListener::bind(&address).unwrap();
    let status = run(&["Network"], Options::default(), move |client| async move {
        let connection = client.required("Network").ask_component("Dial", [V::text(&address)]).await;
        let (mut peer, _) = listener.accept().unwrap();
        let (input, output) = (client.held(connection, "Input"), client.held(connection, "Output"));
        output.send("Limit", [V::Int(100)]).await;
        output.send("Write", [V::text("fits")]).await;
        assert_eq!(output.ask("Update", []).await, ("Done", vec![]));
        let start = Instant::now();
        output.send("Write", [V::text("x".repeat(20_000_000))]).await;
        output.send("Write", [V::text("dropped")]).await;
        assert_eq!(output.ask("Update", []).await, ("Failed", vec![V::text("timeout")]));
        assert!((95..5000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!(output.ask("Update", []).await, ("Failed", vec![V::text("timeout")]));
        assert_eq!(input.ask("Read", [V::Int(1)]).await, ("End", vec![]), "it has ended both ways");
        let mut received = Vec::new();
        // The kernel may tell the peer by an error that not all will come.
        let _ = peer.read_to_end(&mut received);
        assert!(received.starts_with(b"fits") && received.len() < 20_000_000, "{}", received.len());
        client.delete(connection).await;
    });
    assert_eq!(status, 0);
}

#[test]
fn a_time_limit_leaves_what_is_received_in_time() {
    let address = free_address();
    let peer = thread::spawn({
        let address = address.clone();
        move || {
            let mut stream = dial(&address);
            let (mut bytes, mut sum) = (vec![0; 1 << 20], 0);
            while let count @ 1.. = stream.read(&mut bytes).unwrap() {
                sum += count;
                thread::sleep(Duration::from_millis(1));
            }
            sum
        }
    });
    let status = run(&["Network"], Options::default(), move |client| async move {
        let listener = listen(client, &address).await;
        let connection = accept(client, listener).await;
        let output = client.held(connection, "Output");
        output.send("Limit", [V::Int(10_000)]).await;
        for _ in 0..200 {
            output.send("Write", [V::text("x".repeat(100_000))]).await;
        }
        output.send("Limit", [V::Int(0)]).await;
        assert_eq!(output.ask("Update", []).await, ("Done", vec![]));
        client.delete(connection).await;
        client.delete(listener).await;
    });
    assert_eq!(status, 0);
    assert_eq!(peer.join().unwrap(), 20_000_000);
}
