; refused: block %0, instruction 0, `%x = fadd`: it is not defined for i32

define i32 @f(i32 %a) {
  %x = fadd i32 %a, 1
  ret i32 %x
}
