use std::borrow::Cow;

use drystone_component::{Interface, Message, Side, Table};

use super::datagram::{Head, REFUSED};
use super::describe::describe;
use super::service::{Asked, Service};
use drystone_net::datum::Datum;
use drystone_net::samples::{ASKED, SEQUENCES};

const ASK: usize = 0;
const TOLD: usize = 1;
const SILENT: usize = 2;

/// Of ASKED.
const FORM: u32 = 0x1234_5678;

fn service() -> Service {
    Service::new(&ASKED).expect("it has requests and replies")
}

fn all() -> Vec<Datum<'static>> {
    let text = Datum::Text(Cow::Borrowed(b"abcde"));
    vec![Datum::Boolean(true), Datum::Character(b'x'), Datum::Integer(-2), Datum::Real(0.5), text]
}

fn datagram(message: usize, values: Vec<Datum<'_>>) -> Vec<u8> {
    service().datagram("message", 7, message, values.into_iter()).expect("it fits")
}

#[test]
fn a_datagram_has_the_bytes_that_the_book_says() {
    let expected = [
        [0x12, 0x34, 0x56, 0x78, 0, 0, 0, 7, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, b'x', 0xff, 0xff, 0xff, 0xff],
        [0xff, 0xff, 0xff, 0xfe, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 5, b'a', b'b', b'c', b'd', b'e', 0, 0, 0],
    ];
    assert_eq!(datagram(ASK, all()), expected.concat());
}

#[test]
fn a_request_and_its_replies_are_understood() {
    let (service, request) = (service(), datagram(ASK, all()));
    let Asked::Request { id: 7, message: ASK, parameters } = service.asked(&request) else {
        panic!("it is one")
    };
    assert_eq!(service.values(ASK, parameters), Some(all()));
    let reply = datagram(TOLD, all());
    assert_eq!(service.answer(ASK, &reply), Ok((TOLD, &reply[12..])));
    assert_eq!(service.answer(ASK, &datagram(SILENT, vec![])), Ok((SILENT, &[][..])));
}

#[test]
fn what_cannot_be_carried_out_is_refused() {
    let service = service();
    let request = datagram(ASK, all());
    let other = |head: Head| [head.written(), request[12..].to_vec()].concat();
    let form = other(Head { form: FORM + 1, id: 7, message: 0 });
    let message = other(Head { form: FORM, id: 7, message: 9 });
    let answer = other(Head { form: FORM, id: 7, message: TOLD as u32 });
    let longer = [&request[..], &[0; 4]].concat();
    for wrong in [&form, &message, &answer, &longer, &request[..12]] {
        assert_eq!(service.asked(wrong), Asked::Refused(7));
    }
    for length in 0..12 {
        assert_eq!(service.asked(&request[..length]), Asked::Nothing, "{length} bytes");
    }
    assert_eq!(service.asked(&service.refusal(7)), Asked::Nothing, "refusals are not refused");
}

#[test]
fn a_client_says_why_there_is_no_answer() {
    let service = service();
    let why = |reply: &[u8]| service.answer(ASK, reply).unwrap_err();
    assert_eq!(why(&service.refusal(7)), "the server could not carry out the request");
    let other = Head { form: 0x9abc_def0, id: 7, message: REFUSED }.written();
    assert_eq!(why(&other), "the server has another interface, of form 0x9abcdef0 and not 0x12345678");
    assert_eq!(why(&datagram(ASK, all())), "the reply is none of the interface's answers");
    assert_eq!(why(&datagram(TOLD, vec![])), "what the reply carries is no Told");
}

#[test]
fn what_has_no_room_in_a_datagram_is_not_sent() {
    let sized = |length| {
        let mut values = all();
        values[4] = Datum::Text(vec![b'x'; length].into());
        service().datagram("reply", 7, TOLD, values.into_iter())
    };
    // The head, the other values and the length of the text.
    assert_eq!(sized(65_507 - 12 - 24 - 4 - 3).map(|datagram| datagram.len()), Ok(65_504));
    assert_eq!(sized(65_507).unwrap_err(), "a reply of 65548 bytes is too long for UDP");
}

#[test]
fn its_form_and_numbers_are_told() {
    let all = "bool b, unsigned int c, hyper i, double r, opaque<> t";
    let lines = [
        "Asked 0x12345678".to_string(),
        format!("0 IN Ask: {all}"),
        format!("1 OUT Told: {all}"),
        "2 OUT Silent".into(),
        format!("3 IN Note: {all}"),
    ];
    assert_eq!(describe(&ASKED), Ok(lines.join("\n") + "\n"));
}

#[test]
fn sequences_are_told_by_their_elements() {
    static LISTED: Interface = Interface {
        messages: Table::new(&[Message::new("Ask", Side::Client, &SEQUENCES)]),
        next: Table::new(&[0]),
        states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS]),
        ..ASKED
    };
    let points = "struct { opaque<> name; struct { double x; hyper y; } at; bool is; \
                  struct { unsigned int c; }<> rest; }<> points";
    let all = format!("hyper<> numbers, {points}, opaque<><><> texts, struct {{ int nothing; }}<> nothings");
    assert_eq!(describe(&LISTED), Ok(format!("Asked 0x12345678\n0 IN Ask: {all}\n")));
}
