//! Helpers for several patterns: connect clients to servers in several ways, and wrap servers in components.

use super::{Generator, Step};

impl Generator {
    /// Connects a client to a server: directly, by name, over relays, or over a relay for each client.
    pub fn wire(
        &mut self,
        interface: &str,
        client: &str,
        server: &str,
        index: Option<&str>,
        step: &mut Step,
    ) -> String {
        // Names hold for the whole program, so a component with several instances must not use them.
        if self.repeated == 0 && self.random.one_in(4) {
            return self.by_name(interface, client, server, index);
        }
        if !self.random.one_in(3) {
            let by = if self.random.one_in(8) { " BY Monitored()" } else { "" };
            return format!("CONNECT({interface}({client}), {server}){by};\n");
        }
        let (template, relay) = (self.name("Relay"), self.name("relay"));
        step.templates += &format!(
            "COMPONENT {template} OFFERS {interface} REQUIRES {interface};\n\
             BEGIN CONNECT({interface}, {interface})\nEND {template};\n"
        );
        let name = match index {
            Some(index) => {
                step.variables.push(format!("{relay}[i: INTEGER]: {template}"));
                format!("{relay}[{index}]")
            }
            None => {
                step.variables.push(format!("{relay}: {template}"));
                relay
            }
        };
        let mut order = [
            format!("CONNECT({interface}({name}), {server});\n"),
            format!("CONNECT({interface}({client}), {name});\n"),
        ];
        if self.random.one_in(2) {
            order.reverse();
        }
        format!("NEW({name});\n{}", order.concat())
    }

    /// Connects a client to a server by a name, which is exported before or after the client connects.
    fn by_name(&mut self, interface: &str, client: &str, server: &str, index: Option<&str>) -> String {
        let name = self.name("local:name");
        let name = match index {
            Some(index) => format!("\"{name}.\" + TEXT({index})"),
            None => format!("\"{name}\""),
        };
        let mut order = [
            format!("EXPORT({interface}({server}), {name});\n"),
            format!("CONNECT({interface}({client}), {name});\n"),
        ];
        if self.random.one_in(2) {
            order.reverse();
        }
        order.concat()
    }

    /// The server itself, or a component that holds the server and connects its own interface to it.
    pub fn hosted(&mut self, interface: &str, server: String, step: &mut Step) -> String {
        if !self.random.one_in(4) {
            return server;
        }
        let host = self.name("Host");
        step.templates += &format!(
            "COMPONENT {host} OFFERS {interface};\nVARIABLE inner: {server};\n\
             BEGIN NEW(inner); CONNECT({interface}, inner)\nEND {host};\n"
        );
        host
    }

    /// Makes functions for a new component, and calls `make`, which may use them.
    pub fn component<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let around = std::mem::take(&mut self.functions);
        let functions = self.new_functions();
        let made = make(self);
        self.functions = around;
        (functions, made)
    }
}
