//! Services as handlers: their answers, and that a failed run has changed nothing.

use drystone_component::{Fingerprint, Type};
use drystone_extension::composite::{
    Action, Call, Code, Command, Comparison, Expression, Kind, Limits, Operation, Pattern, Program,
    Responder, Travels, Value, shared,
};
use drystone_extension::handler::{Ended, Handler, Image, Settings, Verdict};

use super::objects::{datagram, payload};

const FORM: u32 = 0x0102_0304;
const ADD: u32 = 0;
const SUM: u32 = 1;
const LARGE: u32 = 2;
const TRUTH: u32 = 3;
const RESET: u32 = 4;
/// Variables: what the service keeps, and its own.
const TOTAL: u32 = 0;
const CALLS: u32 = 1;
const GIVEN: u32 = 2;
const IS: u32 = 3;

fn messages() -> Vec<Vec<Type>> {
    vec![vec![Type::Integer, Type::Character], vec![Type::Integer], vec![], vec![Type::Boolean], vec![]]
}

/// `WHILE ~ ?FINISH DO IF ?Add THEN ?Add(given, ..); calls := calls + 1; total := total + given * 3; !Sum(total) ..`.
fn counting() -> Program {
    let mut program = Program {
        communications: vec![Fingerprint([0; 2])],
        variables: vec![],
        calls: vec![],
        code: Code::Tree(Command::Stop),
    };
    for ty in [Type::Integer, Type::Integer, Type::Integer, Type::Boolean, Type::Character] {
        program.add_variable(ty, None, Travels::Not(Value::initial(ty)));
    }
    let mut call = |action| program.add_call(Call { communication: 0, action, location: 0 });
    let test = |message| Action::Test(Pattern::Message(message));
    let receive = |message, results: &[u32]| Action::Receive {
        message,
        results: results.iter().map(|it| (*it).into()).collect(),
    };
    let send = |message, arguments: &[u32]| Action::Send {
        message,
        arguments: arguments.iter().map(|it| (*it).into()).collect(),
    };
    let finished = call(Action::Test(Pattern::Finish));
    let [is_add, is_large] = [call(test(ADD)), call(test(LARGE))];
    let [add, large, reset] =
        [call(receive(ADD, &[GIVEN, 4])), call(receive(LARGE, &[])), call(receive(RESET, &[]))];
    let [sum, truth] = [call(send(SUM, &[TOTAL])), call(send(TRUTH, &[IS]))];
    let variable = Expression::Variable;
    let apply = |operation, a, b| Expression::Apply(operation, vec![a, b], 0);
    let plus = |variable: u32, by| {
        Command::Assign(variable, apply(Operation::Add, Expression::Variable(variable), by))
    };
    let product = apply(Operation::Multiply, variable(GIVEN), Expression::Integer(3));
    let is_greater = apply(
        Operation::Compare(Comparison::Greater, Kind::Word),
        variable(TOTAL),
        apply(Operation::Multiply, variable(CALLS), Expression::Integer(10)),
    );
    let added = Command::Sequence(vec![
        Command::Call(add),
        plus(CALLS, Expression::Integer(1)),
        plus(TOTAL, product),
        Command::Call(sum),
    ]);
    let compared =
        Command::Sequence(vec![Command::Call(large), Command::Assign(IS, is_greater), Command::Call(truth)]);
    let forgotten = Command::Sequence(vec![
        Command::Call(reset),
        Command::Assign(TOTAL, Expression::Integer(0)),
        Command::Assign(CALLS, Expression::Integer(0)),
    ]);
    let otherwise = Command::If(Expression::Test(is_large), compared.into(), forgotten.into());
    let body = Command::If(Expression::Test(is_add), added.into(), otherwise.into());
    let goes_on = Expression::Apply(Operation::Not, vec![Expression::Test(finished)], 0);
    program.code = Code::Tree(Command::While(goes_on, body.into()));
    program
}

/// In both engines, for datagrams to 10.0.0.2, port 7000.
fn responders() -> [Handler; 2] {
    let (program, messages) = (counting(), messages());
    let responder = Responder { form: FORM, kept: 2, messages: &messages };
    let slots = program.respond(&responder, &Limits::default()).expect("it can");
    [false, true].map(|interpreted| {
        let image = Image::of_responder("counting", slots.clone(), 2);
        let settings = Settings { interpreted, key: 7, ..Settings::default() };
        let mut handler = Handler::of(&image, settings).unwrap_or_else(|why| panic!("{why}"));
        let place = [10, 0, 0, 2, 0x1b, 0x58, 0, 0];
        words(&mut handler)[8 * shared::PLACE..][..8].copy_from_slice(&place);
        handler
    })
}

fn words(handler: &mut Handler) -> &mut [u8] {
    handler.table("service").and_then(|table| table.get(&[0; 4])).expect("it is there")
}

fn word(handler: &mut Handler, number: usize) -> i64 {
    i64::from_le_bytes(words(handler)[8 * number..][..8].try_into().expect("a word"))
}

fn request(message: u32, parameters: &[&[u8]]) -> Vec<u8> {
    let head = [FORM, 77, message].map(u32::to_be_bytes).concat();
    datagram(7000, &[&head, &parameters.concat()[..]].concat())
}

fn add(number: i64) -> Vec<u8> {
    request(ADD, &[&number.to_be_bytes(), &65u32.to_be_bytes()])
}

/// What becomes of it, and the frame then.
fn arrives(handler: &mut Handler, message: &[u8]) -> (Verdict, Vec<u8>) {
    let (ended, frame) = super::arrives(handler, message);
    let Ended::With(verdict) = ended else { panic!("it was stopped") };
    (verdict, frame)
}

/// The message of an answer and its parameters, if all before them is as it must be.
fn answer(frame: &[u8]) -> (u32, Vec<u8>) {
    let half = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    assert_eq!(frame[..12], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    assert_eq!((usize::from(half(16)), usize::from(half(38))), (frame.len() - 14, frame.len() - 34));
    assert_eq!((&frame[26..30], &frame[30..34]), (&[10, 0, 0, 2][..], &[10, 0, 0, 1][..]));
    assert_eq!((half(34), half(36), half(40)), (7000, 12345, 0));
    let sum: u32 = (14..34).step_by(2).map(|at| u32::from(half(at))).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "the checksum of the header");
    let payload = payload(frame);
    assert_eq!(payload[..8], [FORM.to_be_bytes(), 77u32.to_be_bytes()].concat());
    (u32::from_be_bytes(payload[8..12].try_into().expect("a number")), payload[12..].to_vec())
}

#[test]
fn requests_are_answered_and_change_what_the_service_keeps() {
    for mut handler in responders() {
        for (number, sum) in [(5, 15), (-7, -6), (100, 294i64)] {
            let (verdict, frame) = arrives(&mut handler, &add(number));
            assert_eq!(verdict, Verdict::Transmit);
            assert_eq!(answer(&frame), (SUM, sum.to_be_bytes().to_vec()));
        }
        let (verdict, frame) = arrives(&mut handler, &request(LARGE, &[]));
        assert_eq!((verdict, answer(&frame)), (Verdict::Transmit, (TRUTH, vec![0, 0, 0, 1])));
        assert_eq!(arrives(&mut handler, &request(RESET, &[])).0, Verdict::Drop);
        let (_, frame) = arrives(&mut handler, &request(LARGE, &[]));
        assert_eq!(answer(&frame), (TRUTH, vec![0; 4]));
        let kept = [shared::LOCK, shared::ANSWERED, shared::LEFT, shared::VARIABLES, shared::VARIABLES + 1];
        assert_eq!(kept.map(|number| word(&mut handler, number)), [0, 6, 0, 0, 0]);
    }
}

#[test]
fn what_fails_is_left_to_the_process_and_changes_nothing() {
    for mut handler in responders() {
        arrives(&mut handler, &add(5));
        // 3 * 2^62 overflows when one request has been counted already.
        let message = add(1 << 62);
        assert_eq!(arrives(&mut handler, &message), (Verdict::Pass, message));
        let kept = [shared::LOCK, shared::LEFT, shared::VARIABLES, shared::VARIABLES + 1];
        assert_eq!(kept.map(|number| word(&mut handler, number)), [0, 1, 15, 1]);
        // While the process has the lock.
        words(&mut handler)[0] = 1;
        assert_eq!(arrives(&mut handler, &add(5)), (Verdict::Pass, add(5)));
        assert_eq!([shared::LOCK, shared::LEFT].map(|number| word(&mut handler, number)), [1, 2]);
    }
}

#[test]
fn what_is_no_request_of_the_service_is_passed_on_as_it_is() {
    let good = add(5);
    for mut handler in responders() {
        for length in 0..good.len() {
            let short = good[..length].to_vec();
            assert_eq!(arrives(&mut handler, &short), (Verdict::Pass, short), "{length}");
        }
        // Anything in the headers but the addresses of Ethernet, the identification and so on, which don't matter.
        let matters =
            (12..15).chain([16, 17, 20, 21, 23]).chain(30..34).chain(36..40).chain(42..46).chain(50..54);
        for at in matters.chain([62, 63, 64]) {
            let mut other = good.clone();
            other[at] ^= 0x21;
            assert_eq!(arrives(&mut handler, &other), (Verdict::Pass, other), "{at}");
        }
        assert_eq!(word(&mut handler, shared::ANSWERED), 0);
        // Frames that are longer than what they carry are usual.
        let padded = [&request(LARGE, &[])[..], &[9; 6]].concat();
        assert_eq!(arrives(&mut handler, &padded).0, Verdict::Transmit);
    }
}
