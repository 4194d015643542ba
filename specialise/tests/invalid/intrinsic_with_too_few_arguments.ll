; refused: block %0, instruction 0, `call`: the arguments are not those that `llvm.memset.p0.i64` takes

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @f(ptr %p) {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8)
  ret void
}
