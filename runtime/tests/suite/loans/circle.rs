//! Two components, each of which has borrowed from the other.

use super::*;

once! {
    LINK: Kind = kind("Link", true, true);
}

/// Asks the next one for what it is asked, less one.
#[derive(Clone, Default)]
struct Link {
    next: Rc<RefCell<Option<Client>>>,
}

impl Component for Link {
    fn serve(&mut self, _: usize) -> Serving {
        adder::serve(self.clone())
    }

    fn begin(&mut self, ports: Ports) -> Activity {
        let (mut client, next) = (Client::of(&ports), self.next.clone());
        Box::pin(async move {
            _ = client.add(0).await;
            *next.borrow_mut() = Some(client);
        })
    }
}

const NO_LOAN: i64 = 1000;
const IN_USE: i64 = 2000;

impl AddsAtOnce for Link {
    fn add(&mut self, x: i64) -> i64 {
        if x == 0 {
            return 0;
        }
        match self.next.try_borrow_mut() {
            Ok(mut next) => next.as_mut().and_then(|next| next.add_now(x - 1)).map_or(NO_LOAN, |sum| sum + 1),
            Err(_) => IN_USE,
        }
    }
}

#[test]
fn two_who_have_lent_to_each_other_call_in_a_circle() {
    once! {
        MAIN: Template = template("Main").virtual_time().holds(0).holds(1).holds(2).main(&[
            |c| unsafe { make(c, 0, *LINK, Link::default()) },
            |c| unsafe { make(c, 1, *LINK, Link::default()) },
            |c| unsafe { c.connect(*c.container(0), 0, *c.container(1), 0) },
            |c| unsafe { c.connect(*c.container(1), 0, *c.container(0), 0) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { make(c, 2, *ASKER, Asker) },
            |c| unsafe { c.connect(*c.container(2), 0, *c.container(0), 0) },
            // The third of the circle finds that the first is using its client.
            |c| unsafe { order(c, &[Call(1), Now(2), Now(5), Call(5)]) },
            |c| unsafe { c.passivate(5) },
            |c| unsafe { c.disconnect(*c.container(0), 0) },
            |c| unsafe { c.delete(c.container(1)) },
            |c| unsafe { order(c, &[Now(1), Call(1), Stop]) },
        ]).done();
    }
    assert_eq!(said(*MAIN), "1 =2 =2002 2002 =1000 1000 ");
}
