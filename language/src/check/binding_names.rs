//! Checks the form of names of interfaces and places: a scheme, a colon and the rest, such as `tcp://host:7000/files`.
//! Each scheme that the system knows has its own form for the rest.

use super::similar::similar;

/// The statement in which a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// CONNECT
    Connect,
    /// EXPORT
    Export,
    /// NEW .. AT
    At,
}

/// The error message for a name, and the help.
type Fault = Option<(String, String)>;

/// The schemes that the system knows, each with its form and an example.
const FORMS: &[(&str, Form, &str)] = &[
    ("local", Form::Name, "local:printer"),
    ("worker", Form::Number, "worker:1"),
    ("process", Form::Word, "process:store"),
    ("user", Form::Word, "user:store"),
    ("tcp", Form::Named, "tcp://host:7000/files"),
    ("onc", Form::Host, "onc://host:2049"),
    ("onc+udp", Form::Host, "onc+udp://host:2049"),
    ("udp", Form::Port, "udp://host:7000"),
    ("http", Form::Address, "http://host:8080/files"),
    ("https", Form::Address, "https://host:8443/files"),
    ("nats", Form::Hosts, "nats://host:4222/files"),
    ("event", Form::Name, "event:news"),
    ("postgres", Form::Name, "postgres://user@host:5432/shop"),
    ("sqlite", Form::Name, "sqlite:links.db"),
    ("event+nats", Form::Hosts, "event+nats://host:4222/news"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Anything.
    Name,
    /// The number of a processor.
    Number,
    /// Letters, digits, `_`, `-` and `.`.
    Word,
    /// `//host:port/name`
    Named,
    /// `//[host][:port][/..]`
    Address,
    /// `//[host][:port]`
    Host,
    /// `//[host]:port`
    Port,
    /// `//host[:port],../name`
    Hosts,
}

impl Form {
    /// Whether a name of this form is a place where components are made.
    fn is_place(self) -> bool {
        matches!(self, Form::Number | Form::Word)
    }
}

/// The fault of a constant name, if it has one. A scheme that is not known here may come with a crate.
pub(super) fn fault(name: &str, purpose: Purpose, beside_crates: bool) -> Fault {
    let like = FORMS.iter().find(|(known, _, _)| name.split(':').next() == Some(known));
    let usual = if purpose == Purpose::At { "process:store" } else { "tcp://host:7000/files" };
    let example = like.map_or(usual, |(_, _, example)| example);
    let parts = name.split_once(':').filter(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    let Some((scheme, rest)) = parts else {
        let message = format!("\"{name}\" is no name: that is a scheme, a colon and the rest");
        return Some((message, bare(name, purpose).unwrap_or_else(|| format!("write it as \"{example}\""))));
    };
    if !is_scheme(scheme) {
        let message = format!("a scheme consists of small letters and digits, {scheme} does not");
        return Some((message, format!("write it as \"{example}\"")));
    }
    let Some(&(_, form, _)) = like else {
        return if beside_crates { None } else { Some(unknown(name, scheme, purpose)) };
    };
    let is_place = form.is_place();
    if is_place && purpose != Purpose::At {
        let message = format!("{name} is a place for components, and no name of an interface");
        return Some((message, format!("make the component there: NEW(y) AT \"{name}\"")));
    }
    if !is_place && purpose == Purpose::At && scheme != "local" {
        let message = format!("no component can be made at {name}");
        return Some((
            message,
            "AT takes \"worker:1\", another processor, or \"process:store\", another process".into(),
        ));
    }
    let why = wrong(form, rest, purpose)?;
    Some((format!("{name}: {why}"), format!("write it as \"{example}\"")))
}

fn unknown(name: &str, scheme: &str, purpose: Purpose) -> (String, String) {
    let schemes = FORMS.iter().filter(|(_, form, _)| form.is_place() == (purpose == Purpose::At));
    let is_port =
        name.split_once(':').is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    let help = match similar(scheme, schemes.map(|(scheme, _, _)| *scheme)) {
        _ if is_port => format!("the scheme says how it is reached: \"tcp://{name}\", or \"http://{name}\""),
        Some(meant) => format!("did you mean {meant}:?"),
        None => "a crate that knows it is named where the program is compiled: --with CRATE".into(),
    };
    (format!("{name}: there is no naming context {scheme}"), help)
}

/// Help for a word without a scheme.
fn bare(name: &str, purpose: Purpose) -> Option<String> {
    let is_word = !name.is_empty() && !name.contains(':');
    (is_word && purpose != Purpose::At).then(|| format!("within this program it is \"local:{name}\""))
}

fn is_scheme(word: &str) -> bool {
    let may_follow = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.');
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.bytes().all(may_follow)
}

/// The fault of what follows the scheme.
fn wrong(form: Form, rest: &str, purpose: Purpose) -> Option<String> {
    match form {
        Form::Name => None,
        Form::Number => {
            let fine = rest.bytes().all(|b| b.is_ascii_digit()) && rest.len() <= 4;
            (!fine).then(|| "a worker is named by its number".into())
        }
        Form::Word => {
            let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
            let fine = rest.bytes().all(is_part);
            (!fine).then(|| "the name of a domain consists of letters, digits, _, - and .".into())
        }
        Form::Host if has_path(rest) => {
            Some("a program has no path: BY Onc(program: .., version: ..) says which it is".into())
        }
        Form::Port if has_path(rest) => Some("a port is for one interface, so there is no path".into()),
        // No client would find a port that the system has chosen.
        Form::Port => address(rest, Least::Port, Purpose::Connect),
        Form::Named => address(rest, Least::All, purpose),
        Form::Address | Form::Host => address(rest, Least::Nothing, purpose),
        Form::Hosts => {
            let Some(rest) = rest.strip_prefix("//") else { return address(rest, Least::Nothing, purpose) };
            match rest.split_once('/').filter(|(_, name)| !name.is_empty()) {
                None => Some("the name behind the host is missing".into()),
                Some((hosts, _)) => {
                    hosts.split(',').find_map(|host| address(&format!("//{host}"), Least::Nothing, purpose))
                }
            }
        }
    }
}

fn has_path(rest: &str) -> bool {
    rest.trim_start_matches('/').trim_end_matches('/').contains('/')
}

/// The parts of an address that can't be left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Least {
    Nothing,
    Port,
    All,
}

/// The fault of `//host[:port][/name]`. Without a host, it is this machine.
fn address(rest: &str, least: Least, purpose: Purpose) -> Option<String> {
    let Some(address) = rest.strip_prefix("//") else { return Some("// belongs behind the colon".into()) };
    let (place, name) = address.split_once('/').map_or((address, ""), |(place, name)| (place, name));
    let (host, port) = match place.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').or((!port.is_empty()).then_some("?"))),
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    if host.is_empty() && least == Least::All {
        return Some("the host is missing".into());
    }
    match port {
        None | Some("") if least >= Least::Port => return Some("the port is missing".into()),
        Some("") => return Some("the port is missing, or : is too much".into()),
        None => {}
        // An exporter may leave the choice of a port to the system.
        Some("0") if purpose == Purpose::Export => {}
        Some(port) if !port.parse::<u16>().is_ok_and(|port| port > 0) => {
            return Some(format!("{port} is no port: they are 1 to 65535"));
        }
        Some(_) => {}
    }
    (least == Least::All && name.is_empty()).then(|| "the name behind the port is missing".into())
}
