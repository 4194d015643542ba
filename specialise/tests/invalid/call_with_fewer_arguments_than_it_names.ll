; refused: block %0, instruction 0, `%x = call`: it passes 1 of at least 2 arguments

define i32 @f(ptr %g) {
  %x = call i32 (i32, i32, ...) %g(i32 1)
  ret i32 %x
}
