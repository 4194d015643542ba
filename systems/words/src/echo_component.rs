//! Echoes: an object that answers at once, and a component whose sessions ask another echo.

use alloc::boxed::Box;
use alloc::string::String;

use drystone_component::Program;
use drystone_kortex::Maker;
use drystone_runtime::native::{Activity, Component, Design, Kind, Part, Ports, Serving};

use crate::interfaces::echo::{self, Client, Echo, In, Said, Server};
use crate::interfaces::echoes::{self, Echoes, Made};
use crate::interfaces::{Nothing, Walk};

/// Says the same.
struct Wall;

impl Echo for Wall {
    fn say(&mut self, w: &Walk, ws: &[Walk], t: &[u8], s: &[u8], n: &Nothing, ns: &[Nothing]) -> Said<'_> {
        Said {
            w: w.clone(),
            ws: ws.to_vec(),
            t: t.to_vec().into(),
            s: s.to_vec(),
            n: n.clone(),
            ns: ns.to_vec(),
        }
    }
}

/// Has it said.
#[derive(Default)]
struct Valley {
    ports: Option<Ports>,
}

impl Component for Valley {
    fn serve(&mut self, _: usize) -> Serving {
        let port = self.ports.as_ref().map(|ports| echo::client(ports, 0));
        echo::session(|client| pass_on(client, port))
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        self.ports = Some(ports);
        Box::pin(async {})
    }
}

async fn pass_on(mut client: Server, port: Option<Client>) {
    let Some(mut port) = port else { return client.fail("a valley has begun") };
    while let Ok(In::Say { w, ws, t, s, n, ns }) = client.receive().await {
        let said = port.say(&w, &ws, &t, &s, &n, &ns).await;
        let Ok(Said { w, ws, t, s, n, ns }) = said else { return };
        client.send_said(w, ws, t, s, n, ns).await;
    }
}

struct Land {
    kind: &'static Kind,
}

impl Echoes for Land {
    fn new(&mut self) -> Made {
        Made { e: Part::new(self.kind, Valley::default()) }
    }
}

/// Offers the object.
pub fn begin(_: &'static Program) -> Result<Maker, String> {
    Ok(Box::new(|| echo::serve(Wall)))
}

/// Offers the components.
pub fn begin_echoes(program: &'static Program) -> Result<Maker, String> {
    let design =
        Design { offers: &[&echo::DECLARATION], requires: &[(&echo::DECLARATION).into()], is_active: true };
    let kind = Kind::of(program, "Valley", design)?;
    Ok(Box::new(move || echoes::serve(Land { kind })))
}
