//! The way to NATS, as a name and its BY say it: `nats://host:4222/subject`, with one host or several that are
//! separated by commas, and `BY Nats(servers: "other:4222", token: "..")`.

use std::net::SocketAddr;

use async_nats::{ConnectOptions, ServerAddr};
use drystone_runtime::binding::Hints;

use drystone_net::place::Place;
use drystone_net::secure::{Files, about};
use drystone_reactor::{reason, without_number};

/// The default port of a NATS server.
const PORT: u16 = 4222;

/// Servers and credentials. Names with the same access share a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Access {
    servers: Vec<(String, u16)>,
    tls: bool,
    token: Option<String>,
    user: Option<(String, String)>,
    /// A file with NATS credentials.
    credentials: Option<String>,
    files: Files,
}

impl Access {
    /// Reads what stands behind the scheme, and BY: the access, and the subject.
    ///
    /// # Errors
    /// A sentence says what is wrong or not allowed.
    pub(super) fn read(rest: &str, hints: &Hints<'_>) -> Result<(Access, String), String> {
        let wrong = || "a name such as //127.0.0.1:4222/subject is expected behind the scheme".to_string();
        let (hosts, subject) =
            rest.strip_prefix("//").and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
        let text = |option| hints.option(option).map(|text| String::from_utf8_lossy(text).into_owned());
        let more = text("servers").unwrap_or_default();
        let more = more.split(',').map(str::trim).filter(|host| !host.is_empty());
        let servers = hosts.split(',').chain(more).map(server).collect::<Result<Vec<_>, _>>()?;
        let pair = |one, other| match (text(one), text(other)) {
            (None, None) => Ok(None),
            (Some(first), Some(second)) => Ok(Some((first, second))),
            _ => Err(format!("{one} and {other} go together")),
        };
        let tls = hints.factories.iter().find_map(|factory| factory.boolean("tls").transpose());
        let files = Files::of(hints)?;
        let access = Access {
            servers,
            tls: tls.transpose()?.unwrap_or(files != Files::default()),
            token: text("token"),
            user: pair("user", "password")?,
            credentials: text("credentials"),
            files,
        };
        access.permit()?;
        Ok((access, fit(subject)?))
    }

    /// Without TLS, servers have to be on this machine.
    ///
    /// # Errors
    /// A server's numeric address is elsewhere. Names of hosts are checked when they are looked up.
    fn permit(&self) -> Result<(), String> {
        if self.tls {
            return Ok(());
        }
        let place = |host: &str| Place { host: host.to_string(), port: None, path: String::new() };
        let strange = |(host, _): &&(String, u16)| {
            place(host).numeric().is_some_and(|address| !address.to_canonical().is_loopback())
        };
        self.servers.iter().find(strange).map_or(Ok(()), |(host, _)| Err(not_alone(host)))
    }

    /// Connects to the first server that answers. This runs in the engine.
    ///
    /// # Errors
    /// A sentence says why there is no connection.
    pub(super) async fn connect(&self, options: ConnectOptions) -> Result<async_nats::Client, String> {
        let mut options = options.require_tls(self.tls).ignore_discovered_servers();
        if let Some(token) = &self.token {
            options = options.token(token.clone());
        }
        if let Some((user, password)) = &self.user {
            options = options.user_and_password(user.clone(), password.clone());
        }
        if let Some(file) = &self.credentials {
            std::fs::File::open(file).map_err(|error| about("credentials", file, reason(&error)))?;
            let wrong = |error| about("credentials", file, reason(&error));
            options = options.credentials_file(file).await.map_err(wrong)?;
        }
        self.files.check()?;
        if let Some(file) = &self.files.authority {
            options = options.add_root_certificates(file.into());
        }
        if let Some((certificate, key)) = &self.files.identity {
            options = options.add_client_certificate(certificate.into(), key.into());
        }
        let addresses = self.addresses().await?;
        // The client shall end when its connection is cut: the session makes a new one by itself.
        options = options.max_reconnects(addresses.len());
        options.connect(addresses).await.map_err(|error| sentence(&error))
    }

    /// The servers' addresses. Without TLS all have to be this machine's.
    async fn addresses(&self) -> Result<Vec<ServerAddr>, String> {
        let address = |host: &str, port: u16| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_string() };
            let scheme = if self.tls { "tls" } else { "nats" };
            format!("{scheme}://{host}:{port}").parse().map_err(|_| format!("{host} is not a host's name"))
        };
        let mut addresses = Vec::new();
        for (host, port) in &self.servers {
            if self.tls {
                addresses.push(address(host, *port)?);
                continue;
            }
            let found = tokio::net::lookup_host((host.as_str(), *port)).await;
            let found: Vec<SocketAddr> =
                found.map_err(|error| format!("{host}: {}", reason(&error)))?.collect();
            if found.iter().any(|found| !found.ip().to_canonical().is_loopback()) {
                return Err(not_alone(host));
            }
            for found in found {
                addresses.push(address(&found.ip().to_string(), *port)?);
            }
        }
        Ok(addresses)
    }
}

fn not_alone(host: &str) -> String {
    format!(
        "{host} is not this machine, and there is no TLS: it is used by BY Nats(tls: TRUE), or with the file of an \
         authority: BY Nats(authority: file)"
    )
}

/// Reads a server: a host, with its port if it has one.
fn server(text: &str) -> Result<(String, u16), String> {
    let place = Place::parse(&format!("//{text}"))?;
    if !place.path.is_empty() {
        return Err(format!("{text} is not a server such as 127.0.0.1:4222"));
    }
    let host = if place.host.is_empty() || place.host == "localhost" { "127.0.0.1" } else { &place.host };
    Ok((host.to_string(), place.port.unwrap_or(PORT)))
}

/// Checks a subject, which is a key of the key-value store, too.
///
/// # Errors
/// A sentence says what a subject is made of.
pub(super) fn fit(subject: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=/.".contains(&byte);
    let is_fit = subject.bytes().all(is_plain)
        && subject.split('.').all(|part| !part.is_empty())
        && !subject.starts_with("_INBOX.");
    match is_fit {
        true => Ok(subject.to_string()),
        false => {
            Err("a subject is needed behind the server, of letters, digits, -, _, = and /, in parts with . \
                      between them, as in //127.0.0.1:4222/office.files"
                .to_string())
        }
    }
}

/// An error with its causes.
pub(super) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut error = error.source();
    while let Some(cause) = error {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        error = cause.source();
    }
    without_number(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str, by: &str) -> Result<(Access, String), String> {
        Access::read(rest, &Hints::parse(by.as_bytes()).expect("it is well-formed"))
    }

    #[test]
    fn a_name_has_servers_and_a_subject() {
        let (access, subject) = read("//localhost,[::1]:5000/office.files", "").expect("it is one");
        assert_eq!(subject, "office.files");
        assert_eq!(access.servers, [("127.0.0.1".to_string(), 4222), ("::1".to_string(), 5000)]);
        let (access, _) = read("//:7/x", "Nats;1;servers=16:127.0.0.2, [::1]").expect("it is one");
        assert_eq!(access.servers.len(), 3);
        assert!(read("//:7/x", "Nats;1;servers=3:::1").is_err());
        for wrong in ["", "//", "//h", "//127.0.0.1/", "//127.0.0.1/a b", "//127.0.0.1/a.*", "//127.0.0.1/>"]
        {
            assert!(read(wrong, "").is_err(), "{wrong}");
        }
        for wrong in ["//127.0.0.1/.a", "//127.0.0.1/a..b", "//127.0.0.1/_INBOX.a", "//a b/c"] {
            assert!(read(wrong, "").is_err(), "{wrong}");
        }
    }

    #[test]
    fn without_tls_nats_is_on_this_machine() {
        assert!(read("//192.0.2.1/x", "").unwrap_err().starts_with("192.0.2.1 is not this machine"));
        assert!(read("//127.0.0.1,192.0.2.1/x", "").is_err());
        assert!(read("//192.0.2.1/x", "Nats;1;tls=4:TRUE").is_ok());
        assert!(read("//192.0.2.1/x", "Nats;1;authority=6:ca.pem").is_ok());
        assert_eq!(read("//127.0.0.1/x", "Nats;1;user=2:me").unwrap_err(), "user and password go together");
    }
}
