; refused: an `i1` is expected before this

define void @f(i32 %a) {
  br i32 %a, label %1, label %1

1:
  ret void
}
