; refused: the last block has no end

define void @f() {
  br label %1

1:
}
