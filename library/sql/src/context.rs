//! The names of databases.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use drystone_component::Name;
use drystone_kortex::composed::{SOME, count, only};
use drystone_net::secure::Files;
use drystone_reactor::Reactor;
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, Factory, Hints, NamingContext};
use drystone_runtime::far::{Exported, Reach};

use crate::client::Bound;
use crate::connection::Database;
use crate::interfaces::database;
use crate::options::Options;
use crate::pool::Pool;
use crate::threads::Threads;
use crate::{postgres, sqlite};

/// What kind of databases a scheme's names stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Postgres,
    Sqlite,
}

/// The databases of a scheme.
pub struct Databases {
    kind: Kind,
    reactor: Rc<Reactor>,
    threads: Rc<Threads>,
    /// By name and options.
    pools: RefCell<HashMap<(String, Options), Weak<Pool>>>,
}

impl Databases {
    pub fn new(reactor: &Rc<Reactor>, kind: Kind) -> Databases {
        Databases {
            kind,
            reactor: reactor.clone(),
            threads: Rc::new(Threads::new()),
            pools: RefCell::default(),
        }
    }

    /// The pool of a database.
    fn pool(&self, name: Name<'_>, options: Options) -> Result<Rc<Pool>, String> {
        let pools = &mut *self.pools.borrow_mut();
        let key = (name.rest().to_string(), options);
        if let Some(pool) = pools.get(&key).and_then(Weak::upgrade) {
            return Ok(pool);
        }
        let (patience, options) = (Duration::from_millis(key.1.timeout), &key.1);
        let database: Arc<dyn Database> = match self.kind {
            Kind::Postgres => {
                let server = postgres::Server::new(name.whole(), options.clone())?;
                Arc::new(postgres::Shared(Arc::new(server)))
            }
            Kind::Sqlite => Arc::new(sqlite::File::new(name.rest(), options.clone())),
        };
        let pool = Pool::new(&self.reactor, &self.threads, database, options.connections, patience);
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(key, Rc::downgrade(&pool));
        Ok(pool)
    }
}

/// Reads what BY says.
fn options(kind: Kind, name: Name<'_>, hints: &Hints<'_>) -> Result<Options, String> {
    let mut options = Options {
        connections: 4,
        timeout: 30_000,
        rows: 10_000,
        busy: 5_000,
        durable: true,
        files: if kind == Kind::Postgres { Files::of(hints)? } else { Files::default() },
    };
    let (factory, own): (&str, &[&str]) = match kind {
        Kind::Postgres => {
            ("postgres", &["connections", "timeout", "rows", "authority", "certificate", "key"])
        }
        Kind::Sqlite => ("sqlite", &["connections", "timeout", "rows", "busy", "durable"]),
    };
    for factory in hints.factories.iter().filter(|it| it.name.eq_ignore_ascii_case(factory)) {
        only(factory, own)?;
        let number = |factory: &Factory<'_>, option, usual: u64| -> Result<u64, String> {
            Ok(count(factory, option, SOME)?.unwrap_or(usual))
        };
        options.connections = number(factory, "connections", options.connections as u64)?.min(1000) as usize;
        options.timeout = number(factory, "timeout", options.timeout)?;
        options.rows = number(factory, "rows", options.rows as u64)? as usize;
        options.busy = number(factory, "busy", options.busy)?;
        options.durable = factory.boolean("durable")?.unwrap_or(options.durable);
    }
    // Who waits for longer than a statement may take is not told in time.
    options.busy = options.busy.min(options.timeout);
    // Each connection to a database in memory would have a database of its own.
    if kind == Kind::Sqlite && name.rest() == ":memory:" {
        options.connections = 1;
    }
    Ok(options)
}

impl BindingFactory for Databases {
    fn bind(&mut self, Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        if interface.fingerprint != database::DECLARATION.fingerprint {
            return Err(format!("Sql's Database is there, and no {}", interface.name.get()));
        }
        let options = options(self.kind, name, hints)?;
        Ok(Box::new(Bound { interface, pool: self.pool(name, options)? }))
    }
}

impl NamingContext for Databases {
    fn export(&mut self, _: Endpoint<'_>) -> Result<Box<dyn Exported>, String> {
        Err("these names stand for databases, and for nothing else".into())
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}
