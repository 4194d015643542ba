//! Compares the compiler's marshalling code with the runtime's, which interprets types: both write the same bytes, read
//! the same values, and refuse the same invalid bytes.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use drystone_compiler::TimeSlices;
use drystone_component::wire::{self, Sink};
use drystone_component::{Interface, Name};
use drystone_kortex::{Addition, Context};
use drystone_language::check;
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;
use drystone_linux::Options;
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, NamingContext};
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Outgoing, Reach, Waker};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A value in a program: its type and its text.
type Written = (&'static str, String);

fn values() -> impl Strategy<Value = Vec<Written>> {
    let quoted = |text: String| format!("\"{text}\"");
    let value = prop_oneof![
        any::<i64>().prop_map(|x| ("INTEGER", format!("({} - 1)", x.saturating_abs()))),
        any::<i32>().prop_map(|x| ("REAL", format!("({}.25 / 3.0)", i64::from(x).abs()))),
        any::<bool>().prop_map(|x| ("BOOLEAN", x.to_string().to_uppercase())),
        any::<u8>().prop_map(|x| ("CHARACTER", format!("CHARACTER({x})"))),
        "[a-z ]{0,9}".prop_map(move |x| ("TEXT", quoted(x))),
        "[A-Z]{60,70}".prop_map(move |x| ("TEXT", quoted(x))),
    ];
    vec(value, 0..12)
}

/// A program that sends each message, and checks that the same values come back.
fn program(messages: &[Vec<Written>]) -> String {
    let (mut declared, mut body, mut variables) = (String::new(), String::new(), String::new());
    for (number, values) in messages.iter().enumerate() {
        let parameters: Vec<String> =
            values.iter().enumerate().map(|(i, (ty, _))| format!("p{i}: {ty}")).collect();
        let parameters =
            if parameters.is_empty() { String::new() } else { format!("({})", parameters.join("; ")) };
        let bar = if number == 0 { "{" } else { "|" };
        writeln!(declared, "{bar} IN Say{number}{parameters} OUT Said{number}{parameters}").unwrap();
        let list = |of: Vec<String>| match of.is_empty() {
            true => String::new(),
            false => format!("({})", of.join(", ")),
        };
        let given = list(values.iter().map(|(_, value)| value.clone()).collect());
        let taken = list((0..values.len()).map(|i| format!("v{number}x{i}")).collect());
        writeln!(body, "Mirror!Say{number}{given}; Mirror?Said{number}{taken};").unwrap();
        for (i, (ty, value)) in values.iter().enumerate() {
            write!(variables, "v{number}x{i}: {ty}; ").unwrap();
            writeln!(body, "IF v{number}x{i} # {value} THEN WRITE(\"{number} {i}, \") END;").unwrap();
        }
    }
    format!(
        "COMPONENT Main;
         INTERFACE Mirror; {declared} }} END Mirror;
         COMPONENT Looker REQUIRES Mirror;
           VARIABLE {variables}
         BEGIN {body} WRITE(\"done\") END Looker;
         VARIABLE l: Looker;
         BEGIN NEW(l); CONNECT(Mirror(l), \"mirror:wall\") END Main;"
    )
}

/// A naming context with one name, whose server echoes messages.
struct Room;

impl BindingFactory for Room {
    fn bind(&mut self, Endpoint { interface, .. }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        Ok(Box::new(Mirror { interface }))
    }
}

impl NamingContext for Room {
    fn export(&mut self, _: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        Err("nothing is exported here".into())
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

struct Mirror {
    interface: &'static Interface,
}

impl Reach for Mirror {
    fn begin(&mut self) -> Box<dyn Far> {
        let (said, pump) = Default::default();
        Box::new(Face { interface: self.interface, said, pump })
    }
}

struct Face {
    interface: &'static Interface,
    /// A message to be returned, and its values.
    said: Option<(usize, Vec<u8>)>,
    pump: Rc<RefCell<Option<Waker>>>,
}

impl Far for Face {
    fn attach(&mut self, pump: Waker) {
        *self.pump.borrow_mut() = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.said.is_none()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let message = &self.interface.messages.get()[message];
        assert!(message.marshalling.is_some(), "there is code for {}", message.name.get());
        let (mut by_code, mut by_types) = (vec![0x55], vec![0x55]);
        values.encode(&mut by_code).expect("it has a form");
        wire::encode(message.types(), &values, &mut by_types).expect("it has a form");
        assert_eq!(by_code, by_types, "{}", message.name.get());
        let answer = message.name.get().replace("Say", "Said");
        let answer = self.interface.messages.get().iter().position(|message| message.name.get() == answer);
        self.said = Some((answer.expect("each message has its answer"), by_code.split_off(1)));
    }

    fn receive(&mut self) -> Arrival {
        self.said.as_ref().map_or(Arrival::Nothing, |(message, _)| Arrival::Message(*message))
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let (message, bytes) = self.said.take().expect("it has been told");
        let message = &self.interface.messages.get()[message];
        for wrong in spoiled(&bytes) {
            let said = wire::decode(message.types(), &wrong, &mut Nothing);
            assert_eq!(values.decode(&wrong), said, "{wrong:?} are not {bytes:?}");
        }
        values.decode(&bytes)
    }

    fn close(&mut self) {}
}

/// The bytes truncated anywhere, with one too many, and with each byte changed.
fn spoiled(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cut = (0..bytes.len()).map(|length| bytes[..length].to_vec());
    let changed = (0..bytes.len()).flat_map(|at| {
        [1, 0x80].map(|bit| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= bit;
            bytes
        })
    });
    cut.chain(changed).chain([[bytes, &[0]].concat()])
}

/// Accepts any values.
struct Nothing;

impl Sink for Nothing {
    fn integer(&mut self, _: i64) -> Result<(), String> {
        Ok(())
    }

    fn real(&mut self, _: f64) -> Result<(), String> {
        Ok(())
    }

    fn byte(&mut self, _: u8) -> Result<(), String> {
        Ok(())
    }

    fn text(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn compiled_marshalling_does_what_is_done_by_looking_at_types() {
    static MIRROR: Addition = Addition {
        contexts: &[Context { scheme: "mirror", begin: |_| Box::new(Room) }],
        ..Addition::NOTHING
    };
    static ALL: &[&Addition] = &[&MIRROR];
    let mut runner = TestRunner::deterministic();
    for _ in 0..5 {
        let messages = vec(values(), 40).new_tree(&mut runner).expect("nothing is refused").current();
        let text = program(&messages);
        let files = [SourceFile { path: "mirror.dry".into(), text }];
        let checked = check::check(&files, check::Options::default().beside_crates())
            .unwrap_or_else(|errors| panic!("{}", render(&files, &errors, Colour::Plain)));
        let compiled = drystone_compiler::compile(&checked, &files, TimeSlices::Kept);
        let options = Options { cores: 1, additions: ALL, ..Options::default() };
        let (_, output) = drystone_linux::run_quietly(compiled, &options).expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output), "done", "{}", files[0].text);
    }
}
