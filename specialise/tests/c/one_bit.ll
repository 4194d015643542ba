; The least and the greatest of two bits; signed, the set bit is the lesser one.
define i32 @f(i32 %x, i32 %y) {
  %a = trunc i32 %x to i1
  %b = trunc i32 %y to i1
  %c = call i1 @llvm.umin.i1(i1 %a, i1 %b)
  %d = call i1 @llvm.umax.i1(i1 %a, i1 %b)
  %e = call i1 @llvm.smin.i1(i1 %a, i1 %b)
  %g = call i1 @llvm.smax.i1(i1 %a, i1 %b)
  %c1 = zext i1 %c to i32
  %d1 = zext i1 %d to i32
  %e1 = zext i1 %e to i32
  %g1 = zext i1 %g to i32
  %d2 = shl i32 %d1, 1
  %e2 = shl i32 %e1, 2
  %g2 = shl i32 %g1, 3
  %r1 = or i32 %c1, %d2
  %r2 = or i32 %e2, %g2
  %r = or i32 %r1, %r2
  ret i32 %r
}
declare i1 @llvm.umin.i1(i1,i1)
declare i1 @llvm.umax.i1(i1,i1)
declare i1 @llvm.smin.i1(i1,i1)
declare i1 @llvm.smax.i1(i1,i1)
