//! Names in a graph of contexts, and what is bound by them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use drystone_component::naming::{
    BindingFactory, Context, Domain, Graph, Name, NamingContext, Node, Resource, ResourceManager,
};
use proptest::prelude::*;

fn found(context: &dyn NamingContext<u32>, path: &str) -> Result<u32, String> {
    match context.resolve(path.as_bytes())? {
        Node::Interface(interface) => Ok(interface),
        Node::Context(_) => Err("a context".into()),
    }
}

fn export(context: &Context<u32>, label: &str, interface: u32) -> Name<u32> {
    Rc::new(context.clone()).export(interface, label.as_bytes()).expect("a name")
}

#[test]
fn a_name_is_relative_to_its_context() {
    let house = Graph::new();
    let kitchen = house.another();
    house.add(b"kitchen", &kitchen).expect("added");
    let lamp = export(&kitchen, "lamp", 7);
    assert_eq!(lamp.to_bytes(), b"lamp");
    assert_eq!(found(&**lamp.context(), "lamp"), Ok(7));
    assert_eq!(found(&house, "kitchen/lamp"), Ok(7));
    assert_eq!(found(&house, "lamp"), Err("lamp: no such name".into()));
    assert_eq!(found(&house, "kitchen"), Err("a context".into()));
    assert_eq!(found(&house, "kitchen/lamp/switch"), Err("kitchen/lamp/switch: lamp is no context".into()));
    let again = Rc::new(kitchen.clone()).decode(lamp.to_bytes()).expect("a name");
    assert!(matches!(again.resolve(), Ok(Node::Interface(7))));
    assert!(kitchen.remove(b"lamp") && !kitchen.remove(b"lamp"));
    assert!(again.clone().resolve().is_err());
}

#[test]
fn a_name_is_given_once_and_is_a_label() {
    let house = Graph::new();
    export(&house, "lamp", 7);
    let taken = Rc::new(house.clone()).export(8, b"lamp").err();
    assert_eq!(taken, Some("lamp: this name is taken".into()));
    assert_eq!(Rc::new(house.clone()).export(8, b"a/b").err(), Some("a/b: this is no label".into()));
    assert_eq!(house.add(b"", &house), Err(": this is no label".into()));
}

#[test]
fn a_graph_need_not_be_a_tree() {
    let (house, street) = (Graph::new(), Graph::new());
    let garden = house.another();
    house.add(b"garden", &garden).expect("added");
    garden.add(b"house", &house).expect("added");
    garden.add(b"self", &garden).expect("added");
    garden.add(b"street", &street).expect("added");
    street.add(b"number 5", &house).expect("added");
    export(&house, "door", 1);
    assert_eq!(found(&garden, "self/self/house/garden/house/door"), Ok(1));
    assert_eq!(found(&house, "garden/street/number 5/garden/house/door"), Ok(1));
    let round = "garden/house/".repeat(200) + "door";
    assert!(found(&house, &round).is_err_and(|why| why.ends_with(": a name of more than 256 labels")));
    assert!(Rc::new(house.clone()).decode(round.as_bytes()).is_err());
    assert_eq!(house.labels().len(), 2);
}

/// A context with a convention of its own: names are numbers, and stand for themselves.
struct Numbers;

impl NamingContext<u32> for Numbers {
    fn export(self: Rc<Self>, interface: u32, _hint: &[u8]) -> Result<Name<u32>, String> {
        Ok(Name::new(self, interface.to_string().as_bytes()))
    }

    fn decode(self: Rc<Self>, bytes: &[u8]) -> Result<Name<u32>, String> {
        self.resolve(bytes)?;
        Ok(Name::new(self, bytes))
    }

    fn resolve(&self, bytes: &[u8]) -> Result<Node<u32>, String> {
        let number = str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
        number.map(Node::Interface).ok_or_else(|| "this is no number".to_string())
    }
}

#[test]
fn conventions_live_side_by_side() {
    let root = Graph::new();
    root.mount(b"number", Rc::new(Numbers)).expect("added");
    assert_eq!(found(&root, "number/42"), Ok(42));
    assert_eq!(found(&root, "number/x"), Err("this is no number".into()));
    let Ok(Node::Context(numbers)) = root.resolve(b"number") else { panic!("no context") };
    assert_eq!(numbers.export(3, b"").map(|name| name.to_bytes().to_vec()), Ok(b"3".to_vec()));
}

/// A manager of seats: a seat is allocated by a binding.
struct Seats(Rc<Cell<u32>>);

struct Seat(Rc<Cell<u32>>);

impl Resource for Seat {
    fn release(&self) {
        self.0.set(self.0.get() + 1);
    }
}

impl BindingFactory<u32, (u32, Rc<dyn Resource>)> for Seats {
    fn bind(&self, name: &Name<u32>, hint: &[u8]) -> Result<(u32, Rc<dyn Resource>), String> {
        let Node::Interface(end) = name.resolve()? else { return Err("a context cannot be bound".into()) };
        Ok((end, ResourceManager::create(self, hint)?))
    }
}

impl ResourceManager<u32, (u32, Rc<dyn Resource>)> for Seats {
    fn create(&self, _hint: &[u8]) -> Result<Rc<dyn Resource>, String> {
        let left = self.0.get().checked_sub(1).ok_or("no seat is left")?;
        self.0.set(left);
        Ok(Rc::new(Seat(self.0.clone())))
    }
}

impl Domain<u32, u32> for Seats {
    fn create(&self, template: u32, _hint: &[u8]) -> Result<u32, String> {
        Ok(template + 1)
    }
}

#[test]
fn a_resource_is_allocated_by_a_binding() {
    let root = Graph::new();
    let name = export(&root, "stage", 9);
    let seats: Box<dyn ResourceManager<u32, _>> = Box::new(Seats(Rc::new(Cell::new(1))));
    let (end, seat) = seats.bind(&name, b"").expect("bound");
    assert_eq!(end, 9);
    assert_eq!(seats.bind(&name, b"").err(), Some("no seat is left".into()));
    seat.release();
    assert!(seats.bind(&name, b"").is_ok());
    let domain: &dyn Domain<u32, u32> = &Seats(Rc::default());
    assert_eq!(domain.create(1, b""), Ok(2));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// Whatever edges are added and removed, a path leads where it leads step by step.
    #[test]
    fn a_path_leads_where_its_steps_lead(
        changes in prop::collection::vec((0..4usize, 0..3u8, 0..6usize, any::<bool>()), 0..60),
        path in prop::collection::vec(0..3u8, 1..12),
    ) {
        let first = Graph::new();
        let contexts: Vec<_> = (0..4).map(|i| if i == 0 { first.clone() } else { first.another() }).collect();
        let mut model = BTreeMap::new();
        for (from, label, to, adds) in changes {
            let name = [b'a' + label];
            if !adds {
                prop_assert_eq!(contexts[from].remove(&name), model.remove(&(from, label)).is_some());
                continue;
            }
            let added = match contexts.get(to) {
                Some(context) => contexts[from].add(&name, context),
                None => Rc::new(contexts[from].clone()).export(to as u32, &name).map(|_| ()),
            };
            prop_assert_eq!(added.is_ok(), !model.contains_key(&(from, label)));
            model.entry((from, label)).or_insert(to);
        }
        let end = path.iter().try_fold(0, |at, label| model.get(&(at, *label)).copied());
        let text: Vec<u8> = path.iter().map(|label| [b'a' + label]).collect::<Vec<_>>().join(&b'/');
        match (first.resolve(&text), end) {
            (Ok(Node::Interface(interface)), Some(end)) => prop_assert_eq!(interface as usize, end),
            (Ok(Node::Context(_)), Some(end)) => prop_assert!(end < 4),
            (found, end) => prop_assert!(found.is_err() && end.is_none()),
        }
    }
}
