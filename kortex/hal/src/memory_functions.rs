//! The memory functions that compilers take for granted: `memcpy`, `memmove`, `memset`, `memcmp`, `strlen`.

/// Defines the functions on memory that compiled code calls, for an image without a C library. Their names get no
/// prefix.
///
/// Short blocks take two accesses that may overlap, long ones the processor's string instructions. Where source and
/// destination may overlap, bytes are read before they are overwritten.
#[macro_export]
macro_rules! memory_functions {
    ($prefix:literal) => {
        ::core::arch::global_asm!(
            ".pushsection .text.kortex_memory, \"ax\"",
            concat!(".global ", $prefix, "memcpy"),
            concat!(".global ", $prefix, "memmove"),
            concat!(".global ", $prefix, "memset"),
            concat!(".global ", $prefix, "memcmp"),
            concat!(".global ", $prefix, "bcmp"),
            concat!(".global ", $prefix, "strlen"),
            ".balign 16",
            concat!($prefix, "memmove:"),
            // Forwards unless the destination begins within the source.
            "mov rax, rdi",
            "sub rax, rsi",
            "cmp rax, rdx",
            concat!("jae ", $prefix, "memcpy"),
            "cmp rdx, 16",
            concat!("jbe ", $prefix, "memcpy"),
            "mov rax, rdi",
            // Backwards. The first bytes are written last, as they were.
            "mov r8, [rsi]",
            "lea rcx, [rdx - 8]",
            "2:",
            "mov r10, [rsi + rcx]",
            "mov [rdi + rcx], r10",
            "sub rcx, 8",
            "ja 2b",
            "mov [rdi], r8",
            "ret",
            ".balign 16",
            concat!($prefix, "memcpy:"),
            "mov rax, rdi",
            "cmp rdx, 16",
            "ja 5f",
            "cmp edx, 8",
            "jae 4f",
            "cmp edx, 4",
            "jae 3f",
            "test edx, edx",
            "je 2f",
            "movzx ecx, byte ptr [rsi]",
            "movzx r8d, byte ptr [rsi + rdx - 1]",
            "shr edx",
            "movzx r9d, byte ptr [rsi + rdx]",
            "mov [rdi + rdx], r9b",
            "mov [rdi], cl",
            "adc rdx, rdx",
            "mov [rdi + rdx - 1], r8b",
            "2:",
            "ret",
            "3:",
            "mov ecx, [rsi]",
            "mov r8d, [rsi + rdx - 4]",
            "mov [rdi], ecx",
            "mov [rdi + rdx - 4], r8d",
            "ret",
            "4:",
            "mov rcx, [rsi]",
            "mov r8, [rsi + rdx - 8]",
            "mov [rdi], rcx",
            "mov [rdi + rdx - 8], r8",
            "ret",
            "5:",
            "mov rcx, rdx",
            "shr rcx, 3",
            "mov r8, [rsi + rdx - 8]",
            "lea r9, [rdi + rdx - 8]",
            "rep movsq",
            "mov [r9], r8",
            "ret",
            ".balign 16",
            concat!($prefix, "memset:"),
            "mov r8, rdi",
            "movzx eax, sil",
            "mov r9, 0x0101010101010101",
            "imul rax, r9",
            "mov rcx, rdx",
            "shr rcx, 3",
            "rep stosq",
            "mov ecx, edx",
            "and ecx, 7",
            "rep stosb",
            "mov rax, r8",
            "ret",
            ".balign 16",
            concat!($prefix, "memcmp:"),
            concat!($prefix, "bcmp:"),
            "xor eax, eax",
            "xor ecx, ecx",
            "2:",
            "lea r8, [rcx + 8]",
            "cmp r8, rdx",
            "ja 3f",
            "mov r9, [rdi + rcx]",
            "cmp r9, [rsi + rcx]",
            "jne 3f",
            "mov rcx, r8",
            "jmp 2b",
            "3:",
            "cmp rcx, rdx",
            "je 5f",
            "movzx eax, byte ptr [rdi + rcx]",
            "movzx r8d, byte ptr [rsi + rcx]",
            "inc rcx",
            "sub eax, r8d",
            "je 3b",
            "5:",
            "ret",
            ".balign 16",
            concat!($prefix, "strlen:"),
            "xor eax, eax",
            "2:",
            "cmp byte ptr [rdi + rax], 0",
            "je 3f",
            "inc rax",
            "jmp 2b",
            "3:",
            "ret",
            ".popsection",
        );
    };
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    memory_functions!("tested_");

    unsafe extern "C" {
        fn tested_memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8;
        fn tested_memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8;
        fn tested_memset(to: *mut u8, byte: i32, count: usize) -> *mut u8;
        fn tested_memcmp(one: *const u8, other: *const u8, count: usize) -> i32;
    }

    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|at| (at * 7 + at / 256) as u8).collect()
    }

    #[test]
    fn what_is_moved_is_as_it_was_and_the_rest_too() {
        for count in 0..70 {
            for (from, to) in (0..40).flat_map(|from| (0..40).map(move |to| (from, to))) {
                let mut moved = bytes(120);
                let mut expected = moved.clone();
                expected.copy_within(from..from + count, to);
                let start = moved.as_mut_ptr();
                // SAFETY: all lies within the bytes.
                let answer = unsafe { tested_memmove(start.add(to), start.add(from), count) };
                assert_eq!(answer, start.wrapping_add(to));
                assert_eq!(moved, expected, "{count} from {from} to {to}");
            }
        }
    }

    #[test]
    fn what_is_copied_and_set_is_compared() {
        for count in 0..300 {
            let (from, mut to) = (bytes(count + 1), std::vec![0; count + 1]);
            // SAFETY: all lies within the bytes.
            unsafe {
                assert_eq!(tested_memcpy(to.as_mut_ptr(), from.as_ptr(), count), to.as_mut_ptr());
                assert_eq!(to[..count], from[..count]);
                assert_eq!(to[count], 0);
                assert_eq!(tested_memcmp(to.as_ptr(), from.as_ptr(), count), 0);
                if count > 0 {
                    let at = count * 2 / 3;
                    to[at] = from[at].wrapping_add(1);
                    let expected = i32::from(to[at]) - i32::from(from[at]);
                    assert_eq!(tested_memcmp(to.as_ptr(), from.as_ptr(), count).signum(), expected.signum());
                }
                assert_eq!(tested_memset(to.as_mut_ptr(), 0x1a5, count), to.as_mut_ptr());
            }
            assert!(to[..count].iter().all(|&byte| byte == 0xa5) && to[count] == 0);
        }
    }
}
