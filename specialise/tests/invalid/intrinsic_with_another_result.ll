; refused: block %0, instruction 0, `%x = call`: `llvm.bswap.i32` gives i32, not i64

declare i32 @llvm.bswap.i32(i32)

define i64 @f(i32 %a) {
  %x = call i64 @llvm.bswap.i32(i32 %a)
  ret i64 %x
}
