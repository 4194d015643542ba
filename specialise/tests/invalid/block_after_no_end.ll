; refused: the block before has no end

define void @f() {
  fence seq_cst

1:
  ret void
}
