; refused: a block is mentioned that is not there

define void @f() {
  br label %away
}
