; refused: this gives nothing that could have a name

declare void @g()

define void @f() {
  %x = call void @g()
  ret void
}
