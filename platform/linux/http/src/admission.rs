//! Access control for exported interfaces: a client has to call this machine by a name of its own (against DNS
//! rebinding) or show the token, and may not be another site's page in a browser (cross-origin requests).

use std::net::IpAddr;

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION,
    HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, Version};

use super::reply::Refusal;

/// Which clients are let in.
pub(super) struct Admission {
    pub(super) clients: Clients,
    pub(super) site: Option<Public>,
    pub(super) origins: Origins,
    /// What pages of other origins may ask for.
    pub(super) methods: &'static str,
}

/// Who is let in.
pub(super) enum Clients {
    /// Clients that show this token.
    Token(String),
    /// Clients that call this machine by a name that always means it, such as localhost. Any other name can be made to
    /// lead here for a while, by a page in a browser on this machine (DNS rebinding).
    OwnName,
    /// All clients that TLS has let in.
    All,
}

/// The URL by which everybody may come, whatever stands in between.
pub(super) struct Public {
    /// In small letters, without a `/` at its end.
    pub(super) url: String,
}

impl Public {
    /// Reads what BY says.
    ///
    /// # Errors
    /// It is no URL of a host alone.
    pub(super) fn parse(text: &str) -> Result<Public, String> {
        let url = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        if !host.is_some_and(|host| !host.is_empty() && is_host(host)) {
            return Err(format!("site: {text} is no URL of a host, such as https://example.org"));
        }
        Ok(Public { url })
    }

    fn host(&self) -> &str {
        self.url.split_once("://").map_or("", |(_, host)| host)
    }
}

/// The origins of pages that may send requests, besides pages that come from here.
pub(super) enum Origins {
    Any,
    /// `https://example.org`, in small letters.
    These(Vec<String>),
}

impl Default for Origins {
    fn default() -> Origins {
        Origins::These(Vec::new())
    }
}

impl Origins {
    /// Reads what BY says: origins, separated by blanks or commas, or `*`.
    ///
    /// # Errors
    /// A sentence says which one is no origin.
    pub(super) fn parse(text: &str) -> Result<Origins, String> {
        let mut these = Vec::new();
        for origin in text.split([' ', ',']).filter(|origin| !origin.is_empty()) {
            if origin == "*" {
                return Ok(Origins::Any);
            }
            let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            if !host.is_some_and(|host| !host.is_empty() && is_host(host)) {
                return Err(format!("origins: {origin} is none, such as https://example.org, or * for all"));
            }
            these.push(origin.to_ascii_lowercase());
        }
        Ok(Origins::These(these))
    }

    fn allow(&self, origin: &str) -> bool {
        match self {
            Origins::Any => true,
            Origins::These(these) => these.iter().any(|this| origin.eq_ignore_ascii_case(this)),
        }
    }

    /// Whether pages of other sites may send requests at all.
    pub(super) fn are_known(&self) -> bool {
        !matches!(self, Origins::These(these) if these.is_empty())
    }
}

/// Whether this may be a host's name or address, perhaps with a port.
fn is_host(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+;=".contains(&byte))
}

/// The host that a request names. HTTP/1.1 requires one.
fn host(request: &Parts) -> Result<Option<&str>, Refusal> {
    let bad = |reason: &str| Refusal::new(StatusCode::BAD_REQUEST, reason);
    let mut hosts = request.headers.get_all(HOST).iter();
    let named = hosts.next();
    if hosts.next().is_some() {
        return Err(bad("Host is there twice"));
    }
    if named.is_none() && request.version == Version::HTTP_11 {
        return Err(bad("Host is missing"));
    }
    let named = named.map(HeaderValue::to_str).transpose().map_err(|_| bad("Host is no name of a host"))?;
    if !named.is_none_or(is_host) {
        return Err(bad("Host is no name of a host"));
    }
    // HTTP/2 has it in the authority.
    Ok(request.uri.authority().map(|authority| authority.as_str()).or(named))
}

/// Refuses a request that doesn't name its host as it has to.
pub(super) fn check_host(request: &Parts) -> Result<(), Refusal> {
    host(request).map(drop)
}

/// Whether a browser asks if another site's page may send a request.
pub(super) fn is_preflight(request: &Parts) -> bool {
    request.method == Method::OPTIONS
        && request.headers.contains_key(ORIGIN)
        && request.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

impl Admission {
    /// Refuses a client that may not use what is exported.
    pub(super) fn check(&self, request: &Parts) -> Result<(), Refusal> {
        let host = host(request)?;
        let is_site =
            |host: &str| self.site.as_ref().is_some_and(|site| host.eq_ignore_ascii_case(site.host()));
        if matches!(self.clients, Clients::OwnName) && !host.is_none_or(|host| is_here(host) || is_site(host))
        {
            let reason = match &self.site {
                Some(site) => format!("this is served as {}", site.host()),
                None => "without a token this is served as localhost, 127.0.0.1 or [::1] only, unless the option site \
                         has a URL for everybody"
                    .to_string(),
            };
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, reason));
        }
        let is_its_own = |origin: &str| {
            is_own(origin, host)
                || self.site.as_ref().is_some_and(|site| origin.eq_ignore_ascii_case(&site.url))
        };
        if let Some(origin) = request.headers.get(ORIGIN)
            && !origin.to_str().is_ok_and(|origin| self.origins.allow(origin) || is_its_own(origin))
        {
            let reason = "pages of other sites may not use this: the option origins says which may";
            return Err(Refusal::new(StatusCode::FORBIDDEN, reason));
        }
        match &self.clients {
            Clients::Token(token) if !is_preflight(request) => check_token(token, &request.headers),
            _ => Ok(()),
        }
    }

    /// Adds the headers by which a browser gives the answer to the page that has asked (CORS).
    pub(super) fn tell_browser(&self, request: &Parts, answer: &mut HeaderMap) {
        if !self.origins.are_known() {
            return;
        }
        answer.append(VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = request.headers.get(ORIGIN) else { return };
        if !origin.to_str().is_ok_and(|origin| self.origins.allow(origin)) {
            return;
        }
        answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let mut say = |name: HeaderName, value| answer.insert(name, HeaderValue::from_static(value));
        if !is_preflight(request) {
            say(ACCESS_CONTROL_EXPOSE_HEADERS, "Retry-After, WWW-Authenticate");
            return;
        }
        say(ACCESS_CONTROL_ALLOW_METHODS, self.methods);
        say(ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type");
        say(ACCESS_CONTROL_MAX_AGE, "600");
        if request.headers.contains_key("access-control-request-private-network") {
            say(HeaderName::from_static("access-control-allow-private-network"), "true");
        }
    }
}

/// Whether a page came from the host that it asks. Without a certificate only a name that always means this machine
/// proves that, because any other name can be made to lead here for a while.
fn is_own(origin: &str, host: Option<&str>) -> bool {
    match (host, origin.split_once("://")) {
        (Some(host), Some((scheme, from))) => host == from && (scheme == "https" || is_here(host)),
        _ => false,
    }
}

/// Checks `Authorization: Bearer ..`, in upper or lower case.
fn check_token(token: &str, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (shown.next(), shown.next());
    let first = first.filter(|_| second.is_none()).and_then(|shown| shown.as_bytes().split_at_checked(7));
    let first = first.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
    let challenge = match first {
        Some((_, shown)) if same(shown.trim_ascii(), token.as_bytes()) => return Ok(()),
        Some(_) => "Bearer realm=\"drystone\", error=\"invalid_token\"",
        None => "Bearer realm=\"drystone\"",
    };
    let reason = "a token is needed: Authorization: Bearer ..";
    Err(Refusal::new(StatusCode::UNAUTHORIZED, reason).with(WWW_AUTHENTICATE, challenge))
}

/// Whether a host, perhaps with a port, always means this machine.
fn is_here(host: &str) -> bool {
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Compares in constant time, which doesn't tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
