//! Checks a program against the interfaces of its servers: that the messages of its calls exist, their direction, and
//! their types. The order of messages is checked at run time, by [`super::Services`].

use alloc::format;
use alloc::string::String;

use drystone_component::{Protocol, Side, Type};

use super::program::{Action, Argument, Pattern, Program, Refusal};

impl Program {
    /// Checks a program against the interfaces that its communications have at the server, in their order.
    /// [`Program::check`] must have accepted it.
    pub fn check_interfaces<P: Protocol>(&self, interfaces: &[&P]) -> Result<(), Refusal> {
        if interfaces.len() != self.communications.len() {
            let (wanted, there) = (self.communications.len(), interfaces.len());
            return Err(
                format!("the program talks over {wanted} communications, and there are {there}").into()
            );
        }
        for (number, (wanted, interface)) in self.communications.iter().zip(interfaces).enumerate() {
            if *wanted != interface.fingerprint() {
                return Err(format!(
                    "communication {number}: the program was made for an interface with the fingerprint \
                     {wanted}, but {} has {}; ask for its description and make the program anew",
                    interface.name(),
                    interface.fingerprint()
                )
                .into());
            }
        }
        for (number, call) in self.calls.iter().enumerate() {
            let interface = interfaces[call.communication as usize];
            self.check_call(&call.action, interface).map_err(|what| format!("call {number}: {what}"))?;
        }
        Ok(())
    }

    fn check_call<P: Protocol>(&self, action: &Action, interface: &P) -> Result<(), String> {
        match action {
            Action::Send { message, arguments } => {
                self.check_message(interface, *message, Side::Client, arguments)
            }
            Action::Receive { message, results } => {
                self.check_message(interface, *message, Side::Server, results)
            }
            Action::Test(Pattern::Message(message)) | Action::Input(Pattern::Message(message)) => {
                sent_by(interface, *message, Side::Server)
            }
            Action::Test(_) | Action::Input(_) | Action::Close => Ok(()),
        }
    }

    fn check_message<P: Protocol>(
        &self,
        interface: &P,
        message: u32,
        sender: Side,
        values: &[Argument],
    ) -> Result<(), String> {
        sent_by(interface, message, sender)?;
        let (_, name) = interface.message(message as usize);
        let types = interface.types(message as usize);
        let mut count = 0;
        for (index, ty) in types.enumerate() {
            count += 1;
            let held = match ty {
                Type::Component => return Err(format!("{name} carries {ty}, which no program can hold")),
                Type::Sequence => Type::Text,
                plain => plain,
            };
            let Some(value) = values.get(index) else { continue };
            let found = self.variables[value.variable as usize].ty;
            if found != held {
                let variable = value.variable;
                return Err(format!(
                    "parameter {index} of {name} is {ty}, but variable {variable} is {found}"
                ));
            }
        }
        match values.len() {
            given if given != count => Err(format!("{name} has {count} parameters, not {given}")),
            _ => Ok(()),
        }
    }
}

fn sent_by<P: Protocol>(interface: &P, message: u32, sender: Side) -> Result<(), String> {
    let there = interface.messages();
    if message as usize >= there {
        return Err(format!("{} has no message {message}; it has {there}", interface.name()));
    }
    let (by, name) = interface.message(message as usize);
    match (sender, by == sender) {
        (_, true) => Ok(()),
        (Side::Client, false) => {
            Err(format!("{name} is sent by the server, so the program can only receive it"))
        }
        (Side::Server, false) => {
            Err(format!("{name} is sent by the client, so the program can only send it"))
        }
    }
}
