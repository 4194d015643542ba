//! Where variables are declared: at their first assignment if that stands before everything else that mentions them,
//! else at the beginning of the smallest block around all that does.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::{Form, Stmt, inner, inner_mut, own_mentions};

/// What is known of the variables of a function.
pub(super) struct Scopes<'a> {
    /// The C types of the variables that are to be declared.
    pub types: &'a BTreeMap<usize, String>,
    /// The variables that hold something when a block begins: they outlive a round of its loop.
    pub live_in: &'a [BTreeSet<usize>],
}

impl Scopes<'_> {
    /// Declares variables in a list of statements, which is all that mentions them.
    pub fn declare(&self, list: &mut Vec<Stmt>) {
        let variables: BTreeSet<usize> =
            mentions_of(list).into_iter().filter(|v| self.types.contains_key(v)).collect();
        self.place(list, variables);
    }

    /// Declares all at the top, for functions with jumps against the order of the text.
    pub fn declare_first(&self, list: &mut Vec<Stmt>) {
        let variables = mentions_of(list);
        let declarations =
            variables.into_iter().filter_map(|v| Some(Stmt::Declare(v, self.types.get(&v)?.clone())));
        list.splice(0..0, declarations.collect::<Vec<_>>());
    }

    fn place(&self, list: &mut Vec<Stmt>, variables: BTreeSet<usize>) {
        // Which statements mention each variable.
        let mut mentions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, statement) in list.iter().enumerate() {
            for variable in mentions_of(std::slice::from_ref(statement)) {
                if variables.contains(&variable) {
                    mentions.entry(variable).or_default().push(at);
                }
            }
        }
        let mut deeper: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (variable, places) in mentions {
            let first = places[0];
            if places.len() == 1
                && let Some(part) = self.part_of(&list[first], variable)
            {
                deeper.entry((first, part)).or_default().insert(variable);
            } else if !self.declare_at(&mut list[first], variable, places.len()) {
                before.entry(first).or_default().push(variable);
            }
        }
        for ((at, part), variables) in deeper {
            if let Some(inner) = inner_mut(&mut list[at]).into_iter().nth(part) {
                self.place(inner, variables);
            }
        }
        let declaration = |variable: usize| Stmt::Declare(variable, self.types[&variable].clone());
        let mut whole = Vec::with_capacity(list.len() + before.len());
        for (at, statement) in std::mem::take(list).into_iter().enumerate() {
            whole.extend(before.remove(&at).unwrap_or_default().into_iter().map(declaration));
            whole.push(statement);
        }
        *list = whole;
    }

    /// The only list inside a statement that mentions a variable, if the variable may live in it.
    fn part_of(&self, statement: &Stmt, variable: usize) -> Option<usize> {
        if own_mentions(statement).contains(&variable) {
            return None;
        }
        if let Stmt::Loop { header, .. } = statement
            && self.live_in[*header].contains(&variable)
        {
            return None;
        }
        let parts = inner(statement);
        let mut with: Vec<usize> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if mentions_of(part).contains(&variable) {
                with.push(at);
            }
        }
        match (with.as_slice(), statement) {
            // Arms of a `switch` are one block: an arm before must not jump over a declaration into it.
            ([only], Stmt::If { .. } | Stmt::Loop { .. }) => Some(*only),
            _ => None,
        }
    }

    /// Makes an assignment a declaration, if the statement begins with one.
    fn declare_at(&self, statement: &mut Stmt, variable: usize, places: usize) -> bool {
        let ty = self.types[&variable].clone();
        match statement {
            Stmt::Assign { variable: assigned, value, declares, .. }
                if *assigned == variable && !value.reads.contains(&variable) =>
            {
                *declares = Some(ty);
                true
            }
            Stmt::Loop { form: Form::For { start: Some(start), .. }, .. } if places == 1 => {
                self.declare_at(start, variable, places)
            }
            _ => false,
        }
    }
}

fn mentions_of(list: &[Stmt]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut pending = vec![list];
    while let Some(list) = pending.pop() {
        for statement in list {
            found.extend(own_mentions(statement));
            pending.extend(inner(statement).into_iter().map(|list| list.as_slice()));
        }
    }
    found
}
