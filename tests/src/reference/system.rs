//! The system's interfaces: SystemTime, Console, Arguments, and FileSystem on real files.

use super::communication::{Message, Side};
use super::identity::{CommunicationId, Event};
use super::process::Process;
use super::value::Value;

/// Whether the interpreter knows a system interface.
pub(super) fn offers(interface: &str) -> bool {
    matches!(interface, "SystemTime" | "Console" | "Arguments" | "FileSystem")
}

/// The service for one client.
pub(super) async fn serve(process: &Process<'_, '_>, id: CommunicationId) {
    let service = Service { process, id };
    match process.world.interface_name(id).as_str() {
        "SystemTime" => service.system_time().await,
        "Console" => service.console().await,
        "Arguments" => service.arguments().await,
        "FileSystem" => service.file_system().await,
        other => unreachable!("{other} was never connected"),
    }
}

struct Service<'a, 'w, 'p> {
    process: &'a Process<'w, 'p>,
    id: CommunicationId,
}

impl Service<'_, '_, '_> {
    async fn system_time(&self) {
        if self.next().await.is_some() {
            let time = self.process.world.state.borrow().time;
            self.answer("SystemTime", vec![Value::Integer(time)]).await;
        }
    }

    async fn console(&self) {
        let mut rest = self.process.world.options.input.as_slice();
        while let Some((_, _)) = self.next().await {
            match line(&mut rest) {
                Some(line) => self.answer("Line", vec![Value::Text(line)]).await,
                None => self.answer("End", vec![]).await,
            }
        }
    }

    async fn arguments(&self) {
        if self.next().await.is_some() {
            for argument in &self.process.world.options.arguments {
                self.answer("Argument", vec![Value::Text(argument.clone().into_bytes())]).await;
            }
            self.answer("End", vec![]).await;
        }
    }

    async fn file_system(&self) {
        let Some((first, values)) = self.next().await else { return };
        let name = String::from_utf8_lossy(values[0].text()).into_owned();
        let content = if first == "New" {
            std::fs::write(&name, "").map(|()| Vec::new())
        } else {
            std::fs::read(&name)
        };
        let Ok(mut content) = content else { return self.answer("Failed", vec![]).await };
        self.answer("Done", vec![]).await;
        let mut position = 0;
        while let Some((message, values)) = self.next().await {
            match message.as_str() {
                "SetPosition" => {
                    position = usize::try_from(values[0].integer()).unwrap_or(0).min(content.len())
                }
                "GetPosition" => self.answer("Position", vec![Value::Integer(position as i64)]).await,
                "GetLength" => self.answer("Length", vec![Value::Integer(content.len() as i64)]).await,
                "ReadByte" => match content.get(position) {
                    Some(&byte) => {
                        position += 1;
                        self.answer("Byte", vec![Value::Character(byte)]).await;
                    }
                    None => self.answer("EOF", vec![]).await,
                },
                "ReadLine" => {
                    let mut rest = &content[position..];
                    match line(&mut rest) {
                        Some(line) => {
                            position = content.len() - rest.len();
                            self.answer("Line", vec![Value::Text(line)]).await;
                        }
                        None => self.answer("EOF", vec![]).await,
                    }
                }
                "Write" | "WriteText" => {
                    let bytes = match &values[0] {
                        Value::Character(byte) => vec![*byte],
                        other => other.text().to_vec(),
                    };
                    let end = content.len().min(position + bytes.len());
                    position += bytes.len();
                    content.splice(position - bytes.len()..end, bytes);
                }
                // A failing disk shows when the file is read again. The interface has no answer for it.
                "Update" => drop(std::fs::write(&name, &content)),
                _ => {
                    drop(std::fs::write(&name, &content));
                    return;
                }
            }
        }
    }

    /// The next message; `None` after the client has closed.
    async fn next(&self) -> Option<(String, Vec<Value>)> {
        let world = self.process.world;
        loop {
            let found = {
                let state = world.state.borrow();
                let communication = &state.communications[&self.id];
                let interface = &world.program.interfaces[communication.interface.index()];
                match communication.front(Side::Server, interface) {
                    Some(message) => Some((message.index, interface.messages[message.index].name.clone())),
                    None if communication.closed(Side::Server) => return None,
                    None => None,
                }
            };
            match found {
                Some((index, name)) => match world.take(self.id, Side::Server, index) {
                    super::communications::Attempt::Done(values) => {
                        return values.map(|values| (name, values));
                    }
                    _ => unreachable!("the client sends what the protocol allows"),
                },
                None => self.process.wait(Event::Communication(self.id)).await,
            }
        }
    }

    async fn answer(&self, name: &str, values: Vec<Value>) {
        use super::communications::Attempt;
        let world = self.process.world;
        let index = {
            let state = world.state.borrow();
            let interface = &world.program.interfaces[state.communications[&self.id].interface.index()];
            let out = drystone_language::ast::Direction::Out;
            let found = interface.messages.iter().position(|one| one.name == name && one.direction == out);
            found.expect("the interface is the system's")
        };
        loop {
            match world.may_answer(self.id, index) {
                Attempt::Done(Some(id)) => {
                    let span = drystone_language::source::Span::default();
                    return world.put(id, Side::Server, Message { index, values, span });
                }
                Attempt::Wait(event) => self.process.wait(event).await,
                Attempt::Done(None) | Attempt::Failed(_) => return,
            }
        }
    }
}

/// Takes the next line, without its line end.
fn line(rest: &mut &[u8]) -> Option<Vec<u8>> {
    if rest.is_empty() {
        return None;
    }
    let end = rest.iter().position(|&byte| byte == b'\n');
    let line = &rest[..end.unwrap_or(rest.len())];
    *rest = &rest[end.map_or(rest.len(), |end| end + 1)..];
    Some(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
}
