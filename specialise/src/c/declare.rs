//! Places the declarations of variables: at the first assignment if that comes before every other mention, otherwise at
//! the beginning of the innermost block that contains all mentions.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::{Form, Stmt, inner, inner_mut, own_mentions};

/// Facts about the variables of a function.
pub(super) struct Scopes<'a> {
    /// The C types of the variables to be declared.
    pub types: &'a BTreeMap<usize, String>,
    /// For each block, the variables that have a value when it begins. In a loop, such a variable outlives an
    /// iteration.
    pub live_in: &'a [BTreeSet<usize>],
}

impl Scopes<'_> {
    /// Declares variables in a list of statements that contains all their mentions.
    pub fn declare(&self, list: &mut Vec<Stmt>) {
        let mut found = Found::default();
        found.read(list, None);
        let homes = self.homes(&found);
        self.place(list, &mut homes.into_iter());
    }

    /// Declares all variables at the top, for functions with backward `goto`s.
    pub fn declare_first(&self, list: &mut Vec<Stmt>) {
        let mut found = Found::default();
        found.read(list, None);
        let declarations =
            found.mentions.keys().filter_map(|&v| Some(Stmt::Declare(v, self.types.get(&v)?.clone())));
        list.splice(0..0, declarations.collect::<Vec<_>>());
    }

    /// For each block, the variables to be declared in it, with the statements of the block that mention them.
    fn homes(&self, found: &Found) -> Vec<BTreeMap<usize, BTreeSet<usize>>> {
        let mut homes = vec![BTreeMap::new(); found.blocks.len()];
        for (&variable, mentions) in found.mentions.iter().filter(|(v, _)| self.types.contains_key(v)) {
            let common = mentions.iter().map(|mention| mention.block).reduce(|a, b| found.common(a, b));
            let home = self.allowed(found, common.unwrap_or_default(), variable);
            let statements = mentions.iter().map(|&mention| found.within(home, mention)).collect();
            homes[home].insert(variable, statements);
        }
        homes
    }

    /// The innermost block, from `block` outwards, in which a variable may live.
    fn allowed(&self, found: &Found, block: usize, variable: usize) -> usize {
        let mut allowed = block;
        let mut at = block;
        while let Some((mention, entry)) = found.blocks[at].around {
            let may_enter = match entry {
                Entry::Free => true,
                Entry::Round { header } => !self.live_in[header].contains(&variable),
                Entry::Arm => false,
            };
            at = mention.block;
            if !may_enter {
                allowed = at;
            }
        }
        allowed
    }

    /// Declares variables in a list of statements and in the blocks inside it, in the order in which [`Found::read`]
    /// numbered them.
    fn place(
        &self,
        list: &mut Vec<Stmt>,
        homes: &mut impl Iterator<Item = BTreeMap<usize, BTreeSet<usize>>>,
    ) {
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (variable, statements) in homes.next().unwrap_or_default() {
            let first = statements.first().copied().unwrap_or_default();
            if !self.declare_at(&mut list[first], variable, statements.len()) {
                before.entry(first).or_default().push(variable);
            }
        }
        let mut whole = Vec::with_capacity(list.len() + before.len());
        for (at, mut statement) in std::mem::take(list).into_iter().enumerate() {
            for inside in inner_mut(&mut statement) {
                self.place(inside, homes);
            }
            let declared = before.remove(&at).unwrap_or_default();
            whole.extend(declared.into_iter().map(|v| Stmt::Declare(v, self.types[&v].clone())));
            whole.push(statement);
        }
        *list = whole;
    }

    /// Turns an assignment into a declaration, if the statement begins with one.
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

/// All mentions of variables, found in one walk.
#[derive(Default)]
struct Found {
    blocks: Vec<Block>,
    mentions: BTreeMap<usize, Vec<Mention>>,
}

/// A list of statements, as a block.
struct Block {
    /// The statement that contains the block, and how control enters the block; `None` for the outermost.
    around: Option<(Mention, Entry)>,
    depth: usize,
}

/// A statement, as its block and its position there.
#[derive(Clone, Copy)]
struct Mention {
    block: usize,
    statement: usize,
}

/// How control enters a block.
#[derive(Clone, Copy)]
enum Entry {
    Free,
    /// Once for each iteration of a loop.
    Round {
        header: usize,
    },
    /// As an arm of a `switch`. All arms are one block in C, and a jump into an arm must not skip a declaration.
    Arm,
}

impl Found {
    /// Reads a list of statements and the blocks inside it.
    fn read(&mut self, list: &[Stmt], around: Option<(Mention, Entry)>) {
        let block = self.blocks.len();
        let depth = around.map_or(0, |(mention, _)| self.blocks[mention.block].depth + 1);
        self.blocks.push(Block { around, depth });
        for (statement, it) in list.iter().enumerate() {
            let here = Mention { block, statement };
            for variable in own_mentions(it) {
                self.mentions.entry(variable).or_default().push(here);
            }
            let entry = match it {
                Stmt::If { .. } => Entry::Free,
                Stmt::Loop { header, .. } => Entry::Round { header: *header },
                _ => Entry::Arm,
            };
            for inside in inner(it) {
                self.read(inside, Some((here, entry)));
            }
        }
    }

    /// The statement that contains a block other than the outermost.
    fn around(&self, block: usize) -> Mention {
        self.blocks[block].around.expect("an inner block is inside of a statement").0
    }

    /// The innermost block that contains both blocks.
    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.blocks[a].depth >= self.blocks[b].depth {
                a = self.around(a).block;
            } else {
                b = self.around(b).block;
            }
        }
        a
    }

    /// The statement of a block that contains a mention.
    fn within(&self, block: usize, mut mention: Mention) -> usize {
        while mention.block != block {
            mention = self.around(mention.block);
        }
        mention.statement
    }
}
