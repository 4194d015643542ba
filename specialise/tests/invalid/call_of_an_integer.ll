; refused: `%g` has another type

define void @f(i64 %g) {
  call void %g()
  ret void
}
