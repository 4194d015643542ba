; refused: there is no such field

define i32 @f({ i32, i32 } %s) {
  %x = extractvalue { i32, i32 } %s, 2
  ret i32 %x
}
