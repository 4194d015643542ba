//! Results of each instruction, worked out from RFC 9669 by hand.

/// Name, left, right, result with 64 bits, and with 32.
pub const ALU: &[(&str, u64, u64, u64, u64)] = &[
    ("add", 1, 2, 3, 3),
    ("add", u64::MAX, 1, 0, 0),
    ("add", 0xffff_ffff, 1, 0x1_0000_0000, 0),
    ("add", 5, -7i64 as u64, -2i64 as u64, 0xffff_fffe),
    ("sub", 1, 2, u64::MAX, 0xffff_ffff),
    ("sub", 0x1_0000_0000, 1, 0xffff_ffff, 0xffff_ffff),
    ("sub", 3, -4i64 as u64, 7, 7),
    ("sub", 0, i32::MIN as u64, 0x8000_0000, 0x8000_0000),
    ("mul", 3, 5, 15, 15),
    ("mul", 0x1_0000_0001, 0x1_0000_0001, 0x2_0000_0001, 1),
    ("mul", 0xffff_ffff, -1i64 as u64, 0xffff_ffff_0000_0001, 1),
    ("mul", 0x8000_0000, 2, 0x1_0000_0000, 0),
    ("div", 7, 2, 3, 3),
    ("div", 7, 0, 0, 0),
    ("div", 0xffff_ffff_ffff_fff0, 16, 0x0fff_ffff_ffff_ffff, 0x0fff_ffff),
    ("div", 1, u64::MAX, 0, 0),
    ("div", u64::MAX, u64::MAX, 1, 1),
    ("div", 0x5_0000_0007, 0x1_0000_0000, 5, 0),
    ("sdiv", -7i64 as u64, 2, -3i64 as u64, 0xffff_fffd),
    ("sdiv", 7, -2i64 as u64, -3i64 as u64, 0xffff_fffd),
    ("sdiv", -7i64 as u64, -7i64 as u64, 1, 1),
    ("sdiv", -7i64 as u64, 0, 0, 0),
    ("sdiv", i64::MIN as u64, -1i64 as u64, i64::MIN as u64, 0),
    ("sdiv", 0x8000_0000, -1i64 as u64, -0x8000_0000i64 as u64, 0x8000_0000),
    ("mod", 7, 2, 1, 1),
    ("mod", 7, 0, 7, 7),
    ("mod", 0x1_0000_0007, 0, 0x1_0000_0007, 7),
    ("mod", u64::MAX, 10, 5, 5),
    ("mod", 5, -1i64 as u64, 5, 5),
    ("smod", -7i64 as u64, 2, -1i64 as u64, 0xffff_ffff),
    ("smod", 7, -2i64 as u64, 1, 1),
    ("smod", -7i64 as u64, 0, -7i64 as u64, 0xffff_fff9),
    ("smod", i64::MIN as u64, -1i64 as u64, 0, 0),
    ("smod", 0x8000_0000, -1i64 as u64, 0, 0),
    ("or", 0xf0f0_0000_0000_f0f0, 0x0f0f, 0xf0f0_0000_0000_ffff, 0xffff),
    ("or", 0, -16i64 as u64, -16i64 as u64, 0xffff_fff0),
    ("and", 0xffff_ffff_ffff_ffff, 0xff, 0xff, 0xff),
    ("and", 0xffff_ffff_1234_5678, -16i64 as u64, 0xffff_ffff_1234_5670, 0x1234_5670),
    ("xor", 0xff00_0000_0000_00ff, 0xf0, 0xff00_0000_0000_000f, 0xf),
    ("xor", 0x1_0000_0000, -1i64 as u64, 0xffff_fffe_ffff_ffff, 0xffff_ffff),
    ("lsh", 1, 4, 16, 16),
    ("lsh", 1, 31, 0x8000_0000, 0x8000_0000),
    ("lsh", 1, 32, 0x1_0000_0000, 1),
    ("lsh", 1, 63, 1 << 63, 0x8000_0000),
    ("lsh", 3, 64, 3, 3),
    ("lsh", 3, 65, 6, 6),
    ("lsh", 1, -1i64 as u64, 1 << 63, 0x8000_0000),
    ("rsh", 16, 4, 1, 1),
    ("rsh", 1 << 63, 63, 1, 0),
    ("rsh", 0xffff_ffff_8000_0000, 31, 0x1_ffff_ffff, 1),
    ("rsh", 0xffff_ffff_8000_0000, 32, 0xffff_ffff, 0x8000_0000),
    ("rsh", 6, 65, 3, 3),
    ("arsh", -16i64 as u64, 2, -4i64 as u64, 0xffff_fffc),
    ("arsh", 0x8000_0000, 31, 1, 0xffff_ffff),
    ("arsh", 0x7fff_ffff_8000_0000, 33, 0x3fff_ffff, 0xc000_0000),
    ("arsh", 1 << 63, 63, u64::MAX, 0),
    ("arsh", 1 << 63, 64, 1 << 63, 0),
    ("mov", 9, -5i64 as u64, -5i64 as u64, 0xffff_fffb),
    ("mov", u64::MAX, 5, 5, 5),
    ("mov", 0, 0x1234_5678_9abc_def0, 0x1234_5678_9abc_def0, 0x9abc_def0),
];

/// Name, operand, result.
pub const ONE_OPERAND: &[(&str, u64, u64)] = &[
    ("neg", 5, -5i64 as u64),
    ("neg", i64::MIN as u64, i64::MIN as u64),
    ("neg32", 5, 0xffff_fffb),
    ("neg32", 0xffff_ffff_8000_0000, 0x8000_0000),
    ("neg32", 0, 0),
    ("le16", 0x1122_3344_5566_7788, 0x7788),
    ("le32", 0x1122_3344_5566_7788, 0x5566_7788),
    ("le64", 0x1122_3344_5566_7788, 0x1122_3344_5566_7788),
    ("be16", 0x1122_3344_5566_7788, 0x8877),
    ("be32", 0x1122_3344_5566_7788, 0x8877_6655),
    ("be64", 0x1122_3344_5566_7788, 0x8877_6655_4433_2211),
    ("bswap16", 0x1122_3344_5566_7788, 0x8877),
    ("bswap32", 0x1122_3344_5566_7788, 0x8877_6655),
    ("bswap64", 0x1122_3344_5566_7788, 0x8877_6655_4433_2211),
];

/// Name, source, result in another register.
pub const EXTENSIONS: &[(&str, u64, u64)] = &[
    ("movsx864", 0xffff_ff80, -0x80i64 as u64),
    ("movsx864", 0xffff_ff7f, 0x7f),
    ("movsx1664", 0x1_8000, -0x8000i64 as u64),
    ("movsx1664", 0x1_7fff, 0x7fff),
    ("movsx3264", 0x8000_0000, -0x8000_0000i64 as u64),
    ("movsx3264", 0x1_7fff_ffff, 0x7fff_ffff),
    ("movsx832", 0xff80, 0xffff_ff80),
    ("movsx832", 0xff7f, 0x7f),
    ("movsx1632", 0x8000, 0xffff_8000),
    ("movsx1632", 0xf_7fff, 0x7fff),
];

/// Name, left, right, whether it jumps with 64 bits, and with 32.
pub const JUMPS: &[(&str, u64, u64, bool, bool)] = &[
    ("jeq", 5, 5, true, true),
    ("jeq", 0x1_0000_0005, 5, false, true),
    ("jeq", 0xffff_ffff, -1i64 as u64, false, true),
    ("jne", 5, 5, false, false),
    ("jne", 0x1_0000_0005, 5, true, false),
    ("jset", 6, 2, true, true),
    ("jset", 6, 9, false, false),
    ("jset", 0x1_0000_0000, -1i64 as u64, true, false),
    ("jset", 1 << 63, i32::MIN as u64, true, false),
    ("jgt", 5, 5, false, false),
    ("jgt", 6, 5, true, true),
    ("jgt", u64::MAX, 5, true, true),
    ("jgt", 0x1_0000_0005, 6, true, false),
    ("jge", 5, 5, true, true),
    ("jge", 4, 5, false, false),
    ("jge", 4, -1i64 as u64, false, false),
    ("jlt", 5, 5, false, false),
    ("jlt", 5, -1i64 as u64, true, true),
    ("jlt", 0x1_0000_0000, 1, false, true),
    ("jle", 5, 5, true, true),
    ("jle", 6, 5, false, false),
    ("jle", 0x1_0000_0006, 5, false, false),
    ("jsgt", 5, -5i64 as u64, true, true),
    ("jsgt", -5i64 as u64, 5, false, false),
    ("jsgt", 0x8000_0000, 0, true, false),
    ("jsge", -5i64 as u64, -5i64 as u64, true, true),
    ("jsge", -6i64 as u64, -5i64 as u64, false, false),
    ("jslt", -5i64 as u64, 5, true, true),
    ("jslt", 5, 5, false, false),
    ("jslt", 0x8000_0000, 0, false, true),
    ("jsle", 5, 5, true, true),
    ("jsle", 5, -5i64 as u64, false, false),
    ("jsle", i64::MIN as u64, i64::MAX as u64, true, false),
];

/// Name, memory before, source, r0; then memory, source and r0 after, with 64 bits.
pub type Atomic = (&'static str, [u64; 3], [u64; 3]);

const OLD: u64 = 0x1122_3344_ffff_fffe;

pub const ATOMICS64: &[Atomic] = &[
    ("add", [OLD, 3, 9], [0x1122_3345_0000_0001, 3, 9]),
    ("or", [OLD, 1, 9], [0x1122_3344_ffff_ffff, 1, 9]),
    ("and", [OLD, 0xff, 9], [0xfe, 0xff, 9]),
    ("xor", [OLD, u64::MAX, 9], [!OLD, u64::MAX, 9]),
    ("fetch_add", [OLD, 3, 9], [0x1122_3345_0000_0001, OLD, 9]),
    ("fetch_or", [OLD, 1, 9], [0x1122_3344_ffff_ffff, OLD, 9]),
    ("fetch_and", [OLD, 0xff, 9], [0xfe, OLD, 9]),
    ("fetch_xor", [OLD, u64::MAX, 9], [!OLD, OLD, 9]),
    ("xchg", [OLD, 5, 9], [5, OLD, 9]),
    ("cmpxchg", [OLD, 5, OLD], [5, 5, OLD]),
    ("cmpxchg", [OLD, 5, 9], [OLD, 5, OLD]),
];

/// With 32 bits: the upper half of memory stays, that of what is fetched is 0.
pub const ATOMICS32: &[Atomic] = &[
    ("add32", [OLD, 0x7_0000_0003, 9], [0x1122_3344_0000_0001, 0x7_0000_0003, 9]),
    ("or32", [OLD, u64::MAX, 9], [0x1122_3344_ffff_ffff, u64::MAX, 9]),
    ("and32", [OLD, 0xff, 9], [0x1122_3344_0000_00fe, 0xff, 9]),
    ("xor32", [OLD, u64::MAX, 9], [0x1122_3344_0000_0001, u64::MAX, 9]),
    ("fetch_add32", [OLD, 3, 9], [0x1122_3344_0000_0001, 0xffff_fffe, 9]),
    ("fetch_or32", [OLD, 1, 9], [0x1122_3344_ffff_ffff, 0xffff_fffe, 9]),
    ("fetch_and32", [OLD, 0xff, 9], [0x1122_3344_0000_00fe, 0xffff_fffe, 9]),
    ("fetch_xor32", [OLD, 3, 9], [0x1122_3344_ffff_fffd, 0xffff_fffe, 9]),
    ("xchg32", [OLD, 0x7_0000_0005, 9], [0x1122_3344_0000_0005, 0xffff_fffe, 9]),
    ("cmpxchg32", [OLD, 0x7_0000_0005, 0x9_ffff_fffe], [0x1122_3344_0000_0005, 0x7_0000_0005, 0xffff_fffe]),
    ("cmpxchg32", [OLD, 5, 0x9_ffff_ffff], [OLD, 5, 0xffff_fffe]),
];

/// Name, offset, what is loaded from the bytes 80 81 82 .. 8f.
pub const LOADS: &[(&str, i16, u64)] = &[
    ("ldxb", 1, 0x81),
    ("ldxh", 1, 0x8281),
    ("ldxw", 2, 0x8584_8382),
    ("ldxdw", 3, 0x8a89_8887_8685_8483),
    ("ldxsb", 1, -0x7fi64 as u64),
    ("ldxsh", 2, 0xffff_ffff_ffff_8382),
    ("ldxsw", 3, 0xffff_ffff_8685_8483),
    ("ldxdw", 8, 0x8f8e_8d8c_8b8a_8988),
];

/// Name, operand, what the bytes 80 .. 87 become, as a number.
pub const STORES: &[(&str, &str, u64)] = &[
    ("stb", "-2", 0x8786_8584_8382_81fe),
    ("sth", "-2", 0x8786_8584_8382_fffe),
    ("stw", "-2", 0x8786_8584_ffff_fffe),
    ("stdw", "-2", -2i64 as u64),
    ("stxb", "%r2", 0x8786_8584_8382_8188),
    ("stxh", "%r2", 0x8786_8584_8382_7788),
    ("stxw", "%r2", 0x8786_8584_5566_7788),
    ("stxdw", "%r2", 0x1122_3344_5566_7788),
];

/// Whole programs, and what they give.
pub const PROGRAMS: &[(&str, u64)] = &[
    ("mov %r0, 1\nja +1\nmov %r0, 2\nexit", 1),
    ("mov %r0, 1\nja32 +1\nmov %r0, 2\nexit", 1),
    // Constants of 64 bits, and jumps over them.
    ("lddw %r0, 0x8000000000000001\nexit", 0x8000_0000_0000_0001),
    ("mov %r0, 3\nja on\nlddw %r0, 4\non: exit", 3),
    // What constants refer to.
    ("lddw %r0, map_by_fd(3)\nlddw %r1, map_by_idx(4)\nadd %r0, %r1\nexit", 7),
    (
        "lddw %r1, map_val(map_by_idx(1))+4\nlddw %r0, map_val(map_by_fd(0))+2\nsub %r1, %r0\nmov %r0, %r1\nexit",
        10,
    ),
    // A loop: 10 + 9 + .. + 1.
    ("mov %r0, 0\nmov %r1, 10\nagain: add %r0, %r1\nsub %r1, 1\njne %r1, 0, again\nexit", 55),
    // Helpers take r1 to r5 and give r0; r6 to r9 stay.
    (
        "mov %r6, 1\nmov %r9, 2\nmov %r1, 0x11\nmov %r2, 0x22\nmov %r3, 0x33\nmov %r4, 0x44\nmov %r5, 0x55\ncall 0
         lsh %r6, 40\nadd %r0, %r6\nadd %r0, %r9\nexit",
        0x111_2233_4457,
    ),
    ("mov %r1, %r10\nadd %r1, -1\nstb [%r10-1], 41\ncall 2\nldxb %r1, [%r10-1]\nlsh %r0, 8\nor %r0, %r1\n\
      exit", 42 << 8 | 42),
    // Functions have frames of their own, and give r6 to r9 back.
    (
        "mov %r6, 5\nstdw [%r10-8], 7\nmov %r1, 100\ncall local f\nldxdw %r1, [%r10-8]\nadd %r0, %r1\nadd %r0, %r6\nexit
         f: mov %r6, 1\nstdw [%r10-8], 1\nmov %r0, %r1\nadd %r0, 1000\nexit",
        1112,
    ),
    // Pointers into the caller's frame reach it.
    (
        "mov %r1, %r10\nadd %r1, -8\ncall local f\nldxdw %r0, [%r10-8]\nexit\nf: stdw [%r1], 77\nmov %r0, 0\nexit",
        77,
    ),
    // 5! by recursion.
    (
        "mov %r1, 5\ncall local f\nexit
         f: mov %r0, 1\njle %r1, 1, done\nmov %r6, %r1\nsub %r1, 1\ncall local f\nmul %r0, %r6\ndone: exit",
        120,
    ),
    // Calls through registers: of a function, and of a helper.
    ("lddw %r3, code_addr(f)\nmov %r1, 20\ncallx %r3\nadd %r0, 1\nexit\nf: mov %r0, %r1\nadd %r0, %r0\nexit", 41),
    ("mov %r1, 0\nmov %r2, 0\nmov %r3, 0\nmov %r4, 0\nmov %r5, 9\nmov %r8, 0\ncallx %r8\nexit", 9),
];
