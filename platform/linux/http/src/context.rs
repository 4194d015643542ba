//! The names that begin with `http:` and `https:`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use drystone_component::Name;
use drystone_kortex::composed::COMMON;
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, Hints, NamingContext};
use drystone_runtime::far::{Exported, Reach};

use super::admission::{Admission, Clients, Origins, Public};
use super::caller::Remote;
use super::describe::openapi;
use super::export::Export;
use super::mapping::Mapping;
use super::service::{Options, Service, port_of};
use super::site::{Offered, Site};
use super::style::{Style, is_upload};
use drystone_net::datum::no_components;
use drystone_net::place::Place;
use drystone_net::secure::{Dialer, Files};
use drystone_reactor::Reactor;

/// Most bytes of a request or a message, unless BY says otherwise.
const LIMIT: usize = 16 << 20;

/// The protocol for requests to services (ALPN): a connection carries one request after another.
const PROTOCOLS: &[&[u8]] = &[b"http/1.1"];

/// See the head of this file.
pub struct Context {
    reactor: Rc<Reactor>,
    /// The names are `https:` ones.
    is_secure: bool,
    sites: HashMap<SocketAddr, Weak<Site>>,
    dialers: HashMap<Files, Dialer>,
}

impl Context {
    /// For a program's names that begin with `http:`.
    pub fn plain(reactor: &Rc<Reactor>) -> Context {
        Context { reactor: reactor.clone(), is_secure: false, sites: HashMap::new(), dialers: HashMap::new() }
    }

    /// For a program's names that begin with `https:`.
    pub fn secure(reactor: &Rc<Reactor>) -> Context {
        Context { is_secure: true, ..Context::plain(reactor) }
    }

    fn site(&mut self, address: SocketAddr, hints: &Hints<'_>) -> Result<Rc<Site>, String> {
        let files = if self.is_secure { Some(Files::of(hints)?) } else { None };
        if files.as_ref().is_some_and(|files| files.identity.is_none()) {
            return Err("an https: name is exported with a certificate: \
                        BY Http(certificate: file, key: file)"
                .into());
        }
        if let Some(site) = self.sites.get(&address).and_then(Weak::upgrade).filter(|site| site.is_open()) {
            return match site.files == files {
                true => Ok(site),
                false => Err("something is exported at this port with other certificates".into()),
            };
        }
        let site = Site::new(&self.reactor, address, files)?;
        self.sites.retain(|_, site| site.strong_count() > 0);
        self.sites.insert(address, Rc::downgrade(&site));
        Ok(site)
    }

    /// Files are read once.
    fn dialer(&mut self, hints: &Hints<'_>) -> Result<Option<Dialer>, String> {
        if !self.is_secure {
            return Ok(None);
        }
        let files = Files::of(hints)?;
        if let Some(dialer) = self.dialers.get(&files) {
            return Ok(Some(dialer.clone()));
        }
        let dialer = Dialer::read(&files, PROTOCOLS)?;
        self.dialers.insert(files, dialer.clone());
        Ok(Some(dialer))
    }

    /// Without TLS both sides have to be on this machine, so that nobody else can read along; but for a site that is
    /// everybody's.
    fn place(&self, rest: &str, is_public: bool) -> Result<Place, String> {
        let mut place = Place::parse(rest)?;
        if !self.is_secure && !is_public && !is_own(&place) {
            return Err("without TLS only addresses of this machine's own are used, such as 127.0.0.1: \
                        with it the name begins with https:"
                .into());
        }
        place.path.truncate(place.path.trim_end_matches('/').len());
        Ok(place)
    }
}

/// Whether it is on this machine.
fn is_own(place: &Place) -> bool {
    place.numeric().is_some_and(|address| address.to_canonical().is_loopback())
}

/// What they are called, besides those that all factories have.
const OWN: [&str; 7] = ["limit", "socket", "origins", "reads", "statuses", "files", "site"];

pub(super) fn options(hints: &Hints<'_>) -> Result<Options, String> {
    let token = hints.option("token").map(|token| String::from_utf8_lossy(token).into_owned());
    let token = token.filter(|token| !token.is_empty());
    let mut options = Options { limit: LIMIT, token, ..Options::default() };
    for factory in hints.factories.iter().filter(|factory| factory.name.eq_ignore_ascii_case("http")) {
        let strange = |name: &str| !OWN.contains(&name) && !COMMON.contains(&name);
        if let Some((name, _)) = factory.options.iter().find(|(name, _)| strange(name)) {
            let (own, common) = (OWN.join(", "), COMMON.join(", "));
            return Err(format!("{name}: there is no such option, only {own}, {common}"));
        }
        if let Some(limit) = factory.integer("limit")? {
            let wrong = || format!("limit: {limit} is no number of bytes");
            options.limit = usize::try_from(limit).ok().filter(|&limit| limit > 0).ok_or_else(wrong)?;
        }
        if let Some(origins) = factory.option("origins") {
            options.origins = Origins::parse(&String::from_utf8_lossy(origins))?;
        }
        let text =
            |name: &str| String::from_utf8_lossy(factory.option(name).unwrap_or_default()).into_owned();
        (options.reads, options.statuses, options.files) = (text("reads"), text("statuses"), text("files"));
        options.socket = factory.boolean("socket")?.unwrap_or(false);
        if let Some(site) = factory.option("site").filter(|site| !site.is_empty()) {
            options.site = Some(Public::parse(&String::from_utf8_lossy(site))?);
        }
    }
    Ok(options)
}

impl BindingFactory for Context {
    fn bind(&mut self, Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        no_components(interface)?;
        let (options, place) = (options(hints)?, self.place(name.rest(), false)?);
        let style = match Style::of(interface) {
            Style::Calls(_) if options.socket => Style::Conversation,
            style if style.is_half() || is_upload(interface) => {
                let name = interface.name.get();
                return Err(format!(
                    "{name} of the library's Http is for servers: it is exported, and not connected"
                ));
            }
            style => style,
        };
        let dialer = self.dialer(hints)?;
        let service = Service::new(&self.reactor, interface, style, place, dialer, options);
        Ok(Box::new(Remote::new(service)))
    }
}

impl NamingContext for Context {
    fn export(
        &mut self,
        Endpoint { interface, name, hints }: Endpoint<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        no_components(interface)?;
        let options = options(hints)?;
        let place = self.place(name.rest(), options.site.is_some())?;
        let is_for_some = options.token.is_some() || Files::of(hints)?.authority.is_some();
        if !is_own(&place) && !is_for_some && options.site.is_none() {
            return Err("at other addresses than this machine's own (127.0.0.1, localhost) clients have to show who \
                        they are, by a token or by certificates that an authority has signed, as BY Http(token: text) \
                        or BY Http(authority: file) says; or else BY Http(site: URL) says that everybody is served, \
                        and by what URL"
                .into());
        }
        let style = Style::of(interface);
        let address = (place.here()?, place.port.unwrap_or(port_of(self.is_secure))).into();
        let scheme = if self.is_secure { "https" } else { "http" };
        let url = match &options.site {
            Some(site) => format!("{}{}", site.url, place.path),
            None => format!("{scheme}://{address}{}", place.path),
        };
        let mapping = Mapping::new(interface, &options)?;
        let description = match &style {
            Style::Calls(_) | Style::Conversation => {
                openapi(interface, style.calls(), &mapping, &url, options.token.is_some())
            }
            _ => String::new(),
        };
        let clients = match options.token {
            Some(token) => Clients::Token(token),
            None if self.is_secure => Clients::All,
            None => Clients::OwnName,
        };
        let methods = match style {
            Style::Plain => "GET, HEAD, POST, PUT, PATCH, DELETE",
            _ => "GET, POST",
        };
        let admission = Admission { clients, site: options.site, origins: options.origins, methods };
        let export =
            Export::new(place.path, interface, style, description, (options.limit, admission, mapping));
        let site = self.site(address, hints)?;
        Ok(Box::new(Offered::new(site, export, self.reactor.expect())?))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}
