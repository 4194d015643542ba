; refused: an integer of the switched type is expected before this

define i32 @f() {
  switch i32 7, label %1 [
    i33 7, label %1
  ]

1:
  ret i32 1
}
