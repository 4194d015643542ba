//! A communication of this program with a web server, by the library's `Http`: a request and its response, as they are.

use std::borrow::Cow;
use std::rc::Rc;

use drystone_component::Side;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request};

use super::client_connection::{ClientConnections, Sent};
use super::plain::{read, written};
use super::service::Service;
use drystone_net::datum::Datum;

/// See the head of this file.
pub(super) struct PlainCaller {
    connections: Rc<ClientConnections>,
    pump: Option<Waker>,
    sent: Option<Rc<Sent>>,
    /// Whether the response's body is taken in pieces.
    in_pieces: bool,
    arrived: Option<(usize, Vec<Datum<'static>>)>,
    lost: Option<String>,
}

impl PlainCaller {
    pub(super) fn new(connections: Rc<ClientConnections>) -> PlainCaller {
        let in_pieces = number(&connections.service, "Begin").is_some();
        PlainCaller { connections, pump: None, sent: None, in_pieces, arrived: None, lost: None }
    }

    /// Looks whether something has come.
    fn look(&mut self) {
        let Some(sent) = &self.sent else { return };
        let come = match sent.reply() {
            Some(Ok((head, body))) => {
                let name = if self.in_pieces { "Begin" } else { "Response" };
                let status = Datum::Integer(head.status.as_u16().into());
                Ok((name, vec![status, text(written(&head.headers)), text(body.into())]))
            }
            Some(Err(why)) => Err(why),
            None => match sent.piece() {
                None => return,
                Some(Ok(Some(piece))) => Ok(("Chunk", vec![text(piece.into())])),
                Some(Ok(None)) => Ok(("End", Vec::new())),
                Some(Err(why)) => Err(why),
            },
        };
        let service = &self.connections.service;
        match come {
            Ok((name, values)) => {
                if !matches!(name, "Begin" | "Chunk") {
                    self.sent = None;
                }
                self.arrived = Some((number(service, name).expect("it is declared"), values));
            }
            Err(why) => {
                self.lost = Some(service.about(why));
                self.sent = None;
            }
        }
    }
}

/// The number of a server's message.
fn number(service: &Service, name: &str) -> Option<usize> {
    let messages = service.interface.messages.get();
    messages.iter().position(|message| message.sender == Side::Server && message.name.get() == name)
}

fn text(bytes: Vec<u8>) -> Datum<'static> {
    Datum::Text(Cow::Owned(bytes))
}

/// The request that consists of these values.
fn request(service: &Service, values: &Outgoing<'_>) -> Result<Request<Full<Bytes>>, String> {
    let [method, path, query, headers, body] = [0, 1, 2, 3, 4].map(|index| values.text(index));
    let method = Method::from_bytes(method).ok().filter(|method| method != Method::CONNECT);
    let method = method.ok_or_else(|| format!("{} is no method", values.text(0).escape_ascii()))?;
    let before = service.place.path.as_bytes();
    let mut target = if path.is_empty() { [before, b"/"].concat() } else { [before, path].concat() };
    if !query.is_empty() {
        target = [&target, &b"?"[..], query].concat();
    }
    let mut fields = HeaderMap::new();
    read(headers, &mut fields)?;
    let host = HeaderValue::from_str(&service.authority).map_err(|error| error.to_string())?;
    fields.insert(HOST, host);
    if let Some(token) = &service.options.token {
        let token = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|error| error.to_string())?;
        fields.insert(AUTHORIZATION, token);
    }
    // Behind the path of the site's name: another first character would lead to another place.
    let is_path = path.is_empty() || path.starts_with(b"/");
    let request = Request::builder().method(method).uri(&target[..]).body(Full::new(body.to_vec().into()));
    let wrong = || format!("{} is no path", target.escape_ascii());
    let mut request = request.ok().filter(|_| is_path).ok_or_else(wrong)?;
    *request.headers_mut() = fields;
    Ok(request)
}

impl Far for PlainCaller {
    fn attach(&mut self, pump: Waker) {
        self.pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, values: Outgoing<'_>) {
        let Some(pump) = self.pump.clone() else { return };
        let limit = self.connections.service.options.limit;
        let request = request(&self.connections.service, &values).and_then(|request| {
            let length = request.body().size_hint().exact().unwrap_or_default();
            let too_long = || format!("the request has {length} bytes, and may have {limit}");
            if length > limit as u64 { Err(too_long()) } else { Ok(request) }
        });
        self.sent = Some(self.connections.send(request, self.in_pieces, pump));
    }

    fn receive(&mut self) -> Arrival {
        if self.arrived.is_none() && self.lost.is_none() {
            self.look();
        }
        match (&self.arrived, &self.lost) {
            (Some((message, _)), _) => Arrival::Message(*message),
            (None, Some(why)) => Arrival::Lost(why.clone()),
            (None, None) => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let (_, arrived) = self.arrived.take().ok_or("there is no answer")?;
        arrived.iter().try_for_each(|value| values.put(value.value()))
    }

    fn close(&mut self) {}
}

impl Drop for PlainCaller {
    fn drop(&mut self) {
        if let Some(sent) = &self.sent {
            sent.give_up();
        }
    }
}
