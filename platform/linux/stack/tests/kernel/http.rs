//! HTTP with Python's server, and with curl.

use std::net::SocketAddrV4;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use drystone_stack::http::{Answer, get, serve};

use crate::{KERNEL, beside, beside_the_kernel};

/// A server that ends with the test.
struct Python(std::process::Child);

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_library_gets_what_python_serves() {
    beside_the_kernel("http client", || {
        let folder =
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("http-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room");
        let content: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(folder.join("numbers"), &content).expect("there is room");
        let mut command = Command::new("python3");
        command.args(["-m", "http.server", "80", "--bind", "10.9.0.1", "--directory"]).arg(&folder);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(python) = command.spawn() else {
            return println!("skipped: http client: there is no python3");
        };
        let _python = Python(python);
        let host = beside();
        let address = SocketAddrV4::new(KERNEL, 80);
        let begin = Instant::now();
        let mut stream = loop {
            match host.connect(address) {
                Ok(stream) => break stream,
                Err(error) if begin.elapsed() > Duration::from_secs(10) => panic!("{error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let response = get(&mut stream, "10.9.0.1", "/numbers", 2_000_000).expect("it is there");
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-length"), Some(&b"1200000"[..]));
        assert!(response.body == content, "as it was");
        let mut stream = host.connect(address).expect("it still listens");
        assert_eq!(get(&mut stream, "10.9.0.1", "/nothing", 10_000).expect("it answers").status, 404);
        let mut stream = host.connect(address).expect("it still listens");
        let error = get(&mut stream, "10.9.0.1", "/numbers", 1000).expect_err("that is too much");
        assert!(error.to_string().contains("more than 1000 bytes"), "{error}");
        std::fs::remove_dir_all(folder).ok();
    });
}

#[test]
fn curl_gets_what_the_library_serves() {
    beside_the_kernel("http server", || {
        let host = beside();
        let mut listener = host.listen(80, 4).expect("it can");
        let mut command = Command::new("curl");
        command.args(["-sS", "--max-time", "10", "-w", "%{http_code} %{num_connects}\n"]);
        command.args([
            "http://10.9.0.2/greeting",
            "http://10.9.0.2/else",
            "-d",
            "sent",
            "http://10.9.0.2/post",
        ]);
        let Ok(mut curl) = command.stdout(Stdio::piped()).spawn() else {
            return println!("skipped: http server: there is no curl");
        };
        let mut stream = listener.accept(Duration::from_secs(5)).expect("curl comes");
        let served = serve(&mut stream, |request| match (request.path.as_str(), &request.body[..]) {
            ("/greeting", b"sent") => Answer::text(200, "hello\n"),
            ("/post", body) => Answer::text(200, format!("{} {}\n", request.method, body.len())),
            _ => Answer::text(404, "nothing\n"),
        });
        served.expect("curl ends it");
        drop(stream);
        while curl.try_wait().expect("it runs").is_none() {
            host.turn().expect("it is there");
        }
        let output = curl.wait_with_output().expect("it has ended");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text, "hello\n200 1\nnothing\n404 0\nPOST 4\n200 0\n");
    });
}
