; refused: block %0, instruction 0, `%x = call`: the arguments are not those that `llvm.bswap.i32` takes

declare i32 @llvm.bswap.i32(i32)

define i32 @f(i64 %a) {
  %x = call i32 @llvm.bswap.i32(i64 %a)
  ret i32 %x
}
