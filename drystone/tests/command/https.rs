//! HTTP over TLS, with tokens and client certificates: with curl, Python, and our own clients.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::certificates::{authority, certify};
use crate::http::{ANSWERS, curl, folder, python_talks};
use crate::peer::{Peer, installed};
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};
use drystone_golden::free_port;

/// Puts a BY behind each name of a program.
fn by(folder: &Path, file: &str, options: &str) {
    let path = folder.join(file);
    let mut text = fs::read_to_string(&path).expect("it is there");
    for name in ["greet", "count", "talk"] {
        text = text.replace(&format!("\"/{name}\")"), &format!("\"/{name}\") BY Http({options})"));
    }
    fs::write(path, text).expect("it can be written");
}

const IDENTITY: &str = "certificate: \"server.pem\", key: \"server.key\"";

/// A server with a certificate and these options, and its URL. `client` has a certificate of the same authority,
/// `stranger` one of another authority.
fn serve(options: &str) -> (TempDir, Peer, String) {
    let folder = folder();
    let ours = authority();
    certify(folder.path(), "server", &ours);
    certify(folder.path(), "client", &ours);
    certify(folder.path(), "stranger", &authority());
    by(folder.path(), "server.dry", &format!("{IDENTITY}, {options}"));
    let url = format!("https://127.0.0.1:{}", free_port());
    let mut server = Peer::start(folder.path(), DRYSTONE, &["run", "server.dry", &url]);
    assert_eq!(server.line(), "ready");
    (folder, server, url)
}

/// The output of a client with these options.
fn client(folder: &Path, options: &str, url: &str) -> Output {
    fs::write(folder.join("client.dry"), include_str!("http/client.dry")).expect("it can be written");
    by(folder, "client.dry", options);
    drystone(folder, &["run", "client.dry", url])
}

/// A file of a folder, for curl.
fn file(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

#[test]
fn curl_calls_by_tls_with_a_token() {
    let (folder, _server, url) = serve("token: \"secret\"");
    if !installed("curl") {
        return;
    }
    let (ca, url) = (file(&folder, "server-ca.pem"), format!("{url}/greet/Name"));
    let said = |version: &str, token: &str| {
        let token = format!("Authorization: Bearer {token}");
        let written = " %{http_version} %{http_code}";
        curl(&["--cacert", &ca, version, "-w", written, "-H", &token, "-d", "{\"x\":\"you\"}", &url])
    };
    assert_eq!(said("--http2", "secret"), "{\"Greeting\":{\"x\":\"Hello, you\"}} 2 200");
    assert_eq!(said("--http1.1", "secret"), "{\"Greeting\":{\"x\":\"Hello, you\"}} 1.1 200");
    let refused = "{\"error\":\"a token is needed: Authorization: Bearer ..\"}\n";
    assert_eq!(said("--http2", "secreT"), format!("{refused} 2 401"));
    assert_eq!(said("--http1.1", "secrets"), format!("{refused} 1.1 401"));
    // A client that doesn't know the authority, or doesn't speak TLS.
    for arguments in [&["-sS", &url][..], &["-sS", &url.replace("https", "http")]] {
        let output = Command::new("curl").args(arguments).output().expect("it is installed");
        assert!(!output.status.success(), "{}", printed(&output));
    }
    let described =
        curl(&["--cacert", &ca, "-H", "Authorization: Bearer secret", &format!("{url}/../openapi.json")]);
    for part in ["\"https://127.0.0.1:", "\"bearer\""] {
        assert!(described.contains(part), "{part}: {described}");
    }
}

#[test]
fn curl_shows_a_certificate() {
    let (folder, _server, url) = serve("authority: \"server-ca.pem\"");
    if !installed("curl") {
        return;
    }
    let (ca, url) = (file(&folder, "server-ca.pem"), format!("{url}/greet/Name"));
    let said = |who: &str| {
        let (certificate, key) = (file(&folder, &format!("{who}.pem")), file(&folder, &format!("{who}.key")));
        let arguments = ["-sS", "--cacert", &ca, "--cert", &certificate, "--key", &key];
        let output = Command::new("curl").args(arguments).args(["-d", "{\"x\":\"you\"}", &url]).output();
        printed(&output.expect("it is installed"))
    };
    assert_eq!(said("client"), "{\"Greeting\":{\"x\":\"Hello, you\"}}");
    assert_eq!(said("stranger"), "");
    let output = Command::new("curl").args(["-sS", "--cacert", &ca, &url]).output().expect("it is installed");
    assert!(!output.status.success(), "{}", printed(&output));
}

#[test]
fn both_ends_are_programs_of_ours() {
    let (folder, _server, url) = serve("token: \"secret\"");
    let said = |options: &str| {
        let output = client(folder.path(), options, &url);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        printed(&output)
    };
    assert_eq!(said("authority: \"server-ca.pem\", token: \"secret\""), ANSWERS);
    assert_eq!(said("authority: \"server-ca.pem\", token: \"other\""), "lost\nlost\n");
    assert_eq!(said("authority: \"stranger-ca.pem\", token: \"secret\""), "lost\nlost\n");
}

#[test]
fn programs_show_certificates() {
    let (folder, _server, url) = serve("authority: \"server-ca.pem\"");
    let said = |who: &str| {
        let options = format!("certificate: \"{who}.pem\", key: \"{who}.key\", authority: \"server-ca.pem\"");
        let output = client(folder.path(), &options, &url);
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        printed(&output)
    };
    assert_eq!(said("client"), ANSWERS);
    assert_eq!(said("stranger"), "lost\nlost\n");
}

/// A client that sends its request to a greeter without checking whether it is there.
fn asking(url: &str, options: &str) -> TempDir {
    folder_with(&format!(
        "
COMPONENT Main;
INTERFACE Greet; IN Name(x: TEXT) OUT Greeting(x: TEXT) END Greet;
COMPONENT Client REQUIRES Greet;
  VARIABLE x: TEXT;
  BEGIN Greet!Name(\"you\"); Greet?Greeting(x); WRITE(x); WRITELINE END Client;
VARIABLE client: Client;
BEGIN NEW(client); CONNECT(Greet(client), \"{url}/greet\") BY Http({options}) END Main;
"
    ))
}

#[test]
fn a_service_of_another_make_is_required_by_tls() {
    if !installed("python3") {
        return;
    }
    let port = free_port();
    let folder = asking(&format!("https://localhost:{port}"), "token: \"secret\"");
    certify(folder.path(), "server", &authority());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/http/service.py");
    let arguments = [script.to_str().expect("plain names"), &port.to_string(), "server.pem", "server.key"];
    let mut service = Peer::start(folder.path(), "python3", &arguments);
    assert_eq!(service.line(), "ready");
    // Without an authority in the options, the system's trusted ones hold.
    let mut command = Command::new(DRYSTONE);
    command.args(["run", "program.dry"]).current_dir(folder.path()).env("SSL_CERT_FILE", "server-ca.pem");
    let output = command.output().expect("the command runs");
    assert_eq!((printed(&output), status(&output)), ("Bonjour, you\n".into(), 0), "{}", complaint(&output));
    let output = drystone(folder.path(), &["run", "program.dry"]);
    let why = format!("https://localhost:{port}/greet: TLS: invalid peer certificate: UnknownIssuer");
    assert!(complaint(&output).contains(&why), "{}", complaint(&output));
}

#[test]
fn it_is_said_why_there_is_no_answer() {
    let (folder, _server, url) = serve("authority: \"server-ca.pem\", token: \"secret\"");
    let said = |options: &str, url: &str| {
        let program = asking(url, options);
        for name in ["server-ca.pem", "client.pem", "client.key", "stranger.pem", "stranger.key"] {
            fs::copy(folder.path().join(name), program.path().join(name)).expect("it can be copied");
        }
        complaint(&drystone(program.path(), &["run", "program.dry"]))
    };
    let all =
        "authority: \"server-ca.pem\", certificate: \"client.pem\", key: \"client.key\", token: \"other\"";
    let refused = said(all, &url);
    let why = format!("{url}/greet: 401 Unauthorized: a token is needed: Authorization: Bearer ..");
    assert!(refused.contains(&why), "{refused}");
    let unknown = said("authority: \"server-ca.pem\", token: \"secret\"", &url);
    assert!(unknown.contains("received fatal alert: CertificateRequired"), "{unknown}");
    let plain = said("token: \"secret\"", &url.replace("https", "http"));
    assert!(plain.contains(&url.replace("https", "http")), "{plain}");
    let nobody = said(all, &format!("https://127.0.0.1:{}", free_port()));
    assert!(nobody.contains("Connection refused"), "{nobody}");
    let nowhere = said(all, "https://no-such-host.invalid");
    assert!(nowhere.contains("https://no-such-host.invalid/greet: "), "{nowhere}");
}

#[test]
fn python_talks_by_websockets_and_tls() {
    let (folder, _server, url) = serve("limit: 1000000");
    python_talks(folder.path(), &url);
}

#[test]
fn only_who_may_be_asked_for_listens() {
    let refused = |options: &str, url: &str| {
        let folder = folder();
        certify(folder.path(), "server", &authority());
        by(folder.path(), "server.dry", options);
        let output = drystone(folder.path(), &["run", "server.dry", url]);
        assert_eq!(status(&output), 1, "{options} {url}");
        complaint(&output)
    };
    let everywhere = format!("https://0.0.0.0:{}", free_port());
    for (options, url, why) in [
        ("token: \"x\"", "https://127.0.0.1:1", "an https: name is exported with a certificate"),
        (
            "certificate: \"no.pem\", key: \"no.key\"",
            "https://127.0.0.1:1",
            "certificate: \"no.pem\": No such file or directory",
        ),
        (
            "certificate: \"server.pem\", key: \"server.dry\"",
            "https://127.0.0.1:1",
            "key: \"server.dry\": it has none in PEM",
        ),
        (
            "certificate: \"server.pem\", key: \"server.key\", authority: \"server.dry\"",
            "https://127.0.0.1:1",
            "authority: \"server.dry\": it has no certificate",
        ),
        (IDENTITY, &everywhere, "clients have to show who they are"),
        (
            "token: \"x\", site: \"example.org/shop\"",
            &everywhere,
            "site: example.org/shop is no URL of a host, such as https://example.org",
        ),
        (
            "token: \"x\"",
            &everywhere.replace("https", "http"),
            "without TLS only addresses of this machine's own",
        ),
    ] {
        let said = refused(options, url);
        assert!(said.contains(why), "{options} {url}: {said}");
    }
}
