; Neighbours whose bytes are swapped go together, two at a time; what is in their way keeps them apart.
declare i32 @llvm.bswap.i32(i32)
declare i16 @llvm.bswap.i16(i16)

define void @words(ptr noalias %from, ptr noalias %to, i64 %count) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %i.next, %loop ]
  %source = getelementptr i32, ptr %from, i64 %i
  %word = load i32, ptr %source, align 4
  %swapped = call i32 @llvm.bswap.i32(i32 %word)
  %target = getelementptr i32, ptr %to, i64 %i
  store i32 %swapped, ptr %target, align 4
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Three halves: two go together.
define void @halves(ptr noalias %from, ptr noalias %to) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %i.next, %loop ]
  %source = getelementptr i16, ptr %from, i64 %i
  %half = load i16, ptr %source, align 2
  %swapped = call i16 @llvm.bswap.i16(i16 %half)
  %target = getelementptr i16, ptr %to, i64 %i
  store i16 %swapped, ptr %target, align 2
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 3
  br i1 %more, label %loop, label %done
done:
  ret void
}

; The second is read after the first was written, perhaps over it.
define void @near(ptr %from, ptr %to) {
  %a = load i32, ptr %from, align 4
  %as = call i32 @llvm.bswap.i32(i32 %a)
  store i32 %as, ptr %to, align 4
  %from.4 = getelementptr i8, ptr %from, i64 4
  %b = load i32, ptr %from.4, align 4
  %bs = call i32 @llvm.bswap.i32(i32 %b)
  %to.4 = getelementptr i8, ptr %to, i64 4
  store i32 %bs, ptr %to.4, align 4
  ret void
}

; One is swapped, the other isn't.
define void @mixed(ptr noalias %from, ptr noalias %to) {
  %a = load i32, ptr %from, align 4
  %as = call i32 @llvm.bswap.i32(i32 %a)
  store i32 %as, ptr %to, align 4
  %from.4 = getelementptr i8, ptr %from, i64 4
  %b = load i32, ptr %from.4, align 4
  %to.4 = getelementptr i8, ptr %to, i64 4
  store i32 %b, ptr %to.4, align 4
  ret void
}
