; refused: block %0, instruction 0, `%x = select`: its condition is i32

define i32 @f(i32 %a) {
  %x = select i32 %a, i32 1, i32 2
  ret i32 %x
}
