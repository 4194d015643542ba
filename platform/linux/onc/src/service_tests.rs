use std::borrow::Cow;

use drystone_component::{Fingerprint, Interface, Message, Parameter, Side, Str, Table, Type};

use super::message::{Accepted, Head, write_call};
use super::options::Options;
use super::service::{Asked, Service};
use super::x::print;
use drystone_net::datum::Datum;
use drystone_net::samples::SEQUENCES;

const NONE: u16 = Interface::NONE;

/// `{ IN Divide(a, b: INTEGER) ( OUT Quotient(x: INTEGER) | OUT Failed(long: TEXT) ) | IN Note(x: TEXT) }`
static CALCULATE: Interface = Interface {
    name: Str::new("Calculate"),
    fingerprint: Fingerprint([0x1234_5678_9abc_def0, 1]),
    messages: Table::new(&[
        Message::new(
            "Divide",
            Side::Client,
            &[Parameter::new("a", Type::Integer), Parameter::new("b", Type::Integer)],
        ),
        Message::new("Quotient", Side::Server, &[Parameter::new("x", Type::Integer)]),
        Message::new("Failed", Side::Server, &[Parameter::new("long", Type::Text)]),
        Message::new("Note", Side::Client, &[Parameter::new("x", Type::Text)]),
    ]),
    next: Table::new(&[1, NONE, NONE, 0, NONE, 0, 0, NONE]),
    states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS, Interface::SERVER_SENDS]),
    payload_words: 2,
    queued: 0,
};

fn service(options: &[(&str, &str)]) -> Result<Service, String> {
    let mut all = Options::default();
    options.iter().try_for_each(|(option, value)| all.set(option, value))?;
    Service::new(&CALCULATE, &all)
}

fn divide(service: &Service) -> Vec<u8> {
    let mut out = Vec::new();
    let values = [Datum::Integer(7), Datum::Integer(-2)];
    service.ask(&mut out, (5, 0), values.into_iter()).expect("it fits");
    out
}

#[test]
fn a_call_and_its_reply_go_both_ways() {
    for options in [&[][..], &[("integers", "32"), ("procedures", "Divide=9")]] {
        let service = service(options).expect("it is right");
        let call = divide(&service);
        let Asked::Call { xid, call, arguments } = service.asked(&call) else { panic!("it is a call") };
        let values = service.arguments(call, arguments);
        assert_eq!((xid, call, values), (5, 0, Some(vec![Datum::Integer(7), Datum::Integer(-2)])));
        let mut reply = Vec::new();
        let why = || Datum::Text(Cow::Borrowed(b"by nothing"));
        service.reply(&mut reply, (5, 0), Some(2), std::iter::once(why())).expect("it fits");
        let (answer, values) = service.answer(0, &reply).expect("it is a reply").expect("with results");
        assert_eq!((answer, service.results(answer, values)), (2, Some(vec![why()])));
    }
}

#[test]
fn what_cannot_be_done_is_answered_as_the_standard_says() {
    let ours = service(&[]).expect("it is right");
    let refused = |options: &[(&str, &str)], change: fn(&mut Vec<u8>)| {
        let mut call = divide(&service(options).expect("it is right"));
        change(&mut call);
        let Asked::Reply(reply) = ours.asked(&call) else { panic!("it is refused") };
        ours.answer(0, &reply).map(drop).unwrap_err()
    };
    assert_eq!(refused(&[("program", "1")], |_| ()), "the server has no such program");
    let version = "the server has no such version of the program, only 1 to 1";
    assert_eq!(refused(&[("version", "2")], |_| ()), version);
    assert_eq!(refused(&[("procedures", "Divide=3")], |_| ()), "the program has no such procedure");
    assert_eq!(refused(&[("integers", "32")], |_| ()), "the server can't decode the arguments");
    assert_eq!(refused(&[], |call| call.extend([0; 4])), "the server can't decode the arguments");
    let null = service(&[]).map(|service| {
        let mut call = divide(&service);
        call[23] = 0;
        matches!(service.asked(&call), Asked::Reply(reply) if reply[20..] == [0, 0, 0, 0])
    });
    assert_eq!(null, Ok(true), "procedure 0 answers");
}

#[test]
fn wrong_procedures_are_refused_when_a_binding_is_made() {
    let refused = |list| service(&[("procedures", list)]).err().expect("it is wrong");
    assert_eq!(refused("Multiply=1"), "procedures: Calculate has no message IN Multiply");
    assert_eq!(refused("Divide=2"), "procedures: Divide and Note both have number 2");
}

#[test]
fn rpcgen_is_told_of_records() {
    static PLACE: Interface = Interface {
        name: Str::new("Places"),
        fingerprint: Fingerprint([1, 1]),
        messages: Table::new(&[Message::new(
            "Put",
            Side::Client,
            &[
                Parameter::new("p.at.x", Type::Integer),
                Parameter::new("p.at.y", Type::Real),
                Parameter::new("p.name", Type::Text),
                Parameter::new("n", Type::Boolean),
            ],
        )]),
        next: Table::new(&[0]),
        states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS]),
        payload_words: 4,
        queued: 0,
    };
    let mut options = Options::default();
    options.set("texts", "string").expect("it is an option");
    let service = Service::new(&PLACE, &options).expect("it is right");
    let wanted = "
struct Places_Put_call_p_at {
    hyper x;
    double y;
};

struct Places_Put_call_p {
    Places_Put_call_p_at at;
    string name<>;
};

struct Places_Put_call {
    Places_Put_call_p p;
    bool n;
};
";
    assert!(print(&service).contains(wanted), "{}", print(&service));
}

#[test]
fn records_whose_names_join_to_the_same_have_different_structures() {
    static PLACE: Interface = Interface {
        name: Str::new("Places"),
        fingerprint: Fingerprint([1, 1]),
        messages: Table::new(&[Message::new(
            "Put",
            Side::Client,
            &[Parameter::new("p.at.x", Type::Integer), Parameter::new("p_at.x", Type::Text)],
        )]),
        next: Table::new(&[0]),
        states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS]),
        payload_words: 2,
        queued: 0,
    };
    let service = Service::new(&PLACE, &Options::default()).expect("it is right");
    let wanted = "
struct Places_Put_call_p_at {
    hyper x;
};

struct Places_Put_call_p {
    Places_Put_call_p_at at;
};

struct Places_Put_call_p_at_ {
    opaque x<>;
};

struct Places_Put_call {
    Places_Put_call_p p;
    Places_Put_call_p_at_ p_at;
};
";
    assert!(print(&service).contains(wanted), "{}", print(&service));
}

/// `{ IN Put(..) }`, where each parameter is a sequence.
static LISTS: Interface = Interface {
    name: Str::new("Lists"),
    messages: Table::new(&[Message::new("Put", Side::Client, &SEQUENCES)]),
    next: Table::new(&[0]),
    states: Table::new(&[Interface::MAY_END | Interface::CLIENT_SENDS]),
    ..CALCULATE
};

#[test]
fn rpcgen_is_told_what_sequences_consist_of() {
    let service = Service::new(&LISTS, &Options::default()).expect("it is right");
    let wanted = "
struct Lists_Put_call_points_at {
    double x;
    hyper y;
};

struct Lists_Put_call_points_rest {
    unsigned int c;
};

struct Lists_Put_call_points {
    opaque name<>;
    Lists_Put_call_points_at at;
    bool is;
    Lists_Put_call_points_rest rest<>;
};

typedef opaque Lists_Put_call_texts_element_element<>;

typedef Lists_Put_call_texts_element_element Lists_Put_call_texts_element<>;

struct Lists_Put_call_nothings {
    int nothing;
};

struct Lists_Put_call {
    hyper numbers<>;
    Lists_Put_call_points points<>;
    Lists_Put_call_texts_element texts<>;
    Lists_Put_call_nothings nothings<>;
};
";
    assert!(print(&service).contains(wanted), "{}", print(&service));
}

#[test]
fn sequences_that_are_cut_off_are_garbage() {
    let service = Service::new(&LISTS, &Options::default()).expect("it is right");
    let head = Head { xid: 5, program: service.program, version: 1, procedure: 1 };
    let asked = |arguments: &[u32]| {
        let mut call = Vec::new();
        write_call(&mut call, head);
        arguments.iter().for_each(|word| call.extend(word.to_be_bytes()));
        match service.asked(&call) {
            Asked::Call { .. } => Accepted::Success as u32,
            Asked::Reply(reply) => u32::from_be_bytes(*reply.last_chunk().expect("it has a status")),
            Asked::Nothing => panic!("it is a call"),
        }
    };
    let garbage = Accepted::GarbageArguments as u32;
    assert_eq!(asked(&[0, 0, 0, 0]), 0);
    assert_eq!(asked(&[0, 0, 1, 2, 0, 0, 0]), 0, "two empty texts");
    for wrong in [
        &[0, 0, 0][..],
        &[0, 0, 0, 0, 0],
        &[u32::MAX, 0, 0, 0],
        &[0, u32::MAX, 0, 0],
        &[0, 0, u32::MAX, 0],
        &[0, 0, 0, u32::MAX],
        &[0, 0, 1, u32::MAX, 0, 0, 0],
        &[0, 0, 0, 1, 7],
    ] {
        assert_eq!(asked(wrong), garbage, "{wrong:?}");
    }
}

#[test]
fn rpcgen_is_told_all_of_it() {
    let wanted = "/* Calculate, as `drystone describe` writes it. */

struct Calculate_Divide_call {
    int a;
    int b;
};

struct Calculate_Note_call {
    string x<>;
};

struct Calculate_Quotient_answer {
    int x;
};

struct Calculate_Failed_answer {
    string long_<>;
};

union Calculate_Divide_result switch (int answer) {
case 0:
    Calculate_Quotient_answer Quotient;
case 1:
    Calculate_Failed_answer Failed;
};

program Calculate_rpc_program {
    version Calculate_rpc_version {
        Calculate_Divide_result Calculate_Divide(Calculate_Divide_call) = 1;
        void Calculate_Note(Calculate_Note_call) = 2;
    } = 1;
} = 0x3abcdef0;
";
    let service = service(&[("integers", "32"), ("texts", "string")]).expect("it is right");
    assert_eq!(print(&service), wanted);
}
