//! Variables: where they live, and how they are read and changed.
//!
//! A scope holds the variables of one component instance, one service process or one procedure call. Its `around` is
//! the scope of the enclosing declaration.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::rc::Rc;

use drystone_language::program::{Owner, Program, VariableId};

use super::identity::InstanceId;
use super::outcome::Kind;
use super::value::{Key, Part, Value};

/// The variables of an instance, a service or a call.
pub(super) struct Scope {
    pub owner: Owner,
    pub around: Option<Rc<Scope>>,
    pub instance: InstanceId,
    variables: RefCell<HashMap<VariableId, Storage>>,
}

enum Storage {
    Single(Value),
    /// `bounds` are present for an `{ARRAY}`, empty until it is made.
    Elements {
        bounds: Option<Vec<i64>>,
        elements: BTreeMap<Vec<Key>, Value>,
    },
    /// A `VARIABLE` parameter.
    Reference(Location),
}

/// A variable, an element of a collection, or a part or character of either.
#[derive(Clone)]
pub(super) struct Location {
    pub scope: Rc<Scope>,
    pub variable: VariableId,
    pub element: Option<Vec<Key>>,
    /// From outside inwards.
    pub parts: Vec<Part>,
    pub character: Option<i64>,
}

impl Scope {
    /// All variables with their initial values.
    pub fn new(
        program: &Program,
        owner: Owner,
        around: Option<Rc<Scope>>,
        instance: InstanceId,
        variables: &[VariableId],
    ) -> Rc<Scope> {
        let storage = variables.iter().map(|&id| {
            let variable = &program.variables[id.index()];
            let storage = match &variable.collection {
                None => Storage::Single(Value::initial(program, &variable.ty)),
                Some(collection) => {
                    Storage::Elements { bounds: collection.array.then(Vec::new), elements: BTreeMap::new() }
                }
            };
            (id, storage)
        });
        Rc::new(Scope { owner, around, instance, variables: RefCell::new(storage.collect()) })
    }

    /// Gives a value parameter its value.
    pub fn bind_value(&self, parameter: VariableId, value: Value) {
        self.variables.borrow_mut().insert(parameter, Storage::Single(value));
    }

    /// Makes a parameter another name of the caller's variable.
    pub fn bind_reference(&self, parameter: VariableId, location: Location) {
        self.variables.borrow_mut().insert(parameter, Storage::Reference(location));
    }

    /// The location of a variable that this scope can see.
    pub fn location(self: &Rc<Scope>, program: &Program, variable: VariableId) -> Location {
        let owner = program.variables[variable.index()].owner;
        let mut scope = self;
        while scope.owner != owner {
            scope = scope.around.as_ref().expect("a variable is declared in a scope around its use");
        }
        if let Some(Storage::Reference(location)) = scope.variables.borrow().get(&variable) {
            return location.clone();
        }
        Location { scope: scope.clone(), variable, element: None, parts: Vec::new(), character: None }
    }

    /// The components held by these variables, in their order and by ascending index.
    pub fn held(&self, variables: &[VariableId]) -> Vec<(VariableId, Option<Vec<Key>>, InstanceId)> {
        let storage = self.variables.borrow();
        let mut held = Vec::new();
        for &variable in variables {
            match storage.get(&variable) {
                Some(Storage::Single(Value::Component(Some(instance)))) => {
                    held.push((variable, None, *instance))
                }
                Some(Storage::Elements { elements, .. }) => {
                    for (index, value) in elements {
                        if let Value::Component(Some(instance)) = value {
                            held.push((variable, Some(index.clone()), *instance));
                        }
                    }
                }
                _ => {}
            }
        }
        held
    }
}

impl Location {
    /// The value at this location.
    pub fn read(&self) -> Result<Value, Kind> {
        let mut whole = self.with(|storage| match (storage, &self.element) {
            (Storage::Single(value), None) => Ok(value.clone()),
            (Storage::Elements { bounds, elements }, Some(index)) => {
                check_bounds(bounds, index)?;
                elements.get(index).cloned().ok_or(Kind::MissingElement)
            }
            _ => unreachable!("a collection is used by its elements"),
        })?;
        let whole = whole.part(&self.parts)?.clone();
        match self.character {
            None => Ok(whole),
            Some(at) => {
                let place = usize::try_from(at).ok().and_then(|at| whole.text().get(at));
                place.map(|&byte| Value::Character(byte)).ok_or(Kind::IndexOutOfBounds)
            }
        }
    }

    /// Stores a value at this location. Makes the element if the collection is dynamic.
    pub fn write(&self, value: Value) -> Result<(), Kind> {
        let value = match self.character {
            None => value,
            Some(at) => {
                let whole = Location { character: None, ..self.clone() }.read()?;
                let mut text = whole.text().to_vec();
                let place = usize::try_from(at).ok().and_then(|at| text.get_mut(at));
                *place.ok_or(Kind::IndexOutOfBounds)? = value.character();
                Value::Text(text)
            }
        };
        if !self.parts.is_empty() {
            let outermost = Location { parts: Vec::new(), ..self.clone() };
            let mut whole = outermost.read()?;
            *whole.part(&self.parts)? = value;
            return outermost.write(whole);
        }
        self.with(|storage| match (storage, &self.element) {
            (Storage::Single(old), None) => {
                *old = value;
                Ok(())
            }
            (Storage::Elements { bounds, elements }, Some(index)) => {
                check_bounds(bounds, index)?;
                elements.insert(index.clone(), value);
                Ok(())
            }
            _ => unreachable!("a collection is used by its elements"),
        })
    }

    /// The component in this container, dead or alive; `None` if there is none, or the element does not exist.
    pub fn container(&self) -> Result<Option<InstanceId>, Kind> {
        match self.read() {
            Ok(Value::Component(content)) => Ok(content),
            Ok(other) => panic!("{other:?} is no container"),
            Err(Kind::MissingElement) => Ok(None),
            Err(kind) => Err(kind),
        }
    }

    /// Empties the container. An element of a dynamic collection is removed.
    pub fn clear_container(&self) {
        self.with(|storage| match (storage, &self.element) {
            (Storage::Single(old), None) => *old = Value::Component(None),
            (Storage::Elements { bounds: Some(_), elements }, Some(index)) => {
                elements.insert(index.clone(), Value::Component(None));
            }
            (Storage::Elements { bounds: None, elements }, Some(index)) => {
                elements.remove(index);
            }
            _ => unreachable!("a collection is used by its elements"),
        });
    }

    /// Whether the element exists; a variable always exists.
    pub fn exists(&self) -> bool {
        self.read().is_ok()
    }

    /// Removes an element that is not a component.
    pub fn remove(&self) -> Result<(), Kind> {
        self.with(|storage| match (storage, &self.element) {
            (Storage::Elements { bounds, elements }, Some(index)) => {
                check_bounds(bounds, index)?;
                elements.remove(index).map(drop).ok_or(Kind::MissingElement)
            }
            _ => unreachable!("only elements are removed"),
        })
    }

    /// Makes all elements of an array.
    pub fn make_array(&self, sizes: Vec<i64>, initial: Value) -> Result<(), Kind> {
        if sizes.iter().any(|&size| size < 0) {
            return Err(Kind::InvalidArgument);
        }
        self.with(|storage| match storage {
            Storage::Elements { bounds: Some(bounds), elements } => {
                if !bounds.is_empty() {
                    return Err(Kind::FullContainer);
                }
                let mut indices = vec![Vec::new()];
                for &size in &sizes {
                    indices = indices
                        .into_iter()
                        .flat_map(|index: Vec<Key>| {
                            (0..size).map(move |i| [index.clone(), vec![Key::Integer(i)]].concat())
                        })
                        .collect();
                }
                *bounds = sizes.clone();
                *elements = indices.into_iter().map(|index| (index, initial.clone())).collect();
                Ok(())
            }
            _ => unreachable!("only arrays are made so"),
        })
    }

    /// Removes all elements; an array can be made again.
    pub fn clear_collection(&self) {
        self.with(|storage| match storage {
            Storage::Elements { bounds, elements } => {
                elements.clear();
                if let Some(bounds) = bounds {
                    bounds.clear();
                }
            }
            _ => unreachable!("only collections are cleared"),
        });
    }

    /// The next index in ascending order after the given one, or the first.
    pub fn next_index(&self, after: Option<&Vec<Key>>) -> Option<Vec<Key>> {
        self.with(|storage| match storage {
            Storage::Elements { elements, .. } => match after {
                None => elements.keys().next().cloned(),
                Some(index) => elements
                    .range::<Vec<Key>, _>((Excluded(index), Unbounded))
                    .next()
                    .map(|(key, _)| key.clone()),
            },
            _ => unreachable!("only collections are walked over"),
        })
    }

    /// The same variable with an index.
    pub fn element(&self, index: Vec<Key>) -> Location {
        Location { element: Some(index), ..self.clone() }
    }

    fn with<R>(&self, action: impl FnOnce(&mut Storage) -> R) -> R {
        let mut variables = self.scope.variables.borrow_mut();
        action(variables.get_mut(&self.variable).expect("a scope has its variables from the start"))
    }
}

fn check_bounds(bounds: &Option<Vec<i64>>, index: &[Key]) -> Result<(), Kind> {
    let Some(bounds) = bounds else { return Ok(()) };
    let inside = bounds.len() == index.len()
        && bounds
            .iter()
            .zip(index)
            .all(|(&size, key)| matches!(key, Key::Integer(i) if (0..size).contains(i)));
    if inside { Ok(()) } else { Err(Kind::IndexOutOfBounds) }
}
