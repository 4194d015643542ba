//! The hash table of a family. The key is the values of the fields in which members differ; it leads to a chain of
//! rows, the heaviest first. The table is plain numbers in two arrays, which generated code reads, so that a new member
//! of the family needs no new code.

use alloc::{vec, vec::Vec};

/// The two numbers that a row's check compares a field with. The tree says what they mean.
pub(super) type Pair = (u32, u32);

#[derive(Clone, Debug)]
pub(super) struct Table {
    shape: TableShape,
    /// Buckets, a power of two of them, at most half in use (open addressing). A bucket is the words of the key, and
    /// then the first row of its chain.
    buckets: Vec<u32>,
    keys: usize,
    /// Rows, named by the index of their first word. Row 0 is none.
    rows: Vec<u64>,
    /// The chain of free rows.
    free: u32,
    members: usize,
}

/// The sizes of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableShape {
    /// Words of a key.
    pub key: usize,
    /// Pairs of a row.
    pub pairs: usize,
    /// The seed of hashes.
    pub seed: u64,
}

/// The words of a row: target and next row, weight, pairs.
pub(super) mod row {
    /// The target's number, from 1, in the lower half; the next row in the upper half.
    pub const TARGET_AND_NEXT: usize = 0;
    pub const WEIGHT: usize = 1;
    pub const PAIRS: usize = 2;
}

impl TableShape {
    /// Words of a bucket, a power of two.
    pub fn bucket(self) -> usize {
        (self.key + 1).next_power_of_two()
    }

    fn row(self) -> usize {
        row::PAIRS + self.pairs
    }

    /// The multiplier of the key's word with this index. Without the seed, nobody can choose keys that collide.
    pub fn factor(self, index: usize) -> u64 {
        let mut number = self.seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31 | 1
    }

    fn hash(self, key: &[u32]) -> usize {
        let product = |(index, word): (usize, &u32)| self.factor(index).wrapping_mul(u64::from(*word));
        let sum = key.iter().enumerate().map(product).fold(0, u64::wrapping_add);
        // Generated code adds one before it looks at any bucket.
        (sum >> 32) as usize + 1
    }
}

impl Table {
    pub fn new(shape: TableShape) -> Table {
        Table {
            shape,
            buckets: vec![0; shape.bucket()],
            keys: 0,
            rows: vec![0; shape.row()],
            free: 0,
            members: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.members == 0
    }

    #[cfg(target_arch = "x86_64")]
    pub fn shape(&self) -> TableShape {
        self.shape
    }

    pub fn buckets(&self) -> &[u32] {
        &self.buckets
    }

    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The mask that makes the index of a bucket of a hash.
    pub fn mask(&self) -> u32 {
        (self.buckets.len() / self.shape.bucket()) as u32 - 1
    }

    /// Inserts a row with a key, behind rows of the same weight.
    pub fn insert(&mut self, key: &[u32], pairs: &[Pair], weight: u64, target: u32) {
        let bucket = match self.find(key) {
            Ok(bucket) => bucket,
            Err(_) => self.begin(key),
        };
        let row = self.new_row(pairs, weight, target);
        let (mut before, mut next) = (None, self.head(bucket));
        while next != 0 && self.weight(next) >= weight {
            (before, next) = (Some(next), self.next(next));
        }
        self.set_next(row, next);
        match before {
            Some(before) => self.set_next(before, row),
            None => self.set_head(bucket, row),
        }
        self.members += 1;
    }

    /// Removes all rows with a key and a target.
    pub fn remove(&mut self, key: &[u32], target: u32) {
        let Ok(bucket) = self.find(key) else { return };
        let (mut before, mut row) = (None, self.head(bucket));
        while row != 0 {
            let next = self.next(row);
            if self.target(row) != target {
                before = Some(row);
            } else {
                match before {
                    Some(before) => self.set_next(before, next),
                    None => self.set_head(bucket, next),
                }
                self.set_next(row, self.free);
                self.free = row;
                self.members -= 1;
            }
            row = next;
        }
        if self.head(bucket) == 0 {
            self.vacate(bucket);
        }
    }

    /// The rows with a key, the heaviest first.
    pub fn chain(&self, key: &[u32]) -> impl Iterator<Item = Row<'_>> {
        let first = self.find(key).map_or(0, |bucket| self.head(bucket));
        let rows = core::iter::successors(Some(first), |&row| Some(self.next(row)));
        rows.take_while(|&row| row != 0).map(|row| Row { table: self, row })
    }

    /// All keys with their rows, the heaviest first, to compile the table.
    pub fn chains(&self) -> Vec<(&[u32], Vec<Row<'_>>)> {
        let buckets = (0..=self.mask() as usize).filter(|bucket| self.head(*bucket) != 0);
        buckets.map(|bucket| (self.key(bucket), self.chain(self.key(bucket)).collect())).collect()
    }

    /// The bucket of a key, or where it would be.
    fn find(&self, key: &[u32]) -> Result<usize, usize> {
        let mask = self.mask() as usize;
        let mut bucket = self.shape.hash(key) & mask;
        loop {
            if self.head(bucket) == 0 {
                return Err(bucket);
            }
            if self.key(bucket) == key {
                return Ok(bucket);
            }
            bucket = (bucket + 1) & mask;
        }
    }

    /// Takes a bucket for a new key. Its chain must be begun at once.
    fn begin(&mut self, key: &[u32]) -> usize {
        if self.shape.key > 0 && 2 * (self.keys + 1) > self.mask() as usize + 1 {
            self.grow();
        }
        let (Ok(bucket) | Err(bucket)) = self.find(key);
        self.keys += 1;
        self.words(bucket)[..key.len()].copy_from_slice(key);
        bucket
    }

    fn grow(&mut self) {
        let (words, key) = (self.shape.bucket(), self.shape.key);
        let more = vec![0; 2 * self.buckets.len().max(2 * words)];
        let old = core::mem::replace(&mut self.buckets, more);
        for bucket in old.chunks_exact(words).filter(|bucket| bucket[key] != 0) {
            let (Ok(to) | Err(to)) = self.find(&bucket[..key]);
            self.words(to).copy_from_slice(bucket);
        }
    }

    /// Frees a bucket, and moves those behind it forward that would not be found otherwise.
    fn vacate(&mut self, mut empty: usize) {
        self.keys -= 1;
        let mask = self.mask() as usize;
        let mut bucket = (empty + 1) & mask;
        while self.head(bucket) != 0 {
            let wanted = self.shape.hash(self.key(bucket)) & mask;
            if bucket.wrapping_sub(wanted) & mask >= bucket.wrapping_sub(empty) & mask {
                let words = self.shape.bucket();
                self.buckets.copy_within(bucket * words..(bucket + 1) * words, empty * words);
                self.set_head(bucket, 0);
                empty = bucket;
            }
            bucket = (bucket + 1) & mask;
        }
    }

    fn new_row(&mut self, pairs: &[Pair], weight: u64, target: u32) -> u32 {
        let row = if self.free == 0 {
            self.rows.resize(self.rows.len() + self.shape.row(), 0);
            self.rows.len() - self.shape.row()
        } else {
            let row = self.free;
            self.free = self.next(row);
            row as usize
        };
        self.rows[row + row::TARGET_AND_NEXT] = target.into();
        self.rows[row + row::WEIGHT] = weight;
        for (word, (low, high)) in self.rows[row + row::PAIRS..].iter_mut().zip(pairs) {
            *word = u64::from(*low) | u64::from(*high) << 32;
        }
        u32::try_from(row).expect("as many rows have no place in memory")
    }

    fn words(&mut self, bucket: usize) -> &mut [u32] {
        let words = self.shape.bucket();
        &mut self.buckets[bucket * words..(bucket + 1) * words]
    }

    fn key(&self, bucket: usize) -> &[u32] {
        let begin = bucket * self.shape.bucket();
        &self.buckets[begin..begin + self.shape.key]
    }

    fn head(&self, bucket: usize) -> u32 {
        self.buckets[bucket * self.shape.bucket() + self.shape.key]
    }

    fn set_head(&mut self, bucket: usize, row: u32) {
        let at = self.shape.key;
        self.words(bucket)[at] = row;
    }

    fn next(&self, row: u32) -> u32 {
        (self.rows[row as usize + row::TARGET_AND_NEXT] >> 32) as u32
    }

    fn set_next(&mut self, row: u32, next: u32) {
        let word = &mut self.rows[row as usize + row::TARGET_AND_NEXT];
        *word = u64::from(next) << 32 | *word & 0xffff_ffff;
    }

    fn target(&self, row: u32) -> u32 {
        self.rows[row as usize + row::TARGET_AND_NEXT] as u32
    }

    fn weight(&self, row: u32) -> u64 {
        self.rows[row as usize + row::WEIGHT]
    }
}

/// A row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    table: &'a Table,
    row: u32,
}

impl Row<'_> {
    pub fn weight(self) -> u64 {
        self.table.weight(self.row)
    }

    pub fn target(self) -> u32 {
        self.table.target(self.row)
    }

    pub fn pair(self, index: usize) -> Pair {
        let word = self.table.rows[self.row as usize + row::PAIRS + index];
        (word as u32, (word >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(table: &Table, key: &[u32]) -> Vec<u32> {
        table.chain(key).map(Row::target).collect()
    }

    #[test]
    fn what_is_inserted_is_found_until_it_is_removed() {
        for key in [1, 2, 4] {
            let mut table = Table::new(TableShape { key, pairs: 0, seed: 7 });
            let key_of =
                |number: u32| (0..key as u32).map(|index| number << (8 * index)).collect::<Vec<u32>>();
            for number in 0..1000 {
                table.insert(&key_of(number), &[], 1, number + 1);
            }
            for number in (0..1000).step_by(3) {
                table.remove(&key_of(number), number + 1);
            }
            for number in 0..1000 {
                let expected: &[u32] = if number % 3 == 0 { &[] } else { &[number + 1] };
                assert_eq!(found(&table, &key_of(number)), expected);
            }
            let rows = table.rows.len();
            for number in 0..334 {
                table.insert(&key_of(number * 3), &[], 1, number * 3 + 1);
            }
            assert_eq!((found(&table, &key_of(999)), table.rows.len()), ([1000].into(), rows));
            for number in 0..1000 {
                table.remove(&key_of(number), number + 1);
            }
            assert!(table.is_empty() && table.keys == 0);
        }
    }

    #[test]
    fn a_chain_begins_with_the_heaviest_and_of_these_the_oldest() {
        let mut table = Table::new(TableShape { key: 0, pairs: 1, seed: 0 });
        for (target, weight) in (1..).zip([5, 9, 1, 5]) {
            table.insert(&[], &[(weight as u32, 100)], weight, target);
        }
        assert_eq!(found(&table, &[]), [2, 1, 4, 3]);
        assert_eq!(table.chain(&[]).next().unwrap().pair(0), (9, 100));
        table.remove(&[], 2);
        table.remove(&[], 4);
        assert_eq!(found(&table, &[]), [1, 3]);
    }
}
