; refused: the field has another type

define { i32, i8 } @f({ i32, i8 } %s, i32 %a) {
  %t = insertvalue { i32, i8 } %s, i32 %a, 1
  ret { i32, i8 } %t
}
