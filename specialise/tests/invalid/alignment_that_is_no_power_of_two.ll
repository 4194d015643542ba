; refused: an alignment is a power of two

define i32 @f(ptr %p) {
  %x = load i32, ptr %p, align 3
  ret i32 %x
}
