//! An exported name: a subject at which clients ask for a server. Programs that export the same name share its clients.

use std::cell::RefCell;
use std::mem::replace;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use async_nats::{Message, Subscriber};
use drystone_component::Interface;
use drystone_kortex::peer::{Names, Offer, Wanted};
use futures_util::StreamExt;
use tokio::sync::oneshot;

use super::engine::Task;
use super::envelope::{Envelope, Kind};
use super::open::Open;
use super::peer_stream::PeerStream;
use super::register;
use super::session::Session;
use super::users::User;

/// The queue group of all programs that export a name: NATS gives each client to one of them.
const GROUP: &str = "drystone";

/// See the head of this file. The name is withdrawn when this is dropped.
pub(super) struct Export {
    session: Weak<Session>,
    subject: String,
    interface: &'static Interface,
    pub(super) names: Rc<Names>,
    stage: RefCell<Stage>,
}

enum Stage {
    /// There is no connection.
    Away,
    Asked(Task<Result<Subscriber, String>>, oneshot::Sender<()>),
    /// The name is listed for as long as the second is kept.
    Offered(Subscriber, #[expect(dead_code, reason = "it is dropped")] oneshot::Sender<()>),
}

impl Export {
    /// Exports an interface. When this returns, clients find it.
    ///
    /// # Errors
    /// NATS isn't there, or refuses.
    pub(super) fn open(session: &Rc<Session>, wanted: &Wanted) -> Result<(Rc<Export>, Rc<Offer>), String> {
        let names: Rc<Names> = Rc::default();
        let offer = names.add(wanted)?;
        let export = Rc::new(Export {
            session: Rc::downgrade(session),
            subject: wanted.there.to_string(),
            interface: wanted.interface,
            names,
            stage: RefCell::new(Stage::Away),
        });
        session.connect_now()?;
        session.add_user(export.clone());
        let result = match &*export.stage.borrow() {
            Stage::Asked(task, _) => Some(task.wait().and_then(|result| result)),
            _ => None,
        };
        result.map_or(Ok(()), |result| export.offered(result))?;
        Ok((export, offer))
    }

    /// NATS has answered.
    fn offered(&self, result: Result<Subscriber, String>) -> Result<(), String> {
        let stage = &mut *self.stage.borrow_mut();
        if let Stage::Asked(_, kept) = replace(stage, Stage::Away) {
            *stage = Stage::Offered(result?, kept);
        }
        Ok(())
    }

    fn next(&self, context: &mut Context<'_>) -> Option<Message> {
        let Stage::Offered(subscriber, _) = &mut *self.stage.borrow_mut() else { return None };
        match subscriber.poll_next_unpin(context) {
            Poll::Ready(message) => message,
            Poll::Pending => None,
        }
    }

    fn answer(&self, message: &Message) {
        let (Some(there), Some(session)) = (&message.reply, self.session.upgrade()) else { return };
        if let Some(envelope) =
            Envelope::read(&message.payload).filter(|envelope| envelope.kind == Kind::Begin)
        {
            PeerStream::accept(&session, &self.names, there, &envelope);
        }
    }
}

impl User for Export {
    fn opened(&self, open: &Open) {
        let (client, subject) = (open.client.clone(), self.subject.clone());
        let entry = register::entry(&self.subject, &open.prefix, self.interface);
        let (kept, end) = oneshot::channel();
        let unfinished = open.unfinished.one();
        let task = open.begin(async move {
            let subscriber = client.queue_subscribe(subject.clone(), GROUP.to_string()).await;
            let subscriber = subscriber.map_err(|error| error.to_string())?;
            let (is_there, listed) = oneshot::channel();
            tokio::spawn(async move {
                register::keep(client, subject, entry, is_there, end).await;
                drop(unfinished);
            });
            // NATS answers in order: clients find the name from now on, listed or not.
            let _ = listed.await;
            Ok(subscriber)
        });
        *self.stage.borrow_mut() = Stage::Asked(task, kept);
    }

    fn lost(&self, _: &str) {
        *self.stage.borrow_mut() = Stage::Away;
    }

    fn end(&self) {
        *self.stage.borrow_mut() = Stage::Away;
    }

    fn serve(&self, context: &mut Context<'_>) {
        let result = match &*self.stage.borrow() {
            Stage::Asked(task, _) => task.poll(),
            _ => None,
        };
        if let Some(result) = result {
            // If the name can't be exported again there is nobody to be told.
            let _ = self.offered(result.and_then(|result| result));
        }
        while let Some(message) = self.next(context) {
            self.answer(&message);
        }
    }

    fn needs_connection(&self) -> bool {
        true
    }
}
